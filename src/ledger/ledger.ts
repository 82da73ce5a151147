// The transaction ledger (§3.5): one durable record for each transaction that runs in two phases, and for each client
// token within its ten minutes. Records are spread over the nodes by slot; each node keeps its part of the ledger.
//
//            begin                 decide                complete
//   (absent) -----> preparing -----------> committing ----------> completed --10 minutes--> purged
//      |                \-------------->   cancelling ----------> completed
//      \---- decide(cancel): a tombstone, so that a begin or commit that was delayed finds it ----/
//
// Only these transitions are legal. The decision is a compare-and-set: whoever comes second learns what was decided.
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
  readonly decision?: Decision
  readonly reasons?: readonly CancellationReason[]
  /** With a client token: the digest of the request, to recognise another request with the same token. */
  readonly payloadHash?: string
}

export interface LedgerEntry {
  readonly tx: TxId
  readonly timestamp: Timestamp
  readonly participants: readonly Participant[]
  readonly payloadHash?: string
}

export type BeginOutcome =
  | { readonly verdict: 'begun' }
  /** The slot is taken: by the same request (repeated), by a tombstone, or by another request with the same token. */
  | { readonly verdict: 'exists'; readonly record: LedgerRecord }

/** One node's part of the ledger. Every method resolves once what it says is durable. */
export interface Ledger {
  /** Begins a transaction. Repeating the same begin answers `begun` as long as nothing was decided. */
  begin(entry: LedgerEntry): Promise<BeginOutcome>
  /**
   * Decides, at this timestamp, unless it is decided; answers the record in force afterwards. Deciding `cancel` for an
   * absent transaction writes a tombstone; deciding `commit` for one does so too, and answers `cancelling`.
   */
  decide(
    tx: TxId,
    decision: Decision,
    at: { readonly timestamp: Timestamp; readonly reasons?: readonly CancellationReason[] },
  ): Promise<LedgerRecord>
  /** Every node has finished its items. Needs no wait: whoever reads the ledger before finishes once more. */
  complete(tx: TxId): Promise<void>
  read(slot: LedgerSlot): Promise<LedgerRecord | undefined>
  /** Transactions that are not completed, from a slot on, in slot order. */
  unfinished(from: LedgerSlot, recordsMax: number): Promise<readonly LedgerRecord[]>
  /** Completed ones of late, newest first, for people who look. */
  recent(recordsMax: number): Promise<readonly LedgerRecord[]>
  /** Forgets completed records older than ten minutes; bounded, to be called now and then. */
  purge(recordsMax: number): Promise<void>
}
