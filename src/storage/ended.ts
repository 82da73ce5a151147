// Transactions that have ended at this node, kept for longer than any message is delayed: a prepare that arrives after
// the cancel (or the commit) of its transaction finds it here and does not lock the item again.
import type { TxId } from '../model/brand.js'
import type { Clock } from '../runtime/runtime.js'
import type { Line } from './line.js'
import { endedKey } from './spaces.js'

/** Kept for one to two epochs. */
const EPOCH_MICROS = 10 * 60 * 1_000_000
const NOTHING = new Uint8Array(0)

export class EndedTransactions {
  readonly #line: Line
  readonly #clock: Clock

  constructor(line: Line, clock: Clock) {
    this.#line = line
    this.#clock = clock
  }

  add(tx: TxId): void {
    this.#line.put(endedKey(this.#epoch(), tx), NOTHING)
  }

  find(tx: TxId): { readonly settled: Promise<void> | undefined } | undefined {
    const epoch = this.#epoch()
    for (const each of [epoch, epoch - 1]) {
      const key = endedKey(Math.max(0, each), tx)
      if (this.#line.decided.get(key) !== undefined) return { settled: this.#line.settledAt(key) }
    }
    return undefined
  }

  #epoch(): number {
    return Math.floor(this.#clock.nowMicros() / EPOCH_MICROS)
  }
}
