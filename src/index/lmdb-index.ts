// The index on disk: LMDB, with synced commits. A power cut leaves it at its last commit, never between two.
//
// LMDB's keys end at 1,978 bytes (with 4 KB pages) and DynamoDB's go far beyond: long-keys.ts says how they are cut.
import { type Database, type RootDatabase, open } from 'lmdb'
import type { KeyBytes } from '../model/brand.js'
import { type PartRange, type Place, HEAD_BYTES, behindHead, branchName, isLong, mayHold, placeOf } from './long-keys.js'
import type { IndexChange, KeyRange, OrderedIndex } from './ordered-index.js'

type Entries = Database<Uint8Array, string>

const MAP_BYTES_INITIAL = 4 * 1024 * 1024 * 1024
const READERS_MAX = 8
/** No part sorts behind this one. */
const PART_MAX = '\xff'.repeat(HEAD_BYTES)

/** Key bytes are latin1 strings already: no allocation on the way to LMDB. */
const keyEncoder = {
  writeKey: (key: string, target: Buffer, start: number): number => {
    if (target.write(key, start, 'latin1') !== key.length) throw new RangeError('key does not fit')
    return start + key.length
  },
  readKey: (source: Buffer, start: number, end: number): string => source.toString('latin1', start, end),
}

/**
 * Opens or creates the index in that folder. One process at a time; the owner of the data folder sees to that.
 *
 * @example
 * const index = lmdbIndex('./data/node-0/index')
 * index.get(key)
 */
export function lmdbIndex(path: string, options: { readonly readOnly?: boolean } = {}): OrderedIndex {
  const root = openRoot(path, options.readOnly ?? false)
  return new LmdbIndex(root)
}

function openRoot(path: string, readOnly: boolean): RootDatabase<Uint8Array, string> {
  const options = {
    // Virtual: the file is as long as its data. LMDB's map grows beyond by itself.
    mapSize: MAP_BYTES_INITIAL,
    maxDbs: 4,
    maxReaders: READERS_MAX,
    noSubdir: false,
    overlappingSync: false,
    noMemInit: true,
    noReadAhead: true,
    cache: false,
    readOnly,
    encoding: 'binary' as const,
  }
  return open<Uint8Array, string>(path, options)
}

class LmdbIndex implements OrderedIndex {
  readonly #root: RootDatabase<Uint8Array, string>
  readonly #entries: Entries
  readonly #branches: Entries
  readonly #state: Entries
  #appliedUpTo: number
  #lastBranch: number

  constructor(root: RootDatabase<Uint8Array, string>) {
    this.#root = root
    const options = { encoding: 'binary' as const, keyEncoder, cache: false }
    this.#entries = root.openDB('entries', options)
    this.#branches = root.openDB('branches', options)
    this.#state = root.openDB('state', options)
    this.#appliedUpTo = this.#number('applied')
    this.#lastBranch = this.#number('branch')
  }

  get appliedUpTo(): number {
    return this.#appliedUpTo
  }

  get(key: KeyBytes): Uint8Array | undefined {
    if (!isLong(key)) return this.#entries.getBinary(key)
    const place = placeOf(key, (head) => this.#branchAt(head))
    return place === undefined ? undefined : this.#read(place)
  }

  range(range: KeyRange): Iterable<readonly [KeyBytes, Uint8Array]> {
    return this.#range('', range)
  }

  async apply(changes: Iterable<IndexChange>, appliedUpTo: number): Promise<void> {
    const begun = new Map<string, string>()
    const committed = await this.#root.batch(() => {
      for (const [key, value] of changes) {
        if (isLong(key)) this.#applyLong(key, value, begun)
        else if (value === undefined) void this.#entries.remove(key)
        else void this.#entries.put(key, value)
      }
      if (begun.size > 0) void this.#state.put('branch', numberBytes(this.#lastBranch))
      void this.#state.put('applied', numberBytes(appliedUpTo))
    })
    if (!committed) throw new Error('LMDB did not commit')
    // The next read must see this commit, not the snapshot that the current turn of the event loop may have open.
    this.#root.resetReadTxn()
    this.#appliedUpTo = appliedUpTo
  }

  async close(): Promise<void> {
    await this.#root.close()
  }

  /** `begun` holds the branches begun in this step, which reads do not see yet. */
  #applyLong(key: KeyBytes, value: Uint8Array | undefined, begun: Map<string, string>): void {
    const place = placeOf(key, (head) => {
      const known = begun.get(head.branch + head.part) ?? this.#branchAt(head)
      if (known !== undefined || value === undefined) return known
      const branch = branchName(++this.#lastBranch)
      begun.set(head.branch + head.part, branch)
      void this.#in(head).put(head.branch + head.part, Buffer.from(branch, 'latin1'))
      return branch
    })
    if (place === undefined) return
    if (value === undefined) void this.#in(place).remove(place.branch + place.part)
    else void this.#in(place).put(place.branch + place.part, value)
  }

  *#range(branch: string, range: PartRange): Iterable<readonly [KeyBytes, Uint8Array]> {
    const low = branch + range.from.slice(0, HEAD_BYTES)
    // Both bounds are taken wide; what is outside is left out below.
    const high = range.to === undefined ? branch + PART_MAX : branch + range.to.slice(0, HEAD_BYTES)
    const parts = this.#in({ branch }).getRange(
      range.reverse
        ? { start: high, end: low, reverse: true, inclusiveEnd: true }
        : { start: low, end: high, inclusiveEnd: true },
    )
    for (const { key, value } of parts) {
      const part = key.slice(branch.length)
      if (!mayHold(range, part)) continue
      if (!isLong(part)) {
        yield [part as KeyBytes, value]
        continue
      }
      for (const [rest, restValue] of this.#range(latin1(value), behindHead(range, part))) {
        yield [(part + rest) as KeyBytes, restValue]
      }
    }
  }

  #branchAt(head: Place): string | undefined {
    const bytes = this.#read(head)
    return bytes === undefined ? undefined : latin1(bytes)
  }

  #read(place: Place): Uint8Array | undefined {
    return this.#in(place).getBinary(place.branch + place.part)
  }

  #in({ branch }: { readonly branch: string }): Entries {
    return branch === '' ? this.#entries : this.#branches
  }

  #number(name: string): number {
    const bytes = this.#state.getBinary(name)
    return bytes === undefined ? 0 : Buffer.from(bytes).readDoubleBE(0)
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeDoubleBE(value)
  return bytes
}
