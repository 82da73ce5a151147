// A process of the simulated world: it is started, crashes at any point, and is started again.
//
//   machine: clock, disk, index -----------------------------------------------> outlive the process
//   life 1: runtime, services, memory --crash--> dead: nothing it does has an effect any more
//   life 2: ...
//
// What a dead life still has on the stack runs on, but its timers never fire, its messages never leave and its promises
// never settle.
import type { Runtime } from '../src/runtime/runtime.js'
import type { Aims } from './planned-crashes.js'
import { type SimFault, rates, type Tally } from './faults.js'
import type { Random } from '../src/runtime/seeded-random.js'
import type { Scheduler } from './scheduler.js'

export type Role = 'node' | 'worker' | 'coordinator' | 'recovery' | 'client'

/** What every part of one world shares. */
export interface Surroundings {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly faults: ReadonlySet<SimFault>
  readonly tally: Tally
  /** False while the world comes to rest: nothing goes wrong any more. */
  readonly trouble: { on: boolean }
  /** Crash points at which somebody is to crash, beside those who do by chance. */
  readonly aims?: Aims
}

/** The methods that a process offers to others, by service and name. */
export type Services = Readonly<Record<string, object>>

/** A call that waits for its answer. */
export interface OpenCall {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  readonly cancelTimer: () => void
}

/** One life of a process, from its start to its crash. */
export class Life {
  readonly process: SimProcess
  readonly runtime: Runtime
  readonly calls = new Map<number, OpenCall>()
  alive = true
  /** Set once it has started. */
  services: Services | undefined

  constructor(process: SimProcess) {
    this.process = process
    this.runtime = runtimeOf(this)
  }

  /** A named point at which the process may crash. False if it is dead from here on. */
  reach(point: string): boolean {
    if (!this.alive) return false
    this.process.reach(this, point)
    return this.alive
  }
}

export interface ProcessOptions {
  readonly name: string
  readonly role: Role
  /** Starts the process; a rejection is a failed start, tried again after a while. */
  readonly start: (life: Life) => Promise<Services>
  /** It cannot be started any more. */
  readonly onGivenUp?: (error: unknown) => void
  /** Whose clock it reads, if it has none of its own. */
  readonly clock?: () => SimProcess
  /** The machine at a crash; `power`: it went dark, and its disk lost what was not synced. */
  readonly onCrash?: (power: 'kept' | 'cut') => void
}

/** When worlds begin, on the clocks of their processes. */
export const EPOCH_MICROS = 1_900_000_000_000_000
const DOWN_MICROS = { min: 1_000, max: 1_500_000 }
const STARTS_MAX = 20

export class SimProcess {
  readonly name: string
  readonly role: Role
  readonly around: Surroundings
  readonly #options: ProcessOptions
  readonly #random: Random
  readonly #points = new Map<string, Point>()
  readonly #clock: SkewedClock
  #life: Life | undefined
  #failedStarts = 0

  constructor(around: Surroundings, options: ProcessOptions) {
    this.around = around
    this.name = options.name
    this.role = options.role
    this.#options = options
    this.#random = around.random.fork()
    this.#clock = new SkewedClock(this.#random, around.faults.has('clock') && options.role !== 'client')
  }

  get life(): Life | undefined {
    return this.#life
  }

  get random(): Random {
    return this.#random
  }

  nowMicros(): number {
    return this.#options.clock?.().nowMicros() ?? this.#clock.read(this.around.scheduler.nowMicros)
  }

  /** An operator, or a daemon, sets the clock. */
  jumpClock(): void {
    this.#clock.jump(this.#random)
    this.around.tally.add('fault/clock')
  }

  /** Without a crash: at the beginning of the world, and after one. */
  start(): void {
    const life = new Life(this)
    this.#life = life
    this.around.scheduler.note(`start ${this.name}`)
    this.#options.start(life).then(
      (services) => {
        if (!life.alive) return
        this.#failedStarts = 0
        life.services = services
      },
      (error: unknown) => {
        if (!life.alive) return
        this.around.tally.add('failed start')
        if (++this.#failedStarts > STARTS_MAX) this.#options.onGivenUp?.(error)
        else this.crash('failed-start')
      },
    )
  }

  crash(point: string): void {
    const life = this.#life
    if (life === undefined || !life.alive) return
    const { scheduler, tally } = this.around
    life.alive = false
    this.#life = undefined
    for (const call of life.calls.values()) call.cancelTimer()
    life.calls.clear()
    scheduler.note(`crash ${this.name} ${point}`)
    const power = this.#random.chance(rates.powerCut) ? 'cut' : 'kept'
    tally.add('crash/', `${this.role}:${point}`)
    tally.add(power === 'cut' ? 'fault/power-cut' : 'fault/killed')
    this.#options.onCrash?.(power)
    const { min, max } = DOWN_MICROS
    scheduler.after(this.#random.skewed(min, max), `restart ${this.name}`, () => this.start())
  }

  /** How often each crash point was passed, by its full name. */
  get passes(): readonly (readonly [string, number])[] {
    return Array.from(this.#points.values(), ({ name, passes }) => [name, passes] as const)
  }

  reach(life: Life, at: string): void {
    if (this.role === 'client') return
    const { faults, trouble, aims } = this.around
    let point = this.#points.get(at)
    if (point === undefined) this.#points.set(at, (point = { name: `${this.role}:${at}`, passes: 0 }))
    const passed = point.passes++
    if (!trouble.on || life !== this.#life) return
    if (aims?.isMet(point.name) === true) this.crash(at)
    else if (faults.has('crash') && this.#random.chance(rates.crash / (1 + passed / rates.crashPassesHalf)))
      this.crash(at)
  }
}

interface Point {
  /** With the role of the process: what the report calls it. */
  readonly name: string
  passes: number
}

/** Runs a little fast or slow, is off by some milliseconds, and may be set. */
class SkewedClock {
  #offsetMicros: number
  readonly #rate: number

  constructor(random: Random, skewed: boolean) {
    this.#offsetMicros = EPOCH_MICROS + (skewed ? random.between(-20_000, 20_000) : 0)
    this.#rate = skewed ? 1 + random.between(-200, 200) / 1e6 : 1
  }

  read(worldMicros: number): number {
    return Math.floor(this.#offsetMicros + worldMicros * this.#rate)
  }

  jump(random: Random): void {
    this.#offsetMicros += random.pick([-1, 1]) * random.skewed(1_000, 5_000_000)
  }
}

function runtimeOf(life: Life): Runtime {
  const { process } = life
  const { scheduler } = process.around
  const [timer, defer] = [`timer ${process.name}`, `defer ${process.name}`]
  return {
    clock: {
      nowMicros: () => process.nowMicros(),
      timer: (delayMs, callback) =>
        scheduler.after(delayMs * 1000, timer, () => {
          if (life.alive) callback()
        }),
    },
    randomBytes: (count) => process.random.bytes(count),
    defer: (callback) => {
      scheduler.after(1, defer, () => {
        if (life.alive) callback()
      })
    },
  }
}
