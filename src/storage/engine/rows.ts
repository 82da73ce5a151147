// Where things stand in an engine: docs/adr/0043-engine-interface.md has the table.
import type { RowAddress } from '../../engine/engine.js'
import { type KeyBytes, type LedgerSlot, type SpaceId, spaceId } from '../../model/brand.js'
import { u32 } from '../../model/key-bytes.js'
import { prefixEnd } from '../../model/key-range.js'
import type { ItemKey } from '../../model/table.js'

export const LEDGER_SPACE = 'ledger'
export const META_SPACE = 'meta'

export const spaceName = (space: SpaceId): string => `t${space}`
export const spaceOf = ({ space }: RowAddress): SpaceId => spaceId(Number(space.slice(1)))

const ITEM = 'i'
const LOCAL = 'l'
const NO_ROW = '' as KeyBytes

/** The length of hash and partition key at the beginning of a key; undefined if it ends before. */
export function partitionLength(key: string): number | undefined {
  if (key.length < 6) return undefined
  const mark = key.charCodeAt(4) * 256 + key.charCodeAt(5)
  const length = 6 + (mark === 0xffff ? 32 : mark)
  return key.length < length ? undefined : length
}

export function partitionOf(key: KeyBytes): KeyBytes {
  const length = partitionLength(key)
  if (length === undefined) throw new RangeError('a key without a partition')
  return key.slice(0, length) as KeyBytes
}

export function itemRow(space: SpaceId, { bytes }: ItemKey): RowAddress {
  const partition = partitionOf(bytes)
  return { space: spaceName(space), partition, row: (ITEM + bytes.slice(partition.length)) as KeyBytes }
}

/** The key of the item at that row; undefined if another thing stands there. */
export function itemKeyOf({ partition, row }: RowAddress): ItemKey | undefined {
  return row.startsWith(ITEM) ? itemKeyFrom((partition + row.slice(1)) as KeyBytes) : undefined
}

export const itemKeyFrom = (bytes: KeyBytes): ItemKey => ({
  hash: Buffer.from(bytes.slice(0, 4), 'latin1').readUInt32BE(0),
  bytes,
})

/** The entry of an item in a local index of its table. */
export function localEntryRow(table: SpaceId, index: SpaceId, entry: KeyBytes): RowAddress {
  const partition = partitionOf(entry)
  const row = (localPrefix(index) + entry.slice(partition.length)) as KeyBytes
  return { space: spaceName(table), partition, row }
}

const localPrefix = (index: SpaceId): string => LOCAL + u32(index)

/** How many expiry partitions there are: each is walked for what is due. */
export const EXPIRY_PARTS = 8

const expiryPartition = (part: number): KeyBytes => `${u32(part * (2 ** 32 / EXPIRY_PARTS))}x` as KeyBytes
export const expiryPartitions: readonly KeyBytes[] = Array.from({ length: EXPIRY_PARTS }, (_, part) =>
  expiryPartition(part),
)

/** An entry of a global index: its key, and the id of the change that made it. */
export interface EntryName {
  readonly space: SpaceId
  readonly kind: 'global' | 'expiry'
  readonly key: KeyBytes
  readonly id: string
}

export function entryRow({ space, kind, key, id }: EntryName, item: ItemKey): RowAddress {
  const partition =
    kind === 'global' ? partitionOf(key) : expiryPartition(Math.floor(item.hash / (2 ** 32 / EXPIRY_PARTS)))
  const rest = kind === 'global' ? key.slice(partition.length) : key
  return { space: spaceName(space), partition, row: (escaped(rest) + SEPARATOR + id) as KeyBytes }
}

/** The key and the id of an entry in that row. */
export function entryOf(
  kind: EntryName['kind'],
  { partition, row }: RowAddress,
): Pick<EntryName, 'key' | 'id'> {
  const end = row.lastIndexOf(SEPARATOR)
  const rest = row.slice(0, end).replaceAll('\0\xff', '\0')
  return { key: ((kind === 'global' ? partition : '') + rest) as KeyBytes, id: row.slice(end + 2) }
}

const SEPARATOR = '\0\0'
/** Keeps the order, also where something follows: a key that begins another one comes before it. */
export const escaped = (bytes: string): string => bytes.replaceAll('\0', '\0\xff')

export const ledgerRow = (slot: LedgerSlot): RowAddress => ({
  space: LEDGER_SPACE,
  partition: Buffer.from(slot, 'hex').toString('latin1') as KeyBytes,
  row: 'r' as KeyBytes,
})
export const slotOfRow = ({ partition }: RowAddress): LedgerSlot =>
  Buffer.from(partition, 'latin1').toString('hex') as LedgerSlot

const META_PARTITION = 'meta' as KeyBytes
export const metaRow = (name: string): RowAddress => ({
  space: META_SPACE,
  partition: META_PARTITION,
  row: Buffer.from(name, 'utf8').toString('latin1') as KeyBytes,
})
export const metaNameOf = ({ row }: RowAddress): string => Buffer.from(row, 'latin1').toString('utf8')
export function metaRange(prefix: string): { partition: KeyBytes; from: KeyBytes; to?: KeyBytes } {
  const from = Buffer.from(prefix, 'utf8').toString('latin1') as KeyBytes
  const to = from === '' ? undefined : prefixEnd(from)
  return { partition: META_PARTITION, from, ...(to !== undefined && { to }) }
}

/** A range of keys as an engine walks it. */
export type Walk =
  | { readonly partition: KeyBytes; readonly from: KeyBytes; readonly to?: KeyBytes }
  | {
      readonly partition?: undefined
      readonly after?: Pick<RowAddress, 'partition' | 'row'>
      readonly fromPart?: number
      readonly toPart?: number
    }

/**
 * From a range of keys of a space: within one partition where both ends are in it, otherwise through all partitions in the
 * engine's own order, of which only the hashes of the ends count. `rowOf` makes a row of what follows the partition; with `hasIds`
 * several rows may stand for one key, each with an id behind it.
 */
export function walkOf(
  { from, to }: { readonly from: KeyBytes; readonly to?: KeyBytes | undefined },
  rowOf: (rest: string) => KeyBytes,
  endOfRows?: KeyBytes,
  hasIds = false,
): Walk | undefined {
  if (to !== undefined && from >= to) return undefined
  const length = partitionLength(from)
  if (length !== undefined) {
    const partition = from.slice(0, length) as KeyBytes
    const rest = from.slice(length)
    if (to?.startsWith(partition)) return { partition, from: rowOf(rest), to: rowOf(to.slice(length)) }
    if (to !== undefined && to === prefixEnd(partition))
      return { partition, from: rowOf(rest), ...(endOfRows !== undefined && { to: endOfRows }) }
    // All that stands before the next key of a walk has been walked through: the row of an item, all rows of an entry.
    const row = rest.endsWith('\0') ? rowOf(hasIds ? rest : rest.slice(0, -1)) : NO_ROW
    return { after: { partition, row }, ...(to !== undefined && { toPart: partAt(to) }) }
  }
  return { fromPart: partAt(from), ...(to !== undefined && { toPart: partAt(to) }) }
}

const partAt = (key: string): number => Buffer.from(key.slice(0, 4).padEnd(4, '\0'), 'latin1').readUInt32BE(0)

export const itemRowOf = (rest: string): KeyBytes => (ITEM + rest) as KeyBytes
export const itemRowsEnd = prefixEnd(ITEM as KeyBytes) as KeyBytes
export const localRowOf =
  (index: SpaceId) =>
  (rest: string): KeyBytes =>
    (localPrefix(index) + rest) as KeyBytes
export const localRowsEnd = (index: SpaceId): KeyBytes =>
  prefixEnd(localPrefix(index) as KeyBytes) as KeyBytes
export const entryRowOf = (rest: string): KeyBytes => escaped(rest) as KeyBytes
/** The key of a local entry in that row; undefined if another thing stands there. */
export function localEntryOf(index: SpaceId, { partition, row }: RowAddress): KeyBytes | undefined {
  const prefix = localPrefix(index)
  return row.startsWith(prefix) ? ((partition + row.slice(prefix.length)) as KeyBytes) : undefined
}
