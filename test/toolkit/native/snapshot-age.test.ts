// How long a snapshot may be read, and that a restart ends it.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { manualClock } from '../../../src/runtime/manual-clock.js'
import { open, type Store } from '../../../src/store/store.js'
import { SnapshotTooOld, transactor } from '../../../src/toolkit/index.js'
import { spawnServer } from '../../support/spawned-server.js'

const LONG = { isolation: 'snapshot', timeoutMs: 600_000 } as const

async function withItems(store: Pick<Store, 'call'>): Promise<void> {
  await store.call('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  for (const id of ['a', 'b'])
    await store.call('PutItem', { TableName: 'Things', Item: { id: { S: id }, n: { N: '1' } } })
}

const clientOf = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })

for (const [told, options, ageMs] of [
  ['unless told otherwise', {}, 30_000],
  ['with snapshotAgeMs', { snapshotAgeMs: 120_000 }, 120_000],
] as const) {
  test(`a snapshot can be read for ${ageMs} ms ${told}, and then no more`, async () => {
    const clock = manualClock(1_000_000_000_000)
    await using store = await open({ memory: true, clock, ...options })
    await withItems(store)
    const handle = await store.transactor().begin(LONG)
    await handle.get('Things', { id: 'a' })
    await store.call('PutItem', { TableName: 'Things', Item: { id: { S: 'b' }, n: { N: '2' } } })
    clock.advance(ageMs - 1)
    assert.deepEqual(await handle.get('Things', { id: 'b' }), { id: 'b', n: 1 }, 'as it was')
    clock.advance(1)
    await assert.rejects(handle.get('Things', { id: 'c' }), SnapshotTooOld)
    await handle.rollback()
  })
}

test('a snapshot of before a restart is too old, and transact begins anew with a fresh one', async (t) => {
  const path = await mkdtemp(join(tmpdir(), 'seriatim-snapshot-'))
  let second: Store | undefined
  t.after(async () => {
    await second?.close()
    await rm(path, { recursive: true })
  })
  const first = await open({ path })
  await withItems(first)
  const { url } = await first.listen({ port: 0 })
  const client = clientOf(url)
  t.after(() => client.destroy())
  const units = transactor(client)
  const handle = await units.begin(LONG)
  await handle.get('Things', { id: 'a' })
  let attempts = 0
  const read = await units.transact(async (tx) => {
    attempts++
    await tx.get('Things', { id: 'a' })
    if (second === undefined) {
      await first.close()
      second = await open({ path })
      await second.listen({ port: Number(new URL(url).port) })
    }
    return tx.get('Things', { id: 'b' })
  }, LONG)
  assert.deepEqual(read, { id: 'b', n: 1 })
  assert.equal(attempts, 2)
  await assert.rejects(handle.get('Things', { id: 'b' }), SnapshotTooOld)
  await handle.rollback()
})

test('seriatim start --snapshot-age-ms ends snapshots that early', async (t) => {
  await using server = await spawnServer(['--memory', '--snapshot-age-ms', '20'])
  const client = clientOf(server.url)
  t.after(() => client.destroy())
  const { CreateTableCommand } = await import('@aws-sdk/client-dynamodb')
  await client.send(
    new CreateTableCommand({
      TableName: 'Things',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  )
  const handle = await transactor(client).begin(LONG)
  await handle.get('Things', { id: 'first' })
  // As often as it takes: without the option it would go on for 30 seconds.
  await assert.rejects(async () => {
    const begun = process.hrtime.bigint()
    for (let n = 0; process.hrtime.bigint() - begun < 20_000_000_000n; n++)
      await handle.get('Things', { id: String(n) })
  }, SnapshotTooOld)
  await handle.rollback()
})

test('an age that is none is refused', async () => {
  for (const snapshotAgeMs of [0, -1, 1.5, Number.NaN])
    await assert.rejects(open({ memory: true, snapshotAgeMs }), /snapshotAgeMs is a whole number from 1 on/)
})

test('a snapshot may be read for more than 2^31 ms, and no timer fires at once for it', async () => {
  const warnings: string[] = []
  const warned = (warning: Error): void => void warnings.push(warning.name)
  process.on('warning', warned)
  await using store = await open({ memory: true, snapshotAgeMs: 2 ** 31 })
  await withItems(store)
  const handle = await store.transactor().begin(LONG)
  await handle.get('Things', { id: 'a' })
  await store.call('PutItem', { TableName: 'Things', Item: { id: { S: 'b' }, n: { N: '2' } } })
  // A delay that Node cannot keep is warned of in the next turn.
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(await handle.get('Things', { id: 'b' }), { id: 'b', n: 1 }, 'as it was')
  await handle.rollback()
  process.off('warning', warned)
  assert.ok(!warnings.includes('TimeoutOverflowWarning'))
})
