// What a caller of the toolkit can react to. Everything else is a defect or an error of the endpoint, passed on as it is.

/** Where a conflict or a failed condition was met, as far as it is known. */
export interface ConflictDetail {
  /** The name of the table. */
  readonly table?: string
  /** The key of the item as plain values, if one item was the cause. */
  readonly key?: Readonly<Record<string, unknown>>
  /** The id of the competing transaction, if the endpoint reports it. */
  readonly competitor?: string
}

/**
 * Other transactions conflicted with every attempt of the unit. Nothing was written, and a later retry may succeed.
 *
 * @example
 *   const unit = await t.begin()
 *   const alice = await unit.get('Accounts', { id: 'alice' })
 *   await t.transact((tx) => tx.put('Accounts', { id: 'alice', balance: 0 }))
 *   unit.put('Accounts', { id: 'alice', balance: alice!.balance + 1 })
 *   const error: unknown = await unit.commit().catch((caught: unknown) => caught)
 *   console.log(error instanceof Conflict) // true
 */
export class Conflict extends Error {
  override readonly name = 'Conflict'
  /** Where the last attempt met the conflict. */
  readonly detail: ConflictDetail
  /** Attempts, the last one included. */
  readonly attempts: number

  constructor(message: string, detail: ConflictDetail = {}, attempts = 1, options?: ErrorOptions) {
    super(message, options)
    this.detail = detail
    this.attempts = attempts
  }
}

/**
 * The request to commit was sent, and no answer came. The unit may or may not have been committed; `outcome(id)` may tell
 * later.
 */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
  /** The id to ask `outcome(id)` for. */
  readonly id: string

  constructor(message: string, id: string, options?: ErrorOptions) {
    super(message, options)
    this.id = id
  }
}

/**
 * The function of the unit called `tx.abort(reason)`. Nothing was written, and the unit is not retried.
 *
 * @example
 *   const error: unknown = await t.transact((tx) => tx.abort('sold out')).catch((caught: unknown) => caught)
 *   if (error instanceof UnitAborted) console.log(error.reason) // sold out
 */
export class UnitAborted extends Error {
  override readonly name = 'UnitAborted'
  /** What `abort` was called with. */
  readonly reason: unknown

  constructor(reason: unknown) {
    super(typeof reason === 'string' ? reason : 'the unit of work was aborted')
    this.reason = reason
  }
}

/** An attempt took longer than `timeoutMs` before its commit was sent. Nothing was written, and the unit is not retried. */
export class UnitExpired extends Error {
  override readonly name = 'UnitExpired'
}

/**
 * The store no longer keeps the old versions that the unit's snapshot needs: the unit took longer than `snapshotAgeMs`, or too
 * much was overwritten meanwhile. Nothing was written, and a retry may succeed.
 */
export class SnapshotTooOld extends Error {
  override readonly name = 'SnapshotTooOld'
}

/**
 * A condition or a check of the unit did not hold. Nothing was written, and the unit is not retried.
 *
 * @example
 *   const insert = t.transact((tx) => {
 *     tx.put('Accounts', { id: 'alice', balance: 0 }, { expression: 'attribute_not_exists(id)' })
 *   })
 *   const error: unknown = await insert.catch((caught: unknown) => caught)
 *   if (error instanceof ConditionFailed) console.log(error.detail.key) // { id: 'alice' }
 */
export class ConditionFailed extends Error {
  override readonly name = 'ConditionFailed'
  /** The table and key of the item that the condition is about. */
  readonly detail: ConflictDetail
  /** The item that the condition was evaluated on, as plain values; undefined if there was none, or it is not known. */
  readonly item: Readonly<Record<string, unknown>> | undefined

  constructor(
    message: string,
    detail: ConflictDetail = {},
    options: ErrorOptions & { readonly item?: Readonly<Record<string, unknown>> | undefined } = {},
  ) {
    const { item, ...rest } = options
    super(message, rest)
    this.detail = detail
    this.item = item
  }
}

/** `resume(id)` found no detached unit with this id: the unit was never detached, or it has ended. */
export class UnitNotFound extends Error {
  override readonly name = 'UnitNotFound'
  /** The id that was asked for. */
  readonly id: string

  constructor(message: string, id: string, options?: ErrorOptions) {
    super(message, options)
    this.id = id
  }
}

/**
 * Passed to `onError`, never thrown: a writer that does not use the toolkit has destroyed a committed write before it was
 * applied to its item. Only on endpoints that are not Seriatim.
 */
export class WriteLost extends Error {
  override readonly name = 'WriteLost'
  /** The id of the transaction whose write was lost. */
  readonly id: string
  /** The item that the write was for. */
  readonly detail: ConflictDetail

  constructor(message: string, id: string, detail: ConflictDetail) {
    super(message)
    this.id = id
    this.detail = detail
  }
}

/**
 * The lock was not granted within `waitMs`.
 *
 * @example
 *   await using held = await invoices.acquire('invoice-7')
 *   const error: unknown = await invoices.acquire('invoice-7', { waitMs: 0 }).catch((caught: unknown) => caught)
 *   console.log(error instanceof LockTimeout, held.held) // true true
 */
export class LockTimeout extends Error {
  override readonly name = 'LockTimeout'
}

/** The lock is no longer held: its lease ran out, or an operator broke it. Stop the work that it protects. */
export class LockLost extends Error {
  override readonly name = 'LockLost'
}
