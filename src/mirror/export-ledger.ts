// A ledger as a folder: the same paths as files. Each file is written under another name and renamed, the checkpoint last; so
// a name that exists is a whole file, and an export that was ended goes on where it was.
//
//   checkpoint there --> tiles, bundles, blocks that the folder has not --> checkpoint here
//                              |
//                              +-- a redaction: the block that it names is fetched again, before its own is written
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeWhole } from '../runtime/small-files.js'
import { committedData, decodeBlock, type RedactionEntry } from '../verify/block.js'
import { utf8, utf8Text } from '../verify/bytes.js'
import { type Checkpoint, openCheckpoint, type Trust } from '../verify/checkpoint.js'
import { VerificationError } from '../verify/error.js'
import type { LedgerSource } from '../verify/folder.js'
import { HASH_BYTES } from '../verify/merkle.js'
import { verifyBlock } from '../verify/proof.js'
import {
  blockPath,
  CHECKPOINT_PATH,
  decodeBundle,
  type Tile,
  TILE_WIDTH,
  tileOf,
  tilePath,
  tilesOf,
} from '../verify/tiles.js'
import { checkContinues, newestCheckpoint } from './consistency.js'
import type { ExportedLedger, ExportOptions } from './export-options.js'

const CONCURRENCY = 16
/** Data may be redacted while it is exported: then the block that says so has to be in the export, too. */
const ROUNDS_MAX = 10

export async function exportLedger(
  source: LedgerSource,
  folder: string,
  trust: Trust,
  options: ExportOptions = {},
): Promise<ExportedLedger> {
  const target = new ExportFolder(folder)
  let filesWritten = 0
  for (let round = 1; ; round++) {
    const earlier = await target.checkpoint(trust)
    const later = await newestCheckpoint(source, trust)
    if (earlier !== undefined) await checkContinues(source, earlier, later)
    const run = new ExportRun(source, target, options, earlier?.size ?? 0, later.size)
    await run.all()
    filesWritten += run.filesWritten
    if (run.isExplained || round === ROUNDS_MAX) {
      if (later.note !== earlier?.note) {
        await target.writeSynced(CHECKPOINT_PATH, utf8(later.note))
        filesWritten++
      }
      return { checkpoint: later, filesWritten }
    }
  }
}

class ExportRun {
  filesWritten = 0
  readonly #source: LedgerSource
  readonly #target: ExportFolder
  readonly #options: ExportOptions
  readonly #oldSize: number
  readonly #size: number
  /** Entries without their data, and those that a redaction has named: `block entry`. */
  readonly #bare = new Set<string>()
  readonly #redacted = new Set<string>()

  constructor(
    source: LedgerSource,
    target: ExportFolder,
    options: ExportOptions,
    oldSize: number,
    size: number,
  ) {
    this.#source = source
    this.#target = target
    this.#options = options
    this.#oldSize = oldSize
    this.#size = size
  }

  /** Whether each entry without data is redacted by a block of this export. */
  get isExplained(): boolean {
    return [...this.#bare].every((place) => this.#redacted.has(place))
  }

  async all(): Promise<void> {
    const size = this.#size
    for (const tile of tilesOf(size, this.#oldSize)) await this.#copyTile(tile)
    for (let index = Math.floor(this.#oldSize / TILE_WIDTH); index * TILE_WIDTH < size; index++) {
      const headers = decodeBundle(await this.#copyTile(tileOf('entries', index, size)!))!
      const first = Math.max(this.#oldSize, index * TILE_WIDTH)
      const end = Math.min(size, (index + 1) * TILE_WIDTH)
      const concurrency = this.#options.concurrency ?? CONCURRENCY
      for (let block = first; block < end; block += concurrency) {
        const count = Math.min(concurrency, end - block)
        const numbers = Array.from({ length: count }, (_, at) => block + at)
        const copies = numbers.map((number) => this.#copyBlock(number, headers[number % TILE_WIDTH]!))
        // None goes on behind the error of another.
        for (const copy of await Promise.allSettled(copies)) if (copy.status === 'rejected') throw copy.reason
      }
      this.#options.onProgress?.(end, size)
    }
  }

  async #copyTile(tile: Tile): Promise<Uint8Array> {
    const path = tilePath(tile)
    const isWhole = (bytes: Uint8Array | undefined): bytes is Uint8Array =>
      bytes !== undefined &&
      (tile.level === 'entries'
        ? decodeBundle(bytes)?.length === tile.width
        : bytes.length === tile.width * HASH_BYTES)
    const there = await this.#target.read(path)
    if (isWhole(there)) return there
    const bytes = await this.#source.read(path)
    if (!isWhole(bytes))
      throw new VerificationError(`${path} is ${bytes === undefined ? 'missing' : 'damaged'}`)
    await this.#write(path, bytes)
    return bytes
  }

  async #copyBlock(block: number, header: Uint8Array): Promise<void> {
    const path = blockPath(block)
    const there = await this.#target.read(path)
    const known = there && attempt(() => verifyBlock(header, there))
    if (known !== undefined) return this.#note(block, known)
    const bytes = await this.#fetchBlock(path)
    const entries = verifyBlock(header, bytes)
    for (const { entry } of entries) if (entry.kind === 'redaction') await this.#copyRedacted(entry)
    this.#note(block, entries)
    await this.#write(path, bytes)
  }

  /** The folder may have the block with the data that was redacted since. */
  async #copyRedacted({ block, entry }: RedactionEntry): Promise<void> {
    const path = blockPath(block)
    const there = await this.#target.read(path)
    const entries = there && attempt(() => decodeBlock(there))
    if (entries?.[entry]?.data !== undefined) await this.#write(path, await this.#fetchBlock(path))
  }

  async #fetchBlock(path: string): Promise<Uint8Array> {
    const bytes = await this.#source.read(path)
    if (bytes === undefined) throw new VerificationError(`${path} is missing`)
    return bytes
  }

  #note(block: number, entries: ReturnType<typeof verifyBlock>): void {
    for (const [at, { entry, data }] of entries.entries()) {
      if (data === undefined && committedData(entry) !== null) this.#bare.add(`${block} ${at}`)
      if (entry.kind !== 'redaction') continue
      // The parameters of the transaction may go with the data.
      this.#redacted.add(`${entry.block} ${entry.entry}`).add(`${entry.block} 0`)
    }
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    await this.#target.write(path, bytes)
    this.filesWritten++
  }
}

class ExportFolder {
  readonly #folder: string
  readonly #made = new Set<string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  async checkpoint(trust: Trust): Promise<Checkpoint | undefined> {
    const bytes = await this.read(CHECKPOINT_PATH)
    const { key, ed25519 } = trust
    return bytes && openCheckpoint(utf8Text(bytes) ?? '', { key, ...(ed25519 && { ed25519 }) })
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return readFile(join(this.#folder, path)).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    })
  }

  /** Survives the end of the process. */
  async write(path: string, bytes: Uint8Array): Promise<void> {
    const file = await this.#placeOf(path)
    await writeFile(`${file}.new`, bytes)
    await rename(`${file}.new`, file)
  }

  /** Survives a power cut. */
  async writeSynced(path: string, bytes: Uint8Array): Promise<void> {
    await writeWhole(await this.#placeOf(path), bytes)
  }

  async #placeOf(path: string): Promise<string> {
    const file = join(this.#folder, path)
    const folder = dirname(file)
    if (!this.#made.has(folder)) await mkdir(folder, { recursive: true })
    this.#made.add(folder)
    return file
  }
}

function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
