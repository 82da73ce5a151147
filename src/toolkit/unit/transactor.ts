// Units of work: read, decide, write, in a lambda that is committed whole, tried again, or refused with a reason.
//
//   transact(fn) --> attempt: fn(tx) reads through the endpoint, buffers its writes
//                      |--> commit, in whatever way the endpoint allows (native | transact | intents)
//                      '--> on a conflict: wait (full jitter), and once more, up to the limit
//
// This file is the contract; every way to commit implements it, and one suite runs against all of them.

import type { LedgerRevision } from '../values/revision.js'
import type { Isolation } from '../../model/isolation.js'
import type { NumberValue } from '../values/values.js'

/** The types of one table, in a type map: those of its key and of its items. */
export interface TableTypes {
  /** The attributes of the primary key. */
  readonly key: object
  /** All attributes of an item, the key included. */
  readonly item: object
}
/**
 * What a type map of the tables must look like. Any interface whose members are table names will do.
 *
 * @example
 *   interface Tables {
 *     Accounts: { key: { id: string }; item: { id: string; balance: number } }
 *   }
 *   const typed = transactor<Tables>(client)
 *   const account = await typed.transact((tx) => tx.get('Accounts', { id: 'alice' }))
 *   console.log(account?.balance) // 100
 */
export type TableMap<Tables> = { readonly [Name in keyof Tables]: TableTypes }
// eslint-disable-next-line typescript/no-explicit-any -- without a table map any object is an item
type Anything = { key: Record<string, any>; item: Record<string, any> }
/** The type map of a transactor that was given none: any table, any attributes. */
export type AnyTables = Readonly<Record<string, Anything>>

/**
 * The isolation level of a unit; `serializable` by default. docs/explanation/isolation.md says what each of them guarantees.
 */
export type IsolationLevel = Isolation

/**
 * An expression over one item, in DynamoDB's syntax but with plain JavaScript values.
 *
 * @example
 *   const condition: Condition = { expression: 'balance >= :min', values: { ':min': 50 } }
 *   await t.transact((tx) => tx.delete('Accounts', { id: 'alice' }, condition))
 */
export interface Condition {
  /** A condition expression; reserved words may stand as they are. */
  readonly expression: string
  /** Values of placeholders such as `:min`. */
  readonly values?: Readonly<Record<string, unknown>>
  /** Names of placeholders such as `#status`. */
  readonly names?: Readonly<Record<string, string>>
}

/** Which items a query returns. */
export interface QueryInput {
  /** Key condition: `'pk = :p AND begins_with(sk, :s)'`. */
  readonly key: string
  /** A condition that the returned items must meet. */
  readonly filter?: string
  /** Values of placeholders such as `:p`. */
  readonly values?: Readonly<Record<string, unknown>>
  /** Names of placeholders such as `#pk`. */
  readonly names?: Readonly<Record<string, string>>
  /** The name of a secondary index; the table itself by default. */
  readonly index?: string
  /** The most items to return, after the filter; all of them by default. */
  readonly limit?: number
  /** Whether to return the items in descending order of the sort key; ascending by default. */
  readonly reverse?: boolean
}

/** Which items a scan returns. */
export interface ScanInput {
  /** A condition that the returned items must meet. */
  readonly filter?: string
  /** Values of placeholders such as `:p`. */
  readonly values?: Readonly<Record<string, unknown>>
  /** Names of placeholders such as `#status`. */
  readonly names?: Readonly<Record<string, string>>
  /** The name of a secondary index; the table itself by default. */
  readonly index?: string
  /** The most items to return, after the filter; all of them by default. */
  readonly limit?: number
}

/**
 * A change of one item: by attributes, or by an update expression. With a type map, `set`, `add` and `remove` accept only
 * attributes outside of the key, and `add` only numbers and sets.
 *
 * @example
 *   await t.transact((tx) => {
 *     tx.update('Accounts', { id: 'alice' }, { set: { owner: 'Alice' }, add: { balance: 5 }, remove: ['note'] })
 *   })
 */
export type Update<Item, Key = unknown> =
  | {
      /** Attributes to set. */
      readonly set?: Partial<Settable<Item, Key>>
      /** Numbers to add, or sets to unite with. */
      readonly add?: { readonly [Name in AddableName<Settable<Item, Key>>]?: Settable<Item, Key>[Name] }
      /** Names of attributes to remove. */
      readonly remove?: readonly (keyof Settable<Item, Key> & string)[]
    }
  | (Condition & { readonly set?: never; readonly add?: never; readonly remove?: never })

/** Without a table map every name may be in the key, and in the item. */
type Settable<Item, Key> = string extends keyof Item ? Item : Omit<Item, keyof Key>
type AddableName<Item> = {
  [Name in keyof Item]-?: unknown extends Item[Name]
    ? Name
    : NonNullable<Item[Name]> extends number | bigint | NumberValue | ReadonlySet<unknown>
      ? Name
      : never
}[keyof Item]

/**
 * What the function of a unit is called with. Reads see the unit's own writes. Writes are buffered until the commit.
 *
 * @example
 *   await t.transact(async (tx) => {
 *     const alice = await tx.get('Accounts', { id: 'alice' })
 *     if (alice === undefined || alice.balance < 30) return tx.abort('insufficient funds')
 *     tx.update('Accounts', { id: 'alice' }, { add: { balance: -30 } })
 *     tx.update('Accounts', { id: 'bob' }, { add: { balance: 30 } })
 *   })
 */
export interface UnitOfWork<Tables extends TableMap<Tables> = AnyTables> {
  /** The id of the unit, the same at every attempt. */
  readonly id: string
  /** The number of this attempt; 1 for the first. */
  readonly attempt: number
  /**
   * Reads one item as a plain object; undefined if there is none. With `lock: true` no other unit writes the item until this
   * unit ends.
   */
  get<Name extends keyof Tables & string>(
    table: Name,
    key: Tables[Name]['key'],
    options?: { readonly lock?: boolean },
  ): Promise<Tables[Name]['item'] | undefined>
  /** Reads several items of one table. They come in the order of the keys, with undefined where there is no item. */
  getAll<Name extends keyof Tables & string>(
    table: Name,
    keys: readonly Tables[Name]['key'][],
  ): Promise<(Tables[Name]['item'] | undefined)[]>
  /**
   * Reads the items of one partition, in the order of the sort key: an array when awaited; `for await` holds one page at a
   * time.
   *
   * @example
   *   const dune = await t.transact((tx) =>
   *     tx.query('Seats', { key: 'show = :s AND seat < :n', values: { ':s': 'dune', ':n': 3 } }),
   *   )
   *   console.log(dune.length) // 2
   */
  query<Name extends keyof Tables & string>(table: Name, input: QueryInput): Rows<Tables[Name]['item']>
  /**
   * Reads a whole table or index, in no particular order: an array when awaited; `for await` holds one page at a time.
   *
   * @example
   *   const free = await t.transact((tx) => tx.scan('Seats', { filter: 'attribute_not_exists(guest)' }))
   *   console.log(free.length) // 3
   */
  scan<Name extends keyof Tables & string>(table: Name, input?: ScanInput): Rows<Tables[Name]['item']>
  /**
   * Runs a statement of PartiQL, with plain values for its parameters. Resolves to the rows of a SELECT, or to what RETURNING
   * asks for. INSERT, UPDATE and DELETE are buffered as `put`, `update` and `delete` are; what their WHERE asks beside the key is
   * a condition of the commit.
   *
   * @example
   *   const seats = await t.transact(async (tx) => {
   *     await tx.execute(`UPDATE Seats SET guest = ? WHERE show = 'dune' AND seat = 1`, ['ada'])
   *     return tx.execute(`SELECT seat FROM Seats WHERE show = ? AND guest = 'ada'`, ['dune'])
   *   })
   *   console.log(seats.length) // 1
   */
  execute<Row extends object = Record<string, unknown>>(
    statement: string,
    parameters?: readonly unknown[],
  ): Promise<Row[]>
  /**
   * The versions of an item of a ledger table, the oldest first, up to the one that the unit sees; its own writes are none yet. The
   * item counts as read. An array when awaited; `for await` holds one page at a time.
   *
   * @example
   *   const owners = await t.transact(async (tx) => {
   *     const versions = await tx.history('Vehicles', { vin: 'v1' })
   *     return versions.map(({ item }) => item?.owner)
   *   })
   *   console.log(owners) // [ 'ann' ]
   */
  history<Name extends keyof Tables & string>(
    table: Name,
    key: Tables[Name]['key'],
  ): Rows<LedgerRevision<Tables[Name]['item'] & object>>
  /** Writes a whole item at the commit. If the condition does not hold, the unit is refused with `ConditionFailed`. */
  put<Name extends keyof Tables & string>(
    table: Name,
    item: Tables[Name]['item'] & Tables[Name]['key'],
    condition?: Condition,
  ): void
  /** Changes attributes of an item at the commit, or creates the item. A condition applies as with `put`. */
  update<Name extends keyof Tables & string>(
    table: Name,
    key: Tables[Name]['key'],
    update: Update<Tables[Name]['item'], Tables[Name]['key']>,
    condition?: Condition,
  ): void
  /** Deletes an item at the commit, if there is one. A condition applies as with `put`. */
  delete<Name extends keyof Tables & string>(
    table: Name,
    key: Tables[Name]['key'],
    condition?: Condition,
  ): void
  /** Requires a condition of an item that the unit does not write. It is evaluated at the commit. */
  check<Name extends keyof Tables & string>(table: Name, key: Tables[Name]['key'], condition: Condition): void
  /** Ends the unit without a write: `transact` rejects with `UnitAborted`, and does not retry. */
  abort(reason?: unknown): never
  /** Registers a callback that is called once, and only after the unit was committed. */
  onCommit(callback: () => void | Promise<void>): void
}

/** The items of a query or scan: await them for an array, or read them page by page with `for await`. */
export interface Rows<Item> extends PromiseLike<Item[]>, AsyncIterable<Item> {}

/** How often a unit is retried after a conflict, and after which pauses. */
export interface RetryOptions {
  /** Further attempts after the first; 4 by default. */
  readonly limit?: number
  /**
   * The pause before the n-th further attempt (from 1), in milliseconds. By default a random time between 0 and 20 ms * 2^n,
   * or 1 ms * 2^n on a store in this process.
   */
  readonly backoffMs?: (attempt: number) => number
}

/** Options of one unit. They take precedence over those of the transactor. */
export interface TransactOptions {
  /** The isolation level; that of the transactor by default. */
  readonly isolation?: IsolationLevel
  /** How often the unit is retried; that of the transactor by default. */
  readonly retry?: RetryOptions
  /** The time that one attempt may take until its commit is sent, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number
  /** Ends the unit, until its commit is sent. */
  readonly signal?: AbortSignal
}

/**
 * How a unit was committed: by Seriatim's own operation, by one conditional write, by one TransactWriteItems, by intents
 * (conditional writes and a record), or by reading alone.
 */
export type CommitProtocol = 'seriatim' | 'single' | 'transact' | 'intents' | 'read-only'

/** What `onOutcome` is told of a committed unit. */
export interface OutcomeInfo {
  /** The id of the unit. */
  readonly id: string
  /** How it was committed. */
  readonly protocol: CommitProtocol
  /** Attempts, the last one included. */
  readonly attempts: number
  /** Requests to the endpoint, of all attempts. */
  readonly requests: number
  /** Capacity units consumed, as far as the endpoint reports them. */
  readonly capacity: number
}

/**
 * Options of a transactor; all have defaults.
 *
 * @example
 *   const patient = transactor(client, { retry: { limit: 10 }, timeoutMs: 60_000 })
 *   await patient.transact((tx) => tx.put('Books', { id: 'b2', title: 'Persuasion' }))
 */
export interface TransactorOptions {
  /**
   * How units are committed. `auto`, the default, asks the endpoint. `seriatim`: by Seriatim's own operations. `transact`: by
   * TransactWriteItems, and a unit that does not fit one is refused. `intents`: by conditional writes alone.
   */
  readonly protocol?: 'auto' | 'seriatim' | 'transact' | 'intents'
  /** Units in flight at once; 1,000 by default. Others wait for their turn. */
  readonly concurrency?: number
  /** How often units are retried. */
  readonly retry?: RetryOptions
  /** The isolation level of units; `serializable` by default. */
  readonly isolation?: IsolationLevel
  /** The time that one attempt may take until its commit is sent, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number
  /**
   * The table for transaction records on endpoints that are not Seriatim, `seriatim-transactions` by default. On Seriatim the
   * table for detached units, `seriatim-units` by default. `setup()` creates it.
   */
  readonly record?: string
  /**
   * Tables whose partitions have guards against phantoms, on endpoints that are not Seriatim. `write`: this transactor
   * writes them; `rely`: its queries also rely on them, and are not read again. Every writer of the table must take part.
   */
  readonly guards?: Readonly<Record<string, GuardUse>>
  /**
   * Requests in flight at once on an endpoint that is not Seriatim; 48 by default, because the SDK's client has 50 sockets.
   * Raise it together with the sockets of the client (`requestHandler: { httpsAgent: { maxSockets } }`).
   */
  readonly parallelism?: number
  /** How long requests and other units are waited for. */
  readonly patience?: PatienceOptions
  /** Called after each committed unit. */
  readonly onOutcome?: (info: OutcomeInfo) => void
  /**
   * Called with what an `onCommit` or `onOutcome` callback has thrown, and with `WriteLost` when a plain writer has destroyed
   * a committed write. By default it becomes a process warning.
   */
  readonly onError?: (error: unknown) => void
  /** Bytes of items that one unit may hold; 64 MB by default. */
  readonly unitBytesMax?: number
  /** `refused`: a statement of `tx.execute` that would read a whole table or index is refused; `allowed` by default. */
  readonly statementScans?: 'allowed' | 'refused'
}

/** How long a transactor waits, in milliseconds. Nothing here limits a unit that makes progress. */
export interface PatienceOptions {
  /** The wait for the answer to one request, before it is sent again; 5,000 by default. Not on Seriatim. */
  readonly requestMs?: number
  /**
   * The time without progress after which a commit is given up; 30,000 by default. On Seriatim the wait for the answer to a
   * commit, before it is sent again; 60,000 by default.
   */
  readonly commitMs?: number
  /**
   * The time without a sign of life after which other units cancel or finish a unit; 10,000 by default. Not on Seriatim.
   */
  readonly stalledMs?: number
  /** The wait for an older unit, before this one is retried; 2,000 by default. Not on Seriatim. */
  readonly waitMs?: number
  /** The wait for a younger unit, before it is cancelled; 100 by default. Not on Seriatim. */
  readonly graceMs?: number
}

/** What a transactor does with the guards of a table: it only writes them, or its queries also rely on them. */
export type GuardUse = 'write' | 'rely'

/**
 * What became of a unit. `pending`: it is detached or being committed. `unknown`: nothing is recorded of it, or nothing any
 * more.
 */
export type Outcome = 'committed' | 'cancelled' | 'pending' | 'unknown'

/**
 * A unit without a function: the program commits it itself, and it is never retried. With `await using` it is rolled back at
 * the end of its block unless it was committed.
 *
 * @example
 *   await using unit = await t.begin()
 *   const alice = await unit.get('Accounts', { id: 'alice' })
 *   unit.put('Accounts', { id: 'alice', balance: alice!.balance - 30 })
 *   await unit.commit()
 */
export interface UnitHandle<Tables extends TableMap<Tables> = AnyTables>
  extends UnitOfWork<Tables>, AsyncDisposable {
  /** Commits the unit. Rejects with `Conflict`, `ConditionFailed` or another error, as `transact` does. */
  commit(): Promise<void>
  /** Ends the unit without a write; for good if it was detached. */
  rollback(): Promise<void>
  /**
   * Stores the unit in a table, so that `resume(id)` can continue it, also in another process. Resolves to its id.
   *
   * @example
   *   await t.setup()
   *   const unit = await t.begin()
   *   unit.put('Books', { id: 'b3', title: 'Emma' })
   *   const id = await unit.detach()
   *   console.log(await t.outcome(id)) // pending
   *   const resumed = await t.resume(id)
   *   await resumed.commit()
   *   console.log(await t.outcome(id)) // committed
   */
  detach(): Promise<string>
}

/** What a sweep has done; all zero on Seriatim, where nothing has to be swept. */
export interface SweepReport {
  /** Committed units of dead processes whose writes were completed. */
  readonly committed: number
  /** Units of dead processes that were cancelled. */
  readonly cancelled: number
  /** Intents without a record that were found: what a process wrote that died before it had begun its record. */
  readonly orphans: number
  /** Records that were deleted. */
  readonly deleted: number
}

/**
 * Runs units of work on one endpoint: `store.transactor()` for a store in this process, `transactor(client)` for others.
 */
export interface Transactor<Tables extends TableMap<Tables> = AnyTables> {
  /**
   * Runs a function as one unit of work, commits it, and retries it after a conflict. Resolves to what the function returned,
   * once everything it wrote is committed. The function may run several times: effects outside of the store belong into
   * `tx.onCommit`.
   *
   * @example
   *   const balance = await t.transact(async (tx) => {
   *     const account = await tx.get('Accounts', { id: 'alice' })
   *     tx.update('Accounts', { id: 'alice' }, { add: { balance: 10 } })
   *     return account!.balance + 10
   *   })
   *   console.log(balance) // 110
   */
  transact<Result>(
    lambda: (tx: UnitOfWork<Tables>) => PromiseLike<Result> | Result,
    options?: TransactOptions,
  ): Promise<Result>
  /** Creates the table that detached units or transaction records need, or verifies it. */
  setup(): Promise<void>
  /** Begins a unit that the program commits itself. */
  begin(options?: TransactOptions): Promise<UnitHandle<Tables>>
  /**
   * The handle of a detached unit, in this process or another one.
   * @throws UnitNotFound if there is no detached unit with this id
   */
  resume(id: string): Promise<UnitHandle<Tables>>
  /** What became of a unit, as far as it is recorded. */
  outcome(id: string): Promise<Outcome>
  /** Completes what dead processes left in these tables, and deletes old records. Not needed on Seriatim. */
  sweep(options?: { readonly tables?: readonly string[] }): Promise<SweepReport>
  /** Resolves when all background work of answered commits is done. */
  idle(): Promise<void>
}
