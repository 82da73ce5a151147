// The index on disk: LMDB, with synced commits. A power cut leaves it at its last commit, never between two.
//
// LMDB's keys end at 1,978 bytes (with 4 KB pages); model/key-bytes.ts keeps every key below that.
import { resolve } from 'node:path'
import type { Database, RootDatabase } from 'lmdb'
import type { KeyBytes } from '../../model/brand.js'
import { checksumOfKey, sealed, unsealed } from '../checksum.js'
import { applyInOneBatch } from './writer/lmdb-batch.js'
import { ColdPages } from './cold/cold-pages.js'
import { checkIndexFile, damagedFile, isReadAtStart } from './file/lmdb-file.js'
import { APPLIED, ENVIRONMENT, MARK, STATE, decodeApplied } from './file/lmdb-options.js'
import { IndexWriter, NoProcess, tellOfNoProcess } from './writer/lmdb-writer.js'
import type { IndexChange, ScanRange, EntryVisitor, OrderedMap } from '../ordered-map.js'
import { assertRoom } from './file/disk-room.js'
import { SealedEntries, keyEncoder } from './file/sealed-entries.js'
import { lmdb } from './file/lmdb.js'

export { bringBranches } from './cold/branch-pages.js'

export interface LmdbMapOptions {
  /** Changes are written by another process (writer/lmdb-writer.ts), unless told otherwise. */
  readonly otherProcess?: boolean
  /** How much is mapped at first; the map grows with the file. */
  readonly mapBytes?: number
  /** Files of up to so many bytes are looked at page by page before they are opened (file/lmdb-file.ts). */
  readonly checkBytesMax?: number
}

/** An index that says whose it is. */
export interface MarkedMap extends OrderedMap {
  /** Undefined: it has none, or a damaged one. */
  readonly mark: string | undefined
  /** Durable when it returns. */
  setMark(mark: string): void
}

/**
 * Opens or creates the index in that folder. One process at a time: the owner of the data folder sees to that.
 *
 * @example
 * const index = lmdbMap('./data/node-0/index')
 * index.get(key)
 */
export function lmdbMap(
  path: string,
  { otherProcess = true, mapBytes, checkBytesMax }: LmdbMapOptions = {},
): MarkedMap {
  // Whatever becomes of the folder that the process is in.
  const folder = resolve(path)
  checkIndexFile(folder, checkBytesMax)
  const environment = mapBytes === undefined ? ENVIRONMENT : { ...ENVIRONMENT, mapSize: mapBytes }
  return new LmdbMap(folder, environment, otherProcess ? new IndexWriter(folder) : undefined)
}

class LmdbMap implements MarkedMap {
  readonly #path: string
  readonly #root: RootDatabase<Uint8Array, KeyBytes>
  readonly #entries: SealedEntries
  readonly #state: Database<Uint8Array, KeyBytes>
  readonly #pages: ColdPages
  #appliedUpTo: number
  #closed = false
  /** Undefined: this process writes. */
  #writer: IndexWriter | undefined
  #applying: Promise<void> | undefined

  constructor(path: string, environment: typeof ENVIRONMENT, writer: IndexWriter | undefined) {
    this.#path = path
    this.#pages = new ColdPages(path, { isCold: !isReadAtStart(path) })
    this.#writer = writer
    const root = (this.#root = lmdb.open<Uint8Array, KeyBytes>(path, environment))
    this.#entries = new SealedEntries(root)
    const options = { encoding: 'binary' as const, keyEncoder, cache: false }
    this.#state = root.openDB(STATE, options)
    try {
      this.#appliedUpTo = this.#readApplied()
    } catch (error) {
      void root.close()
      throw error
    }
  }

  #readApplied(): number {
    const stored = this.#state.getBinary(APPLIED as KeyBytes)
    if (stored === undefined && !this.#entries.isEmpty) throw damagedFile(this.#path, 'its state is missing')
    const applied = stored === undefined ? NEW : decodeApplied(stored)
    if (applied === undefined) throw damagedFile(this.#path, 'its state has a wrong checksum')
    if (!applied.checksums) throw new Error('The records of the index have no checksums yet.')
    return applied.appliedUpTo
  }

  get appliedUpTo(): number {
    return this.#appliedUpTo
  }

  get mark(): string | undefined {
    const stored = this.#state.getBinary(MARK as KeyBytes)
    const mark = stored && unsealed(checksumOfKey(MARK as KeyBytes), stored)
    return mark && Buffer.from(mark).toString('latin1')
  }

  setMark(mark: string): void {
    const bytes = sealed(MARK as KeyBytes, Buffer.from(mark, 'latin1'))
    // This process writes, and must not be told by LMDB that there is no room (docs/adr/0022).
    assertRoom(this.#path, { changes: 1, bytes: bytes.length })
    this.#state.putSync(MARK as KeyBytes, bytes)
  }

  get(key: KeyBytes): Uint8Array | undefined {
    this.#assertOpen()
    return this.#entries.get(key)
  }

  ready(key: KeyBytes): Promise<void> | undefined {
    return this.#pages.ready(key)
  }

  readyRange(range: ScanRange, entriesMax: number, bytesMax: number): Promise<void> | undefined {
    return this.#pages.readyRange(range, entriesMax, bytesMax)
  }

  range(range: ScanRange): Iterable<readonly [KeyBytes, Uint8Array]> {
    this.#assertOpen()
    return this.#entries.range(range)
  }

  scan(range: ScanRange, look: EntryVisitor): void {
    this.#assertOpen()
    this.#entries.scan(range, look)
  }

  async apply(changes: Iterable<IndexChange>, appliedUpTo: number): Promise<void> {
    this.#assertOpen()
    this.#applying = this.#write(changes, appliedUpTo)
    await this.#applying
    // The next read must see this commit, not the snapshot that the current turn of the event loop may have open.
    this.#root.resetReadTxn()
    this.#entries.forgetGap()
    this.#pages.forget()
    this.#appliedUpTo = appliedUpTo
  }

  async #write(changes: Iterable<IndexChange>, appliedUpTo: number): Promise<void> {
    if (this.#writer !== undefined) {
      try {
        return await this.#writer.apply(changes, { appliedUpTo, appliedBefore: this.#appliedUpTo })
      } catch (error) {
        if (!(error instanceof NoProcess)) throw error
        this.#writer = undefined
        tellOfNoProcess(error)
      }
    }
    const parts = { root: this.#root, entries: this.#entries.entries, state: this.#state }
    await applyInOneBatch(parts, changes, appliedUpTo)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#applying?.catch(() => undefined)
    await this.#pages.close()
    try {
      await this.#writer?.close()
    } finally {
      await this.#root.close()
    }
  }

  /** LMDB itself would read memory that is not mapped any more. */
  #assertOpen(): void {
    if (this.#closed) throw new Error('The index is closed.')
  }
}

const NEW = { appliedUpTo: 0, checksums: true }
