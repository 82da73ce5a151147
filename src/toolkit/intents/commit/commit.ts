// Committing a unit by intents.
//
//   round 1   header: pending ---\
//             intent on item 1    |  all at once; an intent that meets another waits, helps or cancels (settle.ts)
//             intent on item N ---/
//             what was read is looked at again (validate.ts)
//   round 2   header: committed      the decision, one conditional write --> the caller has its answer
//   behind    redo applied to item 1 ... N
//             header: done
//
// N + 2 writes and two rounds before the answer, 2 N + 3 writes in all. Whatever goes wrong before the decision: the
// header is cancelled first, a tombstone if need be, and only then the intents are taken away.
import { sameItem } from '../../../model/compare.js'
import { itemBytes } from '../../../model/value.js'
import { Conflict, OutcomeUnknown, WriteLost } from '../../endpoint/errors.js'
import { described } from '../../unit/layout.js'
import { fromSdkItem, unmarshallItem } from '../../values/values.js'
import { AnswerLost } from '../../endpoint/refusals.js'
import type { RequestUsage } from '../context/caller.js'
import { cancel, decide, type HeaderFate, markDone, readHeader } from '../context/headers.js'
import { depthOf } from '../protocol/images.js'
import { intentLimits } from '../protocol/limits.js'
import type { IntentParticipant } from './participants.js'
import { beating, type CommitProgress } from '../context/commit-progress.js'
import { proveRecords, withoutRight } from '../context/record-table.js'
import { type Header, type Intent, type Redo, type Stored, storedOf, writerOf } from '../protocol/records.js'
import { baseOf, beginRequest, placeRequest, turnRequest } from '../protocol/requests.js'
import { committedOf, isWriteLost, type Party } from '../protocol/rules.js'
import { apply, changed, drop, inTheWay, makeRoom } from '../items/settle.js'
import { inParallel, readOne, type IntentsContext } from '../context/context.js'
import {
  divided,
  NO_PARTICIPANTS,
  participantsOf,
  type Spill,
  spillsOf,
  writeSpill,
} from '../context/spill.js'

export interface CommitPlan {
  readonly me: Party & { readonly once: boolean }
  readonly members: readonly IntentParticipant[]
  readonly patienceMs: number
  /** No decision to commit is sent once it is over. */
  readonly time: CommitProgress
  /** The header that the transaction has already. */
  readonly begun?: Header
  /** Throws what must keep the unit from being committed, once every intent is placed. */
  readonly validate: () => Promise<void>
}

/** One member with its intent, and the item as it was when the intent was placed. */
interface Placing {
  readonly member: IntentParticipant
  intent: Intent
  /** Set when the intent is known to be there; `attempted` when it may be. */
  attempted: boolean
  stored?: Stored
}

/** Resolves when the transaction is committed. Finishing goes on behind. */
export async function commitByIntents(
  space: IntentsContext,
  plan: CommitPlan,
  usage: RequestUsage,
): Promise<void> {
  const transaction = new Transaction(space, plan, usage)
  await transaction.run()
}

class Transaction {
  readonly #space: IntentsContext
  readonly #plan: CommitPlan
  readonly #usage: RequestUsage
  readonly #header: Header
  readonly #placings: readonly Placing[]
  readonly #spills: readonly Spill[]
  /** It will not be committed: nobody need wait for the rest. */
  #over = false
  /** The header is there, before everything else. */
  #isBegun = false

  constructor(space: IntentsContext, plan: CommitPlan, usage: RequestUsage) {
    this.#space = space
    this.#plan = plan
    this.#usage = usage
    const { me, members, patienceMs, begun } = plan
    const turn = (begun?.turn ?? 0) + 1
    const spills: Spill[] = []
    this.#placings = members.map((member) => {
      const redo = this.#redoOf(member, spills)
      const transient = member.base.kind === 'absent'
      const intent = { id: me.id, turn, since: me.since, patienceMs, transient, redo }
      return { member, intent, attempted: false }
    })
    const addresses = members.map(({ table, key }) => ({ table, key }))
    const { items, parts, spills: written } = divided(me.id, begun ?? NO_PARTICIPANTS, addresses)
    this.#spills = [...spills, ...written]
    this.#header = {
      id: me.id,
      state: 'pending',
      turn,
      stamp: newStamp(space),
      since: me.since,
      patienceMs,
      items,
      parts,
      done: false,
      plan: begun?.plan ?? 0,
      planFirst: begun?.planFirst ?? 0,
      once: me.once,
    }
  }

  async run(): Promise<void> {
    if (!this.#space.recordTable.isProven && this.#plan.begun === undefined) await this.#beginFirst()
    try {
      // Two coordinators that go on with one transaction take turns: only one of them gets this one.
      if (this.#plan.begun !== undefined) await this.#begin()
      await beating(this.#space, this.#header, this.#plan.time, this.#usage, async () => {
        await this.#wave()
        await this.#plan.validate()
      })
      this.#checkTime()
    } catch (error) {
      // It is another coordinator's now.
      if (error instanceof OutcomeUnknown) throw error
      const fate = await this.#cancelled(error)
      if (fate === 'cancelled') throw error
      this.#finishBehind()
      return
    }
    this.#answer(await decide(this.#space, this.#header, this.#usage))
  }

  #answer(decision: HeaderFate): void {
    const { id } = this.#header
    switch (decision) {
      case 'committed':
        return this.#finishBehind()
      case 'cancelled':
        this.#undoBehind()
        throw new Conflict(`transaction ${id} was cancelled by somebody else`)
      case 'superseded':
        throw superseded(id)
      case 'unknown':
        throw new OutcomeUnknown(`nobody could say whether transaction ${id} was committed`, id)
    }
  }

  /** The header, the records that spilled over, and all intents, at once. */
  async #wave(): Promise<void> {
    const tasks: (() => Promise<void>)[] = [
      ...(this.#plan.begun === undefined && !this.#isBegun ? [() => this.#begin()] : []),
      ...this.#spills.map((spill) => () => writeSpill(this.#space, spill, this.#usage)),
      ...this.#placings.map((placing) => () => this.#place(placing)),
    ]
    await inParallel(tasks, async (task) => {
      try {
        await task()
        this.#plan.time.made()
      } catch (error) {
        this.#over = true
        throw error
      }
    })
  }

  /** A transactor's first: nothing else is written before it is known that a decision can be. */
  async #beginFirst(): Promise<void> {
    await this.#begin()
    await proveRecords(this.#space, this.#header, this.#usage)
    this.#isBegun = true
  }

  async #begin(): Promise<void> {
    const { caller, records } = this.#space
    const { begun } = this.#plan
    const reply =
      begun === undefined
        ? await caller.send('PutItem', beginRequest(records, this.#header), this.#usage)
        : await caller.send('UpdateItem', turnRequest(records, this.#header, begun.stamp), this.#usage)
    if (reply.ok) return
    if (reply.error.name !== 'ConditionalCheckFailedException')
      throw withoutRight(
        this.#space,
        reply.error,
        begun === undefined ? 'dynamodb:PutItem' : 'dynamodb:UpdateItem',
      )
    const found = await readHeader(this.#space, this.#header.id, this.#usage)
    // It was my own, sent twice.
    if (found?.stamp === this.#header.stamp && found.state !== 'cancelled') return
    if (found !== undefined && found.state !== 'cancelled') throw superseded(found.id)
    throw new Conflict(`transaction ${this.#header.id} was cancelled by somebody else`)
  }

  async #place(placing: Placing): Promise<void> {
    const { member } = placing
    const { caller } = this.#space
    let { base } = member
    for (let rounds = 0; rounds < intentLimits.roundsMax; rounds++) {
      placing.attempted = true
      const { intent } = placing
      const request = placeRequest(member, member.layout.key, intent, base)
      const reply = await caller.send('UpdateItem', request, this.#usage)
      if (reply.ok) {
        placing.stored = storedOf(fromSdkItem(reply.output.Attributes ?? {}))!
        this.#compare(placing)
        return
      }
      if (reply.error.name !== 'ConditionalCheckFailedException') throw reply.error
      const given = reply.error.Item
      const raw = given === undefined ? await readOne(caller, member, this.#usage) : fromSdkItem(given)
      const stored = storedOf(raw)
      const other = stored?.intent
      if (other !== undefined && other.id !== intent.id) {
        const me = { ...this.#plan.me, time: this.#plan.time, isOver: () => this.#over }
        await makeRoom(this.#space, { ...member, stored: stored!, intent: other }, me, this.#usage)
        continue
      }
      if (other !== undefined && other.turn > intent.turn) throw superseded(intent.id)
      // Another coordinator of this transaction has finished it here; its header will tell.
      if (stored?.version !== undefined && writerOf(stored.version) === intent.id) return
      if (!member.touch) throw changed(member, stored?.version)
      // A guard is written whatever it was: no version comes back, so the request above can do nothing any more.
      const { item, version } = stored === undefined ? {} : committedOf(stored)
      base = baseOf(item, version)
      placing.intent = { ...intent, transient: base.kind === 'absent' }
    }
    throw inTheWay(member, 'several')
  }

  /** The image under the lock is the one that the redo was made for. */
  #compare({ member, stored }: Placing): void {
    if (member.expected !== undefined && !sameItem(member.expected, stored!.item))
      throw changed(member, stored!.version)
  }

  #checkTime(): void {
    if (this.#plan.time.isOver())
      throw new Conflict(`the time to commit transaction ${this.#header.id} is over`)
  }

  /** Before anything is undone, the header says so. */
  async #cancelled(cause: unknown): Promise<HeaderFate> {
    const { id } = this.#header
    try {
      const fate = await cancel(this.#space, this.#header, this.#usage)
      if (fate !== 'cancelled') return fate.turn === this.#header.turn ? 'committed' : 'cancelled'
      this.#undoBehind()
      return 'cancelled'
    } catch (error) {
      if (!(error instanceof AnswerLost)) throw error
      // I have not asked to commit, and for a plan of my own nobody else will.
      if (this.#plan.begun === undefined) return 'cancelled'
      throw new OutcomeUnknown(`nobody could say what became of transaction ${id}`, id, { cause })
    }
  }

  #finishBehind(): void {
    const usage = { requests: 0, capacity: 0 }
    this.#space.background.run(async () => {
      await inParallel(this.#placings, async ({ member, intent, stored }) => {
        const current = stored ?? storedOf(await readOne(this.#space.caller, member, usage))
        if (current?.intent?.id !== intent.id) return
        const locked = { ...member, stored: current, intent: { ...intent, redo: member.redo } }
        if ((await apply(this.#space, locked, usage)) === 'refused') await this.#lookFor(member, usage)
      })
      await this.#dropLocks(usage)
      await markDone(this.#space, this.#header.id, usage)
    })
  }

  /** The intent was gone: somebody else has carried it out, or a plain writer has destroyed it. */
  async #lookFor(member: IntentParticipant, usage: RequestUsage): Promise<void> {
    const { id } = this.#header
    const stored = storedOf(await readOne(this.#space.caller, member, usage))
    const before = member.base.kind === 'version' ? member.base.version : undefined
    if (isWriteLost({ id, act: member.redo.act, before }, stored)) this.#space.report(writeLost(member, id))
  }

  #undoBehind(): void {
    const usage = { requests: 0, capacity: 0 }
    this.#space.background.run(async () => {
      const attempted = this.#placings.filter((placing) => placing.attempted)
      await inParallel(attempted, async ({ member, intent }) => {
        await drop(this.#space, { ...member, stored: { item: {} }, intent }, usage)
      })
      await this.#dropLocks(usage)
      await markDone(this.#space, this.#header.id, usage)
    })
  }

  /** Items that were locked in an earlier turn and are no members of this one. */
  async #dropLocks(usage: RequestUsage): Promise<void> {
    const { begun } = this.#plan
    const locked = begun === undefined ? [] : await participantsOf(this.#space, begun, usage)
    await inParallel(locked, async (address) => {
      const stored = storedOf(await readOne(this.#space.caller, address, usage))
      const intent = stored?.intent
      if (stored === undefined || intent?.id !== this.#header.id) return
      await drop(this.#space, { ...address, stored, intent }, usage)
    })
  }

  /** In the item if there is room, in records otherwise. */
  #redoOf({ redo, expected, key }: IntentParticipant, spills: Spill[]): Redo {
    if (redo.act !== 'write') return redo
    const bytes = itemBytes(expected ?? key) + itemBytes(redo.set) + intentLimits.intentBytesMax
    const fits = bytes <= intentLimits.itemBytesMax && redo.remove.length <= intentLimits.updateAttributesMax
    if (fits && depthOf(redo.set) <= intentLimits.redoDepthMax) return redo
    const first = spills.length + 1
    const text = JSON.stringify({ set: redo.set, remove: redo.remove })
    const added = spillsOf(this.#plan.me.id, 'redo', first, text)
    spills.push(...added)
    return { act: 'spilled', first, count: added.length }
  }
}

const writeLost = ({ table, key }: IntentParticipant, id: string): WriteLost =>
  new WriteLost(
    `The write of transaction ${id} to ${described({ table, key })} cannot be found: a plain writer has replaced or deleted ` +
      'the item while it was locked (or at once after somebody else had carried the write out). Plain writers must carry ' +
      'the condition `unlocked` of seriatim/toolkit.',
    id,
    { table, key: unmarshallItem(key) },
  )

const superseded = (id: string): OutcomeUnknown =>
  new OutcomeUnknown(`another coordinator has gone on with transaction ${id}`, id)

/** Unlike any other, so that everybody sees that somebody works on the transaction. */
export function newStamp({ caller }: IntentsContext): string {
  return Buffer.from(caller.runtime.randomBytes(9)).toString('base64url')
}
