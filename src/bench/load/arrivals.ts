// When requests are meant to start. Closed: each client sends its next request once the last one is answered. Open: at a
// fixed rate, whatever the server does; a request that finds no free connection waits, and its latency counts from the
// moment it was meant to start. Otherwise a server that stalls would be asked less while it does, and the stall would be
// counted once instead of for everyone who would have come meanwhile (coordinated omission).
//
//   free lanes ----\
//                   +--> next(now): { lane, intended } or nothing is due, or nobody is free
//   arrivals ------/
//   answered(lane, now): the lane is free
//
// Pure: the clock is whatever the caller says it is.
import type { Random } from '../../runtime/seeded-random.js'

export type Spacing = 'even' | 'poisson'

/** The times of an open loop, one after another. */
export class Arrivals {
  readonly #spacingMicros: number
  readonly #random: Random | undefined
  #nextMicros: number

  /** `random`: gaps as of many independent clients (a Poisson process); without it they are all the same. */
  constructor(startMicros: number, perSecond: number, random?: Random) {
    if (!(perSecond > 0)) throw new RangeError(`a rate of ${perSecond} requests a second`)
    this.#spacingMicros = 1e6 / perSecond
    this.#random = random
    this.#nextMicros = startMicros
  }

  get nextMicros(): number {
    return this.#nextMicros
  }

  take(): number {
    const taken = this.#nextMicros
    const gap = this.#random === undefined ? 1 : -Math.log(1 - this.#random.fraction())
    this.#nextMicros = taken + gap * this.#spacingMicros
    return taken
  }
}

export interface Start {
  readonly lane: number
  /** When it was meant to start; its latency counts from here. */
  readonly intendedMicros: number
}

/** Gives due arrivals to free lanes, in order. */
export class OpenLoop {
  readonly #arrivals: Arrivals
  readonly #endMicros: number
  readonly #free: number[]

  constructor(arrivals: Arrivals, lanes: number, endMicros: number) {
    this.#arrivals = arrivals
    this.#endMicros = endMicros
    this.#free = Array.from({ length: lanes }, (_, lane) => lanes - 1 - lane)
  }

  /** The next request that is to be sent now, if one is due and a lane is free. */
  next(nowMicros: number): Start | undefined {
    const { nextMicros } = this.#arrivals
    if (nextMicros > nowMicros || nextMicros >= this.#endMicros) return undefined
    const lane = this.#free.pop()
    return lane === undefined ? undefined : { lane, intendedMicros: this.#arrivals.take() }
  }

  answered(lane: number): void {
    this.#free.push(lane)
  }

  get hasFreeLane(): boolean {
    return this.#free.length > 0
  }

  /** When there may be something to do without an answer coming first; undefined: never again. */
  get wakeMicros(): number | undefined {
    const { nextMicros } = this.#arrivals
    return nextMicros < this.#endMicros && this.hasFreeLane ? nextMicros : undefined
  }

  /** Arrivals that were due until the end and were never sent. */
  countUnsent(): number {
    let unsent = 0
    while (this.#arrivals.nextMicros < this.#endMicros) {
      this.#arrivals.take()
      unsent++
    }
    return unsent
  }
}
