// The quick look at a request's shape never lets pass what the slow one refuses.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { fitsOf } from '../../src/router/shape-fits.js'
import { explainShape, tableNameShape, type StructShape } from '../../src/router/shape.js'

const shape: StructShape = {
  kind: 'struct',
  members: {
    TableName: tableNameShape,
    Limit: { kind: 'integer', valueMin: 1, valueMax: 10 },
    Mode: { kind: 'string', values: ['A', 'B'] },
    Flag: { kind: 'boolean', required: true },
    Names: { kind: 'map', lengthMax: 2, keyPattern: '[ab]+', keyLengthMax: 3, member: { kind: 'any' } },
    Items: {
      kind: 'list',
      lengthMin: 1,
      lengthMax: 2,
      member: { kind: 'struct', members: { N: { kind: 'long', required: true } } },
    },
  },
}

const value = fc.oneof(
  fc.constantFrom(
    null,
    undefined,
    true,
    'A',
    'C',
    '',
    'arn:x',
    'Table.1',
    'no name',
    0,
    1,
    10,
    11,
    1.5,
    [],
    {},
  ),
  fc.array(fc.oneof(fc.record({ N: fc.constantFrom(1, 'x', null) }), fc.constant(null)), { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('a', 'ab', 'abab', 'c'), fc.constantFrom(1, null, 'x'), { maxKeys: 3 }),
)

/** Each member is as it should be, more often than not. */
const good: Readonly<Record<string, unknown>> = {
  TableName: 'Table',
  Limit: 10,
  Mode: 'B',
  Flag: false,
  Names: { ab: 1 },
  Items: [{ N: 1 }],
}
const members = Object.fromEntries(
  Object.entries(good).map(([name, fine]) => [
    name,
    fc.oneof({ arbitrary: fc.constant(fine), weight: 5 }, { arbitrary: value, weight: 1 }),
  ]),
)

test('what fits a shape at the first look is not refused at the second', () => {
  const seen = { fits: 0, refused: 0 }
  fc.assert(
    fc.property(fc.record(members, { requiredKeys: [] }), (input) => {
      if (!fitsOf(shape)(input)) {
        seen.refused++
        return
      }
      seen.fits++
      assert.doesNotThrow(() => explainShape(shape, input))
    }),
    { numRuns: 5000 },
  )
  assert.ok(seen.fits > 300 && seen.refused > 1000, JSON.stringify(seen))
})
