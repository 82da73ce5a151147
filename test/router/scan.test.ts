import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Item } from '../../src/model/value.js'
import { createTable, openTestStore, type TestStore } from './many-support.js'

const S = (text: string): { S: string } => ({ S: text })
const N = (text: string): { N: string } => ({ N: text })

/** Forty items in ten partitions; every second one is in the indexes. */
const items: readonly Item[] = Array.from({ length: 40 }, (_, i) => ({
  pk: S(`p${i % 10}`),
  sk: N(String(i)),
  n: N(String(i)),
  ...(i % 2 === 0 && { g: S(`g${i % 3}`), l: S(`l${i % 4}`) }),
}))
const indexed = items.filter((item) => 'g' in item)

const numbers = (found: readonly Item[]): number[] =>
  found.map((item) => Number((item['n'] as { N: string }).N)).toSorted((a, b) => a - b)

for (const nodeCount of [1, 3]) {
  describe(`Scan over ${nodeCount} node${nodeCount > 1 ? 's' : ''}`, () => {
    let store: TestStore
    before(async () => {
      store = await openTestStore(nodeCount)
      await createTable(store, 'Things', 'pk:S sk:N', {
        gsi: { key: 'g:S', projection: 'n' },
        lsi: { key: 'pk:S l:S', projection: 'KEYS_ONLY' },
      })
      await store.putAll('Things', items)
    })
    after(() => store[Symbol.asyncDispose]())

    test('finds every item once, whatever the size of its pages', async () => {
      for (const Limit of [1, 3, 39, 40, 41]) {
        const { items: found, pages } = await store.walk('Scan', { TableName: 'Things', Limit })
        assert.deepEqual(
          numbers(found),
          items.map((_, i) => i),
        )
        assert.equal(pages.length, Math.floor(40 / Limit) + 1)
      }
    })

    test('pages of several nodes follow one another in the same order as one page', async () => {
      const whole = await store.call('Scan', { TableName: 'Things' })
      const { items: paged } = await store.walk('Scan', { TableName: 'Things', Limit: 7 })
      assert.deepEqual(paged, whole.Items)
    })

    test('an index is scanned as its sparse, projected self', async () => {
      const { items: found } = await store.walk('Scan', { TableName: 'Things', IndexName: 'gsi', Limit: 3 })
      assert.deepEqual(numbers(found), numbers(indexed))
      assert.deepEqual(Object.keys(found[0] ?? {}).toSorted(), ['g', 'n', 'pk', 'sk'])
      const local = await store.walk('Scan', { TableName: 'Things', IndexName: 'lsi', Limit: 3 })
      assert.equal(local.items.length, indexed.length)
      assert.deepEqual(Object.keys(local.items[0] ?? {}).toSorted(), ['l', 'pk', 'sk'])
    })

    test('segments are disjoint and together the whole, on tables and indexes', async () => {
      for (const target of [{}, { IndexName: 'gsi' }]) {
        for (const TotalSegments of [1, 2, 7, 1000]) {
          const found: Item[] = []
          for (let Segment = 0; Segment < TotalSegments; Segment++) {
            const input = { TableName: 'Things', ...target, Segment, TotalSegments, Limit: 2 }
            found.push(...(await store.walk('Scan', input)).items)
          }
          assert.deepEqual(numbers(found), numbers('IndexName' in target ? indexed : items))
        }
      }
    })

    test('a filter may look at keys, and counts are of before and after it', async () => {
      const answer = await store.call('Scan', {
        TableName: 'Things',
        FilterExpression: 'pk = :p AND n < :n',
        ExpressionAttributeValues: { ':p': S('p3'), ':n': N('20') },
        ReturnConsumedCapacity: 'INDEXES',
        ConsistentRead: true,
      })
      assert.deepEqual(numbers(answer.Items ?? []), [3, 13])
      assert.deepEqual([answer.Count, answer.ScannedCount], [2, 40])
      assert.deepEqual(answer.ConsumedCapacity, {
        TableName: 'Things',
        CapacityUnits: 1,
        Table: { CapacityUnits: 1 },
      })
      const legacy = await store.call('Scan', {
        TableName: 'Things',
        ScanFilter: { n: { ComparisonOperator: 'LT', AttributeValueList: [N('3')] } },
        Select: 'COUNT',
      })
      assert.deepEqual(legacy, { Count: 3, ScannedCount: 40 })
    })

    test('refuses in the words of DynamoDB', async () => {
      const invalid = 'The provided starting key is invalid'
      const mismatch = 'The provided key element does not match the schema'
      const start = { pk: S('p3'), sk: N('3') }
      const segments = [0, 1].map((Segment) => ({ Segment, TotalSegments: 2, ExclusiveStartKey: start }))
      const cases: [object, string][] = [
        [
          { Segment: 0 },
          'The TotalSegments parameter is required but was not present in the request when Segment parameter is present',
        ],
        [
          { TotalSegments: 4 },
          'The Segment parameter is required but was not present in the request when parameter TotalSegments is present',
        ],
        [
          { Segment: 5, TotalSegments: 5 },
          'The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 5 is not less than TotalSegments: 5',
        ],
        [
          { Segment: -1, TotalSegments: 5 },
          "1 validation error detected: Value '-1' at 'segment' failed to satisfy constraint: Member must have value greater than or equal to 0",
        ],
        [
          { Segment: 0, TotalSegments: 1_000_001 },
          "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy constraint: Member must have value less than or equal to 1000000",
        ],
        [
          { Limit: 0 },
          "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
        ],
        [{ ExclusiveStartKey: {} }, `${invalid}: ${mismatch}`],
        [{ ExclusiveStartKey: { pk: S('a') } }, `${invalid}: ${mismatch}`],
        [{ ExclusiveStartKey: { pk: S('a'), sk: S('a') } }, `${invalid}: ${mismatch}`],
        [{ IndexName: 'gsi', ExclusiveStartKey: start }, invalid],
        [{ IndexName: 'gsi', ExclusiveStartKey: { ...start, g: N('1') } }, mismatch],
        [
          { IndexName: 'gsi', ExclusiveStartKey: { ...start, sk: S('1'), g: S('1') } },
          `${invalid}: ${mismatch}`,
        ],
        [
          { IndexName: 'gsi', Select: 'ALL_ATTRIBUTES' },
          'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index gsi because its projection type is not ALL',
        ],
        [
          { FilterExpression: 'attribute_exists(pk.a)' },
          "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk",
        ],
      ]
      for (const [input, message] of cases) {
        assert.equal(
          await store.refusal('Scan', { TableName: 'Things', ...input }),
          `ValidationException: ${message}`,
        )
      }
      const told = await Promise.all(
        segments.map((segment) => store.call('Scan', { TableName: 'Things', ...segment }).catch(String)),
      )
      assert.deepEqual(
        told.filter((answer) => typeof answer === 'string').map((text) => text.replace(/Segment: \d$/, '')),
        [
          `ValidationException: ${invalid}: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: 2 `,
        ],
      )
    })
  })
}
