import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '../../src/store/store.js'
import { fewestTurnsUntil, turnsUntil } from './many-support.js'

test('BatchWriteItem: large items are checked and written in several turns, between which others are served', async () => {
  await using store = await open({ memory: true })
  const TableName = 'Batches'
  await store.call('CreateTable', {
    TableName,
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
  const writes = (bytes: number) =>
    Array.from({ length: 25 }, (_, at) => ({
      PutRequest: { Item: { id: { S: `${at}` }, text: { S: 'x'.repeat(bytes) } } },
    }))
  const write = (bytes: number): Promise<unknown> =>
    store.call('BatchWriteItem', { RequestItems: { [TableName]: writes(bytes) } })
  const small = await fewestTurnsUntil(() => write(100))
  assert.ok((await turnsUntil(write(390 * 1024))) >= small + 45)
  assert.equal((await store.call('Scan', { TableName, Select: 'COUNT', Limit: 30 })).Count, 3)
})

test('BatchWriteItem: an index that is added between the turns of a batch has all its items', async () => {
  await using store = await open({ memory: true })
  for (const turns of [1, 15, 27, 40]) {
    const TableName = `Batches-${turns}`
    const S = 'S' as const
    await store.call('CreateTable', {
      TableName,
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: S }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    })
    const puts = Array.from({ length: 25 }, (_, at) => ({
      PutRequest: { Item: { id: { S: `${at}` }, by: { S: 'all' }, text: { S: 'x'.repeat(300 * 1024) } } },
    }))
    const written = store.call('BatchWriteItem', { RequestItems: { [TableName]: puts } })
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
    await store.call('UpdateTable', {
      TableName,
      AttributeDefinitions: [{ AttributeName: 'by', AttributeType: S }],
      GlobalSecondaryIndexUpdates: [
        {
          Create: {
            IndexName: 'by-all',
            KeySchema: [{ AttributeName: 'by', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'KEYS_ONLY' },
          },
        },
      ],
    })
    assert.deepEqual((await written).UnprocessedItems, {})
    for (;;) {
      const { Table } = await store.call('DescribeTable', { TableName })
      if (Table?.GlobalSecondaryIndexes?.[0]?.IndexStatus === 'ACTIVE') break
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.equal((await store.call('Scan', { TableName, IndexName: 'by-all', Select: 'COUNT' })).Count, 25)
  }
})

test('BatchExecuteStatement: large items are read and written in several turns, and an answer has 16 MB at most', async (t) => {
  await using store = await open({ memory: true })
  const TableName = 'Nulls'
  await store.call('CreateTable', {
    TableName,
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
  // Most of 400 KB in elements of two bytes, which take six times as many as text.
  const L = Array.from({ length: 190_000 }, () => ({ NULL: true as const }))
  for (const at of Array.from({ length: 25 }).keys())
    await store.call('PutItem', { TableName, Item: { id: { S: `${at}` }, a: { L } } })
  const batch = (statement: (id: string) => string, from = 0) =>
    store.call('BatchExecuteStatement', {
      Statements: Array.from({ length: 25 }, (_, at) => ({ Statement: statement(`${from + at}`) })),
    })
  const codesOf = async (answered: ReturnType<typeof batch>) =>
    ((await answered).Responses ?? []).map(({ Item, Error }) => Error?.Code ?? (Item && 'read'))

  await t.test('what is projected', async () => {
    const project = (id: string): string => `SELECT a[1] FROM "Nulls" WHERE id='${id}'`
    const few = await fewestTurnsUntil(() => batch(project, 100))
    assert.ok((await turnsUntil(batch(project))) >= few + 20, 'each has a turn')
  })

  await t.test('what does not fit is told, to be asked for again', async () => {
    const codes = await codesOf(batch((id) => `SELECT * FROM "Nulls" WHERE id='${id}'`))
    const perItem = Buffer.byteLength(JSON.stringify({ id: { S: '10' }, a: { L } }))
    const fitting = Math.floor((16 * 1024 * 1024) / perItem)
    assert.deepEqual(
      codes,
      codes.map((_code, at) => (at < fitting ? 'read' : 'ThrottlingError')),
    )
  })

  await t.test('updates; a table that is dropped between their turns refuses what is left', async () => {
    const update = (id: string): string => `UPDATE "Nulls" SET b=1 WHERE id='${id}'`
    const updated = batch(update)
    assert.ok((await turnsUntil(updated)) >= 6, 'no more than four of them in one')
    assert.deepEqual(new Set(await codesOf(updated)), new Set([undefined]))
    const dropped = batch(update)
    await new Promise((resolve) => setImmediate(resolve))
    await store.call('DeleteTable', { TableName })
    assert.ok((await codesOf(dropped)).includes('ResourceNotFound'))
  })
})

test('ExecuteTransaction: long statements are read in several turns, between which others are served', async () => {
  await using store = await open({ memory: true })
  await store.call('CreateTable', {
    TableName: 'Long',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
  const statements = (characters: number): readonly { readonly Statement: string }[] =>
    Array.from({ length: 100 }, (_, at) => ({
      Statement: `INSERT INTO "Long" VALUE {'id': '${at}', 'text': '${'x'.repeat(characters)}'}`,
    }))
  // Refused when all have been read: what is carried out takes turns of its own, on an engine more than reading does.
  const isRefused = (characters: number): Promise<void> =>
    assert.rejects(
      store.call('ExecuteTransaction', {
        TransactStatements: [
          ...statements(characters).slice(1),
          { Statement: `SELECT * FROM "Long" WHERE id = 'a'` },
        ],
      }),
      { name: 'ValidationException' },
    )
  const short = await fewestTurnsUntil(() => isRefused(10))
  assert.ok((await turnsUntil(isRefused(8000))) >= short + 10)
  await store.call('ExecuteTransaction', { TransactStatements: [...statements(8000)] })
  assert.equal((await store.call('Scan', { TableName: 'Long', Select: 'COUNT' })).Count, 100)
})
