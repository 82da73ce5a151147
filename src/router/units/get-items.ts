// Single items where a unit of work reads them: on the wire, in this process and in the simulator.
//
//   lock what is to be locked --> the unit's snapshot, or a new one --> records in the order of the gets
import type { ItemRef } from '../../ledger/ledger.js'
import type { Timestamp } from '../../model/brand.js'
import { DynamoError } from '../../model/errors.js'
import { readsAtOneSnapshot } from '../../model/isolation.js'
import type { Item } from '../../model/value.js'
import type { ItemRecord } from '../../storage/contract/storage-node.js'
import type { ReadPoint } from '../../storage/contract/units.js'
import {
  forget,
  openingOf,
  readPlace,
  refusedSnapshot,
  shownId,
  type RequestUnit,
  unitConflict,
  type UnitContext,
  type WireUnit,
} from './unit.js'

export interface BoundGet {
  readonly tableName: string
  readonly keyAttributes: Item
  readonly ref: ItemRef
  readonly locked: boolean
}

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
): Promise<ItemsRead> {
  // Before the snapshot is taken: what is locked is then read as it stays.
  if (gets.some(({ locked }) => locked)) await lock(context, unit, gets)
  const open = openingOf(unit)
  const { snapshots } = context.coordinator
  const items = gets.map(({ ref }) => ref)
  const clock = context.runtime.clock.nowMicros()
  if (readsAtOneSnapshot(unit.isolation) && unit.readTimestamp === undefined) {
    const { at, answer: outcome } = await snapshots.readNew({ items, ...open })
    if (outcome.outcome === 'read') return { records: outcome.records, at, readTimestamp: at, clock }
    // Nobody knows of it.
    forget(context, at)
    throw refusedSnapshot(outcome)
  }
  const place = await readPlace(context, unit, open)
  const { at, readTimestamp } = place
  try {
    const outcome = await snapshots.read({ at, items })
    if (outcome.outcome !== 'read') throw refusedSnapshot(outcome)
    return { records: outcome.records, at, readTimestamp, clock }
  } finally {
    place.done()
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
