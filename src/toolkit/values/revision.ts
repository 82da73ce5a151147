// A version of an item of a ledger table, with plain values.
import type { Item } from '../../model/value.js'
import { unmarshallItem } from './values.js'

/* oxlint-disable typescript/no-explicit-any -- any attributes */
/** One version of an item. */
export interface LedgerRevision<ItemType extends object = Record<string, any>> {
  /** The name of its table. */
  readonly table: string
  /** The id of its table, which no other table ever gets. */
  readonly tableId: string
  /** The key attributes of the item. */
  readonly key: Readonly<Record<string, unknown>>
  /** Of the item, for as long as the ledger exists. */
  readonly id: string
  /** From 0 on, without a gap, past deletes too. */
  readonly version: number
  /** What became of the item. */
  readonly event: 'INSERT' | 'MODIFY' | 'REMOVE'
  /** `request`, or `expiry` for what its time to live has deleted. */
  readonly cause: string
  /** The transaction that wrote it; of a single write, `s` and the number of its block. */
  readonly transactionId: string
  /** When it was committed. */
  readonly time: Date
  /** The number of its block. */
  readonly block: number
  /** Which entry of its block it is. */
  readonly entry: number
  /** Of the entry, in base64. */
  readonly hash: string
  /** Absent for a delete, and if it was redacted. */
  readonly item?: ItemType
  /** Its data was removed. */
  readonly redacted: boolean
}

/** A revision as the wire has it. */
export interface RevisionAnswer {
  readonly BlockAddress: { readonly SequenceNumber: number }
  readonly EntryIndex: number
  readonly TableName: string
  readonly TableId: string
  readonly Key: Item
  readonly Metadata: {
    readonly Id: string
    readonly Version: number
    readonly TransactionId: string
    readonly Time: string
    readonly Timestamp: number
    readonly Event: LedgerRevision['event']
    readonly Cause: string
  }
  readonly Hash: string
  readonly Data?: Item
  readonly Redacted?: true
}

export function revisionOf({
  BlockAddress,
  EntryIndex,
  TableName,
  TableId,
  Key,
  Metadata,
  Hash,
  Data,
  Redacted,
}: RevisionAnswer): LedgerRevision {
  return {
    table: TableName,
    tableId: TableId,
    key: unmarshallItem(Key),
    id: Metadata.Id,
    version: Metadata.Version,
    event: Metadata.Event,
    cause: Metadata.Cause,
    transactionId: Metadata.TransactionId,
    time: new Date(Metadata.Time),
    block: BlockAddress.SequenceNumber,
    entry: EntryIndex,
    hash: Hash,
    ...(Data && { item: unmarshallItem(Data) }),
    redacted: Redacted === true,
  }
}
