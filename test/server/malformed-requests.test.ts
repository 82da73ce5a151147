// Requests that are sound HTTP and JSON but make no sense, sent to a real store: each is refused by the right exception
// with status 400, and the store goes on.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { RunningServer } from '../../src/server/http-server.js'
import { open, type Store } from '../../src/store/store.js'
import { seededRandom } from '../suites/seeded-random.js'

const TABLE = 'Things'
const KEY = { p: { S: 'a' }, s: { N: '1' } }
const LOCAL_KEY = { p: { S: 'a' }, l: { S: 'x' }, s: { N: '1' } }

let store: Store
let server: RunningServer

before(async () => {
  store = await open({ memory: true })
  server = await store.listen({ port: 0 })
  await store.call('CreateTable', {
    TableName: TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'p', AttributeType: 'S' },
      { AttributeName: 's', AttributeType: 'N' },
      { AttributeName: 'l', AttributeType: 'S' },
      { AttributeName: 'g', AttributeType: 'B' },
    ],
    KeySchema: [
      { AttributeName: 'p', KeyType: 'HASH' },
      { AttributeName: 's', KeyType: 'RANGE' },
    ],
    LocalSecondaryIndexes: [
      {
        IndexName: 'local',
        KeySchema: [
          { AttributeName: 'p', KeyType: 'HASH' },
          { AttributeName: 'l', KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'global',
        KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'KEYS_ONLY' },
      },
    ],
  })
  await store.call('PutItem', { TableName: TABLE, Item: { ...KEY, l: { S: 'x' }, n: { N: '1' } } })
})

after(() => store.close())

interface Answer {
  readonly status: number
  readonly type: string
  readonly json: Record<string, unknown>
}

async function send(operation: string, body: unknown): Promise<Answer> {
  const response = await fetch(server.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const json = (await response.json()) as Record<string, unknown>
  return { status: response.status, type: String(json['__type']).replace(/^.*#/, ''), json }
}

type Case = readonly [name: string, operation: string, body: unknown, type?: string | undefined]

function refuses(cases: readonly Case[]): void {
  for (const [name, operation, body, type = 'ValidationException'] of cases) {
    test(`malformed: ${operation} with ${name} is a ${type}`, async () => {
      const answer = await send(operation, body)
      assert.equal(answer.status, 400)
      assert.equal(answer.type, type)
      assert.equal((await send('GetItem', { TableName: TABLE, Key: KEY })).status, 200)
    })
  }
}

const SERIALIZATION = 'SerializationException'
/** A value in each place where one can stand, as JSON text. */
const put = (json: string): string =>
  `{"TableName":"${TABLE}","Item":{"p":{"S":"a"},"s":{"N":"2"},"v":${json}}}`
const update = (json: string): string =>
  `{"TableName":"${TABLE}","Key":${JSON.stringify(KEY)},"UpdateExpression":"SET v = :v","ExpressionAttributeValues":{":v":${json}}}`
const transact = (json: string): string => `{"TransactItems":[{"Put":${put(json)}}]}`
const batch = (json: string): string =>
  `{"RequestItems":{"${TABLE}":[{"PutRequest":{"Item":{"p":{"S":"a"},"s":{"N":"2"},"v":${json}}}}]}}`

const values: readonly (readonly [name: string, json: string, type?: string])[] = [
  ['a value of two types', '{"S":"a","N":"1"}'],
  ['a value of no type', '{}'],
  ['a value of an unknown type', '{"X":"a"}'],
  ['null for a value', 'null'],
  ['a list for a value', '[]', SERIALIZATION],
  ['a text for a value', '"a"', SERIALIZATION],
  ['NaN', '{"N":"NaN"}'],
  ['Infinity', '{"N":"-Infinity"}'],
  ['39 digits', `{"N":"${'1'.repeat(39)}"}`],
  ['1e126', '{"N":"1e126"}'],
  ['1e-131', '{"N":"1e-131"}'],
  ['an endless exponent', `{"N":"1e${'9'.repeat(1000)}"}`],
  ['a hexadecimal number', '{"N":"0x10"}'],
  ['a number of blanks', '{"N":"  "}'],
  ['a number between blanks', '{"N":" 1 "}'],
  ['an empty number', '{"N":""}'],
  ['two dots', '{"N":"1.2.3"}'],
  ['a number that is no text', '{"N":1}', SERIALIZATION],
  ['bad base64', '{"B":"!!!!"}', SERIALIZATION],
  ['base64 without its padding', '{"B":"YQ"}', SERIALIZATION],
  ['a lone surrogate', '{"S":"\\ud800"}'],
  ['a lone surrogate in a name', '{"M":{"\\udc00":{"S":"a"}}}'],
  ['a lone surrogate in a set', '{"SS":["\\ud800"]}'],
  ['an empty set', '{"SS":[]}'],
  ['an empty set of numbers', '{"NS":[]}'],
  ['an empty set of binaries', '{"BS":[]}'],
  ['a mixed set', '{"SS":["a",1]}', SERIALIZATION],
  ['a set of numbers and a text', '{"NS":["1","a"]}'],
  ['a set with a null', '{"SS":["a",null]}'],
  ['a set with a duplicate', '{"SS":["a","b","a"]}'],
  ['a number twice in two spellings', '{"NS":["1","1.0"]}'],
  ['a binary twice', '{"BS":["YQ==","YQ=="]}'],
  ['NULL that is false', '{"NULL":false}'],
  ['a list for a map', '{"M":[]}', SERIALIZATION],
  ['a map for a list', '{"L":{}}', SERIALIZATION],
  ['33 levels', '{"L":['.repeat(33) + '{"S":"a"}' + ']}'.repeat(33)],
  ['__proto__ for a type', '{"__proto__":"a"}'],
]

refuses(
  values.flatMap(([name, json, type]): Case[] => [
    [name, 'PutItem', put(json), type],
    [name, 'UpdateItem', update(json), type],
    [name, 'BatchWriteItem', batch(json), type],
    [name, 'TransactWriteItems', transact(json), type],
  ]),
)

const keyed = (key: unknown): object => ({ TableName: TABLE, Key: key })
const keys: readonly (readonly [name: string, key: unknown])[] = [
  ['an empty partition key', { p: { S: '' }, s: { N: '1' } }],
  ['a partition key of 2,049 bytes', { p: { S: 'x'.repeat(2049) }, s: { N: '1' } }],
  ['no sort key', { p: { S: 'a' } }],
  ['a key with something more', { ...KEY, x: { S: 'a' } }],
  ['a sort key of another type', { p: { S: 'a' }, s: { S: '1' } }],
  ['a sort key that is no number', { p: { S: 'a' }, s: { N: 'one' } }],
  ['a set for a key', { p: { SS: ['a'] }, s: { N: '1' } }],
  ['an empty key', {}],
]

refuses(
  keys.flatMap(([name, key]): Case[] => [
    [name, 'GetItem', keyed(key)],
    [name, 'DeleteItem', keyed(key)],
    [name, 'UpdateItem', { ...keyed(key), UpdateExpression: 'SET v = n' }],
    [name, 'BatchGetItem', { RequestItems: { [TABLE]: { Keys: [key] } } }],
  ]),
)

const item = { TableName: TABLE, Key: KEY }
const updating = (UpdateExpression: string, more: object = {}): object => ({
  ...item,
  UpdateExpression,
  ...more,
})
const one = { ExpressionAttributeValues: { ':v': { N: '1' } } }
const query = { TableName: TABLE, KeyConditionExpression: 'p = :p' }
const queryA = { ...query, ExpressionAttributeValues: { ':p': { S: 'a' } } }
/** 400 KB in all, and one byte. */
const oversized = { ...KEY, v: { S: 'x'.repeat(400 * 1024 - 5) } }

refuses([
  ['400 KB and one byte', 'PutItem', { TableName: TABLE, Item: oversized }],
  [
    '400 KB and one byte',
    'BatchWriteItem',
    { RequestItems: { [TABLE]: [{ PutRequest: { Item: oversized } }] } },
  ],
  [
    '400 KB and one byte',
    'UpdateItem',
    updating('SET v = :v', { ExpressionAttributeValues: { ':v': oversized.v } }),
  ],
  [
    'an item without its key',
    'PutItem',
    { TableName: TABLE, Item: JSON.parse('{"__proto__":{"S":"a"}}') as object },
  ],
  ['an index key of another type', 'PutItem', { TableName: TABLE, Item: { ...KEY, g: { S: 'a' } } }],
  ['an empty index key', 'PutItem', { TableName: TABLE, Item: { ...KEY, g: { B: '' } } }],
  ['an undefined name', 'UpdateItem', updating('SET #n = :v', one)],
  ['an undefined value', 'UpdateItem', updating('SET v = :w', one)],
  ['an unused value', 'UpdateItem', updating('REMOVE v', one)],
  [
    'an unused name',
    'UpdateItem',
    updating('SET v = :v', { ...one, ExpressionAttributeNames: { '#n': 'n' } }),
  ],
  [
    'a name without #',
    'UpdateItem',
    updating('SET v = :v', { ...one, ExpressionAttributeNames: { n: 'n' } }),
  ],
  ['names without an expression', 'GetItem', { ...item, ExpressionAttributeNames: { '#n': 'n' } }],
  ['overlapping paths', 'UpdateItem', updating('SET v = :v, v.w = :v', one)],
  ['the same path twice', 'UpdateItem', updating('SET v = :v REMOVE v', one)],
  ['conflicting paths', 'UpdateItem', updating('SET v.w = :v, v[0] = :v', one)],
  ['overlapping paths', 'GetItem', { ...item, ProjectionExpression: 'v, v.w' }],
  ['an update of its key', 'UpdateItem', updating('SET s = :v', one)],
  ['a removal of its key', 'UpdateItem', updating('REMOVE p')],
  ['an older update of its key', 'UpdateItem', { ...item, AttributeUpdates: { p: { Value: { S: 'b' } } } }],
  ['half an expression', 'UpdateItem', updating('SET v =', one)],
  ['an expression over 4 KB', 'UpdateItem', updating(`SET ${'v'.repeat(4096)} = :v`, one)],
  ['10,000 brackets', 'DeleteItem', { ...item, ConditionExpression: '('.repeat(4000) + 'a' }],
  ['a reserved word', 'UpdateItem', updating('SET name = :v', one)],
  ['a lone surrogate in an expression', 'UpdateItem', updating('SET \ud800 = :v', one)],
  ['a start key of no item', 'Query', { ...queryA, ExclusiveStartKey: {} }],
  ['a start key of another partition', 'Query', { ...queryA, ExclusiveStartKey: { ...KEY, p: { S: 'b' } } }],
  ['a start key with something more', 'Query', { ...queryA, ExclusiveStartKey: { ...KEY, x: { S: 'b' } } }],
  ['a start key of another type', 'Scan', { TableName: TABLE, ExclusiveStartKey: { ...KEY, s: { S: '1' } } }],
  ['half a start key', 'Query', { ...queryA, IndexName: 'local', ExclusiveStartKey: KEY }],
  ['the start key of another index', 'Query', { ...queryA, ExclusiveStartKey: LOCAL_KEY }],
  ['an empty start key', 'Scan', { TableName: TABLE, ExclusiveStartKey: { p: { S: '' }, s: { N: '1' } } }],
  [
    'a start key that is no key',
    'Scan',
    { TableName: TABLE, IndexName: 'global', ExclusiveStartKey: { ...KEY, g: { S: 'a' } } },
  ],
  ['Segment = TotalSegments', 'Scan', { TableName: TABLE, Segment: 4, TotalSegments: 4 }],
  ['Segment without TotalSegments', 'Scan', { TableName: TABLE, Segment: 0 }],
  ['TotalSegments without Segment', 'Scan', { TableName: TABLE, TotalSegments: 4 }],
  ['a negative Segment', 'Scan', { TableName: TABLE, Segment: -1, TotalSegments: 4 }],
  ['too many segments', 'Scan', { TableName: TABLE, Segment: 0, TotalSegments: 1_000_001 }],
  ['Limit 0', 'Scan', { TableName: TABLE, Limit: 0 }],
  ['Limit -1', 'Query', { ...queryA, Limit: -1 }],
  ['a Limit that is no number', 'Query', { ...queryA, Limit: 'ten' }, SERIALIZATION],
  ['a Limit of an object', 'Query', { ...queryA, Limit: {} }, SERIALIZATION],
  ['no key condition', 'Query', { TableName: TABLE }],
  ['a key condition on something else', 'Query', { ...queryA, KeyConditionExpression: 'n = :p' }],
  ['an index that is not there', 'Query', { ...queryA, IndexName: 'nothing' }],
  ['an unknown Select', 'Scan', { TableName: TABLE, Select: 'SOME' }],
  ['an unknown ReturnValues', 'PutItem', { TableName: TABLE, Item: KEY, ReturnValues: 'YES' }],
  ['a table name of two characters', 'CreateTable', { TableName: 'ab' }],
  ['a table name of 256 characters', 'DescribeTable', { TableName: 'a'.repeat(256) }],
  ['a table name of 2,000 characters', 'GetItem', { TableName: 'a'.repeat(2000), Key: KEY }],
  ['an empty table name', 'GetItem', { TableName: '', Key: KEY }],
  ['a table name with a blank', 'DeleteTable', { TableName: 'a table' }],
  ['a table name with a slash', 'PutItem', { TableName: '../../etc', Item: KEY }],
  ['a lone surrogate in a table name', 'DescribeTable', { TableName: 'abc\ud800' }],
  ['no table name', 'Scan', {}],
  ['a number for a table name', 'Scan', { TableName: 1 }, SERIALIZATION],
  ['a table that is not there', 'Scan', { TableName: 'nothing' }, 'ResourceNotFoundException'],
  [
    '26 writes',
    'BatchWriteItem',
    {
      RequestItems: {
        [TABLE]: Array.from({ length: 26 }, (_, n) => ({
          DeleteRequest: { Key: { ...KEY, s: { N: `${n}` } } },
        })),
      },
    },
  ],
  [
    '101 keys',
    'BatchGetItem',
    {
      RequestItems: {
        [TABLE]: { Keys: Array.from({ length: 101 }, (_, n) => ({ ...KEY, s: { N: `${n}` } })) },
      },
    },
  ],
  ['no requests', 'BatchWriteItem', { RequestItems: {} }],
  ['no actions', 'TransactWriteItems', { TransactItems: [] }],
  ['an action of no kind', 'TransactWriteItems', { TransactItems: [{}] }],
  ['an action of two kinds', 'TransactWriteItems', { TransactItems: [{ Delete: item, Update: item }] }],
  ['the same item twice', 'TransactWriteItems', { TransactItems: [{ Delete: item }, { Delete: item }] }],
  [
    'a token of 37 characters',
    'TransactWriteItems',
    { TransactItems: [{ Delete: item }], ClientRequestToken: 'x'.repeat(37) },
  ],
])

test('malformed: 400 KB without the byte more are an item', async () => {
  const Item = { ...oversized, v: { S: oversized.v.S.slice(1) } }
  assert.equal((await send('PutItem', { TableName: TABLE, Item })).status, 200)
})

/** With `__proto__` standing where a name, a placeholder or a member can stand. */
const named: readonly (readonly [operation: string, json: string])[] = [
  ['GetItem', `{"__proto__":{"TableName":"${TABLE}"},"Key":{}}`],
  ['DescribeTable', '{"TableName":"__proto__"}'],
  ['GetItem', '{"TableName":"__proto__","Key":{"p":{"S":"a"}}}'],
  ['BatchGetItem', '{"RequestItems":{"__proto__":{"Keys":[{"p":{"S":"a"}}]}}}'],
  ['BatchWriteItem', '{"RequestItems":{"__proto__":[{"DeleteRequest":{"Key":{"p":{"S":"a"}}}}]}}'],
  ['GetItem', `{"TableName":"${TABLE}","Key":{"__proto__":{"S":"a"},"s":{"N":"1"}}}`],
  ['Query', `{"TableName":"${TABLE}","IndexName":"__proto__","KeyConditionExpression":"p = :p"}`],
  ['GetItem', put('{"S":"a"}').replace('"Item"', '"ExpressionAttributeNames":{"__proto__":"p"},"Key"')],
  ['UpdateItem', update('{"S":"a"}').replace('":v":{', '"__proto__":{')],
  [
    'Query',
    `{"TableName":"${TABLE}","KeyConditions":{"__proto__":{"ComparisonOperator":"EQ","AttributeValueList":[{"S":"a"}]}}}`,
  ],
  ['Scan', `{"TableName":"${TABLE}","ExclusiveStartKey":{"__proto__":{"S":"a"}}}`],
  ['Scan', `{"TableName":"${TABLE}","Select":"__proto__"}`],
  ['PutItem', `{"TableName":"${TABLE}","Item":${JSON.stringify(KEY)},"ReturnValues":"constructor"}`],
  ['TransactWriteItems', '{"TransactItems":[{"__proto__":{"TableName":"a"}}]}'],
  ['UpdateTimeToLive', `{"TableName":"${TABLE}","TimeToLiveSpecification":{"__proto__":{"Enabled":true}}}`],
]

for (const [operation, json] of named) {
  test(`malformed: __proto__ as a name is only a name, in ${operation} ${json.slice(0, 70)}`, async () => {
    assert.equal((await send(operation, json)).status, 400)
    assert.equal(({} as Record<string, unknown>)['TableName'], undefined)
  })
}

test('malformed: __proto__ is a name of attributes, tables and tags like any other', async () => {
  const table = JSON.stringify({
    TableName: '__proto__',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: '__proto__', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: '__proto__', KeyType: 'HASH' }],
    Tags: [{ Key: '__proto__', Value: 'a' }],
  })
  assert.equal((await send('CreateTable', table)).status, 200)
  const item = '{"__proto__":{"S":"a"},"m":{"M":{"__proto__":{"S":"b"},"constructor":{"S":"c"}}}}'
  assert.equal((await send('PutItem', `{"TableName":"__proto__","Item":${item}}`)).status, 200)
  const updated = await send(
    'UpdateItem',
    '{"TableName":"__proto__","Key":{"__proto__":{"S":"a"}},"UpdateExpression":"SET m.#p = :v","ConditionExpression":"#p = :a","ExpressionAttributeNames":{"#p":"__proto__"},"ExpressionAttributeValues":{":v":{"N":"1"},":a":{"S":"a"}},"ReturnValues":"UPDATED_NEW"}',
  )
  assert.equal(JSON.stringify(updated.json), '{"Attributes":{"m":{"M":{"__proto__":{"N":"1"}}}}}')
  const older = await send(
    'UpdateItem',
    '{"TableName":"__proto__","Key":{"__proto__":{"S":"a"}},"AttributeUpdates":{"toString":{"Value":{"S":"d"}}},"Expected":{"__proto__":{"Value":{"S":"a"}}}}',
  )
  assert.equal(older.status, 200)
  const got = await send(
    'BatchGetItem',
    '{"RequestItems":{"__proto__":{"Keys":[{"__proto__":{"S":"a"}}],"ProjectionExpression":"#p, m.#p, toString","ExpressionAttributeNames":{"#p":"__proto__"}}}}',
  )
  const { Responses } = got.json as { Responses: object }
  assert.deepEqual(
    Responses,
    JSON.parse(
      '{"__proto__":[{"__proto__":{"S":"a"},"m":{"M":{"__proto__":{"N":"1"}}},"toString":{"S":"d"}}]}',
    ),
  )
  assert.equal((await send('DeleteTable', '{"TableName":"__proto__"}')).status, 200)
})

/** Sound requests of every kind, to be spoiled. */
const sound: readonly (readonly [operation: string, input: object])[] = [
  ['PutItem', { TableName: TABLE, Item: { ...KEY, m: { M: { l: { L: [{ N: '1' }] } } }, t: { SS: ['a'] } } }],
  ['GetItem', { ...item, ProjectionExpression: '#n', ExpressionAttributeNames: { '#n': 'n' } }],
  ['UpdateItem', updating('SET v = :v', { ...one, ConditionExpression: 'p <> :v', ReturnValues: 'ALL_NEW' })],
  ['UpdateItem', { ...item, AttributeUpdates: { v: { Action: 'ADD', Value: { N: '1' } } } }],
  [
    'DeleteItem',
    { ...item, Expected: { v: { ComparisonOperator: 'IN', AttributeValueList: [{ S: 'a' }] } } },
  ],
  ['Query', { ...queryA, Limit: 3, FilterExpression: 'n = :p', ScanIndexForward: false }],
  [
    'Query',
    {
      TableName: TABLE,
      IndexName: 'local',
      KeyConditions: { p: { ComparisonOperator: 'EQ', AttributeValueList: [{ S: 'a' }] } },
      ExclusiveStartKey: LOCAL_KEY,
    },
  ],
  [
    'Scan',
    { TableName: TABLE, Segment: 0, TotalSegments: 2, Select: 'COUNT', ReturnConsumedCapacity: 'TOTAL' },
  ],
  ['BatchGetItem', { RequestItems: { [TABLE]: { Keys: [KEY], ConsistentRead: true } } }],
  ['BatchWriteItem', { RequestItems: { [TABLE]: [{ PutRequest: { Item: KEY } }] } }],
  [
    'TransactWriteItems',
    { TransactItems: [{ Put: { TableName: TABLE, Item: KEY } }], ClientRequestToken: 't' },
  ],
  ['TransactGetItems', { TransactItems: [{ Get: item }] }],
  [
    'UpdateTable',
    {
      TableName: TABLE,
      AttributeDefinitions: [{ AttributeName: 'x', AttributeType: 'S' }],
      GlobalSecondaryIndexUpdates: [{ Update: { IndexName: 'nothing' } }],
    },
  ],
  [
    'CreateTable',
    {
      TableName: TABLE,
      AttributeDefinitions: [{ AttributeName: 'p', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'p', KeyType: 'HASH' }],
      ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 },
    },
  ],
  ['ListTables', { Limit: 5, ExclusiveStartTableName: 'abc' }],
  ['DescribeTable', { TableName: TABLE }],
  [
    'UpdateTimeToLive',
    { TableName: 'nothing', TimeToLiveSpecification: { Enabled: true, AttributeName: 'x' } },
  ],
  ['TagResource', { ResourceArn: 'arn:aws:dynamodb:us-east-1:0:table/x', Tags: [{ Key: 'k', Value: 'v' }] }],
]

const junk: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e300,
  '',
  ' ',
  '#',
  ':v',
  'a.b[0]',
  '\ud800',
  '\u0000',
  'x'.repeat(5000),
  [],
  [[]],
  [null],
  {},
  { S: 'a' },
  { N: 'NaN' },
  { M: { '': { NULL: true } } },
  JSON.parse('{"__proto__":{"S":"a"}}'),
]

test('malformed: whatever is put in the place of any part of a request, no answer is 5xx', async () => {
  const below = seededRandom(7)
  for (let round = 0; round < 3000; round++) {
    const [operation, input] = sound[round % sound.length]!
    const spoiled: unknown = JSON.parse(JSON.stringify(input))
    let at = { '': spoiled } as Record<string, unknown>
    let name = ''
    for (let depth = 1 + below(6); depth > 0; depth--) {
      const inner = at[name]
      if (typeof inner !== 'object' || inner === null || Object.keys(inner).length === 0) break
      const names = Object.keys(inner)
      at = inner as Record<string, unknown>
      name = names[below(names.length)]!
    }
    const replaced = at[name]
    if (below(5) === 0) delete at[name]
    else at[name] = junk[below(junk.length)]
    if (below(8) === 0) at[below(2) === 0 ? 'constructor' : ''] = replaced
    const { status, json } = await send(operation, spoiled)
    assert.ok(status < 500, `${operation} ${JSON.stringify(spoiled)} answered ${JSON.stringify(json)}`)
  }
  assert.equal((await send('ListTables', {})).status, 200)
})
