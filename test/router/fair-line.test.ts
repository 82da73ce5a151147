import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairLine } from '../../src/router/request/fair-line.js'
import { open } from '../../src/store/store.js'
import { turnsUntil } from './many-support.js'

test('fair line: one at a time, keys in turn', async () => {
  const line = new FairLine(10)
  const order: string[] = []
  let running = 0
  const work = (name: string) =>
    line.run(name[0]!, async () => {
      assert.equal(++running, 1)
      order.push(name)
      await new Promise((resolve) => setImmediate(resolve))
      running--
    })
  await Promise.all(['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(work))
  assert.deepEqual(order, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  await work('a5')
  assert.equal(order.at(-1), 'a5')
})

test('fair line: what fails gives its place back, and a key with too many that wait is refused', async () => {
  const line = new FairLine(2)
  const failing = ['a', 'a', 'a', 'a', 'b'].map((key) => line.run(key, () => Promise.reject(new Error(key))))
  const outcomes = await Promise.allSettled(failing)
  assert.deepEqual(
    outcomes.map((each) => (each as PromiseRejectedResult).reason.name),
    ['Error', 'Error', 'Error', 'ThrottlingException', 'Error'],
  )
  assert.equal(await line.run('a', () => Promise.resolve('well')), 'well')
})

test('SearchVectors: many searches at once take no more of a turn than one, and all are answered', async () => {
  await using store = await open({ memory: true })
  const client = store.client()
  const TableName = 'Many'
  await client.createTable({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    VectorIndexes: [
      {
        IndexName: 'vectors',
        VectorAttribute: { AttributeName: 'v' },
        Dimensions: 2,
        DistanceFunction: 'EUCLIDEAN',
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
  })
  // A page of a search holds one or two of them.
  const text = { S: 'x'.repeat(50 * 1024) }
  for (const at of Array.from({ length: 100 }).keys())
    await client.putItem({
      TableName,
      Item: { id: { S: `${at}` }, v: { L: [{ N: `${at}` }, { N: '0' }] }, text },
    })
  const search = () =>
    store.call('SearchVectors', {
      TableName,
      IndexName: 'vectors',
      SearchVector: [{ N: '7' }, { N: '0' }],
      TopK: 1,
    })
  await search()
  const one = await turnsUntil(search())
  assert.ok(one >= 20)
  const eight = Promise.all(Array.from({ length: 8 }, search))
  const turns = await turnsUntil(eight)
  assert.ok(turns >= 7 * one, `${turns} turns, and ${one} of one search`)
  for (const { SearchResults } of await eight) assert.deepEqual(SearchResults?.[0]?.Item?.['id'], { S: '7' })
  const { length } = (await Promise.allSettled(Array.from({ length: 100 }, search))).filter(
    ({ status }) => status === 'fulfilled',
  )
  assert.equal(length, 64 + 1)
})
