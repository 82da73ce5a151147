import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  conditionAttributes,
  refuseKeyFilter,
  refuseKeyUpdate,
  refuseNestedKeys,
  updateOperands,
} from '../../src/expression/expression.js'
import type { KeySchema } from '../../src/model/table.js'
import { messageOf, requestFor } from './request.js'

const composite: KeySchema = { partition: { name: 'pk', type: 'S' }, sort: { name: 'sk', type: 'S' } }
const simple: KeySchema = { partition: { name: 'pk', type: 'S' } }
const partition = { S: 'a' }

describe('key conditions', () => {
  for (const [text, sort] of [
    ['pk = :a', undefined],
    [':a = #pk', undefined],
    ['(pk = :a)', undefined],
    ['pk = :a AND sk = :b', { op: '=', values: [{ S: 'b' }] }],
    ['(sk >= :b) and (pk = :a)', { op: '>=', values: [{ S: 'b' }] }],
    ['pk = :a AND :b < sk', { op: '>', values: [{ S: 'b' }] }],
    ['(pk = :a AND (sk BETWEEN :a AND :b))', { op: 'BETWEEN', values: [{ S: 'a' }, { S: 'b' }] }],
    ['begins_with(sk, :b) AND pk = :a', { op: 'begins_with', values: [{ S: 'b' }] }],
  ] as const) {
    test(`${text} is understood`, () => {
      const request = requestFor(text)
      const expected = sort === undefined ? { partition } : { partition, sort }
      assert.deepEqual(request.keyCondition(text, composite), expected)
      request.finish()
    })
  }

  const invalid = 'Invalid KeyConditionExpression: Invalid condition in KeyConditionExpression: '
  const operator = 'Invalid KeyConditionExpression: Invalid operator used in KeyConditionExpression: '
  const tooMany = (given: number, defined: number): string =>
    `The number of query conditions (${given}) exceeds the number of key attributes defined in the schema (${defined})`
  const mismatch =
    'One or more parameter values were invalid: Condition parameter type does not match schema type'
  const once =
    'Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key'
  const nested =
    'Invalid KeyConditionExpression: KeyConditionExpressions cannot have conditions on nested attributes'
  for (const [text, message] of [
    ['', 'Invalid KeyConditionExpression: The expression can not be empty;'],
    ['((pk = :a))', 'Invalid KeyConditionExpression: The expression has redundant parentheses;'],
    [
      'pk = :a and begins_with(sk, :one)',
      'Invalid KeyConditionExpression: Incorrect operand type for operator or function; ' +
        'operator or function: begins_with, operand type: N',
    ],
    ['sk = :a', 'Query condition missed key schema element: pk'],
    ['foo = :a', 'Query condition missed key schema element: pk'],
    ['pk = :a and foo = :a', 'Query condition missed key schema element: sk'],
    ['pk = :a and sk = :a and foo = :a', tooMany(3, 2)],
    ['pk > :a', 'Query key condition not supported'],
    ['begins_with(pk, :a)', 'Query key condition not supported'],
    ['pk = :a or sk = :a', `${operator}OR`],
    ['not pk = :a', `${operator}NOT`],
    ['pk = :a and sk <> :a', `${operator}<>`],
    ['pk in (:a)', `${operator}IN`],
    ['attribute_exists(pk)', `${operator}attribute_exists`],
    ['pk = :a and pk = :b', once],
    ['pk = :a and sk > :a and sk < :b', once],
    ['pk = sk', `${invalid}Multiple attribute names used in one condition`],
    [':a = :b', `${invalid}No key attribute specified`],
    [
      'pk = :a and :a between sk and :b',
      `${invalid}BETWEEN operator must have the key attribute as its first operand`,
    ],
    [
      'pk = :a and begins_with(:a, sk)',
      `${invalid}begins_with operator must have the key attribute as its first operand`,
    ],
    [
      'size(pk) = :one',
      'Invalid KeyConditionExpression: KeyConditionExpressions cannot contain nested operations',
    ],
    ['pk.x = :a', nested],
    ['foo.x = :a', nested],
    ['pk = :one', mismatch],
    ['pk = :a and sk between :one and :two', mismatch],
    [
      'pk = :a and sk > :empty',
      'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an ' +
        'empty string value. Key: sk',
    ],
  ] as const) {
    test(`${JSON.stringify(text)}: ${message}`, () => {
      assert.equal(
        messageOf(() => requestFor(text).keyCondition(text, composite)),
        message,
      )
    })
  }

  test('a table without a sort key takes one condition', () => {
    const text = 'pk = :a and sk = :b'
    assert.equal(
      messageOf(() => requestFor(text).keyCondition(text, simple)),
      tooMany(2, 1),
    )
  })
})

test('a filter may not look at the key that is queried by', () => {
  const refused = (text: string): string | undefined =>
    messageOf(() =>
      refuseKeyFilter(requestFor(text).condition(text, 'FilterExpression'), composite, 'FilterExpression'),
    )
  assert.equal(
    refused('foo = :a and size(sk) > :one'),
    'Filter Expression can only contain non-primary key attributes: Primary key attribute: sk',
  )
  assert.match(refused('pk = :a and sk.x = :a')!, /^Key attributes must be scalars; .*Key: sk$/)
  assert.equal(refused('foo.pk = :a'), undefined)
})

test('an update may not write the key, and reads only scalars from it', () => {
  const update = (text: string): ReturnType<ReturnType<typeof requestFor>['update']> =>
    requestFor(text).update(text)
  assert.equal(
    messageOf(() => refuseKeyUpdate(update('SET a = :a REMOVE #pk'), composite)),
    'One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key',
  )
  assert.equal(
    messageOf(() => refuseKeyUpdate(update('SET a = pk'), composite)),
    undefined,
  )
  assert.deepEqual(updateOperands(update('SET a = if_not_exists(pk.x, b), c = d + :one')), [
    ['pk', 'x'],
    ['b'],
    ['d'],
  ])
  assert.match(
    messageOf(() => refuseNestedKeys(updateOperands(update('SET a = pk.x')), composite))!,
    /Key: pk$/,
  )
})

test('the paths of a condition come in the order of its text', () => {
  const text = 'NOT (#n[1] = :a AND size(b.c) IN (d, :one)) OR e BETWEEN f AND g'
  assert.deepEqual(conditionAttributes(requestFor(text).condition(text, 'FilterExpression')), [
    ['n', 1],
    ['b', 'c'],
    ['d'],
    ['e'],
    ['f'],
    ['g'],
  ])
})

describe('key conditions on several key attributes', () => {
  const S = (name: string): KeySchema['partition'] => ({ name, type: 'S' })
  const schema: KeySchema = {
    partition: S('pk'),
    furtherPartition: [S('h2')],
    sort: S('r1'),
    furtherSort: [S('r2'), S('r3')],
  }
  const A = { S: 'a' }
  const B = { S: 'b' }
  for (const [text, expected] of [
    ['pk = :a AND h2 = :b', { partition: A, further: { partition: [B], sortPrefix: [] } }],
    [
      'r1 > :a AND h2 = :b AND pk = :a',
      { partition: A, further: { partition: [B], sortPrefix: [] }, sort: { op: '>', values: [A] } },
    ],
    [
      'r2 = :b AND r1 = :a AND pk = :a AND h2 = :b',
      { partition: A, further: { partition: [B], sortPrefix: [A] }, sort: { op: '=', values: [B] } },
    ],
    [
      'pk = :a AND h2 = :b AND r1 = :a AND r2 = :b AND begins_with(r3, :a)',
      {
        partition: A,
        further: { partition: [B], sortPrefix: [A, B] },
        sort: { op: 'begins_with', values: [A] },
      },
    ],
  ] as const)
    test(`${text} is understood`, () => {
      assert.deepEqual(requestFor(text).keyCondition(text, schema), expected)
    })

  const equality = 'must have equality conditions specified in the query'
  for (const [text, message] of [
    ['pk = :a', `HASH key attributes h2 ${equality}`],
    ['r1 = :a', `HASH key attributes pk, h2 ${equality}`],
    ['pk = :a AND h2 > :a', `HASH key attributes h2 ${equality}`],
    [
      'pk = :a AND h2 = :b AND r2 = :a',
      `RANGE key attributes r1 ${equality} because a condition is present on key attribute r2`,
    ],
    [
      'pk = :a AND h2 = :b AND r1 = :a AND r3 = :a',
      `RANGE key attributes r2 ${equality} because a condition is present on key attribute r3`,
    ],
    [
      'pk = :a AND h2 = :b AND r1 > :a AND r2 = :a',
      `RANGE key attributes r1 ${equality} because a condition is present on key attribute r2`,
    ],
    ['pk = :a AND h2 = :b AND r1 = :a AND foo = :a', 'Query key condition not supported'],
    [
      'pk = :a AND h2 = :b AND r1 = :one',
      'One or more parameter values were invalid: Condition parameter type does not match schema type',
    ],
  ] as const)
    test(`${text}: ${message}`, () => {
      assert.equal(
        messageOf(() => requestFor(text).keyCondition(text, schema)),
        message,
      )
    })
})
