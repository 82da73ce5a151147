import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Item } from '../../src/model/value.js'
import { open } from '../../src/store/store.js'
import { createTable, openTestStore, type TestStore } from './many-support.js'

const S = (text: string): { S: string } => ({ S: text })
const N = (text: string): { N: string } => ({ N: text })

test('PartiQL: a store that refuses scans takes every SELECT for a strict one, in units of work too; EXPLAIN tells all the same', async (t) => {
  const strict = await open({ memory: true, statementScans: 'refused' })
  t.after(() => strict.close())
  await strict.call('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  const execute = (Statement: string) => strict.call('ExecuteStatement', { Statement })
  const refusal = /A strict statement does not read all of Things\. Hint: give the partition key id/
  await execute(`INSERT INTO Things VALUE {'id': 'a'}`)
  await assert.rejects(execute('SELECT * FROM Things'), refusal)
  assert.equal((await execute(`SELECT * FROM Things WHERE id = 'a'`)).Items?.length, 1)
  assert.deepEqual((await execute('EXPLAIN SELECT * FROM Things')).Items?.[0]?.['operation'], S('Scan'))
  const inUnit = (text: string) => strict.transactor().transact((tx) => tx.execute(text))
  await assert.rejects(inUnit('SELECT * FROM Things'), refusal)
  assert.equal((await inUnit(`SELECT * FROM Things WHERE id IN ['a', 'b']`)).length, 1)
})

describe('EXPLAIN and STRICT', () => {
  let store: TestStore
  before(async () => {
    store = await openTestStore(2)
    await createTable(store, 'Things', 'pk:S sk:N', { gsi: { key: 'g:S', projection: 'ALL' } })
    await store.putAll('Things', [{ pk: S('a'), sk: N('1'), big: S('x'.repeat(9000)) }])
  })
  after(() => store[Symbol.asyncDispose]())

  const explain = async (text: string): Promise<readonly Item[]> =>
    (await store.call('ExecuteStatement', { Statement: `EXPLAIN ${text}` })).Items ?? []

  test('PartiQL: EXPLAIN tells reads by key, with index, range and filter', async () => {
    assert.deepEqual(await explain(`SELECT * FROM Things WHERE pk = 'a' AND sk = 1`), [
      {
        operation: S('GetItem'),
        table: S('Things'),
        key: { M: { pk: S('a'), sk: N('1') } },
        readUnitsMin: N('0.5'),
      },
    ])
    assert.deepEqual(
      await explain(`SELECT pk FROM Things WHERE pk IN ['a', 'b'] AND sk > 3 AND color = 'red'`),
      ['a', 'b'].map((key) => ({
        operation: S('Query'),
        table: S('Things'),
        partition: { M: { pk: S(key) } },
        sort: { L: [{ M: { 'sk >': { L: [N('3')] } } }] },
        filteredBy: { SS: ['color'] },
        readUnitsMin: N('0.5'),
      })),
    )
    const [row] = await explain(`SELECT * FROM Things.gsi WHERE g = 'x'`)
    assert.deepEqual(row?.['index'], S('gsi'))
  })

  test('PartiQL: EXPLAIN tells a scan with what it costs at most, and writes with their conditions; nothing is done', async () => {
    const [scan] = await explain(`SELECT * FROM Things WHERE color = 'red'`)
    assert.deepEqual(scan?.['operation'], S('Scan'))
    assert.deepEqual(scan?.['itemsOfTable'], N('1'))
    assert.deepEqual(scan?.['readUnitsMax'], N('1.5'))
    const [insert] = await explain(`INSERT INTO Things VALUE {'pk': 'new', 'sk': 1}`)
    assert.deepEqual(insert?.['operation'], S('PutItem'))
    const [remove] = await explain(`DELETE FROM Things WHERE pk = 'a' AND sk = 1 AND color = 'x'`)
    assert.deepEqual(
      [remove?.['operation'], remove?.['key']],
      [S('DeleteItem'), { M: { pk: S('a'), sk: N('1') } }],
    )
    assert.equal(
      (await store.call('ExecuteStatement', { Statement: `SELECT * FROM Things` })).Items?.length,
      1,
    )
  })

  test('PartiQL: EXPLAIN refuses what the statement would be refused for, and stands alone', async () => {
    assert.match(
      await store.refusal('ExecuteStatement', {
        Statement: `EXPLAIN UPDATE Things SET a = 1 WHERE pk = 'a'`,
      }),
      /mandatory equality on all key attributes/,
    )
    const Statement = `EXPLAIN SELECT * FROM Things WHERE pk = 'a' AND sk = 1`
    assert.match(
      await store.refusal('ExecuteTransaction', { TransactStatements: [{ Statement }] }),
      /EXPLAIN can only be used in ExecuteStatement requests/,
    )
  })

  test('PartiQL: STRICT refuses a scan with a hint, and nothing else', async () => {
    const strict = (where: string): object => ({ Statement: `STRICT SELECT pk FROM Things${where}` })
    assert.match(
      await store.refusal('ExecuteStatement', strict(` WHERE color = 'red'`)),
      /A strict statement does not read all of Things\. Hint: give the partition key pk with = or IN/,
    )
    assert.match(await store.refusal('ExecuteStatement', strict('')), /strict statement/)
    assert.equal((await store.call('ExecuteStatement', strict(` WHERE pk = 'a'`))).Items?.length, 1)
  })
})
