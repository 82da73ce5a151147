import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Item } from '../../src/model/value.js'
import { createTable, openTestStore, type TestStore } from './many-support.js'

const S = (text: string): { S: string } => ({ S: text })
const N = (text: string): { N: string } => ({ N: text })
const put = (Item: object): object => ({ PutRequest: { Item } })
const remove = (Key: object): object => ({ DeleteRequest: { Key } })

const DUPLICATES = 'Provided list of item keys contains duplicates'
const MISMATCH = 'The provided key element does not match the schema'

describe('batches', () => {
  let store: TestStore
  before(async () => {
    store = await openTestStore(3)
    await createTable(store, 'Plain', 'pk:S')
    await createTable(store, 'Sorted', 'pk:S sk:N', {
      lsi: { key: 'pk:S l:S', projection: 'KEYS_ONLY' },
      gsi: { key: 'g:S', projection: 'ALL' },
    })
  })
  after(() => store[Symbol.asyncDispose]())

  const write = (RequestItems: object, more: object = {}): Promise<Record<string, unknown>> =>
    store.call('BatchWriteItem', { RequestItems, ...more })
  const get = (RequestItems: object, more: object = {}): Promise<Record<string, unknown>> =>
    store.call('BatchGetItem', { RequestItems, ...more })

  test('writes to several tables are read back from them, and what is deleted is gone', async () => {
    const answer = await write({
      Plain: [put({ pk: S('a'), v: N('1') }), put({ pk: S('b') })],
      Sorted: [put({ pk: S('a'), sk: N('1.0'), v: S('v') })],
    })
    assert.deepEqual(answer, { UnprocessedItems: {} })
    await write({ Plain: [remove({ pk: S('b') }), put({ pk: S('c') })] })
    assert.deepEqual(
      await get({
        Plain: { Keys: ['a', 'b', 'c'].map((pk) => ({ pk: S(pk) })) },
        Sorted: { Keys: [{ pk: S('a'), sk: N('1') }], ProjectionExpression: 'v', ConsistentRead: true },
      }),
      {
        Responses: { Plain: [{ pk: S('a'), v: N('1') }, { pk: S('c') }], Sorted: [{ v: S('v') }] },
        UnprocessedKeys: {},
      },
    )
  })

  test('a table may be named by its ARN, and is answered under that name', async () => {
    const arn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Plain'
    await write({ [arn]: [put({ pk: S('arn') })] })
    assert.deepEqual(await get({ [arn]: { Keys: [{ pk: S('arn') }] } }), {
      Responses: { [arn]: [{ pk: S('arn') }] },
      UnprocessedKeys: {},
    })
    assert.equal(
      await store.refusal('BatchWriteItem', {
        RequestItems: { [arn]: [put({ pk: S('x') })], Plain: [put({ pk: S('x') })] },
      }),
      `ValidationException: ${DUPLICATES}`,
    )
  })

  test('capacity is counted for each table and index, and collections for tables with local indexes', async () => {
    const answer = await write(
      {
        Sorted: [
          put({ pk: S('c'), sk: N('1'), l: S('l'), g: S('g') }),
          put({ pk: S('c'), sk: N('2'), v: S('x'.repeat(2000)) }),
          remove({ pk: S('d'), sk: N('1') }),
        ],
        Plain: [put({ pk: S('c') })],
      },
      { ReturnConsumedCapacity: 'INDEXES', ReturnItemCollectionMetrics: 'SIZE' },
    )
    assert.deepEqual(answer, {
      UnprocessedItems: {},
      ConsumedCapacity: [
        {
          TableName: 'Sorted',
          CapacityUnits: 6,
          Table: { CapacityUnits: 4 },
          LocalSecondaryIndexes: { lsi: { CapacityUnits: 1 } },
          GlobalSecondaryIndexes: { gsi: { CapacityUnits: 1 } },
        },
        { TableName: 'Plain', CapacityUnits: 1, Table: { CapacityUnits: 1 } },
      ],
      ItemCollectionMetrics: {
        Sorted: ['c', 'd'].map((pk) => ({ ItemCollectionKey: { pk: S(pk) }, SizeEstimateRangeGB: [0, 1] })),
      },
    })
    const read = await get(
      { Plain: { Keys: [{ pk: S('c') }, { pk: S('none') }] } },
      { ReturnConsumedCapacity: 'TOTAL' },
    )
    assert.deepEqual(read['ConsumedCapacity'], [{ TableName: 'Plain', CapacityUnits: 1 }])
  })

  test('BatchGetItem stops at 16 MB and hands back the rest of the request', async () => {
    const keys = Array.from({ length: 50 }, (_, i) => ({ pk: S(`large${i}`) }))
    for (let at = 0; at < keys.length; at += 10) {
      await write({ Plain: keys.slice(at, at + 10).map((key) => put({ ...key, v: S('x'.repeat(390_000)) })) })
    }
    const found: Item[] = []
    let rest: object = { Plain: { Keys: keys, ConsistentRead: true, ProjectionExpression: 'pk' } }
    const counts: number[] = []
    while (Object.keys(rest).length > 0) {
      const answer = await get(rest)
      const { Plain } = answer['Responses'] as { Plain: Item[] }
      counts.push(Plain.length)
      found.push(...Plain)
      rest = answer['UnprocessedKeys'] as object
      if ('Plain' in rest) {
        const { Keys, ...others } = rest.Plain as { Keys: object[] }
        assert.deepEqual(others, { ConsistentRead: true, ProjectionExpression: 'pk' })
        assert.deepEqual(Keys, keys.slice(found.length))
      }
    }
    assert.deepEqual(counts, [43, 7])
    assert.deepEqual(found, keys)
  })

  test('a batch that is refused for one write does none of them', async () => {
    await store.refusal('BatchWriteItem', {
      RequestItems: {
        Plain: [put({ pk: S('first') })],
        Sorted: [put({ pk: S('first'), sk: N('1'), l: N('1') })],
      },
    })
    assert.deepEqual((await get({ Plain: { Keys: [{ pk: S('first') }] } }))['Responses'], { Plain: [] })
  })

  test('BatchWriteItem refuses in the words of DynamoDB', async () => {
    const many = Array.from({ length: 26 }, (_, i) => put({ pk: S(`m${i}`) }))
    const either =
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes'
    const shownPut = 'WriteRequest(putRequest=PutRequest(item={pk=AttributeValue}), deleteRequest=null)'
    const lengths = (shown: string): string =>
      `1 validation error detected: Value '{${shown}}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: [Member must have length less than or equal to 25, Member must have length greater than or equal to 1]`
    const cases: [object, string][] = [
      [{}, 'The requestItems parameter is required for BatchWriteItem'],
      [{ Plain: many }, lengths(`Plain=[${shownPut}, ${shownPut}, 24 more]`)],
      [{ Plain: [] }, lengths('Plain=[]')],
      [
        { Plain: many.slice(1), Sorted: [put({ pk: S('a'), sk: N('1') })] },
        'Too many items requested for the BatchWriteItem call',
      ],
      [{ Plain: [{}] }, either],
      [{ Plain: [{ ...put({ pk: S('a') }), ...remove({ pk: S('b') }) }] }, either],
      [{ Plain: [put({ pk: S('a') }), remove({ pk: S('a') })] }, DUPLICATES],
      [{ Sorted: [put({ pk: S('a'), sk: N('1') }), put({ pk: S('a'), sk: N('1.00') })] }, DUPLICATES],
      [{ Plain: [put({ pk: N('1') })] }, MISMATCH],
      [{ Plain: [put({ v: N('1') })] }, MISMATCH],
      [{ Plain: [remove({ pk: S('a'), v: S('b') })] }, MISMATCH],
      [
        { Plain: [put({ pk: S('') })] },
        'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk',
      ],
      [
        { Sorted: [put({ pk: S('a'), sk: N('1'), g: N('1') })] },
        'One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N IndexName: gsi',
      ],
      [
        { Absent: [put({ pk: S('a'), v: S('x'.repeat(410_000)) })] },
        'Item size has exceeded the maximum allowed size',
      ],
    ]
    for (const [RequestItems, message] of cases) {
      assert.equal(await store.refusal('BatchWriteItem', { RequestItems }), `ValidationException: ${message}`)
    }
    assert.equal(
      await store.refusal('BatchWriteItem', {
        RequestItems: { Absent: [put({ pk: S('a') }), put({ pk: S('a') })] },
      }),
      'ResourceNotFoundException: Requested resource not found',
    )
    assert.match(
      await store.refusal('BatchWriteItem', { RequestItems: { 'a;b': [put({ pk: S('a') })] } }),
      /Map keys must satisfy constraint: \[.*Member must satisfy regular expression pattern: \[a-zA-Z0-9_.-\]\+\]$/,
    )
  })

  test('BatchGetItem refuses in the words of DynamoDB', async () => {
    const many = Array.from({ length: 101 }, (_, i) => ({ pk: S(`m${i}`) }))
    const cases: [object, string][] = [
      [
        {},
        "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1",
      ],
      [
        { Plain: { Keys: many } },
        "1 validation error detected: Value at 'RequestItems.Plain.member.Keys' failed to satisfy constraint: Member must have length less than or equal to 100",
      ],
      [
        { Plain: { Keys: many.slice(1) }, Sorted: { Keys: [{ pk: S('a'), sk: N('1') }] } },
        'Too many items requested for the BatchGetItem call',
      ],
      [
        { Plain: { Keys: [] } },
        "1 validation error detected: Value at 'RequestItems.Plain.member.Keys' failed to satisfy constraint: Member must have length greater than or equal to 1",
      ],
      [{ Plain: { Keys: [{ pk: S('a') }, { pk: S('a') }] } }, DUPLICATES],
      [
        {
          Absent: {
            Keys: [
              { pk: S('a'), sk: N('1') },
              { sk: N('1.0'), pk: S('a') },
            ],
          },
        },
        DUPLICATES,
      ],
      [{ Plain: { Keys: [{ pk: N('1') }] } }, MISMATCH],
      [{ Plain: { Keys: [{}] } }, MISMATCH],
      [
        { Plain: null },
        "1 validation error detected: Value null at 'requestItems.Plain.member' failed to satisfy constraint: Member must not be null",
      ],
      [
        { Plain: { Keys: [{ pk: S('a') }], AttributesToGet: ['v'], ProjectionExpression: 'v' } },
        'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}',
      ],
      [
        { Plain: { Keys: [{ pk: S('a') }], AttributesToGet: ['v', 'v'] } },
        'One or more parameter values were invalid: Duplicate value in attribute name: v',
      ],
      [
        { Plain: { Keys: [{ pk: S('a') }], ProjectionExpression: 'pk[0]' } },
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk",
      ],
    ]
    for (const [RequestItems, message] of cases) {
      assert.equal(await store.refusal('BatchGetItem', { RequestItems }), `ValidationException: ${message}`)
    }
  })
})
