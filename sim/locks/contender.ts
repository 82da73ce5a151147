// A user of locks: acquires, works on what they protect, releases; patient or not.
import { locks, type Locks, type LocksOptions } from '../../src/toolkit/locks/locks.js'
import type { Lock } from '../../src/toolkit/locks/lock.js'
import { LockTimeout } from '../../src/toolkit/endpoint/errors.js'
import type { Judge } from './judge.js'
import type { SimNetwork } from './sim-endpoint.js'
import type { SimProcess } from './sim-process.js'

export interface Habits {
  /** `tries`: never waits; `impatient`: a fraction of a lease, each time as a new process would; until it has it. */
  readonly patience: 'waits' | 'gives-up' | 'impatient' | 'tries'
  readonly rounds: number
  readonly names: readonly string[]
  readonly namesMax: number
  readonly sharedChance: number
  /** How many may hold a name at once; some who ask differ, as after a change of configuration. */
  readonly limits: readonly number[]
  readonly leaseMs: number
  readonly holdMsMax: number
  /** Between two tries of one that gave up. */
  readonly pauseMsMax: number
  readonly manualChance: number
}

export interface Surroundings {
  readonly network: SimNetwork
  readonly judge: Judge
}

const TABLE = 'Locks'

export class Contender {
  readonly process: SimProcess
  readonly #habits: Habits
  readonly #around: Surroundings
  #done = false
  #failed: unknown
  /** Tickets drawn again in the acquire that goes on. */
  #drawnAgain = 0
  drawnAgainMax = 0

  constructor(process: SimProcess, habits: Habits, around: Surroundings) {
    this.process = process
    this.#habits = habits
    this.#around = around
  }

  get over(): boolean {
    return this.#done || this.process.dead
  }
  get failed(): unknown {
    return this.#failed
  }

  start(): void {
    void this.#live().then(
      () => (this.#done = true),
      (error: unknown) => {
        this.#failed = error
        this.#done = true
      },
    )
  }

  async #live(): Promise<void> {
    const { random } = this.process
    let client = this.#client()
    for (let round = 0; round < this.#habits.rounds; round++) {
      const names = random.sample(this.#habits.names, random.between(1, this.#habits.namesMax))
      const shared = random.chance(this.#habits.sharedChance)
      const options = {
        shared,
        limit: shared ? 1 : random.pick(this.#habits.limits),
        heartbeat: random.chance(this.#habits.manualChance) ? ('manual' as const) : ('automatic' as const),
      }
      for (;;) {
        this.#drawnAgain = 0
        const lock = await this.#acquire(client, names, options)
        this.drawnAgainMax = Math.max(this.drawnAgainMax, this.#drawnAgain)
        if (lock !== undefined) {
          await this.#work(lock)
          break
        }
        this.#around.judge.count('gave up')
        if (this.#habits.patience === 'gives-up') break
        await this.#pause(random.between(1, this.#habits.pauseMsMax))
        // Each try is another process, which remembers nothing.
        if (this.#habits.patience === 'impatient') client = this.#client()
      }
      await this.#pause(random.between(0, this.#habits.holdMsMax))
    }
  }

  #client(): Locks {
    const { leaseMs } = this.#habits
    const options: LocksOptions = {
      table: TABLE,
      leaseMs,
      pollMs: leaseMs / 20,
      pollMaxMs: leaseMs / 2,
      runtime: this.process.runtime,
      onEvent: ({ type }) => {
        this.#around.judge.count(`event ${type}`)
        if (type === 'drawn-again') this.#drawnAgain++
      },
    }
    return locks(this.#around.network.endpointOf(this.process), options)
  }

  async #acquire(
    client: Locks,
    names: readonly string[],
    options: {
      readonly shared: boolean
      readonly limit: number
      readonly heartbeat: 'automatic' | 'manual'
    },
  ): Promise<Lock | undefined> {
    const { patience, leaseMs } = this.#habits
    const { random } = this.process
    const waitMs = {
      waits: Infinity,
      'gives-up': random.between(1, leaseMs * 3),
      impatient: random.between(leaseMs / 10, leaseMs / 3),
      tries: 0,
    }[patience]
    for (;;) {
      try {
        return await client.acquire(names, { waitMs, ...options })
      } catch (error) {
        if (error instanceof LockTimeout) return undefined
        // The endpoint was out of reach for longer than the client tries.
        if ((error as Error).name !== 'TimeoutError') throw error
        if (patience === 'gives-up') return undefined
        this.#around.judge.count('endpoint out of reach')
        await this.#pause(leaseMs)
      }
    }
  }

  /** Writes that carry the fence, until it is done or told that the lock is lost. */
  async #work(lock: Lock): Promise<void> {
    const { network, judge } = this.#around
    const { random } = this.process
    const believer = judge.acquired(this.process, lock)
    const writes = random.between(1, 4)
    for (let write = 0; write < writes; write++) {
      if (lock.signal.aborted) break
      for (const name of lock.names)
        network.send(this.process, 'protected write', () => judge.protectedWrite(believer, name))
      await this.#pause(random.between(0, this.#habits.holdMsMax / writes))
    }
    judge.left(believer)
    await lock.release().catch(() => undefined)
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => this.process.runtime.clock.timer(ms, resolve))
  }
}
