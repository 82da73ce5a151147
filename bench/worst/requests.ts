// The dearest requests that the limits let through, operation by operation, and the dearest to refuse. Each is what a
// client might send to keep the server's only thread from others.
import { randomUUID } from 'node:crypto'
import { limits } from '../../src/model/limits.js'

export interface WorstRequest {
  readonly name: string
  readonly target: string
  /** What is expected of it; a valid one is answered with 200, or loses a conflict. */
  readonly kind: 'valid' | 'refused'
  /** So many of them are sent at once before, and stay open. */
  readonly waiting?: { readonly count: number; readonly target: string; readonly body: string }
  /** Sent before it, one after the other; each gets the answers so far, and `body` all of them. */
  readonly before?: readonly (readonly [target: string, body: (answers: readonly string[]) => string])[]
  body(answers: readonly string[]): string
}

export const TABLE = 'Worst'
export const INDEXED = 'Worst-indexed'
export const DYNAMO = 'DynamoDB_20120810.'
export const OWN = 'Seriatim_20261101.'

/** JSON as text, without making its objects here. */
export const times = (count: number, piece: (at: number) => string, between = ','): string => {
  const pieces: string[] = []
  for (let at = 0; at < count; at++) pieces.push(piece(at))
  return pieces.join(between)
}

export const BODY_BYTES = limits.requestBytesMax - 1024
const key = (id: string, n = 0): string => `"id":{"S":"${id}"},"n":{"N":"${n}"}`
const item = (id: string, attributes: string, n = 0): string => `{${key(id, n)},${attributes}}`
const put = (id: string, attributes: string): string =>
  `{"TableName":"${TABLE}","Item":${item(id, attributes)}}`

// Attributes that take nearly all of an item's 400 KB.
const ITEM_BYTES = limits.itemBytesMax - 1024
export const longText = (character = 'x'): string => `"a":{"S":"${character.repeat(ITEM_BYTES)}"}`
export const nulls = (): string => `"a":{"L":[${times(Math.floor(ITEM_BYTES / 2), () => '{"NULL":true}')}]}`
const maps = (): string => `"a":{"L":[${times(Math.floor(ITEM_BYTES / 4), () => '{"M":{}}')}]}`
const strings = (from = 0): string =>
  `"a":{"SS":[${times(Math.floor(ITEM_BYTES / 6), (at) => `"${100000 + from + at}"`)}]}`
const numbers = (from = 0): string =>
  `"a":{"NS":[${times(Math.floor(ITEM_BYTES / 5), (at) => `"${100000 + from + at}"`)}]}`
const digits = (): string =>
  `"a":{"NS":[${times(Math.floor(ITEM_BYTES / 21), (at) => `"${'9'.repeat(32)}${100000 + at}"`)}]}`
const attributes = (bytes = ITEM_BYTES): string =>
  times(Math.floor(bytes / 7), (at) => `"k${10000 + at}":{"NULL":true}`)
const deep = (): string =>
  `"a":{"L":[${times(Math.floor(ITEM_BYTES / 110), () => '{"M":{"b":'.repeat(15) + '{"L":[]}' + '}}'.repeat(15))}]}`
const escaped = (): string => `"a":{"S":"${'\\u0001'.repeat(ITEM_BYTES)}"}`

/** 300 operators, or nearly so, in 4 KB. */
export const anyOf = (term: (at: number) => string, count = 149): string => times(count, term, ' OR ')
const IN_LIST = `c IN (${times(100, (at) => `:v${at % 10}`)})`
const VALUES = times(10, (at) => `":v${at}":{"N":"-${at + 1}"}`)

/** The names of expressions, so that a table can show them. */
const FILTERS: Readonly<Record<string, readonly [expression: string, values: string]>> = {
  'contains in texts': [anyOf(() => 'contains(a,:x)'), '":x":{"S":"xxxxxxxxxxxxxxxxy"}'],
  'contains in maps': [anyOf(() => 'contains(a,:x)'), '":x":{"M":{"a":{"NULL":true}}}'],
  'equal sets': [anyOf(() => 'a=:x'), `":x":{"SS":[${times(60_000, (at) => `"${100000 + 59_999 - at}"`)}]}`],
  'equal lists': [anyOf(() => 'a=:x'), `":x":{"L":[${times(20_000, () => '{"NULL":true}')}]}`],
  'size of everything': [anyOf(() => 'size(a)<:x', 100), '":x":{"N":"-1"}'],
  'deep paths': [anyOf((at) => `a[${at}].b.b.b.b=:x`, 100), '":x":{"N":"1"}'],
  'IN with 100': [anyOf(() => IN_LIST, 8), VALUES],
  comparisons: [anyOf(() => 'c<:x'), '":x":{"N":"-1"}'],
  'long numbers': [anyOf(() => 'c<:x'), `":x":{"N":"-${'9'.repeat(38)}"}`],
}

const scans = Object.entries(FILTERS).flatMap(([name, [expression, values]]) =>
  ['small', 'large', 'maps', 'strings'].map((size): WorstRequest => ({
    name: `Query of items: ${size}, filter: ${name}`,
    target: `${DYNAMO}Query`,
    kind: 'valid',
    body: () =>
      `{"TableName":"${TABLE}","KeyConditionExpression":"id=:id","FilterExpression":"${expression}",` +
      `"ExpressionAttributeValues":{":id":{"S":"${size}"},${values}}}`,
  })),
)

const updates = (
  [
    [
      'ADD to a set of strings',
      'ADD a :x',
      () => `":x":{"SS":[${times(10_000, (at) => `"${100000 + 6 * at}"`)}]}`,
      'strings',
    ],
    [
      'ADD what is there',
      'ADD a :x',
      () => `":x":{"SS":[${times(60_000, (at) => `"${100000 + at}"`)}]}`,
      'strings',
    ],
    [
      'DELETE from a set of strings',
      'DELETE a :x',
      () => `":x":{"SS":[${times(60_000, (at) => `"${100000 + at}"`)}]}`,
      'strings',
    ],
    [
      'DELETE from a set of numbers',
      'DELETE a :x',
      () => `":x":{"NS":[${times(60_000, (at) => `"${100000 + at}"`)}]}`,
      'numbers',
    ],
    ['REMOVE 400 elements of a list', `REMOVE ${times(400, (at) => `a[${at}]`)}`, () => undefined, 'nulls'],
    ['list_append', 'SET b=list_append(a,:x)', () => `":x":{"L":[]}`, 'half'],
    ['SET 250 paths', `SET ${times(250, (at) => `a[${at}]=:x`)}`, () => `":x":{"NULL":true}`, 'nulls'],
  ] as const
).map(([name, expression, values, id]): WorstRequest => ({
  name: `UpdateItem: ${name}`,
  target: `${DYNAMO}UpdateItem`,
  kind: 'valid',
  body: () => {
    const given = values()
    return (
      `{"TableName":"${TABLE}","Key":{${key(id)}},"UpdateExpression":"${expression}","ReturnValues":"ALL_NEW"` +
      (given === undefined ? '}' : `,"ExpressionAttributeValues":{${given}}}`)
    )
  },
}))

const puts = (
  [
    ['a long text', longText],
    ['an escaped text', escaped],
    ['a list of nulls', nulls],
    ['a list of maps', maps],
    ['a set of strings', strings],
    ['a set of numbers', numbers],
    ['a set of long numbers', digits],
    ['many attributes', attributes],
    ['deep lists', deep],
  ] as const
).map(([name, made]): WorstRequest => ({
  name: `PutItem: ${name}`,
  target: `${DYNAMO}PutItem`,
  kind: 'valid',
  body: () => put('put', made()),
}))

/** As many puts as fit into a body, of an item with that attribute. */
function batchBody(attribute: string): string {
  const pieces: string[] = []
  let bytes = 0
  for (let at = 0; at < limits.batchWriteItemsMax; at++) {
    const piece = `{"PutRequest":{"Item":${item(`batch ${at}`, attribute)}}}`
    if ((bytes += piece.length + 1) > BODY_BYTES) break
    pieces.push(piece)
  }
  return `{"RequestItems":{"${TABLE}":[${pieces.join(',')}]}}`
}

const batches = (
  [
    ['long texts', longText],
    ['lists of nulls', nulls],
    ['sets of strings', strings],
    ['many attributes', attributes],
  ] as const
).map(([name, made]): WorstRequest => ({
  name: `BatchWriteItem: ${name}`,
  target: `${DYNAMO}BatchWriteItem`,
  kind: 'valid',
  body: () => batchBody(made()),
}))

const CONDITION = anyOf((at) => `attribute_not_exists(a${at})`, 120)

function nullsBody(): string {
  const list = `"a":{"L":[${times(20_000, () => '{"NULL":true}')}]}`
  // 4 MB of items are 16 MB of text only where values are small: as many as fit.
  const one = (at: number): string => `{"Put":{"TableName":"${TABLE}","Item":${item(`tx ${at}`, list)}}}`
  return `{"TransactItems":[${times(Math.floor(BODY_BYTES / (one(99).length + 1)) - 1, one)}]}`
}

// A unit has a snapshot; an item of 400 KB changes; the unit commits with predicates that the change might matter to.
const predicatesBefore: WorstRequest['before'] = [
  [`${DYNAMO}PutItem`, () => put('predicates', nulls())],
  [
    `${OWN}UnitGetItems`,
    () =>
      `{"Unit":{"Id":"worst","Isolation":"serializable"},"Gets":[{"TableName":"${TABLE}","Key":{${key('absent')}}}]}`,
  ],
  [`${DYNAMO}PutItem`, () => put('predicates', nulls())],
]

function predicatesBody([, opened = '']: readonly string[], count: number): string {
  const { ReadTimestamp } = JSON.parse(opened) as { readonly ReadTimestamp: unknown }
  const predicate = `{"TableName":"${TABLE}","FilterExpression":"absent=:x","ExpressionAttributeValues":{":x":{"N":"1"}}}`
  return (
    `{"Unit":{"Id":"worst","Isolation":"serializable","ReadTimestamp":${JSON.stringify(ReadTimestamp)}},` +
    `"Predicates":[${times(count, () => predicate)}],` +
    `"TransactItems":[{"Put":{"TableName":"${TABLE}","Item":${item('predicated', '"b":{"S":"b"}')}}}]}`
  )
}

const others: readonly WorstRequest[] = [
  {
    name: 'TransactWriteItems: 100 of 40 KB, lists of nulls',
    target: `${DYNAMO}TransactWriteItems`,
    kind: 'valid',
    body: nullsBody,
  },
  {
    name: 'TransactWriteItems: 100 conditions of 4 KB',
    target: `${DYNAMO}TransactWriteItems`,
    kind: 'valid',
    body: () =>
      `{"TransactItems":[${times(100, (at) => `{"Put":{"TableName":"${TABLE}","Item":${item(`c ${at}`, '"b":{"S":"b"}')},"ConditionExpression":"${CONDITION}"}}`)}]}`,
  },
  {
    name: 'BatchGetItem: 100 of 400 KB, projected',
    target: `${DYNAMO}BatchGetItem`,
    kind: 'valid',
    body: () =>
      `{"RequestItems":{"${TABLE}":{"Keys":[${times(100, (at) => `{${key('large', at)}}`)}],"ProjectionExpression":"${times(250, (at) => `a${at}[1].b`)}"}}}`,
  },
  {
    name: 'BatchGetItem: 100 of 400 KB',
    target: `${DYNAMO}BatchGetItem`,
    kind: 'valid',
    body: () => `{"RequestItems":{"${TABLE}":{"Keys":[${times(100, (at) => `{${key('large', at)}}`)}]}}}`,
  },
  {
    name: 'GetItem: projection of 250 paths',
    target: `${DYNAMO}GetItem`,
    kind: 'valid',
    body: () =>
      `{"TableName":"${TABLE}","Key":{${key('nulls')}},"ProjectionExpression":"${times(250, (at) => `a[${at * 700}]`)}"}`,
  },
  {
    name: 'Query of small items',
    target: `${DYNAMO}Query`,
    kind: 'valid',
    body: () =>
      `{"TableName":"${TABLE}","KeyConditionExpression":"id=:id","ExpressionAttributeValues":{":id":{"S":"small"}}}`,
  },
  {
    name: 'Scan counting small items in a segment',
    target: `${DYNAMO}Scan`,
    kind: 'valid',
    body: () => `{"TableName":"${TABLE}","Select":"COUNT","Segment":0,"TotalSegments":2}`,
  },
  {
    name: 'PutItem with 20 global indexes, many attributes',
    target: `${DYNAMO}PutItem`,
    kind: 'valid',
    body: () =>
      `{"TableName":"${INDEXED}","Item":{"id":{"S":"x"},${times(20, (at) => `"g${at}":{"S":"${'g'.repeat(1000)}"}`)},${attributes(ITEM_BYTES - 24 * 1024)}}}`,
  },
  {
    name: 'UnitCommit: 10,000 reads and 10,000 puts',
    target: `${OWN}UnitCommit`,
    kind: 'valid',
    body: () =>
      `{"Unit":{"Id":"worst","Isolation":"serializable"},"Reads":[${times(10_000, (at) => `{"TableName":"${TABLE}","Key":{${key('absent', at)}}}`)}],` +
      `"TransactItems":[${times(10_000, (at) => `{"Put":{"TableName":"${TABLE}","Item":${item('unit', '"b":{"S":"b"}', at)}}}`)}]}`,
  },
  {
    name: 'UnitCommit: 3,500 conditions of 4 KB',
    target: `${OWN}UnitCommit`,
    kind: 'valid',
    body: () =>
      `{"Unit":{"Id":"worst","Isolation":"serializable"},"TransactItems":[${times(3_500, (at) => `{"Put":{"TableName":"${TABLE}","Item":${item('cond', '"b":{"S":"b"}', at)},"ConditionExpression":"${CONDITION}"}}`)}]}`,
  },
  {
    name: 'UnitCommit: 100 predicates, and an item of 400 KB that has changed',
    target: `${OWN}UnitCommit`,
    kind: 'valid',
    before: predicatesBefore,
    body: (answers) => predicatesBody(answers, 100),
  },
  {
    name: 'UnitCommit: 1,000 predicates, and an item of 400 KB that has changed',
    target: `${OWN}UnitCommit`,
    kind: 'valid',
    before: predicatesBefore,
    body: (answers) => predicatesBody(answers, 1_000),
  },
  {
    name: 'TransactWriteItems: lists of nulls, with a token',
    target: `${DYNAMO}TransactWriteItems`,
    kind: 'valid',
    body: () => `{"ClientRequestToken":"${randomUUID()}",${nullsBody().slice(1)}`,
  },
  {
    name: 'TransactWriteItems: conditions on 10 items of 400 KB of nulls',
    target: `${DYNAMO}TransactWriteItems`,
    kind: 'valid',
    body: () =>
      `{"TransactItems":[${times(LARGE_NULLS, (at) => `{"ConditionCheck":{"TableName":"${TABLE}","Key":{${key('large', at)}},"ConditionExpression":"attribute_exists(a)"}}`)}]}`,
  },
  {
    name: 'TransactWriteItems: updates of 10 items of 400 KB of nulls',
    target: `${DYNAMO}TransactWriteItems`,
    kind: 'valid',
    body: () =>
      `{"TransactItems":[${times(LARGE_NULLS, (at) => `{"Update":{"TableName":"${TABLE}","Key":{${key('large', at)}},"UpdateExpression":"ADD c :x","ExpressionAttributeValues":{":x":{"N":"1"}}}}`)}]}`,
  },
  {
    name: 'DeleteItem: 10 long texts sought in 400 KB',
    target: `${DYNAMO}DeleteItem`,
    kind: 'refused',
    body: () =>
      `{"TableName":"${TABLE}","Key":{${key('watched')}},"ConditionExpression":"${anyOf(() => 'contains(a,:x)', limits.longSearchesMax)}","ExpressionAttributeValues":{":x":{"S":"xy${'x'.repeat(20_000)}"}}}`,
  },
  {
    name: 'UpdateItem of 390 KB with 500 waiting for it',
    target: `${DYNAMO}UpdateItem`,
    kind: 'valid',
    waiting: {
      count: 500,
      target: `${OWN}WaitForItem`,
      body: `{"TableName":"${TABLE}","Key":{${key('watched')}},"ConditionExpression":"attribute_exists(never)"}`,
    },
    body: () =>
      `{"TableName":"${TABLE}","Key":{${key('watched')}},"UpdateExpression":"ADD c :x","ExpressionAttributeValues":{":x":{"N":"1"}}}`,
  },
]

export const refused = (name: string, target: string, body: () => string): WorstRequest => ({
  name,
  target,
  kind: 'refused',
  body,
})

export const fill = (piece: string): string => times(Math.floor(BODY_BYTES / (piece.length + 1)), () => piece)

const refusals: readonly WorstRequest[] = [
  refused('a body of [[],[],...]', `${DYNAMO}PutItem`, () => `[${fill('[]')}]`),
  refused('an unknown member of {}', `${DYNAMO}PutItem`, () => `{"x":[${fill('{}')}]}`),
  refused(
    'a number in place of a table name, then lists',
    `${DYNAMO}PutItem`,
    () => `{"TableName":1,"x":[${fill('[]')}]}`,
  ),
  refused('ListTables of 16 MB', `${DYNAMO}ListTables`, () => `{"Limit":0,"x":[${fill('0')}]}`),
  refused('a body of numbers', `${DYNAMO}BatchWriteItem`, () => `{"RequestItems":[${fill('0')}]}`),
  refused(
    'a body of empty texts',
    `${DYNAMO}BatchWriteItem`,
    () => `{"RequestItems":{"${TABLE}":[${fill('""')}]}}`,
  ),
  refused(
    'a batch of a million nothings',
    `${DYNAMO}BatchWriteItem`,
    () => `{"RequestItems":{"${TABLE}":[${fill('{}')}]}}`,
  ),
  refused(
    'many tables',
    `${DYNAMO}BatchGetItem`,
    () => `{"RequestItems":{${times(700_000, (at) => `"${at}":{"Keys":[]}`)}}}`,
  ),
  refused(
    'many names',
    `${DYNAMO}GetItem`,
    () =>
      `{"TableName":"${TABLE}","Key":{${key('a')}},"ProjectionExpression":"#a","ExpressionAttributeNames":{${times(900_000, (at) => `"#${at}":"a"`)}}}`,
  ),
  refused(
    'many values',
    `${DYNAMO}UpdateItem`,
    () =>
      `{"TableName":"${TABLE}","Key":{${key('a')}},"UpdateExpression":"SET a=:a","ExpressionAttributeValues":{${times(900_000, (at) => `":${at}":{"N":"1"}`)}}}`,
  ),
  refused('an item of 16 MB of nulls', `${DYNAMO}PutItem`, () =>
    put('a', `"a":{"L":[${fill('{"NULL":true}')}]}`),
  ),
  refused('an item with a million attributes', `${DYNAMO}PutItem`, () =>
    put(
      'a',
      times(900_000, (at) => `"k${at}":{"N":"1"}`),
    ),
  ),
  refused('a set with duplicates', `${DYNAMO}PutItem`, () => put('a', `"a":{"SS":[${fill('"aa"')}]}`)),
  refused('a set of long numbers, one of them wrong', `${DYNAMO}PutItem`, () =>
    put('a', `"a":{"NS":[${times(300_000, (at) => `"${at}${'1'.repeat(30)}"`)},"x"]}`),
  ),
  refused('a text of 16 MB', `${DYNAMO}PutItem`, () =>
    put('a', `"a":{"S":"${'x'.repeat(BODY_BYTES - 1024)}"}`),
  ),
  refused('a text of 16 MB of escapes', `${DYNAMO}PutItem`, () =>
    put('a', `"a":{"S":"${'\\u0001'.repeat(Math.floor(BODY_BYTES / 6) - 200)}"}`),
  ),
  refused('16 MB of spaces', `${DYNAMO}PutItem`, () => ' '.repeat(BODY_BYTES)),
  refused('16 MB of opening brackets', `${DYNAMO}PutItem`, () => '['.repeat(BODY_BYTES)),
  refused('an unclosed text', `${DYNAMO}PutItem`, () => `{"TableName":"${'x'.repeat(BODY_BYTES - 1024)}`),
  refused('a long number', `${DYNAMO}PutItem`, () =>
    put('a', `"a":{"N":"${'1'.repeat(BODY_BYTES - 1024)}"}`),
  ),
  refused('zeros before a number', `${DYNAMO}PutItem`, () =>
    put('a', `"a":{"N":"${'0'.repeat(BODY_BYTES - 1024)}x"}`),
  ),
  refused('a long blob that is none', `${DYNAMO}PutItem`, () =>
    put('a', `"a":{"B":"${'A'.repeat(BODY_BYTES - 1023)}"}`),
  ),
  refused(
    'a long expression',
    `${DYNAMO}DeleteItem`,
    () =>
      `{"TableName":"${TABLE}","Key":{${key('a')}},"ConditionExpression":"${'('.repeat(BODY_BYTES - 1024)}"}`,
  ),
  refused(
    'an expression of 4 KB of brackets',
    `${DYNAMO}DeleteItem`,
    () => `{"TableName":"${TABLE}","Key":{${key('a')}},"ConditionExpression":"${'('.repeat(4096)}"}`,
  ),
  refused(
    'a condition that fails on an item of 400 KB',
    `${DYNAMO}DeleteItem`,
    () =>
      `{"TableName":"${TABLE}","Key":{${key('nulls')}},"ConditionExpression":"attribute_not_exists(id)","ReturnValuesOnConditionCheckFailure":"ALL_OLD"}`,
  ),
  refused(
    'older parameters with a million entries',
    `${DYNAMO}DeleteItem`,
    () =>
      `{"TableName":"${TABLE}","Key":{${key('a')}},"Expected":{${times(500_000, (at) => `"${at}":{"Exists":false}`)}}}`,
  ),
  refused(
    'a table with a million attributes',
    `${DYNAMO}CreateTable`,
    () =>
      `{"TableName":"New-table","KeySchema":[],"AttributeDefinitions":[${fill('{"AttributeName":"a","AttributeType":"S"}')}]}`,
  ),
  refused(
    'a unit with a million reads',
    `${OWN}UnitCommit`,
    () => `{"Unit":{"Id":"a","Isolation":"serializable"},"TransactItems":[],"Reads":[${fill('{}')}]}`,
  ),
  refused(
    'a million snapshots given back',
    `${OWN}UnitEnd`,
    () => `{"Unit":{"Id":"a","Isolation":"serializable"},"Released":[${fill('1')}]}`,
  ),
]

export const WORST_REQUESTS: readonly WorstRequest[] = [
  ...refusals,
  ...puts,
  ...updates,
  ...scans,
  ...batches,
  ...others,
]

/** What they are asked of: [operation, body] in order. */
export function* worstTables(): Generator<readonly [operation: string, body: string]> {
  const on = '"BillingMode":"PAY_PER_REQUEST"'
  yield [
    'CreateTable',
    `{"TableName":"${TABLE}",${on},"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},{"AttributeName":"n","AttributeType":"N"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"},{"AttributeName":"n","KeyType":"RANGE"}]}`,
  ]
  yield [
    'CreateTable',
    `{"TableName":"${INDEXED}",${on},"AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"},${times(20, (at) => `{"AttributeName":"g${at}","AttributeType":"S"}`)}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],` +
      `"GlobalSecondaryIndexes":[${times(20, (at) => `{"IndexName":"by-g${at}","KeySchema":[{"AttributeName":"g${at}","KeyType":"HASH"}],"Projection":{"ProjectionType":"ALL"}}`)}]}`,
  ]
  for (const [id, made] of [
    ['strings', strings],
    ['numbers', numbers],
    ['nulls', nulls],
    ['maps', maps],
    ['watched', () => longText()],
    ['half', () => `"a":{"L":[${times(90_000, () => '{"NULL":true}')}]}`],
  ] as const)
    yield ['PutItem', put(id, made())]
  for (let n = 0; n < LARGE_NULLS; n++)
    yield ['PutItem', `{"TableName":"${TABLE}","Item":${item('large', nulls(), n)}}`]
  for (let n = LARGE_NULLS; n < 100; n++)
    yield ['PutItem', `{"TableName":"${TABLE}","Item":${item('large', longText(), n)}}`]
  for (let n = 0; n < SMALL_ITEMS; n += 25)
    yield [
      'BatchWriteItem',
      `{"RequestItems":{"${TABLE}":[${times(25, (at) => `{"PutRequest":{"Item":{${key('small', n + at)}}}}`)}]}}`,
    ]
}

const LARGE_NULLS = 10
/** Of which a page holds as many as there are, if they are small enough. */
const SMALL_ITEMS = 40_000
