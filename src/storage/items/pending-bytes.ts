// What is pending on one item, as bytes. The item that a put intends stands in them as the text that will be stored, so
// that a commit copies it instead of writing it again.
//
//   0 format  1 tombstone: none, or its flags  2 timestamp of the tombstone f64  10 entries...
//   entry: length u32, flags, timestamp f64, length u8, transaction, length u32, shape of the table as JSON,
//          length u32, the rest of the action as JSON, the item of a put as JSON
//
// Integers are big-endian. The key is that under which the record stands.
import type { BoundCondition, BoundUpdate, Bindings } from '../../expression/parse/types.js'
import type { KeyBytes, Timestamp, TxId } from '../../model/brand.js'
import type { TableShape } from '../../model/table.js'
import { type AttributeValue, type Item, attribute } from '../../model/value.js'
import type { Action, Expectation, Pending } from '../../rules/item/contended-item.js'
import { asBuffer } from '../../line/record.js'
import { withoutSpace } from '../../line/spaces.js'

/** The last write of an item that is deleted while transactions are pending on it. */
export interface Tombstone {
  readonly timestamp: Timestamp
  readonly blind: boolean
}

export interface PendingItem {
  readonly pending: readonly Pending[]
  readonly tombstone?: Tombstone
}

/** One transaction on the item. */
export interface PendingEntry {
  readonly bytes: Buffer
  /** Where the item of a put begins; at the end if there is none. */
  readonly itemAt: number
}

const FORMAT = 1
const HEADER_BYTES = 10
const TOMBSTONE = 1
const BLIND = 2

const KINDS = ['check', 'put', 'update', 'delete'] as const
const KIND_BITS = 3
const DECIDED = 4
/** Length, flags, timestamp, length of the transaction. */
const ENTRY_HEADER_BYTES = 14
const LENGTH_BYTES = 4

/** All entries of the item as one record. */
export function encodePending(
  { tombstone }: Pick<PendingItem, 'tombstone'>,
  entries: readonly PendingEntry[],
): Buffer {
  let length = HEADER_BYTES
  for (const { bytes } of entries) length += bytes.length
  const stored = Buffer.allocUnsafe(length)
  writeHeader(stored, tombstone)
  let at = HEADER_BYTES
  for (const { bytes } of entries) {
    stored.set(bytes, at)
    at += bytes.length
  }
  return stored
}

/** The record of an item with one transaction that was not encoded before; the entry is a part of it. */
export function encodeAlone(
  pending: Pending,
  tombstone: Tombstone | undefined,
  shape: Buffer,
): { readonly stored: Buffer; readonly entry: PendingEntry } {
  const { whole, entry } = encodeBehind(HEADER_BYTES, pending, shape)
  writeHeader(whole, tombstone)
  return { stored: whole, entry }
}

function writeHeader(stored: Buffer, tombstone: Tombstone | undefined): void {
  stored[0] = FORMAT
  stored[1] = tombstone === undefined ? 0 : tombstone.blind ? TOMBSTONE | BLIND : TOMBSTONE
  stored.writeDoubleBE(tombstone?.timestamp ?? 0, 2)
}

/** `shape`: the table's, as JSON. */
export const encodeEntry = (pending: Pending, shape: Buffer): PendingEntry =>
  encodeBehind(0, pending, shape).entry

/** The entry, and the bytes it is a part of, which have that much room before it. */
function encodeBehind(
  room: number,
  pending: Pending,
  shape: Buffer,
): { readonly whole: Buffer; readonly entry: PendingEntry } {
  const { tx, timestamp, decided, action } = pending
  const { mutation } = action
  const rest = textOfRest(pending)
  const restBytes = Buffer.byteLength(rest)
  const item = mutation.kind === 'put' ? (mutation.json ?? JSON.stringify(mutation.item)) : ''
  const shapeAt = ENTRY_HEADER_BYTES + tx.length
  const restAt = shapeAt + LENGTH_BYTES + shape.length
  const itemAt = restAt + LENGTH_BYTES + restBytes
  const itemLength = Buffer.byteLength(item)
  const whole = Buffer.allocUnsafe(room + itemAt + itemLength)
  const bytes = room === 0 ? whole : whole.subarray(room)
  bytes.writeUInt32BE(bytes.length, 0)
  bytes[4] = KINDS.indexOf(mutation.kind) | (decided ? DECIDED : 0)
  bytes.writeDoubleBE(timestamp, 5)
  bytes.writeUInt8(tx.length, ENTRY_HEADER_BYTES - 1)
  bytes.write(tx, ENTRY_HEADER_BYTES, 'latin1')
  bytes.writeUInt32BE(shape.length, shapeAt)
  bytes.set(shape, shapeAt + LENGTH_BYTES)
  bytes.writeUInt32BE(restBytes, restAt)
  bytes.write(rest, restAt + LENGTH_BYTES)
  // As many bytes as characters: it is ASCII, which is copied faster as what it also is.
  if (typeof item === 'string') bytes.write(item, itemAt, itemLength === item.length ? 'latin1' : 'utf8')
  else bytes.set(item, itemAt)
  return { whole, entry: { bytes, itemAt } }
}

export const hasTombstone = (stored: Uint8Array): boolean => ((stored[1] as number) & TOMBSTONE) !== 0

/** `item`: the key with its space under which the record stands. */
export function decodePending(
  item: KeyBytes,
  stored: Uint8Array,
): { readonly item: PendingItem; readonly entries: readonly PendingEntry[] } {
  const bytes = asBuffer(stored)
  if (bytes[0] !== FORMAT)
    throw new Error(`a pending record of format ${bytes[0]}, which this version does not know`)
  const flags = bytes[1] as number
  const tombstone = (flags & TOMBSTONE) !== 0 && {
    tombstone: { timestamp: bytes.readDoubleBE(2) as Timestamp, blind: (flags & BLIND) !== 0 },
  }
  const pending: Pending[] = []
  const entries: PendingEntry[] = []
  for (let at = HEADER_BYTES; at < bytes.length;) {
    const end = at + bytes.readUInt32BE(at)
    const [each, entry] = decodeEntry(item, bytes.subarray(at, end))
    pending.push(each)
    entries.push(entry)
    at = end
  }
  return { item: { pending, ...tombstone }, entries }
}

function decodeEntry(item: KeyBytes, bytes: Buffer): readonly [Pending, PendingEntry] {
  const flags = bytes[4] as number
  const shapeAt = ENTRY_HEADER_BYTES + (bytes[ENTRY_HEADER_BYTES - 1] as number)
  const restAt = shapeAt + LENGTH_BYTES + bytes.readUInt32BE(shapeAt)
  const itemAt = restAt + LENGTH_BYTES + bytes.readUInt32BE(restAt)
  const json = (from: number, to: number): unknown => JSON.parse(bytes.toString('utf8', from, to))
  const rest = json(restAt + LENGTH_BYTES, itemAt) as Rest
  const table = json(shapeAt + LENGTH_BYTES, restAt) as TableShape
  const mutation = mutationOf(KINDS[flags & KIND_BITS] as Action['mutation']['kind'], rest, () =>
    json(itemAt, bytes.length),
  )
  const keyBytes = withoutSpace(item)
  const pending: Pending = {
    tx: bytes.toString('latin1', ENTRY_HEADER_BYTES, shapeAt) as TxId,
    timestamp: bytes.readDoubleBE(5) as Timestamp,
    decided: (flags & DECIDED) !== 0,
    action: {
      table,
      key: { hash: Buffer.from(keyBytes.slice(0, 4), 'latin1').readUInt32BE(0), bytes: keyBytes },
      keyAttributes: rest.keyAttributes ?? keyAttributesIn(table, mutation),
      mutation,
      ...(rest.condition && { condition: { ...rest.condition, bindings: bound(rest.condition.bindings) } }),
      ...(rest.expected && { expected: expectation(rest.expected) }),
      ...(rest.locked && { locked: rest.locked }),
      ...(rest.about !== undefined && { about: rest.about }),
    },
    ...(rest.unit !== undefined && { unit: rest.unit }),
  }
  return [pending, { bytes, itemAt }]
}

function mutationOf(kind: Action['mutation']['kind'], rest: Rest, item: () => unknown): Action['mutation'] {
  switch (kind) {
    case 'put':
      return { kind, item: item() as Item }
    case 'update': {
      const update = rest.update as Unbound<BoundUpdate>
      return { kind, update: { ...update, bindings: bound(update.bindings) } }
    }
    case 'check':
    case 'delete':
      return { kind }
  }
}

/** With the maps of bound expressions as lists: JSON has no maps. */
interface Rest {
  /** Absent for a put, whose item has them. */
  readonly keyAttributes?: Item
  readonly condition?: Unbound<BoundCondition>
  readonly update?: Unbound<BoundUpdate>
  readonly expected?: Expectation
  readonly locked?: true
  readonly unit?: string
  readonly about?: string
}

function keyAttributesIn({ key: { partition, sort } }: TableShape, mutation: Action['mutation']): Item {
  if (mutation.kind !== 'put') throw new Error('a pending record without the key of its item')
  const attributes: Record<string, AttributeValue> = {}
  for (const { name } of sort === undefined ? [partition] : [partition, sort])
    attributes[name] = attribute(mutation.item, name) as AttributeValue
  return attributes
}

/** JSON leaves out what is undefined. */
const expectation = (stored: Expectation): Expectation =>
  stored.kind === 'version' ? { kind: 'version', written: stored.written } : stored

type Unbound<Expression> = Omit<Expression, 'bindings'> & { readonly bindings: Entries }

interface Entries {
  readonly names: readonly (readonly [string, string])[]
  readonly values: readonly (readonly [string, AttributeValue])[]
}

/** Most are plain puts, and have none. */
function textOfRest(pending: Pending): string {
  const { condition, mutation, expected, locked, about } = pending.action
  const isPlain =
    condition === undefined && expected === undefined && locked === undefined && about === undefined
  return mutation.kind === 'put' && isPlain && pending.unit === undefined
    ? '{}'
    : JSON.stringify(restOf(pending))
}

function restOf({ action, unit }: Pending): Rest {
  const { keyAttributes, condition, mutation, expected, locked, about } = action
  return {
    ...(mutation.kind !== 'put' && { keyAttributes }),
    ...(condition && { condition: { ...condition, bindings: unbound(condition.bindings) } }),
    ...(mutation.kind === 'update' && {
      update: { ...mutation.update, bindings: unbound(mutation.update.bindings) },
    }),
    ...(expected && { expected }),
    ...(locked && { locked }),
    ...(unit !== undefined && { unit }),
    ...(about !== undefined && { about }),
  }
}

const unbound = ({ names, values }: Bindings): Entries => ({ names: [...names], values: [...values] })
const bound = ({ names, values }: Entries): Bindings => ({ names: new Map(names), values: new Map(values) })
