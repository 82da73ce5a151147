// Slots of the ledger, and the ids of transactions in them.
//
//   32 digits: where it lives (8) | the time (14) | chance (10)      without a token
//   32 digits of a digest of the token                               with one
//   a transaction's id: its slot, and 16 digits that make the attempt unique
import { createHash } from 'node:crypto'
import { type LedgerSlot, type TxId, ledgerSlot, txId } from '../model/brand.js'
import type { Runtime } from '../runtime/runtime.js'
import type { Placement } from './placement.js'

/** Where the ledger keeps the transactions of a client token. */
export const tokenSlot = (token: string): LedgerSlot =>
  ledgerSlot(createHash('sha256').update(token).digest('hex').slice(0, 32))

const PLACE_DIGITS = 8
const TIME_DIGITS = 14
const DRAWS_MAX = 200
/** Odd, and about 2^32 divided by the golden ratio: a few steps reach every part of the range and every remainder. */
const STEP = 0x9e3779b1

/**
 * Slots for transactions without a token. Those of one coordinator at one node follow each other, and so do their records
 * in the node's index: many share a page.
 */
export class Slots {
  readonly #runtime: Runtime
  readonly #placement: Pick<Placement, 'ledgerNodeOf'>
  /** The digits that lead to each node. */
  readonly #places = new Map<number, string>()

  constructor(runtime: Runtime, placement: Pick<Placement, 'ledgerNodeOf'>) {
    this.#runtime = runtime
    this.#placement = placement
  }

  /** A new slot, if possible one whose record that node keeps. */
  at(node: number): LedgerSlot {
    const micros = Math.max(0, Math.floor(this.#runtime.clock.nowMicros()))
    const time = micros.toString(16).padStart(TIME_DIGITS, '0').slice(-TIME_DIGITS)
    return (this.#placeOf(node) + time + hex(this.#runtime, 5)) as LedgerSlot
  }

  #placeOf(node: number): string {
    const known = this.#places.get(node)
    if (known !== undefined) return known
    let place = hex(this.#runtime, PLACE_DIGITS / 2)
    const rest = '0'.repeat(32 - PLACE_DIGITS)
    const leadsThere = (): boolean => this.#placement.ledgerNodeOf((place + rest) as LedgerSlot) === node
    for (let draws = 1; draws < DRAWS_MAX && !leadsThere(); draws++) {
      const next = (Number.parseInt(place, 16) + STEP) >>> 0
      place = next.toString(16).padStart(PLACE_DIGITS, '0')
    }
    this.#places.set(node, place)
    return place
  }
}

/** A transaction that nobody will ever look for. */
export function passingAttempt(runtime: Runtime): TxId {
  const digits = hex(runtime, 24)
  return txId(digits.slice(0, 32) as LedgerSlot, digits.slice(32))
}

/** One more attempt in a slot: unique for ever. */
export const newAttempt = (runtime: Runtime, slot: LedgerSlot): TxId => txId(slot, hex(runtime, 8))

function hex(runtime: Runtime, count: number): string {
  const { buffer, byteOffset } = runtime.randomBytes(count)
  return Buffer.from(buffer, byteOffset, count).toString('hex')
}
