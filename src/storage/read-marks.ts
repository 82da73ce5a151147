// The highest timestamp at which each item was observed: a bounded cache over a low-water mark.
//
// Marks are not durable one by one. A durable ceiling stands above all of them, and after a restart it is the low-water
// mark: whatever was observed before was observed below it.
import type { KeyBytes, Timestamp } from '../model/brand.js'

const MARKS_MAX = 100_000

export class ReadMarks {
  readonly #marks = new Map<KeyBytes, Timestamp>()
  #lowWater: Timestamp

  constructor(lowWater: Timestamp) {
    this.#lowWater = lowWater
  }

  of(item: KeyBytes): Timestamp {
    const mark = this.#marks.get(item)
    return mark === undefined || mark < this.#lowWater ? this.#lowWater : mark
  }

  raise(item: KeyBytes, timestamp: Timestamp): void {
    const mark = this.#marks.get(item)
    if (timestamp <= (mark ?? this.#lowWater)) return
    // Last in, last out: the oldest marks become the low-water mark.
    if (mark !== undefined) this.#marks.delete(item)
    this.#marks.set(item, timestamp)
    if (this.#marks.size > MARKS_MAX) this.#drop()
  }

  #drop(): void {
    for (const [item, mark] of this.#marks) {
      this.#marks.delete(item)
      if (mark > this.#lowWater) this.#lowWater = mark
      return
    }
  }
}
