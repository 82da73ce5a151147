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
  /** Which transactions or units stood in its way, and on which of its items. */
  readonly obstacles: readonly Obstacle[]
  readonly times: PhaseTimes
}

/** What a transaction met on one of its items. */
export interface Obstacle {
  /** Undefined: what a query had read. */
  readonly item: ItemRef | undefined
  /** `pending`: another had prepared it. `lock`: a unit holds it. `changed`: it is not what the unit had read. */
  readonly kind: 'pending' | 'lock' | 'changed'
  /** The other transaction or unit, where it is known. */
  readonly by: string | undefined
}

/** When the phases of a transaction were over, by the clock of its coordinator. */
export interface PhaseTimes {
  readonly begunMicros: number
  /** Attempts before this one were given up for their timestamp. */
  readonly attempt: number
  /** The unit of work that this is the commit of. */
  readonly unit: string | undefined
  readonly nodes: readonly NodeTimes[]
  decidedMicros?: number
}

export interface NodeTimes {
  readonly node: number
  readonly items: number
  preparedMicros?: number
  /** It has committed or cancelled. */
  finishedMicros?: number
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
  /** As many as there are requests for transactions. */
  readonly #underWay = new Map<TxId, PhaseTimes>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What is neither committed nor cancelled for sure has not ended. */
  add(tx: TxId, actions: readonly Action[], ended: WriteTransactionOutcome, times: PhaseTimes): void {
    if (ended.outcome !== 'committed' && ended.outcome !== 'cancelled') return
    this.#ended[this.#next] = {
      tx,
      outcome: ended.outcome,
      endedMicros: this.#clock.nowMicros(),
      items: refsOf(actions),
      itemCount: actions.length,
      reasons: ended.outcome === 'cancelled' ? reasonsOf(ended.verdicts) : [],
      obstacles: ended.outcome === 'cancelled' ? obstaclesOf(actions, ended) : [],
      times,
    }
    this.#next = (this.#next + 1) % TRANSACTIONS_MAX
  }

  /** An attempt in two phases is under way. */
  begun(tx: TxId, times: PhaseTimes): void {
    this.#underWay.set(tx, times)
  }

  /** It is over, or another attempt follows. */
  over(tx: TxId): void {
    this.#underWay.delete(tx)
  }

  underWay(tx: TxId): PhaseTimes | undefined {
    return this.#underWay.get(tx)
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

function obstaclesOf(
  actions: readonly Action[],
  { verdicts, predicates = [] }: Extract<WriteTransactionOutcome, { readonly outcome: 'cancelled' }>,
): readonly Obstacle[] {
  const found: Obstacle[] = []
  for (let at = 0; at < verdicts.length && found.length < ITEMS_MAX; at++) {
    const verdict = verdicts[at]
    const action = actions[at]
    const item = action && { space: action.table.space, key: action.key }
    if (verdict?.verdict === 'conflict') {
      const isLock = verdict.holder !== undefined
      found.push({ item, kind: isLock ? 'lock' : 'pending', by: verdict.holder ?? verdict.others[0] })
    } else if (verdict?.verdict === 'changed') found.push({ item, kind: 'changed', by: verdict.by })
  }
  for (const verdict of predicates) {
    if (found.length >= ITEMS_MAX) break
    if (verdict.verdict === 'changed') found.push({ item: verdict.item, kind: 'changed', by: verdict.by })
    else if (verdict.verdict === 'pending') found.push({ item: undefined, kind: 'pending', by: verdict.tx })
  }
  return found
}
