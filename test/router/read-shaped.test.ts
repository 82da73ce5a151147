import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { DynamoError } from '../../src/model/errors.js'
import { batchWriteItem } from '../../src/router/writes/batch-write-item.js'
import { putItem } from '../../src/router/writes/put-item.js'
import { readShaped, shapedLimits } from '../../src/router/shapes/read-shaped.js'
import type { StructShape } from '../../src/router/shapes/shape.js'

function readAll(text: string, shape: StructShape): { value: unknown; turns: number } {
  const reading = readShaped(text, shape)
  for (let turns = 1; ; turns++) {
    const step = reading.next()
    if (step.done === true) return { value: step.value, turns }
  }
}

const read = (text: string, shape: StructShape = putItem.shape): unknown => readAll(text, shape).value

const refusal = (text: string, shape: StructShape = putItem.shape): string => {
  try {
    read(text, shape)
  } catch (error) {
    assert.ok(error instanceof DynamoError)
    assert.equal(error.name, 'SerializationException')
    return error.message
  }
  return assert.fail('it was read')
}

/** White space where JSON allows it, and all names and texts escaped or not. */
const spaced = (value: unknown, gap: string): string => JSON.stringify(value, undefined, gap)

test('large requests: along the shape is read what JSON.parse reads', () => {
  const names = fc.constantFrom('a', '__proto__', '"', '\\', 'ä', '\u0001', ' ', '}', '[{')
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.record({ S: fc.string({ unit: 'binary' }) }),
      fc.record({ N: fc.integer().map(String) }),
      fc.record({ L: fc.array(tie('value')) }),
      fc.record({ M: fc.dictionary(names, tie('value')) }),
      fc.record({ SS: fc.array(names) }),
      fc.constant(null),
    ),
  })).value
  const request = fc.record(
    {
      TableName: fc.string(),
      Item: fc.dictionary(names, value, { noNullPrototype: true }),
      ReturnValues: fc.constantFrom('NONE', 'ALL_OLD', null),
      Expected: fc.dictionary(names, fc.record({ Exists: fc.boolean(), Value: value })),
      ExpressionAttributeNames: fc.dictionary(names, fc.string()),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(request, fc.constantFrom('', ' ', '\n\t\r'.slice(0, 2)), (input, gap) => {
      const text = spaced(input, gap)
      assert.deepEqual(read(text), JSON.parse(text))
    }),
    { numRuns: 50 },
  )
})

test('large requests: what JSON.parse refuses is refused, wherever it stands', () => {
  const text = '{"TableName":"T","Item":{"a":{"L":[{"S":"x\\""},{"N":"1"}]},"b":{"M":{}}},"x":[1]}'
  assert.doesNotThrow(() => read(text))
  fc.assert(
    fc.property(
      fc.nat(text.length),
      fc.constantFrom('', ',', '}', ']', '"', '{', ':', 'x', '\\', '0'),
      (at, put) => {
        for (const broken of [
          text.slice(0, at) + put + text.slice(at),
          text.slice(0, at) + put + text.slice(at + 1),
        ]) {
          let parsed: unknown
          try {
            parsed = JSON.parse(broken)
          } catch {
            refusal(broken)
            continue
          }
          // Otherwise it is read, or has a value of a wrong type.
          try {
            read(broken)
          } catch (error) {
            assert.equal((error as Error).name, 'SerializationException', JSON.stringify(parsed))
          }
        }
      },
    ),
  )
})

const many = (count: number, piece: string): string => Array.from({ length: count }, () => piece).join(',')

/** The text ends where the reader must have stopped: what is behind it is no JSON, and would be said so. */
const UNREAD = '!!!'
const tooMany = /more values than any valid one/

test('large requests: the first wrong token ends it, whatever comes behind', () => {
  assert.match(refusal(`[[],${UNREAD}`), /Unrecognized collection type/)
  assert.match(refusal(`{"TableName":[${UNREAD}`), /Unrecognized collection type class java.lang.String/)
  assert.match(refusal(`{"TableName":1,${UNREAD}`), /NUMBER_VALUE cannot be converted to String/)
  assert.match(
    refusal(`{"Item":[${UNREAD}`),
    /Unrecognized collection type java.util.Map<java.lang.String, com.amazonaws.dynamodb.v20120810.AttributeValue>/,
  )
})

test('large requests: no more elements are read than a valid request could have', () => {
  const { unknownMax, valuesMax, elementsBeyondMax } = shapedLimits
  assert.match(refusal(`{"unknown":[${many(unknownMax + 1, '{}')},${UNREAD}`), tooMany)
  assert.match(refusal(`{"unknown":[${many(unknownMax + 2, '0')},${UNREAD}`), tooMany)
  assert.match(refusal(`{"Item":{"a":{"L":[${many(valuesMax, '{}')},${UNREAD}`), tooMany)
  assert.match(refusal(`{"Item":{"a":{"SS":[${many(valuesMax + 2, '""')},${UNREAD}`), tooMany)
  const writes = `{"RequestItems":{"T":[${many(elementsBeyondMax + 1, '{}')},${UNREAD}`
  assert.match(refusal(writes, batchWriteItem.shape), tooMany)
  const tables = many(elementsBeyondMax, '"T":[]')
  assert.match(refusal(`{"RequestItems":{${tables},"T":[],${UNREAD}`, batchWriteItem.shape), tooMany)
})

test('large requests: a value nests no deeper than any could', () => {
  assert.match(
    refusal(`{"Item":{"a":${'['.repeat(shapedLimits.depthMax + 1)}`),
    /nests deeper than 1000 levels/,
  )
})

test('large requests: the item with the most values that DynamoDB takes is read, in several turns', () => {
  const nulls = many(400 * 512 - 10, '{"NULL":true}')
  const item = read(`{"TableName":"T","Item":{"id":{"S":"a"},"a":{"L":[${nulls}]}}}`)
  assert.equal((item as { Item: { a: { L: unknown[] } } }).Item.a.L.length, 400 * 512 - 10)
  const put = `{"PutRequest":{"Item":{"id":{"S":"a"},"a":{"L":[${many(20_000, '{"NULL":true}')}]}}}}`
  const { turns } = readAll(`{"RequestItems":{"T":[${many(25, put)}]}}`, batchWriteItem.shape)
  assert.ok(turns > 20, `${turns} turns`)
})
