import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkExpressionParameters, openExpressions } from '../../src/expression/expression.js'
import { messageOf } from './request.js'

const NAMES = 'ExpressionAttributeNames'
const VALUES = 'ExpressionAttributeValues'

const opened: readonly (readonly [names: unknown, values: unknown, message: string | undefined])[] = [
  [undefined, undefined, undefined],
  [null, null, undefined],
  [{}, undefined, `${NAMES} must not be empty`],
  [undefined, {}, `${VALUES} must not be empty`],
  [{ a: 'b' }, undefined, `${NAMES} contains invalid key: Syntax error; key: "a"`],
  [{ '#': 'b' }, undefined, `${NAMES} contains invalid key: Syntax error; key: "#"`],
  [{ '#a-b': 'b' }, undefined, `${NAMES} contains invalid key: Syntax error; key: "#a-b"`],
  [{ '#a': '' }, undefined, `${NAMES} contains invalid value: Empty attribute name for key #a`],
  [
    { [`#${'x'.repeat(255)}`]: 'a' },
    undefined,
    `${NAMES} contains invalid key: The expression attribute map contains a key that is too long; size of key: 256`,
  ],
  [undefined, { a: { S: 'a' } }, `${VALUES} contains invalid key: Syntax error; key: "a"`],
  [
    undefined,
    { ':a': {} },
    'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes',
  ],
  [
    undefined,
    { ':a': { NULL: false } },
    'One or more parameter values were invalid: Null attribute value types must have the value of true',
  ],
  [{ b: 'b' }, { ':a': {} }, `${NAMES} contains invalid key: Syntax error; key: "b"`],
]

for (const [names, values, message] of opened) {
  test(`names ${JSON.stringify(names)?.slice(0, 40)}, values ${JSON.stringify(values)}: ${message}`, () => {
    const actual = messageOf(() =>
      openExpressions({ ExpressionAttributeNames: names, ExpressionAttributeValues: values }),
    )
    assert.equal(actual, message)
  })
}

test('finish refuses names and values that no expression used, names first', () => {
  const unused = (text: string): string | undefined => {
    const request = openExpressions({
      ExpressionAttributeNames: { '#a': 'a', '#b': 'b' },
      ExpressionAttributeValues: { ':a': { S: 'a' }, ':b': { S: 'b' } },
    })
    request.condition(text, 'FilterExpression')
    return messageOf(() => request.finish())
  }
  assert.equal(unused('c = d'), `Value provided in ${NAMES} unused in expressions: keys: {#a, #b}`)
  assert.equal(unused('#a = #b'), `Value provided in ${VALUES} unused in expressions: keys: {:a, :b}`)
  assert.equal(unused('#a = #b or c = :b'), `Value provided in ${VALUES} unused in expressions: keys: {:a}`)
  assert.equal(unused('#a in (:a, #b, :b)'), undefined)
})

const query = {
  expressions: ['ProjectionExpression', 'FilterExpression', 'KeyConditionExpression'],
  others: ['AttributesToGet', 'QueryFilter', 'ConditionalOperator', 'KeyConditions'],
}
const put = { expressions: ['ConditionExpression'], others: ['Expected', 'ConditionalOperator'] }
const update = {
  expressions: ['UpdateExpression', 'ConditionExpression'],
  others: ['AttributeUpdates', 'Expected', 'ConditionalOperator'],
}
const mixed = (others: string, expressions: string): string =>
  'Can not use both expression and non-expression parameters in the same request: ' +
  `Non-expression parameters: {${others}} Expression parameters: {${expressions}}`

const parameterTable: readonly (readonly [
  request: Readonly<Record<string, unknown>>,
  parameters: typeof query,
  message: string | undefined,
])[] = [
  [{ Expected: {}, ConditionExpression: 'a = b' }, put, mixed('Expected', 'ConditionExpression')],
  [
    { Expected: {}, AttributeUpdates: {}, ConditionExpression: '', UpdateExpression: '' },
    update,
    mixed('AttributeUpdates, Expected', 'UpdateExpression, ConditionExpression'),
  ],
  [{ KeyConditions: {}, FilterExpression: 'a = b' }, query, undefined],
  [
    { KeyConditions: {}, KeyConditionExpression: 'a = b' },
    query,
    mixed('KeyConditions', 'KeyConditionExpression'),
  ],
  [{ [NAMES]: { '#a': 'a' } }, put, `${NAMES} can only be specified when using expressions`],
  [{ [VALUES]: {} }, put, `${VALUES} can only be specified when using expressions`],
  [
    { [VALUES]: {}, ProjectionExpression: 'a' },
    query,
    `${VALUES} can only be specified when using expressions`,
  ],
  [{ [VALUES]: {}, UpdateExpression: 'REMOVE a' }, update, undefined],
]

for (const [request, parameters, message] of parameterTable) {
  test(`parameters ${JSON.stringify(request)}`, () => {
    assert.equal(
      messageOf(() => checkExpressionParameters(request, parameters)),
      message,
    )
  })
}
