// Consumed capacity as DynamoDB counts it: reads in units of 4 KB (half a unit when eventually consistent), writes in
// units of 1 KB of the larger image, index writes apart.
import { parseRecord } from '../../line/record.js'
import { itemBytes, attribute, setAttribute, type Item, type MutableItem } from '../../model/value.js'
import { sameValue } from '../../model/compare.js'
import { keyNames, type IndexShape, type KeySchema, type TableShape } from '../../model/table.js'
import type { WriteOutcome } from '../../storage/contract/storage-node.js'
import type { StringShape } from '../shapes/shape.js'
import { chargedBytes, vectorWriteBytes } from './vector-capacity.js'

const READ_UNIT_BYTES = 4096
const WRITE_UNIT_BYTES = 1024

export const returnConsumedCapacityShape: StringShape = {
  kind: 'string',
  values: ['INDEXES', 'TOTAL', 'NONE'],
}

/** At least one unit, for an absent item too. */
export function readUnits(bytes: number, consistent: boolean): number {
  const units = Math.max(1, Math.ceil(bytes / READ_UNIT_BYTES))
  return consistent ? units : units / 2
}

export const writeUnits = (bytes: number): number => Math.max(1, Math.ceil(bytes / WRITE_UNIT_BYTES))

export interface Consumed {
  readonly table: number
  /** By index name. */
  readonly global?: ReadonlyMap<string, number>
  readonly local?: ReadonlyMap<string, number>
  /** Bytes, not units. */
  readonly vectors?: ReadonlyMap<string, number>
}

/** Whether an answer says what was consumed. */
export const isCapacityWanted = (detail: unknown): detail is 'TOTAL' | 'INDEXES' =>
  detail === 'TOTAL' || detail === 'INDEXES'

/** The ConsumedCapacity member of an answer, or undefined when it was not asked for. */
export function consumedCapacity(detail: unknown, tableName: string, consumed: Consumed): object | undefined {
  if (!isCapacityWanted(detail)) return undefined
  const total = consumed.table + sum(consumed.global) + sum(consumed.local)
  const answer: Record<string, unknown> = { TableName: tableName, CapacityUnits: total }
  if (detail === 'INDEXES') {
    answer['Table'] = { CapacityUnits: consumed.table }
    if (consumed.local?.size) answer['LocalSecondaryIndexes'] = byIndex(consumed.local)
    if (consumed.global?.size) answer['GlobalSecondaryIndexes'] = byIndex(consumed.global)
    if (consumed.vectors?.size) answer['VectorIndexes'] = byVector(consumed.vectors)
  }
  return answer
}

/** What a write consumed, index by index. The images are parsed only if the table has indexes. */
export function consumedByWrite(
  table: TableShape,
  oldBytes: number,
  newBytes: number,
  images: () => { readonly old: Item | undefined; readonly new: Item | undefined },
): Consumed {
  const { vectors } = table
  if (table.indexes.length === 0 && vectors === undefined)
    return { table: writeUnits(Math.max(oldBytes, newBytes)) }
  const { old, new: next } = images()
  const units = writeUnits(
    vectors === undefined
      ? Math.max(oldBytes, newBytes)
      : Math.max(chargedBytes(vectors, old), chargedBytes(vectors, next)),
  )
  const global = new Map<string, number>()
  const local = new Map<string, number>()
  for (const index of table.indexes) {
    const indexUnits = indexWriteUnits(table.key, index, old, next)
    if (indexUnits > 0) (index.kind === 'global' ? global : local).set(index.name, indexUnits)
  }
  const charged = { table: units, global, local }
  return vectors === undefined ? charged : { ...charged, vectors: vectorWriteBytes(table, old, next) }
}

export const consumedByOutcome = (
  table: TableShape,
  { old, new: next }: WriteOutcome & { verdict: 'done' },
): Consumed =>
  consumedByWrite(table, old?.itemBytes ?? 0, next?.itemBytes ?? 0, () => ({
    old: old && parseRecord(old),
    new: next && parseRecord(next),
  }))

/** What several requests for one table consumed together. */
export const addConsumed = (a: Consumed, b: Consumed): Consumed => ({
  table: a.table + b.table,
  global: addByIndex(a.global, b.global),
  local: addByIndex(a.local, b.local),
  vectors: addByIndex(a.vectors, b.vectors),
})

function addByIndex(a: Consumed['global'], b: Consumed['global']): ReadonlyMap<string, number> {
  const added = new Map(a)
  for (const [name, units] of b ?? []) added.set(name, (added.get(name) ?? 0) + units)
  return added
}

/** An entry added or removed, or changed in place, costs one write of its size; a changed index key costs both. */
function indexWriteUnits(
  tableKey: KeySchema,
  index: IndexShape,
  old: Item | undefined,
  next: Item | undefined,
): number {
  const before = old && projectForIndex(tableKey, index, old)
  const after = next && projectForIndex(tableKey, index, next)
  if (before === undefined && after === undefined) return 0
  if (before === undefined) return writeUnits(itemBytes(after as Item))
  if (after === undefined) return writeUnits(itemBytes(before))
  if (sameValue({ M: before }, { M: after })) return 0
  if (sameIndexKey(index.key, before, after)) return writeUnits(Math.max(itemBytes(before), itemBytes(after)))
  return writeUnits(itemBytes(before)) + writeUnits(itemBytes(after))
}

/** The attributes an index holds of an item; undefined where the item is not in the index. */
export function projectForIndex(tableKey: KeySchema, index: IndexShape, item: Item): Item | undefined {
  const indexNames = keyNames(index.key)
  if (indexNames.some((name) => attribute(item, name) === undefined)) return undefined
  if (index.projection.type === 'ALL') return item
  const included = index.projection.type === 'INCLUDE' ? index.projection.attributes : []
  const projected: MutableItem = {}
  for (const name of new Set([...keyNames(tableKey), ...indexNames, ...included])) {
    const value = attribute(item, name)
    if (value !== undefined) setAttribute(projected, name, value)
  }
  return projected
}

function sameIndexKey(key: KeySchema, a: Item, b: Item): boolean {
  return keyNames(key).every((name) => {
    const [left, right] = [attribute(a, name), attribute(b, name)]
    return left !== undefined && right !== undefined && sameValue(left, right)
  })
}

const sum = (units: ReadonlyMap<string, number> | undefined): number =>
  units === undefined ? 0 : [...units.values()].reduce((total, each) => total + each, 0)

const byIndex = (units: ReadonlyMap<string, number>): object =>
  Object.fromEntries([...units].map(([name, each]) => [name, { CapacityUnits: each }]))

const byVector = (bytes: ReadonlyMap<string, number>): object =>
  Object.fromEntries([...bytes].map(([name, each]) => [name, { VectorWriteRequestBytes: each }]))
