// Global indexes with several HASH and RANGE attributes, through the router.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { compareValues } from '../../src/model/compare.js'
import type { AttributeValue, Item } from '../../src/model/value.js'
import { seededRandom } from '../suites/seeded-random.js'
import { createTable, openTestStore, type TestStore } from './many-support.js'

const S = (text: string): { S: string } => ({ S: text })
const N = (text: string): { N: string } => ({ N: text })

const KEY = 'a:S b:N | c:S d:N e:B'
const HASH = ['a', 'b']
const RANGE = ['c', 'd', 'e']
const ids = (items: readonly Item[] = []): string[] => items.map((item) => (item['id'] as { S: string }).S)

function randomItem(random: (below: number) => number, id: number): Item {
  const item: Record<string, AttributeValue> = { id: S(`i${id}`), x: N(String(random(3))) }
  // One of nine lacks an attribute: it is not in the index.
  const lacking = random(9) === 0 ? [...HASH, ...RANGE][random(5)] : undefined
  const values: Item = {
    a: S(['p', 'q'][random(2)]!),
    b: N(String(random(2))),
    c: S(['', 'l', 'la', 'm\0'][1 + random(3)]!),
    d: N(String((random(5) - 2) / 2)),
    e: { B: Buffer.from([random(2) * 255, ...(random(2) === 0 ? [0] : [])]).toString('base64') },
  }
  for (const [name, value] of Object.entries(values)) if (name !== lacking) item[name] = value
  return item
}

/** Equal in all of the attributes before the last of them, and related by `op` in that. */
function expected(items: readonly Item[], asked: Item, last: string | undefined, op: string): Item[] {
  const parts = [...HASH, ...RANGE.slice(0, last === undefined ? 0 : RANGE.indexOf(last))]
  return items
    .filter((item) => [...HASH, ...RANGE].every((name) => name in item))
    .filter((item) => parts.every((name) => compareValues(item[name]!, asked[name]!) === 0))
    .filter((item) => {
      if (last === undefined) return true
      const order = compareValues(item[last]!, asked[last]!)!
      return op === '=' ? order === 0 : op === '<=' ? order <= 0 : order > 0
    })
    .toSorted((one, two) => {
      const orders = RANGE.map((name) => compareValues(one[name]!, two[name]!)!)
      return orders.find((order) => order !== 0) ?? 0
    })
}

for (const nodeCount of [1, 3])
  describe(`an index of several key attributes over ${nodeCount} node${nodeCount > 1 ? 's' : ''}`, () => {
    let store: TestStore
    const items: Item[] = []
    before(async () => {
      store = await openTestStore(nodeCount)
      await createTable(store, 'Many', 'id:S', {
        many: { key: KEY, projection: 'ALL' },
        keys: { key: 'a:S b:N | c:S', projection: 'KEYS_ONLY' },
      })
      const random = seededRandom(nodeCount)
      for (let id = 0; id < 200; id++) items.push(randomItem(random, id))
      await store.putAll('Many', items)
    })
    after(() => store[Symbol.asyncDispose]())

    test('Query answers in the order of its attributes, in any part and direction, page by page', async () => {
      const random = seededRandom(17 + nodeCount)
      for (let round = 0; round < 60; round++) {
        const asked = randomItem(random, 0)
        if ([...HASH, ...RANGE].some((name) => !(name in asked))) continue
        const last = [undefined, ...RANGE][random(4)]
        const op = ['=', '<=', '>'][random(3)]!
        const names = [...HASH, ...RANGE.slice(0, last === undefined ? 0 : RANGE.indexOf(last))]
        const conditions = [
          ...names.map((name) => `${name} = :${name}`),
          ...(last ? [`${last} ${op} :${last}`] : []),
        ]
        const used = last === undefined ? names : [...names, last]
        const forward = random(2) === 0
        const walked = await store.walk('Query', {
          TableName: 'Many',
          IndexName: 'many',
          KeyConditionExpression: conditions.toSorted(() => random(3) - 1).join(' AND '),
          ExpressionAttributeValues: Object.fromEntries(used.map((name) => [`:${name}`, asked[name]])),
          ScanIndexForward: forward,
          Limit: 1 + random(9),
        })
        const found = forward ? walked.items : walked.items.toReversed()
        const wanted = expected(items, asked, last, op)
        assert.deepEqual(new Set(ids(found)), new Set(ids(wanted)))
        const order = (list: readonly Item[]): unknown => list.map((item) => RANGE.map((name) => item[name]))
        assert.deepEqual(order(found), order(wanted))
        for (const { LastEvaluatedKey } of walked.pages)
          if (LastEvaluatedKey)
            assert.deepEqual(Object.keys(LastEvaluatedKey).toSorted(), ['a', 'b', 'c', 'd', 'e', 'id'])
      }
    })

    test('Scan has every item that has all key attributes once, over segments', async () => {
      const found: Item[] = []
      for (let Segment = 0; Segment < 3; Segment++)
        found.push(
          ...(
            await store.walk('Scan', {
              TableName: 'Many',
              IndexName: 'many',
              Segment,
              TotalSegments: 3,
              Limit: 7,
            })
          ).items,
        )
      const wanted = items.filter((item) => [...HASH, ...RANGE].every((name) => name in item))
      assert.deepEqual(ids(found).toSorted(), ids(wanted).toSorted())
    })

    test('KeyConditions mean the same as the expression', async () => {
      const equal = (value: AttributeValue): object => ({
        ComparisonOperator: 'EQ',
        AttributeValueList: [value],
      })
      const conditions = { a: equal(S('p')), b: equal(N('1')), c: equal(S('l')) }
      const found = await store.walk('Query', {
        TableName: 'Many',
        IndexName: 'many',
        KeyConditions: { ...conditions, d: { ComparisonOperator: 'LE', AttributeValueList: [N('0')] } },
      })
      assert.deepEqual(
        new Set(ids(found.items)),
        new Set(ids(expected(items, { a: S('p'), b: N('1'), c: S('l'), d: N('0') }, 'd', '<='))),
      )
      assert.equal(
        await store.refusal('Query', {
          TableName: 'Many',
          IndexName: 'many',
          KeyConditions: { a: conditions.a, b: conditions.b, d: equal(N('0')) },
        }),
        'ValidationException: RANGE key attributes c must have equality conditions specified in the query because a condition is present on key attribute d',
      )
    })

    test('a projection of keys has the attributes of both keys', async () => {
      const { Items } = await store.call('Query', {
        TableName: 'Many',
        IndexName: 'keys',
        KeyConditionExpression: 'a = :a AND b = :b',
        ExpressionAttributeValues: { ':a': S('p'), ':b': N('0') },
        Limit: 1,
      })
      assert.deepEqual(Object.keys(Items?.[0] ?? {}).toSorted(), ['a', 'b', 'c', 'id'])
    })

    const where = { TableName: 'Many', IndexName: 'many', KeyConditionExpression: 'a = :a AND b = :b' }
    const values = { ':a': S('p'), ':b': N('0') }
    const startKey = { id: S('z'), a: S('p'), b: N('0'), c: S('l'), d: N('0'), e: { B: 'AA==' } }
    for (const [name, input, message] of [
      [
        'a filter on a HASH attribute',
        { ...where, FilterExpression: 'b = :b', ExpressionAttributeValues: values },
        'Filter Expression can only contain non-primary key attributes: Primary key attribute: b',
      ],
      [
        'a filter on a RANGE attribute',
        { ...where, FilterExpression: 'e = :b', ExpressionAttributeValues: values },
        'Filter Expression can only contain non-primary key attributes: Primary key attribute: e',
      ],
      [
        'a start key that lacks an attribute',
        {
          ...where,
          ExpressionAttributeValues: values,
          ExclusiveStartKey: { id: S('z'), a: S('p'), b: N('0'), c: S('l'), d: N('0') },
        },
        'The provided starting key is invalid',
      ],
      [
        'a start key of another partition',
        { ...where, ExpressionAttributeValues: values, ExclusiveStartKey: { ...startKey, b: N('1') } },
        'The provided starting key is outside query boundaries based on provided conditions',
      ],
      [
        'a start key outside of the range',
        {
          ...where,
          KeyConditionExpression: 'a = :a AND b = :b AND c = :c AND d > :d',
          ExpressionAttributeValues: { ...values, ':c': S('l'), ':d': N('0') },
          ExclusiveStartKey: startKey,
        },
        'The provided starting key does not match the range key predicate',
      ],
      [
        'a consistent read',
        { ...where, ExpressionAttributeValues: values, ConsistentRead: true },
        'Consistent reads are not supported on global secondary indexes',
      ],
    ] as const)
      test(`refuses ${name}`, async () => {
        assert.equal(await store.refusal('Query', input), `ValidationException: ${message}`)
      })

    test('statements do not read it, and say so before anything else about them', async () => {
      const refused =
        'PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys.'
      for (const Statement of [
        `SELECT * FROM "Many"."many" WHERE a = 'p' AND b = 0`,
        `SELECT * FROM "Many"."many"`,
        `SELECT * FROM "Many"."many" WHERE a = 5`,
        `SELECT COUNT(*) FROM "Many"."many"`,
        `EXPLAIN SELECT * FROM "Many"."many" WHERE a = 'p'`,
      ])
        assert.equal(
          await store.refusal('ExecuteStatement', { Statement }),
          `ValidationException: ${refused}`,
        )
      assert.match(
        await store.refusal('ExecuteStatement', { Statement: `SELECT * FROM "Many"."many" WHERE` }),
        /Unexpected term$/,
      )
      assert.match(
        await store.refusal('ExecuteStatement', {
          Statement: `SELECT * FROM "Many"."many" WHERE a = 1e99999999999`,
        }),
        /^ValidationException: Statement wasn't well formed, can't be processed: $/,
      )
      const { Responses } = await store.call('BatchExecuteStatement', {
        Statements: [
          { Statement: `SELECT * FROM "Many"."many" WHERE a = 'p' AND b = 0` },
          { Statement: `SELECT id FROM "Many" WHERE id = 'i0'` },
        ],
      })
      const [multi, base] = Responses as { Error?: object; Item?: object }[]
      assert.deepEqual(multi?.Error, { Code: 'ValidationError', Message: refused })
      assert.deepEqual(base?.Item, { id: S('i0') })
    })
  })

describe('the key schema of a global index', () => {
  const definitions = (names: readonly string[]): object[] =>
    names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' }))
  const schema = (
    hash: readonly string[],
    range: readonly string[],
  ): { AttributeName: string; KeyType: string }[] => [
    ...hash.map((AttributeName) => ({ AttributeName, KeyType: 'HASH' })),
    ...range.map((AttributeName) => ({ AttributeName, KeyType: 'RANGE' })),
  ]
  const index = (KeySchema: readonly object[]): object => ({
    IndexName: 'gsi',
    KeySchema,
    Projection: { ProjectionType: 'ALL' },
  })
  const create = (keySchema: readonly { AttributeName: string }[]): object => ({
    TableName: 'Schemas',
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: schema(['id'], []),
    AttributeDefinitions: definitions([
      ...new Set(['id', ...keySchema.map(({ AttributeName }) => AttributeName)]),
    ]),
    GlobalSecondaryIndexes: [index(keySchema)],
  })
  const five = ['a', 'b', 'c', 'd', 'e']

  test('takes four HASH and four RANGE attributes, and DescribeTable has them in order', async () => {
    await using store = await openTestStore(1)
    const keySchema = schema(['a', 'b', 'c', 'd'], ['e', 'f', 'g', 'h'])
    await store.call('CreateTable', create(keySchema))
    const { Table } = (await store.call('DescribeTable', { TableName: 'Schemas' })) as unknown as {
      Table: { GlobalSecondaryIndexes: { KeySchema: unknown }[] }
    }
    assert.deepEqual(Table.GlobalSecondaryIndexes[0]?.KeySchema, keySchema)
  })

  for (const [name, keySchema, message] of [
    [
      'five HASH attributes',
      schema(five, []),
      'One or more parameter values were invalid: The KeySchema exceeds the maximum allowed number of HASH key attributes',
    ],
    [
      'five RANGE attributes',
      schema(['h'], five),
      'One or more parameter values were invalid: The KeySchema exceeds the maximum allowed number of RANGE key attributes',
    ],
    [
      'a HASH attribute after a RANGE attribute',
      [...schema(['a'], ['b']), ...schema(['c'], [])],
      'One or more parameter values were invalid: All HASH key attributes must precede RANGE key attributes in the KeySchema',
    ],
    [
      'a RANGE attribute first',
      [...schema([], ['b']), ...schema(['a', 'c'], [])],
      'Invalid KeySchema: The first KeySchemaElement is not a HASH key type',
    ],
  ] as const)
    test(`refuses ${name}, in CreateTable and UpdateTable`, async () => {
      await using store = await openTestStore(1)
      assert.equal(await store.refusal('CreateTable', create(keySchema)), `ValidationException: ${message}`)
      await createTable(store, 'Plain', 'id:S')
      assert.equal(
        await store.refusal('UpdateTable', {
          TableName: 'Plain',
          AttributeDefinitions: definitions(keySchema.map(({ AttributeName }) => AttributeName)),
          GlobalSecondaryIndexUpdates: [{ Create: index(keySchema) }],
        }),
        `ValidationException: ${message}`,
      )
    })

  test('refuses the same attribute twice', async () => {
    await using store = await openTestStore(1)
    for (const keySchema of [schema(['a', 'a'], []), schema(['a', 'b'], ['a'])])
      assert.match(await store.refusal('CreateTable', create(keySchema)), /same name/)
  })

  test('only a global index has several: neither a table nor a local index', async () => {
    await using store = await openTestStore(1)
    const common = {
      TableName: 'Schemas',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: definitions(['a', 'b', 'c']),
    }
    const length = /failed to satisfy constraint: Member must have length less than or equal to 2$/
    assert.match(
      await store.refusal('CreateTable', { ...common, KeySchema: schema(['a'], ['b', 'c']) }),
      length,
    )
    assert.match(
      await store.refusal('CreateTable', {
        ...common,
        KeySchema: schema(['a'], ['b']),
        LocalSecondaryIndexes: [index(schema(['a'], ['b', 'c']))],
      }),
      length,
    )
  })
})

describe('items of an index with several key attributes', () => {
  test('an index that UpdateTable adds has the items that were there, and those written meanwhile', async () => {
    await using store = await openTestStore(2)
    await createTable(store, 'Later', 'id:S')
    const item = (id: number): Item => ({
      id: S(`i${id}`),
      a: S('p'),
      b: N('0'),
      ...(id % 5 > 0 && { c: S(`c${id % 3}`) }),
      d: N(String(id)),
    })
    const all = Array.from({ length: 60 }, (_, id) => item(id))
    await store.putAll('Later', all.slice(0, 40))
    await store.call('UpdateTable', {
      TableName: 'Later',
      AttributeDefinitions: [
        { AttributeName: 'a', AttributeType: 'S' },
        { AttributeName: 'b', AttributeType: 'N' },
        { AttributeName: 'c', AttributeType: 'S' },
        { AttributeName: 'd', AttributeType: 'N' },
      ],
      GlobalSecondaryIndexUpdates: [
        {
          Create: {
            IndexName: 'late',
            KeySchema: [
              { AttributeName: 'a', KeyType: 'HASH' },
              { AttributeName: 'b', KeyType: 'HASH' },
              { AttributeName: 'c', KeyType: 'RANGE' },
              { AttributeName: 'd', KeyType: 'RANGE' },
            ],
            Projection: { ProjectionType: 'ALL' },
          },
        },
      ],
    })
    await store.putAll('Later', all.slice(40))
    for (let turn = 0; turn < 1000; turn++) {
      const { Table } = (await store.call('DescribeTable', { TableName: 'Later' })) as unknown as {
        Table: { GlobalSecondaryIndexes: { IndexStatus: string }[] }
      }
      if (Table.GlobalSecondaryIndexes[0]?.IndexStatus === 'ACTIVE') break
      await new Promise((resolve) => setImmediate(resolve))
    }
    const { items } = await store.walk('Query', {
      TableName: 'Later',
      IndexName: 'late',
      KeyConditionExpression: 'a = :a AND b = :b AND c >= :c',
      ExpressionAttributeValues: { ':a': S('p'), ':b': N('0'), ':c': S('c1') },
      Limit: 7,
    })
    const wanted = all
      .filter((each) => 'c' in each && (each['c'] as { S: string }).S >= 'c1')
      .toSorted((one, two) => compareValues(one['c']!, two['c']!)! || compareValues(one['d']!, two['d']!)!)
    assert.deepEqual(items, wanted)
  })

  test('a value that is no key is refused, and so are values that are too large together', async () => {
    await using store = await openTestStore(1)
    await createTable(store, 'Many', 'id:S', { many: { key: 'a:S b:S | c:S d:S', projection: 'ALL' } })
    const item = { id: S('i'), a: S('a'), b: S('b'), c: S('c'), d: S('d') }
    const put = (changed: Item): Promise<string> =>
      store.refusal('TransactWriteItems', {
        TransactItems: [{ Put: { TableName: 'Many', Item: { ...item, ...changed } } }],
      })
    const batch = (changed: Item): Promise<string> =>
      store.refusal('BatchWriteItem', {
        RequestItems: { Many: [{ PutRequest: { Item: { ...item, ...changed } } }] },
      })
    for (const name of ['a', 'b', 'c', 'd']) {
      assert.equal(
        await batch({ [name]: N('1') }),
        `ValidationException: One or more parameter values were invalid: Type mismatch for Index Key ${name} Expected: S Actual: N IndexName: many`,
      )
      assert.match(
        await batch({ [name]: S('') }),
        new RegExp(`empty string value. IndexName: many, IndexKey: ${name}$`),
      )
      assert.match(await put({ [name]: N('1') }), /^TransactionCanceledException: .*ValidationError/)
    }
    assert.match(
      await batch({ c: S('c'.repeat(1000)), d: S('d'.repeat(25)) }),
      /Aggregate size for RANGE key attributes c, d of index many has exceeded limit 1024 bytes, with actual size 1025 bytes$/,
    )
    assert.match(
      await batch({ a: S('a'.repeat(1025)), b: S('b'.repeat(1024)) }),
      /Aggregate size for HASH key attributes a, b of index many has exceeded limit 2048 bytes, with actual size 2049 bytes$/,
    )
    await store.putAll('Many', [{ ...item, c: S('c'.repeat(1000)), d: S('d'.repeat(24)) }])
    assert.equal((await store.call('Scan', { TableName: 'Many', IndexName: 'many' })).Count, 1)
  })
})
