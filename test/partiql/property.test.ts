import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { applyUpdate, evaluateCondition, openExpressions } from '../../src/expression/expression.js'
import { DynamoError } from '../../src/model/errors.js'
import type { KeySchema } from '../../src/model/table.js'
import type { AttributeValue, Item } from '../../src/model/value.js'
import { literalText } from '../differential/statements.js'
import { bindStatement, planSelect, readStatement, writeTarget } from '../../src/partiql/partiql.js'

const KEY: KeySchema = { partition: { name: 'pk', type: 'S' }, sort: { name: 'sk', type: 'N' } }

/** Words of the language in any order: near enough to it to reach every branch of the parser. */
const VOCABULARY =
  `SELECT * FROM INSERT INTO VALUE UPDATE DELETE SET REMOVE WHERE AND OR NOT IN BETWEEN IS NULL MISSING LIKE EXISTS ORDER BY ASC ` +
  `DESC RETURNING ALL MODIFIED OLD NEW TRUE FALSE pk sk a b "a" "#x" "" Tab "Tab" 'x' '' 1 -1 1e126 .5 ? = <> != < >= + - / % || ` +
  `( ) [ ] { } << >> , . : ; @ 0 size contains begins_with attribute_exists attribute_type set_add list_append case end cast as ` +
  `values group limit -- /* */ # é 😀 \u0000 string bool exec create drop table`
const words = fc
  .array(fc.constantFrom(...VOCABULARY.split(' ')), { maxLength: 24 })
  .map((list) => list.join(' '))
const STARTS = [
  'SELECT * FROM Tab WHERE ',
  'SELECT ',
  'UPDATE Tab SET a = ',
  'DELETE FROM Tab WHERE ',
  'INSERT INTO Tab VALUE {',
  '',
]
const nearStatement = fc.tuple(fc.constantFrom(...STARTS), words).map(([start, rest]) => start + rest)

/** Reads, binds and plans it: all that a request does before it meets an item. */
function run(text: string): void {
  const statement = readStatement(text)
  const parameters = Array.from({ length: statement.parameters }, (): AttributeValue => ({ S: 'p' }))
  const bound = bindStatement(statement, parameters)
  if (bound.type === 'select') planSelect(bound.where, bound.order, { key: KEY, of: 'table' })
  else if (bound.type !== 'insert') writeTarget(bound.where, KEY, 'refused')
}

test('PartiQL: no text makes it throw anything but a refusal', () => {
  const check = (text: string): void => {
    try {
      run(text)
    } catch (error) {
      assert.ok(error instanceof DynamoError, `${text}: ${String(error)}`)
    }
  }
  fc.assert(fc.property(nearStatement, check), { numRuns: 4000, seed: 1 })
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), check), { numRuns: 2000, seed: 2 })
  fc.assert(
    fc.property(fc.constantFrom(...STARTS), fc.string({ maxLength: 60 }), (start, rest) =>
      check(start + rest),
    ),
    { numRuns: 2000, seed: 3 },
  )
})

const NAMES = ['a', 'b', 'c'] as const
const scalar: fc.Arbitrary<AttributeValue> = fc.oneof(
  fc.record({ S: fc.constantFrom('', 'x', 'xy', "it's") }),
  fc.record({ N: fc.constantFrom('0', '1', '-2.5', '10') }),
  fc.record({ BOOL: fc.boolean() }),
  fc.record({ NULL: fc.constant(true as const) }),
)
const value: fc.Arbitrary<AttributeValue> = fc.oneof(
  scalar,
  fc.record({ SS: fc.constantFrom(['a'], ['a', 'b']) }),
  fc.record({ NS: fc.constantFrom(['1'], ['1', '2']) }),
  fc.record({ L: fc.array(scalar, { maxLength: 2 }) }),
  fc.record({ M: fc.record({ x: scalar }) }),
)
const item: fc.Arbitrary<Item> = fc.dictionary(fc.constantFrom(...NAMES), value, {
  maxKeys: 3,
  noNullPrototype: true,
})

/** The same condition in both languages: pieces of text, with values and attributes between them. */
type Piece = string | { readonly value: AttributeValue } | { readonly path: string }
const path = fc.constantFrom('a', 'b', 'c', 'a.x', 'b[0]').map((one): Piece => ({ path: one }))
const operand = value.map((one): Piece => ({ value: one }))
const leaf: fc.Arbitrary<readonly Piece[]> = fc.oneof(
  fc.tuple(path, fc.constantFrom(' = ', ' < ', ' <= ', ' > ', ' >= '), operand),
  fc.tuple(operand, fc.constantFrom(' = ', ' < '), path),
  fc.tuple(path, fc.constant(' BETWEEN '), operand, fc.constant(' AND '), operand),
  fc.tuple(path, fc.constant(' IN ('), operand, fc.constant(', '), operand, fc.constant(')')),
  fc.tuple(fc.constantFrom('attribute_exists(', 'attribute_not_exists('), path, fc.constant(')')),
  fc.tuple(
    fc.constantFrom('begins_with(', 'contains(', 'attribute_type('),
    path,
    fc.constant(', '),
    operand,
    fc.constant(')'),
  ),
  fc.tuple(fc.constant('size('), path, fc.constantFrom(') = ', ') > '), operand),
)
const { condition } = fc.letrec<{ condition: readonly Piece[] }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3 },
    leaf,
    fc
      .tuple(tie('condition'), fc.constantFrom(' AND ', ' OR '), tie('condition'))
      .map(([left, word, right]) => ['(', ...left, word, ...right, ')']),
    tie('condition').map((inner) => ['NOT ', ...inner]),
  ),
}))

/** As an expression with placeholders, and as PartiQL with literals and parameters by turns. */
function printed(pieces: readonly Piece[]): {
  readonly expression: string
  readonly values: Record<string, AttributeValue>
  readonly statement: string
  readonly parameters: AttributeValue[]
} {
  const values: Record<string, AttributeValue> = {}
  const parameters: AttributeValue[] = []
  let expression = ''
  let statement = ''
  for (const [at, piece] of pieces.entries()) {
    if (typeof piece === 'string') {
      expression += piece
      statement += piece
    } else if ('path' in piece) {
      expression += piece.path
      statement += piece.path
    } else {
      values[`:v${at}`] = piece.value
      expression += `:v${at}`
      const text = at % 2 === 0 ? literalText(piece.value) : undefined
      if (text === undefined) parameters.push(piece.value)
      statement += text ?? '?'
    }
  }
  return { expression, values, statement, parameters }
}

/** What was made, or the message without DynamoDB's word for the parameter that it is about. */
function outcomeOf<Result>(make: () => Result): Result | string {
  try {
    return make()
  } catch (error) {
    assert.ok(error instanceof DynamoError)
    return error.message.replace(/^Invalid \w+Expression: /, '').replace(/valid types: .*/, '')
  }
}

test('PartiQL: WHERE means what the same condition expression means, on any item', () => {
  let compared = 0
  fc.assert(
    fc.property(condition, fc.array(item, { minLength: 1, maxLength: 4 }), (pieces, items) => {
      const { expression, values, statement, parameters } = printed(pieces)
      const expected = outcomeOf(() =>
        openExpressions({
          ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
        }).condition(expression, 'ConditionExpression'),
      )
      const actual = outcomeOf(() => {
        const bound = bindStatement(readStatement(`SELECT * FROM Tab WHERE ${statement}`), parameters)
        return bound.type === 'select' ? bound.where! : assert.fail()
      })
      if (typeof expected === 'string' || typeof actual === 'string') {
        // Only expressions refuse parentheses that are not needed.
        if (expected !== 'The expression has redundant parentheses;')
          assert.deepEqual(actual, expected, statement)
        return
      }
      compared++
      for (const one of items)
        assert.equal(evaluateCondition(actual, one), evaluateCondition(expected, one), statement)
    }),
    { numRuns: 3000, seed: 4 },
  )
  assert.ok(compared > 500, `${compared}`)
})

const assignment: fc.Arbitrary<
  readonly [statement: string, expression: string, values: readonly AttributeValue[]]
> = fc.oneof(
  fc
    .tuple(fc.constantFrom(...NAMES), value)
    .map(([name, one]) => [`SET ${name} = ?`, `SET ${name} = :v`, [one]] as const),
  fc.constantFrom(...NAMES).map((name) => [`REMOVE ${name}`, `REMOVE ${name}`, []] as const),
  fc
    .tuple(fc.constantFrom(...NAMES), fc.constantFrom(...NAMES), fc.constantFrom('+', '-'))
    .map(
      ([name, other, sign]) =>
        [`SET ${name} = ${other} ${sign} ?`, `SET ${name} = ${other} ${sign} :v`, [{ N: '3' }]] as const,
    ),
  fc
    .constantFrom(...NAMES)
    .map((name) => [`SET ${name} = set_add(${name}, ?)`, `ADD ${name} :v`, [{ SS: ['b', 'z'] }]] as const),
  fc
    .constantFrom(...NAMES)
    .map(
      (name) => [`SET ${name} = set_delete(${name}, ?)`, `DELETE ${name} :v`, [{ SS: ['b', 'a'] }]] as const,
    ),
  fc
    .constantFrom(...NAMES)
    .map(
      (name) =>
        [
          `SET ${name} = list_append(${name}, ?)`,
          `SET ${name} = list_append(${name}, :v)`,
          [{ L: [{ N: '1' }] }],
        ] as const,
    ),
  fc
    .constantFrom(...NAMES)
    .map(
      (name) =>
        [`SET ${name} = if_not_exists(a, ?)`, `SET ${name} = if_not_exists(a, :v)`, [{ S: 'd' }]] as const,
    ),
)

test('PartiQL: UPDATE does what the same update expression does, to any item', () => {
  fc.assert(
    fc.property(assignment, item, ([statement, expression, values], before) => {
      const key: Item = { pk: { S: 'k' } }
      const image = { ...before, ...key }
      const expected = openExpressions({
        ...(values.length > 0 && { ExpressionAttributeValues: { ':v': values[0] } }),
      }).update(expression)
      const bound = bindStatement(readStatement(`UPDATE Tab ${statement} WHERE pk = 'k'`), values)
      assert.ok(bound.type === 'update')
      assert.deepEqual(applyUpdate(bound.update, image, key), applyUpdate(expected, image, key), statement)
    }),
    { numRuns: 2000, seed: 5 },
  )
})
