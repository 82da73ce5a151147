// What to wait for before a node reads, so that the disk stops nobody else: pages that are not in memory are brought there first
// (docs/adr/0046-cold-pages.md). Undefined wherever nothing has to be waited for.
import type { ItemRef } from '../../ledger/ledger.js'
import type { MergedView } from '../../line/merged-view.js'
import { asBuffer } from '../../line/record.js'
import { inSpace } from '../../line/spaces.js'
import type { KeyBytes, SpaceId } from '../../model/brand.js'
import type { ScanRange } from '../../ordered-map/ordered-map.js'
import type { RangeRequest } from '../contract/storage-node.js'

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
