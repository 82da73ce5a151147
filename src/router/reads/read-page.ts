// One page of a Query or Scan: reads entries in order, filters, projects, and writes the answer.
//
//   entries of all nodes, merged --> part held by the index --> counted (Limit, 1 MB) --> filter --> projection --> reply
//
// Limit and 1 MB apply before the filter. Where neither filter nor projection needs an item, its stored bytes are the
// answer, and it is never parsed. If all items come from one node besides, it hands them over as one text, and the rest
// of the answer is written around it:
//
//   HTTP's head | {"Items":[ | text of the node | ],"Count":...}
import { leadingAttributes } from '../../model/leading-attributes.js'
import { pickAttributes, itemBytes, type Item } from '../../model/value.js'
import { parseRecord } from '../../line/record.js'
import type { KeyRange } from '../../model/key-range.js'
import { limits } from '../../model/limits.js'
import type { RangeText } from '../../storage/contract/range-text.js'
import type { ItemRecord, RangeEntry, StorageNode } from '../../storage/contract/storage-node.js'
import { consumedCapacity, isCapacityWanted, readUnits } from '../request/capacity.js'
import { furtherMembers, joinReply, listReply, type ItemJson } from '../request/reply.js'
import { readMerged, type MergedRange, type PageLimits } from './merged-range.js'
import { type ReadTarget } from './read-target.js'
import { HEADROOM_BYTES, type Reply } from '../request/router.js'
import type { Selection } from './read-expressions.js'

export interface ReadPlan {
  readonly target: ReadTarget
  /** The nodes that may hold entries of the range. */
  readonly nodes: readonly RangeNode[]
  readonly range: KeyRange
  readonly reverse: boolean
  readonly entriesMax: number | undefined
  /** Less than a page where others are read for the same answer. */
  readonly bytesMax?: number
  readonly filter: ((item: Item) => boolean) | undefined
  /** That it takes to evaluate the filter once. */
  readonly filterComparisons?: number | undefined
  readonly selection: Selection
  readonly consistent: boolean
  /** ReturnConsumedCapacity as it was asked for. */
  readonly capacityDetail: unknown
  /** Nothing can follow what is read, so that there is no LastEvaluatedKey. */
  readonly follows?: 'nothing'
  /** Members of the answer that are not DynamoDB's, asked for once the page has been read. */
  readonly extraMembers?: () => Readonly<Record<string, unknown>>
}

export type RangeNode = Pick<StorageNode, 'range' | 'rangeText'>

export function readPage(plan: ReadPlan): Promise<Reply> {
  const { nodes, target, selection, filter } = plan
  const whole = target.index === undefined && selection.kind === 'held' && filter === undefined
  const node = whole && nodes.length === 1 ? nodes[0] : undefined
  return node?.rangeText === undefined ? readEntries(plan) : readText(plan, node as Required<RangeNode>)
}

const LIST_HEAD = '{"Items":['
const TEXT_ROOM_BEFORE = HEADROOM_BYTES + LIST_HEAD.length
/** For the members behind the items. Longer ones (of a long key, say) cost one more copy. */
const TEXT_ROOM_AFTER = 512

async function readText(plan: ReadPlan, node: Required<RangeNode>): Promise<Reply> {
  const { target, range, reverse, entriesMax = Number.MAX_SAFE_INTEGER } = plan
  const { space } = target
  const bytesMax = limits.pageBytesMax
  const page = await node.rangeText({
    space,
    from: range.from,
    ...(range.to !== undefined && { to: range.to }),
    reverse,
    entriesMax,
    bytesMax,
    roomBefore: TEXT_ROOM_BEFORE,
    roomAfter: TEXT_ROOM_AFTER,
  })
  const { entries, itemBytes: heldBytes, lastStart, end } = page
  const isFull = entries >= entriesMax || heldBytes >= bytesMax
  const further = furtherMembers({
    LastEvaluatedKey:
      isFull && plan.follows !== 'nothing'
        ? leadingAttributes(page.bytes, lastStart, end, target.positionNames)
        : undefined,
    ConsumedCapacity: capacityOf(plan, { heldBytes, fetchedUnits: 0 }),
    ...plan.extraMembers?.(),
  })
  return aroundText(page, `],"Count":${entries},"ScannedCount":${entries}${further}}`)
}

function aroundText({ bytes, start, end }: RangeText, tail: string): Reply {
  const tailBytes = Buffer.byteLength(tail)
  const bodyStart = start - LIST_HEAD.length
  if (tailBytes > TEXT_ROOM_AFTER) {
    return joinReply([LIST_HEAD, bytes.subarray(start, end), tail])
  }
  bytes.write(LIST_HEAD, bodyStart, 'latin1')
  bytes.write(tail, end)
  return { body: bytes.subarray(bodyStart, end + tailBytes), headroomBytes: HEADROOM_BYTES }
}

/** What was read of a page, before it becomes an answer. */
export interface PageRows {
  readonly items: readonly ItemJson[]
  readonly scanned: number
  readonly count: number
  readonly heldBytes: number
  /** For whole items behind a local index that were answered; and for all that were looked at. */
  readonly fetchedUnits: number
  readonly walkedUnits: number
  /** The key attributes of the last item that was looked at; undefined: there is no next page. */
  readonly position: Item | undefined
}

export async function readRows(plan: ReadPlan): Promise<PageRows> {
  const tally = { scanned: 0, count: 0, heldBytes: 0, fetchedUnits: 0, walkedUnits: 0 }
  const items: ItemJson[] = []
  const fetches = isFetching(plan.selection)
  let last: RangeEntry | undefined
  const view = viewOf(plan)
  const end = await readMerged(plan.nodes, mergedRange(plan), pageLimitsOf(plan), (entry) => {
    last = entry
    const seen = view(entry.record)
    tally.scanned += 1
    tally.heldBytes += seen.heldBytes
    const units = fetches ? readUnits(entry.record.itemBytes, plan.consistent) : 0
    tally.walkedUnits += units
    if (seen.json !== undefined) {
      tally.count += 1
      if (plan.selection.kind !== 'count') items.push(seen.json)
      tally.fetchedUnits += units
    }
    return seen.heldBytes
  })
  const position = end === 'exhausted' || last === undefined ? undefined : positionOf(plan.target, last)
  return { ...tally, items, position }
}

async function readEntries(plan: ReadPlan): Promise<Reply> {
  const rows = await readRows(plan)
  const further = furtherMembers({
    LastEvaluatedKey: plan.follows === 'nothing' ? undefined : rows.position,
    ConsumedCapacity: capacityOf(plan, rows),
    ...plan.extraMembers?.(),
  })
  const tail = `"Count":${rows.count},"ScannedCount":${rows.scanned}${further}}`
  return plan.selection.kind === 'count'
    ? Buffer.from(`{${tail}`)
    : listReply(LIST_HEAD, rows.items, `],${tail}`)
}

/** Comparisons of one page, where an item of so many bytes counts as one more: longer ones take longer to compare. */
const COMPARISONS_MAX = 1_000_000
const COMPARED_BYTES = 32

/**
 * A filter of hundreds of comparisons on the smallest items would take seconds for a megabyte: its page ends earlier, as
 * clients expect of any page. With up to seven comparisons no page is shorter than DynamoDB's.
 */
export function pageLimitsOf({
  entriesMax = Number.MAX_SAFE_INTEGER,
  bytesMax = limits.pageBytesMax,
  filterComparisons = 0,
}: Pick<ReadPlan, 'entriesMax' | 'bytesMax' | 'filterComparisons'>): PageLimits {
  const evaluationsMax = Math.ceil(COMPARISONS_MAX / Math.max(1, filterComparisons))
  return {
    entriesMax: Math.min(entriesMax, filterComparisons === 0 ? Number.MAX_SAFE_INTEGER : evaluationsMax),
    bytesMax: Math.min(bytesMax, evaluationsMax * COMPARED_BYTES),
  }
}

interface Seen {
  /** Size of what the table or the index holds of this item. */
  readonly heldBytes: number
  /** What is answered of it; undefined if the filter left it out. */
  readonly json: ItemJson | undefined
}

function viewOf({ target, selection, filter }: ReadPlan): (record: ItemRecord) => Seen {
  const { heldNames } = target
  const stored = selection.kind === 'specific' ? undefined : selection.kind
  if (heldNames === undefined && filter === undefined && stored !== undefined) {
    return (record) => ({ heldBytes: record.itemBytes, json: record.json })
  }
  return (record) => {
    const item = parseRecord(record)
    const held = heldNames === undefined ? item : pickAttributes(item, heldNames)
    const heldBytes = heldNames === undefined ? record.itemBytes : itemBytes(held)
    if (filter !== undefined && !filter(held)) return { heldBytes, json: undefined }
    switch (selection.kind) {
      case 'count':
      case 'fetched':
        return { heldBytes, json: record.json }
      case 'held':
        return { heldBytes, json: heldNames === undefined ? record.json : JSON.stringify(held) }
      case 'specific':
        return {
          heldBytes,
          json: JSON.stringify(selection.project(selection.from === 'held' ? held : item)),
        }
    }
  }
}

const isFetching = (selection: Selection): boolean =>
  selection.kind === 'fetched' || (selection.kind === 'specific' && selection.from === 'fetched')

function mergedRange({ target, range, reverse }: ReadPlan): MergedRange {
  const { space, index, table } = target
  return { space, ...(index && { itemSpace: table.shape.space }), ...range, reverse }
}

/** LastEvaluatedKey: the key attributes of the last item that was looked at. */
const positionOf = (target: ReadTarget, { record }: RangeEntry): Item =>
  pickAttributes(parseRecord(record), target.positionNames)

function capacityOf(
  { target, consistent, capacityDetail }: ReadPlan,
  { heldBytes, fetchedUnits }: { readonly heldBytes: number; readonly fetchedUnits: number },
): object | undefined {
  if (!isCapacityWanted(capacityDetail)) return undefined
  const units = readUnits(heldBytes, consistent)
  const { table, index } = target
  if (index === undefined) return consumedCapacity(capacityDetail, table.name, { table: units })
  return consumedCapacity(capacityDetail, table.name, {
    table: fetchedUnits,
    [index.kind]: new Map([[index.name, units]]),
  })
}
