// Which slots may have a completed record: a bit for each of many groups of slots (a million, unless told otherwise), for this epoch and the last. A
// slot whose bit is not set has none, and need not be looked for; nearly all slots are of that kind.
import type { LedgerSlot } from '../model/brand.js'
import type { Knobs } from '../model/knobs.js'

export type LedgerKnobs = Pick<Knobs, 'epochMicros' | 'recentSlotDigits'>

export class RecentSlots {
  #epoch: number
  readonly #digits: number
  readonly #bytes: number
  /** Each is made with its first slot: nodes that never see a transaction do without, as most forks of a store. */
  #current: Uint8Array | undefined
  #previous: Uint8Array | undefined
  /** Epochs up to this one may have records of before the start, which nobody counted. */
  readonly #unknownUpTo: number

  /** `digits`: of a slot's hexadecimal ones, from the end, those which tell its group. */
  constructor(epoch: number, start: 'empty' | 'unknown', digits: number) {
    this.#epoch = epoch
    this.#digits = digits
    this.#bytes = 16 ** digits / 8
    this.#unknownUpTo = start === 'empty' ? -1 : epoch
  }

  add(slot: LedgerSlot, epoch: number): void {
    this.#advance(epoch)
    const bit = this.#bitOf(slot)
    const bits =
      epoch < this.#epoch
        ? (this.#previous ??= new Uint8Array(this.#bytes))
        : (this.#current ??= new Uint8Array(this.#bytes))
    bits[bit >>> 3] = (bits[bit >>> 3] as number) | (1 << (bit & 7))
  }

  /** Whether the slot may have a completed record of that epoch or the one before it. */
  has(slot: LedgerSlot, epoch: number): boolean {
    this.#advance(epoch)
    if (epoch - 1 <= this.#unknownUpTo) return true
    const bit = this.#bitOf(slot)
    const byte = (this.#current?.[bit >>> 3] ?? 0) | (this.#previous?.[bit >>> 3] ?? 0)
    return (byte & (1 << (bit & 7))) !== 0
  }

  #advance(epoch: number): void {
    if (epoch <= this.#epoch) return
    this.#previous = epoch === this.#epoch + 1 ? this.#current : undefined
    this.#current = undefined
    this.#epoch = epoch
  }

  #bitOf(slot: LedgerSlot): number {
    return Number.parseInt(slot.slice(-this.#digits), 16)
  }
}
