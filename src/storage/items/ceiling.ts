// A durable timestamp above every read mark: after a restart nobody knows what was read at which timestamp, but it was
// below this. It is raised a second ahead, so that hardly any read waits for it.
import type { Timestamp } from '../../model/brand.js'
import type { Line } from '../../line/line.js'
import { asBuffer } from '../../line/record.js'
import { CEILING_KEY } from '../../line/spaces.js'

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
