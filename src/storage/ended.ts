// Transactions that have ended at this node, kept for longer than any message is delayed: a prepare that arrives after
// the cancel (or the commit) of its transaction finds it here and does not lock the item again.
//
// Time is the node's hybrid clock, which never runs back, so that a fence cannot come to stand in an epoch that is not
// looked at.
import { slotOf, type Timestamp, type TxId } from '../model/brand.js'
import { RecentSlots } from '../ledger/recent-slots.js'
import type { Line } from './line.js'
import { endedBounds, endedKey } from './spaces.js'

/** Kept for one to two epochs. */
const EPOCH_MICROS = 10 * 60 * 1_000_000
const NOTHING = new Uint8Array(0)

export class EndedTransactions {
  readonly #line: Line
  readonly #now: () => Timestamp
  readonly #recent: RecentSlots

  constructor(line: Line, now: () => Timestamp) {
    this.#line = line
    this.#now = now
    const epoch = this.#epoch()
    const [known] = line.decided.range({ ...endedBounds(epoch + 1), reverse: false })
    this.#recent = new RecentSlots(epoch, known === undefined ? 'empty' : 'unknown')
  }

  add(tx: TxId): void {
    const epoch = this.#epoch()
    this.#line.put(endedKey(epoch, tx), NOTHING)
    this.#recent.add(slotOf(tx), epoch)
  }

  find(tx: TxId): { readonly settled: Promise<void> | undefined } | undefined {
    const epoch = this.#epoch()
    if (!this.#recent.has(slotOf(tx), epoch)) return undefined
    for (const each of [epoch, epoch - 1]) {
      const key = endedKey(Math.max(0, each), tx)
      if (this.#line.decided.get(key) !== undefined) return { settled: this.#line.settledAt(key) }
    }
    return undefined
  }

  #epoch(): number {
    return Math.floor(this.#now() / EPOCH_MICROS)
  }
}
