// The way from a process to the table and back: requests and answers are delayed, lost and repeated, and a process may be
// stopped or killed between any two of its steps.
import type { Endpoint } from '../../src/toolkit/endpoint/endpoint.js'
import type { Item } from '../../src/model/value.js'
import type { Random } from '../../src/runtime/seeded-random.js'
import type { Scheduler } from '../scheduler.js'
import type { SimProcess } from './sim-process.js'
import { Refused, type Request, type SimTable } from './sim-table.js'

export interface NetworkFaults {
  /** Of a request or an answer to be lost. */
  readonly loss: number
  /** Of a write to arrive a second time. */
  readonly repeat: number
  /** Of a request to take very long. */
  readonly slow: number
  /** How long at most. */
  readonly slowMicrosMax: number
  /** Of a process to be cut off for several times that, after an answer to it was slow. */
  readonly fade: number
  /** Of being stopped just before a request leaves, or an answer is seen. */
  readonly stop: number
  readonly stopMicrosMax: number
  /** Of being killed there. */
  readonly kill: number
  /** Whether items of a query may be read at different moments. */
  readonly tornQueries: boolean
  /** The usual time on the way: each doubling up to it is as likely as the next. */
  readonly delayMicrosMax: number
}

/** Told of what a process sends and of when it has its effect. */
export interface Witness {
  sending(process: SimProcess, request: Request): void
  /** Called around the write. */
  writing(process: SimProcess, request: Request, write: () => object): object
  reading(process: SimProcess, request: Request): void
}

const DELAY_MICROS_MIN = 300
const FADES_FACTOR = 5
const STOP_MICROS_MIN = 20_000

export class SimNetwork {
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #table: SimTable
  readonly #witness: Witness
  readonly #canWake: boolean
  #faults: NetworkFaults
  readonly #waits = new Set<{ readonly input: Request['input']; readonly wake: () => void }>()

  constructor(
    scheduler: Scheduler,
    random: Random,
    table: SimTable,
    witness: Witness,
    faults: NetworkFaults,
    wake: 'wakes' | 'polls',
  ) {
    this.#scheduler = scheduler
    this.#random = random.fork()
    this.#table = table
    this.#witness = witness
    this.#faults = faults
    this.#canWake = wake === 'wakes'
  }

  /** No further trouble. */
  calm(): void {
    this.#faults = { ...this.#faults, loss: 0, repeat: 0, slow: 0, fade: 0, stop: 0, kill: 0 }
  }

  endpointOf(process: SimProcess): Endpoint {
    return {
      call: (operation, input) =>
        this.#call(process, { operation, input: input as unknown as Request['input'] }) as Promise<never>,
      extension: (operation, input) => this.#wait(process, { operation, input: input as Request['input'] }),
    }
  }

  /** Something else that takes a while on the network, to whatever it is for. */
  send(process: SimProcess, label: string, deliver: () => void): void {
    this.#leave(process, () => {
      if (!this.#loses(process)) this.#scheduler.after(this.#delay(), label, deliver)
    })
  }

  #call(process: SimProcess, request: Request): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const answer = (settle: () => void): void => this.#answer(process, settle)
      this.#witness.sending(process, request)
      this.#leave(process, () => {
        const writes = request.operation.endsWith('Item') && request.operation !== 'GetItem'
        if (writes && this.#random.chance(this.#faults.repeat))
          this.#scheduler.after(this.#repeatDelay(), 'repeated', () =>
            this.#apply(
              process,
              request,
              () => undefined,
              () => undefined,
            ),
          )
        if (this.#loses(process)) return
        this.#scheduler.after(this.#delay(), request.operation, () =>
          this.#apply(
            process,
            request,
            (value) => answer(() => resolve(value)),
            (error) => answer(() => reject(error)),
          ),
        )
      })
    })
  }

  #apply(
    process: SimProcess,
    request: Request,
    done: (value: object) => void,
    refused: (error: Error) => void,
  ): void {
    const { operation, input } = request
    if (operation === 'Query' || operation === 'Scan') {
      this.#witness.reading(process, request)
      const first = this.#table.range(request)
      if (!this.#faults.tornQueries) return done({ Items: [...first.values()] })
      this.#scheduler.after(this.#random.between(0, 2 * this.#faults.delayMicrosMax), 'read', () =>
        done({ Items: this.#torn(first, this.#table.range(request)) }),
      )
    } else if (operation === 'GetItem') {
      const item = this.#table.get(input['Key'] as Item)
      done(item === undefined ? {} : { Item: item })
    } else {
      try {
        const value = this.#witness.writing(process, request, () => this.#table.write(request))
        this.#wakeWaits()
        done(value)
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        refused(error)
      }
    }
  }

  /** Each item as it was at one of the two moments. */
  #torn(first: ReadonlyMap<string, Item>, second: ReadonlyMap<string, Item>): Item[] {
    const keys = [...new Set([...first.keys(), ...second.keys()])].toSorted()
    return keys.map((key) => this.#random.pick([first, second]).get(key)).filter((item) => item !== undefined)
  }

  #wait(process: SimProcess, { operation, input }: Request): Promise<unknown> {
    if (!this.#canWake) return Promise.reject(new Refused('UnknownOperationException'))
    if (operation === 'UnitOutcome') return Promise.resolve({ Outcome: 'UNKNOWN' })
    return new Promise((resolve) => {
      this.#leave(process, () => {
        if (this.#loses(process)) return
        this.#scheduler.after(this.#delay(), 'wait', () => {
          const end = (met: boolean): void => {
            this.#waits.delete(wait)
            cancel()
            this.#answer(process, () => resolve({ Met: met }))
          }
          const wait = { input, wake: () => end(true) }
          const cancel = this.#scheduler.after((input['TimeoutMs'] as number) * 1000, 'wait over', () =>
            end(false),
          )
          this.#waits.add(wait)
          if (this.#table.meets(input)) end(true)
        })
      })
    })
  }

  #wakeWaits(): void {
    for (const wait of this.#waits) if (this.#table.meets(wait.input)) wait.wake()
  }

  /** The process is about to send: the last moment before is where it stops or dies. */
  #leave(process: SimProcess, send: () => void): void {
    if (this.#random.chance(this.#faults.kill)) process.kill()
    this.#maybeStop(process)
    process.run(send)
  }

  #answer(process: SimProcess, settle: () => void): void {
    if (this.#loses(process)) return
    const delayMicros = this.#delay()
    this.#scheduler.after(delayMicros, 'answer', () => {
      // A link that was slow may be the next to fail.
      const { fade, slowMicrosMax, delayMicrosMax } = this.#faults
      if (delayMicros > delayMicrosMax && this.#random.chance(fade))
        process.cutOff(FADES_FACTOR * slowMicrosMax)
      if (this.#random.chance(this.#faults.kill)) process.kill()
      this.#maybeStop(process)
      process.run(settle)
    })
  }

  #loses(process: SimProcess): boolean {
    return process.cut || this.#random.chance(this.#faults.loss)
  }

  /** A request that is repeated on its way may come much later than it should. */
  #repeatDelay(): number {
    const { slowMicrosMax, delayMicrosMax } = this.#faults
    return this.#delay() + this.#random.skewed(delayMicrosMax, slowMicrosMax)
  }

  #maybeStop(process: SimProcess): void {
    if (this.#random.chance(this.#faults.stop))
      process.stop(this.#random.skewed(STOP_MICROS_MIN, this.#faults.stopMicrosMax))
  }

  #delay(): number {
    const { slow, slowMicrosMax, delayMicrosMax } = this.#faults
    if (this.#random.chance(slow)) return this.#random.between(delayMicrosMax, slowMicrosMax)
    return this.#random.skewed(DELAY_MICROS_MIN, delayMicrosMax)
  }
}
