// A server writes only with a catalogue that it has read of late (point 38): whoever changes a table waits for as long as others
// may still use the shape before, and then knows that all follow the new one.
//
//   step --> confirmed less than a lease ago? --> go
//        \-> no: the catalogue is read again ----> go, with the shapes that it has now
//   step meets a row that a newer shape has written --> the catalogue is read again, and the step taken once more
//
// A lease runs from before the catalogue was read, on a clock that is not set; and ends by the other clock, too, since the one that
// is not set may stand still while the machine is suspended. A server that was frozen looks at its lease
// again before it sends anything; what was on its way already carries the version of the shape in the row that it writes, by which
// readers see that entries may be missing, and put them there.
import { WriteFailed } from '../../line/errors.js'
import { type Clock, steadyMicros } from '../../runtime/runtime.js'
import { because } from './sure-cas.js'

export const CATALOGUE_LEASE_MS = 10_000
/** How long after the lease a change that was sent in time may still arrive. */
export const LATE_STEP_MS = 20_000

/** Why a step was not taken: its shapes may be old, and newer ones could not be read. */
export class StaleCatalogue extends WriteFailed {}

export class CatalogueLease {
  readonly #clock: Clock
  readonly #leaseMicros: number
  #refresh: (() => Promise<void>) | undefined
  #until = { steadyMicros: -Infinity, wallMicros: -Infinity }
  #refreshing: Promise<void> | undefined
  /** The one behind it, for those to whom it may have begun too early. */
  #following: Promise<void> | undefined

  constructor(clock: Clock, leaseMs = CATALOGUE_LEASE_MS) {
    this.#clock = clock
    this.#leaseMicros = leaseMs * 1000
  }

  /** Who reads the catalogue. Without one the node is told of shapes by its caller alone, and all steps may go. */
  follow(refresh: () => Promise<void>): void {
    this.#refresh = refresh
  }

  /** Others may change tables. If not, what was validated with a table was so before the table was dropped. */
  get isFollowing(): boolean {
    return this.#refresh !== undefined
  }

  get isHeld(): boolean {
    return !this.isFollowing || this.#leftMicros > 0
  }

  get #leftMicros(): number {
    const { steadyMicros: steady, wallMicros } = this.#until
    return Math.min(steady - steadyMicros(this.#clock), wallMicros - this.#clock.nowMicros())
  }

  /** Undefined: go. */
  confirm(): Promise<void> | undefined {
    if (this.#refresh === undefined) return undefined
    const left = this.#leftMicros
    if (left <= 0) return this.#confirmed()
    // Before it runs out, and nobody waits for it.
    if (left <= this.#leaseMicros / 2) this.#read().catch(() => undefined)
    return undefined
  }

  /** A reading that was under way may be from before this server was frozen: then there is no lease behind it. */
  async #confirmed(): Promise<void> {
    await this.#read()
    if (this.#leftMicros <= 0) await this.renew()
  }

  /** The catalogue as it is after this call: a reading that is under way may have been answered before what the caller has met. */
  renew(): Promise<void> {
    const underWay = this.#refreshing
    if (underWay === undefined) return this.#read()
    this.#following ??= underWay
      .catch(() => undefined)
      .then(() => {
        this.#following = undefined
        return this.#read()
      })
    return this.#following
  }

  #read(): Promise<void> {
    this.#refreshing ??= this.#renew().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #renew(): Promise<void> {
    const until = {
      steadyMicros: steadyMicros(this.#clock) + this.#leaseMicros,
      wallMicros: this.#clock.nowMicros() + this.#leaseMicros,
    }
    try {
      await this.#refresh?.()
    } catch (error) {
      const sentence = `The tables may have changed, and the engine does not tell${because(error)}`
      throw new StaleCatalogue(sentence, { cause: error })
    }
    this.#until = until
  }
}
