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

  const invalid = 'Invalid condition in KeyConditionExpression: '
  const mismatch =
    'One or more parameter values were invalid: Condition parameter type does not match schema type'
  const once = 'KeyConditionExpressions must only contain one condition per key'
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
    ['pk = :a and sk = :a and foo = :a', 'Conditions can be of length 1 or 2 only'],
    ['pk > :a', 'Query key condition not supported'],
    ['begins_with(pk, :a)', 'Query key condition not supported'],
    ['pk = :a or sk = :a', 'Invalid operator used in KeyConditionExpression: OR'],
    ['not pk = :a', 'Invalid operator used in KeyConditionExpression: NOT'],
    ['pk = :a and sk <> :a', 'Invalid operator used in KeyConditionExpression: <>'],
    ['pk in (:a)', 'Invalid operator used in KeyConditionExpression: IN'],
    ['attribute_exists(pk)', 'Invalid operator used in KeyConditionExpression: attribute_exists'],
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
    ['size(pk) = :one', 'KeyConditionExpressions cannot contain nested operations'],
    [
      'pk.x = :a',
      "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: pk",
    ],
    ['foo.x = :a', 'KeyConditionExpressions cannot have conditions on nested attributes'],
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
      'Query key condition not supported',
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
