// The words of refusals as most regions have them since October 2026, by operation.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { open, type Store } from '../../src/store/store.js'
import type { AttributeValue } from '../../src/model/value.js'

const S = (text: string): { S: string } => ({ S: text })
const INVALID = 'One or more parameter values were invalid: '
const one = (message: string): string => `1 validation error detected: ${message}`
const RETURN_VALUES =
  'Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]'
const ofEnum = (member: string, values: string): string =>
  `Value 'BAD' at '${member}' failed to satisfy constraint: Member must satisfy enum value set: [${values}]`
const CAPACITY = ofEnum('returnConsumedCapacity', 'INDEXES, TOTAL, NONE')
const METRICS = ofEnum('returnItemCollectionMetrics', 'SIZE, NONE')

describe('wording of refusals', () => {
  let store: Store
  before(async () => {
    store = await open({ memory: true })
    await store.call('CreateTable', {
      TableName: 'Words',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    })
  })
  after(() => store.close())

  const TableName = 'Words'
  const Key = { pk: S('a') }
  const refusal = async (operation: string, input: object): Promise<string> => {
    try {
      await (store.call as (name: string, input: unknown) => Promise<unknown>)(operation, input)
      return 'accepted'
    } catch (error) {
      return (error as Error).message
    }
  }

  const set = (type: 'SS' | 'NS', ...members: string[]): AttributeValue => ({ [type]: members }) as never
  const valued = (value: AttributeValue): Record<string, readonly [string, object]> => ({
    PutItem: ['PutItem', { TableName, Item: { ...Key, v: value } }],
    'PutItem, condition': [
      'PutItem',
      { TableName, Item: Key, ConditionExpression: 'v = :v', ExpressionAttributeValues: { ':v': value } },
    ],
    UpdateItem: [
      'UpdateItem',
      { TableName, Key, UpdateExpression: 'SET v = :v', ExpressionAttributeValues: { ':v': value } },
    ],
    DeleteItem: ['DeleteItem', { TableName, Key: { pk: value } }],
    GetItem: ['GetItem', { TableName, Key: { pk: value } }],
    BatchGetItem: ['BatchGetItem', { RequestItems: { [TableName]: { Keys: [{ pk: value }] } } }],
    Query: [
      'Query',
      {
        TableName,
        KeyConditionExpression: 'pk = :p',
        FilterExpression: 'v = :v',
        ExpressionAttributeValues: { ':p': S('a'), ':v': value },
      },
    ],
    TransactWriteItems: [
      'TransactWriteItems',
      {
        TransactItems: [
          {
            Update: {
              TableName,
              Key,
              UpdateExpression: 'SET v = :v',
              ExpressionAttributeValues: { ':v': value },
            },
          },
        ],
      },
    ],
    BatchWriteItem: [
      'BatchWriteItem',
      { RequestItems: { [TableName]: [{ PutRequest: { Item: { ...Key, v: value } } }] } },
    ],
    Scan: ['Scan', { TableName, FilterExpression: 'v = :v', ExpressionAttributeValues: { ':v': value } }],
  })

  const NUMERIC = 'The parameter cannot be converted to a numeric value'
  for (const [what, value, newer, older] of [
    ['an empty number', { N: '' }, `${NUMERIC}: `, NUMERIC],
    ['a number that is none', { N: 'abc' }, `${NUMERIC}: abc`, `${NUMERIC}: abc`],
    [
      'a repeated string',
      set('SS', 'b', 'a', 'b'),
      `${INVALID}Input collection ["a", "b", "b"] contains duplicates.`,
      `${INVALID}Input collection [b, a, b] contains duplicates.`,
    ],
    [
      'a repeated number',
      set('NS', '2', '1', '2'),
      `${INVALID}Input collection contains duplicates.`,
      'Input collection contains duplicates',
    ],
  ] as const)
    test(`${what} is told in the words of each operation`, async () => {
      for (const [name, [operation, input]] of Object.entries(valued(value))) {
        const expected = /^(?:Put|Update|Delete)Item/.test(name)
          ? one(newer)
          : name === 'BatchWriteItem'
            ? older
            : name === 'Scan' || name === 'TransactWriteItems'
              ? `ExpressionAttributeValues contains invalid value: ${older} for key :v`
              : newer
        assert.equal(await refusal(operation, input), expected, name)
      }
    })

  for (const [what, operation, input, message] of [
    [
      'values without an expression',
      'PutItem',
      { Item: Key, ExpressionAttributeValues: { ':v': S('x') } },
      'ExpressionAttributeValues can only be specified when using expressions',
    ],
    [
      'an empty condition',
      'DeleteItem',
      { Key, ConditionExpression: '' },
      'Invalid ConditionExpression: The expression can not be empty;',
    ],
    [
      'ReturnValues of an update',
      'DeleteItem',
      { Key, ReturnValues: 'ALL_NEW' },
      'ReturnValues can only be ALL_OLD or NONE',
    ],
    [
      'an unused value',
      'UpdateItem',
      { Key, UpdateExpression: 'SET a = :v', ExpressionAttributeValues: { ':v': S('a'), ':u': S('b') } },
      'Value provided in ExpressionAttributeValues unused in expressions: keys: {:u}',
    ],
    [
      'a malformed expectation',
      'PutItem',
      { Item: Key, Expected: { a: { Exists: true } } },
      `${INVALID}Value must be provided when Exists is true for Attribute: a`,
    ],
  ] as const)
    test(`${what} is counted as an error of the validation in ${operation}`, async () => {
      assert.equal(await refusal(operation, { TableName, ...input }), one(message))
    })

  test('what is refused with a look at the table is not counted', async () => {
    assert.equal(
      await refusal('UpdateItem', { TableName, Key, UpdateExpression: 'REMOVE pk' }),
      `${INVALID}Cannot update attribute pk. This attribute is part of the key`,
    )
    assert.equal(
      await refusal('DeleteItem', { TableName, Key: { pk: { N: '1' } } }),
      'The provided key element does not match the schema',
    )
  })

  test('an empty table name is told alone, unless a member is missing', async () => {
    const alone = one(
      "Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1",
    )
    assert.equal(await refusal('PutItem', { TableName: '', Item: {}, ReturnValues: 'BAD' }), alone)
    assert.equal(await refusal('DeleteItem', { TableName: '', Key: {} }), alone)
    assert.equal(
      await refusal('UpdateItem', { TableName: '', ReturnConsumedCapacity: 'BAD', ReturnValues: 'BAD' }),
      `4 validation errors detected: ${CAPACITY}; ` +
        "Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1; " +
        `${ofEnum('returnValues', 'ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW')}; ` +
        "Value null at 'key' failed to satisfy constraint: Member must not be null",
    )
  })

  test('several unknown values are told together, but UpdateItem stops at ReturnValues', async () => {
    const bad = { ReturnConsumedCapacity: 'BAD', ReturnValues: 'BAD', ReturnItemCollectionMetrics: 'BAD' }
    assert.equal(
      await refusal('PutItem', { TableName, Item: Key, ...bad }),
      `3 validation errors detected: ${CAPACITY}; ${RETURN_VALUES}; ${METRICS}`,
    )
    assert.equal(await refusal('UpdateItem', { TableName, Key, ...bad }), one(RETURN_VALUES))
  })
})
