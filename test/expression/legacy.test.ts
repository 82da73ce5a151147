import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  applyUpdate,
  conditionOfExpected,
  conditionOfFilter,
  evaluateCondition,
  keyConditionFor,
  keyConditionsOfOlder,
  project,
  projectionOfAttributesToGet,
  refuseKeyFilter,
  updateOfAttributeUpdates,
} from '../../src/expression/expression.js'
import type { KeySchema } from '../../src/model/table.js'
import type { AttributeValue, Item } from '../../src/model/value.js'
import { messageOf } from './request.js'

const INVALID = 'One or more parameter values were invalid: '
const item: Item = {
  pk: { S: 'k' },
  n: { N: '5' },
  s: { S: 'hello' },
  ss: { SS: ['a', 'b'] },
  l: { L: [{ S: 'x' }] },
  'm.x': { N: '1' },
}
const five: AttributeValue = { N: '5' }
const compare = (ComparisonOperator: string, ...AttributeValueList: AttributeValue[]): object => ({
  ComparisonOperator,
  AttributeValueList,
})

describe('Expected', () => {
  for (const [expected, holds] of [
    [{ n: { Value: { N: '5.0' } } }, true],
    [{ n: { Exists: true, Value: { N: '6' } } }, false],
    [{ zz: { Value: five } }, false],
    [{ zz: { Exists: false } }, true],
    [{ n: { Exists: false } }, false],
    [{ 'm.x': { Value: { N: '1' } } }, true],
    [{ n: { ComparisonOperator: 'EQ', Value: five } }, true],
    [{ n: compare('NE', { S: 'a' }) }, true],
    [{ zz: compare('NE', { S: 'a' }) }, true],
    [{ zz: compare('GT', { S: 'a' }) }, false],
    [{ n: compare('GE', five) }, true],
    [{ n: compare('IN', { N: '1' }, five) }, true],
    [{ n: compare('BETWEEN', { N: '1' }, five) }, true],
    [{ n: compare('NULL') }, false],
    [{ n: { ComparisonOperator: 'NOT_NULL' } }, true],
    [{ s: compare('BEGINS_WITH', { S: 'he' }) }, true],
    [{ s: compare('CONTAINS', { S: 'ell' }) }, true],
    [{ l: compare('CONTAINS', { S: 'x' }) }, true],
    [{ s: compare('NOT_CONTAINS', { S: 'zzz' }) }, true],
    [{ n: compare('NOT_CONTAINS', { S: 'zzz' }) }, true],
    [{ zz: compare('NOT_CONTAINS', { S: 'zzz' }) }, false],
    [{ ss: compare('EQ', { SS: ['b', 'a'] }) }, true],
  ] as const) {
    test(`${JSON.stringify(expected)} is ${holds}`, () => {
      assert.equal(evaluateCondition(conditionOfExpected(expected, undefined)!, item), holds)
    })
  }

  for (const [expected, message] of [
    [{ n: {} }, `${INVALID}Value must be provided when Exists is null for Attribute: n`],
    [{ n: { Exists: true } }, `${INVALID}Value must be provided when Exists is true for Attribute: n`],
    [
      { n: { Exists: false, Value: five } },
      `${INVALID}Value cannot be used when Exists is false for Attribute: n`,
    ],
    [
      { n: { Value: five, AttributeValueList: [five] } },
      `${INVALID}Value and AttributeValueList cannot be used together for Attribute: n`,
    ],
    [
      { n: { AttributeValueList: [five] } },
      `${INVALID}AttributeValueList can only be used with a ComparisonOperator for Attribute: n`,
    ],
    [
      { n: { Exists: true, ComparisonOperator: 'EQ' } },
      `${INVALID}Exists and ComparisonOperator cannot be used together for Attribute: n`,
    ],
    [
      { n: { ComparisonOperator: 'EQ' } },
      `${INVALID}Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: n`,
    ],
    [{ n: compare('EQ') }, `${INVALID}Invalid number of argument(s) for the EQ ComparisonOperator`],
    [{ n: compare('NULL', five) }, `${INVALID}Invalid number of argument(s) for the NULL ComparisonOperator`],
    [{ n: compare('IN') }, `${INVALID}Invalid number of argument(s) for the IN ComparisonOperator`],
    [
      { n: compare('IN', five, { S: 'a' }) },
      `${INVALID}AttributeValues inside AttributeValueList must be of same type`,
    ],
    [
      { n: compare('LT', { SS: ['a'] }) },
      `${INVALID}ComparisonOperator LT is not valid for SS AttributeValue type`,
    ],
    [
      { n: compare('BEGINS_WITH', five) },
      `${INVALID}ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type`,
    ],
    [
      { n: compare('BETWEEN', five, { N: '1' }) },
      'The BETWEEN condition was provided a range where the lower bound is greater than the upper bound',
    ],
  ] as const) {
    test(`${JSON.stringify(expected)} is refused`, () => {
      assert.equal(
        messageOf(() => conditionOfExpected(expected, undefined)),
        message,
      )
    })
  }

  test('ConditionalOperator joins two or more', () => {
    const two = { n: { Value: { N: '6' } }, s: { Value: { S: 'hello' } } }
    assert.equal(evaluateCondition(conditionOfExpected(two, 'OR')!, item), true)
    assert.equal(evaluateCondition(conditionOfExpected(two, 'AND')!, item), false)
    assert.equal(evaluateCondition(conditionOfExpected(two, undefined)!, item), false)
    assert.equal(conditionOfExpected({}, undefined), undefined)
    assert.equal(
      messageOf(() => conditionOfExpected({ n: { Value: five } }, 'OR')),
      'ConditionalOperator can only be used when Filter or Expected has two or more elements',
    )
    assert.equal(
      messageOf(() => conditionOfExpected(undefined, 'OR')),
      'ConditionalOperator cannot be used without Filter or Expected',
    )
  })
})

test('filters need an operator, and a query filter keeps off the key', () => {
  assert.equal(
    messageOf(() => conditionOfFilter({ n: {} }, undefined, 'ScanFilter')),
    "1 validation error detected: Value null at 'scanFilter.n.member.comparisonOperator' failed to satisfy " +
      'constraint: Member must not be null',
  )
  const filter = conditionOfFilter({ pk: compare('EQ', { S: 'k' }) }, undefined, 'QueryFilter')!
  assert.equal(evaluateCondition(filter, item), true)
  assert.equal(
    messageOf(() => refuseKeyFilter(filter, { partition: { name: 'pk', type: 'S' } }, 'QueryFilter')),
    'QueryFilter can only contain non-primary key attributes: Primary key attribute: pk',
  )
})

test('KeyConditions become a key condition', () => {
  const key: KeySchema = { partition: { name: 'pk', type: 'S' }, sort: { name: 'sk', type: 'N' } }
  const pk = compare('EQ', { S: 'k' })
  assert.deepEqual(
    keyConditionFor(keyConditionsOfOlder({ sk: compare('BETWEEN', { N: '1' }, five), pk }), key),
    {
      partition: { S: 'k' },
      sort: { op: 'BETWEEN', values: [{ N: '1' }, five] },
    },
  )
  const refused = (json: unknown): string | undefined =>
    messageOf(() => keyConditionFor(keyConditionsOfOlder(json), key))
  assert.equal(refused({}), 'Conditions can be of length 1 or 2 only')
  assert.equal(refused({ pk: compare('GT', { S: 'k' }) }), 'Query key condition not supported')
  assert.equal(refused({ sk: compare('EQ', five) }), 'Query condition missed key schema element: pk')
  assert.equal(
    refused({ pk, sk: compare('NE', five) }),
    'Attempted conditional constraint is not an indexable operation',
  )
})

describe('AttributeUpdates', () => {
  const MISMATCH = 'Type mismatch for attribute to update'
  for (const [updates, expected] of [
    [{ n: { Value: { N: '1' } } }, { n: { N: '1' } }],
    [{ n: { Action: 'ADD', Value: { N: '1' } } }, { n: { N: '6' } }],
    [{ zz: { Action: 'ADD', Value: { L: [] } } }, { zz: { L: [] } }],
    [{ l: { Action: 'ADD', Value: { L: [five] } } }, { l: { L: [{ S: 'x' }, five] } }],
    [{ ss: { Action: 'DELETE', Value: { SS: ['a'] } } }, { ss: { SS: ['b'] } }],
    [{ ss: { Action: 'DELETE', Value: { SS: ['a', 'b'] } } }, { ss: undefined }],
    [{ n: { Action: 'DELETE' }, zz: { Action: 'DELETE' } }, { n: undefined }],
    [{ n: { Action: 'ADD', Value: { SS: ['a'] } } }, MISMATCH],
    [{ s: { Action: 'DELETE', Value: { SS: ['a'] } } }, MISMATCH],
  ] as const) {
    test(JSON.stringify(updates), () => {
      const result = applyUpdate(updateOfAttributeUpdates(updates), item, {})
      if (typeof expected === 'string') return assert.deepEqual(result, { refusal: expected })
      assert.ok('item' in result)
      assert.deepEqual({ ...item, ...expected }, { ...expected, ...result.item })
    })
  }

  for (const [updates, message] of [
    [{ n: {} }, `${INVALID}Only DELETE action is allowed when no attribute value is specified`],
    [{ n: { Action: 'ADD', Value: { S: 'a' } } }, `${INVALID}ADD action is not supported for the type S`],
    [
      { n: { Action: 'DELETE', Value: five } },
      `${INVALID}DELETE action with value is not supported for the type N`,
    ],
  ] as const) {
    test(`${JSON.stringify(updates)} is refused`, () => {
      assert.equal(
        messageOf(() => updateOfAttributeUpdates(updates)),
        message,
      )
    })
  }
})

test('AttributesToGet names attributes, not paths, each once', () => {
  assert.deepEqual(project(projectionOfAttributesToGet(['n', 'm.x', 'zz']), item), {
    n: five,
    'm.x': { N: '1' },
  })
  assert.equal(
    messageOf(() => projectionOfAttributesToGet(['n', 'n'])),
    `${INVALID}Duplicate value in attribute name: n`,
  )
})
