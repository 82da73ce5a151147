// Items that are taken out of the body of a request as texts, against the same body when all of it is parsed.
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'node:test'
import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { itemBytes } from '../../src/model/value.js'
import { TextPut } from '../../src/model/text-put.js'
import { open } from '../../src/store/store.js'
import { ItemTexts } from '../../src/server/dispatch/item-texts.js'
import { parseBody } from '../../src/server/dispatch/json-body.js'
import { item as items } from '../transfer/items.js'

const texts = new ItemTexts()
const DEPTH_MAX = 1000

/** How many items of the body were not parsed. What the body says must be the same either way. */
function check(operation: string, body: string): number {
  const bytes = Buffer.from(body)
  const whole = parseBody(bytes, DEPTH_MAX)
  const taken = parseBody(bytes, DEPTH_MAX, 'leave', { operation, texts })
  assert.equal(taken.ok, whole.ok, body)
  if (!taken.ok || !whole.ok || !('input' in taken) || !('input' in whole)) {
    assert.deepEqual(taken, whole)
    return 0
  }
  // By its text, too: the order of members is told to clients.
  assert.equal(JSON.stringify(taken.input), JSON.stringify(whole.input), body)
  return textsIn(taken.input)
}

function textsIn(value: unknown): number {
  if (value instanceof TextPut) {
    assert.equal(value.itemBytes, itemBytes(value.item))
    return 1
  }
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce((sum: number, member) => sum + textsIn(member), 0)
}

const put = (Item: unknown): object => ({ TableName: 'T', Item, ConditionExpression: 'a = :Item' })
const bodies: Readonly<Record<string, (given: readonly unknown[]) => object>> = {
  PutItem: ([Item]) => put(Item),
  TransactWriteItems: (given) => ({ TransactItems: given.map((Item) => ({ Put: put(Item) })) }),
  BatchWriteItem: (given) => ({
    RequestItems: {
      T: given.map((Item) => ({ PutRequest: { Item } })),
      7: [],
      U: [{ PutRequest: { Item: given[0] } }],
    },
  }),
}

for (const [operation, bodyOf] of Object.entries(bodies)) {
  test(`items as they came: ${operation} says the same when its items are not parsed`, () => {
    let taken = 0
    fc.assert(
      fc.property(fc.array(items, { minLength: 1, maxLength: 4 }), (given) => {
        taken += check(operation, JSON.stringify(bodyOf(given)))
        check(operation, JSON.stringify(bodyOf(given), undefined, 1))
      }),
      { numRuns: 300, seed: 49 },
    )
    assert.ok(taken > 50, String(taken))
  })

  test(`items as they came: a body of ${operation} that was changed somewhere says what it says, or is refused as ever`, () => {
    const text = JSON.stringify(
      bodyOf([{ id: { S: 'a' }, Item: { M: { Item: { N: '1' } } } }, { id: { S: 'b' } }]),
    )
    for (let at = 0; at < text.length; at++)
      for (const other of [
        '',
        ' ',
        '"',
        '\\',
        '{',
        '}',
        ',',
        ':',
        '0',
        'Item',
        '[',
        ']',
        '\u0000',
        '{"Item":0},',
      ])
        for (const cut of [0, 1]) check(operation, text.slice(0, at) + other + text.slice(at + cut))
  })
}

test('items as they came: numbers in the place of items, and names that are there twice, are not taken for them', () => {
  const plain = '{"id":{"S":"a"}}'
  for (const body of [
    `{"Item":0}`,
    `{"Item":${plain},"Item":0}`,
    `{"Item":0,"Item":${plain}}`,
    `{"Item":${plain},"Item" : 0}`,
    `{"Item":${plain},"Item":null}`,
    `{"Item":${plain},"Item":${plain}}`,
    `{"Item":${plain},"It\\u0065m":{"id":{"S":"b"}}}`,
  ])
    check('PutItem', body)
  const transact = (...elements: readonly string[]): string =>
    `{"TransactItems":[${elements.map((element) => `{"Put":{"Item":${element}}}`).join()}]}`
  for (const elements of [
    [plain, '0'],
    ['0', plain],
    [plain, '1'],
    ['1', plain],
  ])
    check('TransactWriteItems', transact(...elements))
  check('TransactWriteItems', `{"TransactItems":{"0":{"Put":{"Item":${plain}}}}}`)
  check('TransactWriteItems', `{"TransactItems":[{"Update":{"Item":${plain}}},{"Put":{"Item":0}}]}`)
  check(
    'BatchWriteItem',
    `{"RequestItems":{"9":[{"PutRequest":{"Item":${plain}}}],"1":[{"PutRequest":{"Item":{"id":{"S":"b"}}}}]}}`,
  )
})

test('items as they came: what is written over HTTP is what the same request writes in the process', async (t) => {
  const store = await open({ memory: true })
  t.after(() => store.close())
  const server = await store.listen({ port: 0 })
  for (const TableName of ['over-http', 'in-process']) {
    await store.call('CreateTable', {
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      AttributeDefinitions: [
        { AttributeName: 'id', AttributeType: 'S' },
        { AttributeName: 'group', AttributeType: 'S' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'groups',
          KeySchema: [{ AttributeName: 'group', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    })
  }
  const send = async (operation: string, body: string): Promise<string> => {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDB_20120810.${operation}`,
      },
      body,
    })
    return response.text()
  }
  const given = [
    { id: { S: 'a' }, group: { S: 'g' }, data: { S: 'x'.repeat(100) } },
    { id: { S: 'b' }, group: { S: '' } },
    { id: { S: 'c' }, group: { N: '1' } },
    { id: { N: '1' } },
    { group: { S: 'g' } },
    { id: { S: '' } },
    { id: { S: 'd' }, n: { N: '1.50' }, group: { S: 'g' } },
    { id: { S: 'e' }, group: { S: 'größe' }, m: { M: { deep: { L: [{ BOOL: true }, { NULL: true }] } } } },
  ]
  const outcome = (call: Promise<unknown>): Promise<string> =>
    call.then(
      (answer) => JSON.stringify(answer),
      ({ name, message }: Error) => `${name}: ${message}`,
    )
  for (const Item of given) {
    for (const further of [
      { ReturnValues: 'ALL_OLD' },
      { ReturnConsumedCapacity: 'INDEXES' },
      { ConditionExpression: 'attribute_not_exists(id)', ReturnValuesOnConditionCheckFailure: 'ALL_OLD' },
    ] as const) {
      const input = { Item: Item as Record<string, AttributeValue>, ...further }
      const over = JSON.parse(
        await send('PutItem', JSON.stringify({ TableName: 'over-http', ...input })),
      ) as Record<string, unknown>
      const within = await outcome(store.call('PutItem', { TableName: 'in-process', ...input }))
      const { message = '' } = over as { readonly message?: string }
      if (message === '') assert.equal(JSON.stringify(over).replaceAll('over-http', 'in-process'), within)
      else assert.ok(within.endsWith(message), `${within} / ${message}`)
    }
  }
  for (const operation of ['Scan', 'Query'] as const) {
    const read = async (TableName: string): Promise<unknown> => {
      const input =
        operation === 'Scan'
          ? { TableName }
          : {
              TableName,
              IndexName: 'groups',
              KeyConditionExpression: '#g = :g',
              ExpressionAttributeNames: { '#g': 'group' },
              ExpressionAttributeValues: { ':g': { S: 'g' } },
            }
      return ((await store.call(operation, input)) as { readonly Items: unknown }).Items
    }
    assert.deepEqual(await read('over-http'), await read('in-process'))
  }
  // One request, sent again in other words: its token recognises it.
  const element = { Put: { TableName: 'over-http', Item: { id: { S: 'f' }, data: { S: 'once' } } } }
  const again = { TransactItems: [element], ClientRequestToken: 'token' }
  assert.equal(await send('TransactWriteItems', JSON.stringify(again)), '{}')
  assert.equal(await send('TransactWriteItems', JSON.stringify(again, undefined, 1)), '{}')
  const other = { ...again, TransactItems: [{ Put: { ...element.Put, Item: { id: { S: 'f' } } } }] }
  assert.match(await send('TransactWriteItems', JSON.stringify(other)), /IdempotentParameterMismatch/)
})
