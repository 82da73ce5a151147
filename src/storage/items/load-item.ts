// Brings the state of one item, with everything that transactions left on it, to the rules; and what to wait for before.
import type { KeyBytes, Timestamp, SpaceId } from '../../model/brand.js'
import type { ItemKey } from '../../model/table.js'
import type { ItemRef } from '../../ledger/ledger.js'
import type { ItemState } from '../../rules/item/item.js'
import type { ContendedItem } from '../../rules/item/contended-item.js'
import { type Line, both } from '../../line/line.js'
import type { ItemSteps } from './item-steps.js'
import type { Partitions, ReadMarks, SpaceFloors } from './marks.js'
import type { PendingItem, PendingItems } from './pending-items.js'
import type { OpenSnapshots } from '../snapshots/snapshots.js'
import type { UnitLocks } from '../snapshots/unit-locks.js'
import { itemState, asBuffer } from '../../line/record.js'
import { inSpace, pendingKey } from '../../line/spaces.js'
import type { MergedView } from '../../line/merged-view.js'
import type { ScanRange } from '../../ordered-map/ordered-map.js'
import type { RangeRequest } from '../contract/storage-node.js'

export interface LoadedItem extends ContendedItem {
  readonly address: KeyBytes
  readonly key: ItemKey
  readonly state: ItemState
  readonly pendingItem: PendingItem
}

/** What units of work leave at a node, all of it in memory. */
export interface UnitState {
  readonly snapshots: OpenSnapshots
  readonly floors: SpaceFloors
  readonly locks: UnitLocks
}

export interface TransactionState extends UnitState {
  readonly line: Line
  readonly pendings: PendingItems
  readonly marks: ReadMarks
  readonly partitions: Partitions
  readonly steps: Pick<ItemSteps, 'isLogged'>
}

/**
 * As decided so far. `address`: the key of the item with its space. Who does not ask when the item was read before is told
 * the end of time: if it did, nothing would be written.
 */
export function loadItem(
  node: TransactionState,
  address: KeyBytes,
  key: ItemKey,
  asksWhenRead = true,
): LoadedItem {
  const { line, pendings, marks, partitions, floors, snapshots, locks } = node
  const { item: pendingItem, state = itemState(line.decided.get(address)) } = pendings.with(address)
  const { record } = state
  const { tombstone, pending } = pendingItem
  const written: Timestamp = record?.timestamp ?? tombstone?.timestamp ?? partitions.maxDelete(key.hash)
  const item: { -readonly [Member in keyof LoadedItem]: LoadedItem[Member] } = {
    address,
    key,
    state,
    pendingItem,
    pending,
    item: state.item,
    written,
    writtenBlindly: record?.lastWrite.blind ?? tombstone?.blind ?? false,
    read: (asksWhenRead ? Math.max(marks.of(address), floors.of(address)) : Infinity) as Timestamp,
    version: record?.timestamp,
  }
  const mayBeOvertaken = asksWhenRead || pending.length > 0
  if (snapshots.size > 0 || (mayBeOvertaken && node.steps.isLogged(address))) item.ordered = true
  if (snapshots.size === 0 && locks.size === 0) return item
  item.changedSince = (timestamp) => changedSince(snapshots, address, timestamp)
  const lockedBy = locks.holder(address)
  if (lockedBy !== undefined) item.lockedBy = lockedBy
  return item
}

function changedSince(
  snapshots: OpenSnapshots,
  address: KeyBytes,
  timestamp: Timestamp,
): ReturnType<NonNullable<LoadedItem['changedSince']>> {
  const last = snapshots.history.of(address).at(-1)
  if (last !== undefined && last.until > timestamp)
    return { at: last.until, ...(last.by !== undefined && { by: last.by }) }
  return snapshots.isOpen(timestamp) ? 'unchanged' : 'unknown'
}

/** For a reader. */
export const loadRef = (state: TransactionState, { space, key }: ItemRef): LoadedItem =>
  loadItem(state, inSpace(space, key.bytes), key, false)

/** When everything these decisions were based upon is durable. */
export function whenDurableAt(line: Line, items: readonly LoadedItem[]): Promise<void> | undefined {
  let whenDurable: Promise<void> | undefined
  for (const { address, pendingItem } of items) {
    whenDurable = both(whenDurable, line.whenDurableAt(address))
    if (pendingItem.pending.length > 0)
      whenDurable = both(whenDurable, line.whenDurableAt(pendingKey(address)))
  }
  return whenDurable
}

// What to wait for before a node reads, so that the disk stops nobody else: pages that are not in memory are brought there first
// (docs/adr/0046-cold-pages.md). Undefined wherever nothing has to be waited for.

/** Of an index: so many items are brought into memory before they are read. */
const ITEMS_AHEAD_MAX = 1000

export function itemsReady(view: MergedView, items: readonly ItemRef[]): Promise<unknown> | undefined {
  if (view.ready === undefined) return undefined
  const waiting: Promise<void>[] = []
  for (const { space, key } of items) {
    const ready = view.ready(inSpace(space, key.bytes))
    if (ready !== undefined) waiting.push(ready)
  }
  return waiting.length === 0 ? undefined : Promise.all(waiting)
}

/** With the items that the entries of an index point to. */
export function rangeReady(
  view: MergedView,
  range: ScanRange,
  { itemSpace, entriesMax, bytesMax }: Pick<RangeRequest, 'itemSpace' | 'entriesMax' | 'bytesMax'>,
): Promise<void> | undefined {
  if (view.readyRange === undefined || range.from >= range.to) return undefined
  const ready = view.readyRange(range, entriesMax, bytesMax)
  if (ready === undefined || itemSpace === undefined) return ready
  return ready.then(() => pointedToReady(view, range, itemSpace, Math.min(entriesMax, ITEMS_AHEAD_MAX)))
}

async function pointedToReady(
  view: MergedView,
  range: ScanRange,
  itemSpace: SpaceId,
  itemsMax: number,
): Promise<void> {
  const waiting: Promise<void>[] = []
  let items = 0
  for (const [, entry] of view.range(range)) {
    if (items++ >= itemsMax) break
    const ready = view.ready?.(inSpace(itemSpace, asBuffer(entry).toString('latin1') as KeyBytes))
    if (ready !== undefined) waiting.push(ready)
  }
  await Promise.all(waiting)
}
