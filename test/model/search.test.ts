import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { includesText } from '../../src/model/search.js'

test('contains: a part of any length is found exactly where the language finds it', () => {
  const letters = fc.array(fc.constantFrom('x', 'y', '\u{1f600}'), { maxLength: 6 })
  fc.assert(
    fc.property(
      letters,
      fc.nat(200),
      fc.nat(500),
      fc.nat(500),
      fc.boolean(),
      (unit, times, from, to, spoilt) => {
        const text = `${unit.join('').repeat(times)}${'x'.repeat(300)}`
        const part = text.slice(Math.min(from, to), Math.max(from, to)) + (spoilt ? 'z' : '')
        assert.equal(includesText(text, part), text.includes(part))
      },
    ),
  )
})

test('contains: texts made to be slow are looked at twice a character, and no more', () => {
  const text = 'x'.repeat(400_000)
  for (const part of [
    `xy${'x'.repeat(20_000)}`,
    `${'x'.repeat(20_000)}y`,
    `${'x'.repeat(10_000)}y${'x'.repeat(10_000)}`,
    'xy'.repeat(10_000),
  ]) {
    const counted = { looks: 0 }
    assert.equal(includesText(text, part, counted), false)
    assert.ok(counted.looks >= text.length && counted.looks <= 2 * text.length)
  }
})
