import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DynamoError } from '../../src/model/errors.js'
import type { Item } from '../../src/model/value.js'
import { openTestStore, turnsUntil, type TestStore } from './many-support.js'

const TABLE = 'Transacted'

async function openTable(nodes = 1): Promise<TestStore> {
  const store = await openTestStore(nodes)
  await store.call('CreateTable', {
    TableName: TABLE,
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
  return store
}

const put = (id: number, more: Item = {}, condition?: string): object => ({
  Put: {
    TableName: TABLE,
    Item: { id: { S: `${id}` }, ...more },
    ...(condition !== undefined && { ConditionExpression: condition }),
  },
})

const puts = (count: number, more: Item = {}, condition?: string): readonly object[] =>
  Array.from({ length: count }, (_, id) => put(id, more, condition))

test('TransactWriteItems: 4 MB of items are checked in several turns, and few bytes in none', async () => {
  await using store = await openTable()
  const small = await turnsUntil(store.call('TransactWriteItems', { TransactItems: puts(100) }))
  const text = { S: 'x'.repeat(40_000) }
  const large = await turnsUntil(store.call('TransactWriteItems', { TransactItems: puts(100, { text }) }))
  assert.ok(large >= small + 10, `${large} turns, and ${small} for few bytes`)
})

for (const nodes of [1, 4])
  test(`TransactWriteItems: items whose texts were made in other turns are read as they were put, ${nodes} nodes`, async () => {
    await using store = await openTable(nodes)
    const text = { S: 'Straße \u{1f600} '.repeat(2_000) }
    for (const round of ['1', '2']) {
      await store.call('TransactWriteItems', { TransactItems: puts(90, { text, round: { N: round } }) })
      const read = new Map<string, Item>()
      let ExclusiveStartKey: unknown
      do {
        const page = await store.call('Scan', { TableName: TABLE, ExclusiveStartKey })
        for (const item of page['Items'] as readonly Item[]) read.set((item['id'] as { S: string }).S, item)
        ExclusiveStartKey = page['LastEvaluatedKey']
      } while (ExclusiveStartKey !== undefined)
      assert.equal(read.size, 90)
      for (const [id, item] of read) assert.deepEqual(item, { id: { S: id }, text, round: { N: round } })
    }
  })

test('TransactWriteItems: what is refused in a later turn leaves nothing', async () => {
  await using store = await openTable()
  const text = { S: 'x'.repeat(40_000) }
  const wrong = { Put: { TableName: TABLE, Item: { id: { S: 'wrong' }, n: { N: 'x' } } } }
  await assert.rejects(store.call('TransactWriteItems', { TransactItems: [...puts(90, { text }), wrong] }), {
    name: 'ValidationException',
  })
  assert.equal((await store.call('Scan', { TableName: TABLE }))['Count'], 0)
})

test('UnitCommit: a thousand long conditions are bound in several turns', async () => {
  await using store = await openTable()
  const condition = Array.from({ length: 120 }, (_, at) => `attribute_not_exists(a${at})`).join(' OR ')
  const commit = (id: string, TransactItems: readonly object[]): Promise<unknown> =>
    store.call('UnitCommit', { Unit: { Id: id, Isolation: 'serializable' }, TransactItems })
  const small = await turnsUntil(commit('small', puts(1_000)))
  const large = await turnsUntil(commit('large', puts(1_000, {}, condition)))
  assert.ok(large >= small + 40, `${large} turns, and ${small} without conditions`)
})

test('UnitCommit: thousands of reads and of small puts are checked in several turns, and all of them are done', async () => {
  await using store = await openTable()
  const reads = (count: number): readonly object[] =>
    Array.from({ length: count }, (_, id) => ({ TableName: TABLE, Key: { id: { S: `read ${id}` } } }))
  const commit = (id: string, count: number): Promise<unknown> =>
    store.call('UnitCommit', {
      Unit: { Id: id, Isolation: 'serializable' },
      Reads: reads(count),
      TransactItems: puts(count, { text: { S: 'x'.repeat(100) } }),
    })
  const small = await turnsUntil(commit('small', 100))
  const large = await turnsUntil(commit('large', 5_000))
  assert.ok(large >= small + 8, `${large} turns, and ${small} for few`)
  const Items = (await store.call('Scan', { TableName: TABLE }))['Items'] as readonly Item[]
  assert.equal(Items.length, 5_000)
  for (const Item of Items) assert.deepEqual(Item, { id: Item['id'], text: { S: 'x'.repeat(100) } })
})

test('TransactWriteItems: more requests than wait for the place of large transactions are told of a conflict', async () => {
  await using store = await openTable()
  const text = { S: 'x'.repeat(300_000) }
  await store.putAll(TABLE, [
    { id: { S: 'a' }, text },
    { id: { S: 'b' }, text },
  ])
  const checks = ['a', 'b'].map((id) => ({
    ConditionCheck: {
      TableName: TABLE,
      Key: { id: { S: id } },
      ConditionExpression: 'attribute_exists(#text)',
      ExpressionAttributeNames: { '#text': 'text' },
    },
  }))
  const call = (): Promise<unknown> => store.call('TransactWriteItems', { TransactItems: checks })
  const outcomes = await Promise.allSettled(Array.from({ length: 80 }, call))
  const refused = outcomes.filter((each) => each.status === 'rejected')
  assert.equal(refused.length, 80 - 1 - 64)
  for (const { reason } of refused as readonly { reason: DynamoError }[]) {
    assert.equal(reason.name, 'TransactionCanceledException')
    const reasons = reason.members['CancellationReasons'] as readonly { readonly Code: string }[]
    assert.deepEqual(
      reasons.map(({ Code }) => Code),
      ['TransactionConflict', 'None'],
    )
  }
  await call()
})
