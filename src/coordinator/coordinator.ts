// The transaction coordinator (§3.2 to §3.4): takes a transaction apart by node, runs the protocol, and answers.
//
//   write, one step          --transact-------------------------------------------------------> answer
//
//   write, several steps    --begin--> ledger   \                    all accepted
//                           --prepare-> nodes   / one wave, in parallel -----------> decide(commit) --> ledger
//                                                                  |                     |
//                              refused: decide(cancel) + cancel <--/                     v
//                              too old: cancel, new attempt with a higher timestamp    commit --> nodes --> answer
//                                                                                        |
//                                                             behind the answer: finished --> complete --> ledger
//
//     where all nodes share a journal: decide(commit) --> commit --> complete, all of it ahead of one wait --> answer
//
//   read                    --readAt (one round) or readLatest twice (§3.4)--> nodes --> answer
//
// Any number of coordinators work on the same nodes; they share nothing but nodes and ledger. A coordinator may vanish at
// any point: recovery finishes what it left. May import: model, rules, ledger, storage (its interfaces), runtime.
import { nodeAt, type Placement, Slots, tokenSlot } from './placement.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Timestamp, TxId } from '../model/brand.js'
import { type Knobs, knobs } from '../model/knobs.js'
import type { ItemRecord } from '../rules/item/item.js'
import type { TransactionRules } from '../rules/item/section-4.js'
import type { Runtime } from '../runtime/runtime.js'
import { HybridClock } from '../line/hybrid-clock.js'
import type {
  Action,
  ActionVerdict,
  PredicateVerdict,
  TransactionNode,
} from '../storage/contract/transactions.js'
import type { PredicateCheck, UnitNode } from '../storage/contract/units.js'
import type { ItemRef } from '../ledger/ledger.js'
import { type Calls, type CallTuning, openCalls } from './calls.js'
import { Completion } from './completion.js'
import { type EndedTransaction, type PhaseTimes, RecentTransactions } from './recent.js'
import { readOneRound, readTwoPhases } from './read-transaction.js'
import { openSnapshots, type StoreSnapshots } from './snapshots.js'
import { writeTransaction } from './write-transaction.js'

/** A node as transactions see it. */
export type CoordinatedNode = TransactionNode & UnitNode & { readonly ledger: Ledger }

export interface CoordinatorTuning extends CallTuning, Partial<Pick<Knobs, 'completionsMax'>> {
  /** How often a write transaction is tried with a new timestamp before it counts as a conflict. */
  readonly attemptsMax?: number
  /** How often a read transaction is driven again. */
  readonly readRoundsMax?: number
  /** A transaction is not committed after that; far shorter than the ledger keeps tombstones. */
  readonly deadlineMs?: number
}

export interface CoordinatorOptions {
  readonly runtime: Runtime
  readonly nodes: readonly CoordinatedNode[]
  readonly placement: Placement
  readonly rules: TransactionRules
  /** All nodes write to one journal: intents and decision become durable together. */
  readonly sharedJournal?: boolean
  readonly tuning?: CoordinatorTuning
}

export interface ClientToken {
  readonly text: string
  /** A digest of the request, to recognise another one under the same token. */
  readonly payloadHash: string
}

export interface WriteTransaction {
  /** In the order of the request; no item twice. */
  readonly actions: readonly Action[]
  readonly token?: ClientToken
  /** Show the images that the actions met. */
  readonly imagesWanted?: true
  /** What queries and scans of a unit of work have read, and must still read at the commit timestamp. */
  readonly predicates?: readonly LocatedPredicate[]
  /** The unit of work that this is the commit of: the owner of its explicit locks. */
  readonly unit?: string
}

export interface LocatedPredicate {
  readonly check: PredicateCheck
  /** Positions of the nodes that may hold entries of its range. */
  readonly nodes: readonly number[]
}

export type WriteTransactionOutcome =
  /** Verdicts if images were wanted. The timestamp is absent if the first answer was lost. */
  | {
      readonly outcome: 'committed'
      readonly timestamp?: Timestamp
      readonly verdicts?: readonly ActionVerdict[]
    }
  /** Nothing was done; one verdict for each action, in order, and one for each predicate if there were any. */
  | {
      readonly outcome: 'cancelled'
      readonly verdicts: readonly ActionVerdict[]
      readonly predicates?: readonly PredicateVerdict[]
    }
  /** The same request was committed under this token before. */
  | { readonly outcome: 'repeated' }
  | { readonly outcome: 'token-mismatch' }
  | { readonly outcome: 'token-in-progress' }
  /** Nothing was done and nothing will be: a node did not answer. */
  | { readonly outcome: 'unavailable'; readonly message: string; readonly cause?: unknown }
  /** It is or will be either committed or cancelled, and nobody can say yet. */
  | { readonly outcome: 'unknown'; readonly message: string; readonly cause?: unknown }

export interface ReadTransaction {
  readonly items: readonly ItemRef[]
}

export type ReadTransactionOutcome =
  /** One for each item, in order; undefined where there is none. `timestamp` is where the snapshot stands. */
  | {
      readonly outcome: 'read'
      readonly timestamp?: Timestamp
      readonly records: readonly (ItemRecord | undefined)[]
    }
  /** Transactions that were in the way of an item, and still are. */
  | { readonly outcome: 'conflict'; readonly conflicts: readonly (TxId | undefined)[] }

export interface Coordinator {
  write(transaction: WriteTransaction): Promise<WriteTransactionOutcome>
  read(transaction: ReadTransaction): Promise<ReadTransactionOutcome>
  /** What became of the transaction with this client token, as far as the ledger still knows. */
  outcome(token: string): Promise<TokenOutcome>
  /** Reads of units of work. */
  readonly snapshots: StoreSnapshots
  /**
   * No timestamp of a snapshot that was opened here is above its `now`. It is told (`witness`) at which timestamp a write outside
   * transactions was answered, so that transactions from here on come after it: a node's clock may be ahead of this one's, and a blind
   * put stamped before the last one would have no effect (§4).
   */
  readonly clock: Pick<HybridClock, 'witness' | 'now'>
  /** The last that were ended here, the newest first. */
  recent(): readonly EndedTransaction[]
  /** How far an attempt that is under way here has come. */
  phases(tx: TxId): PhaseTimes | undefined
  /** Resolves once nothing is left to do behind the answers given so far. */
  idle(): Promise<void>
}

export type TokenOutcome = 'committed' | 'cancelled' | 'pending' | 'unknown'

/** What the parts of a coordinator share. */
export interface Parts {
  readonly runtime: Runtime
  readonly nodes: readonly CoordinatedNode[]
  readonly placement: Placement
  readonly rules: TransactionRules
  readonly sharedJournal?: boolean
  readonly slots: Slots
  readonly clock: HybridClock
  readonly calls: Calls
  readonly attemptsMax: number
  readonly readRoundsMax: number
  readonly deadlineMs: number
  readonly completion: Completion
  readonly recent: RecentTransactions
}

const ATTEMPTS_MAX = 8
const READ_ROUNDS_MAX = 5
const DEADLINE_MS = 10_000

/**
 * A coordinator on these nodes.
 *
 * @example
 * const coordinator = openCoordinator({ runtime, nodes, placement: localPlacement(nodes.length), rules: allRules })
 * const { outcome } = await coordinator.write({ actions })
 */
export function openCoordinator(options: CoordinatorOptions): Coordinator {
  const { tuning = {}, runtime } = options
  const calls = openCalls(runtime.clock, tuning)
  const completion = new Completion(
    options.nodes,
    calls,
    runtime.clock,
    tuning.completionsMax ?? knobs.completionsMax,
  )
  const parts: Parts = {
    ...options,
    slots: new Slots(runtime, options.placement),
    clock: new HybridClock(runtime.clock),
    calls,
    completion,
    recent: new RecentTransactions(runtime.clock),
    attemptsMax: tuning.attemptsMax ?? ATTEMPTS_MAX,
    readRoundsMax: tuning.readRoundsMax ?? READ_ROUNDS_MAX,
    deadlineMs: tuning.deadlineMs ?? DEADLINE_MS,
  }
  return {
    write: (transaction) => writeTransaction(parts, transaction),
    read: (transaction) =>
      options.rules.oneRoundReads ? readOneRound(parts, transaction) : readTwoPhases(parts, transaction),
    outcome: (token) => tokenOutcome(parts, token),
    snapshots: openSnapshots(parts),
    clock: parts.clock,
    recent: () => parts.recent.newest(),
    phases: (tx) => parts.recent.underWay(tx),
    idle: () => completion.idle(),
  }
}

async function tokenOutcome({ nodes, placement, calls }: Parts, token: string): Promise<TokenOutcome> {
  const slot = tokenSlot(token)
  const record = await calls(() => nodeAt(nodes, placement.ledgerNodeOf(slot)).ledger.read(slot))
  if (record === undefined) return 'unknown'
  if (record.decision === undefined) return 'pending'
  return record.decision === 'commit' ? 'committed' : 'cancelled'
}
