// Units of work: read, decide, write, in a lambda that is committed whole, tried again, or refused with a reason.
//
//   transact(fn) --> attempt: fn(tx) reads through the endpoint, buffers its writes
//                      |--> commit, in whatever way the endpoint allows (native | transact | intents)
//                      '--> on a conflict: wait (full jitter), and once more, up to the limit
//
// This file is the contract; every way to commit implements it, and one suite runs against all of them.

import type { Isolation } from '../../model/isolation.js'
import type { NumberValue } from '../values/values.js'

/** A type map from table name to the types of its key and items; any string and object without one. */
export interface TableTypes {
  readonly key: object
  readonly item: object
}
/** What a type map is held to; an interface or a type literal. */
export type TableMap<Tables> = { readonly [Name in keyof Tables]: TableTypes }
// eslint-disable-next-line typescript/no-explicit-any -- without a table map any object is an item
type Anything = { key: Record<string, any>; item: Record<string, any> }
export type AnyTables = Readonly<Record<string, Anything>>

export type IsolationLevel = Isolation

/** An expression over one item, with plain JavaScript values. */
export interface Condition {
  readonly expression: string
  readonly values?: Readonly<Record<string, unknown>>
  readonly names?: Readonly<Record<string, string>>
}

export interface QueryInput {
  /** Key condition: `'pk = :p AND begins_with(sk, :s)'`. */
  readonly key: string
  readonly filter?: string
  readonly values?: Readonly<Record<string, unknown>>
  readonly names?: Readonly<Record<string, string>>
  readonly index?: string
  /** At most so many items are returned. */
  readonly limit?: number
  readonly reverse?: boolean
}

export interface ScanInput {
  readonly filter?: string
  readonly values?: Readonly<Record<string, unknown>>
  readonly names?: Readonly<Record<string, string>>
  readonly index?: string
  readonly limit?: number
}

/** With the types of a table, only attributes outside of the key, and only numbers and sets in `add`. */
export type Update<Item, Key = unknown> =
  | {
      readonly set?: Partial<Settable<Item, Key>>
      /** Numbers to add, or sets to unite with. */
      readonly add?: { readonly [Name in AddableName<Settable<Item, Key>>]?: Settable<Item, Key>[Name] }
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

/** What a lambda gets. Reads see the unit's own writes; writes are buffered until the commit. */
export interface UnitOfWork<Tables extends TableMap<Tables> = AnyTables> {
  readonly id: string
  /** 1 for the first. */
  readonly attempt: number
  get<Name extends keyof Tables & string>(
    table: Name,
    key: Tables[Name]['key'],
    options?: { readonly lock?: boolean },
  ): Promise<Tables[Name]['item'] | undefined>
  /** In the order of the keys; undefined where there is no item. */
  getAll<Name extends keyof Tables & string>(
    table: Name,
    keys: readonly Tables[Name]['key'][],
  ): Promise<(Tables[Name]['item'] | undefined)[]>
  /** An array when awaited; `for await` holds one page at a time. */
  query<Name extends keyof Tables & string>(table: Name, input: QueryInput): Rows<Tables[Name]['item']>
  scan<Name extends keyof Tables & string>(table: Name, input?: ScanInput): Rows<Tables[Name]['item']>
  put<Name extends keyof Tables & string>(
    table: Name,
    item: Tables[Name]['item'] & Tables[Name]['key'],
    condition?: Condition,
  ): void
  update<Name extends keyof Tables & string>(
    table: Name,
    key: Tables[Name]['key'],
    update: Update<Tables[Name]['item'], Tables[Name]['key']>,
    condition?: Condition,
  ): void
  delete<Name extends keyof Tables & string>(
    table: Name,
    key: Tables[Name]['key'],
    condition?: Condition,
  ): void
  check<Name extends keyof Tables & string>(table: Name, key: Tables[Name]['key'], condition: Condition): void
  /** Ends the unit without a write: `transact` rejects with UnitAborted. */
  abort(reason?: unknown): never
  /** Called once, after the commit only. */
  onCommit(callback: () => void | Promise<void>): void
}

/** Items of a query or scan. */
export interface Rows<Item> extends PromiseLike<Item[]>, AsyncIterable<Item> {}

export interface RetryOptions {
  /** Further attempts after the first; 4 unless told otherwise. */
  readonly limit?: number
  /** How long to wait before the n-th further attempt (from 1); full jitter between 0 and 20 ms * 2^n by default. */
  readonly backoffMs?: (attempt: number) => number
}

export interface TransactOptions {
  readonly isolation?: IsolationLevel
  readonly retry?: RetryOptions
  /** For one attempt; 30,000 unless told otherwise. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** How a unit was committed. */
export type CommitProtocol = 'seriatim' | 'single' | 'transact' | 'intents' | 'read-only'

export interface OutcomeInfo {
  readonly id: string
  readonly protocol: CommitProtocol
  readonly attempts: number
  readonly requests: number
  /** Capacity units consumed, where the endpoint tells. */
  readonly capacity: number
}

export interface TransactorOptions {
  readonly protocol?: 'auto' | 'seriatim' | 'transact' | 'intents'
  /** Units in flight at once; others wait their turn. */
  readonly concurrency?: number
  readonly retry?: RetryOptions
  readonly isolation?: IsolationLevel
  readonly timeoutMs?: number
  /**
   * The table for transaction records on endpoints that are not Seriatim, `seriatim-transactions` by default; on Seriatim
   * the one for detached units, `seriatim-units` by default. `setup()` makes it.
   */
  readonly record?: string
  /**
   * Tables whose partitions have guards against phantoms, on endpoints that are not Seriatim. `write`: this transactor
   * writes them; `rely`: its queries also rely on them, and are not read again. Every writer of the table must take part.
   */
  readonly guards?: Readonly<Record<string, GuardUse>>
  /**
   * Requests under way at once on an endpoint that is not Seriatim; 48 unless told otherwise, because the SDK's client has
   * 50 sockets. A client with more of them (`requestHandler: { httpsAgent: { maxSockets } }`) bears more.
   */
  readonly parallelism?: number
  readonly patience?: PatienceOptions
  readonly onOutcome?: (info: OutcomeInfo) => void
  /**
   * Told what an `onCommit` callback or `onOutcome` has thrown, and, with `WriteLost`, that a plain writer has destroyed a
   * committed write; a process warning by default.
   */
  readonly onError?: (error: unknown) => void
  /** Bytes of items that one unit may hold; 64 MB unless told otherwise. */
  readonly unitBytesMax?: number
}

/** How long things may take. Nothing here bounds how long a unit takes that makes progress. */
export interface PatienceOptions {
  /** The answer to one request is waited for so long, then it is sent again; 5,000. Not on Seriatim. */
  readonly requestMs?: number
  /**
   * A commit that makes no progress for so long is given up; 30,000. On Seriatim: how long the answer to a commit is
   * waited for before it is sent again; 60,000.
   */
  readonly commitMs?: number
  /** A unit that has given no sign of life for so long is cancelled or finished by others; 10,000. Not on Seriatim. */
  readonly stalledMs?: number
  /** A unit waits so long for an older one before it is tried anew; 2,000. Not on Seriatim. */
  readonly waitMs?: number
  /** An older unit waits so long for a younger one before it cancels that; 100. Not on Seriatim. */
  readonly graceMs?: number
}

export type GuardUse = 'write' | 'rely'

export type Outcome = 'committed' | 'cancelled' | 'pending' | 'unknown'

/** A unit that outlives a lambda. Leaving its block, with `await using`, rolls it back unless it was committed. */
export interface UnitHandle<Tables extends TableMap<Tables> = AnyTables>
  extends UnitOfWork<Tables>, AsyncDisposable {
  commit(): Promise<void>
  rollback(): Promise<void>
  /** Persists it, so that `resume(id)` can go on with it, in another process perhaps. */
  detach(): Promise<string>
}

export interface SweepReport {
  readonly committed: number
  readonly cancelled: number
  readonly orphans: number
  readonly deleted: number
}

export interface Transactor<Tables extends TableMap<Tables> = AnyTables> {
  /** Resolves to what the lambda returned, once everything it wrote is committed. */
  transact<Result>(
    lambda: (tx: UnitOfWork<Tables>) => PromiseLike<Result> | Result,
    options?: TransactOptions,
  ): Promise<Result>
  /** Creates or verifies the tables that this way of committing needs. */
  setup(): Promise<void>
  begin(options?: TransactOptions): Promise<UnitHandle<Tables>>
  resume(id: string): Promise<UnitHandle<Tables>>
  outcome(id: string): Promise<Outcome>
  sweep(options?: { readonly tables?: readonly string[] }): Promise<SweepReport>
  /** Resolves when everything that goes on behind answered commits is done. */
  idle(): Promise<void>
}
