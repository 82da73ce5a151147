// What the forms of the console ask of a table, put to a store.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asToolkit } from '../../console/values/code.js'
import { type Filter, type ItemRequest, OPERATORS, requestFor } from '../../console/wire/requests.js'
import { open } from '../../src/store/store.js'
import { NumberValue, transactor } from '../../src/toolkit/index.js'

const ask = (more: Partial<ItemRequest>): ItemRequest => ({
  table: 'Things',
  index: undefined,
  mode: 'scan',
  hashes: [],
  ranges: [],
  descending: false,
  filters: [],
  joinedBy: 'AND',
  ...more,
})
const on = (attribute: string, more: Partial<Filter>): Filter => ({
  attribute,
  operator: '=',
  type: 'S',
  value: '',
  other: '',
  ...more,
})

const EXPECTED: Readonly<Record<(typeof OPERATORS)[number][0], readonly [Partial<Filter>, string]>> = {
  '=': [{ value: 'b' }, 'b'],
  '<>': [{ value: 'b' }, 'a c d e'],
  '<': [{ value: 'b' }, 'a'],
  '<=': [{ value: 'b' }, 'a b'],
  '>': [{ value: 'b' }, 'c'],
  '>=': [{ value: 'b' }, 'b c'],
  between: [{ value: 'a', other: 'b' }, 'a b'],
  in: [{ value: 'a, cc' }, 'a c'],
  begins_with: [{ value: 'c' }, 'c'],
  contains: [{ value: 'c' }, 'c d'],
  not_contains: [{ value: 'c' }, 'a b e'],
  exists: [{}, 'a b c d'],
  not_exists: [{}, 'e'],
  type: [{ value: 'SS' }, 'd'],
  'size=': [{ value: '2' }, 'c'],
  'size<>': [{ value: '2' }, 'a b d e'],
  'size<': [{ value: '2' }, 'a b'],
  'size<=': [{ value: '2' }, 'a b c'],
  'size>': [{ value: '2' }, 'd'],
  'size>=': [{ value: '2' }, 'c d'],
}

test('console: every operator of a filter finds what it says', async () => {
  await using store = await open({ memory: true })
  await store.call('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  for (const [id, more] of [
    ['a', { size: { S: 'a' } }],
    ['b', { size: { S: 'b' } }],
    ['c', { size: { S: 'cc' } }],
    ['d', { size: { SS: ['x', 'c', 'y'] } }],
    ['e', {}],
  ] as const)
    await store.call('PutItem', { TableName: 'Things', Item: { id: { S: id }, ...more } as never })
  for (const [operator] of OPERATORS) {
    const [more, ids] = EXPECTED[operator]
    // The attribute has a reserved word for a name.
    const { operation, input } = requestFor(ask({ filters: [on('size', { operator, ...more })] }))
    assert.equal(operation, 'Scan')
    const { Items = [] } = await store.call('Scan', input as never)
    const found = Items.map(({ id }) => (id as { readonly S: string }).S).toSorted()
    assert.equal(found.join(' '), ids, operator)
  }
})

test('console: a query has an equality for each part of a key, and what it likes on the last sort attribute', () => {
  const { operation, input } = requestFor(
    ask({
      mode: 'query',
      index: 'by-place',
      hashes: [on('country', { value: 'IT' }), on('city', { value: 'Rome' })],
      ranges: [
        on('year', { type: 'N', value: '1900' }),
        on('name', { operator: 'begins_with', value: 'An' }),
      ],
      filters: [on('city', { operator: 'exists' })],
    }),
  )
  assert.equal(operation, 'Query')
  assert.deepEqual(input, {
    TableName: 'Things',
    IndexName: 'by-place',
    KeyConditionExpression: '#n0 = :v0 AND #n1 = :v1 AND #n2 = :v2 AND begins_with(#n3, :v3)',
    FilterExpression: 'attribute_exists(#n1)',
    ExpressionAttributeNames: { '#n0': 'country', '#n1': 'city', '#n2': 'year', '#n3': 'name' },
    ExpressionAttributeValues: {
      ':v0': { S: 'IT' },
      ':v1': { S: 'Rome' },
      ':v2': { N: '1900' },
      ':v3': { S: 'An' },
    },
  })
})

test('console: what is copied for the toolkit runs as it stands, and answers the same', async () => {
  await using store = await open({ memory: true })
  await store.call('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'at', AttributeType: 'N' },
    ],
    KeySchema: [
      { AttributeName: 'id', KeyType: 'HASH' },
      { AttributeName: 'at', KeyType: 'RANGE' },
    ],
  })
  const long = '12345678901234567890123456789012345678'
  const client = store.client()
  const run = async (operation: string, input: object): Promise<unknown> => {
    const code = (asToolkit(operation, input as never) ?? '').replace(/^import .*\n/, '')
    const body = `return (async () => { ${code}; return answer })()`
    // eslint-disable-next-line typescript/no-implied-eval, typescript/no-unsafe-call -- it is code that a person pastes
    return new Function('transactor', 'NumberValue', 'client', body)(
      transactor,
      NumberValue,
      client,
    ) as unknown
  }
  for (const [at, word] of ['x', "it's", '`${y}`'].entries()) {
    const Item = { id: { S: 'a' }, at: { N: String(at) }, size: { S: word }, n: { N: long } }
    await run('PutItem', { TableName: 'Things', Item })
  }
  const idsOf = async (answer: unknown): Promise<readonly unknown[]> =>
    ((await answer) as readonly { readonly at: unknown }[]).map(({ at }) => at)
  const asked = requestFor(
    ask({
      mode: 'query',
      descending: true,
      hashes: [on('id', { value: 'a' })],
      ranges: [on('at', { type: 'N', operator: '>=', value: '1' })],
      filters: [on('n', { type: 'N', value: long })],
    }),
  )
  assert.deepEqual(await idsOf(run(asked.operation, asked.input)), [2, 1])
  const scan = requestFor(ask({ filters: [on('size', { value: "it's" })] }))
  assert.deepEqual(await idsOf(run(scan.operation, scan.input)), [1])
  assert.equal((await idsOf(run('Scan', { TableName: 'Things' }))).length, 3)
  const statement = {
    Statement: 'SELECT * FROM Things WHERE id = ? AND "at" = ?',
    Parameters: [{ S: 'a' }, { N: '2' }],
  }
  assert.deepEqual(await idsOf(run('ExecuteStatement', statement)), [2])
  assert.equal(asToolkit('CreateTable', {}), undefined)
})
