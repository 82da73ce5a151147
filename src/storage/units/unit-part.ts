// The part of a local node that serves units of work; units.ts says what it promises.
//
//   openSnapshot  snapshots.ts           --> a timestamp below the durable ceiling, from which on the past is kept
//   readSnapshot  rules/units/visibility.ts    --> read marks
//   rangeAt       unit-ranges.ts         --> the floor of the table
//   lockItems     unit-locks.ts
//
// Reads are steps in the same line as writes: they see what is decided, and are answered once that is durable.
import type { Timestamp } from '../../model/brand.js'
import type { ItemRef } from '../../ledger/ledger.js'
import { decideReadSnapshot, ifCommitted, stateAt } from '../../rules/units/visibility.js'
import type { Ceiling } from '../items/marks.js'
import { loadRef, type LoadedItem, type TransactionState } from '../items/load-item.js'
import type { BatchBoundaries } from '../snapshots/batch-boundaries.js'
import type { HybridClock } from '../../line/hybrid-clock.js'
import type { ItemSteps } from '../items/item-steps.js'
import { both } from '../../line/line.js'
import { asItIs, type StepRetries, type StepOutcome } from '../items/step-retries.js'
import { concerns, pageAt, pageIfCommitted, pendingIn, preparedRecord } from './unit-ranges.js'
import { inSpace } from '../../line/spaces.js'
import type {
  LockReply,
  LockRequest,
  OpenSnapshotReply,
  OpenSnapshotRequest,
  RangeAtReply,
  RangeAtRequest,
  ReadSnapshotReply,
  ReadSnapshotRequest,
  SnapshotRead,
  UnitNode,
} from '../contract/units.js'

export interface UnitPartOptions extends TransactionState {
  readonly clock: HybridClock
  readonly steps: ItemSteps
  readonly retries: StepRetries
  readonly ceiling: Ceiling
  readonly boundaries: BatchBoundaries
}

const TOO_OLD = { answer: { verdict: 'snapshot-too-old' }, whenDurable: undefined } as const

export class UnitPart implements Omit<UnitNode, 'unitsHeld'> {
  readonly #options: UnitPartOptions

  constructor(options: UnitPartOptions) {
    this.#options = options
    // The images of steps that were taken back are not the past of anything.
    options.line.onRollback(() => options.snapshots.dropAll())
  }

  async openSnapshot({ timestamp: wanted, above }: OpenSnapshotRequest): Promise<OpenSnapshotReply> {
    const { line, clock, steps, snapshots, ceiling } = this.#options
    const admission = line.admission()
    if (admission !== undefined) await admission
    // Of what was written after it the past has not been kept.
    if (wanted !== undefined && wanted < steps.highest) return { timestamp: wanted, clock: clock.timestamp }
    const timestamp = wanted ?? this.#pick(above)
    clock.witness(timestamp)
    snapshots.open(timestamp, line.whenAllDurable())
    const covered = ceiling.above(timestamp)
    if (covered !== undefined) await covered
    return { timestamp, clock: timestamp }
  }

  #pick(above: OpenSnapshotRequest['above']): Timestamp {
    const { clock, boundaries } = this.#options
    return (above === 'decided' ? undefined : boundaries.latest()) ?? clock.nextTimestamp()
  }

  closeSnapshot(timestamp: Timestamp): Promise<void> {
    this.#options.snapshots.close(timestamp)
    return Promise.resolve()
  }

  readSnapshot(request: ReadSnapshotRequest): Promise<ReadSnapshotReply> {
    const { at, items } = request
    if (at === 'new') return this.#readNewSnapshot(request)
    if (at === 'uncommitted') {
      const results = items.map((ref) => readPrepared(loadRef(this.#options, ref)))
      return Promise.resolve({ verdict: 'read', results })
    }
    return this.#options.retries.patiently(() => this.#readSnapshot(items, at), asItIs)
  }

  /** Mostly there is nothing to wait for, and opening and reading are one step. */
  async #readNewSnapshot({ items, above }: ReadSnapshotRequest): Promise<ReadSnapshotReply> {
    const { line, snapshots, ceiling, retries } = this.#options
    const admission = line.admission()
    if (admission !== undefined) await admission
    const at = this.#pick(above)
    snapshots.open(at, line.whenAllDurable())
    const covered = ceiling.above(at)
    const step = covered === undefined ? this.#readSnapshot(items, at) : undefined
    if (step !== undefined && step.waitFor === undefined) {
      if (step.whenDurable !== undefined) await step.whenDurable
      return opened(step.answer, at)
    }
    if (covered !== undefined) await covered
    return opened(await retries.patiently(() => this.#readSnapshot(items, at), asItIs), at)
  }

  #readSnapshot(refs: readonly ItemRef[], at: Timestamp): StepOutcome<ReadSnapshotReply> {
    const { line, marks, snapshots } = this.#options
    if (!snapshots.isOpen(at)) return TOO_OLD
    const items = refs.map((ref) => loadRef(this.#options, ref))
    const results = items.map((item): SnapshotRead => {
      const verdict = decideReadSnapshot(item, at)
      if (verdict.verdict === 'pending') return verdict
      const { record } = stateAt(snapshots.history.of(item.address), item.state, at)
      return { verdict: 'value', ...(record && { record }) }
    })
    const answer: ReadSnapshotReply = { verdict: 'read', results }
    const waitFor = items.flatMap((item, n) => (results[n]?.verdict === 'pending' ? [item.address] : []))
    if (waitFor.length > 0) return { answer, waitFor }
    let whenDurable: Promise<void> | undefined
    for (const item of items) {
      // Also where it was written later: a blind write from below would change what was read.
      marks.raise(item.address, at)
      const isCurrent = item.version === undefined || item.version <= at
      whenDurable = both(whenDurable, isCurrent ? line.whenDurableAt(item.address) : this.#whenDurable(at))
    }
    return { answer, whenDurable }
  }

  rangeAt(request: RangeAtRequest): Promise<RangeAtReply> {
    const { at } = request
    if (at === 'uncommitted')
      return Promise.resolve({ verdict: 'read', page: pageIfCommitted(this.#options, request) })
    return this.#options.retries.patiently(() => this.#rangeAt(request, at), asItIs)
  }

  #rangeAt(request: RangeAtRequest, at: Timestamp): StepOutcome<RangeAtReply> {
    const { snapshots, floors } = this.#options
    if (!snapshots.isOpen(at)) return TOO_OLD
    const space = request.itemSpace ?? request.space
    for (const item of pendingIn(this.#options, space)) {
      const verdict = decideReadSnapshot(item, at)
      if (verdict.verdict === 'pending' && concerns(request, item))
        return { answer: verdict, waitFor: [item.address] }
    }
    floors.raise(space, at)
    const page = pageAt(this.#options, request, at)
    return { answer: { verdict: 'read', page }, whenDurable: this.#whenDurable(at) }
  }

  #whenDurable(at: Timestamp): Promise<void> | undefined {
    const { snapshots, line } = this.#options
    const whenDurable = snapshots.whenDurable(at)
    if (whenDurable !== undefined) line.hurry(whenDurable)
    return whenDurable
  }

  lockItems(request: LockRequest): Promise<LockReply> {
    const { retries } = this.#options
    return retries.patiently(() => this.#lockItems(request), asItIs, undefined, request.unit.id)
  }

  #lockItems({ unit, items: refs, until }: LockRequest): StepOutcome<LockReply> {
    const { locks, retries, boundaries } = this.#options
    const items = refs.map((ref) => loadRef(this.#options, ref))
    for (const [n, item] of items.entries()) {
      const holder = locks.keptBy(item.address, unit) ?? writerOf(item)
      const ref = refs[n] as ItemRef
      if (holder !== undefined)
        return { answer: { verdict: 'conflict', item: ref, holder }, waitFor: [item.address] }
    }
    const addresses = items.map(({ address }) => address)
    const taken = locks.take(addresses, unit, until)
    if (taken) boundaries.pass()
    // Whoever waited for a younger unit's lock waits for an older one's now.
    for (const address of taken ? addresses : []) retries.changed(address)
    return { answer: { verdict: taken ? 'locked' : 'too-many' }, whenDurable: undefined }
  }

  unlockItems(request: { readonly unit: string; readonly items: readonly ItemRef[] }): Promise<void> {
    const { locks, retries } = this.#options
    for (const { space, key } of request.items) {
      const address = inSpace(space, key.bytes)
      if (locks.release(address, request.unit)) retries.changed(address)
    }
    return Promise.resolve()
  }
}

const opened = (reply: ReadSnapshotReply, at: Timestamp): ReadSnapshotReply =>
  reply.verdict === 'read' ? { verdict: 'read', results: reply.results, at } : reply

/** The image that the item would have if all that is pending were committed. */
function readPrepared(item: LoadedItem): SnapshotRead {
  const last = ifCommitted(item)
  const record = last === undefined ? item.state.record : preparedRecord(last, item)
  return { verdict: 'value', ...(record && { record }) }
}

/** A transaction that is about to write the item. */
const writerOf = (item: LoadedItem): string | undefined => {
  const verdict = decideReadSnapshot(item, Infinity as Timestamp)
  return verdict.verdict === 'pending' ? verdict.tx : undefined
}
