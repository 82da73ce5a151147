// What is on the shelf, read back: headers, entries, revisions of a document. All of it is durable.
import type { KeyBytes } from '../model/brand.js'
import type { Shelf } from '../storage/contract/shelf.js'
import { type BlockHeader, decodeBlockHeader } from '../verify/block.js'
import { decodeBundle, encodeBundle, TILE_WIDTH } from '../verify/tiles.js'
import {
  blockIn,
  decodeBlockNumber,
  decodeRows,
  type EntryRow,
  headersKey,
  newestKey,
  olderKey,
  rowsKey,
  transactionKey,
  unitPrefix,
} from './places.js'
import { decodeChunk, decodeDocumentHead, type DocumentHead, olderOf, type RevisionPlace } from './heads.js'
import { blockOfSingle } from './maker.js'

/** How many pieces of a block are read at once, and up to how many bytes. */
const PIECES_MAX = 64
const PIECES_BYTES = 256 * 1024
/** A block with more in its only piece is a large one. */
const LARGE_BYTES = 64 * 1024
/** Behind the slot in the id of a transaction. */
const SLOT_END = ':'
/** How many chunks of places of a document are read at once. */
const CHUNKS_MAX = 16

/** A part of the ledger is not what was written, or is not there. */
export class LedgerDamaged extends Error {
  override readonly name = 'LedgerDamaged'
}

const missingVersion = (document: string, version: number): LedgerDamaged =>
  new LedgerDamaged(`Version ${version} of the document ${document} is not in its history.`)

/** A piece of rows, and where it stands. */
export interface Piece {
  readonly key: KeyBytes
  readonly rows: readonly EntryRow[]
}

export interface WholeBlock {
  readonly header: Uint8Array
  readonly parsed: BlockHeader
  readonly entries: readonly EntryRow[]
}

/** A block of which only the first of its pieces has been read. */
export interface BegunBlock {
  readonly block: number
  readonly header: Uint8Array
  readonly parsed: BlockHeader
  readonly first: Piece
  /** There is more, or much in the first: to read it and to put it together takes a while. */
  readonly isLarge: boolean
}

/** A revision, with its entry. */
export interface FoundRevision extends RevisionPlace {
  readonly row: EntryRow
}

export class BlockReader {
  readonly #shelf: Shelf

  constructor(shelf: Shelf) {
    this.#shelf = shelf
  }

  async header(block: number): Promise<Uint8Array> {
    const header = await this.#headerIfAny(block)
    if (header === undefined) throw new LedgerDamaged(`The header of block ${block} is not there.`)
    return header
  }

  async #headerIfAny(block: number): Promise<Uint8Array | undefined> {
    const [piece] = await this.#shelf.keptRange({
      from: headersKey(block - (block % TILE_WIDTH)),
      to: headersKey(block + 1),
      reverse: true,
      entriesMax: 1,
    })
    return piece && decodeBundle(piece.value)?.[block - blockIn(piece.key)]
  }

  /** Headers of one bundle, up to before that block. */
  async bundle(index: number, end: number): Promise<Uint8Array> {
    const first = index * TILE_WIDTH
    const pieces = await this.#shelf.keptRange({
      from: headersKey(first),
      to: headersKey(end),
      reverse: false,
      entriesMax: TILE_WIDTH,
    })
    const headers = pieces.flatMap(({ value }) => decodeBundle(value) ?? [])
    if (headers.length < end - first)
      throw new LedgerDamaged(`Headers of the blocks from ${first} on are not there.`)
    return encodeBundle(headers.slice(0, end - first))
  }

  async block(block: number): Promise<WholeBlock> {
    return this.finish(await this.begin(block))
  }

  async begin(block: number): Promise<BegunBlock> {
    const header = await this.header(block)
    const parsed = decodeBlockHeader(header)
    const first = await this.pieceOf(block, 0)
    let [entries, bytes] = [0, 0]
    for (const row of first.rows) {
      if (row.block !== block) continue
      entries++
      bytes += row.bytes.length + (row.data?.length ?? 0)
    }
    return { block, header, parsed, first, isLarge: entries < parsed.entries || bytes > LARGE_BYTES }
  }

  /** The rest of it. `turn`: between two reads others have theirs. */
  async finish(
    { block, header, parsed, first }: BegunBlock,
    turn: () => Promise<void> = () => Promise.resolve(),
  ): Promise<WholeBlock> {
    const entries: EntryRow[] = []
    let rows = first.rows
    for (let from = first.key; ;) {
      for (const row of rows) if (row.block === block) entries.push(row)
      if (entries.length >= parsed.entries) break
      const pieces = await this.#shelf.keptRange({
        from: `${from}\0` as KeyBytes,
        to: rowsKey(block + 1, 0),
        reverse: false,
        entriesMax: PIECES_MAX,
        bytesMax: PIECES_BYTES,
      })
      await turn()
      const last = pieces.at(-1)
      if (last === undefined) throw new LedgerDamaged(`Entries of block ${block} are not there.`)
      from = last.key
      rows = pieces.flatMap(({ value }) => decodeRows(value))
    }
    return { header, parsed, entries }
  }

  /** The piece that has that entry. */
  async pieceOf(block: number, entry: number): Promise<Piece> {
    const [piece] = await this.#shelf.keptRange({
      from: rowsKey(0, 0),
      to: `${rowsKey(block, entry)}\0` as KeyBytes,
      reverse: true,
      entriesMax: 1,
    })
    if (piece === undefined) throw new LedgerDamaged(`Entry ${entry} of block ${block} is not there.`)
    return { key: piece.key, rows: decodeRows(piece.value) }
  }

  entry(block: number, entry: number): Promise<EntryRow> {
    return this.pieces().entry(block, entry)
  }

  /** Entries one after another: those that stand in the same piece are read once. */
  pieces(): { entry(block: number, entry: number): Promise<EntryRow> } {
    let rows: readonly EntryRow[] = []
    return {
      entry: async (block, entry) => {
        const isIt = (row: EntryRow): boolean => row.block === block && row.entry === entry
        const known = rows.find(isIt)
        if (known !== undefined) return known
        rows = (await this.pieceOf(block, entry)).rows
        const row = rows.find(isIt)
        if (row === undefined) throw new LedgerDamaged(`Entry ${entry} of block ${block} is not there.`)
        return row
      },
    }
  }

  /** What the shelf has of the newest revisions of these documents. */
  heads(documents: readonly string[]): Promise<readonly (Uint8Array | undefined)[]> {
    return this.#shelf.kept(documents.map(newestKey))
  }

  /** The newest revision of each of these documents. */
  async newest(documents: readonly string[]): Promise<readonly (DocumentHead | undefined)[]> {
    return (await this.heads(documents)).map((value) => value && decodeDocumentHead(value))
  }

  /** The place of one revision; undefined if there is none of that version. `newest` is the document's. */
  async place(document: string, version: number, newest: DocumentHead): Promise<RevisionPlace | undefined> {
    if (version > newest.version) return undefined
    for await (const place of this.places(document, version, version, newest)) return place
    throw missingVersion(document, version)
  }

  /** The places of these versions, in order. `newest` is the document's. */
  async *places(
    document: string,
    fromVersion: number,
    toVersion: number,
    newest: DocumentHead,
  ): AsyncIterable<RevisionPlace> {
    const recent = [...olderOf(newest), newest]
    const end = Math.min(toVersion, newest.version)
    let version = fromVersion
    const last = Math.min(end, (recent[0] as RevisionPlace).version - 1)
    // The chunk that has the first one begins with it, or before it.
    for (let reverse = true; version <= last; reverse = false) {
      const chunks = await this.#shelf.keptRange({
        from: olderKey(document, reverse ? 0 : version),
        to: olderKey(document, reverse ? version + 1 : last + 1),
        reverse,
        entriesMax: reverse ? 1 : CHUNKS_MAX,
      })
      const found = chunks
        .flatMap(({ key, value }) => decodeChunk(key, value))
        .filter((place) => place.version >= version && place.version <= last)
      if (found.length === 0) throw missingVersion(document, version)
      for (const place of found) {
        if (place.version !== version) throw missingVersion(document, version)
        yield place
        version++
      }
    }
    for (const place of recent) if (place.version >= version && place.version <= end) yield place
  }

  /** The version that was current at that time: the last one that is not later; -1 if all are. */
  async versionAt(document: string, timestamp: number, newest: DocumentHead): Promise<number> {
    if (newest.timestamp <= timestamp) return newest.version
    let [low, high] = [-1, newest.version]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      const place = await this.place(document, middle, newest)
      if (place !== undefined && place.timestamp <= timestamp) low = middle
      else high = middle
    }
    return low
  }

  /** The block of a transaction: by its id, by the slot that its id begins with (the latest of several), or by its unit's id. */
  async blockOf(tx: string): Promise<number | undefined> {
    const single = blockOfSingle(tx)
    const header = single === undefined ? undefined : await this.#headerIfAny(single)
    if (header !== undefined && decodeBlockHeader(header).tx === tx) return single
    const [exact] = await this.#shelf.kept([transactionKey(tx)])
    if (exact !== undefined) return decodeBlockNumber(exact)
    const from = transactionKey(`${tx}${SLOT_END}`)
    const found = await this.#shelf.keptRange({
      from,
      to: `${from}\xff` as KeyBytes,
      reverse: false,
      entriesMax: PIECES_MAX,
    })
    const blocks = found.map(({ value }) => decodeBlockNumber(value))
    return blocks.length === 0 ? this.#blockOfUnit(tx) : Math.max(...blocks)
  }

  /** The first: an id that was used cannot be taken from the unit that had it. */
  async #blockOfUnit(unit: string): Promise<number | undefined> {
    const from = unitPrefix(unit)
    const to = `${from}${'\xff'.repeat(7)}` as KeyBytes
    const [found] = await this.#shelf.keptRange({ from, to, reverse: false, entriesMax: 1 })
    return found && decodeBlockNumber(found.value)
  }
}
