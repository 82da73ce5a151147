// Blocks on their way to the shelf: everything that one atomic step keeps of them.
import type { KeyBytes } from '../model/brand.js'
import type { ShelfEntry } from '../storage/contract/shelf.js'
import { encodeBundle, TILE_WIDTH } from '../verify/tiles.js'
import type { MadeBlock } from './maker.js'
import {
  encodeBlockNumber,
  encodeRevisionPlace,
  encodeRows,
  type EntryRow,
  headersKey,
  newestKey,
  olderKey,
  type RevisionPlace,
  rowBytes,
  rowsKey,
  transactionKey,
  unitKey,
} from './places.js'

export interface BlockNames {
  readonly tx?: string | undefined
  readonly unit?: string | undefined
}

export class BlockBatch {
  readonly #pieceBytes: number
  readonly #entries = new Map<KeyBytes, Uint8Array>()
  #headers: MadeBlock[] = []
  #rows: EntryRow[] = []
  #rowsBytes = 0
  #bytes = 0
  #blocks = 0

  constructor(pieceBytes: number) {
    this.#pieceBytes = pieceBytes
  }

  get blocks(): number {
    return this.#blocks
  }

  get bytes(): number {
    return this.#bytes
  }

  /** By which names the block is found. */
  add(made: MadeBlock, { tx, unit }: BlockNames = {}): void {
    const { block, entries } = made
    if (block % TILE_WIDTH === 0) this.#closeHeaders()
    this.#headers.push(made)
    for (const [entry, stored] of entries.entries()) {
      const row = { block, entry, ...stored }
      this.#rows.push(row)
      this.#rowsBytes += rowBytes(row)
      if (this.#rowsBytes >= this.#pieceBytes) this.#closeRows()
    }
    if (tx !== undefined) this.put(transactionKey(tx), encodeBlockNumber(block))
    if (unit !== undefined) this.put(unitKey(unit, block), encodeBlockNumber(block))
    this.#blocks++
  }

  /** The next revision of a document. */
  addRevision(document: string, place: RevisionPlace, before: RevisionPlace | undefined): void {
    if (before !== undefined) this.put(olderKey(document, before.version), encodeRevisionPlace(before))
    this.put(newestKey(document), encodeRevisionPlace(place))
  }

  put(key: KeyBytes, value: Uint8Array): void {
    this.#entries.set(key, value)
    this.#bytes += key.length + value.byteLength
  }

  /** Everything that was added. */
  finish(): ShelfEntry[] {
    this.#closeHeaders()
    this.#closeRows()
    return [...this.#entries].map(([key, value]) => ({ key, value }))
  }

  #closeHeaders(): void {
    const [first] = this.#headers
    if (first === undefined) return
    this.put(headersKey(first.block), encodeBundle(this.#headers.map(({ header }) => header)))
    this.#headers = []
  }

  #closeRows(): void {
    const [first] = this.#rows
    if (first === undefined) return
    this.put(rowsKey(first.block, first.entry), encodeRows(this.#rows))
    this.#rows = []
    this.#rowsBytes = 0
  }
}
