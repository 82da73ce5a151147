import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { isReservedWord } from '../../../src/expression/parse/check.js'
import { openExpressions } from '../../../src/expression/expression.js'
import { withoutPlaceholders, withReservedNames } from '../../../src/toolkit/unit/expressions.js'

const aliased = (text: string, kind: 'condition' | 'update' = 'condition') => {
  const { text: result, names } = withReservedNames(text, undefined, kind)
  return { result, names }
}

test('reserved names: a reserved word gets a placeholder, everything else stays as it is', () => {
  assert.deepEqual(aliased('status = :s AND #total > :t'), {
    result: '#seriatim_status = :s AND #total > :t',
    names: { '#seriatim_status': 'status' },
  })
  assert.deepEqual(aliased('customer = :c AND begins_with(town, :t)').names, undefined)
  assert.deepEqual(
    aliased('size(name) > :n and size > :m').result,
    'size(#seriatim_name) > :n and #seriatim_size > :m',
  )
  assert.deepEqual(aliased('a.date.b[0].NAME = :x').result, 'a.#seriatim_date.b[0].#seriatim_NAME = :x')
})

test('reserved names: words of the grammar are names where names stand', () => {
  assert.deepEqual(
    aliased('and = :x AND or BETWEEN :a and :b').result,
    '#seriatim_and = :x AND #seriatim_or BETWEEN :a and :b',
  )
  assert.deepEqual(aliased('NOT (in IN (:a, :b))').result, 'NOT (#seriatim_in IN (:a, :b))')
  assert.deepEqual(aliased('NOT not = :x').result, 'NOT #seriatim_not = :x')
  assert.deepEqual(
    aliased('SET set = :v, a = add + :x REMOVE remove, b.delete ADD add :n DELETE delete :s', 'update')
      .result,
    'SET #seriatim_set = :v, a = #seriatim_add + :x REMOVE #seriatim_remove, b.#seriatim_delete ADD #seriatim_add :n DELETE #seriatim_delete :s',
  )
})

test('reserved names: a placeholder of the caller is not taken', () => {
  const { text, names } = withReservedNames(
    'status = #seriatim_status',
    { '#seriatim_status': 'other' },
    'condition',
  )
  assert.equal(text, '#seriatim_status_ = #seriatim_status')
  assert.deepEqual(names, { '#seriatim_status': 'other', '#seriatim_status_': 'status' })
  assert.equal(withoutPlaceholders('#c0_seriatim_status = :c0_s'), 'status = :c0_s')
})

const WORDS = [
  'status',
  'NAME',
  'and',
  'OR',
  'not',
  'between',
  'in',
  'set',
  'Remove',
  'add',
  'delete',
  'size',
  'date',
  'plain',
  'x1',
]
const word = fc.constantFrom(...WORDS)
const operand = fc.oneof(
  word,
  word.map((name) => `m.${name}`),
  fc.constant(':v'),
  fc.constant('#p'),
)
const condition = fc.letrec<{ whole: string }>((tie) => ({
  whole: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.tuple(operand, fc.constantFrom('=', '<>', '<', '>='), operand).map((parts) => parts.join(' ')),
    fc.tuple(operand, operand, operand).map(([a, b, c]) => `${a} BETWEEN ${b} AND ${c}`),
    fc.tuple(operand, operand, operand).map(([a, b, c]) => `${a} in (${b}, ${c})`),
    operand.map((a) => `attribute_exists(${a.replace(/^:v$/, 'plain')})`),
    word.map((a) => `size(${a}) > :v`),
    tie('whole').map((a) => `NOT (${a})`),
    fc
      .tuple(tie('whole'), fc.constantFrom('AND', 'or'), tie('whole'))
      .map(([a, op, b]) => `(${a}) ${op} (${b})`),
  ),
})).whole

const opened = (names: Readonly<Record<string, string>> | undefined) =>
  openExpressions({
    ExpressionAttributeNames: { '#p': 'p', ...names },
    ExpressionAttributeValues: { ':v': { N: '1' } },
  })

test('reserved names: every condition is understood, with each reserved word behind its placeholder', () => {
  fc.assert(
    fc.property(condition, (text) => {
      const { text: result, names } = withReservedNames(text, undefined, 'condition')
      try {
        opened(names).condition(result, 'ConditionExpression')
      } catch (error) {
        // The same operand twice is refused whatever it is called.
        if (!/same|operand/i.test((error as Error).message)) throw error
      }
      for (const name of Object.values(names ?? {})) assert.ok(isReservedWord(name) || /^remove$/i.test(name))
      assert.equal(withoutPlaceholders(result), text)
    }),
  )
})

test('reserved names: every update is understood', () => {
  const assignment = fc.tuple(
    word,
    fc.oneof(
      fc.constant(':v'),
      word,
      word.map((name) => `${name} + :v`),
    ),
  )
  const update = fc
    .record({
      set: fc.uniqueArray(assignment, {
        minLength: 1,
        maxLength: 4,
        selector: ([name]) => name.toLowerCase(),
      }),
      remove: fc.option(word),
      add: fc.option(word),
    })
    .filter(({ set, remove, add }) => {
      const names = [...set.map(([name]) => name), remove, add].filter((name) => name !== null)
      return new Set(names).size === names.length
    })
    .map(({ set, remove, add }) =>
      [
        `set ${set.map(([name, value]) => `${name} = ${value}`).join(', ')}`,
        ...(remove === null ? [] : [`REMOVE ${remove}`]),
        ...(add === null ? [] : [`ADD ${add} :v`]),
      ].join(' '),
    )
  fc.assert(
    fc.property(update, (text) => {
      const { text: result, names } = withReservedNames(text, undefined, 'update')
      opened(names).update(result)
      assert.equal(withoutPlaceholders(result), text)
    }),
  )
})
