// The transaction ledger (§3.5): one record for each transaction that runs in two phases, and for each client token within
// its ten minutes. Records are spread over the nodes by slot; each node keeps its part of the ledger.
//
//            begin                 decide                complete
//   (absent) -----> preparing -----------> committing ----------> completed --10 minutes--> purged
//      |                \-------------->   cancelling ----------> completed
//      \---- decide: a tombstone (completed, cancelled), so that a begin or commit that was delayed finds it ----/
//
// A record is written from the decision on. Until then it is in memory, and a crash of its node cancels the transaction:
// whoever asks for the decision afterwards meets nothing, and writes a tombstone (presumed abort). Where all nodes share a
// journal, decision, commits and completion may follow each other at once, and are written together or not at all.
//
// Only these transitions are legal. The decision is a compare-and-set: whoever comes second learns what was decided.
// Only the coordinator that began a transaction ever asks for `commit`; everybody may ask for `cancel`.
//
// A completed record means that no node has anything left to do: whatever a node still holds of that transaction came
// late or twice, and is cancelled.
//
// A client token holds its slot while a transaction of it is undecided or being committed, and for ten minutes after
// it was committed. A cancelled one gives the token back: the same request may run again under the same token, which is
// what a client does that tries again after TransactionCanceledException. (DynamoDB's documentation promises
// idempotency only for what succeeded.)
//
// Where several servers share the ledger, each may run the same request under the same token: a client that got no answer asks
// another server. So a cancel that is answered to a client is written into the slot, and what was begun before it, anywhere, is
// not committed any more: nobody is told `cancelled` of a request that is carried out later.
import type { LedgerSlot, SpaceId, Timestamp, TxId } from '../model/brand.js'
import type { ItemKey } from '../model/table.js'

/** The items of a transaction at one node. */
export interface Participant {
  /** Position of the node among the nodes of the store. */
  readonly node: number
  readonly items: readonly ItemRef[]
}

export interface ItemRef {
  readonly space: SpaceId
  readonly key: ItemKey
}

export type Decision = 'commit' | 'cancel'

/** Why a transaction was cancelled, one for each action, in DynamoDB's words. */
export interface CancellationReason {
  readonly Code: string
  readonly Message?: string
}

export interface LedgerRecord {
  readonly tx: TxId
  readonly state: 'preparing' | 'committing' | 'cancelling' | 'completed'
  /** Position in the serial order (§3.2); restamping changes it until the decision. */
  readonly timestamp: Timestamp
  readonly participants: readonly Participant[]
  /** When it was begun and when it was completed, on the clock of the ledger's node. */
  readonly begunAt: Timestamp
  readonly completedAt?: Timestamp
  readonly decision?: Decision | undefined
  readonly reasons?: readonly CancellationReason[] | undefined
  /** With a client token: the digest of the request, to recognise another request with the same token. */
  readonly payloadHash?: string | undefined
}

export interface DecideAt {
  readonly timestamp: Timestamp
  readonly reasons?: readonly CancellationReason[]
  /** Of a cancel that a client is told of: the digest of its request under a token. */
  readonly payloadHash?: string | undefined
  /** Of the journal in which intents were put that may not be durable yet. */
  readonly run?: string | undefined
  /** What is done upon a commit will stand behind it in the same journal: the answer may come before it is durable. */
  readonly ahead?: boolean | undefined
}

/** The record in force. With a run: it may not be durable yet, and holds only in this run of the journal. */
export type Decided = LedgerRecord & { readonly run?: string }

export interface LedgerEntry {
  readonly tx: TxId
  readonly timestamp: Timestamp
  readonly participants: readonly Participant[]
  readonly payloadHash?: string
  /** An earlier attempt at the same request, in the same slot, that is given up: cancelled in the same step. */
  readonly replaces?: TxId
  /** With a token, of a later attempt: what its first one met in the slot. */
  readonly met?: readonly TxId[] | undefined
}

export type BeginOutcome =
  /** `met`: transactions that have ended in the slot before, where servers share the ledger. */
  | { readonly verdict: 'begun'; readonly met?: readonly TxId[] }
  /** The slot is taken: by the same request (repeated), by a tombstone, or by another request with the same token. */
  | { readonly verdict: 'exists'; readonly record: LedgerRecord }

/** One node's part of the ledger. Every decision is durable when it is answered, unless it says otherwise. */
export interface Ledger {
  /** Other servers decide in it, too. */
  readonly isShared?: boolean
  /** Begins a transaction. Repeating the same begin answers `begun` as long as nothing was decided. */
  begin(entry: LedgerEntry): Promise<BeginOutcome>
  /**
   * Decides, at this timestamp, unless it is decided; answers the record in force afterwards: its `decision` counts.
   * Deciding for an absent transaction, `cancel` or `commit`, writes a tombstone and answers that. Under a token the record in
   * force may be of another transaction with the same slot: this one is cancelled. With the run of a
   * journal: intents were put there ahead of this, and if it is over they may be lost; then it is cancelled, and that
   * need not be durable.
   */
  decide(tx: TxId, decision: Decision, at: DecideAt): Promise<Decided>
  /**
   * Every node has finished its items. Needs no wait: whoever reads the ledger before finishes once more. Repeating it
   * changes nothing; completing what is not decided is a defect of the caller, and throws. With the run of a journal:
   * decision and commits were put there ahead of this, and all of it is durable when it is answered; if the run is over
   * some may be lost, and it throws.
   */
  complete(tx: TxId, run?: string): Promise<void>
  /** What stands in a slot: what is in flight, else what was committed of late, else what was cancelled of late. */
  read(slot: LedgerSlot): Promise<LedgerRecord | undefined>
  /** Transactions that are not completed, from a slot on, in slot order. */
  unfinished(from: LedgerSlot, recordsMax: number): Promise<readonly LedgerRecord[]>
  /** Completed ones of late, newest first, for people who look. */
  recent(recordsMax: number): Promise<readonly LedgerRecord[]>
  /** Forgets completed records older than ten minutes, up to that many; true when no such record is left. */
  purge(recordsMax: number): Promise<boolean>
}
