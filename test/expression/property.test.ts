import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { TextCache } from '../../src/expression/parse/cache.js'
import {
  applyUpdate,
  evaluateCondition,
  openExpressions,
  project,
  updatedAttributes,
} from '../../src/expression/expression.js'
import { DynamoError } from '../../src/model/errors.js'
import { parseItem } from '../../src/model/parse-value.js'
import type { AttributeValue, Item } from '../../src/model/value.js'

const name = fc.constantFrom('a', 'b', '__proto__', 'constructor', 'toString')
const { value } = fc.letrec<{ value: AttributeValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.record({ S: fc.string({ maxLength: 3 }) }),
    fc.record({ N: fc.constantFrom('0', '1', '-2.5', '12345678901234567890123456789012345678') }),
    fc.record({ B: fc.constantFrom('', 'YQ==', 'YWI=') }),
    fc.record({ BOOL: fc.boolean() }),
    fc.record({ NULL: fc.constant(true as const) }),
    fc.record({ SS: fc.constantFrom(['a'], ['a', 'b']) }),
    fc.record({ NS: fc.constantFrom(['1'], ['1', '2']) }),
    fc.record({ L: fc.array(tie('value'), { maxLength: 3 }) }),
    fc.record({ M: fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }) }),
  ),
}))
const item = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true })

/** Words of the language in any order: near enough to it to reach every branch of the parser. */
const VOCABULARY =
  'a b.a a[0] #p #c :v :w :x size contains begins_with attribute_exists if_not_exists list_append ( ) [ ] . , = <> < + - 1 ' +
  'and or not between in SET REMOVE ADD DELETE # : ! é 😀 \u0000 name'
const words = fc
  .array(fc.constantFrom(...VOCABULARY.split(' ')), { maxLength: 14 })
  .map((list) => list.join(' '))
const path = fc
  .tuple(
    fc.constantFrom('a', 'b', '#p', '#c'),
    fc.array(fc.constantFrom('.a', '.#p', '[0]', '[1]'), { maxLength: 2 }),
  )
  .map(([head, tail]) => head + tail.join(''))
const operand = fc.oneof(path, fc.constantFrom(':v', ':w', ':x'))
const condition = fc
  .tuple(operand, operand, operand, fc.nat(7))
  .map(
    ([x, y, z, form]) =>
      [
        `${x} = ${y}`,
        `NOT ${x} <= ${y} OR ${z} <> ${x}`,
        `${x} BETWEEN ${y} AND ${z}`,
        `${x} IN (${y}, ${z})`,
        `contains(${x}, ${y}) AND begins_with(${y}, ${z})`,
        `attribute_type(${x}, :x)`,
        `size(${x}) < ${y}`,
        `attribute_not_exists(${x})`,
      ][form]!,
  )
const update = fc
  .tuple(path, path, operand, operand, fc.nat(6))
  .map(
    ([p, q, x, y, form]) =>
      [
        `SET ${p} = ${x}, ${q} = ${y}`,
        `SET ${p} = ${x} + ${y} REMOVE ${q}`,
        `SET ${p} = list_append(${x}, ${y})`,
        `SET ${p} = if_not_exists(${q}, ${x}) - ${y}`,
        `REMOVE ${p}, ${q}`,
        `ADD ${p} :v DELETE ${q} :w`,
        `ADD ${p} :w`,
      ][form]!,
  )

function request(v: AttributeValue, w: AttributeValue): ReturnType<typeof openExpressions> {
  return openExpressions({
    ExpressionAttributeNames: { '#p': '__proto__', '#c': 'constructor' },
    ExpressionAttributeValues: { ':v': v, ':w': w, ':x': { S: 'S' } },
  })
}

/** What it makes, or undefined if it throws a DynamoError; anything else thrown fails the test. */
function attempt<Result>(make: () => Result): Result | undefined {
  try {
    return make()
  } catch (error) {
    assert.ok(error instanceof DynamoError, String(error))
    return undefined
  }
}

test('no text makes the parsers throw anything but a DynamoError', () => {
  fc.assert(
    fc.property(fc.oneof(words, fc.string({ unit: 'binary' })), value, value, (text, v, w) => {
      const expressions = request(v, w)
      attempt(() => expressions.condition(text, 'FilterExpression'))
      attempt(() => expressions.update(text))
      attempt(() => expressions.projection(text))
      attempt(() => expressions.keyCondition(text, { partition: { name: 'a', type: 'S' } }))
      attempt(() => expressions.finish())
    }),
    { numRuns: 2000 },
  )
})

test('a bound condition never throws, and is as true as its double negation', () => {
  fc.assert(
    fc.property(condition, item, value, value, (text, before, v, w) => {
      const bind = (form: string): ReturnType<ReturnType<typeof openExpressions>['condition']> =>
        request(v, w).condition(form, 'ConditionExpression')
      const bound = attempt(() => bind(text))
      if (bound === undefined) return
      const holds = evaluateCondition(bound, before)
      assert.equal(evaluateCondition(bind(`NOT (NOT (${text}))`), before), holds)
      assert.equal(evaluateCondition(bind(`NOT (${text})`), before), !holds)
    }),
    { numRuns: 2000 },
  )
})

test('an update never throws and never changes the item it is applied to', () => {
  fc.assert(
    fc.property(update, item, value, value, (text, before, v, w) => {
      const bound = attempt(() => request(v, w).update(text))
      if (bound === undefined) return
      const image = JSON.stringify(before)
      const result = applyUpdate(bound, before, {})
      assert.equal(JSON.stringify(before), image)
      updatedAttributes(bound, before)
      if (!('item' in result)) return
      const after = JSON.stringify(result.item)
      assert.equal(JSON.stringify(parseItem(JSON.parse(after))), after)
    }),
    { numRuns: 2000 },
  )
})

test('a projection is contained in the item, and projecting it again by names changes nothing', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.constantFrom('a', 'b', '#p', '#c'), { minLength: 1 }),
      item,
      (names, before) => {
        const bound = request({ S: '' }, { S: '' }).projection(names.join(', '))
        const part: Item = project(bound, before)
        for (const [key, part1] of Object.entries(part))
          assert.equal(part1, Object.getOwnPropertyDescriptor(before, key)?.value)
        assert.deepEqual(project(bound, part), part)
      },
    ),
  )
})

test('the cache forgets what was used least recently, by entries and by characters', () => {
  const made: string[] = []
  const make = (text: string): string => {
    made.push(text)
    return text
  }
  const cache = new TextCache<string>({ entriesMax: 2, charactersMax: 10 })
  for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) assert.equal(cache.get(text, make), text)
  assert.deepEqual(made, ['a', 'b', 'c', 'b'])
  cache.get('x'.repeat(10), make)
  assert.equal(cache.size, 1)
  assert.throws(() =>
    cache.get('bad', () => {
      throw new Error('not made')
    }),
  )
  assert.equal(cache.get('bad', make), 'bad')
})
