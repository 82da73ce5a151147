import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pageLimitsOf } from '../../src/router/reads/read-page.js'
import { open } from '../../src/store/store.js'

const MB = 1024 * 1024

test('pages: seven comparisons of a filter shorten no page; hundreds bound its evaluations', () => {
  /** The smallest item has eight bytes, about. */
  const mostInPage = MB / 8
  for (const filterComparisons of [undefined, 0, 1, 7]) {
    const { entriesMax, bytesMax } = pageLimitsOf({ entriesMax: undefined, filterComparisons })
    assert.ok(entriesMax >= mostInPage)
    assert.equal(bytesMax, MB)
  }
  const { entriesMax, bytesMax } = pageLimitsOf({ entriesMax: undefined, filterComparisons: 250 })
  assert.equal(entriesMax, 4_000)
  assert.equal(bytesMax, 4_000 * 32)
  assert.equal(pageLimitsOf({ entriesMax: 5, filterComparisons: 250 }).entriesMax, 5)
})

test('pages: a filter with many comparisons ends its page early, and the pages together are the whole', async () => {
  await using store = await open({ memory: true })
  const TableName = 'Pages'
  await store.call('CreateTable', {
    TableName,
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
  const COUNT = 9_000
  for (let at = 0; at < COUNT; at += 25) {
    const writes = Array.from({ length: 25 }, (_, n) => ({
      PutRequest: { Item: { id: { S: `${at + n}` } } },
    }))
    await store.call('BatchWriteItem', { RequestItems: { [TableName]: writes } })
  }
  const values = Array.from({ length: 200 }, (_, n) => [`:v${n}`, { S: 'none' }] as const)
  const IN = Array.from({ length: 100 }, (_, n) => `:v${n}`).join(',')
  const more = values.slice(100).map(([name]) => `a=${name}`)
  const FilterExpression = `attribute_exists(id) OR a IN (${IN}) OR ${more.join(' OR ')}`
  const input = { TableName, FilterExpression, ExpressionAttributeValues: Object.fromEntries(values) }
  const pages: number[] = []
  let start: Record<string, unknown> | undefined
  do {
    const ExclusiveStartKey = start as never
    const page = await store.call('Scan', { ...input, ...(start && { ExclusiveStartKey }) })
    pages.push(page.Count ?? 0)
    start = page.LastEvaluatedKey
  } while (start !== undefined)
  assert.equal(
    pages.reduce((sum, count) => sum + count, 0),
    COUNT,
  )
  assert.ok(pages.length === 2 && Math.max(...pages) <= 5_000, pages.join(', '))
})
