// What is told first of requests with several faults, and of values that are nested very deep, as most regions have it since October 2026.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AttributeValue } from '../../src/model/value.js'
import { open, type Store } from '../../src/store/store.js'

const S = (text: string): AttributeValue => ({ S: text })
function deep(levels: number): AttributeValue {
  let value = S('leaf')
  for (let level = 0; level < levels; level++) value = { M: { n: value } }
  return value
}
const one = (message: string): string => `1 validation error detected: ${message}`
const NESTED =
  'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit'
const SYNTAX = 'Invalid ConditionExpression: Syntax error; token: "=", near: "= = b"'
const OLDER_RETURN_VALUES = one(
  "Value 'BOGUS' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]",
)
const ALL_OR = 'Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]'
const CAPACITY =
  "Value 'BOGUS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]"
const NAMES =
  'Map keys must satisfy constraint: [Member must have length less than or equal to 255, Member must have length greater than or equal to 3, Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+]'

describe('requests with several faults', () => {
  let store: Store
  before(async () => {
    store = await open({ memory: true })
    await store.call('CreateTable', {
      TableName: 'Deep',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    })
  })
  after(() => store.close())
  const TableName = 'Deep'
  const Key = { pk: S('a') }
  const refusal = async (operation: string, input: object): Promise<string> => {
    try {
      await (store.call as (name: string, input: unknown) => Promise<unknown>)(operation, input)
      return 'accepted'
    } catch (error) {
      return (error as Error).message
    }
  }
  const transacted = (...TransactItems: object[]): Promise<string> =>
    refusal('TransactWriteItems', { TransactItems })
  const put = (Item: object): object => ({ Put: { TableName, Item } })

  test('an empty name is told before a deep value of the same item of a transaction, and a deep value before an empty name within one', async () => {
    assert.equal(await transacted(put({ ...Key, d: deep(100), '': S('x') })), 'Empty attribute name')
    assert.equal(await transacted(put({ ...Key, m: { M: { '': S('x') } }, d: deep(40) })), NESTED)
    assert.equal(await transacted(put({ ...Key, m: { M: { '': S('x') } } })), 'Empty attribute name')
  })

  test('an expression of an action is told before its key that is nested too deep', async () => {
    const key = { pk: deep(100) }
    const faults = { TableName, Key: key, ConditionExpression: 'a = = b' }
    assert.equal(await transacted({ Delete: faults }), SYNTAX)
    assert.equal(await transacted({ ConditionCheck: faults }), SYNTAX)
    assert.equal(await transacted({ Delete: { TableName, Key: key } }), NESTED)
  })

  test('a transaction compares a value of one level more than an item may have, and is cancelled if it would write it', async () => {
    const naming = { Key, TableName, ExpressionAttributeValues: { ':v': deep(32) } }
    const reasons = (action: object): Promise<unknown> =>
      (store.call as (name: string, input: unknown) => Promise<unknown>)('TransactWriteItems', {
        TransactItems: [action],
      }).catch((error: unknown) => (error as { CancellationReasons: unknown }).CancellationReasons)
    const compared = { ...naming, UpdateExpression: 'SET a = pk', ConditionExpression: 'd = :v' }
    assert.deepEqual(await reasons({ Update: compared }), [
      { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
    ])
    for (const UpdateExpression of ['SET d = :v', 'SET d = if_not_exists(e, :v)'])
      assert.deepEqual(await reasons({ Update: { ...naming, UpdateExpression } }), [
        { Code: 'ValidationError', Message: 'Nesting Levels have exceeded supported limits' },
      ])
    assert.equal(await transacted(put({ ...Key, d: deep(32) })), NESTED)
    assert.equal(
      await transacted({
        ConditionCheck: {
          ...naming,
          ConditionExpression: 'd = :v',
          ExpressionAttributeValues: { ':v': deep(33) },
        },
      }),
      `ExpressionAttributeValues contains invalid value: ${NESTED} for key :v`,
    )
  })

  test('a single write with a value of more than 62 levels is refused in the older words', async () => {
    const deepCondition = (levels: number): object => ({
      TableName,
      Key,
      ConditionExpression: 'd = :d',
      ExpressionAttributeValues: { ':d': deep(levels) },
    })
    assert.equal(
      await refusal('DeleteItem', { ...deepCondition(63), ReturnValues: 'BOGUS' }),
      OLDER_RETURN_VALUES,
    )
    assert.notEqual(
      await refusal('DeleteItem', { ...deepCondition(62), ReturnValues: 'BOGUS' }),
      OLDER_RETURN_VALUES,
    )
    const expected = { TableName, Key, Expected: { d: { Value: deep(63) } }, ReturnValues: 'BOGUS' }
    assert.equal(await refusal('DeleteItem', expected), OLDER_RETURN_VALUES)
    const only = { ...deepCondition(100), ReturnValues: 'UPDATED_NEW' }
    assert.equal(await refusal('DeleteItem', only), 'ReturnValues can only be ALL_OLD or NONE')
    assert.equal(await refusal('PutItem', { TableName, Item: { ...Key, d: deep(40) } }), one(NESTED))
    assert.equal(await refusal('PutItem', { TableName, Item: { ...Key, d: deep(63) } }), NESTED)
  })

  test('an unknown ConditionalOperator is told with [ALL, OR], and by Query alone', async () => {
    const expected = { Expected: { a: { Exists: false }, b: { Exists: false } }, ConditionalOperator: 'XOR' }
    assert.equal(await refusal('PutItem', { TableName, Item: Key, ...expected }), one(ALL_OR))
    const equal = { ComparisonOperator: 'EQ', AttributeValueList: [S('a')] }
    const query = {
      TableName: 'Absent',
      KeyConditions: { pk: equal },
      QueryFilter: { b: equal, c: equal },
      ConditionalOperator: 'XOR',
      Select: 'BOGUS',
    }
    assert.equal(await refusal('Query', query), ALL_OR)
    const older = { TableName, Item: { ...Key, d: deep(100) }, ...expected }
    assert.match(
      await refusal('PutItem', older),
      /^1 validation error detected: Value 'XOR' at .*\[OR, AND\]$/,
    )
  })

  test('a bad name in a batch is told with what was sent, by BatchGetItem together with its other members', async () => {
    const RequestItems = { 'bad!name': { Keys: [{ pk: S('a') }] } }
    const told = `Value '{"bad!name":{"Keys":[{"pk":{"S":"a"}}]}}' at 'requestItems' failed to satisfy constraint: ${NAMES}`
    assert.equal(await refusal('BatchGetItem', { RequestItems }), one(told))
    assert.equal(
      await refusal('BatchGetItem', { RequestItems, ReturnConsumedCapacity: 'BOGUS' }),
      `2 validation errors detected: ${told}; ${CAPACITY}`,
    )
    const writes = { RequestItems: { 'bad!name': [{ PutRequest: { Item: Key } }] } }
    assert.equal(
      await refusal('BatchWriteItem', writes),
      one(
        `Value '{bad!name=[WriteRequest(putRequest=PutRequest(item={pk=AttributeValue}), deleteRequest=null)]}' at 'requestItems' failed to satisfy constraint: ${NAMES}`,
      ),
    )
    assert.equal(
      await refusal('BatchWriteItem', { ...writes, ReturnConsumedCapacity: 'BOGUS' }),
      one(CAPACITY),
    )
  })

  test('a long list of writes under a bad name does not make a long message', async () => {
    const writes = Array.from({ length: 25 }, (_, at) => ({
      PutRequest: { Item: { pk: S(`${at}`), ['n'.repeat(60_000)]: S('x') } },
    }))
    assert.ok((await refusal('BatchWriteItem', { RequestItems: { 'bad!name': writes } })).length < 2000)
  })

  test('an empty list of keys or writes is told in the words of its operation', async () => {
    assert.equal(
      await refusal('BatchGetItem', { RequestItems: { Deep: { Keys: [] } } }),
      one(
        "Value at 'RequestItems.Deep.member.Keys' failed to satisfy constraint: Member must have length greater than or equal to 1",
      ),
    )
    assert.match(
      await refusal('BatchWriteItem', { RequestItems: { Deep: [] } }),
      /^1 validation error detected: Value '\{Deep=\[\]\}' at 'requestItems'/,
    )
  })

  test('a client token that is too long is told with what else is wrong', async () => {
    const input = {
      TransactItems: [put(Key)],
      ClientRequestToken: 'x'.repeat(37),
      ReturnConsumedCapacity: 'BOGUS',
    }
    assert.equal(
      await refusal('TransactWriteItems', input),
      `2 validation errors detected: Value '${'x'.repeat(37)}' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36; ${CAPACITY}`,
    )
  })

  test('BatchWriteItem reads the exponent of a number as Java does', async () => {
    const written = (n: string): Promise<string> =>
      refusal('BatchWriteItem', {
        RequestItems: { Deep: [{ PutRequest: { Item: { ...Key, n: { N: n } } } }] },
      })
    assert.match(await written('1e2147483647'), /^Number underflow/)
    assert.equal(
      await written('1e2147483648'),
      'The parameter cannot be converted to a numeric value: 1e2147483648',
    )
    assert.match(await written('1e126'), /^Number overflow/)
  })
})
