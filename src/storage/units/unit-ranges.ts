// Ranges of a table or an index as they were at a snapshot, or as they would be if all that is prepared were committed.
//
//   current range    a ---- c ---- d ---- f        without what was written after the snapshot
//   past, prepared   .. b ...... d ......          the images it sees instead
import type { KeyBytes, SpaceId, Timestamp } from '../../model/brand.js'
import type { IndexShape } from '../../model/table.js'
import { ifCommitted, wasAt } from '../../rules/units/visibility.js'
import { loadItem, type LoadedItem, type TransactionState } from '../items/load-item.js'
import { entryKey } from '../items/index-entries.js'
import type { PastImage } from '../snapshots/past-images.js'
import { asBuffer, decodeItemRecord, encodeItemRecord } from '../../line/record.js'
import { type Bounds, boundsOf, inSpace, itemKeyAt, withoutSpace } from '../../line/spaces.js'
import type { ItemRecord, RangeEntry, RangePage, RangeRequest } from '../contract/storage-node.js'
import type { RangeAtRequest } from '../contract/units.js'

/** What a reader at that timestamp sees; nothing that is pending at or below it may concern the range. */
export function pageAt(state: TransactionState, request: RangeAtRequest, timestamp: Timestamp): RangePage {
  const { line, snapshots } = state
  const { reverse } = request
  const bounds = boundsOf(request.space, request.from, request.to)
  if (bounds.from >= bounds.to) return EMPTY
  const current = line.decided.range({ ...bounds, reverse })
  const past = snapshots.history.range(bounds.from, bounds.to, { reverse })
  return pageOf(request, recordsAt(state, request, { current, past, timestamp }))
}

const EMPTY: RangePage = { entries: [], more: false }

function* recordsAt(
  state: TransactionState,
  { itemSpace, reverse }: RangeRequest,
  {
    current,
    past,
    timestamp,
  }: {
    readonly current: Iterable<readonly [KeyBytes, Uint8Array]>
    readonly past: Iterable<readonly [KeyBytes, readonly PastImage[]]>
    readonly timestamp: Timestamp
  },
): Iterable<readonly [KeyBytes, ItemRecord]> {
  for (const [key, value, images] of sideBySide(current, past, reverse)) {
    const image = images?.find((each) => wasAt(each, timestamp))
    if (image !== undefined) {
      if (image.record !== undefined) yield [key, image.record]
      continue
    }
    const record = value && recordAt(state, itemSpace, value)
    if (record !== undefined && record.timestamp <= timestamp) yield [key, record]
  }
}

/** As it would be if all that is pending were committed. */
export function pageIfCommitted(state: TransactionState, request: RangeAtRequest): RangePage {
  const { line } = state
  const { reverse } = request
  const bounds = boundsOf(request.space, request.from, request.to)
  if (bounds.from >= bounds.to) return EMPTY
  const current = line.decided.range({ ...bounds, reverse })
  const prepared = preparedIn(state, request, bounds)
  return pageOf(request, recordsIfCommitted(state, request, current, prepared))
}

function* recordsIfCommitted(
  state: TransactionState,
  { itemSpace, reverse }: RangeRequest,
  current: Iterable<readonly [KeyBytes, Uint8Array]>,
  prepared: Iterable<readonly [KeyBytes, ItemRecord | undefined]>,
): Iterable<readonly [KeyBytes, ItemRecord]> {
  const changed = new Map(prepared)
  const keys = [...changed.keys()].toSorted(reverse ? (a, b) => (a < b ? 1 : -1) : undefined)
  const upper = keys.map((key) => [key, key] as const)
  for (const [key, value, isPrepared] of sideBySide(current, upper, reverse)) {
    const record =
      isPrepared === undefined ? value && recordAt(state, itemSpace, value) : changed.get(isPrepared)
    if (record !== undefined) yield [key, record]
  }
}

/** The keys of the range that would come, change or go. */
function preparedIn(
  state: TransactionState,
  request: RangeAtRequest,
  bounds: Bounds,
): Map<KeyBytes, ItemRecord | undefined> {
  const changed = new Map<KeyBytes, ItemRecord | undefined>()
  const index = indexOf(request)
  const within = (key: KeyBytes): boolean => key >= bounds.from && key < bounds.to
  for (const item of pendingIn(state, request.itemSpace ?? request.space)) {
    const last = ifCommitted(item)
    if (last === undefined) continue
    const record = preparedRecord(last, item)
    const now = index === undefined ? item.address : indexAddress(index, item, item.item())
    const then = index === undefined ? item.address : indexAddress(index, item, last.next?.item)
    if (now !== undefined && within(now)) changed.set(now, undefined)
    if (then !== undefined && within(then)) changed.set(then, record)
  }
  return changed
}

/** The image that the item would have, as a record. */
export function preparedRecord(
  last: NonNullable<ReturnType<typeof ifCommitted>>,
  { state: { record } }: LoadedItem,
): ItemRecord | undefined {
  const lsn = record?.lsn ?? (0 as ItemRecord['lsn'])
  return last.next && decodeItemRecord(encodeItemRecord(last.next, last.timestamp, lsn))
}

/** Whether what is pending on the item would show in the range, with one outcome or the other. */
export function concerns(request: RangeAtRequest, item: LoadedItem): boolean {
  const { from, to } = boundsOf(request.space, request.from, request.to)
  const within = (key: KeyBytes | undefined): boolean => key !== undefined && key >= from && key < to
  const index = indexOf(request)
  if (index === undefined) return within(item.address)
  const now = indexAddress(index, item, item.item())
  const then = indexAddress(index, item, ifCommitted(item)?.next?.item)
  // Of several pending writes any may be the last that is committed.
  return item.pending.length > 1 || within(now) || within(then)
}

/** Items of that table on which transactions are pending. */
export function* pendingIn(state: TransactionState, space: SpaceId): Iterable<LoadedItem> {
  if (state.pendings.size === 0) return
  const { from, to } = boundsOf(space)
  for (const address of state.pendings.items()) {
    if (address >= from && address < to) yield loadItem(state, address, itemKeyAt(address))
  }
}

function indexOf({ space, itemSpace, table }: RangeAtRequest): IndexShape | undefined {
  return itemSpace === undefined ? undefined : table.indexes.find((index) => index.space === space)
}

function indexAddress(
  index: IndexShape,
  { key }: LoadedItem,
  image: ReturnType<LoadedItem['item']>,
): KeyBytes | undefined {
  const entry = entryKey(index, image, key)
  return entry === undefined ? undefined : inSpace(index.space, entry)
}

function recordAt(
  { line }: TransactionState,
  itemSpace: SpaceId | undefined,
  value: Uint8Array,
): ItemRecord | undefined {
  if (itemSpace === undefined) return decodeItemRecord(value)
  const stored = line.decided.get(inSpace(itemSpace, asBuffer(value).toString('latin1') as KeyBytes))
  return stored === undefined ? undefined : decodeItemRecord(stored)
}

function pageOf(
  { entriesMax, bytesMax }: RangeRequest,
  records: Iterable<readonly [KeyBytes, ItemRecord]>,
): RangePage {
  const entries: RangeEntry[] = []
  let bytes = 0
  for (const [key, record] of records) {
    if (entries.length >= entriesMax || bytes >= bytesMax) return { entries, more: true }
    entries.push({ key: withoutSpace(key), record })
    bytes += record.itemBytes
  }
  return { entries, more: false }
}

/** Two sequences in the same order of keys; each key once, with what each of them has there. */
function* sideBySide<One, Other>(
  ones: Iterable<readonly [KeyBytes, One]>,
  others: Iterable<readonly [KeyBytes, Other]>,
  reverse: boolean,
): Iterable<readonly [KeyBytes, One | undefined, Other | undefined]> {
  const iterator = others[Symbol.iterator]()
  let next = iterator.next()
  for (const [key, one] of ones) {
    while (next.done !== true && (reverse ? next.value[0] > key : next.value[0] < key)) {
      yield [next.value[0], undefined, next.value[1]]
      next = iterator.next()
    }
    if (next.done !== true && next.value[0] === key) {
      yield [key, one, next.value[1]]
      next = iterator.next()
    } else {
      yield [key, one, undefined]
    }
  }
  while (next.done !== true) {
    yield [next.value[0], undefined, next.value[1]]
    next = iterator.next()
  }
}
