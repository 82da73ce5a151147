import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { reservedWordCount } from '../../src/expression/parse/check.js'
import { messageOf, requestFor } from './request.js'

const operandType = (operator: string, type: string): string =>
  `Incorrect operand type for operator or function; operator or function: ${operator}, operand type: ${type}`
const operandCount = (operator: string, count: number): string =>
  `Incorrect number of operands for operator or function; operator or function: ${operator}, number of operands: ${count}`
const repeated = (operator: string, path: string): string =>
  'The first operand must be distinct from the remaining operands for this operator or function; ' +
  `operator: ${operator}, first operand: ${path}`
const misplaced = (name: string): string =>
  `The function is not allowed to be used this way in an expression; function: ${name}`
const syntax = (token: string, near: string): string => `Syntax error; token: "${token}", near: "${near}"`
const reserved = (word: string): string => `Attribute name is a reserved keyword; reserved keyword: ${word}`
const undefinedValue = (name: string): string =>
  `An expression attribute value used in expression is not defined; attribute value: ${name}`
const undefinedName = (name: string): string =>
  `An expression attribute name used in the document path is not defined; attribute name: ${name}`
const clash = (how: string, one: string, two: string): string =>
  `Two document paths ${how} with each other; must remove or rewrite one of these paths; path one: ${one}, path two: ${two}`
const PARENTHESES = 'The expression has redundant parentheses;'
const TOO_MANY = 'The expression contains too many operators; operator count: 301'
const bounds = (need: string, lower: string, upper: string): string =>
  `The BETWEEN operator requires ${need}; lower bound operand: AttributeValue: ${lower}, upper bound operand: AttributeValue: ${upper}`

type Table = readonly (readonly [text: string, message: string | undefined])[]

const deep = (levels: number): string => Array.from({ length: levels }, () => 'a').join('.')
const either = (condition: string, times: number): string =>
  Array.from({ length: times }, () => condition).join(' OR ')

const longSearches = (count: number): string =>
  `The expression searches for too many long texts; uses of contains with a document path or more than 250 characters as its second operand: ${count}, limit: 10`

const conditions: Table = [
  ['', 'The expression can not be empty;'],
  [either('contains(a, b)', 10), undefined],
  [either('contains(a, b)', 11), longSearches(11)],
  [either('contains(a, :long)', 11), longSearches(11)],
  [either('contains(a, :hel)', 50), undefined],
  [' ', syntax('<EOF>', ' ')],
  ['a = =', syntax('=', '= =')],
  ['a =', syntax('<EOF>', '=')],
  ['a = ', syntax('<EOF>', '= ')],
  ['a', syntax('<EOF>', 'a')],
  ['a and b', syntax('and', 'a and b')],
  ['a = :a)', syntax(')', ':a)')],
  ['a = :a  )  ', syntax(')', ':a  )  ')],
  ['(a = :a', syntax('<EOF>', ':a')],
  ['((a = :a)', syntax('<EOF>', ')')],
  ['(a) and (b)', syntax('and', ') and (')],
  ['(a = b) = c', syntax('=', ') = c')],
  ['(a, b)', syntax(',', 'a, b')],
  ['a between (b and c)', syntax('and', 'b and c')],
  ['a between :a', syntax('<EOF>', ':a')],
  ['a in ()', syntax(')', '()')],
  ['a in :a', syntax(':a', 'in :a')],
  ['a = "x"', syntax('"', '= "x')],
  ['a = 5', syntax('5', '= 5')],
  ['a[00] = :a', syntax('0', '00]')],
  ['a[-1] = :a', syntax('-', '[-1')],
  ['a..b = :a', syntax('.', '..b')],
  ['# = :a', syntax('#', '# =')],
  ['_a = :a', syntax('_', '_a')],
  ['é = :a', syntax('é', 'é =')],
  ['a = not b', syntax('not', '= not b')],
  ['set = :a', syntax('set', 'set =')],
  [':a.b = :a', syntax('.', ':a.b')],
  ['size() = :one', syntax(')', '() =')],
  ['size(a).b = :a', syntax('.', ').b')],
  ['((a = :a))', PARENTHESES],
  ['((a)) = :a', PARENTHESES],
  ['a = ((:a))', PARENTHESES],
  ['not ((a = :a))', PARENTHESES],
  ['foo(a) and ((a = :zz))', PARENTHESES],
  ['((a) = (b)) and (((c) = (d)) or e = f)', undefined],
  ['name = foo(a)', reserved('name')],
  ['a.Status = :zz', reserved('Status')],
  ['foo(a) = name', 'Invalid function name; function: foo'],
  ['Size(a) = :one', 'Invalid function name; function: Size'],
  ['size(foo(a)) = :one', 'Invalid function name; function: foo'],
  [
    'if_not_exists(a, :a) = :a',
    'The function is not allowed in a condition expression; function: if_not_exists',
  ],
  ['size(a)', misplaced('size')],
  ['size(a) and name = :a', misplaced('size')],
  ['attribute_exists(a) = :a', misplaced('attribute_exists')],
  ['size(contains(a, b)) = :one', misplaced('contains')],
  ['a[99999999999] = :zz', 'List index is not within the allowable range; index: [99999999999]'],
  ['a[2147483647] = :a', undefined],
  ['a = :zz', undefinedValue(':zz')],
  ['#zz = :yy', undefinedName('#zz')],
  [':yy = #zz', undefinedValue(':yy')],
  ['a = a and b = :zz', repeated('=', '[a]')],
  ['b = :zz and a = a', undefinedValue(':zz')],
  ['#a.b[1] < a.b[1]', repeated('<', '[a, b, [1]]')],
  ['a in (:a, a)', repeated('IN', '[a]')],
  ['a between :a and a', repeated('BETWEEN', '[a]')],
  ['contains(a, a)', repeated('contains', '[a]')],
  ['size(a) = size(a)', undefined],
  ['size(a, b) = :one', operandCount('size', 2)],
  ['contains(a)', operandCount('contains', 1)],
  ['begins_with(a, :one)', operandType('begins_with', 'N')],
  ['begins_with(a, size(b))', operandType('begins_with', 'N')],
  ['size(:one) = :one', operandType('size', 'N')],
  ['size(size(a)) = :one', operandType('size', 'N')],
  ['a < :list', operandType('<', 'L')],
  ['a = :list', undefined],
  ['attribute_type(a, :one)', operandType('attribute_type', 'N')],
  ['attribute_type(a, b)', operandType('attribute_type', '{NS,SS,L,BS,N,M,B,BOOL,NULL,S}')],
  [
    'attribute_type(a, :Q)',
    'Invalid attribute type name found; type: Q, valid types: {B,NULL,SS,BOOL,L,BS,N,NS,S,M}',
  ],
  [
    'attribute_exists(:a)',
    'Operator or function requires a document path; operator or function: attribute_exists',
  ],
  [
    'a between :two and :one',
    bounds('upper bound to be greater than or equal to lower bound', '{N:2}', '{N:1}'),
  ],
  ['a between :one and :a', bounds('same data type for lower and upper bounds', '{N:1}', '{S:a}')],
  ['a between :true and :one', operandType('BETWEEN', 'BOOL')],
  [`a IN (${Array.from({ length: 100 }, () => ':a').join()})`, undefined],
  [
    `a IN (${Array.from({ length: 101 }, () => ':a').join()})`,
    'The IN operator is provided with too many operands; number of operands: 101',
  ],
  [`attribute_exists(${deep(32)})`, undefined],
  [`attribute_exists(${deep(33)})`, 'The document path has too many nesting levels; nesting levels: 33'],
  [either('a=:a', 150), undefined],
  [either('a=:a', 151), TOO_MANY],
  ['NOT '.repeat(300) + 'a=:a', TOO_MANY],
  ['('.repeat(4000), TOO_MANY],
  ['NOT '.repeat(1000), TOO_MANY],
  ['size('.repeat(800), TOO_MANY],
  ['a = :a'.padEnd(4096), undefined],
  ['a = :a'.padEnd(4097), 'Expression size has exceeded the maximum allowed size; expression size: 4097'],
]

const updates: Table = [
  ['', 'The expression can not be empty;'],
  ['INVALID SYNTAX HERE', syntax('INVALID', 'INVALID SYNTAX')],
  ['SET', syntax('<EOF>', 'SET')],
  ['SET a = :a,', syntax('<EOF>', ',')],
  ['SET (a) = :a', syntax('(', 'SET (a')],
  ['SET a = :one + :one + :one', syntax('+', ':one + :one')],
  ['SET a = (:one + :one) + :one', syntax('+', ') + :one')],
  ['SET a = :one + (:one + :one)', syntax('+', ':one + :one')],
  ['SET a = :a b = :a', syntax('b', ':a b =')],
  ['SET a = :a, REMOVE b', syntax('REMOVE', ', REMOVE b')],
  ['ADD a b', syntax('b', 'a b')],
  ['ADD a = :one', syntax('=', 'a = :one')],
  ['REMOVE :a', syntax(':a', 'REMOVE :a')],
  ['SET a = ((:one + :one))', PARENTHESES],
  ['SET a = ((:one) + (:one))', undefined],
  ['SET a = :a SET b = :zz', 'The "SET" section can only be used once in an update expression;'],
  ['SET a = :a SET name = :a', reserved('name')],
  ['SET a = size(a)', 'The function is not allowed in an update expression; function: size'],
  ['SET a = foo(name)', 'Invalid function name; function: foo'],
  ['SET a = list_append(list_append(:list, :list), :list)', misplaced('list_append')],
  ['SET a = list_append(:list, :list) + :one', misplaced('list_append')],
  ['SET a = :one, a.b = :zz', clash('overlap', '[a]', '[a, b]')],
  ['SET a[0] = :one, a.b = :one', clash('conflict', '[a, [0]]', '[a, b]')],
  ['REMOVE #a, a', clash('overlap', '[a]', '[a]')],
  ['SET a = :zz', undefinedValue(':zz')],
  ['SET #zz = :zz', undefinedName('#zz')],
  ['SET a = :zz REMOVE #zz', undefinedName('#zz')],
  ['SET a = :a + :one', operandType('+', 'S')],
  ['SET a = list_append(:list, :one)', operandType('list_append', 'N')],
  ['SET a = list_append(:list)', operandCount('list_append', 1)],
  ['SET a = if_not_exists(b, b)', repeated('if_not_exists', '[b]')],
  [
    'SET a = if_not_exists(:one, :one)',
    'Operator or function requires a document path; operator or function: if_not_exists',
  ],
  [
    'ADD a :a',
    'Incorrect operand type for operator or function; operator: ADD, operand type: STRING, typeSet: ALLOWED_FOR_ADD_OPERAND',
  ],
  [
    'DELETE a :one',
    'Incorrect operand type for operator or function; operator: DELETE, operand type: NUMBER, typeSet: ALLOWED_FOR_DELETE_OPERAND',
  ],
  [`SET ${Array.from({ length: 301 }, (_, at) => `a${at}=a+b`).join()}`, TOO_MANY],
  ['SET a = :a'.padEnd(4097), 'Expression size has exceeded the maximum allowed size;'],
  ['SET a = (:one'.padEnd(4000, '('), syntax('(', ':one((')],
]

const projections: Table = [
  ['', 'The expression can not be empty;'],
  ['!!! INVALID !!!', syntax('!', '!!')],
  [',', syntax(',', ',')],
  ['n,', syntax('<EOF>', ',')],
  ['n s', syntax('s', 'n s')],
  ['(n)', syntax('(', '(n')],
  ['size(n)', syntax('(', 'size(n')],
  ['#zz', undefinedName('#zz')],
  ['a.name', reserved('name')],
  ['m, m.x', clash('overlap', '[m]', '[m, x]')],
  ['m.x, m[0]', clash('conflict', '[m, x]', '[m, [0]]')],
]

describe('errors of conditions', () => refuse('FilterExpression', conditions))
describe('errors of updates', () => refuse('UpdateExpression', updates))
describe('errors of projections', () => refuse('ProjectionExpression', projections))

function refuse(kind: 'FilterExpression' | 'UpdateExpression' | 'ProjectionExpression', table: Table): void {
  for (const [text, message] of table) {
    test(`${JSON.stringify(text.slice(0, 60))}: ${message ?? 'none'}`, () => {
      const request = requestFor(text)
      const actual = messageOf(() => {
        if (kind === 'UpdateExpression') request.update(text)
        else if (kind === 'ProjectionExpression') request.projection(text)
        else request.condition(text, kind)
      })
      assert.equal(actual, message === undefined ? undefined : `Invalid ${kind}: ${message}`)
    })
  }
}

test('there are 573 reserved words', () => {
  assert.equal(reservedWordCount, 573)
})
