// What the console writes for other programs: tables of text, and code to paste.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runInThisContext } from 'node:vm'
import type { AttributeValue } from '../../console/values/attribute.js'
import { fromCsv, toCsv } from '../../console/values/csv.js'
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
