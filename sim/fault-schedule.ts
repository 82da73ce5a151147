// What goes wrong from outside, at times of its own: links are cut and heal, clocks are set, processes are killed where
// they stand.
import type { Network } from './network.js'
import type { SimProcess, Surroundings } from './process.js'
import type { Random } from '../src/runtime/seeded-random.js'

const MEAN_MICROS = { partition: 2_000_000, clock: 1_500_000, kill: 3_000_000 } as const
const CUT_MICROS = { min: 10_000, max: 1_500_000 }

export class Troublemaker {
  readonly #network: Network
  readonly #processes: readonly SimProcess[]
  readonly #around: Surroundings
  readonly #random: Random
  readonly #clients: readonly SimProcess[] | undefined

  /** Links between the processes are cut, or if `clients` are given those to them. */
  constructor(
    network: Network,
    processes: readonly SimProcess[],
    around: Surroundings,
    clients?: readonly SimProcess[],
  ) {
    this.#network = network
    this.#processes = processes
    this.#around = around
    this.#clients = clients
    this.#random = around.random.fork()
  }

  start(): void {
    const { faults } = this.#around
    if (faults.has('partition')) this.#again(MEAN_MICROS.partition, () => this.#cut())
    if (faults.has('clock'))
      this.#again(MEAN_MICROS.clock, () => this.#random.pick(this.#processes).jumpClock())
    if (faults.has('crash'))
      this.#again(MEAN_MICROS.kill, () => this.#random.pick(this.#processes).crash('anywhere'))
  }

  #again(meanMicros: number, act: () => void): void {
    const { scheduler, trouble } = this.#around
    scheduler.after(this.#random.between(1, 2 * meanMicros), 'trouble', () => {
      if (!trouble.on) return
      act()
      this.#again(meanMicros, act)
    })
  }

  #cut(): void {
    if (this.#clients !== undefined) {
      const cutOff = this.#random.sample(this.#clients, this.#random.between(1, this.#clients.length))
      this.#network.cut(cutOff, this.#processes, this.#cutMicros())
      return
    }
    const some = this.#random.sample(this.#processes, this.#random.between(1, 2))
    const others = this.#processes.filter((process) => !some.includes(process))
    const from = this.#random.chance(0.5) ? others : [this.#random.pick(others)]
    this.#network.cut(some, from, this.#cutMicros())
  }

  #cutMicros(): number {
    return this.#random.skewed(CUT_MICROS.min, CUT_MICROS.max)
  }
}
