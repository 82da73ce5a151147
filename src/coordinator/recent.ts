// The last transactions that this coordinator has ended, for people who look: the ledger keeps no keys of those that are
// over, and nothing of those that one node has refused. In memory, and bounded.
import type { CancellationReason, ItemRef } from '../ledger/ledger.js'
import type { TxId } from '../model/brand.js'
import type { Clock } from '../runtime/runtime.js'
import type { Action } from '../storage/contract/transactions.js'
import type { WriteTransactionOutcome } from './coordinator.js'
import { reasonsOf } from './reasons.js'

export interface EndedTransaction {
  readonly tx: TxId
  readonly outcome: 'committed' | 'cancelled'
  readonly endedMicros: number
  /** The first of them. */
  readonly items: readonly ItemRef[]
  readonly itemCount: number
  /** One for each item; none of a transaction that was committed. */
  readonly reasons: readonly CancellationReason[]
}

/** As many as an answer of ListTransactions may show. */
const TRANSACTIONS_MAX = 1000
/** Of each transaction. */
const ITEMS_MAX = 10

export class RecentTransactions {
  readonly #clock: Clock
  /** A ring, once it is full. */
  readonly #ended: EndedTransaction[] = []
  #next = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What is neither committed nor cancelled for sure has not ended. */
  add(tx: TxId, actions: readonly Action[], ended: WriteTransactionOutcome): void {
    if (ended.outcome !== 'committed' && ended.outcome !== 'cancelled') return
    this.#ended[this.#next] = {
      tx,
      outcome: ended.outcome,
      endedMicros: this.#clock.nowMicros(),
      items: refsOf(actions),
      itemCount: actions.length,
      reasons: ended.outcome === 'cancelled' ? reasonsOf(ended.verdicts) : [],
    }
    this.#next = (this.#next + 1) % TRANSACTIONS_MAX
  }

  /** The newest first. */
  newest(): readonly EndedTransaction[] {
    return [...this.#ended.slice(this.#next), ...this.#ended.slice(0, this.#next)].toReversed()
  }
}

/** Nothing else of an action is kept: it holds whole items. */
function refsOf(actions: readonly Action[]): readonly ItemRef[] {
  const refs: ItemRef[] = []
  for (let at = 0; at < actions.length && at < ITEMS_MAX; at++) {
    const { table, key } = actions[at] as Action
    refs.push({ space: table.space, key })
  }
  return refs
}
