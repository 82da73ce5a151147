// A machine that has no room for its indexes for a while: a full disk, or one that fails. The journal has room that it has prepared
// ahead, so that such a machine starts, answers, and mostly takes writes; what the indexes lack is in the journal and in memory.
//
//   life 1 --written late--> crash --> life 2: nothing is written from its start on ... --> there is room again
//
// Drawn for each life, from a source of its own; in worlds without it everything else is as it would be.
import { OutOfSpace } from '../src/runtime/files.js'
import { Random } from '../src/runtime/seeded-random.js'
import { rates } from './faults.js'
import type { Surroundings } from './process.js'

const SOURCE = 7 * 2 ** 32
/** Of all worlds those in which machines run short. */
const WORLDS = 0.4
/** Of their lives. */
const COURSES = { 'at the start': 0.35, 'now and then': 0.15, 'all life long': 0.1 } as const
type Course = keyof typeof COURSES | 'never'
/** From the start of a life on. */
const START_MICROS = { min: 10_000, max: 3_000_000 }
/** Of the writes to an index, now and then. */
const SOME = 0.2
/** Of the writes that fail: they were written all the same. */
const WRITTEN = 0.15
const FULL = 0.5

/** What became of a write to an index that failed. */
export interface Refused {
  readonly error: Error
  readonly isWritten: boolean
}

export class Shortage {
  readonly #around: Surroundings
  readonly #random: Random
  readonly #isOfWorld: boolean
  #course: Course = 'never'
  #untilMicros = 0

  /** Of the machine at that place of the world. */
  constructor(around: Surroundings, seed: number, place: number) {
    this.#around = around
    const random = new Random(seed + SOURCE)
    this.#isOfWorld = around.faults.has('index') && random.chance(WORLDS)
    for (let others = 0; others < place; others++) random.fork()
    this.#random = random.fork()
  }

  /** A life begins. */
  begin(): void {
    if (!this.#isOfWorld) return
    const random = this.#random
    let drawn = random.fraction()
    const courses = Object.entries(COURSES) as [keyof typeof COURSES, number][]
    this.#course = courses.find(([, share]) => (drawn -= share) < 0)?.[0] ?? 'never'
    const lasts = random.skewed(START_MICROS.min, START_MICROS.max)
    this.#untilMicros = this.#around.scheduler.nowMicros + lasts
  }

  /** Nothing that needs more room on the disk is likely to get it. */
  get isOn(): boolean {
    if (!this.#around.trouble.on) return false
    switch (this.#course) {
      case 'at the start':
        return this.#around.scheduler.nowMicros < this.#untilMicros
      case 'all life long':
        return true
      case 'now and then':
      case 'never':
        return false
    }
  }

  /** A write to an index ends: undefined if it is written as it should be. */
  refused(): Refused | undefined {
    const random = this.#random
    const isShort =
      this.isOn || (this.#course === 'now and then' && this.#around.trouble.on && random.chance(SOME))
    if (!isShort) return undefined
    const name = random.chance(FULL) ? 'index-full' : 'index-failed'
    this.#around.tally.add('fault/', name)
    return {
      error:
        name === 'index-full'
          ? new OutOfSpace('ENOSPC: no space left on device')
          : new Error('EIO: i/o error'),
      isWritten: random.chance(WRITTEN),
    }
  }

  /** How likely a write to another file is to find no room, if it were that likely otherwise. */
  fullRate(otherwise: number): number {
    return this.isOn ? Math.max(otherwise, rates.diskShort) : otherwise
  }
}
