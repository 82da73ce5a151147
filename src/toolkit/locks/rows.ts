// The rows of a lock table, and the conditional writes that change them (docs/adr/0012-locks.md has the table of both).
//
// Everything here is data: requests in the shapes of the AWS SDK, and rows made of the items that come back.
import type {
  AttributeValue,
  DeleteItemCommandInput,
  GetItemCommandInput,
  PutItemCommandInput,
  QueryCommandInput,
  UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'

/** What is locked: a name, within a namespace. */
export interface LockName {
  readonly namespace: string
  readonly name: string
}

/** The lock row; `NOBODY` before anyone has entered. */
export interface LockState {
  /** The highest ticket that ever entered. */
  readonly granted: bigint
  /** The highest that ever entered alone. */
  readonly exclusive: bigint
  /** How often anyone entered: whoever enters alone compares it. */
  readonly entries: bigint
  /** The tickets inside, of those that may stand beside each other up to a limit. Some may have left since. */
  readonly inside: readonly bigint[]
}

export const NOBODY: LockState = { granted: 0n, exclusive: 0n, entries: 0n, inside: [] }

/** A place in the queue. */
export interface QueueRow {
  readonly ticket: bigint
  readonly owner: string
  readonly shared: boolean
  /** How many may be inside at once, as its owner wants it; 1 is alone. */
  readonly limit: number
  /** Only grows. */
  readonly beat: number
  readonly leaseMs: number
  /** When it was written, by the clock of its owner; for display only. */
  readonly sinceMs: number
  readonly label?: string
  /** What its owner shows to others. */
  readonly data?: AttributeValue
  /** This beat has been unchanged for at least so long, as others observed. */
  readonly suspectedMs?: number
  /** When this beat was first suspected, by the wall clock of whoever did. */
  readonly suspectedAtMs?: number
}

/** A queue and its lock row, as one query showed them. */
export interface QueueView {
  readonly lock: LockState
  /** By ticket. */
  readonly rows: readonly QueueRow[]
}

type Item = Record<string, AttributeValue>
type Key = { pk: { S: string }; sk: { S: string } }

export const TICKET_DIGITS = 38
const COUNTER_KEY: Key = { pk: { S: '.tickets' }, sk: { S: '.tickets' } }
/** Far beyond any skew of clocks: the service must never remove a row that lives. */
const ROW_TTL_SECONDS = 2 * 86_400
/** Longer than any request can still be on its way. */
const LOCK_TTL_SECONDS = 30 * 86_400

// A lock row's key has a slash in it and the counter's has none; a namespace has none, for it is encoded.
const prefixOf = ({ namespace }: LockName): string => `${encodeURIComponent(namespace)}/`
const paddedTicket = (ticket: bigint): string => ticket.toString().padStart(TICKET_DIGITS, '0')
const text = (value: string): { S: string } => ({ S: value })
const number = (value: bigint | number): { N: string } => ({ N: value.toString() })
const seconds = (nowMs: number, ahead: number): { N: string } => number(Math.floor(nowMs / 1000) + ahead)

export function lockKey(name: LockName): Key {
  return { pk: text(name.name), sk: text(`${prefixOf(name)}lock`) }
}

export function queueKey(name: LockName, ticket: bigint): Key {
  return { pk: text(name.name), sk: text(`${prefixOf(name)}queue/${paddedTicket(ticket)}`) }
}

export function drawRequest(table: string): UpdateItemCommandInput {
  return {
    TableName: table,
    Key: COUNTER_KEY,
    UpdateExpression: 'ADD #next :one',
    ExpressionAttributeNames: { '#next': 'next' },
    ExpressionAttributeValues: { ':one': number(1) },
    ReturnValues: 'UPDATED_NEW',
  }
}

export const drawnTicket = (attributes: Item | undefined): bigint => bigintOf(attributes?.['next'])

export function enqueueRequest(
  table: string,
  name: LockName,
  row: QueueRow,
  nowMs: number,
): PutItemCommandInput {
  return {
    TableName: table,
    Item: {
      ...queueKey(name, row.ticket),
      owner: text(row.owner),
      shared: { BOOL: row.shared },
      beat: number(row.beat),
      leaseMs: number(row.leaseMs),
      since: number(row.sinceMs),
      ...(row.limit !== 1 && { limit: number(row.limit) }),
      ...(row.label !== undefined && { label: text(row.label) }),
      ...(row.data !== undefined && { data: row.data }),
      expiresAt: seconds(nowMs, ROW_TTL_SECONDS),
    },
    ConditionExpression: 'attribute_not_exists(pk)',
  }
}

/** The lock row and the queue up to that ticket, or all of it. The lock row sorts before the queue. */
export function queueRequest(table: string, name: LockName, upTo: bigint | 'all'): QueryCommandInput {
  const last = upTo === 'all' ? `${prefixOf(name)}queue/~` : queueKey(name, upTo).sk.S
  return {
    TableName: table,
    KeyConditionExpression: 'pk = :name AND sk BETWEEN :lock AND :last',
    ExpressionAttributeValues: { ':name': text(name.name), ':lock': lockKey(name).sk, ':last': text(last) },
    ConsistentRead: true,
  }
}

export function lockRequest(table: string, name: LockName): GetItemCommandInput {
  return { TableName: table, Key: lockKey(name), ConsistentRead: true }
}

export function rowRequest(table: string, name: LockName, ticket: bigint): GetItemCommandInput {
  return { TableName: table, Key: queueKey(name, ticket), ConsistentRead: true }
}

/**
 * Enters alone, or beside those `inside`. `known` is what the lock row was before the queue was looked at: nobody has entered since.
 * The second part of the condition follows from the first as long as every client keeps the rules; it is there so that
 * the granted number only grows whatever a client does.
 */
export function enterAloneRequest(
  table: string,
  name: LockName,
  ticket: bigint,
  known: LockState,
  nowMs: number,
  inside?: readonly bigint[],
): UpdateItemCommandInput {
  const first = known.entries === 0n
  return {
    TableName: table,
    Key: lockKey(name),
    UpdateExpression: `SET granted = :ticket, alone = :ticket, ${inside ? 'inside = :inside, ' : ''}expiresAt = :expiresAt ADD entries :one`,
    ConditionExpression: `${first ? 'attribute_not_exists(entries)' : 'entries = :entries'} AND (attribute_not_exists(granted) OR granted < :ticket)`,
    ExpressionAttributeValues: {
      ':ticket': number(ticket),
      ':one': number(1),
      ':expiresAt': seconds(nowMs, LOCK_TTL_SECONDS),
      ...(!first && { ':entries': number(known.entries) }),
      ...(inside && { ':inside': { NS: inside.map(String) } }),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

/** Enters beside others: nobody has entered alone since `known`. The granted number is raised, never lowered. */
export function enterSharedRequest(
  table: string,
  name: LockName,
  ticket: bigint,
  known: LockState,
  nowMs: number,
): UpdateItemCommandInput {
  const raises = known.granted < ticket
  const nobodyAlone = known.exclusive === 0n
  const granted = raises ? '(attribute_not_exists(granted) OR granted < :ticket)' : 'granted >= :ticket'
  return {
    TableName: table,
    Key: lockKey(name),
    UpdateExpression: `SET ${raises ? 'granted = :ticket, ' : ''}expiresAt = :expiresAt ADD entries :one`,
    ConditionExpression: `${nobodyAlone ? 'attribute_not_exists(alone)' : 'alone = :alone'} AND ${granted}`,
    ExpressionAttributeValues: {
      ':ticket': number(ticket),
      ':one': number(1),
      ':expiresAt': seconds(nowMs, LOCK_TTL_SECONDS),
      ...(!nobodyAlone && { ':alone': number(known.exclusive) }),
    },
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

/** The owner lives. A beat that arrives late or twice never sets the number back. */
export function heartbeatRequest(
  table: string,
  name: LockName,
  row: { readonly ticket: bigint; readonly owner: string; readonly beat: number },
  nowMs: number,
): UpdateItemCommandInput {
  return {
    TableName: table,
    Key: queueKey(name, row.ticket),
    UpdateExpression: 'SET beat = :beat, expiresAt = :expiresAt REMOVE suspectedMs, suspectedAt',
    ConditionExpression: '#owner = :owner AND beat < :beat',
    ExpressionAttributeNames: { '#owner': 'owner' },
    ExpressionAttributeValues: {
      ':owner': text(row.owner),
      ':beat': number(row.beat),
      ':expiresAt': seconds(nowMs, ROW_TTL_SECONDS),
    },
  }
}

/** Other data to show, by its owner. */
export function showRequest(
  table: string,
  name: LockName,
  row: { readonly ticket: bigint; readonly owner: string },
  data: AttributeValue,
): UpdateItemCommandInput {
  return {
    TableName: table,
    Key: queueKey(name, row.ticket),
    UpdateExpression: 'SET #data = :data',
    ConditionExpression: '#owner = :owner',
    ExpressionAttributeNames: { '#owner': 'owner', '#data': 'data' },
    ExpressionAttributeValues: { ':owner': text(row.owner), ':data': data },
  }
}

export function releaseRequest(
  table: string,
  name: LockName,
  row: { readonly ticket: bigint; readonly owner: string },
): DeleteItemCommandInput {
  return {
    TableName: table,
    Key: queueKey(name, row.ticket),
    ConditionExpression: '#owner = :owner',
    ExpressionAttributeNames: { '#owner': 'owner' },
    ExpressionAttributeValues: { ':owner': text(row.owner) },
  }
}

/** Of another, whose beat has been unchanged for a lease: if it beats at last, this does nothing. */
export function removeRequest(table: string, name: LockName, row: QueueRow): DeleteItemCommandInput {
  return {
    TableName: table,
    Key: queueKey(name, row.ticket),
    ConditionExpression: '#owner = :owner AND beat = :beat',
    ExpressionAttributeNames: { '#owner': 'owner' },
    ExpressionAttributeValues: { ':owner': text(row.owner), ':beat': number(row.beat) },
  }
}

/** This beat has been unchanged for at least so long: a bound is only ever raised. */
export function suspectRequest(
  table: string,
  name: LockName,
  row: QueueRow,
  unchangedMs: number,
  nowMs: number,
): UpdateItemCommandInput {
  return {
    TableName: table,
    Key: queueKey(name, row.ticket),
    UpdateExpression: 'SET suspectedMs = :bound, suspectedAt = if_not_exists(suspectedAt, :now)',
    ConditionExpression:
      '#owner = :owner AND beat = :beat AND (attribute_not_exists(suspectedMs) OR suspectedMs < :bound)',
    ExpressionAttributeNames: { '#owner': 'owner' },
    ExpressionAttributeValues: {
      ':owner': text(row.owner),
      ':beat': number(row.beat),
      ':bound': number(Math.floor(unchangedMs)),
      ':now': number(Math.floor(nowMs)),
    },
  }
}

/** What `waitForRowGone` asks of an endpoint that can wake. */
export function goneRequest(table: string, name: LockName, ticket: bigint, timeoutMs: number): object {
  return {
    TableName: table,
    Key: queueKey(name, ticket),
    ConditionExpression: 'attribute_not_exists(pk)',
    TimeoutMs: timeoutMs,
  }
}

export function lockStateOf(item: Item | undefined): LockState {
  if (item === undefined) return NOBODY
  return {
    granted: bigintOf(item['granted']),
    exclusive: bigintOf(item['alone']),
    entries: bigintOf(item['entries']),
    inside: (item['inside']?.NS ?? []).map(BigInt),
  }
}

export function queueViewOf(items: readonly Item[]): QueueView {
  const lock = items.find((item) => placeOf(item)?.kind === 'lock')
  return { lock: lockStateOf(lock), rows: items.flatMap((item) => queueRowOf(item) ?? []) }
}

export function queueRowOf(item: Item): QueueRow | undefined {
  const place = placeOf(item)
  if (place?.kind !== 'queue') return undefined
  const { limit, label, data, suspectedMs, suspectedAt } = item
  return {
    ticket: place.ticket,
    owner: item['owner']?.S ?? '',
    shared: item['shared']?.BOOL === true,
    limit: limit === undefined ? 1 : numberOf(limit),
    beat: numberOf(item['beat']),
    leaseMs: numberOf(item['leaseMs']),
    sinceMs: numberOf(item['since']),
    ...(label?.S !== undefined && { label: label.S }),
    ...(data !== undefined && { data }),
    ...(suspectedMs !== undefined && { suspectedMs: numberOf(suspectedMs) }),
    ...(suspectedAt !== undefined && { suspectedAtMs: numberOf(suspectedAt) }),
  }
}

export type RowPlace =
  | { readonly kind: 'lock'; readonly name: LockName }
  | { readonly kind: 'queue'; readonly name: LockName; readonly ticket: bigint }

const PLACE = /^([^/]*)\/(?:lock|queue\/(\d{38}))$/

/** Which row that is; undefined for the counter and for what is not of ours. */
export function placeOf(item: Item): RowPlace | undefined {
  const match = PLACE.exec(item['sk']?.S ?? '')
  const name = item['pk']?.S
  const namespace = match === null ? undefined : decoded(match[1]!)
  if (match === null || namespace === undefined || name === undefined) return undefined
  const of: LockName = { name, namespace }
  return match[2] === undefined
    ? { kind: 'lock', name: of }
    : { kind: 'queue', name: of, ticket: BigInt(match[2]) }
}

/** Undefined if it was never encoded: others may keep what they like in the same table. */
function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const bigintOf = (value: AttributeValue | undefined): bigint => BigInt(value?.N ?? 0)
const numberOf = (value: AttributeValue | undefined): number => Number(value?.N ?? 0)
