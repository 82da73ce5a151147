// Blocks on their way to the shelf: everything that one atomic step keeps of them. Texts, salts and images are written once, to
// where they stay, and hashed there.
//
//   begin --> (data) entry, (data) entry ... --> end --> leaf of the ledger's tree
//               |                                 |
//               v                                 v
//   rows, cut into pieces               headers, cut where a bundle ends
import { hash } from 'node:crypto'
import type { KeyBytes, Timestamp } from '../model/brand.js'
import type { ShelfEntry } from '../storage/contract/shelf.js'
import { headerText, SALT_BYTES } from '../verify/block.js'
import { rootOf } from '../verify/merkle.js'
import { LEAF_BYTES_MAX, TILE_WIDTH } from '../verify/tiles.js'
import { singleId } from './maker.js'
import {
  encodeBlockNumber,
  headersKey,
  ROW_HEADER_BYTES,
  rowsKey,
  transactionKey,
  unitKey,
  writeRowHeader,
} from './places.js'

/** A block that is begun: its number, and the hash of the header before it, in base64. */
export interface BlockHead {
  readonly block: number
  readonly strand: string
  readonly prev: string
}

/** What a block is of, and by which names it is found. */
export interface BlockSubject {
  /** Absent: no transaction; the block's number is in its id then. */
  readonly tx?: string | undefined
  readonly unit?: string | undefined
  readonly timestamp: Timestamp
  /** The same as text. */
  readonly time: string
}

const FIRST_BYTES = 4096
const LENGTH_BYTES = 2
/** Of a character, in UTF-8. */
const CHARACTER_BYTES_MAX = 3

export class BlockBatch {
  readonly #pieceBytes: number
  readonly #entries = new Map<KeyBytes, Uint8Array>()
  readonly #rows: Pieces
  readonly #headers = new Pieces()
  #open: BlockHead | undefined
  /** Of the entries of the block that is open, as leaves, in base64. */
  #hashes: string[] = []
  /** Salt and image of the entry that follows. */
  #data: Buffer | undefined
  #scratch = Buffer.allocUnsafeSlow(FIRST_BYTES)

  /** `bytesAbout`: of all texts and data. */
  constructor(pieceBytes: number, bytesAbout = FIRST_BYTES) {
    this.#pieceBytes = pieceBytes
    this.#rows = new Pieces(bytesAbout)
  }

  begin(head: BlockHead): void {
    this.#open = head
    this.#hashes = []
    if (head.block % TILE_WIDTH === 0) this.#headers.close()
  }

  /** The data of the entry that follows; the hash of it with its salt, in base64. */
  data(salt: Uint8Array, image: Uint8Array): string {
    const length = SALT_BYTES + image.byteLength
    if (length > this.#scratch.length) this.#scratch = Buffer.allocUnsafeSlow(2 * length)
    const data = this.#scratch.subarray(0, length)
    data.set(salt, 0)
    data.set(image, SALT_BYTES)
    this.#data = data
    return hash('sha256', data, 'base64')
  }

  /** Its hash as a leaf, in base64. */
  entry(text: string): string {
    const { block } = this.#head
    const rows = this.#rows
    const data = this.#data
    this.#data = undefined
    const from = rows.open(rowsKey, block, this.#hashes.length)
    rows.makeRoom(ROW_HEADER_BYTES + CHARACTER_BYTES_MAX * text.length + (data?.byteLength ?? 0))
    const textAt = from + ROW_HEADER_BYTES
    const { bytes } = rows
    const textEnd = textAt + bytes.write(text, textAt)
    const leaf = leafAt(bytes, textAt, textEnd)
    writeRowHeader(bytes, from, {
      block,
      entry: this.#hashes.length,
      textBytes: textEnd - textAt,
      dataBytes: data?.byteLength ?? 0,
    })
    if (data !== undefined) bytes.set(data, textEnd)
    rows.end = textEnd + (data?.byteLength ?? 0)
    if (rows.openBytes >= this.#pieceBytes) rows.close()
    this.#hashes.push(leaf)
    return leaf
  }

  /** The leaf of the block, in base64. */
  end({ tx, unit, timestamp, time }: BlockSubject): string {
    const { block, strand, prev } = this.#head
    const text = headerText({
      v: 1,
      block,
      strand,
      tx: tx ?? singleId(block),
      time,
      ts: timestamp,
      entries: this.#hashes.length,
      root: rootOfTexts(this.#hashes),
      prev,
    })
    const headers = this.#headers
    const from = headers.open(headersKey, block, 0)
    headers.makeRoom(LENGTH_BYTES + CHARACTER_BYTES_MAX * text.length)
    const { bytes } = headers
    const textAt = from + LENGTH_BYTES
    headers.end = textAt + bytes.write(text, textAt)
    const leaf = leafAt(bytes, textAt, headers.end)
    const length = headers.end - textAt
    if (length > LEAF_BYTES_MAX) throw new RangeError(`a leaf of ${length} bytes`)
    bytes.writeUInt16BE(length, from)
    if (tx !== undefined) this.put(transactionKey(tx), encodeBlockNumber(block))
    if (unit !== undefined) this.put(unitKey(unit, block), encodeBlockNumber(block))
    this.#open = undefined
    return leaf
  }

  get #head(): BlockHead {
    if (this.#open === undefined) throw new Error('no block is begun')
    return this.#open
  }

  put(key: KeyBytes, value: Uint8Array): void {
    this.#entries.set(key, value)
  }

  /** Everything that was added. Nothing is added any more. */
  finish(): ShelfEntry[] {
    return [
      ...this.#headers.finish(),
      ...this.#rows.finish(),
      ...Array.from(this.#entries, ([key, value]) => ({ key, value })),
    ]
  }
}

/** Bytes that grow, in pieces that have keys: of the first that each holds. */
class Pieces {
  bytes: Buffer
  /** Behind what was written. */
  end = 0
  readonly #closed: { readonly key: KeyBytes; readonly from: number; readonly to: number }[] = []
  #open: { readonly key: KeyBytes; readonly from: number } | undefined

  constructor(bytesAbout = FIRST_BYTES) {
    this.bytes = Buffer.allocUnsafeSlow(bytesAbout)
  }

  /** Something of that block and entry follows: where. */
  open(keyOf: (block: number, entry: number) => KeyBytes, block: number, entry: number): number {
    this.#open ??= { key: keyOf(block, entry), from: this.end }
    return this.end
  }

  get openBytes(): number {
    return this.#open === undefined ? 0 : this.end - this.#open.from
  }

  makeRoom(more: number): void {
    if (this.end + more <= this.bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(this.end + more, 2 * this.bytes.length))
    this.bytes.copy(larger, 0, 0, this.end)
    this.bytes = larger
  }

  close(): void {
    if (this.#open !== undefined) this.#closed.push({ ...this.#open, to: this.end })
    this.#open = undefined
  }

  /** Copies: a piece that is kept for long must not keep the others. */
  finish(): ShelfEntry[] {
    this.close()
    return this.#closed.map(({ key, from, to }) => ({
      key,
      value: Buffer.from(this.bytes.subarray(from, to)),
    }))
  }
}

/** Of what stands there, in base64. The byte before it is overwritten: what is hashed is a leaf, and begins with a zero. */
function leafAt(bytes: Buffer, from: number, to: number): string {
  bytes[from - 1] = LEAF
  return hash('sha256', bytes.subarray(from - 1, to), 'base64')
}

const LEAF = 0

const rootOfTexts = (hashes: readonly string[]): string =>
  hashes.length === 1
    ? (hashes[0] as string)
    : (
        rootOf(
          hashes.map((text) => Buffer.from(text, 'base64')),
          (bytes) => hash('sha256', bytes, 'buffer'),
        ) as Buffer
      ).toString('base64')
