// Which slots may have a completed record: a bit for each of a million groups of slots, for this epoch and the last. A
// slot whose bit is not set has none, and need not be looked for; nearly all slots are of that kind.
import type { LedgerSlot } from '../model/brand.js'

const BITS = 2 ** 20
const HEX_DIGITS = 5

export class RecentSlots {
  #epoch: number
  #current = new Uint8Array(BITS / 8)
  #previous = new Uint8Array(BITS / 8)
  /** Epochs up to this one may have records of before the start, which nobody counted. */
  readonly #unknownUpTo: number

  constructor(epoch: number, start: 'empty' | 'unknown') {
    this.#epoch = epoch
    this.#unknownUpTo = start === 'empty' ? -1 : epoch
  }

  add(slot: LedgerSlot, epoch: number): void {
    this.#advance(epoch)
    const bit = bitOf(slot)
    const bits = epoch < this.#epoch ? this.#previous : this.#current
    bits[bit >>> 3] = (bits[bit >>> 3] as number) | (1 << (bit & 7))
  }

  /** Whether the slot may have a completed record of that epoch or the one before it. */
  has(slot: LedgerSlot, epoch: number): boolean {
    this.#advance(epoch)
    if (epoch - 1 <= this.#unknownUpTo) return true
    const bit = bitOf(slot)
    const byte = (this.#current[bit >>> 3] as number) | (this.#previous[bit >>> 3] as number)
    return (byte & (1 << (bit & 7))) !== 0
  }

  #advance(epoch: number): void {
    if (epoch <= this.#epoch) return
    this.#previous = epoch === this.#epoch + 1 ? this.#current : new Uint8Array(BITS / 8)
    this.#current = new Uint8Array(BITS / 8)
    this.#epoch = epoch
  }
}

const bitOf = (slot: LedgerSlot): number => Number.parseInt(slot.slice(-HEX_DIGITS), 16)
