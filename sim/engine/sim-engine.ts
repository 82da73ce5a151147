// A simulated engine: the one in memory, behind a network that loses and delays, with replicas that are behind or frozen.
//
//   server --call--> request leg --> carried out in one turn --> answer leg --> server
//                       |   \--> lost: never carried out            \--> lost: carried out, unknown
//                       \------> late: carried out long after the server was told that it is unknown
//
//   a majority of replicas frozen: what arrives waits until it is not, time-outs run meanwhile
//   eventual reads: one replica, as it was a while ago
//
// Every server has a view of its own, and what it waits for ends with it: a crash, or a freeze (server.ts).
import {
  type CasOutcome,
  type Consistency,
  type Engine,
  type EngineRow,
  type PartitionRange,
  type PlainOutcome,
  type PlainWrite,
  type RowAddress,
  type RowChange,
  type RowPage,
  type SpaceRange,
  EngineUnavailable,
  SpaceMissing,
} from '../../src/engine/engine.js'
import { MemoryEngine } from '../../src/engine/memory-engine.js'
import type { Random } from '../../src/runtime/seeded-random.js'
import type { Scheduler } from '../scheduler.js'

export interface EngineFaults {
  readonly lostRequests: number
  readonly lostAnswers: number
  readonly late: number
  readonly unavailable: number
  /** A host that was away when a table was made, and does not know of it. */
  readonly ignorant: number
}

export const TIMEOUT_MICROS = 500_000
/** How long a step may be on its way. Servers wait for longer before they rely on nobody's being behind. */
export const LATE_MICROS_MAX = 4_000_000
const LEG_MICROS = { min: 100, max: 8000 }
const BEHIND_MICROS_MAX = 3_000_000

export interface SimEngineParts {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly faults: EngineFaults
  /** While nothing is wrong no fault is made. */
  readonly trouble: { on: boolean }
  readonly tally: (what: string) => void
}

interface OldRow {
  readonly atMicros: number
  readonly row: EngineRow | undefined
}

/** What all views share. */
export class SimRing {
  readonly core = new MemoryEngine()
  readonly parts: SimEngineParts
  readonly #old = new Map<string, OldRow[]>()
  #frozenUntilMicros = 0
  /** Told of rows as steps leave them. */
  onApplied: (rows: readonly (EngineRow | undefined)[]) => void = () => undefined

  constructor(parts: SimEngineParts) {
    this.parts = parts
  }

  /** Most of its replicas do not answer for so long. */
  freeze(micros: number): void {
    this.#frozenUntilMicros = this.parts.scheduler.nowMicros + micros
    this.parts.tally('frozen majority')
  }

  get frozenMicros(): number {
    return Math.max(0, this.#frozenUntilMicros - this.parts.scheduler.nowMicros)
  }

  cas(changes: readonly RowChange[]): CasOutcome {
    const outcome = this.core.casNow(changes)
    if (outcome.outcome === 'applied') {
      this.parts.tally('applied')
      this.onApplied(changes.map(({ address }) => this.#remember(address)))
    }
    return outcome
  }

  #remember(address: RowAddress): EngineRow | undefined {
    const row = this.core.rowNow(address)
    const place = placeOf(address)
    const old = this.#old.get(place) ?? []
    old.push({ atMicros: this.parts.scheduler.nowMicros, row })
    if (old.length > 20) old.shift()
    this.#old.set(place, old)
    return row
  }

  /** As a replica has it that is so far behind. */
  async replica(address: RowAddress, behindMicros: number): Promise<EngineRow | undefined> {
    const at = this.parts.scheduler.nowMicros - behindMicros
    const old = this.#old.get(placeOf(address))
    if (old === undefined) return (await this.core.read([address], 'consistent'))[0]
    return old.findLast(({ atMicros }) => atMicros <= at)?.row
  }
}

const placeOf = ({ space, partition, row }: RowAddress): string => `${space}/${partition}/${row}`

/** What a server has of time: nothing of it happens while it is frozen, nor after its end. */
export interface EngineUser {
  readonly name: string
  /** Calls back after so long, or when it is no longer frozen; never if it has ended. */
  after(micros: number, label: string, action: () => void): () => void
}

export class SimEngine implements Engine {
  readonly name = 'simulated'
  readonly limits = { casRowsMax: 100, casBytesMax: 1024 * 1024, cellBytesMax: 1024 * 1024 }
  readonly #ring: SimRing
  readonly #user: EngineUser

  constructor(ring: SimRing, user: EngineUser) {
    this.#ring = ring
    this.#user = user
  }

  scopeOf(address: RowAddress): string {
    return this.#ring.core.scopeOf(address)
  }

  cas(changes: readonly RowChange[]): Promise<CasOutcome> {
    const cause = new Error('no answer in time')
    const unknown = { outcome: 'unknown', cause } as const
    return this.#step<CasOutcome>(changes[0]?.address.space, () => this.#ring.cas(changes), unknown)
  }

  write(rows: readonly PlainWrite[]): Promise<PlainOutcome> {
    const cause = new Error('no answer in time')
    return this.#step<PlainOutcome>(
      rows[0]?.address.space,
      () => {
        // In this turn; it rejects where a space is missing.
        void this.#ring.core.write(rows).catch(() => undefined)
        return { outcome: 'applied' }
      },
      { outcome: 'unknown', cause },
    )
  }

  /** A call with an effect: it may be unknown, and come late. */
  #step<T extends { readonly outcome: string }>(
    space: string | undefined,
    carryOut: () => T,
    unknown: T,
  ): Promise<T> {
    const { random, scheduler, faults, trouble, tally } = this.#ring.parts
    return new Promise((resolve, reject) => {
      const isTrouble = trouble.on
      if (this.#isIgnorant(space, reject)) return
      if (isTrouble && random.chance(faults.unavailable)) {
        this.#user.after(leg(random), 'unavailable', () => reject(new EngineUnavailable('no host answers')))
        return
      }
      const isLost = isTrouble && random.chance(faults.lostRequests)
      const isMute = isTrouble && random.chance(faults.lostAnswers)
      const isLate = isTrouble && !isLost && random.chance(faults.late)
      const cancel = this.#user.after(TIMEOUT_MICROS, 'time-out', () => {
        tally('unknown')
        resolve(unknown)
      })
      if (isLost) return
      const legMicros = isLate ? TIMEOUT_MICROS + random.below(LATE_MICROS_MAX) : leg(random)
      const arrive = (): void => {
        const { frozenMicros } = this.#ring
        if (frozenMicros > 0) {
          scheduler.after(frozenMicros + leg(random), 'thawed', arrive)
          return
        }
        if (isLate) tally('applied late')
        let answer: T
        try {
          answer = carryOut()
        } catch (error) {
          if (!isMute)
            this.#user.after(leg(random), 'answer', () => {
              cancel()
              reject(error)
            })
          return
        }
        if (isMute) return
        this.#user.after(leg(random), 'answer', () => {
          cancel()
          resolve(answer)
        })
      }
      scheduler.after(legMicros, `engine ${this.#user.name}`, arrive)
    })
  }

  read(
    addresses: readonly RowAddress[],
    consistency: Consistency,
  ): Promise<readonly (EngineRow | undefined)[]> {
    const { random } = this.#ring.parts
    const space = addresses[0]?.space
    if (consistency === 'consistent')
      return this.#look(space, () => this.#ring.core.read(addresses, consistency))
    const behind = random.below(BEHIND_MICROS_MAX)
    return this.#look(space, () =>
      Promise.all(addresses.map((address) => this.#ring.replica(address, behind))),
    )
  }

  range(request: PartitionRange | SpaceRange): Promise<RowPage> {
    return this.#look(request.space, () => this.#ring.core.range(request))
  }

  /** Hosts that know nothing of tables know the ledger and the catalogue. */
  #isIgnorant(space: string | undefined, reject: (error: Error) => void): boolean {
    const { random, faults, trouble } = this.#ring.parts
    const mayBe = trouble.on && faults.ignorant > 0 && space?.startsWith('t') === true
    if (!mayBe || !random.chance(faults.ignorant)) return false
    this.#user.after(leg(random), 'ignorant', () =>
      reject(new SpaceMissing(`there is no space ${space} at this host`)),
    )
    return true
  }

  /** A call without an effect. */
  #look<T>(space: string | undefined, carryOut: () => Promise<T>): Promise<T> {
    const { random, scheduler, faults, trouble } = this.#ring.parts
    return new Promise((resolve, reject) => {
      if (this.#isIgnorant(space, reject)) return
      const isLost = trouble.on && random.chance(faults.lostRequests + faults.lostAnswers)
      const cancel = this.#user.after(TIMEOUT_MICROS, 'time-out', () =>
        reject(new EngineUnavailable('no answer')),
      )
      if (isLost) return
      const arrive = (): void => {
        const { frozenMicros } = this.#ring
        if (frozenMicros > 0) {
          scheduler.after(frozenMicros + leg(random), 'thawed', arrive)
          return
        }
        carryOut().then(
          (answer) =>
            this.#user.after(leg(random), 'answer', () => {
              cancel()
              resolve(answer)
            }),
          (error: unknown) =>
            this.#user.after(leg(random), 'answer', () => {
              cancel()
              reject(error)
            }),
        )
      }
      scheduler.after(leg(random), `engine ${this.#user.name}`, arrive)
    })
  }

  createSpace(space: string): Promise<void> {
    return this.#ring.core.createSpace(space)
  }

  dropSpace(space: string): Promise<void> {
    return this.#ring.core.dropSpace(space)
  }

  close(): Promise<void> {
    return Promise.resolve()
  }
}

const leg = (random: Random): number => random.skewed(LEG_MICROS.min, LEG_MICROS.max)
