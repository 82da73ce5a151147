// Brings the state of one item, with everything that transactions left on it, to the rules.
import type { KeyBytes, Timestamp } from '../model/brand.js'
import type { ItemKey } from '../model/table.js'
import type { ItemRef } from '../ledger/ledger.js'
import type { ItemState } from '../rules/item.js'
import type { ContendedItem } from '../rules/pending.js'
import { type Line, both } from './line.js'
import type { Partitions } from './partitions.js'
import type { PendingItem, PendingItems } from './pending-items.js'
import type { ReadMarks } from './read-marks.js'
import { itemState } from './record.js'
import { inSpace, pendingKey } from './spaces.js'

export interface LoadedItem extends ContendedItem {
  readonly address: KeyBytes
  readonly key: ItemKey
  readonly state: ItemState
  readonly pendingItem: PendingItem
}

export interface TransactionState {
  readonly line: Line
  readonly pendings: PendingItems
  readonly marks: ReadMarks
  readonly partitions: Partitions
}

/** As decided so far. `address`: the key of the item with its space. */
export function loadItem(
  { line, pendings, marks, partitions }: TransactionState,
  address: KeyBytes,
  key: ItemKey,
): LoadedItem {
  const state = itemState(line.decided.get(address))
  const pendingItem = pendings.of(address)
  const { record } = state
  const { tombstone, pending } = pendingItem
  const written: Timestamp = record?.timestamp ?? tombstone?.timestamp ?? partitions.maxDelete(key.hash)
  return {
    address,
    key,
    state,
    pendingItem,
    pending,
    item: () => state.item(),
    written,
    writtenBlindly: record?.lastWrite.blind ?? tombstone?.blind ?? false,
    read: marks.of(address),
  }
}

export const loadRef = (state: TransactionState, { space, key }: ItemRef): LoadedItem =>
  loadItem(state, inSpace(space, key.bytes), key)

/** When everything these decisions were based upon is durable. */
export function settledAt(line: Line, items: readonly LoadedItem[]): Promise<void> | undefined {
  let settled: Promise<void> | undefined
  for (const { address, pendingItem } of items) {
    settled = both(settled, line.settledAt(address))
    if (pendingItem.pending.length > 0) settled = both(settled, line.settledAt(pendingKey(address)))
  }
  return settled
}
