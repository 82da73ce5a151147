// What is done to a whole table at a node: loading its items, and making the entries of a new index. Both go through the line of the
// node, in one synchronous stretch, and the caller waits until that is durable.
import { asBuffer, decodeItemRecord, itemState, parseRecord, recordItemBytes } from '../../line/record.js'
import { boundsOf, inSpace, itemKeyAt, withoutSpace } from '../../line/spaces.js'
import type { HybridClock } from '../../line/hybrid-clock.js'
import type { Line } from '../../line/line.js'
import type { KeyBytes } from '../../model/brand.js'
import { keyAfter } from '../../model/key-range.js'
import type { TableShape } from '../../model/table.js'
import type { Item } from '../../model/value.js'
import { TextImage } from '../../rules/item/single-write.js'
import type { LoadedPut, StorageNode } from '../contract/storage-node.js'
import { entryKey, expiryKey } from '../items/index-entries.js'
import type { ItemSteps } from '../items/item-steps.js'

const LOADED = { kind: 'put', blind: true } as const

export interface TableWorkParts {
  readonly line: Line
  readonly clock: HybridClock
  readonly steps: ItemSteps
}

export function loadItems(
  { line, clock, steps }: TableWorkParts,
  given: TableShape,
  items: readonly LoadedPut[],
): void {
  const table = steps.shapeOf(given)
  for (const { key, item, json, itemBytes, isFresh } of items) {
    const stored = isFresh ? undefined : line.decided.get(inSpace(table.space, key.bytes))
    const next =
      json === undefined
        ? item && { item, itemBytes, lastWrite: LOADED }
        : new TextImage(new ItemText(json), itemBytes, LOADED)
    const timestamp = clock.nextTimestamp()
    steps.apply({
      table,
      key,
      state: itemState(stored),
      next,
      timestamp,
      blind: true,
      put: 'put',
      json,
    })
  }
}

/** Where the next call goes on; undefined after the last item. */
export function backfillItems(
  { line, steps }: Pick<TableWorkParts, 'line' | 'steps'>,
  { table, index, from, itemsMax }: Parameters<StorageNode['backfill']>[0],
): KeyBytes | undefined {
  const items: (readonly [KeyBytes, Uint8Array])[] = []
  let more = false
  for (const entry of line.decided.range({ ...boundsOf(table.space, from), reverse: false })) {
    more = items.length >= itemsMax
    if (more) break
    items.push(entry)
  }
  for (const [key, stored] of items) {
    const base = itemKeyAt(key)
    const item = parseRecord(decodeItemRecord(stored))
    const [space, entry] =
      index === 'expiry'
        ? [table.expiry?.space, table.expiry && expiryKey(table.expiry.attribute, item, base)]
        : [index.space, entryKey(index, item, base)]
    if (space === undefined || entry === undefined || steps.has(space, entry)) continue
    // Another router has dropped the index meanwhile, and may have emptied its space.
    if (steps.isDropped(space)) continue
    line.put(inSpace(space, entry), Buffer.from(base.bytes, 'latin1'))
    line.addCount(space, 1, recordItemBytes(stored))
  }
  const last = items.at(-1)
  return more && last !== undefined ? keyAfter(withoutSpace(last[0])) : undefined
}

/** An item of which only its text is known, until it is looked into. */
class ItemText {
  readonly #json: Uint8Array

  constructor(json: Uint8Array) {
    this.#json = json
  }

  get item(): Item {
    return JSON.parse(asBuffer(this.#json).toString()) as Item
  }
}
