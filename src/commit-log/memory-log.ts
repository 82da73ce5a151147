// The log of commits of a store that keeps nothing: in memory, bounded. Beyond the bound the oldest records go.
//
//   blocks: [ 1..40 | 41..77 | 78.. ]   each with its records, its tables, its newest timestamp, and its records by item
//             ^ goes first       ^ grows, and always stays
import type { KeyBytes, SpaceId, Timestamp } from '../model/brand.js'
import { type Knobs, knobs } from '../model/knobs.js'
import type { LogItemRead, LogPage, LogRead } from './commit-log.js'
import { recordBytes, type CommitRecord } from './commit-record.js'
import { assertFollows, logConcerns, emptyPage, LogPageBuilder, trimmed } from './log-page.js'
import type { LogPosition, LogStorage } from './log-storage.js'
import { ListedRecords, type PendingRecords } from './pending-records.js'

export interface MemoryLogOptions {
  /** The number of its first record; 1 unless told otherwise. */
  readonly first?: number
  readonly knobs?: Partial<Pick<Knobs, 'logMemoryBytesMax' | 'logBlockBytesMax' | 'logReadBytesMax'>>
}

/**
 * Records are kept as they are given, not copied.
 *
 * @example
 * const storage = memoryLogStorage()
 */
export const memoryLogStorage = (options: MemoryLogOptions = {}): MemoryLogStorage => new MemoryLog(options)

/** A log in memory, which can be copied in a moment. */
export interface MemoryLogStorage extends LogStorage {
  /** The same records, from here on apart. */
  copy(): MemoryLogStorage
}

interface Block {
  readonly first: number
  readonly records: CommitRecord[]
  bytes: number
  /** The newest of its commit timestamps. */
  timestamp: number
  readonly spaces: Set<SpaceId>
  readonly items: Map<string, number[]>
}

class MemoryLog implements MemoryLogStorage {
  readonly #knobs: Knobs
  #blocks: Block[]
  #position: LogPosition
  #bytes = 0
  #last: number
  #lostUpTo = 0
  #heldFrom = Infinity

  constructor({ first = 1, ...options }: MemoryLogOptions) {
    this.#knobs = { ...knobs, ...options.knobs }
    this.#last = first - 1
    this.#blocks = [blockFrom(first)]
    this.#position = { upTo: 0, number: this.#last }
  }

  copy(): MemoryLogStorage {
    const newest = this.#blocks.at(-1) as Block
    // What both have is not added to any more.
    if (newest.records.length > 0) this.#blocks.push(blockFrom(this.#last + 1))
    const copy = new MemoryLog({ knobs: this.#knobs })
    copy.#blocks = [...this.#blocks.slice(0, -1), blockFrom(this.#last + 1)]
    copy.#position = this.#position
    copy.#bytes = this.#bytes
    copy.#last = this.#last
    copy.#lostUpTo = this.#lostUpTo
    return copy
  }

  get last(): number {
    return this.#last
  }

  get first(): number {
    return this.#oldest.first
  }

  get lostUpTo(): Timestamp {
    return this.#lostUpTo as Timestamp
  }

  get position(): LogPosition {
    return this.#position
  }

  get bytes(): number {
    return this.#bytes
  }

  collect(): PendingRecords {
    return new ListedRecords()
  }

  release(): void {
    // They are what is kept.
  }

  append(records: PendingRecords | readonly CommitRecord[], position: LogPosition): Promise<void> {
    let last = this.#last
    for (const { number } of records) assertFollows(last++, number)
    for (const record of records) this.#add(record)
    this.#position = position
    this.#letGo((block) => {
      if (this.#bytes <= this.#knobs.logMemoryBytesMax) return false
      this.#lostUpTo = Math.max(this.#lostUpTo, block.timestamp)
      return true
    })
    return Promise.resolve()
  }

  hold(from: number): void {
    this.#heldFrom = from
  }

  /** The oldest blocks, as long as they may go. */
  #letGo(mayGo: (block: Block) => boolean): void {
    let gone = 0
    for (const [at, block] of this.#blocks.entries()) {
      const next = this.#blocks[at + 1]
      if (next === undefined || next.first > this.#heldFrom || !mayGo(block)) break
      this.#bytes -= block.bytes
      gone++
    }
    this.#blocks.splice(0, gone)
  }

  read(request: LogRead): Promise<LogPage> {
    const { from, spaces } = request
    if (from < this.first) return Promise.reject(trimmed(from, this.first))
    if (from > this.#last) return Promise.resolve(emptyPage(from))
    const page = new LogPageBuilder(request)
    let lookedAtBytes = 0
    for (let at = this.#blockOf(from); at < this.#blocks.length; at++) {
      const { first, records, spaces: touched } = this.#blocks[at] as Block
      if (!logConcerns(spaces, touched)) {
        page.skipTo(first + records.length)
        continue
      }
      for (let nth = page.next - first; nth < records.length; nth++) {
        const record = records[nth] as CommitRecord
        if (page.isFull || lookedAtBytes >= this.#knobs.logReadBytesMax) return Promise.resolve(page.page())
        lookedAtBytes += recordBytes(record)
        page.add(record)
      }
    }
    return Promise.resolve(page.page())
  }

  numberAt(timestamp: Timestamp): Promise<number> {
    const block = this.#blocks.find((one) => one.timestamp >= timestamp)
    const record = block?.records.find((one) => one.timestamp >= timestamp)
    return Promise.resolve(record?.number ?? this.#last + 1)
  }

  ofItem({ space, key, from, to, reverse, entriesMax }: LogItemRead): Promise<readonly number[]> {
    const found: number[] = []
    const blocks = reverse ? this.#blocks.toReversed() : this.#blocks
    for (const { items } of blocks) {
      const numbers = (items.get(nameOf(space, key)) ?? []).filter((number) => number >= from && number <= to)
      found.push(...(reverse ? numbers.toReversed() : numbers).slice(0, entriesMax - found.length))
      if (found.length >= entriesMax) break
    }
    return Promise.resolve(found)
  }

  trim(before: Timestamp): Promise<number> {
    this.#letGo((block) => block.timestamp < before)
    return Promise.resolve(this.first)
  }

  close(): Promise<void> {
    return Promise.resolve()
  }

  #add(record: CommitRecord): void {
    let block = this.#blocks.at(-1) as Block
    if (block.bytes >= this.#knobs.logBlockBytesMax) {
      block = blockFrom(record.number)
      this.#blocks.push(block)
    }
    const bytes = recordBytes(record)
    block.records.push(record)
    block.bytes += bytes
    block.timestamp = Math.max(block.timestamp, record.timestamp)
    for (const { space, key } of record.changes) {
      block.spaces.add(space)
      const name = nameOf(space, key)
      const numbers = block.items.get(name)
      if (numbers === undefined) block.items.set(name, [record.number])
      else if (numbers.at(-1) !== record.number) numbers.push(record.number)
    }
    this.#bytes += bytes
    this.#last = record.number
  }

  get #oldest(): Block {
    return this.#blocks[0] as Block
  }

  /** Which holds that number. */
  #blockOf(number: number): number {
    return this.#blocks.findLastIndex(({ first }) => first <= number)
  }
}

const blockFrom = (first: number): Block => ({
  first,
  records: [],
  bytes: 0,
  timestamp: -1,
  spaces: new Set(),
  items: new Map(),
})

const nameOf = (space: SpaceId, key: KeyBytes): string => `${space} ${key}`
