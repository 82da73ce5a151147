// The history of a document on the shelf: its head, and chunks of the places of older revisions.
//
//   head    n document           version u48  place  hash 32 bytes | places of the revisions right before it, the oldest first
//   chunk   i document version   places of older revisions, from that version on
//   place                        block u48  entry u32  timestamp f64
//
// A new revision changes one entry of the index, and every eighth time two: entries of the index at random places are what a write
// costs most. Formats before 7 had an entry for each older revision: version, place and hash.
import { asBuffer } from '../line/record.js'
import type { KeyBytes, Timestamp } from '../model/brand.js'

/** Where a revision stands. */
export interface RevisionPlace {
  readonly version: number
  readonly block: number
  readonly entry: number
  readonly timestamp: Timestamp
}

/** The newest revision of a document, and those that are in no chunk yet. */
export interface DocumentHead extends RevisionPlace {
  /** Of its entry, as a leaf of its block's tree, in base64. */
  readonly hash: string
  /** The places of the revisions right before it, the oldest first: block, entry and timestamp of each. */
  readonly older: readonly number[]
}

const CHUNK_PLACES = 8
/** Of a place in `older`. */
const NUMBERS = 3
const PLACE_BYTES = 18
const HASH_BYTES = 32
const VERSION_BYTES = 6
const HEAD_BYTES = VERSION_BYTES + PLACE_BYTES + HASH_BYTES

/** The same document with its next revision; `chunk` is full then. */
export function withRevision(
  head: DocumentHead | undefined,
  { block, entry, timestamp, hash }: Omit<DocumentHead, 'version' | 'older'>,
): { readonly head: DocumentHead; readonly chunk?: Chunk } {
  if (head === undefined) return { head: { version: 0, block, entry, timestamp, hash, older: NO_PLACES } }
  const version = head.version + 1
  const older = [...head.older, head.block, head.entry, head.timestamp]
  if (older.length < CHUNK_PLACES * NUMBERS)
    return { head: { version, block, entry, timestamp, hash, older } }
  return {
    head: { version, block, entry, timestamp, hash, older: NO_PLACES },
    chunk: { version: version - CHUNK_PLACES, places: older },
  }
}

export interface Chunk {
  /** Of its first place. */
  readonly version: number
  readonly places: readonly number[]
}

const NO_PLACES: readonly number[] = []

export function encodeDocumentHead({ version, block, entry, timestamp, hash, older }: DocumentHead): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + (older.length / NUMBERS) * PLACE_BYTES)
  bytes.writeUIntBE(version, 0, VERSION_BYTES)
  writePlace(bytes, VERSION_BYTES, block, entry, timestamp)
  bytes.write(hash, VERSION_BYTES + PLACE_BYTES, HASH_BYTES, 'base64')
  writePlaces(bytes, HEAD_BYTES, older)
  return bytes
}

export function decodeDocumentHead(value: Uint8Array): DocumentHead {
  const bytes = asBuffer(value)
  const [block = 0, entry = 0, timestamp = 0] = placesIn(bytes.subarray(VERSION_BYTES), 1)
  return {
    version: bytes.readUIntBE(0, VERSION_BYTES),
    block,
    entry,
    timestamp: timestamp as Timestamp,
    hash: bytes.toString('base64', VERSION_BYTES + PLACE_BYTES, HEAD_BYTES),
    older: placesIn(bytes.subarray(HEAD_BYTES)),
  }
}

export function encodeChunk({ places }: Chunk): Buffer {
  const bytes = Buffer.allocUnsafe((places.length / NUMBERS) * PLACE_BYTES)
  writePlaces(bytes, 0, places)
  return bytes
}

/** As it stands under that key. */
export function decodeChunk(key: KeyBytes, value: Uint8Array): readonly RevisionPlace[] {
  const bytes = asBuffer(value)
  const version = Buffer.from(key, 'latin1').readUIntBE(key.length - VERSION_BYTES, VERSION_BYTES)
  const places = bytes.length === HEAD_BYTES ? placesIn(bytes.subarray(VERSION_BYTES), 1) : placesIn(bytes)
  return placesFrom(version, places)
}

/** Of the revisions before the newest that its head has. */
export const olderOf = ({ version, older }: DocumentHead): readonly RevisionPlace[] =>
  placesFrom(version - older.length / NUMBERS, older)

const placesFrom = (first: number, places: readonly number[]): RevisionPlace[] =>
  Array.from({ length: places.length / NUMBERS }, (_, nth) => ({
    version: first + nth,
    block: places[nth * NUMBERS] as number,
    entry: places[nth * NUMBERS + 1] as number,
    timestamp: places[nth * NUMBERS + 2] as Timestamp,
  }))

function writePlaces(bytes: Buffer, from: number, places: readonly number[]): void {
  for (let nth = 0, at = from; nth < places.length; nth += NUMBERS, at += PLACE_BYTES)
    writePlace(bytes, at, places[nth] as number, places[nth + 1] as number, places[nth + 2] as number)
}

function writePlace(bytes: Buffer, at: number, block: number, entry: number, timestamp: number): void {
  bytes.writeUIntBE(block, at, 6)
  bytes.writeUInt32BE(entry, at + 6)
  bytes.writeDoubleBE(timestamp, at + 10)
}

function placesIn(bytes: Buffer, most = Math.floor(bytes.length / PLACE_BYTES)): number[] {
  const places: number[] = []
  for (let nth = 0, at = 0; nth < most; nth++, at += PLACE_BYTES)
    places.push(bytes.readUIntBE(at, 6), bytes.readUInt32BE(at + 6), bytes.readDoubleBE(at + 10))
  return places
}
