// A process on a machine of its own: its clock is wrong, it is stopped and continued, it is killed.
import type { Runtime } from '../../src/runtime/runtime.js'
import type { Random } from '../../src/runtime/seeded-random.js'
import type { Scheduler } from '../scheduler.js'

export interface ClockFaults {
  /** The wall clock is off by up to that, at first and after each jump. */
  readonly skewMicrosMax: number
  /** Both clocks run wrong by up to that part. */
  readonly rateMax: number
}

/** Of a stop to be a sleep of the machine. */
const SLEEP_CHANCE = 0.5
const EPOCH_MICROS = 1_900_000_000_000_000

export class SimProcess {
  readonly name: string
  readonly random: Random
  readonly runtime: Runtime
  readonly #scheduler: Scheduler
  readonly #clock: ClockFaults
  readonly #rate: number
  readonly #canSleep: boolean
  #offsetMicros: number
  #state: 'running' | 'stopped' | 'dead' = 'running'
  /** What would have happened while it was stopped. */
  #pending: (() => void)[] = []
  #stops = 0
  #cutUntilMicros = 0
  /** For how long the monotonic clock has stood still: whole machines sleep, too. */
  #asleepMicros = 0

  constructor(name: string, scheduler: Scheduler, random: Random, clock: ClockFaults) {
    this.name = name
    this.random = random.fork()
    this.#scheduler = scheduler
    this.#clock = clock
    this.#rate = 1 + (this.random.fraction() * 2 - 1) * clock.rateMax
    this.#canSleep = this.random.chance(0.5)
    this.#offsetMicros = this.#skew()
    const timer = (delayMs: number, callback: () => void): (() => void) => {
      let cancelled = false
      const fire = (): void => {
        if (!cancelled) callback()
      }
      const cancel = scheduler.after((delayMs * 1000) / this.#rate, 'timer', () => this.run(fire))
      return () => {
        cancelled = true
        cancel()
      }
    }
    this.runtime = {
      clock: {
        nowMicros: () => Math.floor(EPOCH_MICROS + this.#offsetMicros + scheduler.nowMicros * this.#rate),
        monotonicMicros: () => Math.floor((scheduler.nowMicros - this.#asleepMicros) * this.#rate),
        timer,
      },
      randomBytes: (count) => this.random.bytes(count),
      defer: (callback) => void scheduler.after(1, 'defer', () => this.run(callback)),
    }
  }

  get running(): boolean {
    return this.#state === 'running'
  }
  get dead(): boolean {
    return this.#state === 'dead'
  }
  /** How often it has been stopped. */
  get stops(): number {
    return this.#stops
  }
  /** Whether its machine has slept: then timers are late, and only a look at the clock tells. */
  get hasSlept(): boolean {
    return this.#asleepMicros > 0
  }

  /** Something happens to it: now, or when it goes on, or never. */
  run(callback: () => void): void {
    if (this.#state === 'running') callback()
    else if (this.#state === 'stopped') this.#pending.push(callback)
  }

  stop(forMicros: number): void {
    if (this.#state !== 'running') return
    this.#state = 'stopped'
    this.#stops++
    const asleep = this.#canSleep && this.random.chance(SLEEP_CHANCE)
    this.#scheduler.after(forMicros, 'continue', () => {
      if (asleep) this.#asleepMicros += forMicros
      this.#continue()
    })
  }

  /** Nothing of it reaches anybody, and nothing reaches it, for that long. */
  cutOff(forMicros: number): void {
    this.#cutUntilMicros = Math.max(this.#cutUntilMicros, this.#scheduler.nowMicros + forMicros)
  }

  get cut(): boolean {
    return this.#scheduler.nowMicros < this.#cutUntilMicros
  }

  kill(): void {
    this.#state = 'dead'
    this.#pending = []
  }

  /**
   * Somebody sets the wall clock. Not where machines sleep: with the monotonic clock standing still and the wall clock set
   * back within one lease nothing on that machine could tell, and only the fence protects.
   */
  jumpClock(): void {
    if (!this.#canSleep) this.#offsetMicros = this.#skew()
  }

  /** Timers and answers that came meanwhile are met in any order. */
  #continue(): void {
    if (this.#state !== 'stopped') return
    this.#state = 'running'
    const pending = this.random.sample(this.#pending, this.#pending.length)
    this.#pending = []
    for (const callback of pending) this.#scheduler.after(0, 'caught up', () => this.run(callback))
  }

  #skew(): number {
    return (this.random.fraction() * 2 - 1) * this.#clock.skewMicrosMax
  }
}
