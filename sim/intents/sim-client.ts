// A process that runs units of work, and its way to the store: requests and answers are delayed, lost and repeated, and
// the process may die before or after any request that it sends. What it had sent may still arrive.
import type { Runtime } from '../../src/runtime/runtime.js'
import type { Endpoint } from '../../src/toolkit/endpoint/endpoint.js'
import {
  type IntentsOptions,
  type IntentsProtocol,
  intentsProtocol,
} from '../../src/toolkit/intents/intents-protocol.js'
import type { Tally } from '../faults.js'
import type { Random } from '../../src/runtime/seeded-random.js'
import type { Scheduler } from '../scheduler.js'
import { type Input, Refused, type SimStore } from './sim-store.js'
import { protocolStepOf } from './steps.js'

export interface Trouble {
  /** Of a request, or of an answer, to be lost. */
  readonly loss: number
  readonly repeat: number
  readonly slow: number
  /** Of dying at a request. */
  readonly crash: number
  /** Of being told to come back later. */
  readonly busy: number
  /** Of being cut off from here on, for a while: nothing leaves, or nothing comes back. */
  readonly cut: number
}

export const CALM: Trouble = { loss: 0, repeat: 0, slow: 0, crash: 0, busy: 0, cut: 0 }

const DELAY_MICROS = { min: 200, max: 4_000 }
const SLOW_MICROS = { min: 20_000, max: 20_000_000 }
const CUT_MICROS = { min: 1_000_000, max: 60_000_000 }

export class SimClient {
  readonly name: string
  readonly protocol: IntentsProtocol
  /** Requests that met somebody else's work since it was last set to 0. */
  met = 0
  #isDead = false
  #cut: { readonly untilMicros: number; readonly loses: 'requests' | 'answers' } = {
    untilMicros: 0,
    loses: 'requests',
  }
  readonly #parts: ClientParts
  readonly #random: Random
  readonly #skewMicros: number
  readonly #died: Promise<'died'>
  #die: (word: 'died') => void = () => undefined

  constructor(name: string, parts: ClientParts, options: IntentsOptions) {
    this.name = name
    this.#parts = parts
    this.#random = parts.random.fork()
    this.#skewMicros = this.#random.between(-2_000_000, 2_000_000)
    this.#died = new Promise((resolve) => (this.#die = resolve))
    this.protocol = intentsProtocol(this.#endpoint(), this.runtime, options)
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Settles when it dies. */
  get died(): Promise<'died'> {
    return this.#died
  }

  get random(): Random {
    return this.#random
  }

  readonly runtime: Runtime = {
    clock: {
      nowMicros: () => 1_700_000_000_000_000 + this.#parts.scheduler.nowMicros + this.#skewMicros,
      timer: (delayMs, callback) =>
        this.#parts.scheduler.after(delayMs * 1000, 'timer', () => {
          if (!this.#isDead) callback()
        }),
    },
    randomBytes: (count) => this.#random.bytes(count),
    defer: (callback) => void this.#parts.scheduler.after(0, 'defer', callback),
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.runtime.clock.timer(ms, resolve))
  }

  #endpoint(): Endpoint {
    return {
      call: (operation, input) => this.#call(operation, input as unknown as Input) as Promise<never>,
      extension: () => Promise.reject(new Refused('UnknownOperationException')),
    }
  }

  #call(operation: string, input: Input): Promise<unknown> {
    const { scheduler, trouble, tally } = this.#parts
    const step = protocolStepOf(operation, input)
    tally.add('step/', step)
    return new Promise((resolve, reject) => {
      if (this.#isDead) return
      const { repeat, crash, busy, cut } = trouble()
      if (this.#random.chance(cut)) this.#cutOff(step)
      const dies = this.#random.chance(crash)
      if (dies && this.#random.chance(0.5)) return this.#crash(step, 'before')
      if (this.#random.chance(busy)) {
        tally.add('fault/busy')
        scheduler.after(this.#delay(), 'busy', () => {
          if (!this.#isDead) reject(new Refused('ThrottlingException'))
        })
        return
      }
      const arrive = (answer: (settle: () => void) => void): void => {
        try {
          this.#execute(operation, input, (output) => answer(() => resolve(output)))
        } catch (error) {
          if (!(error instanceof Refused)) {
            this.#parts.broken(error)
            return
          }
          if (error.name !== 'UnknownOperationException') this.met++
          answer(() => reject(error))
        }
      }
      if (isWrite(operation) && this.#random.chance(repeat)) {
        tally.add('repeated/', step)
        scheduler.after(this.#delay() + this.#random.skewed(1, SLOW_MICROS.max), 'repeated', () =>
          arrive(() => undefined),
        )
      }
      if (this.#loses('requests')) {
        tally.add('lost request/', step)
      } else {
        const lostAnswer = this.#loses('answers')
        if (lostAnswer) tally.add('lost answer/', step)
        scheduler.after(this.#delay(), step, () =>
          arrive((settle) => {
            if (lostAnswer) return
            scheduler.after(this.#delay(), 'answer', () => {
              if (!this.#isDead) settle()
            })
          }),
        )
      }
      if (dies) this.#crash(step, 'after')
    })
  }

  /** Of a batch each item is read at a moment of its own. */
  #execute(operation: string, input: Input, done: (output: object) => void): void {
    const { scheduler, store } = this.#parts
    const wanted = input['RequestItems'] as Record<string, { readonly Keys: readonly object[] }> | undefined
    const [table, { Keys = [] } = {}] = Object.entries(wanted ?? {})[0] ?? []
    if (operation !== 'BatchGetItem' || table === undefined || Keys.length < 2)
      return done(store.execute(operation, input))
    const at = this.#random.between(1, Keys.length - 1)
    const part = (keys: readonly object[]): object[] => {
      const output = store.execute(operation, { RequestItems: { [table]: { Keys: keys } } })
      return (output as { Responses: Record<string, object[]> }).Responses[table]!
    }
    const first = part(Keys.slice(0, at))
    scheduler.after(this.#random.below(DELAY_MICROS.max), 'batch', () =>
      done({ Responses: { [table]: [...first, ...part(Keys.slice(at))] } }),
    )
  }

  #loses(what: 'requests' | 'answers'): boolean {
    const { scheduler, trouble } = this.#parts
    const { loss } = trouble()
    if (loss === 0) return false
    const { untilMicros, loses } = this.#cut
    return (scheduler.nowMicros < untilMicros && loses === what) || this.#random.chance(loss)
  }

  #cutOff(step: string): void {
    const { scheduler, tally } = this.#parts
    tally.add('cut off/', step)
    const untilMicros = scheduler.nowMicros + this.#random.skewed(CUT_MICROS.min, CUT_MICROS.max)
    this.#cut = { untilMicros, loses: this.#random.pick(['requests', 'answers']) }
  }

  #crash(step: string, when: string): void {
    this.#parts.tally.add(`crash/${step} ${when}`)
    this.kill()
  }

  kill(): void {
    this.#isDead = true
    this.#die('died')
  }

  #delay(): number {
    const { slow } = this.#parts.trouble()
    if (!this.#random.chance(slow)) return this.#random.skewed(DELAY_MICROS.min, DELAY_MICROS.max)
    this.#parts.tally.add('fault/slow')
    return this.#random.skewed(SLOW_MICROS.min, SLOW_MICROS.max)
  }
}

const isWrite = (operation: string): boolean =>
  ['PutItem', 'UpdateItem', 'DeleteItem', 'TransactWriteItems'].includes(operation)

export interface ClientParts {
  readonly scheduler: Scheduler
  readonly store: SimStore
  readonly random: Random
  readonly tally: Tally
  readonly trouble: () => Trouble
  /** The endpoint refused something that it should never be asked. */
  readonly broken: (error: unknown) => void
}
