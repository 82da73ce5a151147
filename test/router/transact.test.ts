import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../src/runtime/manual-clock.js'
import type { DynamoError } from '../../src/model/errors.js'
import { open, type Store } from '../../src/store/store.js'
import type { StoreInput } from '../../src/store/store-operations.js'
import { testFolder } from '../support/folder.js'

const TABLE = 'Accounts'
const Key = (id: string) => ({ id: { S: id } })
const Put = (id: string, more: object = {}, rest: object = {}) => ({
  Put: { TableName: TABLE, Item: { ...Key(id), ...more }, ...rest },
})
const Get = (id: string, rest: object = {}) => ({ Get: { TableName: TABLE, Key: Key(id), ...rest } })
const Check = (id: string, ConditionExpression: string, rest: object = {}) => ({
  ConditionCheck: { TableName: TABLE, Key: Key(id), ConditionExpression, ...rest },
})
const Update = (id: string, UpdateExpression: string, values?: object, rest: object = {}) => ({
  Update: {
    TableName: TABLE,
    Key: Key(id),
    UpdateExpression,
    ...(values && { ExpressionAttributeValues: values }),
    ...rest,
  },
})

async function openStore(
  nodes: number,
  place: { memory: true } | { path: string } = { memory: true },
): Promise<Store> {
  const store = await open({ ...place, nodes, clock: manualClock(1_900_000_000_000) })
  await store.call('CreateTable', {
    TableName: TABLE,
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'owner', AttributeType: 'S' },
    ],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-owner',
        KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
    BillingMode: 'PAY_PER_REQUEST',
  })
  return store
}

const write = (store: Store, TransactItems: readonly object[], more: object = {}) =>
  store.call('TransactWriteItems', { TransactItems, ...more } as StoreInput<'TransactWriteItems'>)
const read = (store: Store, TransactItems: readonly object[], more: object = {}) =>
  store.call('TransactGetItems', { TransactItems, ...more } as StoreInput<'TransactGetItems'>)

async function refusal(work: Promise<unknown>): Promise<DynamoError & { CancellationReasons?: object[] }> {
  try {
    await work
  } catch (error) {
    return error as DynamoError & { CancellationReasons?: object[] }
  }
  throw new Error('it was not refused')
}

const NULL_IN = (path: string): string =>
  `1 validation error detected: Value null at '${path}' failed to satisfy constraint: Member must not be null`

/** What is refused as a whole, in DynamoDB's words. */
const WRITES_REFUSED: readonly (readonly [
  what: string,
  items: readonly object[],
  message: string | RegExp,
])[] = [
  ['no action', [], /Value '\[\]' at 'transactItems' .* length greater than or equal to 1$/],
  [
    '101 actions',
    Array.from({ length: 101 }, (_, n) => Put(`i${n}`)),
    /^1 validation error detected: Value '\[.+\]' at 'transactItems' failed .* length less than or equal to 100$/,
  ],
  [
    'an element without an action',
    [{}],
    'Invalid Request: TransactWriteRequest should contain Delete or Put or Update request',
  ],
  [
    'two actions in one element',
    [{ ...Put('a'), ...Check('b', 'attribute_exists(id)') }],
    'TransactItems can only contain one of Check, Put, Update or Delete',
  ],
  [
    'the same item twice',
    [Put('a'), Check('a', 'attribute_exists(id)')],
    'Transaction request cannot include multiple operations on one item',
  ],
  [
    'a check without a condition',
    [{ ConditionCheck: { TableName: TABLE, Key: Key('a') } }],
    NULL_IN('transactItems.1.member.conditionCheck.conditionExpression'),
  ],
  [
    'an update without an expression',
    [{ Update: { TableName: TABLE, Key: Key('a') } }],
    NULL_IN('transactItems.1.member.update.updateExpression'),
  ],
  ['a put without an item', [{ Put: { TableName: TABLE } }], NULL_IN('transactItems.1.member.put.item')],
  [
    'a bad expression',
    [Put('a'), Put('b', {}, { ConditionExpression: '!!!' })],
    'Invalid ConditionExpression: Syntax error; token: "!", near: "!!"',
  ],
  [
    'an unused value',
    [
      Put(
        'a',
        {},
        { ConditionExpression: 'attribute_exists(id)', ExpressionAttributeValues: { ':v': { S: 'x' } } },
      ),
    ],
    'Value provided in ExpressionAttributeValues unused in expressions: keys: {:v}',
  ],
  [
    'an item over 400 KB',
    [Put('a', { large: { S: 'x'.repeat(400 * 1024) } })],
    'Item size has exceeded the maximum allowed size',
  ],
  [
    'more than 4 MB',
    Array.from({ length: 12 }, (_, n) => Put(`i${n}`, { large: { S: 'x'.repeat(350_000) } })),
    'The aggregate size of the items in the transaction cannot exceed 4 MB',
  ],
]

test('TransactWriteItems: what is refused as a whole, and leaves nothing behind', async () => {
  await using store = await openStore(3)
  for (const [what, items, message] of WRITES_REFUSED) {
    const error = await refusal(write(store, items))
    assert.equal(error.name, 'ValidationException', what)
    if (typeof message === 'string') assert.equal(error.message, message, what)
    else assert.match(error.message, message, what)
  }
  const token = await refusal(write(store, [Put('a')], { ClientRequestToken: 'x'.repeat(37) }))
  assert.match(token.message, /'clientRequestToken' failed .* length less than or equal to 36$/)
  const absent = await refusal(write(store, [Put('a'), { Put: { TableName: 'Nowhere', Item: Key('b') } }]))
  assert.deepEqual(
    [absent.name, absent.message],
    ['ResourceNotFoundException', 'Requested resource not found'],
  )
  assert.equal((await store.call('Scan', { TableName: TABLE })).Count, 0)
})

test('TransactWriteItems: what only the table can tell cancels the transaction, and the first such action is named', async () => {
  await using store = await openStore(3)
  await write(store, [Put('large', { first: { S: 'x'.repeat(300_000) } })])
  const cases: readonly (readonly [readonly object[], readonly object[]])[] = [
    [
      [
        Put('a'),
        { Put: { TableName: TABLE, Item: { id: { N: '1' } } } },
        { Put: { TableName: TABLE, Item: {} } },
      ],
      [
        { Code: 'None' },
        {
          Code: 'ValidationError',
          Message:
            'One or more parameter values were invalid: Type mismatch for key id expected: S actual: N',
        },
        { Code: 'None' },
      ],
    ],
    [
      [{ Delete: { TableName: TABLE, Key: {} } }],
      [{ Code: 'ValidationError', Message: 'The provided key element does not match the schema' }],
    ],
    [
      [Put('a', { owner: { N: '1' } }), Put('b')],
      [
        {
          Code: 'ValidationError',
          Message:
            'One or more parameter values were invalid: Type mismatch for Index Key owner Expected: S Actual: N IndexName: by-owner',
        },
        { Code: 'None' },
      ],
    ],
    [
      [Update('large', 'SET more = :l', { ':l': { S: 'x'.repeat(150_000) } }), Put('b')],
      [
        { Code: 'ValidationError', Message: 'Item size to update has exceeded the maximum allowed size' },
        { Code: 'None' },
      ],
    ],
  ]
  for (const [items, reasons] of cases) {
    const error = await refusal(write(store, items))
    assert.equal(error.name, 'TransactionCanceledException')
    assert.deepEqual(error.CancellationReasons, reasons)
    const codes = reasons.map((reason) => (reason as { Code: string }).Code).join(', ')
    assert.equal(
      error.message,
      `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    )
  }
  assert.equal((await store.call('Scan', { TableName: TABLE })).Count, 1)
})

test('TransactWriteItems: a failed condition shows the item where that was asked for', async () => {
  for (const nodes of [1, 3]) {
    await using store = await openStore(nodes)
    await write(store, [Put('a', { v: { B: Buffer.from([1, 2]) } }), Put('b')])
    const old = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }
    const error = await refusal(
      write(store, [
        Put('a', {}, { ConditionExpression: 'attribute_not_exists(id)', ...old }),
        Check('b', 'attribute_not_exists(id)'),
        Check('c', 'attribute_exists(id)', old),
        Put('d'),
      ]),
    )
    const failed = { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' }
    const Item = { ...Key('a'), v: { B: Uint8Array.from([1, 2]) } }
    const [first, ...others] = error.CancellationReasons as { Item?: { v: { B: Uint8Array } } }[]
    assert.deepEqual(
      { ...first, Item: { ...Key('a'), v: { B: Uint8Array.from(first?.Item?.v.B ?? []) } } },
      { ...failed, Item },
    )
    assert.deepEqual(others, [failed, failed, { Code: 'None' }])
  }
})

test('TransactWriteItems: a token holds for ten minutes, over a restart, and is charged as a read', async () => {
  for (const nodes of [1, 3]) {
    const path = testFolder()
    const clock = manualClock(1_900_000_000_000)
    const ids = Array.from({ length: nodes * 3 }, (_, n) => `a${n}`)
    const items = ids.map((id) => Update(id, 'ADD hits :one', { ':one': { N: '1' } }))
    const more = { ClientRequestToken: 'once', ReturnConsumedCapacity: 'TOTAL' }
    const hits = async (store: Store): Promise<unknown[]> => {
      const { Items = [] } = await store.call('Scan', { TableName: TABLE })
      return Items.map((item) => item['hits'])
    }
    const n = ids.length
    {
      await using store = await openStore(nodes, { path })
      assert.deepEqual(await write(store, items, more), {
        ConsumedCapacity: [{ TableName: TABLE, CapacityUnits: 2 * n, WriteCapacityUnits: 2 * n }],
      })
      await store.idle()
    }
    await using store = await open({ path, clock })
    assert.deepEqual(await write(store, items, more), {
      ConsumedCapacity: [{ TableName: TABLE, CapacityUnits: 2 * n, ReadCapacityUnits: 2 * n }],
    })
    const other = await refusal(write(store, [Put('other')], more))
    assert.equal(other.name, 'IdempotentParameterMismatchException')
    assert.deepEqual(
      await hits(store),
      ids.map(() => ({ N: '1' })),
    )
    clock.advance(10 * 60_000 + 1000)
    await write(store, items, more)
    assert.deepEqual(
      await hits(store),
      ids.map(() => ({ N: '2' })),
    )
  }
})

test('TransactWriteItems: members of a repeated request may come in another order', async () => {
  await using store = await openStore(1)
  const token = { ClientRequestToken: 'order' }
  await write(store, [{ Put: { TableName: TABLE, Item: { id: { S: 'a' }, v: { N: '1' } } } }], token)
  await write(store, [{ Put: { Item: { v: { N: '1' }, id: { S: 'a' } }, TableName: TABLE } }], token)
  const error = await refusal(
    write(store, [{ Put: { Item: { v: { N: '2' }, id: { S: 'a' } }, TableName: TABLE } }], token),
  )
  assert.equal(error.name, 'IdempotentParameterMismatchException')
})

test('TransactWriteItems: capacity of the table is twice that of the writes alone, and of indexes as much', async () => {
  for (const nodes of [1, 3]) {
    await using store = await openStore(nodes)
    const detail = { ReturnConsumedCapacity: 'INDEXES' }
    const units = (count: number) => ({ CapacityUnits: count, WriteCapacityUnits: count })
    assert.deepEqual(await write(store, [Put('a', { owner: { S: 'o' } }), Put('b')], detail), {
      ConsumedCapacity: [
        {
          TableName: TABLE,
          ...units(5),
          Table: units(4),
          GlobalSecondaryIndexes: { 'by-owner': units(1) },
        },
      ],
    })
    // Leaving the index costs it a write, a check costs a write, and the larger image counts.
    await write(store, [Put('large', { s: { S: 'x'.repeat(2000) } })])
    const answer = await write(
      store,
      [
        Update('a', 'REMOVE #o', undefined, { ExpressionAttributeNames: { '#o': 'owner' } }),
        Check('b', 'attribute_exists(id)'),
        { Delete: { TableName: TABLE, Key: Key('large') } },
      ],
      detail,
    )
    assert.deepEqual(answer.ConsumedCapacity, [
      {
        TableName: TABLE,
        ...units(9),
        Table: units(8),
        GlobalSecondaryIndexes: { 'by-owner': units(1) },
      },
    ])
  }
})

test('TransactGetItems: items in order, absent ones empty, projected, with capacity', async () => {
  for (const nodes of [1, 3]) {
    await using store = await openStore(nodes)
    await write(store, [Put('a', { v: { N: '1' }, w: { N: '2' } }), Put('b', { v: { N: '3' } })])
    const projection = { ProjectionExpression: '#v', ExpressionAttributeNames: { '#v': 'v' } }
    const answer = await read(store, [Get('b'), Get('none'), Get('a', projection)], {
      ReturnConsumedCapacity: 'TOTAL',
    })
    assert.deepEqual(answer, {
      Responses: [{ Item: { ...Key('b'), v: { N: '3' } } }, {}, { Item: { v: { N: '1' } } }],
      ConsumedCapacity: [{ TableName: TABLE, CapacityUnits: 6, ReadCapacityUnits: 6 }],
    })
  }
})

test('TransactGetItems: what is refused, as a whole or by a reason', async () => {
  await using store = await openStore(1)
  const twice = await refusal(read(store, [Get('a'), Get('a')]))
  assert.equal(twice.message, 'Transaction request cannot include multiple operations on one item')
  assert.equal((await refusal(read(store, [{}]))).message, NULL_IN('transactItems.1.member.get'))
  const key = await refusal(read(store, [Get('a'), { Get: { TableName: TABLE, Key: {} } }]))
  assert.deepEqual(key.CancellationReasons, [
    { Code: 'None' },
    { Code: 'ValidationError', Message: 'The provided key element does not match the schema' },
  ])
  for (let n = 0; n < 12; n++) {
    await store.call('PutItem', {
      TableName: TABLE,
      Item: { ...Key(`l${n}`), s: { S: 'x'.repeat(350_000) } },
    })
  }
  const large = await refusal(
    read(
      store,
      Array.from({ length: 12 }, (_, n) => Get(`l${n}`)),
    ),
  )
  assert.equal(large.name, 'ValidationException')
})

test('transactions of many clients over several nodes keep an invariant that every read sees', async () => {
  const store = await open({ memory: true, nodes: 3 })
  await store.call('CreateTable', {
    TableName: TABLE,
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    BillingMode: 'PAY_PER_REQUEST',
  })
  const ids = ['alice', 'bob', 'carol', 'dave', 'erin']
  await write(
    store,
    ids.map((id) => Put(id, { n: { N: '100' } })),
  )
  let reads = 0
  let writes = 0
  const worker = async (seed: number): Promise<void> => {
    for (let round = 0; round < 25; round++) {
      const [from, to] = [ids[(seed + round) % 5] as string, ids[(seed * 3 + round * 2 + 1) % 5] as string]
      if (from === to) continue
      const condition = {
        ConditionExpression: 'n >= :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
      }
      const move = write(store, [
        Update(from, 'SET n = n - :one', undefined, condition),
        Update(to, 'SET n = n + :one', { ':one': { N: '1' } }),
      ])
      await move.then(
        () => writes++,
        (error: Error) => assert.equal(error.name, 'TransactionCanceledException', error.message),
      )
      const seen = await read(
        store,
        ids.map((id) => Get(id)),
      ).catch((error: Error) => {
        assert.equal(error.name, 'TransactionCanceledException', error.message)
        return undefined
      })
      if (seen === undefined) continue
      reads++
      const sum = (seen.Responses ?? []).reduce((total, { Item }) => total + Number(Item?.['n']?.N), 0)
      assert.equal(sum, 500)
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, seed) => worker(seed)))
  assert.ok(writes > 0 && reads > 0, `${writes} writes, ${reads} reads`)
  await store.close()
})
