// What a store is, and how it is opened. The code of it is loaded by the first call of `open`: a process that imports the
// package for an error or a clock, or that never opens a store, does not pay for it (docs/adr/0029).
import type { DynamoDB, DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { DynamoDBStreams, DynamoDBStreamsClientConfig } from '@aws-sdk/client-dynamodb-streams'
import type {
  AnyItem,
  TableChange,
  ChangeIterable,
  ChangesOptions,
  TransactionChanges,
} from '../changes/change.js'
import type { StreamHandler } from '../changes/trigger/stream-event.js'
import type { Trigger, TriggerOptions } from '../changes/trigger/trigger-contract.js'
import type { Clock } from '../runtime/runtime.js'
import type { ListenOptions, RunningServer } from '../server/http-server.js'
import type { AnyTables, TableMap, Transactor, TransactorOptions } from '../toolkit/unit/transactor.js'
import type { FleetOptions, StoreEngine } from './fleet-options.js'
import type { StoreLedger } from './store-ledger.js'
import type { LightClient, LightClientOptions, LikeClass } from './light-client.js'
import type { StoreInput, StoreOperation, StoreOutput } from './store-operations.js'

/**
 * Where a store keeps its data, and how it behaves.
 *
 * @example
 *   const twoNodes = await open({ memory: true, nodes: 2, clock: manualClock(Date.parse('2030-01-01')) })
 *   await twoNodes.close()
 */
export type OpenOptions = StorePlace & {
  /** Storage nodes in this process; 1 by default. An existing folder opens only with the number it was created with. */
  readonly nodes?: number
  /**
   * `all`, the default: transactions with the optimisations of the paper's section 4. `none`: without them, for comparison.
   * Both are serializable.
   */
  readonly rules?: 'all' | 'none'
  /**
   * How long old versions are kept for units of work that read at one snapshot, in milliseconds; 30,000 by default. A unit
   * that takes longer gets `SnapshotTooOld`. A longer time takes more memory, for what is overwritten meanwhile.
   */
  readonly snapshotAgeMs?: number
  /**
   * The longest time that an explicit lock of a unit of work is held, in milliseconds, whatever the unit's `timeoutMs` is;
   * 30,000 by default.
   */
  readonly lockMsMax?: number
  /**
   * A budget in MB, from 16 on, for what is kept in memory beside the data: writes that are not in the index yet, old versions for
   * snapshots, caches of the log of commits. Writers wait where it is used up, and the oldest snapshots are dropped. By default
   * each of them has a bound of its own, about 140 MB together with one node.
   */
  readonly memoryMb?: number
  /**
   * When the shards of a stream roll, in minutes from 1 to 1,440; 240 by default. Each is then closed and followed by another,
   * as on Amazon after about four hours: a shorter time shows a reader of streams such a change.
   */
  readonly shardMinutes?: number
  /**
   * For how long tables, and indexes that are added to one, stay CREATING, in milliseconds of the clock; 0 by default. For
   * tests of code that waits for them, as it has to at Amazon.
   */
  readonly creatingMs?: number
  /**
   * `refused`: a SELECT that would read a whole table or index is refused, as if each were written `STRICT SELECT`; `allowed`
   * by default.
   */
  readonly statementScans?: 'allowed' | 'refused'
  /** A folder whose folders are the buckets of exports and imports. It must exist; without it there is no bucket. */
  readonly buckets?: string
  /**
   * New tables with such a name are ledgers, as if they had the tag `seriatim:ledger`; in it `*` stands for any characters.
   */
  readonly ledger?: string
  /**
   * What to do with a data folder that was copied or restored and has a ledger, which would contradict that of the original:
   * `refuse` it, the default, or `adopt` its ledger, if the original is gone for good.
   */
  readonly ledgerCopies?: 'refuse' | 'adopt'
  /** The clock for expiry and timestamps; the system's by default, `manualClock()` in tests. */
  readonly clock?: Clock
  /**
   * Called with a sentence about the progress of long work before the start, such as the upgrade of an older folder, and with the
   * public key of a ledger that begins.
   */
  readonly onProgress?: (sentence: string) => void
  /** Called with failures in the background, such as a full disk, and with defects; by default they become process warnings. */
  readonly onError?: (error: unknown) => void
}

/**
 * Where the data is kept: in the folder `path`, which is created if it does not exist, only in memory, for tests, or on an `engine`
 * that other servers use, too. In memory a store begins empty, or `from` the file that `dump` of another has written.
 */
export type StorePlace =
  | { readonly path: string; readonly memory?: never; readonly from?: never; readonly engine?: never }
  | { readonly memory: true; readonly path?: never; readonly from?: string; readonly engine?: never }
  | {
      readonly engine: StoreEngine
      /** How the servers on the engine follow each other. */
      readonly fleet?: FleetOptions
      readonly path?: never
      readonly memory?: never
      readonly from?: never
    }

/** What a fork has of its own. */
export interface ForkOptions {
  /** The clock of the fork; that of the store it was made of by default. */
  readonly clock?: Clock
}

/**
 * What a store in memory held when `snapshot()` was called. It takes memory for what was changed since, until nothing refers to
 * it any more.
 */
export interface StoreSnapshot {
  /** Storage nodes of the store. */
  readonly nodes: number
}

/** A store in this process. With `await using` it is closed at the end of its block. */
export interface Store extends AsyncDisposable {
  /**
   * A client of the AWS SDK on this store, without a socket. It takes commands (`client.send(command)`) and has a method for
   * each operation (`client.getItem(input)`). Needs the package `@aws-sdk/client-dynamodb`.
   *
   * @example
   *   const { Item } = await store.client().getItem({ TableName: 'Books', Key: { id: { S: 'b1' } } })
   *   console.log(Item?.title?.S) // Emma
   */
  client(config?: DynamoDBClientConfig): DynamoDB
  /**
   * A client for the SDK's commands on this store, without the SDK: it costs little more than `call`. It takes the commands of
   * `@aws-sdk/client-dynamodb`, of the streams' client, and of `@aws-sdk/lib-dynamodb` with plain values. It has no middleware and
   * never tries again.
   *
   * @example
   *   const { Item } = await store.lightClient().send(new GetItemCommand({ TableName: 'Books', Key: { id: { S: 'b1' } } }))
   *   console.log(Item?.title?.S) // Emma
   */
  lightClient(options?: LightClientOptions & { readonly as?: undefined }): LightClient
  /**
   * The same as an instance of a class of the SDK, for paginators and for programs that ask for one: `as: DynamoDBClient`, or
   * `as: DynamoDB` with a method for each operation.
   */
  lightClient<Client extends object>(options: LightClientOptions & { readonly as: LikeClass<Client> }): Client
  /**
   * Runs one operation, with the SDK's types for its input and output but without the SDK. Rejects with a `DynamoError`,
   * whose `name` is DynamoDB's.
   *
   * @example
   *   const { Item } = await store.call('GetItem', { TableName: 'Books', Key: { id: { S: 'b1' } } })
   *   console.log(Item?.title?.S) // Emma
   */
  call<Name extends StoreOperation>(operation: Name, input: StoreInput<Name>): Promise<StoreOutput<Name>>
  /**
   * Units of work on this store: a function reads, decides and writes, and is committed as a whole, retried, or refused.
   *
   * @example
   *   const balance = await store.transactor().transact(async (tx) => {
   *     const account = await tx.get('Accounts', { id: 'alice' })
   *     tx.update('Accounts', { id: 'alice' }, { add: { balance: 10 } })
   *     return account!.balance + 10
   *   })
   *   console.log(balance) // 110
   */
  transactor<Tables extends TableMap<Tables> = AnyTables>(
    options?: Omit<TransactorOptions, 'protocol' | 'record'>,
  ): Transactor<Tables>
  /**
   * A client of the AWS SDK for the streams of this store, without a socket. Needs the package
   * `@aws-sdk/client-dynamodb-streams`.
   *
   * @example
   *   const { Streams } = await store.streamsClient().listStreams({ TableName: 'Orders' })
   *   console.log(Streams?.length) // 1
   */
  streamsClient(config?: DynamoDBStreamsClientConfig): DynamoDBStreams
  /**
   * The changes of a table's items, in the order of their commits, as an async iterator. The table needs a stream. A reader
   * that remembers the `sequenceNumber` of the last change it has dealt with goes on exactly after it, also after a crash.
   * What was committed but is not kept any more is an error, never left out.
   *
   * @throws NoStream if the table has no stream; ChangesTrimmed if changes after that position are not kept any more
   *
   * @example
   *   await store.client().putItem({ TableName: 'Orders', Item: { id: { S: 'o2' }, total: { N: '5' } } })
   *   for await (const { event, keys, new: item, sequenceNumber } of store.changes('Orders', { from: 'start' })) {
   *     console.log(event, keys.id, item?.total, sequenceNumber.length)
   *     if (keys.id === 'o2') break
   *   }
   */
  changes<Item extends object = AnyItem>(
    table: string,
    options?: ChangesOptions & { readonly by?: 'record' },
  ): ChangeIterable<TableChange<Item>>
  /**
   * The same of one table or several, by whole commits: one element for each transaction or single write, with all that it
   * changed in these tables. A transaction is never seen in halves: `{ from: 'start', by: 'transaction' }`.
   */
  changes<Item extends object = AnyItem>(
    tables: string | readonly string[],
    options: ChangesOptions & { readonly by: 'transaction' },
  ): ChangeIterable<TransactionChanges<Item>>
  /**
   * Calls a handler with the changes of a table, by the rules of Lambda's event source mapping: a handler that was written for
   * Lambda runs unchanged. It may get a record more than once. The trigger ends with the store.
   *
   * @throws NoStream if the table has no stream
   *
   * @example
   *   await using trigger = store.trigger('Orders', { batchSize: 10, retries: 2 }, async (event) => {
   *     for (const { eventName, dynamodb } of event.Records) console.log(eventName, dynamodb.Keys['id']?.S) // INSERT o1
   *   })
   *   await trigger.idle()
   */
  trigger(table: string, options: TriggerOptions, handler: StreamHandler): Trigger
  /** What was committed to ledger tables, for good, and proofs of it that a stranger can check. */
  readonly ledger: StoreLedger
  /**
   * Serves this store over HTTP, on `http://127.0.0.1:8000` by default.
   *
   * @example
   *   const server = await store.listen({ port: 0 })
   *   const answer = await fetch(server.url)
   *   console.log(answer.status) // 200
   *   await server.stop()
   */
  listen(options?: ListenOptions): Promise<RunningServer>
  /**
   * A store of its own with the same content, in a moment and for little memory: what is changed on one side is copied then, and
   * the other side does not see it. It has everything that was acknowledged before the call; a request that is under way is in
   * it as a whole or not at all. Close it as any other store. Only for stores in memory.
   *
   * @example
   *   await using books = await store.fork()
   *   await books.call('DeleteItem', { TableName: 'Books', Key: { id: { S: 'b1' } } })
   *   const { Item } = await store.call('GetItem', { TableName: 'Books', Key: { id: { S: 'b1' } } })
   *   console.log(Item?.title?.S) // Emma
   */
  fork(options?: ForkOptions): Promise<Store>
  /**
   * What the store holds now, for `restore`: by the same rules as a fork. It takes memory for what is changed afterwards, until
   * nothing refers to it. Only for stores in memory.
   */
  snapshot(): Promise<StoreSnapshot>
  /**
   * Makes the content that of a snapshot, of this store or of another in memory. Clients and servers stay, and find it from
   * then on; the snapshot may be restored again. Requests that are under way end upon the content before, which is then gone,
   * and readers of changes and triggers end. Only for stores in memory.
   *
   * @throws TypeError if it is not a snapshot
   *
   * @example
   *   const before = await store.snapshot()
   *   await store.reset()
   *   await store.restore(before)
   *   const { Item } = await store.call('GetItem', { TableName: 'Books', Key: { id: { S: 'b1' } } })
   *   console.log(Item?.title?.S) // Emma
   */
  restore(snapshot: StoreSnapshot): Promise<void>
  /**
   * Writes the content to a file, from which `open({ memory: true, from: file })` makes another store: by the same rules as a
   * fork. A file of that name is replaced once all is written. Only for stores in memory.
   *
   * @throws DumpRefused if the file cannot be written
   *
   * @example
   *   await store.dump('books.dump')
   *   await using other = await open({ memory: true, from: 'books.dump' })
   *   const { Item } = await other.call('GetItem', { TableName: 'Books', Key: { id: { S: 'b1' } } })
   *   console.log(Item?.title?.S) // Emma
   */
  dump(file: string): Promise<void>
  /** Deletes all tables, and resolves when they are gone: an empty store for the next test. */
  reset(): Promise<void>
  /**
   * Resolves when the background work is done: indexes are filled, deleted tables and expired items are removed, transactions
   * have ended.
   */
  idle(): Promise<void>
  /** Stops the servers, completes the requests that were accepted, and closes the files. */
  close(): Promise<void>
}

/**
 * Opens a store in this process.
 *
 * @throws FolderRefused if the data folder cannot be used, DumpRefused if the dump cannot be
 *
 * @example
 *   await using own = await open({ memory: true })
 *   await own.call('CreateTable', {
 *     TableName: 'Notes',
 *     BillingMode: 'PAY_PER_REQUEST',
 *     AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
 *     KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
 *   })
 *   const { TableNames } = await own.client().listTables({})
 *   console.log(TableNames) // [ 'Notes' ]
 */
export async function open(options: OpenOptions): Promise<Store> {
  const units = import('../toolkit/open-transactor.js')
  units.catch(() => undefined)
  const { openLocalStore } = await import('./local-store.js')
  return openLocalStore(options, (await units).endpointTransactor)
}
