// A Query or Scan of whole items is answered without looking into them; with a filter that holds for all it looks into
// each. Both must say the same.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open, type Store } from '../../src/index.js'
import { testFolder } from '../support/folder.js'
import { seededRandom } from '../suites/seeded-random.js'

const TableName = 'Texts'

async function withTable(path: string | undefined, run: (store: Store) => Promise<void>): Promise<void> {
  await using store = await open(path === undefined ? { memory: true } : { path })
  await store.call('CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'S' },
    ],
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
  })
  await run(store)
}

interface Page {
  readonly Items?: readonly object[]
  readonly Count?: number
  readonly ScannedCount?: number
  readonly LastEvaluatedKey?: object
  readonly ConsumedCapacity?: object
}

/** All pages of the request. */
async function pagesOf(store: Store, operation: 'Query' | 'Scan', input: object): Promise<readonly Page[]> {
  const pages: Page[] = []
  let start: object | undefined
  do {
    const request = { TableName, ...input, ...(start && { ExclusiveStartKey: start }) }
    const page = (await store.call(operation, request as never)) as Page
    pages.push(page)
    start = page.LastEvaluatedKey
    assert.ok(pages.length < 500)
  } while (start !== undefined)
  return pages
}

for (const [name, folder] of [
  ['memory', () => undefined],
  ['LMDB', testFolder],
] as const) {
  test(`query texts, ${name}: pages are those of a query that looks into every item`, async () => {
    await withTable(folder(), async (store) => {
      const seed = 5
      const random = seededRandom(seed)
      // Keys of the longest kind, and of other alphabets, so that LastEvaluatedKey has any length.
      const partitions = ['p', 'ключ"\\'.repeat(20), 'k'.repeat(2000)]
      for (let round = 0; round < 6; round++) {
        for (let n = 0; n < 12; n++) {
          const pk = partitions[random(3)] as string
          const sk = `${random(25)}${'é'.repeat(random(2) * 400)}`
          if (random(4) === 0)
            await store.call('DeleteItem', { TableName, Key: { pk: { S: pk }, sk: { S: sk } } })
          else {
            const text = { S: '"\\\u0001ü'.repeat(random(300)) }
            await store.call('PutItem', { TableName, Item: { text, sk: { S: sk }, pk: { S: pk } } })
          }
        }
        for (const pk of partitions) {
          const input = {
            KeyConditionExpression: 'pk = :p',
            ExpressionAttributeValues: { ':p': { S: pk } },
            ReturnConsumedCapacity: 'TOTAL',
            ScanIndexForward: random(2) === 0,
            ...(random(3) > 0 && { Limit: 1 + random(6) }),
          }
          const looking = {
            ...input,
            FilterExpression: 'attribute_exists(#t)',
            ExpressionAttributeNames: { '#t': 'text' },
          }
          const pages = await pagesOf(store, 'Query', input)
          assert.deepEqual(pages, await pagesOf(store, 'Query', looking), `seed ${seed}, round ${round}`)
        }
        const scan = { Limit: 1 + random(9) }
        assert.deepEqual(
          await pagesOf(store, 'Scan', scan),
          await pagesOf(store, 'Scan', { ...scan, FilterExpression: 'attribute_exists(pk)' }),
        )
      }
    })
  })

  test(`query texts, ${name}: a page ends at 1 MB, and the next goes on behind it`, async () => {
    await withTable(folder(), async (store) => {
      for (let n = 0; n < 8; n++) {
        const data = { S: String(n).repeat(300_000) }
        await store.call('PutItem', { TableName, Item: { pk: { S: 'p' }, sk: { S: String(n) }, data } })
      }
      const input = { KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': { S: 'p' } } }
      const pages = await pagesOf(store, 'Query', input)
      assert.deepEqual(
        pages.map(({ Count }) => Count),
        [4, 4, 0],
      )
      assert.deepEqual(
        pages.flatMap(({ Items }) => Items ?? []).map((item) => (item as { data: { S: string } }).data.S[0]),
        ['0', '1', '2', '3', '4', '5', '6', '7'],
      )
    })
  })
}
