// The part of a storage node that takes part in transactions (§3.3, §3.4 and §4). All of it is plain data, and every
// request may arrive late, twice, or after its transaction has ended.
//
//   coordinator --prepare--> node      verdict for each action; accepted actions are pending entries, durable before
//                                      the decision is, or together with it
//               --commit---> node      the intended writes become visible; needs no wait for a sync of its own; with a
//                                      decision that is not durable yet, together with it
//               --cancel---> node      the pending entries vanish, and a late prepare finds a mark
//               --transact-> node      all of it in one round, where one node has all the items (§4)
//               --readAt / readLatest-> node
//
// Each answer carries the node's clock, so that coordinators whose clock is behind catch up.
import type { Timestamp, TxId } from '../../model/brand.js'
import type { ItemRef } from '../../ledger/ledger.js'
import type { ItemRecord } from '../../rules/item/item.js'
import type { Action } from '../../rules/item/contended-item.js'
import type { PredicateCheck } from './units.js'

export type { Action }

export interface PrepareRequest {
  readonly tx: TxId
  readonly timestamp: Timestamp
  /** Those of this node; accepted all together or not at all. */
  readonly actions: readonly Action[]
  /** Show the images that accepted actions met: what they cost is counted by them. */
  readonly imagesWanted?: true | undefined
  /** What queries of a unit of work have read; all must hold, too. */
  readonly predicates?: readonly PredicateCheck[] | undefined
  /** The unit of work that this is the commit of: the owner of its explicit locks. */
  readonly unit?: string | undefined
  /** The decision will stand behind it in the same journal: the answer may come before it is durable, and says so. */
  readonly ahead?: boolean | undefined
}

/** What a node says to one predicate. */
export type PredicateVerdict =
  | { readonly verdict: 'holds' }
  /** It would read something else at the commit timestamp. */
  | { readonly verdict: 'changed'; readonly item?: ItemRef; readonly by?: TxId }
  /** A write that matches is prepared, and was undecided after the longest wait. */
  | { readonly verdict: 'pending'; readonly tx: TxId }
  /** What it would read at that timestamp is not known any more; at one above `above` it is. */
  | { readonly verdict: 'too-old'; readonly above: Timestamp }
  /** Nobody can tell any more. */
  | { readonly verdict: 'snapshot-too-old' }

/** What a node says to one action. */
export type ActionVerdict =
  /** `old`: the image that it met, if images were asked for and there was one. */
  | { readonly verdict: 'accepted'; readonly old?: ItemRecord }
  | { readonly verdict: 'condition-failed'; readonly current?: ItemRecord }
  | { readonly verdict: 'invalid'; readonly message: string }
  /** Another transaction is in the way, or a unit's explicit lock, and was still after the longest wait. */
  | { readonly verdict: 'conflict'; readonly others: readonly TxId[]; readonly holder?: string }
  /** The timestamp cannot be used on this item; one above `above` might. */
  | { readonly verdict: 'too-old'; readonly above: Timestamp }
  /** Not what the unit of work has read, or written since by somebody else: its expectation fails. */
  | { readonly verdict: 'changed'; readonly by?: TxId }
  /** The transaction has ended here: a delayed prepare. */
  | { readonly verdict: 'ended' }

export interface PrepareReply {
  readonly clock: Timestamp
  /** One for each action, in order. The actions are prepared only if all are accepted. */
  readonly verdicts: readonly ActionVerdict[]
  /** One for each predicate, in order. */
  readonly predicateVerdicts?: readonly PredicateVerdict[] | undefined
  /** It may not be durable yet, and holds only for decisions in this run of the journal. */
  readonly run?: string | undefined
}

export interface FinishRequest {
  readonly tx: TxId
  readonly items: readonly ItemRef[]
}

export interface CommitRequest extends FinishRequest {
  readonly timestamp: Timestamp
  /** All nodes that take part, by their positions: the log of commits shows the transaction when all are done. */
  readonly nodes?: readonly number[] | undefined
  /** No prepare of this transaction can still be on its way: no fence is left for it. */
  readonly unfenced?: true | undefined
  /** When to answer: once readers see the writes (unless told otherwise), or once the node knows of the decision. */
  readonly until?: 'visible' | 'known'
  /** The decision stands in this run of the journal, and may not be durable yet. If the run is over it may be lost. */
  readonly run?: string | undefined
}

export interface CommitReply {
  readonly clock: Timestamp
  /**
   * All that the transaction does here is in the journal or will be, in this run of it, before what is put later; and then
   * readers see it. Only where the decision was in such a run, too.
   */
  readonly run?: string | undefined
}

/** A client token travels with a one-round transaction, into the same atomic step as its effect. */
export interface TokenClaim {
  readonly payloadHash: string
}

export interface TransactRequest {
  readonly tx: TxId
  readonly actions: readonly Action[]
  readonly token?: TokenClaim | undefined
  readonly imagesWanted?: true | undefined
  readonly predicates?: readonly PredicateCheck[] | undefined
  readonly unit?: string | undefined
  /** This request cannot arrive twice: without a token nothing of it need be remembered. */
  readonly once?: boolean
}

export type TransactReply = { readonly clock: Timestamp } &
  /** Verdicts, all of them accepted, if images were asked for. */
  (
    | {
        readonly outcome: 'committed'
        readonly timestamp: Timestamp
        readonly verdicts?: readonly ActionVerdict[]
      }
    | {
        readonly outcome: 'refused'
        readonly verdicts: readonly ActionVerdict[]
        readonly predicateVerdicts?: readonly PredicateVerdict[]
      }
    /** The same token with the same request was committed before. */
    | { readonly outcome: 'repeated' }
    | { readonly outcome: 'token-mismatch' }
    | { readonly outcome: 'token-in-progress' }
  )

export interface ReadAtRequest {
  readonly items: readonly ItemRef[]
  /** Absent: the node picks one at which all items can be read, if it has them all. */
  readonly timestamp?: Timestamp
}

export type ReadVerdict =
  | { readonly verdict: 'value'; readonly record?: ItemRecord }
  | { readonly verdict: 'too-old'; readonly above: Timestamp }
  /** A transaction prepared below the read timestamp has not been decided, and was not after the longest wait. */
  | { readonly verdict: 'pending'; readonly tx: TxId; readonly at: Timestamp }

export interface ReadAtReply {
  readonly clock: Timestamp
  readonly timestamp: Timestamp
  readonly results: readonly ReadVerdict[]
}

/** The two-phase read (§3.4): the second phase names the LSNs of the first and the timestamp to leave as a mark. */
export interface ReadLatestRequest {
  readonly items: readonly ItemRef[]
  readonly mark?: Timestamp
}

export type LatestVerdict =
  | {
      readonly verdict: 'value'
      readonly lsn: number
      readonly record?: ItemRecord
      readonly written: Timestamp
    }
  | { readonly verdict: 'pending'; readonly tx: TxId }

export interface ReadLatestReply {
  readonly clock: Timestamp
  readonly results: readonly LatestVerdict[]
}

export interface TransactionNode {
  prepare(request: PrepareRequest): Promise<PrepareReply>
  commit(request: CommitRequest): Promise<CommitReply>
  cancel(request: FinishRequest): Promise<{ readonly clock: Timestamp }>
  /**
   * Resolves once everything that `commit` or `cancel` of these transactions did here would survive a crash; to those of
   * which that cannot be said: what they did could not be written, or a crash meanwhile has brought their intents back.
   */
  finished(transactions: readonly TxId[]): Promise<readonly TxId[]>
  transact(request: TransactRequest): Promise<TransactReply>
  readAt(request: ReadAtRequest): Promise<ReadAtReply>
  readLatest(request: ReadLatestRequest): Promise<ReadLatestReply>
  /**
   * Transactions pending on items of this node for longer than that, for recovery (§3.5). Where there are as many as asked
   * for they are the first by their ids, and the next come after the last of them.
   */
  stalled(olderThan: Timestamp, entriesMax: number, after?: TxId): Promise<readonly TxId[]>
}
