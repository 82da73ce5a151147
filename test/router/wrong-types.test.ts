// What is said of JSON types that a request may not have, and that it is said before anything else.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { DynamoError } from '../../src/model/errors.js'
import { open, type Store } from '../../src/store/store.js'

const MODEL = 'com.amazonaws.dynamodb.v20120810.'
const NOT_A_CLASS =
  'class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class ' +
  "(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')"
const FIELD = 'Unexpected field type'
const VALUE = 'Unexpected value type in payload'
const map = (of: string): string => `Unrecognized collection type java.util.Map<java.lang.String, ${of}>`

/** No request has a table name: that is not what is told. */
const CASES: readonly (readonly [string, object, string])[] = [
  ['CreateTable', { ProvisionedThroughput: 23 }, FIELD],
  [
    'CreateTable',
    { ProvisionedThroughput: [] },
    `Unrecognized collection type class ${MODEL}ProvisionedThroughput`,
  ],
  ['CreateTable', { KeySchema: 23 }, FIELD],
  ['CreateTable', { KeySchema: ['x'] }, VALUE],
  ['CreateTable', { KeySchema: [[]] }, `Unrecognized collection type class ${MODEL}KeySchemaElement`],
  [
    'UpdateTable',
    { GlobalSecondaryIndexUpdates: [{ Create: [] }] },
    `Unrecognized collection type class ${MODEL}CreateGlobalSecondaryIndexAction`,
  ],
  ['BatchGetItem', { RequestItems: [] }, map(`${MODEL}KeysAndAttributes`)],
  ['BatchGetItem', { RequestItems: { T: 23 } }, VALUE],
  ['BatchGetItem', { RequestItems: { T: { Keys: [23] } } }, NOT_A_CLASS],
  ['BatchWriteItem', { RequestItems: [] }, map(`java.util.List<${MODEL}WriteRequest>`)],
  ['BatchWriteItem', { RequestItems: { T: 'x' } }, NOT_A_CLASS],
  ['BatchWriteItem', { RequestItems: { T: [{ PutRequest: 23 }] } }, FIELD],
  ['GetItem', { ExpressionAttributeNames: [] }, map('java.lang.String')],
  ['GetItem', { Key: [] }, map(`${MODEL}AttributeValue`)],
  ['GetItem', { Key: { a: 23 } }, VALUE],
  ['GetItem', { Key: { a: [] } }, `Unrecognized collection type class ${MODEL}AttributeValue`],
  ['GetItem', { Key: { a: { S: 23 } } }, 'NUMBER_VALUE cannot be converted to String'],
  [
    'PutItem',
    { Item: { a: { L: [{ M: { b: { BS: ['=+/='] } } }] } } },
    'Invalid last non-pad Base64 character dectected',
  ],
  ['PutItem', { Expected: { a: { Value: 23 } } }, FIELD],
  ['PutItem', { Expected: { a: 23 } }, VALUE],
  [
    'UpdateItem',
    { AttributeUpdates: { a: { Value: { NULL: 'maybe' } } } },
    'Unexpected token received from parser',
  ],
  [
    'UpdateItem',
    { AttributeUpdates: { a: [] } },
    `Unrecognized collection type class ${MODEL}AttributeValueUpdate`,
  ],
  ['Query', { KeyConditions: { a: { AttributeValueList: [{ NS: 'x' }] } } }, FIELD],
  ['Scan', { ExclusiveStartKey: { a: { M: [] } } }, map(`${MODEL}AttributeValue`)],
]

describe('wrong JSON types', () => {
  let store: Store
  before(async () => (store = await open({ memory: true })))
  after(() => store.close())

  for (const [operation, input, message] of CASES)
    test(`${operation} ${JSON.stringify(input)} is refused for its types`, async () => {
      const answer = (store.call as (name: string, input: unknown) => Promise<unknown>)(operation, input)
      await assert.rejects(answer, { name: 'SerializationException', message })
    })

  test('the message is in Message, as of all errors of the service framework', () => {
    const body = new DynamoError('SerializationException', 'no').toBody()
    assert.equal(body, '{"__type":"com.amazon.coral.service#SerializationException","Message":"no"}')
  })
})
