import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AttributeValue } from '../../src/model/value.js'
import { createTable, openTestStore, type TestStore } from './many-support.js'

const S = (text: string): { S: string } => ({ S: text })
const N = (text: string): { N: string } => ({ N: text })

describe('BatchExecuteStatement and ExecuteTransaction', () => {
  let store: TestStore
  before(async () => {
    store = await openTestStore(2)
    await createTable(store, 'Tab', 'pk:S')
    await createTable(store, 'Com', 'pk:S sk:S', { gsi: { key: 'g:S', projection: 'ALL' } })
    await store.putAll(
      'Tab',
      ['a', 'b', 'c'].map((id) => ({ pk: S(id), n: N('1'), m: { M: { x: N('2') } } })),
    )
    await store.putAll('Com', [{ pk: S('a'), sk: S('1'), flag: S('right') }])
  })
  after(() => store[Symbol.asyncDispose]())

  type Member = string | readonly [string, readonly AttributeValue[]]
  const members = (list: readonly Member[]): object[] =>
    list.map((one) =>
      typeof one === 'string' ? { Statement: one } : { Statement: one[0], Parameters: one[1] },
    )
  const batch = async (...list: Member[]): Promise<unknown> =>
    (await store.call('BatchExecuteStatement', { Statements: members(list) }))['Responses']
  const transact = async (...list: Member[]): Promise<unknown> =>
    (await store.call('ExecuteTransaction', { TransactStatements: members(list) }))['Responses']
  const refused = (...list: Member[]): Promise<string> =>
    store.refusal('ExecuteTransaction', { TransactStatements: members(list) })
  const reasons = async (...list: Member[]): Promise<unknown> => {
    try {
      await store.call('ExecuteTransaction', { TransactStatements: members(list) })
    } catch (error) {
      return (error as { members: { CancellationReasons: unknown } }).members.CancellationReasons
    }
    return 'done'
  }
  const stored = async (id: string): Promise<unknown> =>
    (await store.call('ExecuteStatement', { Statement: `SELECT * FROM Tab WHERE pk = '${id}'` })).Items?.[0]

  test('PartiQL: a batch answers each of its statements, and one that is wrong leaves the others alone', async () => {
    const KEY =
      'Select statements within BatchExecuteStatement must specify the primary key in the where clause.'
    assert.deepEqual(
      await batch(
        `SELECT n FROM Tab WHERE pk = 'a'`,
        [`SELECT m.x FROM Tab WHERE pk = ?`, [S('b')]],
        `SELECT * FROM Tab WHERE pk = 'none'`,
        `SELECT * FROM Nope WHERE pk = 'x'`,
        `SLECT * FROM Tab WHERE pk = 'x'`,
        `SELECT * FROM Tab WHERE n = 1`,
        `SELECT * FROM Com.gsi WHERE g = 'x'`,
        `SELECT * FROM Com WHERE pk = 'a' AND sk = '1' AND flag = 'right'`,
        `SELECT sk FROM Com WHERE pk IN ['a'] AND sk = '1'`,
      ),
      [
        { TableName: 'Tab', Item: { n: N('1') } },
        { TableName: 'Tab', Item: { m: { M: { x: N('2') } } } },
        { TableName: 'Tab' },
        { Error: { Code: 'ResourceNotFound', Message: 'Requested resource not found' } },
        {
          Error: {
            Code: 'ValidationError',
            Message: "Statement wasn't well formed, can't be processed: Expected data manipulation",
          },
        },
        { Error: { Code: 'ValidationError', Message: KEY } },
        { Error: { Code: 'ValidationError', Message: KEY } },
        { Error: { Code: 'ValidationError', Message: KEY } },
        { TableName: 'Com', Item: { sk: S('1') } },
      ],
    )
  })

  test('PartiQL: writes of a batch are told one by one, with the table if they ran', async () => {
    assert.deepEqual(
      await batch(
        `INSERT INTO Tab VALUE {'pk': 'new'}`,
        `INSERT INTO Tab VALUE {'pk': 'a'}`,
        `UPDATE Tab SET n = 2 WHERE pk = 'b' AND n = 7`,
        `UPDATE Tab SET n = 2 WHERE pk = 'c' RETURNING MODIFIED NEW *`,
        `DELETE FROM Tab WHERE pk = 'none' RETURNING ALL OLD *`,
        `DELETE FROM Tab WHERE pk = 'x' RETURNING ALL NEW *`,
      ),
      [
        { TableName: 'Tab' },
        {
          TableName: 'Tab',
          Error: { Code: 'DuplicateItem', Message: 'Duplicate primary key exists in table' },
        },
        {
          TableName: 'Tab',
          Error: { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
        },
        { TableName: 'Tab', Item: { n: N('2') } },
        { TableName: 'Tab' },
        {
          Error: {
            Code: 'ValidationError',
            Message:
              'Invalid returning clause: RETURNING ALL NEW *. Only RETURNING ALL OLD * is allowed in DELETE statements.',
          },
        },
      ],
    )
  })

  test('PartiQL: a batch reads or writes, and names no item twice', async () => {
    const refusal = (...list: Member[]): Promise<string> =>
      store.refusal('BatchExecuteStatement', { Statements: members(list) })
    const select = `SELECT * FROM Tab WHERE pk = 'a'`
    assert.match(await refusal(select, `DELETE FROM Tab WHERE pk = 'b'`), /Read and write requests together/)
    // Whatever else is wrong with the one that would write.
    for (const write of [`DELETE FROM Nope WHERE pk = 'b'`, `/* */ insert nothing`, `UPDATE Tab SET n = 1`])
      assert.match(await refusal(select, write), /Read and write requests together/, write)
    assert.match(
      await refusal(select, `SELECT n FROM Tab WHERE pk = 'a'`),
      /list of item keys contains duplicates/,
    )
    assert.match(
      await refusal(...Array.from({ length: 26 }, (_, i) => `DELETE FROM Tab WHERE pk = 'k${i}'`)),
      /Member must have length less than or equal to 25/,
    )
  })

  test('PartiQL: each read of a batch is charged as consistent as it asks to be', async () => {
    const Statement = `SELECT * FROM Tab WHERE pk = ?`
    const answer = await store.call('BatchExecuteStatement', {
      Statements: [
        { Statement, Parameters: [S('a')], ConsistentRead: true },
        { Statement, Parameters: [S('b')] },
      ],
      ReturnConsumedCapacity: 'TOTAL',
    })
    assert.deepEqual(answer.ConsumedCapacity, [{ TableName: 'Tab', CapacityUnits: 1.5 }])
  })

  test('PartiQL: a transaction of writes is done as a whole, or not at all', async () => {
    assert.deepEqual(
      await transact(
        `INSERT INTO Tab VALUE {'pk': 't1', 'n': 1}`,
        `UPDATE Tab SET n = 10 WHERE pk = 'a'`,
        `DELETE FROM Tab WHERE pk = 'none' AND n = 7`,
        `EXISTS(SELECT * FROM Com WHERE pk = 'a' AND sk = '1' AND flag = 'right')`,
      ),
      [],
    )
    assert.deepEqual(await stored('t1'), { pk: S('t1'), n: N('1') })
    assert.deepEqual(
      await reasons(
        `INSERT INTO Tab VALUE {'pk': 'a'}`,
        `INSERT INTO Tab VALUE {'pk': 't2'}`,
        `UPDATE Tab SET n = 1 WHERE pk = 'nobody'`,
        `EXISTS(SELECT * FROM Com WHERE pk = 'a' AND sk = '1' AND flag IS MISSING)`,
      ),
      [
        { Code: 'DuplicateItem', Message: 'Duplicate primary key exists in table' },
        { Code: 'None' },
        { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
        { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
      ],
    )
    assert.equal(await stored('t2'), undefined)
  })

  test('PartiQL: a transaction of reads answers its items, at one moment', async () => {
    assert.deepEqual(
      await transact(`SELECT m.x FROM Tab WHERE pk = 'b'`, `SELECT * FROM Tab WHERE pk = 'none'`),
      [{ Item: { m: { M: { x: N('2') } } } }, {}],
    )
  })

  test('PartiQL: a client token takes effect once, and not for other statements', async () => {
    await store.putAll('Tab', [{ pk: S('once'), n: N('0') }])
    const request = {
      ClientRequestToken: 'token-1',
      ReturnConsumedCapacity: 'TOTAL',
      TransactStatements: [{ Statement: `UPDATE Tab SET n = n + 1 WHERE pk = 'once'` }],
    }
    const first = await store.call('ExecuteTransaction', request)
    const again = await store.call('ExecuteTransaction', request)
    assert.deepEqual(first.ConsumedCapacity, [{ TableName: 'Tab', CapacityUnits: 2, WriteCapacityUnits: 2 }])
    assert.deepEqual(again.ConsumedCapacity, [{ TableName: 'Tab', CapacityUnits: 2, ReadCapacityUnits: 2 }])
    assert.deepEqual(await stored('once'), { pk: S('once'), n: N('1') })
    assert.match(
      await store.refusal('ExecuteTransaction', {
        ...request,
        TransactStatements: [{ Statement: `UPDATE Tab SET n = n + 2 WHERE pk = 'once'` }],
      }),
      /^IdempotentParameterMismatchException/,
    )
  })

  test('PartiQL: what is wrong with one statement of a transaction is told with its position', async () => {
    const select = `SELECT * FROM Tab WHERE pk = 'a'`
    const FAILED = 'ValidationException: Validation failed in TransactStatements'
    const KEY =
      'Select statements within ExecuteTransaction must specify the primary key in the where clause.'
    const EXISTS = 'EXISTS() must contain a single item read with additional condition'
    for (const [list, message] of [
      [
        [`SELECT * FROM Tab WHERE`],
        `${FAILED}[0]: Statement wasn't well formed, can't be processed: Unexpected term`,
      ],
      [[select, `SELECT * FROM Tab WHERE n = 1`], `${FAILED}[1]: ${KEY}`],
      [[`SELECT * FROM Com WHERE pk = 'a' AND sk = '1' AND flag = 'x'`], `${FAILED}[0]: ${KEY}`],
      [
        [`SELECT * FROM Com.gsi WHERE g = 'x'`],
        `${FAILED}[0]: Reads on indices are not supported within transactions.`,
      ],
      [
        [`UPDATE Tab SET n = 1 WHERE pk = 'a' RETURNING ALL NEW *`],
        `${FAILED}[0]: RETURNING clause is not supported in ExecuteTransaction.`,
      ],
      [
        [`EXISTS(SELECT * FROM Tab WHERE pk = 'a')`, `DELETE FROM Tab WHERE pk = 'q'`],
        `${FAILED}[0]: ${EXISTS}`,
      ],
      [
        [select, `DELETE FROM Tab WHERE pk = 'b'`],
        'ValidationException: ExecuteTransaction API does not support both read and write operations in the same request.',
      ],
      [
        [select, select],
        'ValidationException: Transaction request cannot include multiple operations on one item',
      ],
    ] as const)
      assert.equal(await refused(...list), message)
    assert.match(
      await store.refusal('ExecuteStatement', {
        Statement: `EXISTS(SELECT * FROM Tab WHERE pk = 'a' AND n = 1)`,
      }),
      /EXISTS can only be used in ExecuteTransaction write requests/,
    )
  })

  test('PartiQL: tables that are not there and keys that are wrong cancel a transaction', async () => {
    const update = `UPDATE Com SET a = 1 WHERE `
    const mismatch = {
      Code: 'ValidationError',
      Message: 'The provided key element does not match the schema',
    }
    assert.deepEqual(
      await reasons(
        `${update}pk = 'a'`,
        `${update}pk IN ['a'] AND sk = '1'`,
        `${update}pk = 'a' AND sk = 1`,
        `${update}pk = 'a' AND sk = '1'`,
        `INSERT INTO Com VALUE {'pk': 'x'}`,
        `UPDATE Nope SET a = 1 WHERE pk = 'x' RETURNING ALL NEW *`,
      ),
      [
        mismatch,
        mismatch,
        mismatch,
        { Code: 'None' },
        {
          Code: 'ValidationError',
          Message: 'One or more parameter values were invalid: Missing the key sk in the item',
        },
        { Code: 'ResourceNotFound', Message: 'Requested resource not found' },
      ],
    )
  })
})
