// The index on disk: LMDB, with synced commits. A power cut leaves it at its last commit, never between two.
//
// LMDB's keys end at 1,978 bytes (with 4 KB pages); model/key-bytes.ts keeps every key below that.
import { resolve } from 'node:path'
import { isMainThread } from 'node:worker_threads'
import { type Database, type RangeOptions, type RootDatabase, open } from 'lmdb'
import type { KeyBytes } from '../model/brand.js'
import { applyInOneBatch } from './lmdb-batch.js'
import { checkIndexFile } from './lmdb-file.js'
import { APPLIED, ENTRIES, ENVIRONMENT, STATE } from './lmdb-options.js'
import { IndexWriter, NoThread } from './lmdb-writer.js'
import type { IndexChange, KeyRange, Look, OrderedIndex } from './ordered-index.js'

type Entries = Database<Uint8Array, KeyBytes>

export interface LmdbIndexOptions {
  /** Changes are written by another thread (./lmdb-writer.ts). Unless told otherwise: not in a worker. */
  readonly otherThread?: boolean
}

/** Key bytes are latin1 strings already: no array is made on the way to LMDB. */
const keyEncoder = {
  writeKey: (key: string, target: Buffer, start: number): number => {
    if (target.write(key, start, 'latin1') !== key.length) throw new RangeError('the key does not fit')
    return start + key.length
  },
  readKey: (source: Buffer, start: number, end: number): string => source.toString('latin1', start, end),
}

/** LMDB's own buffer, which holds each value of a walk in turn; or one that was made for a large value. */
interface WalkedBytes extends Buffer {
  readonly isGlobal?: boolean
}

/**
 * Opens or creates the index in that folder. One process at a time: the owner of the data folder sees to that.
 *
 * @example
 * const index = lmdbIndex('./data/node-0/index')
 * index.get(key)
 */
export function lmdbIndex(path: string, { otherThread = isMainThread }: LmdbIndexOptions = {}): OrderedIndex {
  // Whatever becomes of the folder that the process is in.
  const folder = resolve(path)
  checkIndexFile(folder)
  return new LmdbIndex(folder, otherThread ? new IndexWriter(folder) : undefined)
}

class LmdbIndex implements OrderedIndex {
  readonly #root: RootDatabase<Uint8Array, KeyBytes>
  readonly #entries: Entries
  readonly #state: Entries
  #appliedUpTo: number
  #closed = false
  /** Undefined: this thread writes. */
  #writer: IndexWriter | undefined
  #applying: Promise<void> | undefined
  /** Looks at the values of the walk under way; undefined: they are copied. */
  #look: Look | undefined
  #enough = false

  constructor(path: string, writer: IndexWriter | undefined) {
    this.#writer = writer
    const root = (this.#root = open<Uint8Array, KeyBytes>(path, ENVIRONMENT))
    const options = { encoding: 'binary' as const, keyEncoder, cache: false }
    const walkable = {
      ...options,
      keyEncoder: {
        ...keyEncoder,
        readKey: (source: Buffer, start: number, end: number): string =>
          this.#look === undefined ? keyEncoder.readKey(source, start, end) : '',
      },
      // Only walks decode: a single value is read as it is.
      encoder: {
        encode: (value: Uint8Array) => value,
        decode: (walked: WalkedBytes, length: number) => this.#walked(walked, length),
      },
    }
    this.#entries = root.openDB(ENTRIES, walkable)
    this.#state = root.openDB(STATE, options)
    const applied = this.#state.getBinary(APPLIED as KeyBytes)
    this.#appliedUpTo = applied === undefined ? 0 : Buffer.from(applied).readDoubleBE(0)
  }

  get appliedUpTo(): number {
    return this.#appliedUpTo
  }

  get(key: KeyBytes): Uint8Array | undefined {
    this.#assertOpen()
    return this.#entries.getBinary(key)
  }

  *range({ from, to, reverse }: KeyRange): Iterable<readonly [KeyBytes, Uint8Array]> {
    this.#assertOpen()
    for (const { key, value } of this.#entries.getRange(bounds(from, to, reverse))) {
      if (key < to) yield [key, value]
    }
  }

  scan({ from, to, reverse }: KeyRange, look: Look): void {
    this.#assertOpen()
    const walk = this.#entries.getRange(bounds(from, to, reverse))[Symbol.iterator]()
    this.#look = look
    this.#enough = false
    try {
      while (walk.next().done !== true) {
        if (!this.#enough) continue
        walk.return?.()
        return
      }
    } catch (error) {
      walk.return?.()
      throw error
    } finally {
      this.#look = undefined
    }
  }

  #walked(walked: WalkedBytes, length: number): Uint8Array | undefined {
    if (this.#look !== undefined) {
      this.#enough = !this.#look(walked, length)
      return undefined
    }
    if (walked.isGlobal !== true) return walked
    const copy = Buffer.allocUnsafe(length)
    copy.set(new Uint8Array(walked.buffer, walked.byteOffset, length))
    return copy
  }

  async apply(changes: Iterable<IndexChange>, appliedUpTo: number): Promise<void> {
    this.#assertOpen()
    this.#applying = this.#write(changes, appliedUpTo)
    await this.#applying
    // The next read must see this commit, not the snapshot that the current turn of the event loop may have open.
    this.#root.resetReadTxn()
    this.#appliedUpTo = appliedUpTo
  }

  async #write(changes: Iterable<IndexChange>, appliedUpTo: number): Promise<void> {
    if (this.#writer !== undefined) {
      try {
        return await this.#writer.apply(changes, appliedUpTo)
      } catch (error) {
        if (!(error instanceof NoThread)) throw error
        this.#writer = undefined
      }
    }
    const parts = { root: this.#root, entries: this.#entries, state: this.#state }
    await applyInOneBatch(parts, changes, appliedUpTo)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#applying?.catch(() => undefined)
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

const bounds = (from: KeyBytes, to: KeyBytes, reverse: boolean): RangeOptions =>
  reverse
    ? { start: to, end: from, reverse: true, inclusiveEnd: true, exclusiveStart: true }
    : { start: from, end: to }
