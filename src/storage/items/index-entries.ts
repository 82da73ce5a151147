// The entries that follow an item: one in each index it belongs to, and one among the items that expire.
import { expiryEntryKey, indexEntryKey } from '../../model/key-bytes.js'
import type { KeyBytes, SpaceId } from '../../model/brand.js'
import type { IndexShape, ItemKey, TableShape } from '../../model/table.js'
import { type Item, attribute } from '../../model/value.js'

/** Calls back for each space of the table with the item's key there before and after; undefined where it has none. */
export function forEachEntry(
  table: TableShape,
  base: ItemKey,
  images: { readonly old: Item | undefined; readonly new: Item | undefined },
  change: (space: SpaceId, before: KeyBytes | undefined, after: KeyBytes | undefined) => void,
): void {
  for (const index of table.indexes) {
    change(index.space, entryKey(index, images.old, base), entryKey(index, images.new, base))
  }
  if (table.expiry !== undefined) {
    const { attribute: name, space } = table.expiry
    change(space, expiryKey(name, images.old, base), expiryKey(name, images.new, base))
  }
}

export function entryKey(index: IndexShape, item: Item | undefined, base: ItemKey): KeyBytes | undefined {
  return item === undefined ? undefined : indexEntryKey(index, item, base)
}

/** An item expires if the attribute is a number of seconds since the epoch; any other value keeps it for good. */
export function expiryKey(name: string, item: Item | undefined, base: ItemKey): KeyBytes | undefined {
  const value = item === undefined ? undefined : attribute(item, name)
  if (value === undefined || !('N' in value)) return undefined
  const seconds = Math.floor(Number(value.N))
  return Number.isSafeInteger(seconds) && seconds >= 0 ? expiryEntryKey(seconds, base) : undefined
}
