import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { getItem } from '../../src/router/reads/get-item.js'
import { putItem } from '../../src/router/writes/put-item.js'
import { queryOperations } from '../../src/router/reads/query-operations.js'
import { tableOperations } from '../../src/router/tables/tables.js'
import { transactionOperations } from '../../src/router/transactions/transaction-operations.js'
import { updateItem } from '../../src/router/writes/update-item.js'
import { fitsShape } from '../../src/router/shapes/shape-fits.js'
import { type RequestShape, checkShape } from '../../src/router/shapes/shape.js'

const operations = [
  getItem,
  putItem,
  updateItem,
  ...queryOperations,
  ...transactionOperations,
  ...tableOperations,
]

const junk = fc.constantFrom<unknown>(
  null,
  undefined,
  '',
  'x'.repeat(300),
  'arn:x',
  0,
  -1,
  1e9,
  true,
  [],
  {},
  [null],
)

/** Values that nearly fit: of the right kind mostly, with members that are there or not, and junk in between. */
function near(shape: RequestShape): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 20, arbitrary: fitting(shape) }, { weight: 1, arbitrary: junk })
}

function fitting(shape: RequestShape): fc.Arbitrary<unknown> {
  switch (shape.kind) {
    case 'any':
      return fc.constantFrom<unknown>({ S: 'a' }, 1, 'x')
    case 'boolean':
      return fc.boolean()
    case 'string':
      return fc.constantFrom(...(shape.values ?? ['Users', 'a.b-c_d', 'arn:aws:x', 'abc', '*']))
    case 'integer':
    case 'long':
    case 'double':
      return fc.integer({ min: -1, max: 50 })
    case 'list':
      return fc.array(near(shape.member), { maxLength: 3 })
    case 'map':
      return fc.dictionary(fc.constantFrom('a', '#b', 'Users', '__proto__'), near(shape.member), {
        maxKeys: 2,
      })
    case 'struct': {
      const members = Object.fromEntries(
        Object.entries(shape.members).map(([name, member]) => [name, near(member)]),
      )
      const requiredKeys = Object.keys(shape.members).filter((name) => shape.members[name]?.required)
      return fc.record(members, { requiredKeys: requiredKeys as never[] })
    }
  }
}

for (const { name, shape } of operations) {
  test(`${name}: what fits at a glance is never refused by the long look`, () => {
    let fitted = 0
    fc.assert(
      fc.property(near(shape), (input) => {
        if (!fitsShape(shape, input)) return
        fitted++
        checkShape(shape, input)
      }),
      { numRuns: 300 },
    )
    assert.ok(fitted > 0, 'nothing fitted, so nothing was proved')
  })
}

test('a usual request fits at a glance', () => {
  const Item = { id: { S: 'a' } }
  assert.equal(fitsShape(putItem.shape, { TableName: 'Users', Item }), true)
  const put = { Put: { TableName: 'Users', Item } }
  const transact = transactionOperations.find((each) => each.name === 'TransactWriteItems')
  assert.equal(fitsShape(transact!.shape, { TransactItems: [put, put] }), true)
})
