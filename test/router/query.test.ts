import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Item } from '../../src/model/value.js'
import { createTable, openTestStore, type TestStore } from './many-support.js'

const S = (text: string): { S: string } => ({ S: text })
const N = (text: string): { N: string } => ({ N: text })

const TABLE = 'Things'
const INDEXES = {
  lsi: { key: 'pk:S l:S', projection: 'KEYS_ONLY' },
  gsi: { key: 'g:S gn:N', projection: 'x' },
  gall: { key: 'g:S', projection: 'ALL' },
}

/** Six items in partition `a`, in the order of `sk`: `s0` to `s5`. */
const items: readonly Item[] = Array.from({ length: 6 }, (_, i) => ({
  pk: S('a'),
  sk: S(`s${i}`),
  l: S(`l${i % 2}`),
  g: S('g'),
  gn: N(String(i % 3)),
  x: S(`x${i}`),
  y: S('y'),
}))

for (const nodeCount of [1, 3]) {
  describe(`Query over ${nodeCount} node${nodeCount > 1 ? 's' : ''}`, () => {
    let store: TestStore
    before(async () => {
      store = await openTestStore(nodeCount)
      await createTable(store, TABLE, 'pk:S sk:S', INDEXES)
      await createTable(store, 'Bare', 'pk:S')
      await store.putAll(TABLE, [...items, { pk: S('b'), sk: S('s0'), g: S('g'), gn: N('9') }])
    })
    after(() => store[Symbol.asyncDispose]())

    const onTable = {
      TableName: TABLE,
      KeyConditionExpression: 'pk = :p',
      ExpressionAttributeValues: { ':p': S('a') },
    }
    const onGsi = {
      TableName: TABLE,
      IndexName: 'gsi',
      KeyConditionExpression: 'g = :p',
      ExpressionAttributeValues: { ':p': S('g') },
    }
    const onLsi = { ...onTable, IndexName: 'lsi' }
    const ranged = (condition: string, values: Record<string, unknown>): object => ({
      ...onTable,
      KeyConditionExpression: `pk = :p AND ${condition}`,
      ExpressionAttributeValues: { ':p': S('a'), ...values },
    })
    const sortKeys = (answer: { Items?: readonly Item[] }): string[] =>
      (answer.Items ?? []).map((item) => (item['sk'] as { S: string }).S)

    test('answers whole items in the order of the sort key, forward and back', async () => {
      const forward = await store.call('Query', onTable)
      assert.deepEqual(forward, { Items: items, Count: 6, ScannedCount: 6 })
      const back = await store.call('Query', { ...onTable, ScanIndexForward: false })
      assert.deepEqual(back.Items, items.toReversed())
    })

    test('an empty partition is an empty answer that still costs a read', async () => {
      const answer = await store.call('Query', {
        ...onTable,
        ExpressionAttributeValues: { ':p': S('none') },
        ReturnConsumedCapacity: 'TOTAL',
      })
      assert.deepEqual(answer, {
        Items: [],
        Count: 0,
        ScannedCount: 0,
        ConsumedCapacity: { TableName: TABLE, CapacityUnits: 0.5 },
      })
    })

    test('every condition on the sort key selects what it says', async () => {
      const cases: [string, Record<string, unknown>, string[]][] = [
        ['sk = :a', { ':a': S('s2') }, ['s2']],
        ['sk < :a', { ':a': S('s2') }, ['s0', 's1']],
        ['sk <= :a', { ':a': S('s2') }, ['s0', 's1', 's2']],
        ['sk > :a', { ':a': S('s3') }, ['s4', 's5']],
        ['sk >= :a', { ':a': S('s4') }, ['s4', 's5']],
        [':a >= sk', { ':a': S('s0') }, ['s0']],
        ['sk BETWEEN :a AND :b', { ':a': S('s1'), ':b': S('s3') }, ['s1', 's2', 's3']],
        ['begins_with(sk, :a)', { ':a': S('s') }, ['s0', 's1', 's2', 's3', 's4', 's5']],
        ['begins_with(sk, :a)', { ':a': S('s5') }, ['s5']],
      ]
      for (const [condition, values, expected] of cases) {
        assert.deepEqual(sortKeys(await store.call('Query', ranged(condition, values))), expected, condition)
      }
    })

    test('the older KeyConditions, QueryFilter and AttributesToGet mean the same', async () => {
      const answer = await store.call('Query', {
        TableName: TABLE,
        KeyConditions: {
          pk: { ComparisonOperator: 'EQ', AttributeValueList: [S('a')] },
          sk: { ComparisonOperator: 'GE', AttributeValueList: [S('s2')] },
        },
        QueryFilter: { l: { ComparisonOperator: 'EQ', AttributeValueList: [S('l1')] } },
        AttributesToGet: ['sk', 'l'],
      })
      assert.deepEqual(answer, {
        Items: [
          { sk: S('s3'), l: S('l1') },
          { sk: S('s5'), l: S('l1') },
        ],
        Count: 2,
        ScannedCount: 4,
      })
    })

    test('LastEvaluatedKey is there exactly when Limit stopped the reading, even at the end', async () => {
      const six = await store.call('Query', { ...onTable, Limit: 6 })
      assert.deepEqual(six.LastEvaluatedKey, { pk: S('a'), sk: S('s5') })
      assert.equal((await store.call('Query', { ...onTable, Limit: 7 })).LastEvaluatedKey, undefined)
      const after = await store.call('Query', { ...onTable, ExclusiveStartKey: six.LastEvaluatedKey })
      assert.deepEqual(after, { Items: [], Count: 0, ScannedCount: 0 })
    })

    test('Limit counts what was looked at, not what the filter let through', async () => {
      const answer = await store.call('Query', {
        ...onTable,
        Limit: 2,
        FilterExpression: 'x = :x',
        ExpressionAttributeValues: { ':p': S('a'), ':x': S('x1') },
      })
      assert.equal(answer.Count, 1)
      assert.equal(answer.ScannedCount, 2)
      assert.deepEqual(answer.LastEvaluatedKey, { pk: S('a'), sk: S('s1') })
    })

    test('a start key need not be of an item that is there', async () => {
      const input = { ...onTable, ExclusiveStartKey: { pk: S('a'), sk: S('s33') } }
      assert.deepEqual(sortKeys(await store.call('Query', input)), ['s4', 's5'])
      assert.deepEqual(sortKeys(await store.call('Query', { ...input, ScanIndexForward: false })), [
        's3',
        's2',
        's1',
        's0',
      ])
    })

    test('Select COUNT answers no items', async () => {
      assert.deepEqual(await store.call('Query', { ...onTable, Select: 'COUNT' }), {
        Count: 6,
        ScannedCount: 6,
      })
    })

    test('an index answers what it projects, and the keys', async () => {
      const answer = await store.call('Query', { ...onGsi, Limit: 1, ReturnConsumedCapacity: 'INDEXES' })
      assert.deepEqual(answer, {
        Items: [{ pk: S('a'), sk: S('s0'), g: S('g'), gn: N('0'), x: S('x0') }],
        Count: 1,
        ScannedCount: 1,
        LastEvaluatedKey: { pk: S('a'), sk: S('s0'), g: S('g'), gn: N('0') },
        ConsumedCapacity: {
          TableName: TABLE,
          CapacityUnits: 0.5,
          Table: { CapacityUnits: 0 },
          GlobalSecondaryIndexes: { gsi: { CapacityUnits: 0.5 } },
        },
      })
      const { items: all } = await store.walk('Query', { ...onGsi, Limit: 2, ProjectionExpression: 'gn' })
      assert.deepEqual(
        all.map((item) => item['gn']),
        ['0', '0', '1', '1', '2', '2', '9'].map(N),
      )
    })

    test('a local index fetches what it does not hold, and the table is charged for it', async () => {
      const whole = await store.call('Query', {
        ...onLsi,
        Select: 'ALL_ATTRIBUTES',
        Limit: 2,
        ReturnConsumedCapacity: 'INDEXES',
      })
      assert.deepEqual(whole.Items, [items[0], items[2]])
      assert.deepEqual(whole.ConsumedCapacity, {
        TableName: TABLE,
        CapacityUnits: 1.5,
        Table: { CapacityUnits: 1 },
        LocalSecondaryIndexes: { lsi: { CapacityUnits: 0.5 } },
      })
      const part = await store.call('Query', { ...onLsi, ProjectionExpression: 'y', Limit: 1 })
      assert.deepEqual(part.Items, [{ y: S('y') }])
      const held = await store.call('Query', { ...onLsi, ConsistentRead: true, Limit: 1 })
      assert.deepEqual(held.Items, [{ pk: S('a'), sk: S('s0'), l: S('l0') }])
    })

    test('a filter and a projection look at the part that the index holds', async () => {
      const answer = await store.call('Query', {
        ...onGsi,
        FilterExpression: 'x = :x AND attribute_exists(sk)',
        ExpressionAttributeValues: { ':p': S('g'), ':x': S('x4') },
        ProjectionExpression: 'sk, x',
      })
      assert.deepEqual(answer.Items, [{ sk: S('s4'), x: S('x4') }])
    })

    test('refuses combinations of parameters in the words of DynamoDB', async () => {
      const cases: [object, string][] = [
        [
          { ...onTable, Select: 'ALL_PROJECTED_ATTRIBUTES' },
          '1 validation error detected: ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName',
        ],
        [
          { ...onTable, Select: 'SPECIFIC_ATTRIBUTES' },
          '1 validation error detected: Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES',
        ],
        [
          { ...onTable, Select: 'COUNT', ProjectionExpression: 'x' },
          '1 validation error detected: Cannot specify the ProjectionExpression when choosing to get only the Count',
        ],
        // Two faults: a projection without any use is told before an index that is missing.
        [
          { ...onTable, Select: 'ALL_PROJECTED_ATTRIBUTES', ProjectionExpression: 'x' },
          '1 validation error detected: Cannot specify the ProjectionExpression when choosing to get ALL_PROJECTED_ATTRIBUTES',
        ],
        [
          { ...onTable, Select: 'ALL_ATTRIBUTES', ProjectionExpression: 'x' },
          '1 validation error detected: Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES',
        ],
        [
          { ...onTable, Select: 'X' },
          "1 validation error detected: Value 'X' at 'select' failed to satisfy constraint: Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
        ],
        [
          { ...onTable, Limit: 0 },
          "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
        ],
        [
          { TableName: TABLE },
          'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
        ],
        [{ ...onTable, IndexName: 'none' }, 'The table does not have the specified index: none'],
        [
          { ...onGsi, ConsistentRead: true },
          'Consistent reads are not supported on global secondary indexes',
        ],
        [
          { ...onGsi, Select: 'ALL_ATTRIBUTES' },
          'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index gsi because its projection type is not ALL',
        ],
        [
          { ...onGsi, ProjectionExpression: 'x, y, z' },
          'One or more parameter values were invalid: Global secondary index gsi does not project [y, z]',
        ],
        [
          { ...onGsi, FilterExpression: 'attribute_exists(y)' },
          'One or more parameter values were invalid: Secondary index gsi does not project one or more filter attributes: [y]',
        ],
        [
          { ...onTable, FilterExpression: 'sk = :p' },
          'Filter Expression can only contain non-primary key attributes: Primary key attribute: sk',
        ],
        [
          { ...onGsi, FilterExpression: 'gn = :p' },
          'Filter Expression can only contain non-primary key attributes: Primary key attribute: gn',
        ],
        [
          { ...onTable, ProjectionExpression: 'pk.a' },
          "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk",
        ],
        [{ ...onTable, KeyConditionExpression: 'sk = :p' }, 'Query condition missed key schema element: pk'],
        [
          {
            ...onTable,
            KeyConditionExpression: 'sk = :p',
            ExpressionAttributeNames: { '#unused': 'a' },
          },
          'Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}',
        ],
        [
          { ...onTable, TableName: 'Absent', KeyConditionExpression: '' },
          'Invalid KeyConditionExpression: The expression can not be empty;',
        ],
      ]
      for (const [input, message] of cases) {
        assert.equal(await store.refusal('Query', input), `ValidationException: ${message}`)
      }
      assert.equal(
        await store.refusal('Query', { ...onTable, TableName: 'Absent' }),
        'ResourceNotFoundException: Requested resource not found',
      )
    })

    test('refuses forged start keys in the words of DynamoDB', async () => {
      const invalid = 'The provided starting key is invalid'
      const mismatch = 'The provided key element does not match the schema'
      const outside = 'The provided starting key is outside query boundaries based on provided conditions'
      const predicate = 'The provided starting key does not match the range key predicate'
      const above = ranged('sk > :s', { ':s': S('s3') })
      const gsiKey = { g: S('g'), gn: N('1'), pk: S('a'), sk: S('s1') }
      const lsiKey = { pk: S('a'), l: S('l0'), sk: S('s1') }
      const cases: [object, unknown, string][] = [
        [onTable, {}, invalid],
        [onTable, { pk: S('a') }, invalid],
        [onTable, { pk: S('a'), sk: S('s1'), z: S('z') }, invalid],
        [onTable, { pk: S('a'), z: S('s1') }, invalid],
        [onTable, { pk: N('1'), sk: S('s1') }, invalid],
        [onTable, { pk: S('a'), sk: N('1') }, invalid],
        [
          onTable,
          { pk: S('a'), sk: S('') },
          `${invalid}: One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: sk`,
        ],
        [
          onTable,
          { pk: S('a'), sk: {} },
          `${invalid}: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes`,
        ],
        [onTable, { pk: S('b'), sk: S('s1') }, outside],
        [onTable, JSON.parse('{"pk":{"S":"a"},"__proto__":{"S":"s1"}}'), invalid],
        [above, { pk: S('a'), sk: S('s1') }, predicate],
        [above, { pk: S('a'), sk: S('s3') }, predicate],
        [above, { pk: S('b'), sk: S('s1') }, predicate],
        [above, { pk: S('b'), sk: S('s4') }, 'The query can return at most one row and cannot be restarted'],
        [onGsi, { pk: S('a'), sk: S('s1') }, invalid],
        [onGsi, { g: S('g'), gn: N('1') }, invalid],
        [onGsi, { ...gsiKey, gn: S('1') }, mismatch],
        [onGsi, { ...gsiKey, sk: N('1') }, `${invalid}: ${mismatch}`],
        [onGsi, { ...gsiKey, g: S('other') }, outside],
        [onLsi, { pk: S('a'), sk: S('s1') }, invalid],
        [onLsi, { ...lsiKey, l: N('1') }, mismatch],
        [onLsi, { ...lsiKey, pk: S('b') }, outside],
      ]
      for (const [input, start, message] of cases) {
        assert.equal(
          await store.refusal('Query', { ...input, ExclusiveStartKey: start }),
          `ValidationException: ${message}`,
          JSON.stringify(start),
        )
      }
    })

    test('tells what is wrong in the order of DynamoDB, and the first thing alone', async () => {
      const values = { ExpressionAttributeValues: { ':v': N('1') } }
      const badStart = { ExclusiveStartKey: { pk: {} } }
      const startRefused =
        'The provided starting key is invalid: Supplied AttributeValue is empty, must contain exactly one of the supported datatypes'
      const badFilter = { QueryFilter: { q: { ComparisonOperator: 'EQ', AttributeValueList: [] } } }
      const wrongCount =
        'One or more parameter values were invalid: Invalid number of argument(s) for the EQ ComparisonOperator'
      const missing = { TableName: 'Nowhere' }
      const cases: [object, string][] = [
        [
          { ...onTable, ...badStart, KeyConditions: {} },
          'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {KeyConditions} Expression parameters: {KeyConditionExpression}',
        ],
        [{ ...missing, ...badStart, ...badFilter }, wrongCount],
        [
          { ...missing, ...badStart, AttributesToGet: ['a', 'a'] },
          'One or more parameter values were invalid: Duplicate value in attribute name: a',
        ],
        [{ ...missing, ...badStart }, startRefused],
        [{ ...missing, ...badStart, KeyConditionExpression: '', ...values }, startRefused],
        [
          { ...missing, KeyConditionExpression: 'a = :v OR b = :v', FilterExpression: '', ...values },
          'Invalid FilterExpression: The expression can not be empty;',
        ],
        [
          { ...missing, KeyConditionExpression: 'a = :v OR b = :v', ...values },
          'Invalid KeyConditionExpression: Invalid operator used in KeyConditionExpression: OR',
        ],
        [
          { ...missing, KeyConditions: { pk: { ComparisonOperator: 'EQ', AttributeValueList: [] } } },
          wrongCount,
        ],
      ]
      for (const [input, message] of cases)
        assert.equal(await store.refusal('Query', input), `ValidationException: ${message}`)
    })

    test('the last page of an equality can be asked to go on', async () => {
      const one = ranged('sk = :s', { ':s': S('s3') })
      const first = await store.call('Query', { ...one, Limit: 1 })
      const next = await store.call('Query', { ...one, ExclusiveStartKey: first.LastEvaluatedKey })
      assert.equal(next.Count, 0)
    })
  })
}

test('an attribute named __proto__ is projected, filtered and carried in start keys', async () => {
  await using store = await openTestStore(1)
  await createTable(store, 'Odd', 'pk:S __proto__:S', { lsi: { key: 'pk:S l:S', projection: 'KEYS_ONLY' } })
  const odd = [1, 2, 3].map(
    (i) => JSON.parse(`{"pk":{"S":"a"},"__proto__":{"S":"${i}"},"l":{"S":"l"},"x":{"S":"x"}}`) as Item,
  )
  await store.putAll('Odd', odd)
  const query = {
    TableName: 'Odd',
    KeyConditionExpression: 'pk = :p',
    ExpressionAttributeValues: { ':p': S('a') },
    Limit: 1,
  }
  assert.deepEqual((await store.walk('Query', query)).items, odd)
  const keys = await store.walk('Query', {
    ...query,
    IndexName: 'lsi',
    ProjectionExpression: '#p',
    ExpressionAttributeNames: { '#p': '__proto__' },
  })
  assert.deepEqual(
    keys.items,
    [1, 2, 3].map((i) => JSON.parse(`{"__proto__":{"S":"${i}"}}`)),
  )
})

test('a page ends with the item that reaches 1 MB; an index counts only what it projects', async () => {
  await using store = await openTestStore(1)
  await createTable(store, 'Large', 'pk:S sk:N', { lsi: { key: 'pk:S l:N', projection: 'KEYS_ONLY' } })
  const large = Array.from({ length: 12 }, (_, i) => ({
    pk: S('a'),
    sk: N(String(i)),
    l: N(String(i)),
    v: S('x'.repeat(200_000)),
  }))
  await store.putAll('Large', large)
  const query = {
    TableName: 'Large',
    KeyConditionExpression: 'pk = :p',
    ExpressionAttributeValues: { ':p': S('a') },
    ReturnConsumedCapacity: 'TOTAL',
  }
  const { items: all, pages } = await store.walk('Query', query)
  assert.deepEqual(all, large)
  assert.deepEqual(
    pages.map((page) => page.Count),
    [6, 6, 0],
  )
  assert.deepEqual(pages[0]?.ConsumedCapacity, { TableName: 'Large', CapacityUnits: 146.5 })
  const keys = await store.walk('Query', { ...query, IndexName: 'lsi' })
  assert.deepEqual(
    keys.pages.map((page) => page.Count),
    [12],
  )
})

test('nothing is told of a table that the caller may not read', async () => {
  await using store = await openTestStore(1)
  const nobody = { id: 'nobody', name: 'nobody', allows: () => false }
  for (const [operation, input] of [
    ['Query', { TableName: 'Absent', KeyConditionExpression: 'a' }],
    ['Scan', { TableName: 'Absent' }],
    ['BatchGetItem', { RequestItems: { Absent: { Keys: [{ pk: S('a') }] } } }],
    ['BatchWriteItem', { RequestItems: { Absent: [{ DeleteRequest: { Key: { pk: S('a') } } }] } }],
  ] as const) {
    assert.match(await store.refusal(operation, input, nobody), /^AccessDeniedException: /)
  }
})
