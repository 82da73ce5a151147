// Errors as DynamoDB names them. Thrown by validation, and turned into an HTTP answer at the edge; inside the store a
// refusal is a value.

const DYNAMODB = 'com.amazonaws.dynamodb.v20120810#'
const CORAL_SERVICE = 'com.amazon.coral.service#'
const CORAL_VALIDATE = 'com.amazon.coral.validate#'
/** Of operations that DynamoDB does not have. */
const SERIATIM = 'com.seriatim.v20261101#'

const PREFIX_BY_NAME = {
  ValidationException: CORAL_VALIDATE,
  SerializationException: CORAL_SERVICE,
  UnknownOperationException: CORAL_SERVICE,
  AccessDeniedException: CORAL_SERVICE,
  UnrecognizedClientException: CORAL_SERVICE,
  InvalidSignatureException: CORAL_SERVICE,
  IncompleteSignatureException: CORAL_SERVICE,
  MissingAuthenticationTokenException: CORAL_SERVICE,
  ThrottlingException: CORAL_SERVICE,
  ResourceNotFoundException: DYNAMODB,
  ResourceInUseException: DYNAMODB,
  ConditionalCheckFailedException: DYNAMODB,
  DuplicateItemException: DYNAMODB,
  PolicyNotFoundException: DYNAMODB,
  GlobalTableNotFoundException: DYNAMODB,
  ProvisionedThroughputExceededException: DYNAMODB,
  TrimmedDataAccessException: DYNAMODB,
  ExpiredIteratorException: DYNAMODB,
  RequestLimitExceeded: DYNAMODB,
  LimitExceededException: DYNAMODB,
  ItemCollectionSizeLimitExceededException: DYNAMODB,
  TransactionConflictException: DYNAMODB,
  TransactionCanceledException: DYNAMODB,
  TransactionInProgressException: DYNAMODB,
  IdempotentParameterMismatchException: DYNAMODB,
  InternalServerError: DYNAMODB,
  TableNotFoundException: DYNAMODB,
  TableAlreadyExistsException: DYNAMODB,
  TableInUseException: DYNAMODB,
  BackupNotFoundException: DYNAMODB,
  BackupInUseException: DYNAMODB,
  ContinuousBackupsUnavailableException: DYNAMODB,
  InvalidRestoreTimeException: DYNAMODB,
  PointInTimeRecoveryUnavailableException: DYNAMODB,
  ExportConflictException: DYNAMODB,
  ExportNotFoundException: DYNAMODB,
  InvalidExportTimeException: DYNAMODB,
  ImportConflictException: DYNAMODB,
  ImportNotFoundException: DYNAMODB,
  UnitConflictException: SERIATIM,
  SnapshotTooOldException: SERIATIM,
  UnitExpiredException: SERIATIM,
} as const

/** The names of errors on the wire: DynamoDB's, and three of Seriatim's own operations. docs/reference/errors.md lists them. */
export type DynamoErrorName = keyof typeof PREFIX_BY_NAME

/** Messages repeat what a client has sent, as DynamoDB's do; of megabytes the beginning will do. */
const MESSAGE_LENGTH_MAX = 64 * 1024

/** Exceptions whose model names the member so. */
const MODELLED_MESSAGE: ReadonlySet<DynamoErrorName> = new Set([
  'TransactionCanceledException',
  'TransactionInProgressException',
  'IdempotentParameterMismatchException',
])

/** An item inside of an error as the JSON text it is stored as, which is sent as it stands. */
export class ItemText {
  readonly #json: Uint8Array

  constructor(json: Uint8Array) {
    this.#json = json
  }

  toString(): string {
    const { buffer, byteOffset, byteLength } = this.#json
    return Buffer.from(buffer, byteOffset, byteLength).toString()
  }
}

/**
 * A refused request, with the name, message and HTTP status that DynamoDB would answer with.
 *
 * @example
 *   const key = { id: { S: 'b1' } }
 *   const error: unknown = await store.call('GetItem', { TableName: 'Nope', Key: key }).catch((caught: unknown) => caught)
 *   if (error instanceof DynamoError) console.log(error.name, error.status) // ResourceNotFoundException 400
 */
export class DynamoError extends Error {
  /** DynamoDB's name of the error. */
  override readonly name: DynamoErrorName
  readonly #members: Readonly<Record<string, unknown>>

  constructor(name: DynamoErrorName, message: string, members: Readonly<Record<string, unknown>> = {}) {
    super(message.length <= MESSAGE_LENGTH_MAX ? message : `${message.slice(0, MESSAGE_LENGTH_MAX)}...`)
    this.name = name
    this.#members = members
  }

  /** Further members of the JSON body, such as `Item` or `CancellationReasons`. */
  get members(): Readonly<Record<string, unknown>> {
    return parsed(this.#members) as Readonly<Record<string, unknown>>
  }

  /** The HTTP status: 500 for `InternalServerError`, 400 for all others. */
  get status(): number {
    return this.name === 'InternalServerError' ? 500 : 400
  }

  /** The JSON body of the HTTP answer. The message is in `Message` for errors of AWS's service framework and of transactions, else in `message`. */
  toBody(): string {
    const prefix = PREFIX_BY_NAME[this.name]
    const messageMember = prefix === CORAL_SERVICE || MODELLED_MESSAGE.has(this.name) ? 'Message' : 'message'
    const message = this.message === '' ? undefined : this.message
    return textOf({ __type: prefix + this.name, [messageMember]: message, ...this.#members })
  }
}

/** As JSON.stringify writes it, with the texts of items as they are. */
function textOf(value: unknown): string {
  if (value instanceof ItemText) return value.toString()
  if (Array.isArray(value)) return `[${value.map((each) => textOf(each)).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${textOf(member)}`).join(',')}}`
}

function parsed(value: unknown): unknown {
  if (value instanceof ItemText) return JSON.parse(value.toString())
  if (Array.isArray(value)) return value.map((each) => parsed(each))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, parsed(member)]))
}

export const serializationError = (message: string): DynamoError =>
  new DynamoError('SerializationException', message)

export const validationError = (message: string): DynamoError =>
  new DynamoError('ValidationException', message)

/** What of the service has its newest words in a few regions only. Other operations have moved in most. */
export type Moving = 'scans' | 'transactions'

/**
 * A refusal that the service has worded anew, though not in all operations and regions: `older` is what some still say, `newest` what
 * a few say already.
 */
export class RewordedError extends DynamoError {
  readonly older: string
  readonly newest: string | undefined
  /** Which regions say `newest`. */
  readonly moving: Moving

  constructor(message: string, older: string, newest?: string, moving: Moving = 'scans') {
    super('ValidationException', message)
    this.older = older
    this.newest = newest
    this.moving = moving
  }
}

/** What is refused in the older words. */
export const inOlderWords = (error: DynamoError): DynamoError =>
  error instanceof RewordedError ? validationError(error.older) : error

/** Why a request met a transaction that is not decided: of single requests, and of an item of a transaction. */
export const TRANSACTION_ONGOING = 'Transaction is ongoing for the item'

export const transactionConflict = (): DynamoError =>
  new DynamoError('TransactionConflictException', TRANSACTION_ONGOING)

/** A condition that did not hold: of single writes, and of an item of a transaction. */
export const CONDITION_FAILED_MESSAGE = 'The conditional request failed'

/** A transaction that was not done, with a reason for each of its actions, in order. */
export function transactionCancelled(reasons: readonly { readonly Code: string }[]): DynamoError {
  const codes = reasons.map(({ Code }) => Code).join(', ')
  return new DynamoError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    { CancellationReasons: reasons },
  )
}
