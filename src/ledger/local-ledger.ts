// A node's part of the ledger, kept in the node's own line: a step of the ledger and a step on items that are decided in
// one turn share a batch of the journal, and with it one sync.
//
// Time is the node's hybrid clock, which never runs back, not even over a restart: a record that was looked up once is
// not lost because an operator set the clock. Whoever sets it ten minutes ahead makes tokens expire early.
//
// May import: model, storage (line, spaces, errors).
import {
  type KeyBytes,
  type LedgerSlot,
  type Timestamp,
  type TxId,
  ledgerSlot,
  slotOf,
} from '../model/brand.js'
import { knobs as defaultKnobs } from '../model/knobs.js'
import { RunOver } from '../line/errors.js'
import type { Line } from '../line/line.js'
import type {
  BeginOutcome,
  CancellationReason,
  DecideAt,
  Decided,
  Decision,
  Ledger,
  LedgerEntry,
  LedgerRecord,
  Participant,
} from './ledger.js'
import { CompletedRecords, durableRecords } from './completed.js'
import type { LedgerKnobs } from './recent-slots.js'
import { type Found, UnfinishedRecords } from './unfinished.js'
import {
  cancellingKey,
  decodeLedgerRecord,
  encodeLedgerRecord,
  holdingKey,
  unfinishedFrom,
  unfinishedOf,
} from './record-bytes.js'

export interface LocalLedgerOptions {
  readonly line: Line
  /** The time of the node's hybrid clock, without advancing it. */
  readonly now: () => Timestamp
  readonly knobs?: LedgerKnobs
  /** Lets the event loop run, in the middle of a long look. */
  readonly pause?: () => Promise<void>
}

const noPause = (): Promise<void> => Promise.resolve()

/** What a client token is to a request that comes with it. */
export interface TokenVerdict {
  readonly verdict: 'free' | 'repeated' | 'mismatch' | 'in-progress'
  /** What to wait for before the verdict is told to anybody. */
  readonly whenDurable: Promise<void> | undefined
}

/**
 * One node's part of the ledger.
 *
 * @example
 * const ledger = new LocalLedger({ line, now: () => clock.now() })
 * await ledger.begin({ tx, timestamp, participants: [{ node: 0, items }] })
 * const { decision } = await ledger.decide(tx, 'commit', { timestamp })
 */
export class LocalLedger implements Ledger {
  readonly #line: Line
  readonly #now: () => Timestamp
  readonly #epochMicros: number
  readonly #completed: CompletedRecords
  readonly #unfinished = new UnfinishedRecords()
  /** Completed, but neither that nor the decision may be durable yet: as they were before. */
  readonly #completing = new Map<TxId, Found>()

  constructor(options: LocalLedgerOptions) {
    const { line, now, knobs = defaultKnobs, pause = noPause } = options
    this.#line = line
    this.#epochMicros = knobs.epochMicros
    this.#now = now
    this.#completed = new CompletedRecords(line, now, knobs, pause)
    this.#load()
    line.onRollback(() => this.#reload())
  }

  /** What was not durable is undecided again, or nobody knows: whoever began it has the last word. */
  #reload(): void {
    const before = [...this.#unfinished.all(), ...this.#completing.values()]
    this.#completing.clear()
    this.#load()
    for (const { key, record } of before) {
      const holds = record.state !== 'cancelling'
      if (holds && this.#holder(slotOf(record.tx)) === undefined)
        this.#unfinished.set({ key, record: undecided(record) })
    }
  }

  #load(): void {
    const bounds = unfinishedFrom(FIRST_SLOT)
    this.#unfinished.reset(
      Array.from(this.#line.decided.range({ ...bounds, reverse: false }), ([key, stored]) => ({
        key,
        record: decodeLedgerRecord(stored),
        isStored: true as const,
      })),
    )
  }

  async begin(entry: LedgerEntry): Promise<BeginOutcome> {
    const admission = this.#line.admission()
    if (admission !== undefined) await admission
    const standing = this.#begin(entry)
    if (standing === undefined) return BEGUN
    await this.#line.whenDurableAt(standing.key)
    const { record } = standing
    return record.tx === entry.tx && record.state === 'preparing' ? BEGUN : { verdict: 'exists', record }
  }

  async decide(tx: TxId, decision: Decision, at: DecideAt): Promise<Decided> {
    const admission = this.#line.admission()
    if (admission !== undefined) await admission
    const standing = this.#find(tx)
    if (standing !== undefined && standing.record.state !== 'preparing')
      return this.#told(standing.record, this.#line.whenDurableAt(standing.key), at)
    const isLost = at.run !== undefined && at.run !== this.#line.run
    const record =
      standing === undefined
        ? this.#bury(tx, at.timestamp, at.reasons).record
        : this.#decide(standing, isLost ? 'cancel' : decision, at)
    // Who asks is the only one who might have committed it, and will not: it need not be durable (presumed abort).
    return this.#told(record, isLost ? undefined : this.#line.whenDurable(), at)
  }

  /** Only a commit that is not completed may be told ahead: something is to be done upon it. */
  async #told(
    record: LedgerRecord,
    whenDurable: Promise<void> | undefined,
    { ahead }: DecideAt,
  ): Promise<Decided> {
    if (ahead === true && record.state === 'committing') {
      const { tx, state, timestamp, participants, begunAt } = record
      return { tx, state, timestamp, participants, begunAt, decision: 'commit', run: this.#line.run }
    }
    if (whenDurable !== undefined) await whenDurable
    return record
  }

  async complete(tx: TxId, run?: string): Promise<void> {
    const admission = this.#line.admission()
    if (admission !== undefined) await admission
    if (run !== undefined && run !== this.#line.run) throw new RunOver()
    const standing = this.#find(tx)
    // Of what was decided in this run something is known.
    if (standing?.record.state === 'preparing' || (standing === undefined && run !== undefined)) {
      throw new Error(`transaction ${tx} cannot be completed: it is not decided`)
    }
    if (standing === undefined) return
    const isCompleted = standing.record.state === 'completed'
    if (!isCompleted) {
      this.#moveToCompleted(standing)
      if (standing.record.decision === 'commit' && this.#line.isLogging)
        this.#line.note({ kind: 'completed', order: 0, tx }, 'put')
    }
    if (run === undefined) return
    const whenDurable = isCompleted ? this.#line.whenDurableAt(standing.key) : this.#line.whenDurable()
    if (whenDurable === undefined) return
    if (!isCompleted) this.#completing.set(tx, standing)
    await whenDurable
    this.#completing.delete(tx)
  }

  // eslint-disable-next-line typescript/require-await -- an exception of a synchronous read must reject
  async read(slot: LedgerSlot): Promise<LedgerRecord | undefined> {
    const records = [
      ...durableRecords(this.#line, unfinishedOf(slot), SLOT_RECORDS_MAX),
      ...this.#completed.ofSlot(slot, SLOT_RECORDS_MAX),
    ]
    // Nobody may be told of a decision that is not durable; nor that there is nothing.
    const holding = this.#holder(slot)
    if (holding !== undefined && this.#line.durable.get(holding.key) === undefined)
      records.unshift(undecided(holding.record))
    return (
      records.find(({ state, decision }) => state !== 'completed' && decision !== 'cancel') ??
      records.find(({ decision }) => decision === 'commit') ??
      records[0]
    )
  }

  // eslint-disable-next-line typescript/require-await
  async unfinished(from: LedgerSlot, recordsMax: number): Promise<readonly LedgerRecord[]> {
    const first = holdingKey(from)
    const found = this.#unfinished.all().filter(({ key }) => key >= first)
    return found
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
      .map((each) => this.#asDurable(each))
      .filter((record) => record !== undefined)
      .slice(0, recordsMax)
  }

  // eslint-disable-next-line typescript/require-await
  async recent(recordsMax: number): Promise<readonly LedgerRecord[]> {
    return this.#completed.recent(recordsMax)
  }

  purge(recordsMax: number): Promise<boolean> {
    return this.#completed.purge(recordsMax)
  }

  /**
   * For a one-round transaction, within its step: may it run under this token? Decides nothing; a `free` token is taken
   * by `recordCommitted` in the same step.
   */
  claimToken(tx: TxId, payloadHash: string): TokenVerdict {
    const holder = this.#holder(slotOf(tx))
    if (holder === undefined) return FREE
    const { record } = holder
    const verdict =
      (record.payloadHash ?? '') !== payloadHash
        ? 'mismatch'
        : record.state === 'completed'
          ? 'repeated'
          : 'in-progress'
    return { verdict, whenDurable: this.#line.whenDurableAt(holder.key) }
  }

  /** For a one-round transaction, within the step that has its effect: the token is taken from here on. Without one the
   * digest is empty, and the slot the transaction's own. */
  recordCommitted(tx: TxId, timestamp: Timestamp, payloadHash: string): void {
    const now = this.#now()
    this.#completed.add({
      tx,
      state: 'completed',
      decision: 'commit',
      timestamp,
      participants: [],
      begunAt: now,
      completedAt: now,
      payloadHash,
    })
  }

  /** Undefined: it is begun. Otherwise what stands in the way, or the same begin from before. */
  #begin(entry: LedgerEntry): Found | undefined {
    const { tx, timestamp, participants, payloadHash, replaces } = entry
    if (replaces !== undefined) this.#giveUp(replaces, timestamp)
    const standing = this.#find(tx) ?? this.#holder(slotOf(tx))
    if (standing !== undefined) return standing
    const now = this.#now()
    // Older than a tombstone is kept: it may have been cancelled, and nobody would know.
    if (timestamp < now - this.#epochMicros) return this.#bury(tx, timestamp)
    this.#put(holdingKey(slotOf(tx)), {
      tx,
      state: 'preparing',
      timestamp,
      participants,
      begunAt: now,
      ...(payloadHash !== undefined && { payloadHash }),
    })
    return undefined
  }

  #decide(
    { key, record, isStored }: Found,
    decision: Decision,
    { timestamp, reasons }: DecideAt,
  ): LedgerRecord {
    const { tx } = record
    if (decision === 'commit') {
      const { participants, begunAt, payloadHash } = record
      const hash = payloadHash !== undefined && { payloadHash }
      const committing = {
        tx,
        state: 'committing',
        timestamp,
        participants,
        begunAt,
        decision,
        ...hash,
      } as const
      return this.#put(key, committing, isStored !== true)
    }
    // The slot is free for another attempt from here on.
    this.#forget(key, record)
    const why = reasons !== undefined && { reasons }
    return this.#put(cancellingKey(tx), { ...record, state: 'cancelling', decision, timestamp, ...why })
  }

  #giveUp(tx: TxId, timestamp: Timestamp): void {
    const standing = this.#find(tx)
    if (standing === undefined) this.#bury(tx, timestamp)
    else if (standing.record.state === 'preparing') {
      this.#moveToCompleted({ key: standing.key, record: { ...standing.record, decision: 'cancel' } })
    }
  }

  /** A tombstone for a transaction that nothing is known of. */
  #bury(tx: TxId, timestamp: Timestamp, reasons?: readonly CancellationReason[]): Found {
    const now = this.#now()
    return this.#completed.add({
      tx,
      state: 'completed',
      decision: 'cancel',
      timestamp,
      participants: [],
      begunAt: now,
      completedAt: now,
      ...(reasons !== undefined && { reasons }),
    })
  }

  /** The keys of its items are of no use any more; on which nodes they were may interest somebody who looks. */
  #moveToCompleted({ key, record }: Found): void {
    this.#forget(key, record)
    const { tx, timestamp, begunAt, decision, reasons, payloadHash } = record
    const participants = record.participants.map(({ node }) => ({ node, items: NO_ITEMS }))
    // Field by field: it is made for each transaction, and a spread of optional fields takes microseconds.
    this.#completed.add({
      tx,
      state: 'completed',
      timestamp,
      participants,
      begunAt,
      completedAt: this.#now(),
      decision,
      reasons,
      payloadHash,
    })
  }

  #forget(key: KeyBytes, { tx, state }: LedgerRecord): void {
    this.#unfinished.delete(tx)
    // What is not decided is not in the line, unless an earlier version has put it there.
    if (state !== 'preparing' || this.#line.decided.get(key) !== undefined) this.#line.put(key, undefined)
  }

  /** What may be told of it: what is decided in memory may not be durable yet. */
  #asDurable({ key, record }: Found): LedgerRecord | undefined {
    if (record.state === 'preparing') return record
    const stored = this.#line.durable.get(key)
    return stored && decodeLedgerRecord(stored)
  }

  /** Undecided ones are in memory only. */
  #put(key: KeyBytes, record: LedgerRecord, isNew = false): LedgerRecord {
    if (isNew) this.#line.putNew(key, () => encodeLedgerRecord(record), RECORD_BYTES_ABOUT)
    else if (record.state !== 'preparing') this.#line.put(key, encodeLedgerRecord(record))
    this.#unfinished.set({ key, record })
    return record
  }

  /** The record of exactly this transaction. */
  #find(tx: TxId): Found | undefined {
    return this.#unfinished.find(tx) ?? this.#completed.find(tx)
  }

  /** The transaction that holds a slot: it is or may be committed, or was within ten minutes. */
  #holder(slot: LedgerSlot): Found | undefined {
    return this.#unfinished.holder(slot) ?? this.#completed.committed(slot)
  }
}

const RECORD_BYTES_ABOUT = 300
const FIRST_SLOT = ledgerSlot('0'.repeat(32))
const NO_ITEMS: Participant['items'] = []
const BEGUN: BeginOutcome = { verdict: 'begun' }
const FREE: TokenVerdict = { verdict: 'free', whenDurable: undefined }
/** Of one slot in one epoch: attempts at one request. More are not looked at. */
const SLOT_RECORDS_MAX = 1000

function undecided({ tx, timestamp, participants, begunAt, payloadHash }: LedgerRecord): LedgerRecord {
  const hash = payloadHash !== undefined && { payloadHash }
  return { tx, state: 'preparing', timestamp, participants, begunAt, ...hash }
}
