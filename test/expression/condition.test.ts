import assert from 'node:assert/strict'
import { test } from 'node:test'
import { evaluateCondition } from '../../src/expression/expression.js'
import type { Item } from '../../src/model/value.js'
import { requestFor } from './request.js'

const item = JSON.parse(`{
  "pk": { "S": "k" }, "n": { "N": "5" }, "s": { "S": "hello" }, "u": { "S": "é😀" }, "es": { "S": "" }, "eb": { "B": "" },
  "b": { "B": "YWJj" }, "bool": { "BOOL": true }, "nul": { "NULL": true },
  "l": { "L": [{ "N": "1" }, { "S": "x" }, { "L": [{ "N": "1" }] }, { "SS": ["a", "b"] }] }, "l1": { "L": [{ "S": "x" }] },
  "m": { "M": { "x": { "N": "1" }, "y": { "S": "zz" }, "__proto__": { "S": "deep" } } }, "m1": { "M": { "x": { "N": "1" } } },
  "ss": { "SS": ["a", "b"] }, "ns": { "NS": ["1", "2"] }, "bs": { "BS": ["YQ==", "YWI="] },
  "__proto__": { "S": "polluted" }, "a.b[0] #:": { "N": "1" }
}`) as Item

const table: readonly (readonly [text: string, expected: boolean])[] = [
  ['n = :five', true],
  ['n <> :a', true],
  ['n > :a', false],
  ['s > :one', false],
  ['s >= :hel', true],
  ['b > :bin', true],
  ['b < :bin', false],
  ['zz = :a', false],
  ['zz <> :a', true],
  ['zz < :a', false],
  ['NOT zz < :a', true],
  ['zz = yy', false],
  ['zz <> yy', true],
  ['ss = :ss', true],
  ['ns = :ns', true],
  ['m1 = :map', true],
  ['l1 = :list', true],
  ['bool = :true', true],
  ['nul = :null', true],
  ['ss = ns', false],
  ['bool < nul', false],
  ['l < l1', false],
  ['n BETWEEN :one AND :five', true],
  ['n between :one and :two', false],
  ['n BETWEEN :one AND l', false],
  ['size(s) BETWEEN :one AND size(zz)', false],
  ['n IN (:one, :a, :ss, :five)', true],
  ['n in (:one)', false],
  ['ss IN (:ss)', true],
  ['zz IN (:a)', false],
  [':hel IN (s, :hel)', true],
  ['size(u) = :three', true],
  ['size(es) = :zero', true],
  ['size(eb) = :zero', true],
  ['size(b) = :three', true],
  ['size(m) = :three', true],
  ['size(ss) = :two', true],
  ['size(:hel) = :three', true],
  ['size(n) = :one', false],
  ['size(n) <> :one', true],
  ['size(zz) <> :one', true],
  ['size(s) > size(m)', true],
  ['contains(s, :hel)', true],
  ['contains(s, :empty)', true],
  ['contains(s, :one)', false],
  ['contains(ss, :a)', true],
  ['contains(ss, :ss)', false],
  ['contains(ns, :one)', true],
  ['contains(bs, :bin)', true],
  ['contains(b, :bin2)', true],
  ['contains(l, :one)', true],
  ['contains(l, :ones)', true],
  ['contains(l, :ss)', true],
  ['contains(m, :one)', false],
  ['contains(zz, :a)', false],
  ['begins_with(s, :hel)', true],
  ['begins_with(s, :empty)', true],
  ['begins_with(b, :bin2)', true],
  ['begins_with(b, :a)', false],
  ['begins_with(n, :a)', false],
  ['begins_with(s, n)', false],
  ['attribute_type(s, :S)', true],
  ['attribute_type(n, :S)', false],
  ['attribute_type(zz, :S)', false],
  ['attribute_exists(m.x)', true],
  ['attribute_exists(m.q)', false],
  ['attribute_exists(l[2][0])', true],
  ['attribute_exists(l[5])', false],
  ['attribute_exists(m[0])', false],
  ['attribute_exists(l.x)', false],
  ['attribute_not_exists(s.x.y[0])', true],
  ['n = :one OR n <> :one AND n = :five', true],
  ['NOT n = :one AND n = :one', false],
  ['NOT (n = :one AND n = :one)', true],
  ['not NOT n = :five', true],
  ['(((n) = (:five)) and (s <> :a))', true],
  ['a . b [ 0 ]\t=\n:a', false],
  ['#proto <> :a AND attribute_exists(#proto)', true],
  ['attribute_exists(m.#proto)', true],
  ['attribute_exists(#ctor)', false],
  ['attribute_exists(m.#ctor)', false],
  ['#odd = :one', true],
]

for (const [text, expected] of table) {
  test(`condition ${JSON.stringify(text)} is ${expected}`, () => {
    const request = requestFor(text)
    const condition = request.condition(text, 'ConditionExpression')
    request.finish()
    assert.equal(evaluateCondition(condition, item), expected)
  })
}

test('an item that does not exist has no attributes', () => {
  const holds = (text: string): boolean =>
    evaluateCondition(requestFor(text).condition(text, 'ConditionExpression'), undefined)
  assert.equal(holds('attribute_not_exists(pk)'), true)
  assert.equal(holds('pk = :a'), false)
  assert.equal(holds('NOT pk = :a'), true)
})

test('a bound condition survives a structured clone, so that another thread may evaluate it', () => {
  const text = '#n = :five AND begins_with(s, :hel)'
  const condition = structuredClone(requestFor(text).condition(text, 'FilterExpression'))
  assert.equal(evaluateCondition(condition, item), true)
})
