// The highest timestamp at which each item was observed: a bounded cache over a low-water mark.
//
// Marks are not durable one by one. A durable ceiling stands above all of them, and after a restart it is the low-water
// mark: whatever was observed before was observed below it.
import type { KeyBytes, Timestamp } from '../../model/brand.js'
import { type Knobs, knobs } from '../../model/knobs.js'

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
