import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import type { Item } from '../../src/model/value.js'
import { openTestStore, type TestStore } from './many-support.js'

const TABLE = 'Predicates'
const LARGE = 300 * 1024

/** A unit reads the table, a large item changes, and the unit commits with so many predicates on it. */
async function commitAfterChange(
  store: TestStore,
  predicates: number,
  FilterExpression: string,
): Promise<unknown> {
  const unit = { Id: 'unit', Isolation: 'serializable' }
  const large = (letter: string): Item => ({ id: { S: 'large' }, letters: { S: letter.repeat(LARGE) } })
  await store.putAll(TABLE, [large('x')])
  const { ReadTimestamp } = (await store.call('UnitScan', {
    Unit: unit,
    TableName: TABLE,
    Limit: 1,
  })) as unknown as { readonly ReadTimestamp: unknown }
  await store.putAll(TABLE, [large('y')])
  const predicate = {
    TableName: TABLE,
    FilterExpression,
    ExpressionAttributeValues: { ':x': { S: 'z' } },
  }
  return store.call('UnitCommit', {
    Unit: { ...unit, ReadTimestamp },
    Predicates: Array.from({ length: predicates }, () => predicate),
    TransactItems: [{ Put: { TableName: TABLE, Item: { id: { S: 'other' } } } }],
  })
}

async function openTable(): Promise<TestStore> {
  const store = await openTestStore(1)
  await store.call('CreateTable', {
    TableName: TABLE,
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
  return store
}

test('units: an item that has changed is parsed once for all predicates of a commit', async () => {
  await using store = await openTable()
  const parsedFor = async (predicates: number): Promise<number> => {
    const parse = mock.method(JSON, 'parse')
    try {
      await commitAfterChange(store, predicates, 'absent = :x')
      return parse.mock.calls.filter((call) => call.arguments[0].length > LARGE).length
    } finally {
      parse.mock.restore()
    }
  }
  assert.equal(await parsedFor(50), await parsedFor(1))
})

test('units: predicates with more work than a commit may have count as changed', async () => {
  await using store = await openTable()
  const filter = Array.from({ length: 100 }, () => 'contains(letters, :x)').join(' OR ')
  await commitAfterChange(store, 1, filter)
  await assert.rejects(commitAfterChange(store, 50, filter), { name: 'UnitConflictException' })
})

test('units: items that are passed over for every predicate are work, too', async () => {
  await using store = await openTable()
  const items = Array.from({ length: 1_100 }, (_, at): Item => ({ id: { S: String(at) } }))
  const begin = async (Id: string): Promise<object> => {
    const unit = { Id, Isolation: 'serializable' }
    const { ReadTimestamp } = (await store.call('UnitScan', {
      Unit: unit,
      TableName: TABLE,
      Limit: 1,
    })) as unknown as { readonly ReadTimestamp: unknown }
    return { ...unit, ReadTimestamp }
  }
  await store.putAll(TABLE, items)
  // As long as it is open, what it has seen is kept.
  await begin('old')
  await store.putAll(TABLE, items)
  const commit = async (predicates: number): Promise<unknown> =>
    store.call('UnitCommit', {
      Unit: await begin(`with ${predicates}`),
      Predicates: Array.from({ length: predicates }, () => ({ TableName: TABLE })),
    })
  await commit(500)
  await assert.rejects(commit(1_000), { name: 'UnitConflictException' })
})
