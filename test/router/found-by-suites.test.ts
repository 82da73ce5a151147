// What public suites of tests against the service have found wrong in Seriatim, each by name.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { open, type Store } from '../../src/store/store.js'
import type { AttributeValue } from '../../src/model/value.js'
import { createTable, openTestStore, type TestStore } from './many-support.js'

const S = (text: string): { S: string } => ({ S: text })
const N = (text: string): { N: string } => ({ N: text })

describe('found by suites: items', () => {
  let store: Store
  before(async () => {
    store = await open({ memory: true })
    await store.call('CreateTable', {
      TableName: 'Plain',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    })
  })
  after(() => store.close())

  type Input = Record<string, unknown>
  const call = (operation: string, input: Input): Promise<Input> =>
    (store.call as (name: string, input: unknown) => Promise<unknown>)(operation, {
      TableName: 'Plain',
      ...input,
    }) as Promise<Input>
  const refusal = async (operation: string, input: Input): Promise<string> => {
    try {
      return `accepted: ${JSON.stringify(await call(operation, input))}`
    } catch (error) {
      return `${(error as Error).name}: ${(error as Error).message}`
    }
  }
  const item = async (pk: string): Promise<Input | undefined> =>
    (await call('GetItem', { Key: { pk: S(pk) }, ConsistentRead: true }))['Item'] as Input | undefined

  test('sets come back in order: strings and binaries by their bytes, numbers by their value', async () => {
    const bytes = (...list: number[]): Uint8Array => Uint8Array.from(list)
    await call('PutItem', {
      Item: {
        pk: S('sets'),
        s: { SS: ['b', '\u{1f600}', '\uffff', 'a', ''] },
        n: { NS: ['10', '9', '-1', '0.5'] },
        b: { BS: [bytes(255), bytes(0, 1), bytes(0)] },
        m: { M: { l: { L: [{ SS: ['z', 'y'] }] } } },
      },
    })
    const stored = await item('sets')
    assert.deepEqual(stored?.['s'], { SS: ['', 'a', 'b', '\uffff', '\u{1f600}'] })
    assert.deepEqual(stored?.['n'], { NS: ['-1', '0.5', '9', '10'] })
    assert.deepEqual(stored?.['b'], { BS: [bytes(0), bytes(0, 1), bytes(255)] })
    assert.deepEqual(stored?.['m'], { M: { l: { L: [{ SS: ['y', 'z'] }] } } })
    await call('UpdateItem', {
      Key: { pk: S('sets') },
      UpdateExpression: 'ADD s :s, n :n DELETE m :none',
      ExpressionAttributeValues: { ':s': { SS: ['aa'] }, ':n': { NS: ['9.5'] }, ':none': { SS: ['q'] } },
    }).catch(() => undefined)
    await call('UpdateItem', {
      Key: { pk: S('sets') },
      UpdateExpression: 'ADD s :s, n :n',
      ExpressionAttributeValues: { ':s': { SS: ['aa'] }, ':n': { NS: ['9.5'] } },
    })
    const added = await item('sets')
    assert.deepEqual(added?.['s'], { SS: ['', 'a', 'aa', 'b', '\uffff', '\u{1f600}'] })
    assert.deepEqual(added?.['n'], { NS: ['-1', '0.5', '9', '9.5', '10'] })
    await store.call('ExecuteStatement', {
      Statement: `INSERT INTO "Plain" VALUE {'pk': 'bag', 's': <<'b', 'a'>>}`,
    })
    assert.deepEqual((await item('bag'))?.['s'], { SS: ['a', 'b'] })
  })

  for (const [update, values] of [
    ['REMOVE a', undefined],
    ['REMOVE a.b, c[0]', undefined],
    ['DELETE s :s', { ':s': { SS: ['a'] } }],
  ] as const)
    test(`UpdateItem with ${update} on an item that is not there creates nothing`, async () => {
      const answer = await call('UpdateItem', {
        Key: { pk: S('absent') },
        UpdateExpression: update,
        ...(values && { ExpressionAttributeValues: values }),
        ReturnValues: 'ALL_NEW',
      })
      assert.deepEqual(answer, {})
      assert.equal(await item('absent'), undefined)
    })

  test('AttributeUpdates that only delete create nothing, and UpdateItem without an update creates the item', async () => {
    await call('UpdateItem', { Key: { pk: S('absent') }, AttributeUpdates: { a: { Action: 'DELETE' } } })
    assert.equal(await item('absent'), undefined)
    await call('UpdateItem', { Key: { pk: S('bare') } })
    assert.deepEqual(await item('bare'), { pk: S('bare') })
  })

  test('REMOVE x.y of an item that is there and has no x is refused', async () => {
    await call('PutItem', { Item: { pk: S('there') } })
    assert.match(
      await refusal('UpdateItem', { Key: { pk: S('there') }, UpdateExpression: 'REMOVE x.y' }),
      /The document path provided in the update expression is invalid for update$/,
    )
  })

  test('names of 64 KB and more are refused through the older parameters', async () => {
    const long = 'n'.repeat(65_536)
    const Key = { pk: S('there') }
    const condition = { [long]: { ComparisonOperator: 'NULL' } }
    const equal = { pk: { ComparisonOperator: 'EQ', AttributeValueList: [S('a')] } }
    for (const [operation, input] of [
      ['GetItem', { Key, AttributesToGet: [long] }],
      ['UpdateItem', { Key, AttributeUpdates: { [long]: { Action: 'DELETE' } } }],
      ['PutItem', { Item: Key, Expected: { [long]: { Exists: false } } }],
      ['Query', { KeyConditions: equal, QueryFilter: condition }],
      ['Scan', { ScanFilter: condition }],
    ] as const)
      assert.match(await refusal(operation, input), /must be less than 65536 bytes$/, operation)
    await call('GetItem', { Key, AttributesToGet: [long.slice(1)] })
  })

  const overflow =
    /Number overflow\. Attempting to store a number with magnitude larger than supported range$/
  const underflow =
    /Number underflow\. Attempting to store a number with magnitude smaller than supported range$/
  for (const [text, message] of [
    ['0e126', overflow],
    ['-0e126', overflow],
    ['0e-131', underflow],
    ['1e99999999999', overflow],
    ['1e-99999999999', underflow],
    ['1e9223372036854775807', overflow],
    ['1e9223372036854775808', /The parameter cannot be converted to a numeric value: 1e9223372036854775808$/],
  ] as const)
    test(`the number ${text} is refused`, async () => {
      assert.match(await refusal('PutItem', { Item: { pk: S('number'), n: N(text) } }), message)
    })

  test('a zero inside of the range, or with a point, is stored as 0', async () => {
    for (const text of ['0e125', '0e-130', '0.0e126']) {
      await call('PutItem', { Item: { pk: S('number'), n: N(text) } })
      assert.deepEqual((await item('number'))?.['n'], N('0'))
    }
  })

  test('a value that nests 33, 100 or 400 levels is a ValidationException', async () => {
    for (const levels of [33, 100, 400]) {
      let value: AttributeValue = S('leaf')
      for (let level = 0; level < levels; level++) value = { M: { n: value } }
      assert.match(
        await refusal('PutItem', { Item: { pk: S('deep'), d: value } }),
        /^ValidationException: .*Nesting Levels have exceeded supported limits/,
      )
    }
  })

  test('BatchGetItem does not mix ProjectionExpression and AttributesToGet, of one table or of two', async () => {
    const Keys = [{ pk: S('a') }]
    const mixed =
      /^ValidationException: .*Can not use both expression and non-expression parameters in the same request: Non-expression parameters: \{AttributesToGet\} Expression parameters: \{ProjectionExpression\}$/
    for (const RequestItems of [
      { Plain: { Keys, ProjectionExpression: 'a', AttributesToGet: ['a'] } },
      { Plain: { Keys, ProjectionExpression: 'a' }, Other: { Keys, AttributesToGet: ['a'] } },
    ])
      assert.match(await refusal('BatchGetItem', { TableName: undefined, RequestItems }), mixed)
  })

  test('Query of a table without a sort key takes no ExclusiveStartKey, and answers with none', async () => {
    await call('PutItem', { Item: { pk: S('one') } })
    const query = { KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': S('one') } }
    const answer = await call('Query', { ...query, Limit: 1 })
    assert.deepEqual([answer['Count'], answer['LastEvaluatedKey']], [1, undefined])
    assert.equal(
      await refusal('Query', { ...query, ExclusiveStartKey: { pk: S('one') } }),
      'ValidationException: The provided exclusive start key is invalid: ExclusiveStartKey: {pk=AttributeValue: {S:one}}',
    )
  })

  test('a Scan of one small item costs one unit, or half of one', async () => {
    const answer = await call('Scan', { ReturnConsumedCapacity: 'TOTAL', ConsistentRead: true, Limit: 1 })
    assert.deepEqual(answer['ConsumedCapacity'], { TableName: 'Plain', CapacityUnits: 1 })
  })
})

describe('found by suites: transactions', () => {
  let store: TestStore
  before(async () => {
    store = await openTestStore(1)
    await createTable(store, 'Text', 'pk:S', { gsi: { key: 'g:S', projection: 'ALL' } })
    await createTable(store, 'Bytes', 'pk:B', { gsi: { key: 'g:B', projection: 'ALL' } })
  })
  after(() => store[Symbol.asyncDispose]())

  for (const [table, empty, kind] of [
    ['Text', { S: '' }, 'string'],
    ['Bytes', { B: '' }, 'binary'],
  ] as const) {
    const full = table === 'Text' ? { S: 'a' } : { B: 'AA==' }
    const keyMessage = `ValidationException: One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty ${kind} value. Key: pk`
    const Key = { pk: empty }
    for (const [name, action] of [
      ['Put', { Put: { TableName: table, Item: Key } }],
      ['Update', { Update: { TableName: table, Key, UpdateExpression: 'REMOVE a' } }],
      ['Delete', { Delete: { TableName: table, Key } }],
      [
        'ConditionCheck',
        { ConditionCheck: { TableName: table, Key, ConditionExpression: 'attribute_exists(a)' } },
      ],
    ] as const)
      test(`an empty ${kind} in the key of ${name} refuses the request of TransactWriteItems`, async () => {
        assert.equal(await store.refusal('TransactWriteItems', { TransactItems: [action] }), keyMessage)
      })

    test(`an empty ${kind} in a key refuses the request of TransactGetItems`, async () => {
      assert.equal(
        await store.refusal('TransactGetItems', { TransactItems: [{ Get: { TableName: table, Key } }] }),
        keyMessage,
      )
    })

    test(`an empty ${kind} for the key of an index refuses the request, in the words of a put or of an update`, async () => {
      assert.equal(
        await store.refusal('TransactWriteItems', {
          TransactItems: [{ Put: { TableName: table, Item: { pk: full, g: empty } } }],
        }),
        `ValidationException: One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty ${kind} value. IndexName: gsi, IndexKey: g`,
      )
      assert.equal(
        await store.refusal('TransactWriteItems', {
          TransactItems: [
            {
              Update: {
                TableName: table,
                Key: { pk: full },
                UpdateExpression: 'SET g = :g',
                ExpressionAttributeValues: { ':g': empty },
              },
            },
          ],
        }),
        `ValidationException: One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty ${kind} value.`,
      )
    })
  }

  test('a key of another type still cancels the transaction', async () => {
    assert.match(
      await store.refusal('TransactWriteItems', {
        TransactItems: [{ Delete: { TableName: 'Text', Key: { pk: N('1') } } }],
      }),
      /^TransactionCanceledException: .*\[ValidationError\]$/,
    )
  })

  test('of several indexes with something wrong the first by name is told', async () => {
    await createTable(store, 'Two', 'pk:S sk:S', {
      lsi: { key: 'pk:S i:S', projection: 'ALL' },
      gsi: { key: 'i:S', projection: 'ALL' },
    })
    assert.match(
      await store.refusal('BatchWriteItem', {
        RequestItems: { Two: [{ PutRequest: { Item: { pk: S('a'), sk: S('b'), i: N('1') } } }] },
      }),
      /IndexName: gsi$/,
    )
  })
})

describe('found by suites: tables', () => {
  let store: TestStore
  before(async () => {
    store = await openTestStore(1)
  })
  after(() => store[Symbol.asyncDispose]())

  test('DeleteTable answers with neither keys nor indexes nor the time of creation', async () => {
    await createTable(store, 'Doomed', 'pk:S sk:S', {
      lsi: { key: 'pk:S l:S', projection: 'ALL' },
      gsi: { key: 'g:S', projection: 'ALL' },
    })
    const { TableDescription } = await store.call('DeleteTable', { TableName: 'Doomed' })
    assert.deepEqual(Object.keys(TableDescription as object).toSorted(), [
      'BillingModeSummary',
      'DeletionProtectionEnabled',
      'ItemCount',
      'ProvisionedThroughput',
      'TableArn',
      'TableId',
      'TableName',
      'TableSizeBytes',
      'TableStatus',
    ])
  })

  test('UpdateTable with two index changes is over the limit, before it is looked whether the indexes are there', async () => {
    await createTable(store, 'Busy', 'pk:S', { gsi: { key: 'g:S', projection: 'ALL' } })
    const create = {
      Create: {
        IndexName: 'new',
        KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    }
    const remove = (IndexName: string): object => ({ Delete: { IndexName } })
    for (const updates of [
      [create, { Create: { ...create.Create, IndexName: 'other' } }],
      [remove('absent'), remove('missing')],
      [remove('gsi'), create],
    ])
      assert.equal(
        await store.refusal('UpdateTable', {
          TableName: 'Busy',
          AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
          GlobalSecondaryIndexUpdates: updates,
        }),
        'LimitExceededException: Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table',
      )
  })

  test('a definition of another type is left alone unless the new index is ordered by it', async () => {
    await createTable(store, 'Kept', 'pk:S')
    await store.call('UpdateTable', {
      TableName: 'Kept',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'N' },
        { AttributeName: 'g', AttributeType: 'S' },
      ],
      GlobalSecondaryIndexUpdates: [
        {
          Create: {
            IndexName: 'gsi',
            KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'ALL' },
          },
        },
      ],
    })
    assert.deepEqual(store.shapeOf('Kept').key, { partition: { name: 'pk', type: 'S' } })
  })

  test('TagResource and UntagResource answer with an empty body, and refuse other signs than +-=._:/@', async () => {
    await createTable(store, 'Tagged', 'pk:S')
    const ResourceArn = 'arn:aws:dynamodb:us-east-1:000000000000:table/Tagged'
    for (const text of ['hi!', 'd%g', '"hello"', '#']) {
      for (const tag of [
        { Key: text, Value: 'v' },
        { Key: 'k', Value: text },
      ])
        assert.match(
          await store.refusal('TagResource', { ResourceArn, Tags: [tag] }),
          /^ValidationException: The Tag /,
        )
    }
    await using opened = await open({ memory: true })
    const server = await opened.listen({ port: 0 })
    const ask = async (operation: string, input: object): Promise<string> =>
      (
        await fetch(server.url, {
          method: 'POST',
          headers: {
            'content-type': 'application/x-amz-json-1.0',
            'x-amz-target': `DynamoDB_20120810.${operation}`,
          },
          body: JSON.stringify(input),
        })
      ).text()
    await ask('CreateTable', {
      TableName: 'Tagged',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    })
    const Tags = [{ Key: 'законные буквы 1+-=._:/@', Value: '' }]
    assert.equal(await ask('TagResource', { ResourceArn, Tags }), '')
    assert.equal(await ask('UntagResource', { ResourceArn, TagKeys: ['k'] }), '')
    assert.deepEqual(JSON.parse(await ask('ListTagsOfResource', { ResourceArn })), { Tags })
  })
})
