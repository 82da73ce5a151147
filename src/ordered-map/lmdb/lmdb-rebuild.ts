// A new file for an index, written beside the one in use and then put in its place.
//
//   records --> index/repaired/data.mdb, synced --> the old file gets a second name --> the new one takes its name
//
// Whenever this ends, the index is the old one whole or the new one whole.
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Database, RootDatabase } from 'lmdb'
import type { KeyBytes } from '../../model/brand.js'
import { sealed } from '../checksum.js'
import { APPLIED, ENTRIES, ENVIRONMENT, MARK, STATE, appliedBytes } from './file/lmdb-options.js'
import { keyEncoder } from './file/sealed-entries.js'
import { lmdb } from './file/lmdb.js'

/** Of one commit. */
const RECORDS_MAX = 10_000
const BYTES_MAX = 16 * 1024 * 1024

export class IndexRebuild {
  readonly #folder: string
  readonly #made: string
  readonly #root: RootDatabase<Uint8Array, KeyBytes>
  readonly #entries: Database<Uint8Array, KeyBytes>
  readonly #state: Database<Uint8Array, KeyBytes>
  #left = new Map<KeyBytes, Uint8Array>()
  #leftBytes = 0

  /** `folder`: that of the index. */
  constructor(folder: string) {
    this.#folder = folder
    this.#made = join(folder, 'repaired')
    rmSync(this.#made, { recursive: true, force: true })
    this.#root = lmdb.open<Uint8Array, KeyBytes>(this.#made, ENVIRONMENT)
    const options = { encoding: 'binary' as const, keyEncoder, cache: false }
    this.#entries = this.#root.openDB(ENTRIES, options)
    this.#state = this.#root.openDB(STATE, options)
  }

  put(key: KeyBytes, value: Uint8Array): void {
    this.#put(key, sealed(key, value))
  }

  /** A record that cannot be mended, as it stands: whoever reads it is told. */
  putDamaged(key: KeyBytes, record: Uint8Array): void {
    this.#put(key, Uint8Array.from(record))
  }

  has(key: KeyBytes): boolean {
    return this.#left.has(key) || this.#entries.getBinary(key) !== undefined
  }

  /** Puts the new file in the place of the old one, and answers under which name that is kept. */
  async finish(appliedUpTo: number, mark?: string): Promise<string> {
    this.#write()
    this.#root.transactionSync(() => {
      this.#state.putSync(APPLIED as KeyBytes, appliedBytes(appliedUpTo))
      if (mark !== undefined)
        this.#state.putSync(MARK as KeyBytes, sealed(MARK as KeyBytes, Buffer.from(mark, 'latin1')))
    })
    await this.#root.close()
    const file = join(this.#folder, 'data.mdb')
    let kept = `${file}.damaged`
    for (let n = 2; existsSync(kept); n++) kept = `${file}.damaged-${n}`
    try {
      linkSync(file, kept)
    } catch {
      copyFileSync(file, kept)
      syncPath(kept)
    }
    syncPath(this.#folder)
    renameSync(join(this.#made, 'data.mdb'), file)
    rmSync(join(this.#folder, 'lock.mdb'), { force: true })
    rmSync(this.#made, { recursive: true, force: true })
    syncPath(this.#folder)
    return kept
  }

  async abandon(): Promise<void> {
    await this.#root.close()
    rmSync(this.#made, { recursive: true, force: true })
  }

  #put(key: KeyBytes, record: Uint8Array): void {
    this.#left.set(key, record)
    this.#leftBytes += record.length
    if (this.#left.size >= RECORDS_MAX || this.#leftBytes >= BYTES_MAX) this.#write()
  }

  #write(): void {
    this.#root.transactionSync(() => {
      for (const [key, record] of this.#left) this.#entries.putSync(key, record)
    })
    this.#left = new Map()
    this.#leftBytes = 0
  }
}

function syncPath(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
