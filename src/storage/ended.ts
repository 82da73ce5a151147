// Transactions that have ended at this node, kept for longer than any message is delayed: a prepare that arrives after
// the cancel (or the commit) of its transaction finds it here and does not lock the item again. They are kept for one to
// two epochs of the ledger, which purges them, and so by the same clock: the node's own, which never runs back.
import { epochOf } from '../ledger/record-bytes.js'
import type { TxId } from '../model/brand.js'
import type { HybridClock } from './hybrid-clock.js'
import type { Line } from './line.js'
import { endedKey } from './spaces.js'

const NOTHING = new Uint8Array(0)

export class EndedTransactions {
  readonly #line: Line
  readonly #clock: HybridClock

  constructor(line: Line, clock: HybridClock) {
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
    return epochOf(this.#clock.now())
  }
}
