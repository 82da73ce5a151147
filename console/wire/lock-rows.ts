// The rows of the toolkit's locks, read and broken by the toolkit's own rules.
import {
  placeOf,
  queueRequest,
  queueViewOf,
  removeRequest,
  type LockName,
  type QueueView,
} from '../../src/toolkit/locks/rows.js'
import { holders } from '../../src/toolkit/locks/rules.js'
import { call, type Json } from './client.js'
import { keyNames, type TableDescription } from './tables.js'

/** As the AWS SDK has items; without binary values both are the same. */
type Rows = Parameters<typeof queueViewOf>[0]

export interface LockPlace {
  readonly ticket: string
  readonly holds: boolean
  readonly label: string
  readonly sinceMs: number
  readonly leaseMs: number
  readonly suspectedMs: number | undefined
}

export interface LockQueue extends LockName {
  readonly granted: string
  readonly places: readonly LockPlace[]
}

const SAMPLE = 25
const ROWS_MAX = 5000
const BREAK_TRIES_MAX = 5

export async function isLockTable(table: TableDescription, signal: AbortSignal): Promise<boolean> {
  const { hash, range } = keyNames(table.KeySchema)
  if (hash !== 'pk' || range !== 'sk' || table.ItemCount === 0) return false
  const { Items } = await call<{ readonly Items: Rows }>(
    'Scan',
    { TableName: table.TableName, Limit: SAMPLE },
    { signal, isQuiet: true },
  )
  return Items.some((item) => placeOf(item) !== undefined)
}

export async function readLocks(table: string, signal: AbortSignal): Promise<readonly LockQueue[]> {
  const byName = new Map<string, { readonly name: LockName; readonly rows: Rows[number][] }>()
  let from: Json | undefined
  let count = 0
  do {
    const { Items, LastEvaluatedKey } = await call<{
      readonly Items: Rows
      readonly LastEvaluatedKey?: Json
    }>(
      'Scan',
      { TableName: table, ConsistentRead: true, ...(from && { ExclusiveStartKey: from }) },
      { signal, isQuiet: true },
    )
    for (const item of Items) {
      const place = placeOf(item)
      if (place === undefined) continue
      const key = JSON.stringify([place.name.namespace, place.name.name])
      const group = byName.get(key) ?? { name: place.name, rows: [] }
      group.rows.push(item)
      byName.set(key, group)
    }
    count += Items.length
    from = LastEvaluatedKey
  } while (from !== undefined && count < ROWS_MAX)
  return [...byName.values()]
    .map(({ name, rows }) => queueOf(name, queueViewOf(rows)))
    .filter(({ places }) => places.length > 0)
}

function queueOf(name: LockName, view: QueueView): LockQueue {
  const inside = holders(view)
  return {
    ...name,
    granted: String(view.lock.granted),
    places: view.rows.map((row) => ({
      ticket: String(row.ticket),
      holds: inside.includes(row),
      label: row.label ?? '',
      sinceMs: row.sinceMs,
      leaseMs: row.leaseMs,
      suspectedMs: row.suspectedMs,
    })),
  }
}

const viewOf = async (table: string, name: LockName): Promise<QueueView> => {
  const { Items } = await call<{ readonly Items: Rows }>(
    'Query',
    queueRequest(table, name, 'all') as unknown as Json,
  )
  return queueViewOf(Items)
}

/** How many holders it was taken from. A row that beats meanwhile is broken all the same: the beat is read again. */
export async function breakLock(table: string, name: LockName): Promise<number> {
  let broken = 0
  for (const found of holders(await viewOf(table, name))) {
    let row: typeof found | undefined = found
    for (let tries = 0; tries < BREAK_TRIES_MAX && row !== undefined; tries++) {
      try {
        await call('DeleteItem', removeRequest(table, name, row) as unknown as Json)
        broken++
        break
      } catch (error) {
        if ((error as Error).name !== 'ConditionalCheckFailedException') throw error
        row = (await viewOf(table, name)).rows.find(({ owner }) => owner === found.owner)
      }
    }
  }
  return broken
}
