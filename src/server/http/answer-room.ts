// How many bytes of answers the server holds for clients that have not taken them yet, and what follows from that:
//
//   one connection   gets its next answer made when it has taken the last one (direct-connection.ts, general-connection.ts)
//   one access key   has at most half of the room, so that its clients cannot take what those of other keys need; without
//                    authentication there is nobody to keep the rest for, and all clients share the whole of it
//   under way        an operation that answers with many items takes room ahead for what it may read at most, and gives it back
//                    when its answer is made. Without room it waits for those under way, which end by themselves: they wait
//                    for no client, and for no room. Access keys have their turn one after another, and large operations have
//                    a line of their own. As many wait as requests may be in flight.
//   all of them      while unread answers leave no room for the largest one, such operations begin on trial, a few at a time;
//                    a read whose answer turns out to be too large is refused
//                    afterwards, and so is a refusal with the items that conditions failed on, which is safe because they
//                    have changed nothing. Answers to writes that were done, and small ones, always pass: clients that read
//                    nothing do not keep others from small queries, with keys or without.
//   crowded          half of what a key may have is taken, or three quarters of the room: clients that take nothing for a
//                    while are closed. One key that has all it may have does not make it crowded for the others.
//
// The decisions are functions of plain numbers; connections tell what they hold.
import { DynamoError } from '../../model/errors.js'
import { operationBoundsOf } from '../../router/request/router.js'
import type { ServerLimits } from './limits.js'

/** Nothing has changed, and the answer may show what it was refused upon. */
const REFUSALS_WITH_ITEMS: ReadonlySet<string> = new Set([
  'ConditionalCheckFailedException',
  'TransactionCanceledException',
])

/**
 * Operations that are under way although the largest answer would not fit. Their answers are in memory for a moment. One with
 * an answer of many MB counts as all of them: it is tried alone.
 */
const TRIALS_MAX = 4
const trialsOf = (operation: string): number =>
  operationBoundsOf(operation).reads === 'largest' ? TRIALS_MAX : 1
/** After one whose answer was too large none begins for so long: such answers are made in vain, and take memory until they are collected. */
const TRIAL_PAUSE_MS = 250

/** What is looked at of an answer. */
interface MadeAnswer {
  readonly body: { readonly length: number }
  /** The name of the exception in it. */
  readonly error: string | undefined
}

/** An operation that takes more ahead than this stands in the line of the large ones, for which half of the room is. */
const SMALL_AHEAD_BYTES = 2 * 1024 * 1024

/** One that waits for room. */
interface Waiting {
  readonly operation: string
  readonly unsent: UnsentBytes
  readonly aheadBytes: number
  readonly resolve: (begins: boolean) => void
}

/** Those who wait, by their access key; the key that comes next stands first. */
type Line = Map<AnswerShare, Waiting[]>

/** What the clients of one access key hold of the room. */
export interface AnswerShare {
  bytes: number
  readonly bytesMax: number
}

export class AnswerRoom {
  readonly #limits: ServerLimits
  /** Of the access keys that have asked for something: no more than the file of keys has. */
  readonly #shares = new Map<string, AnswerShare>()
  readonly #shareBytesMax: number
  /** Of answers that are made, and not yet handed over to the system. */
  bytes = 0
  /** Of clients without a key. */
  readonly keyless: AnswerShare
  /** Taken for operations that are under way; of it for large ones. */
  #ahead = 0
  #largeAhead = 0
  readonly #lines: { readonly small: Line; readonly large: Line } = { small: new Map(), large: new Map() }
  #waiting = 0
  #trials = 0
  #nextTrialMs = -Infinity
  readonly #nowMs: () => number

  constructor(limits: ServerLimits, nowMs = () => performance.now()) {
    this.#nowMs = nowMs
    const { answerBytesUnsentMax, answerBytesMax } = limits
    this.#limits = limits
    // Never too little for the largest answer, for which a key could else wait for ever.
    this.#shareBytesMax = Math.max(answerBytesUnsentMax / 2, answerBytesMax)
    this.keyless = { bytes: 0, bytesMax: answerBytesUnsentMax }
  }

  /** The share of the access key with that id, which has been authenticated. */
  shareOf(keyId: string): AnswerShare {
    if (keyId === '') return this.keyless
    let share = this.#shares.get(keyId)
    if (share === undefined) {
      share = { bytes: 0, bytesMax: this.#shareBytesMax }
      this.#shares.set(keyId, share)
    }
    return share
  }

  get isWaitedFor(): boolean {
    return this.#waiting > 0
  }

  isCrowdedFor(share: AnswerShare): boolean {
    return share.bytes > share.bytesMax / 2 || this.bytes > this.#limits.answerBytesUnsentMax * 0.75
  }

  /**
   * Whether the operation may begin, perhaps later; if so, `holds` is asked when its answer is made. Of an operation of
   * statements it is asked only where they read. `readBytes`: what it may read at most (`bytesReadAtMost`).
   */
  admits(operation: string, unsent: UnsentBytes, readBytes = 0): boolean | Promise<boolean> {
    const { reads = 'item' } = operationBoundsOf(operation)
    if (reads === 'item') return true
    const aheadBytes = readBytes * unsent.copies
    const line = this.#lineOf(aheadBytes)
    // Nobody overtakes those who wait.
    const verdict = line.has(unsent.share) ? 'waits' : this.#verdict(operation, unsent, aheadBytes)
    if (verdict !== 'waits') return verdict === 'begins'
    return new Promise((resolve) => {
      const ofKey = line.get(unsent.share) ?? []
      ofKey.push({ operation, unsent, aheadBytes, resolve })
      line.set(unsent.share, ofKey)
      this.#waiting++
    })
  }

  #lineOf(aheadBytes: number): Line {
    return aheadBytes > SMALL_AHEAD_BYTES ? this.#lines.large : this.#lines.small
  }

  /** Whoever waits is looked at again when something that is under way has ended. */
  #verdict(operation: string, unsent: UnsentBytes, aheadBytes: number): 'begins' | 'waits' | 'refused' {
    if (!this.#fits(this.#limits.answerBytesMax, unsent)) {
      const trials = trialsOf(operation)
      if (this.#nowMs() < this.#nextTrialMs) return 'refused'
      if (this.#trials + trials > TRIALS_MAX) return 'waits'
      this.#trials += trials
      unsent.trials += trials
    } else if (!this.#hasAhead(aheadBytes)) return 'waits'
    this.#ahead += aheadBytes
    if (aheadBytes > SMALL_AHEAD_BYTES) this.#largeAhead += aheadBytes
    unsent.ahead = aheadBytes
    return 'begins'
  }

  /** One that is larger than all there is begins alone. */
  #hasAhead(aheadBytes: number): boolean {
    const { answerBytesUnsentMax } = this.#limits
    const fits = this.bytes + this.#ahead + aheadBytes <= answerBytesUnsentMax
    if (aheadBytes <= SMALL_AHEAD_BYTES) return fits || this.#ahead === 0
    return this.#largeAhead === 0 || (fits && this.#largeAhead + aheadBytes <= answerBytesUnsentMax / 2)
  }

  /** Something that was under way has ended, or an answer was taken. */
  serveWaiting(aheadBytes: number): void {
    this.#ahead -= aheadBytes
    if (aheadBytes > SMALL_AHEAD_BYTES) this.#largeAhead -= aheadBytes
    if (this.#waiting === 0) return
    for (const line of [this.#lines.small, this.#lines.large]) while (this.#servesOne(line));
  }

  #servesOne(line: Line): boolean {
    for (const [share, ofKey] of line) {
      const { operation, unsent, aheadBytes, resolve } = ofKey[0]!
      // Whose client has gone is not answered.
      const verdict = unsent.hasEnded ? 'refused' : this.#verdict(operation, unsent, aheadBytes)
      if (verdict === 'waits') continue
      ofKey.shift()
      this.#waiting--
      line.delete(share)
      if (ofKey.length > 0) line.set(share, ofKey)
      resolve(verdict === 'begins')
      return true
    }
    return false
  }

  /**
   * Whether the answer to an operation, which is made by now, may be kept until the client takes it. `onlyRead`: of an operation of
   * statements, that they read.
   */
  holds(operation: string, { body, error }: MadeAnswer, unsent: UnsentBytes, onlyRead = false): boolean {
    const isTrial = unsent.trials > 0
    if (isTrial) {
      this.#trials -= trialsOf(operation)
      unsent.trials -= trialsOf(operation)
    }
    const { reads, byStatement } = operationBoundsOf(operation)
    const isRead = byStatement === undefined ? reads !== undefined : onlyRead
    const mayHaveWritten = !isRead && !REFUSALS_WITH_ITEMS.has(error ?? '')
    if (body.length <= SMALL_ANSWER_BYTES || mayHaveWritten || this.#fits(body.length, unsent)) return true
    if (isTrial) this.#nextTrialMs = this.#nowMs() + TRIAL_PAUSE_MS
    return false
  }

  #fits(answerBytes: number, { share, copies }: UnsentBytes): boolean {
    const bytes = answerBytes * copies
    return this.bytes + bytes <= this.#limits.answerBytesUnsentMax && share.bytes + bytes <= share.bytesMax
  }

  /** For how long a connection with unsent bytes may stand still. */
  standstillMs({ bytes, share }: UnsentBytes): number {
    const { socketIdleMs, crowdedIdleMs } = this.#limits
    return bytes > 0 && this.isCrowdedFor(share) ? crowdedIdleMs : socketIdleMs
  }

  /** Whether a client that does take its answer, but slowly, has had time enough. */
  isOverdue({ share }: UnsentBytes, unsentForMs: number): boolean {
    return unsentForMs > this.#limits.crowdedAnswerMs && this.isCrowdedFor(share)
  }
}

/** What one connection holds of the room, and on whose share. */
export class UnsentBytes {
  readonly #room: AnswerRoom
  #share: AnswerShare
  /** That are held of an answer: TLS encrypts all of it at once, and keeps the plain one until it is sent. */
  readonly copies: 1 | 2
  /** Of answers that are made, and not yet taken. */
  bytes = 0
  /** Operations that have begun on trial and are not answered; counted by the room. */
  trials = 0
  /** What the room has taken ahead for the operation that is under way. */
  ahead = 0
  /** The connection is closed. */
  hasEnded = false

  constructor(room: AnswerRoom, socket: object = {}) {
    this.#room = room
    this.copies = 'encrypted' in socket ? 2 : 1
    this.#share = room.keyless
  }

  get share(): AnswerShare {
    return this.#share
  }

  /** The key of the request that comes next; what is left of earlier ones, a few small answers, goes over to it. */
  billTo(share: AnswerShare): void {
    if (share === this.#share) return
    this.#share.bytes -= this.bytes
    share.bytes += this.bytes
    this.#share = share
  }

  /** Of every request, also of one whose client has gone: what was taken ahead for it is given back. */
  made(answerBytes: number): void {
    if (!this.hasEnded) this.#add(answerBytes * this.copies)
    const { ahead } = this
    this.ahead = 0
    if (ahead > 0 || this.#room.isWaitedFor) this.#room.serveWaiting(ahead)
  }

  /** An answer, or all that is left. */
  taken(answerBytes?: number): void {
    this.#add(answerBytes === undefined ? -this.bytes : -answerBytes * this.copies)
    if (this.#room.isWaitedFor) this.#room.serveWaiting(0)
  }

  /** The client has gone. */
  end(): void {
    this.hasEnded = true
    this.taken()
  }

  #add(bytes: number): void {
    this.bytes += bytes
    this.#share.bytes += bytes
    this.#room.bytes += bytes
  }
}

/** As much as a socket takes before it asks to wait. */
export const SMALL_ANSWER_BYTES = 16 * 1024

export const answersFull = (): DynamoError =>
  new DynamoError(
    'ThrottlingException',
    'Too many bytes of answers wait for clients that do not read them; try again.',
  )
