// The ledger of a store in this process, with plain values: an adapter in front of the operations that the wire has.
import type { AnyItem } from '../changes/change.js'
import { type LedgerRevision, type RevisionAnswer, revisionOf } from '../toolkit/values/revision.js'
import { marshallItem } from '../toolkit/values/values.js'

export type { LedgerRevision } from '../toolkit/values/revision.js'

/** A digest of everything that was committed to ledger tables before it was asked for. */
export interface LedgerDigest {
  /** How many blocks there are. */
  readonly size: number
  /** The root of the tree over them, 32 bytes in base64. */
  readonly digest: string
  /** The same, signed: a C2SP checkpoint. */
  readonly checkpoint: string
  /** The public key of the ledger: `<name>+<id>+<base64>`. */
  readonly key: string
  /** With `oldSize`: hashes that show that the first `oldSize` blocks are still what they were. */
  readonly consistency?: readonly string[]
}

/** Which versions of an item are asked for; all, unless it is said. */
export interface HistoryOptions {
  /** What was current then, and all later ones. */
  readonly from?: Date
  /** What was current then, and all earlier ones. */
  readonly to?: Date
  /** This version, and all later ones. */
  readonly fromVersion?: number
  /** This version, and all earlier ones. */
  readonly toVersion?: number
}

/** The ledger of a store: what was committed to its ledger tables, for good. */
export interface StoreLedger {
  /**
   * Commits to all that was committed before the call.
   *
   * @example
   *   const { size, checkpoint } = await store.ledger.digest()
   *   console.log(size, checkpoint.split('\n')[1])
   */
  digest(options?: { readonly oldSize?: number }): Promise<LedgerDigest>
  /** A block by its number, or by the id of its transaction: its header and entries as they are hashed. */
  block(
    numberOrTransaction: number | string,
    options?: { readonly digestSize?: number },
  ): Promise<{
    readonly block: number
    readonly header: string
    readonly entries: readonly { readonly entry: string; readonly data?: string }[]
    readonly proof?: string
  }>
  /**
   * The versions of an item, oldest first. `{ id }` names a table by its id, also after it was dropped.
   *
   * @example
   *   for await (const { version, event, item } of store.ledger.history('Vehicles', { vin: 'v1' }))
   *     console.log(version, event, item?.owner)
   */
  history<ItemType extends object = AnyItem>(
    table: string | { readonly id: string },
    key: object,
    options?: HistoryOptions,
  ): AsyncIterable<LedgerRevision<ItemType>>
  /** What a transaction has changed. */
  transaction(id: string): Promise<readonly LedgerRevision[]>
  /**
   * A proof of one version of an item (by its number, or by the transaction or unit of work that made it), or of the newest: the text of a `.tlog-proof` file, which `verifyProof` of
   * `seriatim/verify` checks.
   *
   * @example
   *   const proof = await store.ledger.prove('Vehicles', { vin: 'v1' }, { version: 0 })
   *   console.log(proof.split('\n')[0]) // c2sp.org/tlog-proof@v1
   */
  prove(
    table: string | { readonly id: string },
    key: object,
    options?: { readonly version?: number; readonly transaction?: string; readonly digestSize?: number },
  ): Promise<string>
  /** Removes the data of a version that is not the current one. Its hash stays, and the redaction is a block. */
  redact(
    table: string | { readonly id: string },
    key: object,
    options: { readonly version: number; readonly reason?: string },
  ): Promise<{ readonly block: number }>
}

/** Asks the store for one of its own operations. */
export type Ask = (operation: string, input: object) => Promise<unknown>

export function storeLedger(ask: Ask): StoreLedger {
  return {
    async digest({ oldSize } = {}) {
      const answer = (await ask('GetDigest', {
        ...(oldSize !== undefined && { OldSize: oldSize }),
      })) as DigestAnswer
      const { Size, Digest, Checkpoint, Key, ConsistencyProof } = answer
      return {
        size: Size,
        digest: Digest,
        checkpoint: Checkpoint,
        key: Key,
        ...(ConsistencyProof && { consistency: ConsistencyProof }),
      }
    },
    async block(named, { digestSize } = {}) {
      const { Block, Proof } = (await ask('GetBlock', {
        ...(typeof named === 'number' ? { SequenceNumber: named } : { TransactionId: named }),
        ...(digestSize !== undefined && { DigestSize: digestSize }),
      })) as BlockAnswer
      return {
        block: Block.BlockAddress.SequenceNumber,
        header: Block.Header,
        entries: Block.Entries.map(({ Entry, Data }) => ({
          entry: Entry,
          ...(Data !== undefined && { data: Data }),
        })),
        ...(Proof !== undefined && { proof: Proof }),
      }
    },
    history: (table, key, options = {}) => pages(ask, named(table, key), options) as never,
    async transaction(id) {
      const { Revisions } = (await ask('ListRevisions', { TransactionId: id })) as RevisionsAnswer
      return Revisions.map(revisionOf)
    },
    async prove(table, key, { version, transaction, digestSize } = {}) {
      const size = digestSize ?? ((await ask('GetDigest', {})) as DigestAnswer).Size
      const { Proof } = (await ask('GetRevision', {
        ...named(table, key),
        ...(version !== undefined && { Version: version }),
        ...(transaction !== undefined && { TransactionId: transaction }),
        DigestSize: size,
      })) as { readonly Proof: string }
      return Proof
    },
    async redact(table, key, { version, reason }) {
      const { BlockAddress } = (await ask('RedactRevision', {
        ...named(table, key),
        Version: version,
        ...(reason !== undefined && { Reason: reason }),
      })) as { readonly BlockAddress: Address }
      return { block: BlockAddress.SequenceNumber }
    },
  }
}

interface Address {
  readonly SequenceNumber: number
}

interface DigestAnswer {
  readonly Size: number
  readonly Digest: string
  readonly Checkpoint: string
  readonly Key: string
  readonly ConsistencyProof?: readonly string[]
}

interface BlockAnswer {
  readonly Block: {
    readonly BlockAddress: Address
    readonly Header: string
    readonly Entries: readonly { readonly Entry: string; readonly Data?: string }[]
  }
  readonly Proof?: string
}

interface RevisionsAnswer {
  readonly Revisions: readonly RevisionAnswer[]
  readonly NextToken?: string
}

async function* pages(
  ask: Ask,
  item: object,
  { from, to, fromVersion, toVersion }: HistoryOptions,
): AsyncGenerator<LedgerRevision> {
  const range = {
    ...item,
    ...(from && { From: from.toISOString() }),
    ...(to && { To: to.toISOString() }),
    ...(fromVersion !== undefined && { FromVersion: fromVersion }),
    ...(toVersion !== undefined && { ToVersion: toVersion }),
  }
  let token: string | undefined
  do {
    const input = { ...range, ...(token !== undefined && { NextToken: token }) }
    const { Revisions, NextToken } = (await ask('ListRevisions', input)) as RevisionsAnswer
    for (const revision of Revisions) yield revisionOf(revision)
    token = NextToken
  } while (token !== undefined)
}

const named = (table: string | { readonly id: string }, key: object): object => ({
  ...(typeof table === 'string' ? { TableName: table } : { TableId: table.id }),
  Key: marshallItem(key),
})
