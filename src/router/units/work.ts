// What a unit of work does once its tables and keys are known: it reads items, and it commits. The wire, the port in this process
// and the simulator come here. Its queries and scans are in unit-ranges.ts.
//
//   readItems   lock what is to be locked --> the unit's snapshot, or a new one --> records in the order of the gets
//   commitUnit  rules/units/binding.ts: actions, expectations, predicates --> coordinator.write --> answer or DynamoError
import type { ClientToken, LocatedPredicate, WriteTransactionOutcome } from '../../coordinator/coordinator.js'
import type { StoreSnapshots } from '../../coordinator/snapshots.js'
import { DynamoError } from '../../model/errors.js'
import type { Timestamp } from '../../model/brand.js'
import { type BoundUnit, bindUnit, type UnitWork } from '../../rules/units/binding.js'
import { cancelledBy } from '../transactions/transact-refusals.js'
import { tokenRefusal } from '../transactions/transact-write-items.js'
import {
  refusedSnapshot,
  shownId,
  type RequestUnit,
  unitConflict,
  type UnitConflictDetail,
  type UnitContext,
  forget,
  openingOf,
  readPlace,
  type WireUnit,
} from './unit.js'
import type { ItemRef } from '../../ledger/ledger.js'
import { readsAtOneSnapshot } from '../../model/isolation.js'
import { limits } from '../../model/limits.js'
import type { Item } from '../../model/value.js'
import type { ItemRecord } from '../../storage/contract/storage-node.js'
import type { ReadPoint } from '../../storage/contract/units.js'

export interface UnitCommit extends UnitWork<LocatedPredicate> {
  readonly token?: ClientToken | undefined
  /** The item that the condition of this action failed on is wanted in the reason. */
  readonly showsItem: (position: number) => boolean
  /** The unit's snapshot is needed no longer. */
  readonly release: () => void
}

/** The commit timestamp; undefined if there was nothing to do, or if it was done before. Throws DynamoError. */
export async function commitUnit(
  context: Pick<UnitContext, 'coordinator'>,
  unit: RequestUnit,
  commit: UnitCommit,
): Promise<Timestamp | undefined> {
  const bound = bindUnit(unit, commit)
  const { actions, predicates } = bound
  const { token } = commit
  if (actions.length === 0 && predicates.length === 0) return undefined
  const outcome = await context.coordinator.write({
    actions,
    ...(predicates.length > 0 && { predicates }),
    ...(token && { token }),
    unit: unit.id,
  })
  if (outcome.outcome !== 'unknown') commit.release()
  switch (outcome.outcome) {
    case 'committed':
      return outcome.timestamp
    case 'repeated':
      return undefined
    case 'cancelled':
      throw refusal(outcome, bound, commit)
    case 'token-mismatch':
    case 'token-in-progress':
    case 'unavailable':
    case 'unknown':
      throw tokenRefusal(outcome)
  }
}

/** Before anything is done: a unit that has taken too long is not committed after its caller has given it up. */
export function refuseExpired(
  { runtime }: Pick<UnitContext, 'runtime'>,
  { attemptBegan, timeoutMs }: RequestUnit,
): void {
  if (attemptBegan === undefined) return
  const ageMs = (runtime.clock.nowMicros() - attemptBegan) / 1000
  if (ageMs <= timeoutMs) return
  throw new DynamoError(
    'UnitExpiredException',
    `The unit of work began ${Math.round(ageMs)} ms ago, and its limit is ${timeoutMs} ms`,
  )
}

/**
 * A conflict comes before a failed condition: the unit has decided upon what is no longer so, and may decide otherwise
 * when it looks again.
 */
function refusal(
  { verdicts, predicates: ranges = [] }: Extract<WriteTransactionOutcome, { outcome: 'cancelled' }>,
  { actions, predicates }: BoundUnit<LocatedPredicate>,
  { writes, showsItem }: UnitCommit,
): DynamoError {
  const conflicts: UnitConflictDetail[] = []
  let changed = false
  for (const [at, verdict] of verdicts.entries()) {
    const blamed = actions[at]
    const named = blamed && { TableName: blamed.table.name, Key: blamed.keyAttributes }
    if (verdict.verdict === 'changed') {
      changed = true
      conflicts.push({ ...named, ...(verdict.by && { TransactionId: verdict.by }) })
    } else if (verdict.verdict === 'conflict') {
      const other = verdict.others[0] ?? verdict.holder
      conflicts.push({ ...named, ...(other !== undefined && { TransactionId: shownId(other) }) })
    }
  }
  for (const [at, verdict] of ranges.entries()) {
    const tableName = predicates[at]?.check.table.name
    const named = tableName === undefined ? {} : { TableName: tableName }
    if (verdict.verdict === 'snapshot-too-old') return refusedSnapshot({ outcome: 'snapshot-too-old' })
    if (verdict.verdict === 'changed') {
      changed = true
      conflicts.push({ ...named, ...(verdict.by && { TransactionId: verdict.by }) })
    }
    if (verdict.verdict === 'pending') conflicts.push({ ...named, TransactionId: verdict.tx })
  }
  const failed = verdicts.some(({ verdict }) => verdict === 'condition-failed' || verdict === 'invalid')
  if (failed && !changed) return cancelledBy(verdicts.slice(0, writes.length), showsItem)
  return unitConflict(
    changed
      ? 'What the unit of work has read, or writes, was changed by others'
      : 'Another transaction is in the way of the unit of work',
    conflicts,
  )
}

export interface BoundGet {
  readonly tableName: string
  readonly keyAttributes: Item
  readonly ref: ItemRef
  readonly locked: boolean
}

/** How an answer over the wire is bounded. In this process the unit keeps what it reads anyway. */
export interface ReadBounds {
  /** With so many bytes no more is read, and the records are those of the first gets. */
  readonly bytesMax: number
  /** What is locked is locked before. */
  readonly inTurn: <Result>(read: () => Promise<Result>) => Promise<Result>
}

const UNBOUNDED: ReadBounds = { bytesMax: Infinity, inTurn: (read) => read() }

export interface ItemsRead {
  /** In the order of the gets; undefined where there is none. */
  readonly records: readonly (ItemRecord | undefined)[]
  /** Where they were read. */
  readonly at: ReadPoint
  /** The same, and absent at levels that read at no single snapshot. */
  readonly readTimestamp: Timestamp | undefined
  readonly clock: number
}

/** Locks what is to be locked, and reads where the unit reads. Throws DynamoError. */
export async function readItems(
  context: Pick<UnitContext, 'runtime' | 'coordinator'>,
  unit: RequestUnit | WireUnit,
  gets: readonly BoundGet[],
  { bytesMax, inTurn }: ReadBounds = UNBOUNDED,
): Promise<ItemsRead> {
  // Before the snapshot is taken: what is locked is then read as it stays.
  if (gets.some(({ locked }) => locked)) await lock(context, unit, gets)
  return inTurn(() => read(context, unit, gets, bytesMax))
}

async function read(
  context: Pick<UnitContext, 'runtime' | 'coordinator'>,
  unit: RequestUnit | WireUnit,
  gets: readonly BoundGet[],
  bytesMax: number,
): Promise<ItemsRead> {
  const open = openingOf(unit)
  const { snapshots } = context.coordinator
  const items = gets.map(({ ref }) => ref)
  const atOnce = bytesMax === Infinity ? items.length : limits.readAtOnceMax
  const clock = context.runtime.clock.nowMicros()
  if (readsAtOneSnapshot(unit.isolation) && unit.readTimestamp === undefined) {
    const { at, answer: outcome } = await snapshots.readNew({ items: items.slice(0, atOnce), ...open })
    if (outcome.outcome === 'read') {
      const records = [...outcome.records]
      try {
        await readOn(snapshots, { at, items, atOnce, bytesMax }, records)
      } catch (error) {
        forget(context, at)
        throw error
      }
      return { records, at, readTimestamp: at, clock }
    }
    // Nobody knows of it.
    forget(context, at)
    throw refusedSnapshot(outcome)
  }
  const place = await readPlace(context, unit, open)
  const { at, readTimestamp } = place
  try {
    const records: (ItemRecord | undefined)[] = []
    await readOn(snapshots, { at, items, atOnce, bytesMax }, records)
    return { records, at, readTimestamp, clock }
  } finally {
    place.done()
  }
}

/** Some at once, as long as those before have fewer bytes than that. */
async function readOn(
  snapshots: Pick<StoreSnapshots, 'read'>,
  {
    at,
    items,
    atOnce,
    bytesMax,
  }: {
    readonly at: ReadPoint
    readonly items: readonly ItemRef[]
    readonly atOnce: number
    readonly bytesMax: number
  },
  records: (ItemRecord | undefined)[],
): Promise<void> {
  let bytes = 0
  for (const record of records) bytes += record?.itemBytes ?? 0
  while (records.length < items.length && bytes <= bytesMax) {
    const outcome = await snapshots.read({ at, items: items.slice(records.length, records.length + atOnce) })
    if (outcome.outcome !== 'read') throw refusedSnapshot(outcome)
    for (const record of outcome.records) bytes += record?.itemBytes ?? 0
    records.push(...outcome.records)
  }
}

async function lock(
  context: Pick<UnitContext, 'runtime' | 'coordinator'>,
  unit: RequestUnit | WireUnit,
  gets: readonly BoundGet[],
): Promise<void> {
  const items = gets.filter(({ locked }) => locked).map(({ ref }) => ref)
  const now = context.runtime.clock.nowMicros()
  const began = unit.began ?? (Math.floor(now) as Timestamp)
  const until = (now + unit.timeoutMs * 1000) as Timestamp
  const reply = await context.coordinator.snapshots.lock({
    unit: { id: unit.id, began, ...(unit.key !== undefined && { key: unit.key }) },
    items,
    until,
  })
  if (reply.verdict === 'locked') return
  if (reply.verdict === 'too-many') {
    throw new DynamoError(
      'ThrottlingException',
      'Too many items are locked by units of work; try again later',
    )
  }
  const blamed = gets.find(
    ({ ref }) => ref.space === reply.item.space && ref.key.bytes === reply.item.key.bytes,
  )
  const conflict = {
    ...(blamed && { TableName: blamed.tableName, Key: blamed.keyAttributes }),
    TransactionId: shownId(reply.holder),
  }
  // With its age: the next attempt is as old as this one, and gets through in the end.
  throw unitConflict('An item that was to be locked is locked by an older unit of work', [conflict], {
    Began: 'age' in unit ? unit.age() : began,
  })
}
