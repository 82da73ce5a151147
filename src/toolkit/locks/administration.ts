// For people and for tidiness: the table, who holds and waits, breaking a lock, removing what is dead.
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { fromSdkItem, unmarshallItem } from '../values/values.js'
import { insist } from './calls.js'
import type { ClientParts } from './client-parts.js'
import {
  placeOf,
  queueRequest,
  queueViewOf,
  removeRequest,
  type LockName,
  type QueueRow,
  type QueueView,
} from './rows.js'
import { holders, observerLeaseMs } from './rules.js'

/** One client in the queue of a lock: a holder or a waiter. */
export interface LockPlace {
  /** Its ticket; for a holder the fence. */
  readonly ticket: bigint
  /** Whether it asked for a shared lock. */
  readonly shared: boolean
  /** How many holders it accepts at once, itself included. */
  readonly limit: number
  /** The `label` that it was acquired with. */
  readonly label?: string
  /** What its owner shows (`data` of `acquire`, or `lock.show`), as plain values. */
  readonly data?: unknown
  /** When the ticket was drawn, in milliseconds since 1970, by the clock of its owner. */
  readonly sinceMs: number
  /** Its lease, in milliseconds. */
  readonly leaseMs: number
  /** How long other clients have seen no heartbeat of it, in milliseconds. */
  readonly suspectedMs?: number
}

/** The state of one lock. */
export interface LockReport {
  /** The name of the lock. */
  readonly name: string
  /** Its namespace; an empty text by default. */
  readonly namespace: string
  /** The highest fence granted so far; 0 before the first. */
  readonly granted: bigint
  /** The clients that hold it. */
  readonly holders: readonly LockPlace[]
  /** The clients that wait, in the order of their tickets. */
  readonly waiting: readonly LockPlace[]
}

const TIMEOUT_MS = 10_000
const PAGES_MAX = 100_000
const ACTIVE_TRIES_MAX = 300
const ACTIVE_POLL_MS = 200

export async function setUpTable(parts: ClientParts): Promise<void> {
  const { endpoint, table, clock, attributes } = parts
  const key = `${attributes.pk} HASH, ${attributes.sk} RANGE`
  try {
    await endpoint.call('CreateTable', {
      TableName: table,
      AttributeDefinitions: [
        { AttributeName: attributes.pk, AttributeType: 'S' },
        { AttributeName: attributes.sk, AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: attributes.pk, KeyType: 'HASH' },
        { AttributeName: attributes.sk, KeyType: 'RANGE' },
      ],
      BillingMode: 'PAY_PER_REQUEST',
    })
  } catch (error) {
    if (nameOf(error) !== 'ResourceInUseException') throw error
  }
  for (let tries = 0; ; tries++) {
    const { Table } = await endpoint.call('DescribeTable', { TableName: table })
    const keys = Table?.KeySchema?.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`).join(
      ', ',
    )
    const types = Table?.AttributeDefinitions?.filter(
      ({ AttributeName }) => AttributeName === attributes.pk || AttributeName === attributes.sk,
    )
    if (keys !== key || types?.some(({ AttributeType }) => AttributeType !== 'S') !== false)
      throw new Error(
        `the table ${table} has the key (${keys}); locks need the strings ${key}: name them with \`attributes\``,
      )
    if (Table?.TableStatus === 'ACTIVE') break
    if (tries >= ACTIVE_TRIES_MAX) throw new Error(`the table ${table} is still ${Table?.TableStatus}`)
    await clock.sleep(ACTIVE_POLL_MS)
  }
  await expireRows(parts)
}

/** Where an endpoint cannot, dead rows are removed by those who meet them all the same. */
async function expireRows({ endpoint, table, attributes }: ClientParts): Promise<void> {
  try {
    const { TimeToLiveDescription } = await endpoint.call('DescribeTimeToLive', { TableName: table })
    if (TimeToLiveDescription?.AttributeName !== undefined) return
    await endpoint.call('UpdateTimeToLive', {
      TableName: table,
      TimeToLiveSpecification: { AttributeName: attributes.expiresAt, Enabled: true },
    })
  } catch (error) {
    const name = nameOf(error)
    // Somebody else has just done it, or there is no such operation.
    if (name !== 'ValidationException' && name !== 'UnknownOperationException') throw error
  }
}

export async function inspectLock(parts: ClientParts, name: LockName): Promise<LockReport> {
  return reportOf(name, await queueOf(parts, name))
}

export async function listLocks(parts: ClientParts): Promise<readonly LockReport[]> {
  const views = await everything(parts)
  return [...views.values()]
    .filter(({ view }) => view.rows.length > 0)
    .map(({ name, view }) => reportOf(name, view))
}

/** A row that beats meanwhile is broken all the same: the beat is read again. */
export async function breakLock(parts: ClientParts, name: LockName): Promise<readonly bigint[]> {
  const broken: bigint[] = []
  for (const row of holders(await queueOf(parts, name)))
    if (await removeRow(parts, name, row)) broken.push(row.ticket)
  return broken
}

const BREAK_TRIES_MAX = 5

async function removeRow(parts: ClientParts, name: LockName, found: QueueRow): Promise<boolean> {
  let row: QueueRow | undefined = found
  for (let tries = 0; tries < BREAK_TRIES_MAX && row !== undefined; tries++) {
    const result = await insist(parts, 'DeleteItem', removeRequest(parts.table, name, row), TIMEOUT_MS)
    if (result.outcome === 'done') return true
    row = (await queueOf(parts, name)).rows.find(({ owner }) => owner === found.owner)
  }
  return false
}

/** Looks twice, a lease apart, unless there is nothing to watch. */
export async function sweepTable(parts: ClientParts): Promise<{ readonly removed: number }> {
  const { observations, clock } = parts
  let removed = 0
  for (let look = 0; look < 2; look++) {
    let waitMs = 0
    for (const { name, view } of (await everything(parts)).values()) {
      for (const row of view.rows) {
        observations.note(name, row)
        if (!observations.isDead(name, row)) {
          waitMs = Math.max(waitMs, Math.min(observations.deadInMs(name, row), observerLeaseMs(row.leaseMs)))
        } else {
          const request = removeRequest(parts.table, name, row)
          if ((await insist(parts, 'DeleteItem', request, TIMEOUT_MS)).outcome === 'done') removed++
        }
      }
    }
    if (waitMs === 0 || look === 1) break
    await clock.sleep(waitMs + 1)
  }
  return { removed }
}

async function queueOf(parts: ClientParts, name: LockName): Promise<QueueView> {
  return queueViewOf(await pages(parts, 'Query', queueRequest(parts.table, name, 'all')))
}

async function everything(
  parts: ClientParts,
): Promise<ReadonlyMap<string, { readonly name: LockName; readonly view: QueueView }>> {
  const items = await pages(parts, 'Scan', { TableName: parts.table, ConsistentRead: true })
  const byName = new Map<string, { name: LockName; items: Record<string, AttributeValue>[] }>()
  for (const item of items) {
    const place = placeOf(item)
    if (place === undefined) continue
    const key = JSON.stringify([place.name.namespace, place.name.name])
    const group = byName.get(key)
    if (group === undefined) byName.set(key, { name: place.name, items: [item] })
    else group.items.push(item)
  }
  return new Map(
    [...byName].map(([key, { name, items: rows }]) => [key, { name, view: queueViewOf(rows) }] as const),
  )
}

async function pages<Name extends 'Query' | 'Scan'>(
  parts: ClientParts,
  operation: Name,
  input: Parameters<typeof insist<Name>>[2],
): Promise<Record<string, AttributeValue>[]> {
  const items: Record<string, AttributeValue>[] = []
  let start: Record<string, AttributeValue> | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const request = start === undefined ? input : { ...input, ExclusiveStartKey: start }
    const result = await insist(parts, operation, request, TIMEOUT_MS)
    if (result.outcome !== 'done') break
    const { Items, LastEvaluatedKey } = result.answer as {
      readonly Items?: Record<string, AttributeValue>[]
      readonly LastEvaluatedKey?: Record<string, AttributeValue>
    }
    items.push(...(Items ?? []))
    start = LastEvaluatedKey
    if (start === undefined) break
  }
  return items
}

function reportOf(name: LockName, view: QueueView): LockReport {
  const inside = holders(view)
  return {
    ...name,
    granted: view.lock.granted,
    holders: inside.map(shown),
    waiting: view.rows.filter((row) => !inside.includes(row)).map(shown),
  }
}

function shown(row: QueueRow): LockPlace {
  const { ticket, shared, limit, label, data, sinceMs, leaseMs, suspectedMs } = row
  return {
    ticket,
    shared,
    limit,
    ...(label !== undefined && { label }),
    ...(data !== undefined && { data: unmarshallItem(fromSdkItem({ data }))['data'] }),
    sinceMs,
    leaseMs,
    ...(suspectedMs !== undefined && { suspectedMs }),
  }
}

const nameOf = (error: unknown): string | undefined => (error as { readonly name?: string }).name
