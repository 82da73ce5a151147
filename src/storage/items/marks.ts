// Timestamps that a node keeps of what is not in a record, so that nothing is written below what was seen or deleted:
//
//   Partitions    of deleted items, one of the 1,024 buckets of the hash ring at a time
//   ReadMarks     of each item that was observed
//   SpaceFloors   of each table of which a range was read or a predicate validated
//   Ceiling       above all marks and floors, durable: it stands for them after a restart
//
// Partitions are what a node remembers of items that are not there any more, one bucket of the hash ring at a time (§3.3): instead of
// a tombstone for each deleted item, the highest timestamp and LSN of a delete in its partition.
//
// Not durable: after a restart every partition starts with the highest timestamp and LSN the node ever gave out, which
// is above any delete. That may refuse a prepare with an old timestamp; it never changes what a commit does.
import type { Line } from '../../line/line.js'
import { asBuffer } from '../../line/record.js'
import { CEILING_KEY } from '../../line/spaces.js'
import type { KeyBytes, Lsn, SpaceId, Timestamp } from '../../model/brand.js'
import { spacePrefix } from '../../model/key-bytes.js'
import { knobs, type Knobs } from '../../model/knobs.js'

const BUCKETS = 1024
const BUCKET_SHIFT = 22

export class Partitions {
  readonly #maxDelete: Float64Array
  readonly #deleteLsn: Float64Array

  constructor(start: { readonly timestamp: Timestamp; readonly lsn: Lsn }) {
    this.#maxDelete = new Float64Array(BUCKETS).fill(start.timestamp)
    this.#deleteLsn = new Float64Array(BUCKETS).fill(start.lsn)
  }

  maxDelete(hash: number): Timestamp {
    return this.#maxDelete[hash >>> BUCKET_SHIFT] as Timestamp
  }

  /** Stands for the LSN of an absent item: it changes whenever an item of the partition is deleted. */
  deleteLsn(hash: number): Lsn {
    return this.#deleteLsn[hash >>> BUCKET_SHIFT] as Lsn
  }

  deleted(hash: number, timestamp: Timestamp, lsn: Lsn): void {
    const bucket = hash >>> BUCKET_SHIFT
    if (timestamp > (this.#maxDelete[bucket] as number)) this.#maxDelete[bucket] = timestamp
    this.#deleteLsn[bucket] = lsn
  }
}

// The highest timestamp at which each item was observed: a bounded cache over a low-water mark.
//
// Marks are not durable one by one. A durable ceiling stands above all of them, and after a restart it is the low-water
// mark: whatever was observed before was observed below it.

export class ReadMarks {
  /** In two generations: a mark that is raised is in the younger one, and nothing has to be kept in order. */
  #marks = new Map<KeyBytes, Timestamp>()
  #older = new Map<KeyBytes, Timestamp>()
  #highest: number = 0
  #highestOlder: number = 0
  #lowWater: Timestamp
  readonly #generationMax: number

  constructor(lowWater: Timestamp, { readMarksMax }: Pick<Knobs, 'readMarksMax'> = knobs) {
    this.#generationMax = readMarksMax
    this.#lowWater = lowWater
  }

  of(item: KeyBytes): Timestamp {
    const mark = this.#marks.get(item) ?? this.#older.get(item)
    return mark === undefined || mark < this.#lowWater ? this.#lowWater : mark
  }

  raise(item: KeyBytes, timestamp: Timestamp): void {
    // Most are above all others: no mark has to be looked for.
    if (timestamp <= this.#highestOfAll() && timestamp <= this.of(item)) return
    this.#marks.set(item, timestamp)
    if (timestamp > this.#highest) this.#highest = timestamp
    if (this.#marks.size >= this.#generationMax) this.#age()
  }

  #highestOfAll(): number {
    return Math.max(this.#highest, this.#highestOlder, this.#lowWater)
  }

  /** The older generation becomes the low-water mark. */
  #age(): void {
    if (this.#highestOlder > this.#lowWater) this.#lowWater = this.#highestOlder as Timestamp
    this.#older = this.#marks
    this.#highestOlder = this.#highest
    this.#marks = new Map()
    this.#highest = 0
  }
}

// A durable timestamp above every read mark: after a restart nobody knows what was read at which timestamp, but it was
// below this. It is raised a second ahead, so that hardly any read waits for it.

const AHEAD_MICROS = 1_000_000

export class Ceiling {
  readonly #line: Line
  #ceiling: number

  constructor(line: Line) {
    this.#line = line
    this.#ceiling = storedCeiling(line)
    line.onRollback(() => {
      this.#ceiling = storedCeiling(line)
    })
  }

  /** Undefined if a mark may be left at that timestamp now; otherwise when it may. */
  above(timestamp: Timestamp): Promise<void> | undefined {
    if (timestamp > this.#ceiling - AHEAD_MICROS / 2) {
      const covered = timestamp <= this.#ceiling && this.#line.whenDurableAt(CEILING_KEY) === undefined
      this.#ceiling = timestamp + AHEAD_MICROS
      const bytes = Buffer.allocUnsafe(8)
      bytes.writeDoubleBE(this.#ceiling, 0)
      this.#line.put(CEILING_KEY, bytes)
      return covered ? undefined : this.#line.whenDurable()
    }
    return this.#line.whenDurableAt(CEILING_KEY)
  }
}

export function storedCeiling(line: Line): Timestamp {
  const stored = line.decided.get(CEILING_KEY)
  return (stored === undefined ? 0 : asBuffer(stored).readDoubleBE(0)) as Timestamp
}

// The highest timestamp at which a whole table was observed: a range that was read, or a predicate that was validated.
// Nobody writes at or below it any more, not even an item that is not there yet. One for each table; like read marks they
// are below a durable ceiling, which stands for them after a restart.

export class SpaceFloors {
  readonly #floors = new Map<string, Timestamp>()

  /** Of the space in which that address is. */
  of(address: KeyBytes): Timestamp {
    return this.#floors.size === 0 ? NONE : (this.#floors.get(address.slice(0, 4)) ?? NONE)
  }

  raise(space: SpaceId, timestamp: Timestamp): void {
    const prefix = spacePrefix(space)
    if (timestamp > (this.#floors.get(prefix) ?? NONE)) this.#floors.set(prefix, timestamp)
  }

  forget(space: SpaceId): void {
    this.#floors.delete(spacePrefix(space))
  }
}

const NONE = 0 as Timestamp
