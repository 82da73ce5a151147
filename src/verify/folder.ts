// A whole exported ledger, from the first block to the last: every header, entry, revision and tile, up to the signed root.
//
//   checkpoint          is signed, and its root is that of all headers
//   tile/entries/<N>    headers: numbers, origin, each naming the hash of the one before
//   tile/<L>/<N>        the hashes of those headers, and of subtrees of them
//   block/<N>           what the headers commit to; the chains of versions (chains.ts)
import { base64, concat, isEqual, utf8Text } from './bytes.js'
import { type BlockHeader, decodeBlock, decodeBlockHeader, NO_HASH, type StoredEntry } from './block.js'
import { Chains } from './chains.js'
import { type Checkpoint, openCheckpoint, type Trust } from './checkpoint.js'
import { type LedgerProblem, VerificationError } from './error.js'
import { emptyRoot, HASH_BYTES, leafHash, rootOf } from './merkle.js'
import { stretchHash } from './paths.js'
import { sha256, type Sha256 } from './sha256.js'
import {
  blockAt,
  blockPath,
  CHECKPOINT_PATH,
  decodeBundle,
  hashesOf,
  subtreesIn,
  type Tile,
  TILE_WIDTH,
  tileAt,
  tileOf,
  tilePath,
} from './tiles.js'

/** Where the files of a ledger are: a folder, a web server, a map. */
export interface LedgerSource {
  /** The file at a path such as `tile/0/000`, or undefined if there is none. */
  readonly read: (path: string) => Uint8Array | undefined | Promise<Uint8Array | undefined>
  /** The paths of all files, if they can be had. Then those of earlier exports are checked as well. */
  readonly list?: () => Iterable<string> | AsyncIterable<string>
}

/** How a ledger is verified. */
export interface LedgerChecks extends Trust {
  /** Called now and then. */
  readonly onProgress?: (blocks: number, size: number) => void
  /** Instead of the one that is in here. Node's is faster for long texts. */
  readonly sha256?: Sha256
  /** So many problems are told, and then it ends. 100 if it is not said. */
  readonly problemsMax?: number
}

/** What was verified. */
export interface VerifiedLedger {
  /** Signed by the ledger, with the size and the root of the tree that all blocks make. */
  readonly checkpoint: Checkpoint
  /** How many revisions there are, of how many items. */
  readonly revisions: number
  /** Items, also those that were deleted. The newest version of each is known to be the newest. */
  readonly items: number
  /** How many revisions have lost their data by a redaction. */
  readonly redactions: number
  /** Files that belong to blocks behind the checkpoint, of an export that has not ended. They were not looked at. */
  readonly filesBehind: number
}

const PROBLEMS_MAX = 100

/**
 * Checks an exported ledger, from the first block to the last. Throws a VerificationError with all problems if anything in
 * it is not so. Shows all that can be shown: what was committed, in which order, and which version of each item is the newest.
 *
 * @example
 * const { checkpoint, items } = await verifyLedger({ read: (path) => exported.get(path) }, { key: ledgerKey })
 * console.log(checkpoint.size, items) // 3 2
 */
export async function verifyLedger(source: LedgerSource, checks: LedgerChecks): Promise<VerifiedLedger> {
  const note = utf8Text((await source.read(CHECKPOINT_PATH)) ?? new Uint8Array(0)) ?? ''
  const checkpoint = await openCheckpoint(note, checks).catch((error: Error) => {
    throw failed([{ path: CHECKPOINT_PATH, message: error.message }])
  })
  return new LedgerCheck(source, checks, checkpoint).run()
}

class LedgerCheck {
  readonly #source: LedgerSource
  readonly #checks: LedgerChecks
  readonly #checkpoint: Checkpoint
  readonly #hash: Sha256
  readonly #problems: LedgerProblem[] = []
  readonly #chains: Chains
  /** By level: the hashes of the tile that is not full yet, and its index. */
  readonly #levels: { index: number; hashes: Uint8Array[] }[] = []
  /** The leaf hash of the header before. */
  #previous: Uint8Array = NO_HASH

  constructor(source: LedgerSource, checks: LedgerChecks, checkpoint: Checkpoint) {
    this.#source = source
    this.#checks = checks
    this.#checkpoint = checkpoint
    this.#hash = checks.sha256 ?? sha256
    this.#chains = new Chains(
      (problem) => this.#complain({ path: blockPath(problem.block!), ...problem }),
      this.#hash,
    )
  }

  async run(): Promise<VerifiedLedger> {
    const { size, root } = this.#checkpoint
    for (let index = 0; index * TILE_WIDTH < size; index++) {
      await this.#checkBundle(tileOf('entries', index, size)!)
      this.#checks.onProgress?.(Math.min(size, (index + 1) * TILE_WIDTH), size)
    }
    for (const [level, { index, hashes }] of this.#levels.entries())
      if (hashes.length > 0) await this.#checkTile(level, index, hashes)
    this.#chains.end()
    if (!isEqual(this.#root(), root))
      this.#complain({
        path: CHECKPOINT_PATH,
        message: `the root of its tree is not that of the ${size} headers`,
      })
    const filesBehind = await this.#checkOthers()
    if (this.#problems.length > 0) throw failed(this.#problems)
    const { revisions, items, redactions } = this.#chains
    return { checkpoint: this.#checkpoint, revisions, items, redactions, filesBehind }
  }

  /** 256 headers, or as many as there are left, and their blocks. */
  async #checkBundle(bundle: Tile): Promise<void> {
    const path = tilePath(bundle)
    const first = bundle.index * TILE_WIDTH
    const bytes = await this.#source.read(path)
    const headers = (bytes && decodeBundle(bytes)) ?? []
    if (headers.length !== bundle.width) {
      this.#complain({
        path,
        message: bytes === undefined ? 'missing' : `not a bundle of ${bundle.width} headers`,
      })
      return this.#passBundle(bundle)
    }
    const files = await Promise.all(headers.map(async (_, at) => this.#source.read(blockPath(first + at))))
    for (const [at, header] of headers.entries()) {
      const block = first + at
      const parsed = this.#checkHeader(path, block, header)
      this.#previous = leafHash(header, this.#hash)
      await this.#addLeaf(this.#previous)
      const entries = this.#entriesOf(block, files[at])
      if (entries !== undefined) this.#chains.add(block, parsed, entries)
    }
  }

  /** Goes on behind headers that cannot be read, by the hashes that the tile has of them. */
  async #passBundle({ index, width }: Tile): Promise<void> {
    const tile = await this.#source.read(tilePath({ level: 0, index, width }))
    const hashes = hashesOf(tile?.length === width * HASH_BYTES ? tile : new Uint8Array(width * HASH_BYTES))
    for (const hash of hashes) await this.#addLeaf(hash)
    this.#previous = hashes.at(-1)!
  }

  #checkHeader(path: string, block: number, header: Uint8Array): BlockHeader | undefined {
    const parsed = attempt(() => decodeBlockHeader(header))
    const wrong =
      parsed instanceof Error
        ? parsed.message
        : parsed.block !== block
          ? `its header is that of block ${parsed.block}`
          : parsed.strand !== this.#checkpoint.origin
            ? `its header is of the ledger ${parsed.strand}`
            : parsed.prev !== base64(this.#previous)
              ? `its header does not follow that of block ${block - 1}, which has another hash`
              : undefined
    if (wrong !== undefined) this.#complain({ path, block, message: wrong })
    return parsed instanceof Error ? undefined : parsed
  }

  #entriesOf(block: number, file: Uint8Array | undefined): StoredEntry[] | undefined {
    const entries = file === undefined ? new VerificationError('missing') : attempt(() => decodeBlock(file))
    if (!(entries instanceof Error)) return entries
    this.#complain({ path: blockPath(block), block, message: entries.message })
    return undefined
  }

  /** A leaf of the tree, or the root of a full tile on the level above it. */
  async #addLeaf(leaf: Uint8Array): Promise<void> {
    let hash = leaf
    for (let level = 0; ; level++) {
      const { hashes, index } = (this.#levels[level] ??= { index: 0, hashes: [] })
      hashes.push(hash)
      if (hashes.length < TILE_WIDTH) return
      await this.#checkTile(level, index, hashes)
      hash = rootOf(hashes)
      this.#levels[level] = { index: index + 1, hashes: [] }
    }
  }

  async #checkTile(level: number, index: number, hashes: readonly Uint8Array[]): Promise<void> {
    const path = tilePath({ level, index, width: hashes.length })
    const tile = await this.#source.read(path)
    if (tile?.length !== hashes.length * HASH_BYTES) {
      this.#complain({ path, message: tile === undefined ? 'missing' : `not ${hashes.length} hashes` })
      return
    }
    const kept = hashesOf(tile)
    for (const [at, hash] of hashes.entries()) {
      if (isEqual(hash, kept[at]!)) continue
      const block = (index * TILE_WIDTH + at) * TILE_WIDTH ** level
      const what =
        level === 0
          ? 'the header of this block'
          : `tile ${tilePath({ level: level - 1, index: index * TILE_WIDTH + at, width: TILE_WIDTH })}`
      this.#complain({ path, block, message: `hash ${at} is not that of ${what}` })
    }
  }

  #root(): Uint8Array {
    const size = this.#levels.reduce(
      (sum, { index, hashes }, level) =>
        Math.max(sum, (index * TILE_WIDTH + hashes.length) * TILE_WIDTH ** level),
      0,
    )
    if (size === 0) return emptyRoot()
    return stretchHash(
      { start: 0, end: size },
      subtreesIn((level) => concat(...this.#levels[level]!.hashes)),
    )
  }

  /** What is there of earlier exports: narrower tiles, which the ones that were checked begin with. */
  async #checkOthers(): Promise<number> {
    let filesBehind = 0
    const { size } = this.#checkpoint
    for await (const path of this.#source.list?.() ?? []) {
      const tile = tileAt(path)
      const block = blockAt(path)
      if (block !== undefined && block >= size) filesBehind++
      if (tile === undefined) continue
      const now = tileOf(tile.level, tile.index, size)
      if (now === undefined || now.width < tile.width) filesBehind++
      if (now === undefined || now.width <= tile.width) continue
      const [narrow, wide] = [await this.#source.read(path), await this.#source.read(tilePath(now))]
      if (narrow === undefined || wide === undefined || !isBeginning(tile, narrow, wide))
        this.#complain({ path, message: `it is not what ${tilePath(now)} begins with` })
    }
    return filesBehind
  }

  #complain(problem: LedgerProblem): void {
    this.#problems.push(problem)
    if (this.#problems.length >= (this.#checks.problemsMax ?? PROBLEMS_MAX)) throw failed(this.#problems)
  }
}

function attempt<T>(decode: () => T): T | VerificationError {
  try {
    return decode()
  } catch (error) {
    return error as VerificationError
  }
}

function isBeginning({ level, width }: Tile, narrow: Uint8Array, wide: Uint8Array): boolean {
  const count = level === 'entries' ? decodeBundle(narrow)?.length : narrow.length / HASH_BYTES
  return count === width && isEqual(narrow, wide.subarray(0, narrow.length))
}

function failed(problems: readonly LedgerProblem[]): VerificationError {
  const [{ path, block, entry, message }] = problems as [LedgerProblem]
  const where = [
    ...(block === undefined ? [] : [`block ${block}`]),
    ...(entry === undefined ? [] : [`entry ${entry}`]),
    path,
  ].join(', ')
  const more = problems.length > 1 ? ` (and ${problems.length - 1} more problems)` : ''
  return new VerificationError(`${where}: ${message}${more}`, problems)
}
