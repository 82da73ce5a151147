import assert from 'node:assert/strict'
import { test } from 'node:test'
import { applyUpdate, updatedAttributes } from '../../src/expression/expression.js'
import type { BoundUpdate } from '../../src/expression/parse/types.js'
import type { Item } from '../../src/model/value.js'
import { requestFor } from './request.js'

const INVALID_PATH = 'The document path provided in the update expression is invalid for update'
const MISSING = 'The provided expression refers to an attribute that does not exist in the item'
const WRONG_TYPE = 'An operand in the update expression has an incorrect data type'

const before: Item = {
  pk: { S: 'k' },
  n: { N: '5' },
  s: { S: 'str' },
  l: { L: [{ N: '0' }, { N: '1' }, { N: '2' }] },
  m: { M: { x: { N: '1' }, y: { M: { z: { S: 'zz' } } } } },
  ss: { SS: ['a', 'b'] },
  bs: { BS: ['YQ=='] },
}

function boundUpdate(text: string): BoundUpdate {
  const request = requestFor(text)
  const update = request.update(text)
  request.finish()
  return update
}

/** What the update makes of some attributes of the item above: undefined for those that are gone. */
const results: readonly (readonly [text: string, changed: Readonly<Record<string, unknown>>])[] = [
  ['SET n = n + :one, s = n', { n: { N: '6' }, s: { N: '5' } }],
  ['SET n = s, s = n', { n: { S: 'str' }, s: { N: '5' } }],
  ['SET q = :five - n', { q: { N: '0' } }],
  ['SET q = (n + (:one))', { q: { N: '6' } }],
  ['SET q = if_not_exists(zz, n)', { q: { N: '5' } }],
  ['SET q = if_not_exists(m.y, :one)', { q: { M: { z: { S: 'zz' } } } }],
  ['SET q = if_not_exists(zz, :one) + :one', { q: { N: '2' } }],
  ['SET q = list_append(if_not_exists(zz, :list), :ones)', { q: { L: [{ S: 'x' }, { N: '1' }] } }],
  ['SET l = list_append(:list, l)', { l: { L: [{ S: 'x' }, { N: '0' }, { N: '1' }, { N: '2' }] } }],
  ['SET m.q = :a', { m: { M: { x: { N: '1' }, y: { M: { z: { S: 'zz' } } }, q: { S: 'a' } } } }],
  ['SET m.y.z = :a, m.x = m.y.z', { m: { M: { x: { S: 'zz' }, y: { M: { z: { S: 'a' } } } } } }],
  ['SET l[0] = l[1], l[1] = l[0]', { l: { L: [{ N: '1' }, { N: '0' }, { N: '2' }] } }],
  ['SET l[7] = :a, l[5] = :b', { l: { L: [{ N: '0' }, { N: '1' }, { N: '2' }, { S: 'b' }, { S: 'a' }] } }],
  ['SET l[3] = :a, l[1] = :b REMOVE l[0]', { l: { L: [{ S: 'b' }, { N: '2' }, { S: 'a' }] } }],
  ['REMOVE l[0], l[2]', { l: { L: [{ N: '1' }] } }],
  ['REMOVE l[9], m.nope, zz', {}],
  ['REMOVE n, m.y', { n: undefined, m: { M: { x: { N: '1' } } } }],
  ['ADD n :two, q :one', { n: { N: '7' }, q: { N: '1' } }],
  ['ADD ss :sx, q :ss', { ss: { SS: ['a', 'b', 'x'] }, q: { SS: ['a', 'b'] } }],
  ['ADD l[0] :one, l[9] :two', { l: { L: [{ N: '1' }, { N: '1' }, { N: '2' }, { N: '2' }] } }],
  ['DELETE ss :sx', { ss: { SS: ['a', 'b'] } }],
  ['DELETE ss :ss', { ss: undefined }],
  ['DELETE bs :bs, zz :ss, m.q :ss, l[9] :ss', { bs: undefined }],
  ['SET q = :one REMOVE s ADD n :one DELETE ss :sx', { q: { N: '1' }, s: undefined, n: { N: '6' } }],
  ['SET #proto = :a, #ctor = :b, m.#proto = :a', { constructor: { S: 'b' } }],
]

for (const [text, changed] of results) {
  test(`update ${JSON.stringify(text)}`, () => {
    const frozen = deepFreeze(structuredClone(before))
    const result = applyUpdate(boundUpdate(text), frozen, { pk: { S: 'k' } })
    assert.ok('item' in result && result.item, JSON.stringify(result))
    for (const [name, value] of Object.entries(changed))
      assert.deepEqual(Object.getOwnPropertyDescriptor(result.item, name)?.value, value, name)
    for (const name of Object.keys(before))
      if (!Object.hasOwn(changed, name) && !text.includes('m.#'))
        assert.deepEqual(result.item[name], frozen[name], name)
  })
}

test('update shares what it does not touch with the image before', () => {
  const result = applyUpdate(boundUpdate('SET m.x = :two, q = l'), before, {})
  assert.ok('item' in result && result.item && 'm' in result.item)
  assert.equal(result.item['l'], before['l'])
  assert.equal(result.item['q'], before['l'])
  const [inner, innerBefore] = [result.item['m'], before['m']] as { readonly M: Item }[]
  assert.equal(inner!.M['y'], innerBefore!.M['y'])
})

test('update sets an attribute named __proto__ as any other', () => {
  const result = applyUpdate(boundUpdate('SET #proto = :a, m.#proto = :b'), before, {})
  assert.ok('item' in result)
  assert.equal(Object.getPrototypeOf(result.item), Object.prototype)
  assert.match(JSON.stringify(result.item), /"y":\{.*\},"__proto__":\{"S":"b"\}.*"__proto__":\{"S":"a"\}\}$/)
})

const refusals: readonly (readonly [text: string, refusal: string])[] = [
  ['SET m.q.r = :a', INVALID_PATH],
  ['SET s.q = :a', INVALID_PATH],
  ['SET l.q = :a', INVALID_PATH],
  ['SET m[0] = :a', INVALID_PATH],
  ['SET zz[0] = :a', INVALID_PATH],
  ['SET l[0].x = zz', INVALID_PATH],
  ['REMOVE zz.x', INVALID_PATH],
  ['REMOVE s[0]', INVALID_PATH],
  ['ADD m.q.r :one', INVALID_PATH],
  ['DELETE zz.q :ss', INVALID_PATH],
  ['SET q = zz', MISSING],
  ['SET q = zz + s', MISSING],
  ['SET q = l[9]', MISSING],
  ['SET q = if_not_exists(zz, yy)', MISSING],
  ['SET q = if_not_exists(n, yy)', MISSING],
  ['SET l = list_append(l, zz)', MISSING],
  ['SET q = s + :one', WRONG_TYPE],
  ['SET q = s + zz', WRONG_TYPE],
  ['SET l = list_append(l, s)', WRONG_TYPE],
  ['ADD s :one', WRONG_TYPE],
  ['ADD ss :ns', WRONG_TYPE],
  ['DELETE n :ss', WRONG_TYPE],
  ['DELETE ss :ns', WRONG_TYPE],
]

for (const [text, refusal] of refusals) {
  test(`update ${JSON.stringify(text)} is refused`, () => {
    assert.deepEqual(applyUpdate(boundUpdate(text), before, {}), { refusal })
  })
}

test('update refuses a sum that does not fit a number', () => {
  const result = applyUpdate(boundUpdate('SET q = :huge + :huge'), before, {})
  assert.ok('refusal' in result)
})

test('update refuses to nest deeper than an item may', () => {
  let deep: Item = {}
  for (let level = 0; level < 31; level++) deep = { x: { M: deep } }
  const result = applyUpdate(boundUpdate('SET m.y = d'), { ...before, d: { M: deep } }, {})
  assert.ok('refusal' in result)
  assert.match(result.refusal, /^Nesting Levels have exceeded supported limits/)
})

test('update creates an item with its key, which operands see', () => {
  const result = applyUpdate(boundUpdate('SET q = pk REMOVE zz'), undefined, { pk: { S: 'k' } })
  assert.deepEqual(result, { item: { pk: { S: 'k' }, q: { S: 'k' } } })
})

for (const text of ['REMOVE zz', 'REMOVE m.x', 'REMOVE l[0], zz', 'DELETE ss :ss', 'REMOVE zz DELETE ss :ss'])
  test(`update ${JSON.stringify(text)} only takes away, and creates no item that is not there`, () => {
    assert.deepEqual(applyUpdate(boundUpdate(text), undefined, { pk: { S: 'k' } }), { item: undefined })
  })

test('update without an action, or with one that adds, creates the item', () => {
  const nothing = {
    tree: { dialect: 'UpdateExpression', actions: [] },
    bindings: { names: new Map(), values: new Map() },
  } as const
  assert.deepEqual(applyUpdate(nothing, undefined, { pk: { S: 'k' } }), { item: { pk: { S: 'k' } } })
  assert.deepEqual(applyUpdate(boundUpdate('REMOVE zz ADD n :one'), undefined, { pk: { S: 'k' } }), {
    item: { pk: { S: 'k' }, n: { N: '1' } },
  })
})

const returned: readonly (readonly [text: string, old: Item, updated: Item])[] = [
  ['SET n = :one', { n: { N: '5' } }, { n: { N: '1' } }],
  ['SET m.x = :two', { m: { M: { x: { N: '1' } } } }, { m: { M: { x: { N: '2' } } } }],
  ['SET m.q = :two', {}, { m: { M: { q: { N: '2' } } } }],
  [
    'SET l[2] = :a, l[0] = :b',
    { l: { L: [{ N: '0' }, { N: '2' }] } },
    { l: { L: [{ S: 'b' }, { S: 'a' }] } },
  ],
  ['SET l[9] = :a', {}, {}],
  ['REMOVE m.x, n', { m: { M: { x: { N: '1' } } }, n: { N: '5' } }, {}],
  ['REMOVE l[0]', { l: { L: [{ N: '0' }] } }, { l: { L: [{ N: '1' }] } }],
  ['DELETE ss :ss', { ss: { SS: ['a', 'b'] } }, {}],
  ['ADD q :one', {}, { q: { N: '1' } }],
]

for (const [text, old, updated] of returned) {
  test(`update ${JSON.stringify(text)} returns only what it updated`, () => {
    const update = boundUpdate(text)
    const result = applyUpdate(update, before, {})
    assert.ok('item' in result && result.item)
    assert.deepEqual(updatedAttributes(update, before), old)
    assert.deepEqual(updatedAttributes(update, result.item), updated)
  })
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value)
    for (const inner of Object.values(value)) deepFreeze(inner)
  }
  return value
}
