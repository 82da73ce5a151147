// Judges what a node shows at one moment, whatever it is: each way to look at it must show the same.
//
//   every key alone | the range, forward | in reverse | the values of a scan | entries --> what the items imply
import type { KeyBytes, SpaceId } from '../../src/model/brand.js'
import type { TableShape } from '../../src/model/table.js'
import { asBuffer, decodeItemRecord, parseRecord } from '../../src/line/record.js'
import { boundsOf, inSpace, withoutSpace, type SpaceCount } from '../../src/line/spaces.js'
import type { MergedView } from '../../src/line/merged-view.js'
import { type Anomaly, Findings } from './anomaly.js'
import { judgeEntries } from './entries.js'

/** `known`: addresses at which there may be an item of the table. */
export function judgeView(
  name: string,
  table: TableShape,
  view: MergedView,
  known: Iterable<KeyBytes>,
): readonly Anomaly[] {
  const findings = new Findings()
  const bounds = boundsOf(table.space)
  const forward = [...view.range({ ...bounds, reverse: false })]
  const inRange = new Map(forward)
  const text = (keys: Iterable<KeyBytes>): string => JSON.stringify([...keys])
  const keys = text(inRange.keys())
  if (keys !== text([...inRange.keys()].toSorted()) || inRange.size !== forward.length)
    findings.add('range-order', `${name} shows its range out of order`)
  const backward = Array.from(view.range({ ...bounds, reverse: true }), ([key]) => key)
  if (text(backward.toReversed()) !== keys)
    findings.add('range-reverse', `${name} shows another range in reverse`)
  const scanned: number[] = []
  view.scan({ ...bounds, reverse: false }, (_, length) => scanned.push(length) > 0)
  if (String(scanned) !== String(forward.map(([, value]) => value.length)))
    findings.add('range-scan', `${name} shows other values of its range to a scan`)
  for (const address of new Set([...known, ...inRange.keys()])) {
    const [alone, found] = [view.get(address), inRange.get(address)]
    if (alone === undefined ? found === undefined : found !== undefined && asBuffer(alone).equals(found))
      continue
    findings.add('range-differs', `${name} at ${JSON.stringify(address)}: ${differenceOf(alone, found)}`)
  }
  const items = Array.from(inRange.values(), (value) => parseRecord(decodeItemRecord(value)))
  const entriesIn = (space: SpaceId): readonly KeyBytes[] =>
    Array.from(view.range({ ...boundsOf(space), reverse: false }), ([key]) => withoutSpace(key))
  return [...findings.all, ...judgeEntries(name, table, items, entriesIn)]
}

function differenceOf(alone: Uint8Array | undefined, found: Uint8Array | undefined): string {
  if (alone === undefined) return 'there in its range, and not alone'
  return found === undefined ? 'there alone, and in no range' : 'not the same alone and in its range'
}

/** When nothing is under way any more: what the node has counted is what there is. */
export async function judgeCounts(
  name: string,
  table: TableShape,
  view: MergedView,
  count: (space: SpaceId) => Promise<SpaceCount>,
): Promise<readonly Anomaly[]> {
  const findings = new Findings()
  const spaces = [table.space, ...table.indexes.map(({ space }) => space)]
  for (const space of spaces) {
    const there = { items: 0, bytes: 0 }
    for (const [, value] of view.range({ ...boundsOf(space), reverse: false })) {
      there.items++
      const item = space === table.space ? value : view.get(inSpace(table.space, keyIn(value)))
      if (item !== undefined) there.bytes += decodeItemRecord(item).itemBytes
    }
    const { items, bytes } = await count(space)
    if (items !== there.items || bytes !== there.bytes)
      findings.add(
        'count',
        `${name} counts ${items} items of ${bytes} bytes in space ${space}, and has ${there.items} of ${there.bytes}`,
      )
  }
  return findings.all
}

/** The key of the item that an entry leads to. */
const keyIn = (entry: Uint8Array): KeyBytes => asBuffer(entry).toString('latin1') as KeyBytes
