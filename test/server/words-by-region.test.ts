// The words of refusals follow the region that a request is signed for.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { open } from '../../src/store/store.js'

const INVALID = 'One or more parameter values were invalid: '
const MOST = ['us-east-1', 'ap-south-1', 'eu-west-1', undefined]
const BEHIND: readonly (string | undefined)[] = ['eu-south-2', 'me-central-1']
const AHEAD: Readonly<Record<string, readonly (string | undefined)[]>> = {
  Scan: ['eu-west-2', 'us-west-1', 'eu-central-1', 'ap-northeast-2'],
  TransactGetItems: ['eu-west-2', 'eu-north-1', 'ap-northeast-2'],
  TransactWriteItems: ['eu-west-2', 'eu-north-1', 'ap-northeast-2'],
}
const REGIONS = new Set([...MOST, ...BEHIND, ...Object.values(AHEAD).flat()])

interface Case {
  readonly operation: string
  readonly input: object
  /** In the order of most, behind, ahead. */
  readonly words: readonly [string, string, string]
}

const one = (message: string): string => `1 validation error detected: ${message}`
const TableName = 'Words'
const Item = { pk: { S: 'a' } }
const RETURN_VALUES =
  'Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]'
const shownReturnValues =
  "Value 'BAD' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"
const SELECT =
  'Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES'
const ZERO_BASED = 'The Segment parameter is zero-based and must be less than parameter TotalSegments'
const SHORT = 'failed to satisfy constraint: Member must have length greater than or equal to 1'
const asInMost = (most: string, behind: string): Case['words'] => [most, behind, most]
const asInBehind = (most: string, ahead: string): Case['words'] => [most, most, ahead]
const cancelledBy = (code: string): string =>
  `Transaction cancelled, please refer cancellation reasons for specific reasons [${code}]`
const NESTED =
  'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit'
const NESTED_UNDER_KEY = `ExpressionAttributeValues contains invalid value: ${NESTED} for key :v`
const nested = (levels: number): object => (levels === 0 ? { S: 'leaf' } : { M: { n: nested(levels - 1) } })
const listed = (levels: number): object => (levels === 0 ? { S: 'leaf' } : { L: [listed(levels - 1)] })
const comparing = (value: object): object => ({
  TransactItems: [
    {
      ConditionCheck: {
        TableName,
        Key: Item,
        ConditionExpression: 'd = :v',
        ExpressionAttributeValues: { ':v': value },
      },
    },
  ],
})

const CASES: readonly Case[] = [
  {
    operation: 'PutItem',
    input: { TableName, Item: { ...Item, s: { SS: ['b', 'a', 'b'] } } },
    words: asInMost(
      one(`${INVALID}Input collection ["a", "b", "b"] contains duplicates.`),
      `${INVALID}Input collection [b, a, b] contains duplicates.`,
    ),
  },
  {
    operation: 'PutItem',
    input: { TableName, Item, ExpressionAttributeValues: { ':v': { S: 'x' } } },
    words: asInMost(
      one('ExpressionAttributeValues can only be specified when using expressions'),
      'ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null',
    ),
  },
  {
    operation: 'PutItem',
    input: { TableName: '', Item },
    words: asInMost(one(`Value at 'TableName' ${SHORT}`), one(`Value '' at 'tableName' ${SHORT}`)),
  },
  {
    operation: 'UpdateItem',
    input: { TableName, Key: Item, ReturnValues: 'BAD' },
    words: asInMost(one(RETURN_VALUES), one(shownReturnValues)),
  },
  {
    operation: 'UpdateItem',
    input: { TableName, Key: Item, UpdateExpression: '' },
    words: asInMost(
      one('Invalid UpdateExpression: The expression can not be empty;'),
      'Invalid UpdateExpression: The expression can not be empty;',
    ),
  },
  {
    operation: 'DeleteItem',
    input: {
      TableName,
      Key: Item,
      ConditionExpression: 'pk = :v',
      ExpressionAttributeValues: { ':v': { N: 'abc' } },
    },
    words: asInMost(
      one('The parameter cannot be converted to a numeric value: abc'),
      'ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value: abc for key :v',
    ),
  },
  {
    operation: 'BatchGetItem',
    input: { RequestItems: {} },
    words: asInMost(
      one(`Value at 'RequestItems' ${SHORT}`),
      'The requestItems parameter is required for BatchGetItem',
    ),
  },
  {
    operation: 'Query',
    input: {
      TableName,
      KeyConditionExpression: 'pk = :v',
      ExpressionAttributeValues: { ':v': { S: 'a' } },
      Select: 'SPECIFIC_ATTRIBUTES',
    },
    words: asInMost(one(SELECT), SELECT),
  },
  {
    operation: 'Scan',
    input: { TableName, Limit: 0 },
    words: asInBehind(
      one(
        "Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
      ),
      one("Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1"),
    ),
  },
  {
    operation: 'Scan',
    input: { TableName, Segment: -1, TotalSegments: 4 },
    words: asInBehind(
      one(
        "Value '-1' at 'segment' failed to satisfy constraint: Member must have value greater than or equal to 0",
      ),
      one(
        "Value at 'Segment' failed to satisfy constraint: Member must have value greater than or equal to 0",
      ),
    ),
  },
  {
    operation: 'Scan',
    input: { TableName, Segment: 5, TotalSegments: 5 },
    words: asInBehind(`${ZERO_BASED}: Segment: 5 is not less than TotalSegments: 5`, ZERO_BASED),
  },
  {
    operation: 'Scan',
    input: { TableName, ExclusiveStartKey: { bad: { S: 'p' } } },
    words: asInBehind(
      'The provided starting key is invalid: The provided key element does not match the schema',
      'The provided starting key is invalid',
    ),
  },
  {
    operation: 'Scan',
    input: { TableName, Select: 'SPECIFIC_ATTRIBUTES' },
    words: asInBehind(SELECT, one(SELECT)),
  },
  {
    operation: 'TransactWriteItems',
    input: { TransactItems: [] },
    words: asInBehind(
      one(`Value '[]' at 'transactItems' ${SHORT}`),
      one(`Value at 'TransactItems' ${SHORT}`),
    ),
  },
  {
    operation: 'TransactGetItems',
    input: { TransactItems: [] },
    words: asInBehind(
      one(`Value '[]' at 'transactItems' ${SHORT}`),
      one(`Value at 'TransactItems' ${SHORT}`),
    ),
  },
  {
    operation: 'TransactWriteItems',
    input: {
      TransactItems: [
        {
          Update: {
            TableName,
            Key: Item,
            UpdateExpression: 'SET n = :v',
            ExpressionAttributeValues: { ':v': { N: '' } },
          },
        },
      ],
    },
    words: asInBehind(
      'ExpressionAttributeValues contains invalid value: The parameter cannot be converted to a numeric value for key :v',
      'The parameter cannot be converted to a numeric value: ',
    ),
  },
  {
    operation: 'TransactWriteItems',
    input: { TransactItems: [{ Put: { TableName, Item: { ...Item, s: { NS: ['2', '1', '2'] } } } }] },
    words: asInBehind(
      'Input collection contains duplicates',
      `${INVALID}Input collection contains duplicates.`,
    ),
  },
  {
    operation: 'TransactGetItems',
    input: { TransactItems: [{ Get: { TableName, Key: { pk: { N: '' } } } }] },
    words: asInBehind(
      'The parameter cannot be converted to a numeric value',
      'The parameter cannot be converted to a numeric value: ',
    ),
  },
  // One level more than an item may have is refused only where it would be written.
  {
    operation: 'TransactWriteItems',
    input: comparing(nested(32)),
    words: asInBehind(cancelledBy('ConditionalCheckFailed'), NESTED),
  },
  {
    operation: 'TransactWriteItems',
    input: {
      TransactItems: [
        {
          Update: {
            TableName,
            Key: Item,
            UpdateExpression: 'SET d = :v',
            ExpressionAttributeValues: { ':v': nested(32) },
          },
        },
      ],
    },
    words: asInBehind(cancelledBy('ValidationError'), NESTED),
  },
  ...[nested(33), nested(60)].map((value): Case => ({
    operation: 'TransactWriteItems',
    input: comparing(value),
    words: asInBehind(NESTED_UNDER_KEY, NESTED),
  })),
  // Deeper still, an action is read in the older way everywhere.
  ...[nested(61), listed(61)].map((value): Case => ({
    operation: 'TransactWriteItems',
    input: comparing(value),
    words: [NESTED_UNDER_KEY, NESTED_UNDER_KEY, NESTED_UNDER_KEY],
  })),
]

describe('words by region', () => {
  // By the server's own reader of requests, and by node:http, which another header makes it leave the request to.
  for (const further of [{}, { connection: 'close' }]) {
    test(`a refusal has the words of the region that the request is signed for ${JSON.stringify(further)}`, async (t) => {
      await using store = await open({ memory: true })
      t.diagnostic(`${CASES.length} refusals`)
      await store.call('CreateTable', {
        AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
        TableName,
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
      })
      const { url } = await store.listen({ port: 0 })
      for (const { operation, input, words } of CASES)
        for (const region of REGIONS) {
          const [most, behind, ahead] = words
          const expected = BEHIND.includes(region)
            ? behind
            : AHEAD[operation]?.includes(region)
              ? ahead
              : most
          const answer = await fetch(url, {
            method: 'POST',
            headers: {
              ...further,
              'content-type': 'application/x-amz-json-1.0',
              'x-amz-target': `DynamoDB_20120810.${operation}`,
              ...(region !== undefined && {
                authorization: `AWS4-HMAC-SHA256 Credential=KEY/20261118/${region}/dynamodb/aws4_request, SignedHeaders=host, Signature=0`,
              }),
            },
            body: JSON.stringify(input),
          })
          // A cancelled transaction has its message under another name.
          const { message, Message } = (await answer.json()) as { message?: string; Message?: string }
          assert.equal(message ?? Message, expected, `${operation} in ${region ?? 'no region'}`)
        }
    })
  }

  test('in the process of the store, the words are those of most regions', async () => {
    await using store = await open({ memory: true })
    await assert.rejects(store.call('BatchGetItem', { RequestItems: {} }), {
      message: one(`Value at 'RequestItems' ${SHORT}`),
    })
  })
})
