// Transactions that have ended at this node, kept for longer than any message is delayed: a prepare that arrives after
// the cancel (or the commit) of its transaction finds it here and does not lock the item again. They are kept for one to
// two epochs of the ledger, which purges them, and so by the same clock: the node's own, which never runs back.
import { slotOf, type TxId } from '../../model/brand.js'
import { knobs } from '../../model/knobs.js'
import { type LedgerKnobs, RecentSlots } from '../../ledger/recent-slots.js'
import { epochOf } from '../../ledger/record-bytes.js'
import type { HybridClock } from '../../line/hybrid-clock.js'
import type { Line } from '../../line/line.js'
import { endedBounds, endedKey } from '../../line/spaces.js'

const NOTHING = new Uint8Array(0)

export class EndedTransactions {
  readonly #line: Line
  readonly #clock: HybridClock
  readonly #recent: RecentSlots
  readonly #epochMicros: number

  constructor(line: Line, clock: HybridClock, { epochMicros, recentSlotDigits }: LedgerKnobs = knobs) {
    this.#line = line
    this.#epochMicros = epochMicros
    this.#clock = clock
    const epoch = this.#epoch()
    const [known] = line.decided.range({ ...endedBounds(epoch + 1), reverse: false })
    this.#recent = new RecentSlots(epoch, known === undefined ? 'empty' : 'unknown', recentSlotDigits)
  }

  add(tx: TxId): void {
    const epoch = this.#epoch()
    this.#line.put(endedKey(epoch, tx), NOTHING)
    this.#recent.add(slotOf(tx), epoch)
  }

  find(tx: TxId): { readonly whenDurable: Promise<void> | undefined } | undefined {
    const epoch = this.#epoch()
    if (!this.#recent.has(slotOf(tx), epoch)) return undefined
    for (const each of [epoch, epoch - 1]) {
      const key = endedKey(Math.max(0, each), tx)
      if (this.#line.decided.get(key) !== undefined) return { whenDurable: this.#line.whenDurableAt(key) }
    }
    return undefined
  }

  #epoch(): number {
    return epochOf(this.#clock.now(), this.#epochMicros)
  }
}
