// What the console writes for other programs: tables of text, and code to paste.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInThisContext } from 'node:vm'
import type { AttributeValue, Item } from '../../console/values/attribute.js'
import { fromCsv, toCsv } from '../../console/values/csv.js'
import { itemFromJson, toPlainJson } from '../../console/values/plain-json.js'
import { type Filter, pathOf, requestFor } from '../../console/wire/requests.js'
import { jsOf, literal, pythonOf } from '../../console/values/literals.js'

const FORMULAS = ['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '=HYPERLINK("http://x","y")']

test('console: no cell and no name of an exported table begins as a formula, and all come back', () => {
  const items = FORMULAS.map((text) => ({ id: { S: text }, [text]: { S: 'plain' }, count: { N: '-1' } }))
  const csv = toCsv(items)
  const cells = csv.split('\r\n').flatMap((line) => line.split(','))
  assert.deepEqual(
    cells.filter((cell) => /^"?[=+\-@\t\r]/.test(cell)),
    [],
  )
  assert.deepEqual(
    fromCsv(csv).map((item) => ({ ...item })),
    items,
  )
})

test('console: an attribute called __proto__ is a member of pasted code, not its prototype', () => {
  const item = JSON.parse('{"id":{"S":"1"},"__proto__":{"S":"x"}}') as Record<string, AttributeValue>
  for (const code of [jsOf(item), literal({ M: item })]) {
    const pasted = runInThisContext(`(${code})`) as object
    assert.deepEqual(Object.keys(pasted), ['id', '__proto__'], code)
    assert.equal(Object.getPrototypeOf(pasted), Object.prototype)
  }
})

test('console: bytes in Python code are bytes, in sets too', () => {
  assert.equal(pythonOf({ B: 'AQ==' }), `{"B": __import__('base64').b64decode("AQ==")}`)
  assert.equal(
    pythonOf({ BS: ['AQ==', 'Ag=='] }),
    `{"BS": [__import__('base64').b64decode("AQ=="), __import__('base64').b64decode("Ag==")]}`,
  )
})

test('console: an item comes back from its plain JSON as it was, whatever its maps are called', () => {
  const digits = '12345678901234567890123456789012345678'
  const item = {
    id: { N: digits },
    like: { M: { SS: { L: [{ S: 'a' }] } } },
    bytes: { M: { B: { S: 'AQ==' } } },
    nested: { M: { M: { M: { M: { M: {} } } } } },
    marked: { M: { M: { N: '1' } } },
    set: { NS: ['1', digits] },
    list: { L: [{ M: { BS: { N: '1' } } }, { BS: ['AQ=='] }, { NULL: true }] },
    empty: { M: {} },
    __proto__: null,
  } as unknown as Item
  const text = toPlainJson(item)
  assert.deepEqual(JSON.parse(JSON.stringify(itemFromJson(text, 'plain'))), JSON.parse(JSON.stringify(item)))
  // What a person writes by hand is a map.
  const own = itemFromJson('{"a": {"M": {"x": 1}}, "b": {"M": {}}, "c": {"SS": {"x": 1}}}', 'plain')
  assert.deepEqual(JSON.parse(JSON.stringify(own)), {
    a: { M: { M: { M: { x: { N: '1' } } } } },
    b: { M: { M: { M: {} } } },
    c: { M: { SS: { M: { x: { N: '1' } } } } },
  })
})

const filter = (attribute: string, more: Partial<Filter> = {}): Filter => ({
  attribute,
  operator: '=',
  type: 'S',
  value: 'x',
  other: '',
  ...more,
})
const inputOf = (...filters: readonly Filter[]): Readonly<Record<string, unknown>> =>
  requestFor({
    table: 'T',
    index: undefined,
    mode: 'scan',
    hashes: [],
    ranges: [],
    descending: false,
    filters,
    joinedBy: 'AND',
  }).input

test('console: a filter is on a path, and a name in quotes may have dots', () => {
  for (const [path, expression, names] of [
    ['a', '#n0', ['a']],
    ['a.b[0][12].c', '#n0.#n1[0][12].#n2', ['a', 'b', 'c']],
    ['"a.b"', '#n0', ['a.b']],
    ['x."a.b[0]"[3]', '#n0.#n1[3]', ['x', 'a.b[0]']],
    ['"a', '#n0', ['"a']],
    ['a.', '#n0.#n1', ['a', '']],
    ['a.a', '#n0.#n0', ['a']],
    [pathOf('say "hi". [1]'), '#n0', ['say "hi". [1]']],
    ['__proto__', '#n0', ['__proto__']],
  ] as const) {
    const input = inputOf(filter(path))
    assert.equal(input['FilterExpression'], `${expression} = :v0`, path)
    assert.deepEqual(Object.values(input['ExpressionAttributeNames'] as object), names, path)
  }
})

test('console: a truth that was not chosen is true, and nothing else is taken for false', () => {
  const truth = (value: string): unknown =>
    (inputOf(filter('a', { type: 'BOOL', value }))['ExpressionAttributeValues'] as Record<string, unknown>)[
      ':v0'
    ]
  assert.deepEqual(
    ['', 'true', 'false'].map(truth),
    [true, true, false].map((BOOL) => ({ BOOL })),
  )
})
