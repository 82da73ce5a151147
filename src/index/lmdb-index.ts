// The index on disk: LMDB, with synced commits. A power cut leaves it at its last commit, never between two.
//
// LMDB's keys end at 1,978 bytes (with 4 KB pages); model/key-bytes.ts keeps every key below that.
import { setImmediate } from 'node:timers/promises'
import { type Database, type RangeOptions, type RootDatabase, open } from 'lmdb'
import type { KeyBytes } from '../model/brand.js'
import { checkIndexFile } from './lmdb-file.js'
import type { IndexChange, KeyRange, Look, OrderedIndex } from './ordered-index.js'

type Entries = Database<Uint8Array, KeyBytes>

const MAP_BYTES_INITIAL = 4 * 1024 * 1024 * 1024
const READERS_MAX = 8
const APPLIED = 'applied' as KeyBytes

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
export function lmdbIndex(path: string): OrderedIndex {
  checkIndexFile(path)
  const options = {
    // Virtual: the file is as long as its data, and the map grows beyond this by itself.
    mapSize: MAP_BYTES_INITIAL,
    maxDbs: 2,
    maxReaders: READERS_MAX,
    noSubdir: false,
    overlappingSync: false,
    // Changes come in batches as it is; an implicit one would reject a promise of its own that nobody can handle.
    eventTurnBatching: false,
    // LMDB's thread starts when it has been handed everything: it would only compete with the handing over.
    batchStartThreshold: Infinity,
    noMemInit: true,
    noReadAhead: true,
    cache: false,
    encoding: 'binary' as const,
  }
  return new LmdbIndex(open<Uint8Array, KeyBytes>(path, options))
}

class LmdbIndex implements OrderedIndex {
  readonly #root: RootDatabase<Uint8Array, KeyBytes>
  readonly #entries: Entries
  readonly #state: Entries
  #appliedUpTo: number
  #closed = false
  /** Looks at the values of the walk under way; undefined: they are copied. */
  #look: Look | undefined
  #enough = false

  constructor(root: RootDatabase<Uint8Array, KeyBytes>) {
    this.#root = root
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
    this.#entries = root.openDB('entries', walkable)
    this.#state = root.openDB('state', options)
    const applied = this.#state.getBinary(APPLIED)
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
    const applied = Buffer.allocUnsafe(8)
    applied.writeDoubleBE(appliedUpTo)
    let write: Promise<boolean> | undefined
    /** The writes of a batch share a few promises, each of which rejects if the commit fails. */
    const handled = (written: Promise<boolean>): void => {
      if (written === write) return
      write = written
      written.catch(() => undefined)
    }
    let committed: boolean
    try {
      committed = await this.#root.batch(() => {
        for (const [key, value] of changes) {
          handled(value === undefined ? this.#entries.remove(key) : this.#entries.put(key, value))
        }
        handled(this.#state.put(APPLIED, applied))
      })
    } catch (error) {
      throw await commitFailure(error)
    }
    if (!committed) throw new Error('LMDB did not commit')
    // The next read must see this commit, not the snapshot that the current turn of the event loop may have open.
    this.#root.resetReadTxn()
    this.#appliedUpTo = appliedUpTo
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#root.close()
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

/** LMDB's error says why only in another promise, which would end the process if nobody handled it. */
async function commitFailure(error: unknown): Promise<Error> {
  const { commitError } = error as { readonly commitError?: Promise<never> }
  const cause: unknown = await Promise.race([commitError?.catch((reason: unknown) => reason), setImmediate()])
  const why = cause instanceof Error ? cause : (error as Error)
  return new Error(`the index could not be written: ${why.message}`, { cause: error })
}
