// Reads the entries of LMDB, and trusts none of them before its checksum.
//
// What is not found may be damage as well: with a flipped bit in its key an entry stands where nobody looks for it, and a
// search that compares with such a key goes astray. But it stands between the same neighbours as before, and a search that
// goes astray ends beside the key that misled it. So whoever finds nothing looks at the entries on both sides:
//
//   entry before  <  key sought  <  entry behind        both sound: there is no such entry
//
// and a walk over a range looks at the entry before its first one and the entry behind its last one. A damaged neighbour whose
// flipped bit is found to be elsewhere (./one-bit.ts) is no reason to refuse.
import type { Database, RangeOptions, RootDatabase } from 'lmdb'
import type { KeyBytes } from '../../../model/brand.js'
import { EntryDamaged, checksumOfKey, checksumOfKeyBytes, unsealed } from '../../checksum.js'
import { ENTRIES } from './lmdb-options.js'
import { keyBefore } from './one-bit.js'
import type { ScanRange, EntryVisitor } from '../../ordered-map.js'

export type Entries = Database<Uint8Array, KeyBytes>

/** LMDB's own buffer, which holds each record of a walk in turn; or one that was made for a large record. */
interface WalkedBytes extends Buffer {
  readonly isGlobal?: boolean
}

/** Key bytes are latin1 strings already: no array is made on the way to LMDB. */
export const keyEncoder = {
  writeKey: (key: string, target: Buffer, start: number): number => {
    if (target.write(key, start, 'latin1') !== key.length) throw new RangeError('the key does not fit')
    return start + key.length
  },
  readKey: (source: Buffer, start: number, end: number): string => source.toString('latin1', start, end),
}

/** Before and behind all keys that there are. */
const LOWEST = '\0' as KeyBytes
const HIGHEST = '\xff'.repeat(8) as KeyBytes
const KEY_BYTES_MAX = 2048
/** What a walk says of an entry whose checksum is wrong. */
const DAMAGED = new Uint8Array(0)

type Neighbours = 'before' | 'behind'

interface Entry {
  readonly key: KeyBytes
  readonly value: Uint8Array
}

/**
 * A walk to one side of a key, the key itself included to the right, that is taken again and again: making one anew takes
 * longer than a step of it. One at a time.
 */
class Walk {
  readonly #options: { start: KeyBytes; end: KeyBytes; reverse: boolean } & RangeOptions
  readonly #walk: Iterable<Entry>

  constructor(entries: Entries, side: Neighbours) {
    this.#options =
      side === 'behind'
        ? { start: LOWEST, end: HIGHEST, reverse: false }
        : { start: HIGHEST, end: LOWEST, reverse: true, inclusiveEnd: true, exclusiveStart: true }
    this.#walk = entries.getRange(this.#options)
  }

  from(start: KeyBytes): Iterator<Entry> {
    this.#options.start = start
    return this.#walk[Symbol.iterator]()
  }

  first(start: KeyBytes): Entry | undefined {
    const steps = this.from(start)
    try {
      const step = steps.next()
      return step.done === true ? undefined : step.value
    } finally {
      steps.return?.()
    }
  }
}

export class SealedEntries {
  readonly entries: Entries
  readonly #before: Walk
  readonly #behind: Walk
  /** Of the key that was read last. */
  #checksumOfKey = 0
  /** The record that was found damaged last. */
  #damaged: Buffer = Buffer.alloc(0)
  /** Looks at the values of the scan under way. */
  readonly #scan = new Scan()
  #isScanning = false
  /** Whether values are wanted, or only whether they are sound. */
  #wanted = true
  /** Two neighbours that were sound when nothing was found between them: nothing is, until something is written. */
  #gapFrom = HIGHEST
  #gapTo = LOWEST
  /** Neighbours that were read, for tests: each may have megabytes. */
  neighboursRead = 0

  constructor(root: RootDatabase<Uint8Array, KeyBytes>) {
    const options = {
      encoding: 'binary' as const,
      cache: false,
      keyEncoder: { ...keyEncoder, readKey: this.#readKey },
      // Only walks decode: a single value is read as it is.
      encoder: { encode: (value: Uint8Array) => value, decode: this.#decode },
    }
    this.entries = root.openDB(ENTRIES, options)
    this.#before = new Walk(this.entries, 'before')
    this.#behind = new Walk(this.entries, 'behind')
  }

  get isEmpty(): boolean {
    return this.#behind.first(LOWEST) === undefined
  }

  get(key: KeyBytes): Uint8Array | undefined {
    const record = this.entries.getBinary(key)
    if (record === undefined) {
      if (!(key > this.#gapFrom && key < this.#gapTo)) this.#checkGap(key)
      return undefined
    }
    const value = unsealed(checksumOfKey(key), record)
    if (value === undefined) throw wrongChecksum(key, record)
    return value
  }

  *range({ from, to, reverse }: ScanRange): Iterable<readonly [KeyBytes, Uint8Array]> {
    this.#checkStart(from, to, reverse)
    const walk = this.entries.getRange(bounds(from, to, reverse))[Symbol.iterator]()
    let last: KeyBytes | undefined
    let done: boolean | undefined = false
    try {
      for (let step = walk.next(); ; step = walk.next()) {
        done = step.done
        if (step.done === true) return
        const { key, value } = step.value as { key: KeyBytes; value: Uint8Array }
        if (last === undefined ? (reverse ? key >= to : key < from) : reverse ? key >= last : key <= last)
          throw new EntryDamaged(key, 'out of order')
        if (reverse ? key < from : key >= to) {
          if (value === DAMAGED) this.#checkWhere(key, from, to)
          return
        }
        if (value === DAMAGED) throw wrongChecksum(key, this.#damaged)
        last = key
        yield [key, value]
      }
    } finally {
      if (done !== true) walk.return?.()
    }
  }

  scan({ from, to, reverse }: ScanRange, look: EntryVisitor): void {
    if (this.#isScanning) throw new Error('a scan within a scan')
    this.#checkStart(from, to, reverse)
    const scan = this.#scan
    scan.begin(from, to, reverse, look)
    const walk = reverse ? this.#before.from(to) : this.#behind.from(from)
    this.#isScanning = true
    try {
      while (walk.next().done !== true) {
        if (!scan.enough) continue
        walk.return?.()
        break
      }
    } catch (error) {
      walk.return?.()
      throw error
    } finally {
      this.#isScanning = false
    }
    if (scan.beyond !== undefined) this.#checkWhere(scan.beyond, from, to)
  }

  readonly #readKey = (source: Buffer, start: number, end: number): KeyBytes => {
    if (this.#isScanning) {
      this.#scan.key(source, start, end)
      return LOWEST
    }
    this.#checksumOfKey = checksumOfKeyBytes(source, start, end)
    return source.toString('latin1', start, end) as KeyBytes
  }

  readonly #decode = (walked: WalkedBytes, length: number): Uint8Array | undefined => {
    if (this.#isScanning) {
      if (this.#scan.value(walked, length)) this.#damaged = Buffer.from(walked.subarray(0, length))
      return undefined
    }
    const value = unsealed(this.#checksumOfKey, walked, length)
    if (value === undefined) {
      this.#damaged = Buffer.from(walked.subarray(0, length))
      return DAMAGED
    }
    if (!this.#wanted) return value
    return walked.isGlobal === true ? Buffer.from(value) : value
  }

  /** To be called when something was written. */
  forgetGap(): void {
    this.#gapFrom = HIGHEST
    this.#gapTo = LOWEST
  }

  #checkGap(key: KeyBytes): void {
    this.forgetGap()
    const before = this.#checkNeighbour('before', key, key, key)
    const behind = this.#checkNeighbour('behind', key, key, key)
    if (before === undefined || behind === undefined) return
    this.#gapFrom = before
    this.#gapTo = behind
  }

  /** The entry beside the end at which a walk begins. */
  #checkStart(from: KeyBytes, to: KeyBytes, reverse: boolean): void {
    if (reverse) this.#checkNeighbour('behind', to, from, to)
    else this.#checkNeighbour('before', from, from, to)
  }

  /** The entry on that side of the key, which might belong to the range: its key, or the end of all keys, if it is sound. */
  #checkNeighbour(side: Neighbours, of: KeyBytes, from: KeyBytes, to: KeyBytes): KeyBytes | undefined {
    this.neighboursRead++
    this.#wanted = false
    let found
    try {
      found = (side === 'before' ? this.#before : this.#behind).first(of)
    } finally {
      this.#wanted = true
    }
    if (found === undefined) return side === 'before' ? LOWEST : HIGHEST
    if (side === 'before' ? found.key >= of : found.key < of) throw new EntryDamaged(of, 'out of order')
    if (found.value !== DAMAGED) return found.key
    this.#checkWhere(found.key, from, to)
    return undefined
  }

  /** A damaged entry beside a range: it may have been in it. */
  #checkWhere(key: KeyBytes, from: KeyBytes, to: KeyBytes): void {
    const before = keyBefore(key, this.#damaged)
    // Of another key space nothing is told.
    if (before === undefined && isOneSpace(key, from)) throw new EntryDamaged(key, 'wrong checksum')
    if (before === undefined) throw new EntryDamaged(from, 'what stands beside it has a wrong checksum')
    if (before === from || (before > from && before < to)) throw new EntryDamaged(before, 'wrong checksum')
  }
}

/** One scan after another: the keys are compared as bytes, and nothing is made for one of them, nor for a scan. */
class Scan {
  enough = false
  /** The key of a damaged entry behind the range. */
  beyond: KeyBytes | undefined
  #look: EntryVisitor = () => false
  #reverse = false
  readonly #bound = Buffer.alloc(KEY_BYTES_MAX)
  #boundLength = 0
  /** The key before, first of all the end of the range at which the scan begins. */
  readonly #last = Buffer.alloc(KEY_BYTES_MAX)
  #lastLength = 0
  #isFirst = true
  #isBeyond = false
  #checksumOfKey = 0
  #source: Buffer = this.#last
  #start = 0
  #end = 0

  begin(from: KeyBytes, to: KeyBytes, reverse: boolean, look: EntryVisitor): void {
    this.enough = false
    this.beyond = undefined
    this.#look = look
    this.#reverse = reverse
    this.#boundLength = this.#bound.write(reverse ? from : to, 0, 'latin1')
    this.#lastLength = this.#last.write(reverse ? to : from, 0, 'latin1')
    this.#isFirst = true
  }

  key(source: Buffer, start: number, end: number): void {
    this.#source = source
    this.#start = start
    this.#end = end
    this.#checksumOfKey = checksumOfKeyBytes(source, start, end)
    const order = compare(source, start, end, this.#last, this.#lastLength)
    const isFirst = this.#isFirst
    this.#isFirst = false
    if (this.#reverse ? order >= 0 : order < 0 || (order === 0 && !isFirst))
      throw new EntryDamaged(this.#named(), 'out of order')
    const ofBound = compare(source, start, end, this.#bound, this.#boundLength)
    this.#isBeyond = this.#reverse ? ofBound < 0 : ofBound >= 0
    for (let at = start; at < end; at++) this.#last[at - start] = source[at]!
    this.#lastLength = end - start
  }

  /** True if the record is damaged, and stands behind the range. */
  value(walked: WalkedBytes, length: number): boolean {
    const value = unsealed(this.#checksumOfKey, walked, length)
    if (this.#isBeyond) {
      this.enough = true
      if (value === undefined) this.beyond = this.#named()
      return value === undefined
    }
    if (value === undefined) throw wrongChecksum(this.#named(), Buffer.from(walked.subarray(0, length)))
    this.enough = !this.#look(value, value.length)
    return false
  }

  #named(): KeyBytes {
    return this.#source.toString('latin1', this.#start, this.#end) as KeyBytes
  }
}

/** Of keys, which are short: a loop takes less time than a call into Node. */
function compare(source: Buffer, start: number, end: number, other: Buffer, otherLength: number): number {
  const length = Math.min(end - start, otherLength)
  for (let at = 0; at < length; at++) {
    const difference = source[start + at]! - other[at]!
    if (difference !== 0) return difference
  }
  return end - start - otherLength
}

const SPACE_BYTES = 4
const isOneSpace = (a: KeyBytes, b: KeyBytes): boolean => a.slice(0, SPACE_BYTES) === b.slice(0, SPACE_BYTES)

/** Named by the key that it had, if one bit of that was flipped. */
const wrongChecksum = (key: KeyBytes, record: Uint8Array): EntryDamaged =>
  new EntryDamaged(keyBefore(key, record) ?? key, 'wrong checksum')

/** The far end is open: the first entry behind the range is to be seen. */
const bounds = (from: KeyBytes, to: KeyBytes, reverse: boolean): RangeOptions =>
  reverse
    ? { start: to, end: LOWEST, reverse: true, inclusiveEnd: true, exclusiveStart: true }
    : { start: from, end: HIGHEST }
