// A store with the official client over a real port, and a clock that a test may move.
import { type AttributeValue, type CreateTableCommandInput, DynamoDB } from '@aws-sdk/client-dynamodb'
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type ManualClock, manualClock } from '../../src/runtime/manual-clock.js'
import { open, type OpenOptions, type Store } from '../../src/store/store.js'

export const START_MS = Date.parse('2030-01-01T12:00:00.250Z')
export const DAY_MS = 24 * 3_600_000

export interface BackupStore {
  readonly store: Store
  readonly clock: ManualClock
  readonly dynamodb: DynamoDB
  readonly url: string
  readonly errors: unknown[]
}

export async function openBackups(
  t: TestContext,
  { path, nodes }: { readonly path?: string; readonly nodes?: number } = {},
): Promise<BackupStore> {
  const clock = manualClock(START_MS)
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const place: OpenOptions = path === undefined ? { memory: true } : { path }
  const store = await open({ ...place, clock, onError, ...(nodes !== undefined && { nodes }) })
  t.after(() => store.close())
  const { url } = await store.listen({ port: 0 })
  const dynamodb = clientOf(url)
  t.after(() => dynamodb.destroy())
  return { store, clock, dynamodb, url, errors }
}

export const clientOf = (endpoint: string): DynamoDB =>
  new DynamoDB({
    endpoint,
    region: 'eu-west-1',
    maxAttempts: 1,
    credentials: { accessKeyId: 'k', secretAccessKey: 's' },
  })

export const tableOf = (
  TableName: string,
  more: Partial<CreateTableCommandInput> = {},
): CreateTableCommandInput => ({
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  ...more,
})

export const itemOf = (id: string, value: string): Record<string, AttributeValue> => ({
  id: { S: id },
  v: { S: value },
})

/** What a table holds, by id. */
export async function contentOf(
  { store }: Pick<BackupStore, 'store'>,
  TableName: string,
): Promise<Record<string, string>> {
  const found: [string, string][] = []
  let start: Record<string, AttributeValue> | undefined
  do {
    const page = await store.call('Scan', { TableName, ...(start && { ExclusiveStartKey: start }) })
    for (const item of page.Items ?? []) found.push([item['id']?.S ?? '', item['v']?.S ?? ''])
    start = page.LastEvaluatedKey
  } while (start !== undefined)
  return Object.fromEntries(found.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

/** The name of the error that it is refused with. */
export async function refusal(request: Promise<unknown>): Promise<string> {
  try {
    await request
  } catch (error) {
    assert.ok(error instanceof Error)
    return error.name
  }
  return 'answered'
}
