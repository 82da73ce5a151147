// What a write to an item changes in an engine: its row, the rows of local indexes beside it in the same step, and the entries of
// global indexes and of expiry elsewhere, which come before and go after (point 37).
import type { EngineRow, PlainWrite, RowAddress, RowPut } from '../../engine/engine.js'
import type { KeyBytes, Timestamp } from '../../model/brand.js'
import { versionOf, type ItemKey, type TableShape } from '../../model/table.js'
import type { Item } from '../../model/value.js'
import type { NextImage } from '../../rules/item/single-write.js'
import { entryKey, expiryKey } from '../items/index-entries.js'
import {
  encodeItemHead,
  entryIn,
  otherCell,
  type ImageCell,
  type ItemHead,
  type PendingIntent,
} from './item-row.js'
import { type EntryName, entryRow, itemRow, localEntryRow } from './rows.js'
import type { StepDecision, RowNext } from './scope-steps.js'

export type Changes = Pick<StepDecision<unknown>, 'next' | 'before' | 'after'>

/** An item as it is, and what it is to become. */
export interface ItemWrite {
  readonly table: TableShape
  readonly key: ItemKey
  readonly row: EngineRow | undefined
  readonly head: ItemHead
  /** The committed image, parsed when it is asked for. */
  readonly old: () => Item | undefined
  readonly next: NextImage | undefined
  /** The text of the next image, where it is known. */
  readonly json?: Uint8Array | undefined
  readonly timestamp: Timestamp
  readonly blind: boolean
  readonly newId: () => string
}

/** Of tables without any, a write need not know what was there. */
export const hasEntryRows = (table: TableShape): boolean =>
  table.indexes.length > 0 || table.expiry !== undefined

/** The write itself, at once. */
export function writtenChanges(write: ItemWrite): Changes {
  const { table, key, head, next, timestamp, blind } = write
  const { pending } = head
  // What is pending stays as it is, and so does its image; no rule that is on here lets a write pass it.
  const cell = next === undefined ? undefined : otherCell(pending?.cell ?? head.cell)
  const entries = entriesOf(table, key, next?.item, head.entries, write.newId)
  const written: ItemHead = {
    written: timestamp,
    lastWrite: next?.lastWrite ?? { kind: 'put', blind },
    itemBytes: next?.itemBytes ?? 0,
    ...(cell && { cell }),
    shape: versionOf(table),
    entries,
    ...(pending && { pending }),
  }
  const cells: RowPut['cells'] = {
    head: encodeItemHead(written),
    ...(head.cell && { [head.cell]: null }),
    ...(cell && next && { [cell]: textOf(write) }),
  }
  const local = localChanges(write)
  return {
    next: [
      { address: itemRow(table.space, key), cells },
      ...local.gone.map((address): RowNext => ({ address, cells: 'removed', follows: true })),
      ...local.added.map((address): RowNext => localPut(address, key)),
    ],
    before: added(head.entries, entries, key),
    after: gone(head.entries, entries, key),
  }
}

/** The same write as an intent: the image goes into the free cell, and nothing of it shows. */
export function intendedChanges(
  write: ItemWrite,
  intent: Pick<PendingIntent, 'tx' | 'kind' | 'observes'>,
): Changes {
  const { table, key, head, next, timestamp, blind } = write
  const isCheck = intent.kind === 'check'
  const cell = isCheck || next === undefined ? undefined : otherCell(head.cell)
  const entries = isCheck ? head.entries : entriesOf(table, key, next?.item, head.entries, write.newId)
  const local = isCheck ? { gone: [], added: [] } : localChanges(write)
  const pending: PendingIntent = {
    ...intent,
    timestamp,
    ...(cell && { cell }),
    itemBytes: next?.itemBytes ?? 0,
    lastWrite: next?.lastWrite ?? { kind: 'put', blind },
    shape: versionOf(table),
    entries,
    local: { gone: local.gone.map(({ row }) => row), added: local.added.map(({ row }) => row) },
  }
  const cells = { head: encodeItemHead({ ...head, pending }), ...(cell && next && { [cell]: textOf(write) }) }
  return {
    next: [{ address: itemRow(table.space, key), cells }],
    before: isCheck ? [] : added(head.entries, entries, key),
  }
}

/** The intent becomes the item. Only the head changes; the image is there. */
export function committedChanges(address: RowAddress, key: ItemKey, head: ItemHead): Changes {
  const pending = head.pending!
  if (pending.kind === 'check') return clearedChanges(address, key, head)
  const { pending: _, cell: before, ...rest } = head
  const written: ItemHead = {
    ...rest,
    written: pending.timestamp,
    lastWrite: pending.lastWrite,
    itemBytes: pending.itemBytes,
    ...(pending.cell && { cell: pending.cell }),
    shape: pending.shape,
    entries: pending.entries,
  }
  const beside = (row: KeyBytes): RowAddress => ({ ...address, row })
  return {
    next: [
      { address, cells: { head: encodeItemHead(written), ...(before && { [before]: null }) } },
      ...pending.local.gone.map((row): RowNext => ({
        address: beside(row),
        cells: 'removed',
        follows: true,
      })),
      ...pending.local.added.map((row) => localPut(beside(row), key)),
    ],
    after: gone(head.entries, pending.entries, key),
  }
}

/** Nothing becomes of it. A row that was only made for it stays as that of a deleted item. */
export function clearedChanges(address: RowAddress, key: ItemKey, head: ItemHead): Changes {
  const { pending, ...rest } = head
  const cell: ImageCell | undefined = pending?.cell
  return {
    next: [{ address, cells: { head: encodeItemHead(rest), ...(cell && { [cell]: null }) } }],
    ...(pending && { after: gone(pending.entries, head.entries, key) }),
  }
}

/** The item stays as it is, with the entries that it lacks under this shape; undefined: it lacks none. */
export function completedChanges(
  write: Omit<ItemWrite, 'next' | 'timestamp' | 'blind'>,
): Changes | undefined {
  const { table, key, row, head, old, newId } = write
  const entries = entriesOf(table, key, old(), head.entries, newId)
  const { pending } = head
  const intended = pending?.cell && row?.cells[pending.cell]
  const item = intended && (JSON.parse(Buffer.from(intended).toString('utf8')) as Item)
  const pendingEntries =
    pending === undefined || pending.kind === 'check'
      ? entries
      : entriesOf(table, key, item, [...entries, ...pending.entries], newId)
  const before = [
    ...added(head.entries, entries, key),
    ...added([...entries, ...(pending?.entries ?? [])], pendingEntries, key),
  ]
  if (before.length === 0) return undefined
  const shape = versionOf(table)
  const next: ItemHead = {
    ...head,
    entries,
    shape,
    ...(pending && { pending: { ...pending, shape, entries: pendingEntries } }),
  }
  return { next: [{ address: itemRow(table.space, key), cells: { head: encodeItemHead(next) } }], before }
}

/** All entries of the item with that image: those that stay keep their ids. */
function entriesOf(
  table: TableShape,
  key: ItemKey,
  item: Item | undefined,
  before: readonly EntryName[],
  newId: () => string,
): readonly EntryName[] {
  const entries: EntryName[] = []
  const add = (space: EntryName['space'], kind: EntryName['kind'], entry: KeyBytes | undefined): void => {
    if (entry === undefined) return
    const known = before.find((each) => each.space === space && each.key === entry)
    entries.push(known ?? { space, kind, key: entry, id: newId() })
  }
  for (const index of table.indexes)
    if (index.kind === 'global') add(index.space, 'global', entryKey(index, item, key))
  const { expiry } = table
  if (expiry !== undefined) add(expiry.space, 'expiry', expiryKey(expiry.attribute, item, key))
  return entries
}

function localChanges({ table, key, old, next }: ItemWrite): { gone: RowAddress[]; added: RowAddress[] } {
  const changes: { gone: RowAddress[]; added: RowAddress[] } = { gone: [], added: [] }
  for (const index of table.indexes) {
    if (index.kind !== 'local') continue
    const before = entryKey(index, old(), key)
    const after = entryKey(index, next?.item, key)
    if (before === after) continue
    if (before !== undefined) changes.gone.push(localEntryRow(table.space, index.space, before))
    if (after !== undefined) changes.added.push(localEntryRow(table.space, index.space, after))
  }
  return changes
}

const localPut = (address: RowAddress, key: ItemKey): RowNext => ({
  address,
  cells: { head: Buffer.from(key.bytes, 'latin1') },
  follows: true,
})

const isIn = (entries: readonly EntryName[], { space, id }: EntryName): boolean =>
  entryIn(entries, space)?.id === id || entries.some((each) => each.id === id)

function added(before: readonly EntryName[], after: readonly EntryName[], key: ItemKey): PlainWrite[] {
  const head = Buffer.from(key.bytes, 'latin1')
  return after
    .filter((entry) => !isIn(before, entry))
    .map((entry) => ({ address: entryRow(entry, key), head }))
}

const gone = (before: readonly EntryName[], after: readonly EntryName[], key: ItemKey): PlainWrite[] =>
  before.filter((entry) => !isIn(after, entry)).map((entry) => ({ address: entryRow(entry, key) }))

const textOf = ({ next, json }: ItemWrite): Uint8Array => json ?? Buffer.from(JSON.stringify(next!.item))
