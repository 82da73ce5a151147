// Where things stand in the index of a node: keys with the prefix of their space, and the system's own space 0.
import { asBuffer } from './record.js'
import { spaceId, type KeyBytes, type Lsn, type SpaceId, type Timestamp } from '../model/brand.js'
import { spacePrefix, u32 } from '../model/key-bytes.js'
import { prefixEnd } from '../model/key-range.js'
import type { ItemKey } from '../model/table.js'

export const inSpace = (space: SpaceId, key: KeyBytes): KeyBytes => (spacePrefix(space) + key) as KeyBytes
/** The key without its space, which takes four bytes. */
export const withoutSpace = (key: KeyBytes): KeyBytes => key.slice(4) as KeyBytes

/** The space of a key with one; -1 if it is too short. */
export const spaceOfKey = (key: KeyBytes): SpaceId =>
  (key.length < 4
    ? -1
    : key.charCodeAt(0) * 2 ** 24 +
      ((key.charCodeAt(1) << 16) | (key.charCodeAt(2) << 8) | key.charCodeAt(3))) as SpaceId

/** The key of the item at that address. */
export function itemKeyAt(address: KeyBytes): ItemKey {
  const bytes = withoutSpace(address)
  return { hash: Buffer.from(bytes.slice(0, 4), 'latin1').readUInt32BE(0), bytes }
}

export interface Bounds {
  readonly from: KeyBytes
  readonly to: KeyBytes
}

/** A range of a space, or all of it. */
export function boundsOf(space: SpaceId, from: KeyBytes = NO_KEY, to?: KeyBytes): Bounds {
  return { from: inSpace(space, from), to: to === undefined ? spaceEnd(space) : inSpace(space, to) }
}

const NO_KEY = '' as KeyBytes
const SYSTEM = spacePrefix(spaceId(0))
/** Beyond every key of the last space there could be. */
const END = '\xff\xff\xff\xff\xff' as KeyBytes

const spaceEnd = (space: SpaceId): KeyBytes => prefixEnd(spacePrefix(space) as KeyBytes) ?? END

export const metaKey = (name: string): KeyBytes =>
  (`${SYSTEM}m` + Buffer.from(name, 'utf8').toString('latin1')) as KeyBytes
export const metaName = (key: KeyBytes): string => Buffer.from(key.slice(5), 'latin1').toString('utf8')
export const metaBounds = (prefix: string): Bounds => {
  const from = metaKey(prefix)
  return { from, to: prefixEnd(from) ?? END }
}

/** How many items and bytes each space holds: a record beside the data, changed in the same step. */
export const countKey = (space: SpaceId): KeyBytes => (`${SYSTEM}c` + u32(space)) as KeyBytes
export const countBounds: Bounds = { from: `${SYSTEM}c` as KeyBytes, to: `${SYSTEM}d` as KeyBytes }
export const countSpace = (key: KeyBytes): SpaceId =>
  spaceId(Buffer.from(key.slice(5), 'latin1').readUInt32BE(0))

export const encodeCount = ({ items, bytes }: SpaceCount): Buffer => twoNumbers(items, bytes)
export function decodeCount(stored: Uint8Array): SpaceCount {
  const buffer = asBuffer(stored)
  return { items: buffer.readDoubleBE(0), bytes: buffer.readDoubleBE(8) }
}

/** The node's part of the transaction ledger; what stands where in it is the ledger's own business. */
export const ledgerKey = (rest: string): KeyBytes => `${SYSTEM}l${rest}` as KeyBytes

/** What other boxes keep beside the items; what stands where in it is theirs. */
export const shelfKey = (key: KeyBytes): KeyBytes => `${SYSTEM}b${key}` as KeyBytes
export const withoutShelf = (key: KeyBytes): KeyBytes => key.slice(5) as KeyBytes

/** The highest timestamp and LSN that the index has seen. */
export const CLOCK_KEY = `${SYSTEM}t` as KeyBytes
export const encodeClock = (timestamp: Timestamp, lsn: Lsn): Buffer => twoNumbers(timestamp, lsn)
export function decodeClock(stored: Uint8Array): { readonly timestamp: Timestamp; readonly lsn: Lsn } {
  const buffer = asBuffer(stored)
  return { timestamp: buffer.readDoubleBE(0) as Timestamp, lsn: buffer.readDoubleBE(8) as Lsn }
}

function twoNumbers(first: number, second: number): Buffer {
  const bytes = Buffer.allocUnsafe(16)
  bytes.writeDoubleBE(first, 0)
  bytes.writeDoubleBE(second, 8)
  return bytes
}

/** Transactions pending on an item, under the item's own key with its space. */
export const pendingKey = (item: KeyBytes): KeyBytes => (`${SYSTEM}p` + item) as KeyBytes
export const pendingBounds: Bounds = { from: `${SYSTEM}p` as KeyBytes, to: `${SYSTEM}q` as KeyBytes }
export const pendingItem = (key: KeyBytes): KeyBytes => key.slice(5) as KeyBytes

/**
 * What stands in the index only while a transaction is under way: pending entries, and records of the ledger that are not
 * finished. Most are gone before they get there.
 */
export const SHORT_LIVED_BOUNDS: readonly Bounds[] = [
  pendingBounds,
  { from: ledgerKey('u'), to: ledgerKey('v') },
]
export const isShortLivedKey = (key: KeyBytes): boolean =>
  key.startsWith(SYSTEM) && SHORT_LIVED_BOUNDS.some(({ from, to }) => key >= from && key < to)

/** Transactions that have ended here, by the epoch in which they did: a late prepare finds them. */
export const endedKey = (epoch: number, tx: string): KeyBytes => (`${SYSTEM}e` + u32(epoch) + tx) as KeyBytes
export const endedBounds = (epochBefore: number): Bounds => ({
  from: `${SYSTEM}e` as KeyBytes,
  to: `${SYSTEM}e${u32(epochBefore)}` as KeyBytes,
})

/** No timestamp above this one has been observed: reads and marks stay below it until it is raised. */
export const CEILING_KEY = `${SYSTEM}r` as KeyBytes

// How many items and bytes each space holds, as of the last decision.

export interface SpaceCount {
  readonly items: number
  readonly bytes: number
}

const NOTHING: SpaceCount = { items: 0, bytes: 0 }

export class Counts {
  readonly #bySpace = new Map<SpaceId, SpaceCount>()

  load(view: {
    range(range: typeof countBounds & { reverse: false }): Iterable<readonly [KeyBytes, Uint8Array]>
  }): void {
    for (const [key, value] of view.range({ ...countBounds, reverse: false })) {
      this.#bySpace.set(countSpace(key), decodeCount(value))
    }
  }

  of(space: SpaceId): SpaceCount {
    return this.#bySpace.get(space) ?? NOTHING
  }

  set(space: SpaceId, count: SpaceCount): void {
    this.#bySpace.set(space, count)
  }

  forget(space: SpaceId): void {
    this.#bySpace.delete(space)
  }
}
