// An item in a row of an engine: its head says which cell has the committed image, and what is pending on it.
//
//   head   { w, b, k, n, at, s, e, p }      left, right   JSON text of an image
//
//   prepare: the intended image into the free cell, p        commit: `at` is that cell, the other one is emptied, no p
//
// Nothing that is pending can be overtaken (point 36): the intended image is final, whatever the action was, so that a commit
// needs neither the action nor its table.
import type { CellName, EngineRow } from '../../engine/engine.js'
import type { KeyBytes, SpaceId, Timestamp, TxId } from '../../model/brand.js'
import type { ItemKey, TableShape } from '../../model/table.js'
import type { Item } from '../../model/value.js'
import { lsn } from '../../model/brand.js'
import type { Action, Pending } from '../../rules/item/contended-item.js'
import type { ItemRecord, LastWrite } from '../../rules/item/item.js'
import { asBuffer, parseRecord } from '../../line/record.js'
import type { LoadedItem } from '../items/load-item.js'
import type { EntryName } from './rows.js'

export type ImageCell = Exclude<CellName, 'head'>

/** What is pending on an item: an intended write, or a check. */
export interface PendingIntent {
  readonly tx: TxId
  readonly timestamp: Timestamp
  readonly kind: Action['mutation']['kind']
  /** It depends on what it met. */
  readonly observes: boolean
  /** Where the intended image is; absent: there will be none, or it is a check. */
  readonly cell?: ImageCell
  readonly itemBytes: number
  readonly lastWrite: LastWrite
  /** Of the shape with which the image and the entries were made. */
  readonly shape: number
  /** All entries that the item has afterwards. */
  readonly entries: readonly EntryName[]
  /** Rows of local indexes that go and come with the commit. */
  readonly local: { readonly gone: readonly KeyBytes[]; readonly added: readonly KeyBytes[] }
}

export interface ItemHead {
  readonly written: Timestamp
  readonly lastWrite: LastWrite
  readonly itemBytes: number
  /** Absent: there is no item, it was deleted at `written`. */
  readonly cell?: ImageCell
  readonly shape: number
  readonly entries: readonly EntryName[]
  readonly pending?: PendingIntent
}

export const NO_HEAD: ItemHead = {
  written: 0 as Timestamp,
  lastWrite: { kind: 'put', blind: false },
  itemBytes: 0,
  shape: 0,
  entries: [],
}

export const encodeItemHead = (head: ItemHead): Buffer =>
  Buffer.from(JSON.stringify({ f: FORMAT, ...head }), 'utf8')

const FORMAT = 1

export function decodeItemHead(row: EngineRow | undefined): ItemHead {
  const stored = row?.cells.head
  if (stored === undefined) return NO_HEAD
  const { f, ...head } = JSON.parse(asBuffer(stored).toString('utf8')) as ItemHead & { readonly f: number }
  if (f !== FORMAT) throw new Error(`an item row of format ${f}, which this version does not know`)
  return head
}

/** The committed image with its header, as the rest of the store knows it; undefined: there is no item. */
export function recordOf(row: EngineRow | undefined, head = decodeItemHead(row)): ItemRecord | undefined {
  if (head.cell === undefined) return undefined
  const json = row?.cells[head.cell]
  if (json === undefined) throw new Error('an item row whose image is missing')
  return new RowRecord(head, json)
}

/** By its write timestamp an item of an engine tells that nothing has changed (§3.4): it only grows. */
class RowRecord implements ItemRecord {
  readonly timestamp: Timestamp
  readonly lsn: ItemRecord['lsn']
  readonly lastWrite: LastWrite
  readonly itemBytes: number
  readonly json: Uint8Array

  constructor({ written, lastWrite, itemBytes }: ItemHead, json: Uint8Array) {
    this.timestamp = written
    this.lsn = lsn(written)
    this.lastWrite = lastWrite
    this.itemBytes = itemBytes
    this.json = json
  }
}

/** Brings an item to the rules. `ordered`: nothing overtakes what is pending, since nobody keeps read marks. */
export function loadRow(
  row: EngineRow | undefined,
  table: TableShape,
  key: ItemKey,
  isOrdered: boolean,
): LoadedItem & { readonly head: ItemHead } {
  const head = decodeItemHead(row)
  const record = recordOf(row, head)
  let parsed: Item | undefined
  const item = (): Item | undefined => (record === undefined ? undefined : (parsed ??= parseRecord(record)))
  const pending = head.pending === undefined ? [] : [pendingOf(head.pending, row, table, key)]
  return {
    head,
    address: key.bytes,
    key,
    state: { record, item },
    pendingItem: { pending },
    pending,
    item,
    written: head.written,
    writtenBlindly: head.lastWrite.blind,
    read: 0 as Timestamp,
    version: record?.timestamp,
    ...(isOrdered && { ordered: true }),
  }
}

/** An intended image is a put of it, whatever led to it; its condition was judged when it was accepted. */
function pendingOf(
  { tx, timestamp, kind, cell, observes }: PendingIntent,
  row: EngineRow | undefined,
  table: TableShape,
  key: ItemKey,
): Pending {
  const json = cell && row?.cells[cell]
  const mutation: Action['mutation'] =
    kind === 'check'
      ? { kind }
      : json === undefined
        ? { kind: 'delete' }
        : { kind: 'put', item: JSON.parse(asBuffer(json).toString('utf8')) as Item, json }
  const action: Action = {
    table,
    key,
    keyAttributes: {},
    mutation,
    ...(observes && kind !== 'check' && { answersImage: true }),
  }
  return { tx, timestamp, action, decided: false }
}

export const otherCell = (cell: ImageCell | undefined): ImageCell => (cell === 'left' ? 'right' : 'left')

export const entryIn = (entries: readonly EntryName[], space: SpaceId): EntryName | undefined =>
  entries.find((entry) => entry.space === space)
