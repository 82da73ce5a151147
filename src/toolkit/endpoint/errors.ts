// What a caller of the toolkit can react to. Everything else is a defect or an error of the endpoint, passed on as it is.

/** Where a conflict was met. */
export interface ConflictDetail {
  readonly table?: string
  /** The key of the item as plain values, where one item is to blame. */
  readonly key?: Readonly<Record<string, unknown>>
  /** The transaction that stood in the way, where the endpoint tells. */
  readonly competitor?: string
}

/** Other units were in the way at every attempt. Nothing was written; trying again later may succeed. */
export class Conflict extends Error {
  override readonly name = 'Conflict'
  readonly detail: ConflictDetail
  readonly attempts: number

  constructor(message: string, detail: ConflictDetail = {}, attempts = 1, options?: ErrorOptions) {
    super(message, options)
    this.detail = detail
    this.attempts = attempts
  }
}

/** The request to commit left, and nobody could say what became of it. `outcome(id)` may tell later. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
  readonly id: string

  constructor(message: string, id: string, options?: ErrorOptions) {
    super(message, options)
    this.id = id
  }
}

/** `tx.abort(reason)` was called: nothing was written, and it is not tried again. */
export class UnitAborted extends Error {
  override readonly name = 'UnitAborted'
  readonly reason: unknown

  constructor(reason: unknown) {
    super(typeof reason === 'string' ? reason : 'the unit of work was aborted')
    this.reason = reason
  }
}

/** The unit took longer than its limit before it asked to be committed. Nothing was written. */
export class UnitExpired extends Error {
  override readonly name = 'UnitExpired'
}

/** The versions that this snapshot needs are no longer kept. */
export class SnapshotTooOld extends Error {
  override readonly name = 'SnapshotTooOld'
}

/** A condition or a check of the unit did not hold. Nothing was written, and trying again would not help. */
export class ConditionFailed extends Error {
  override readonly name = 'ConditionFailed'
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

/** `resume(id)`: there is no detached unit with this id. It was ended, or never detached. */
export class UnitNotFound extends Error {
  override readonly name = 'UnitNotFound'
  readonly id: string

  constructor(message: string, id: string, options?: ErrorOptions) {
    super(message, options)
    this.id = id
  }
}

/**
 * Told through `onError`, never thrown: a committed write was destroyed by a plain writer before it was carried out. Only
 * on endpoints that are not Seriatim.
 */
export class WriteLost extends Error {
  override readonly name = 'WriteLost'
  /** The transaction's. */
  readonly id: string
  readonly detail: ConflictDetail

  constructor(message: string, id: string, detail: ConflictDetail) {
    super(message)
    this.id = id
    this.detail = detail
  }
}

/** The lock was not granted within `waitMs`. */
export class LockTimeout extends Error {
  override readonly name = 'LockTimeout'
}

/** The lock is no longer held: its lease ran out, or it was broken. */
export class LockLost extends Error {
  override readonly name = 'LockLost'
}
