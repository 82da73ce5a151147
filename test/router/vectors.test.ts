// Vector indexes and SearchVectors.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type {
  CreateTableCommandInput,
  SearchVectorsCommandInput,
  VectorIndex,
} from '@aws-sdk/client-dynamodb'
import type { DynamoDB } from '@aws-sdk/client-dynamodb'
import { open, type Store } from '../../src/store/store.js'

const vec = (...numbers: (number | string)[]) => numbers.map((each) => ({ N: String(each) }))
const S = (text: string) => ({ S: text })
const TableName = 'Docs'

const index = (IndexName: string, over: Partial<VectorIndex> = {}): VectorIndex => ({
  IndexName,
  VectorAttribute: { AttributeName: 'v' },
  Dimensions: 3,
  DistanceFunction: 'COSINE',
  Projection: { ProjectionType: 'ALL' },
  ...over,
})

const INDEXES = [
  index('cosine'),
  index('euclidean', { DistanceFunction: 'EUCLIDEAN' }),
  index('dot', { DistanceFunction: 'DOT_PRODUCT', Projection: { ProjectionType: 'KEYS_ONLY' } }),
  index('tenants', {
    SearchSchema: [
      { AttributeName: 'tenant', SearchSchemaElementType: 'HASH' },
      { AttributeName: 'kind', SearchSchemaElementType: 'INLINE_FILTER' },
    ],
  }),
]

const TABLE: CreateTableCommandInput = {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: ['id', 'tenant', 'kind'].map((AttributeName) => ({
    AttributeName,
    AttributeType: 'S',
  })),
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  VectorIndexes: INDEXES,
}

async function opened(t: TestContext, nodes = 1): Promise<{ store: Store; client: DynamoDB }> {
  const store = await open({ memory: true, nodes })
  t.after(() => store.close())
  const client = store.client()
  await client.createTable(TABLE)
  return { store, client }
}

const put = (client: DynamoDB, id: string, v: readonly (number | string)[], more: object = {}) =>
  client.putItem({ TableName, Item: { id: S(id), v: { L: vec(...v) }, ...more } })

const search = async (client: DynamoDB, over: Partial<SearchVectorsCommandInput> = {}) => {
  const input = { TableName, IndexName: 'cosine', SearchVector: vec(1, 0, 0), TopK: 10 }
  const { SearchResults = [] } = await client.searchVectors({ ...input, ...over })
  return SearchResults.map(({ Item, Score }) => [Item?.['id']?.S, Score] as const)
}

for (const nodes of [1, 3])
  test(`vectors: the nearest come first, by each of the three distances (${nodes} nodes)`, async (t) => {
    const { client } = await opened(t, nodes)
    await put(client, 'a', [1, 0, 0])
    await put(client, 'b', [0, 1, 0])
    await put(client, 'c', [-1, 0, 0])
    await put(client, 'd', [0.6, 0.8, 0])
    await client.putItem({ TableName, Item: { id: S('none') } })
    const f = Math.fround
    assert.deepEqual(
      await search(client),
      [
        ['a', 0],
        ['d', f(0.4)],
        ['b', 1],
        ['c', 2],
      ].map(near),
    )
    assert.deepEqual(await search(client, { IndexName: 'euclidean' }), [
      ['a', 0],
      ['d', f(Math.sqrt(f(0.4) ** 2 + f(0.8) ** 2))],
      ['b', f(Math.SQRT2)],
      ['c', 2],
    ])
    assert.deepEqual(await search(client, { IndexName: 'dot', TopK: 2 }), [
      ['a', 1],
      ['d', f(0.6)],
    ])
  })

test('vectors: a score beyond the range of 32 bits is infinite', async (t) => {
  const { client } = await opened(t)
  await put(client, 'large', ['3e38', 0, 0])
  await put(client, 'opposite', ['-3e38', 0, 0])
  const far = { SearchVector: vec('3e38', 0, 0), TopK: 2 }
  assert.deepEqual(await search(client, { ...far, IndexName: 'dot' }), [
    ['large', Infinity],
    ['opposite', -Infinity],
  ])
  assert.deepEqual(await search(client, { ...far, IndexName: 'euclidean' }), [
    ['large', 0],
    ['opposite', Infinity],
  ])
  assert.deepEqual(await search(client, far), [
    ['large', 0],
    ['opposite', 2],
  ])
  // As other whole numbers are read.
  assert.deepEqual(await search(client, { ...far, TopK: 1.9 }), [['large', 0]])
})

/** 0.6 and 0.8 are rounded to 32 bits before they are compared. */
const near = ([id, score]: (string | number)[]): (string | number)[] => [
  id!,
  score === Math.fround(0.4) ? cosineOf(0.6, 0.8) : score!,
]
const cosineOf = (x: number, y: number): number => {
  const [a, b] = [Math.fround(x), Math.fround(y)]
  return Math.fround(1 - a / Math.sqrt(a * a + b * b))
}

test('vectors: a search sees every write that was answered, and a transaction whole', async (t) => {
  const { client } = await opened(t)
  await put(client, 'a', [1, 0, 0])
  assert.equal((await search(client)).length, 1)
  const both = ['x', 'y'].map((id) => ({ Put: { TableName, Item: { id: S(id), v: { L: vec(0, 1, 0) } } } }))
  await client.transactWriteItems({ TransactItems: both })
  assert.equal((await search(client)).length, 3)
  await client.updateItem({ TableName, Key: { id: S('x') }, UpdateExpression: 'REMOVE v' })
  await client.deleteItem({ TableName, Key: { id: S('y') } })
  assert.deepEqual(await search(client), [['a', 0]])
})

test('vectors: a search by the schema sees one partition, filtered; an item without the HASH attribute is in none', async (t) => {
  const { client } = await opened(t)
  await put(client, 'a', [1, 0, 0], { tenant: S('t1'), kind: S('k1') })
  await put(client, 'b', [0, 1, 0], { tenant: S('t1'), kind: S('k2') })
  await put(client, 'c', [1, 0, 0], { tenant: S('t2') })
  await put(client, 'd', [1, 0, 0])
  const found = async (text: string, values: Record<string, string>) => {
    const named = Object.entries(values).map(([name, value]) => [name, S(value)])
    const rows = await search(client, {
      IndexName: 'tenants',
      SearchConditionExpression: text,
      ExpressionAttributeValues: Object.fromEntries(named),
    })
    return rows.map(([id]) => id)
  }
  assert.deepEqual(await found('tenant = :t', { ':t': 't1' }), ['a', 'b'])
  assert.deepEqual(await found('tenant = :t AND kind = :k', { ':t': 't1', ':k': 'k2' }), ['b'])
  assert.deepEqual(await found('tenant = :t', { ':t': 'none' }), [])
  assert.equal((await search(client)).length, 4)
})

test('vectors: an index answers what it projects; the vector only if asked, in 32 bits, while the item keeps all digits', async (t) => {
  const { client } = await opened(t)
  const precise = ['0.1', '16777217', '-1.000000059604644775390625']
  await put(client, 'a', precise, { label: S('x') })
  const item = async (over: Partial<SearchVectorsCommandInput>) => {
    const input = { TableName, IndexName: 'cosine', SearchVector: vec(1, 0, 0), TopK: 1 }
    return (await client.searchVectors({ ...input, ...over })).SearchResults?.[0]?.Item
  }
  assert.deepEqual(await item({}), { id: S('a'), label: S('x') })
  assert.deepEqual(await item({ IndexName: 'dot' }), { id: S('a') })
  assert.deepEqual(await item({ ProjectionExpression: 'id, v' }), {
    id: S('a'),
    v: { L: vec('0.1', '16777216', '-1') },
  })
  const got = await client.getItem({ TableName, Key: { id: S('a') } })
  assert.deepEqual(got.Item?.['v'], { L: vec(...precise) })
})

test('vectors: refusals of searches', async (t) => {
  const { client } = await opened(t)
  const cases: (readonly [Partial<SearchVectorsCommandInput>, string])[] = [
    [
      { TopK: 101 },
      "Provided TopK value '101' is out of valid range. The value must be between 1 and 100 inclusive",
    ],
    [{ SearchVector: vec(1, 0) }, 'Input search vector dimension 2 does not match vector index dimension 3'],
    [
      { SearchVector: [{ L: vec(1, 0, 0) }] },
      'Search vector contains invalid values. All values in the search vector must be a 32-bit floating-point number attribute',
    ],
    [{ IndexName: 'other' }, 'The table does not have the specified index: other'],
    [{ IndexName: 'tenants' }, 'SearchConditionExpression must be provided when SearchSchema has a HASH key'],
    [
      {
        SearchConditionExpression: 'tenant = :t',
        ExpressionAttributeValues: { ':t': S('t') },
      },
      'SearchConditionExpression must not contain any attributes that is not in SearchSchema. Invalid attribute: tenant',
    ],
    [
      {
        IndexName: 'tenants',
        SearchConditionExpression: 'tenant = :t AND kind < :t',
        ExpressionAttributeValues: { ':t': S('t') },
      },
      'Invalid SearchConditionExpression: Invalid comparator used in SearchConditionExpression',
    ],
  ]
  for (const [over, message] of cases)
    await assert.rejects(search(client, over), { name: 'ValidationException', message })
  await assert.rejects(search(client, { TopK: 0 }), /greater than or equal to 1/)
  await assert.rejects(search(client, { TableName: 'nowhere' }), { name: 'ResourceNotFoundException' })
  await assert.rejects(client.scan({ TableName, IndexName: 'cosine' }), {
    message: 'Scan operation not supported on this index type',
  })
  await assert.rejects(client.executeStatement({ Statement: `SELECT * FROM "Docs"."cosine"` }), {
    message: 'Scan operation not supported on this index type',
  })
})

test('vectors: a request is read strictly: null is no value, and a missing member is named', async (t) => {
  const { store } = await opened(t)
  const server = await store.listen({ port: 0 })
  const sent = async (body: object): Promise<[string, string]> => {
    const answer = await fetch(server.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'DynamoDB_20120810.SearchVectors',
      },
      body: JSON.stringify(body),
    })
    const { __type, message, Message } = (await answer.json()) as Record<string, string>
    return [__type!.split('#')[1]!, message ?? Message!]
  }
  const valid = { TableName, IndexName: 'cosine', SearchVector: vec(1, 0, 0), TopK: 1 }
  assert.deepEqual(await sent({ ...valid, TopK: null }), [
    'SerializationException',
    `invalid type: null, expected i32 at line 1 column ${JSON.stringify({ ...valid, TopK: null }).length - 1}`,
  ])
  const { TableName: _, ...unnamed } = valid
  assert.deepEqual(await sent(unnamed), [
    'ValidationException',
    `missing field \`TableName\` at line 1 column ${JSON.stringify(unnamed).length}`,
  ])
})

test('vectors: refusals of writes, in every operation that writes', async (t) => {
  const { client } = await opened(t)
  const WRONG = 'One or more parameter values were invalid.'
  const cases: (readonly [object, string])[] = [
    [
      { v: { L: vec(1, 0) } },
      `${WRONG} Invalid size for parameter v, Expected: 3, Actual: 2 IndexName: cosine`,
    ],
    [
      { v: { L: [{ N: '1' }, S('x'), { N: '0' }] } },
      `${WRONG} Invalid type for parameter v[1], Expected: 32-bit floating point number, Actual: S. IndexName: cosine`,
    ],
    [
      { v: S('x') },
      `${WRONG} Invalid type for parameter v, Expected: 32-bit floating point number list IndexName: cosine`,
    ],
    [
      { tenant: S('') },
      'One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: tenants, IndexKey: tenant',
    ],
  ]
  for (const [attributes, message] of cases)
    await assert.rejects(client.putItem({ TableName, Item: { id: S('a'), ...attributes } }), { message })
  const bad = { id: S('a'), v: S('x') }
  await assert.rejects(client.batchWriteItem({ RequestItems: { Docs: [{ PutRequest: { Item: bad } }] } }), {
    name: 'ValidationException',
  })
  await assert.rejects(
    client.updateItem({
      TableName,
      Key: { id: S('a') },
      UpdateExpression: 'SET v = :v',
      ExpressionAttributeValues: { ':v': S('x') },
    }),
    { name: 'ValidationException' },
  )
  await assert.rejects(client.transactWriteItems({ TransactItems: [{ Put: { TableName, Item: bad } }] }))
  assert.deepEqual(await search(client), [])
})

test('vectors: refusals of indexes', async (t) => {
  const { client } = await opened(t)
  const INVALID = 'One or more parameter values were invalid: '
  const refused = (over: Partial<CreateTableCommandInput>, message: string) =>
    assert.rejects(
      client.createTable({
        ...TABLE,
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        TableName: 'Other',
        ...over,
      }),
      { message: INVALID + message },
    )
  await refused(
    {
      BillingMode: 'PROVISIONED',
      ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 },
      VectorIndexes: [index('cosine')],
    },
    'Vector indexes are only supported for PAY_PER_REQUEST tables',
  )
  await refused({}, 'One element in SearchSchema is not defined in attribute definitions')
  await refused(
    { VectorIndexes: [index('cosine', { Dimensions: 4097 })] },
    'Number of dimensions must be between 1 and 4096 inclusive.',
  )
  await refused(
    { VectorIndexes: Array.from({ length: 6 }, (_, at) => index(`cosine${at}`)) },
    'VectorIndex count exceeds the per-table limit of 5',
  )
  await refused(
    { VectorIndexes: [index('one'), index('two', { Dimensions: 4 })] },
    "Conflicting attribute definition for 'v'. All VectorIndexes on the same vector attribute must use the same dimensions.",
  )
  const throughput = { ReadCapacityUnits: 1, WriteCapacityUnits: 1 }
  await assert.rejects(
    client.updateTable({ TableName, BillingMode: 'PROVISIONED', ProvisionedThroughput: throughput }),
    { message: `${INVALID}Vector indexes are only supported for PAY_PER_REQUEST tables` },
  )
})

test('vectors: an index is added to a table with items, one at a time, and removed', async (t) => {
  const { client } = await opened(t)
  await client.putItem({ TableName, Item: { id: S('old'), w: { L: vec(5) } } })
  await client.putItem({ TableName, Item: { id: S('odd'), w: S('no vector') } })
  const added = index('added', { VectorAttribute: { AttributeName: 'w' }, Dimensions: 1 })
  await assert.rejects(
    client.updateTable({ TableName, VectorIndexUpdates: [{ Create: added }, { Create: index('more') }] }),
    { name: 'LimitExceededException' },
  )
  await client.updateTable({ TableName, VectorIndexUpdates: [{ Create: added }] })
  assert.deepEqual(await search(client, { IndexName: 'added', SearchVector: vec(1) }), [['old', 0]])
  const { Table } = await client.describeTable({ TableName })
  assert.deepEqual(
    Table?.VectorIndexes?.map((each) => each.IndexName),
    [...INDEXES.map((each) => each.IndexName), 'added'],
  )
  assert.match(Table?.VectorIndexes?.[0]?.IndexArn ?? '', /\/index\/cosine$/)
  await client.updateTable({ TableName, VectorIndexUpdates: [{ Delete: { IndexName: 'added' } }] })
  await assert.rejects(search(client, { IndexName: 'added', SearchVector: vec(1) }), /does not have/)
})

test('vectors: a write is charged four bytes for a dimension, and in bytes for each index that holds something else', async (t) => {
  const { client } = await opened(t)
  const wide = '12345678901234567890123456789012345678'
  const written = async (item: object, detail: 'INDEXES' | 'TOTAL' = 'INDEXES') =>
    (await client.putItem({ TableName, Item: { id: S('a'), ...item }, ReturnConsumedCapacity: detail }))
      .ConsumedCapacity
  // id, a, v, pad and twelve bytes of vector.
  const sized = (bytes: number) => ({ v: { L: vec(wide, wide, wide) }, pad: S('x'.repeat(bytes - 19)) })
  assert.equal((await written(sized(1024), 'TOTAL'))?.CapacityUnits, 1)
  assert.equal((await written(sized(1025), 'TOTAL'))?.CapacityUnits, 2)
  const charged = (await written({ v: { L: vec(1, 0, 0) }, blob: S('x'.repeat(1500)) }))?.VectorIndexes
  assert.equal(charged?.['cosine']?.VectorWriteRequestBytes, 3 + 1 + 12 + 4 + 1500)
  assert.equal(charged?.['dot']?.VectorWriteRequestBytes, 1024)
  assert.equal(charged?.['tenants'], undefined)
  const again = await written({ v: { L: vec(1, 0, 0) }, blob: S('y') })
  assert.deepEqual(Object.keys(again?.VectorIndexes ?? {}), ['cosine', 'euclidean'])
  assert.equal((await written({ v: { L: vec(1, 0, 0) }, blob: S('y') }))?.VectorIndexes, undefined)
  const batch = await client.batchWriteItem({
    RequestItems: {
      [TableName]: ['b', 'c'].map((id) => ({ PutRequest: { Item: { id: S(id), v: { L: vec(1, 0, 0) } } } })),
    },
    ReturnConsumedCapacity: 'INDEXES',
  })
  const each = (await written({ v: { L: vec(0, 0, 1) } }))?.VectorIndexes
  const both = batch.ConsumedCapacity?.[0]?.VectorIndexes
  assert.equal(
    both?.['cosine']?.VectorWriteRequestBytes,
    2 * (each?.['cosine']?.VectorWriteRequestBytes ?? 0),
  )
  const searched = await client.searchVectors({
    TableName,
    IndexName: 'cosine',
    SearchVector: vec(1, 0, 0),
    TopK: 1,
    ReturnConsumedCapacity: 'TOTAL',
  })
  assert.deepEqual(searched.ConsumedCapacity, { VectorSearchRequestBytes: 1024 })
})

test('vectors: results of more than 16 MB are refused, with the TopK that fits; a projection of them is answered', async (t) => {
  const { client } = await opened(t)
  const text = S('x'.repeat(390_000))
  for (let at = 0; at < 45; at++) await put(client, `i${at}`, [1, at, 0], { text })
  await assert.rejects(search(client, { TopK: 100 }), {
    name: 'ValidationException',
    message:
      'The results of the search exceed 16777216 bytes. Use a TopK of at most 43, or a ProjectionExpression',
  })
  const nearest = Array.from({ length: 43 }, (_, at) => `i${at}`)
  assert.deepEqual(
    (await search(client, { TopK: 43 })).map(([id]) => id),
    nearest,
  )
  const ids = await search(client, { TopK: 100, ProjectionExpression: 'id' })
  assert.deepEqual(ids.map(([id]) => id).slice(0, 43), nearest)
  assert.equal(ids.length, 45)
})
