import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerSlot, spaceId, timestamp, txId } from '../../../src/model/brand.js'
import { itemKey } from '../../../src/model/key-bytes.js'
import type { TableShape } from '../../../src/model/table.js'
import { openExpressions } from '../../../src/expression/expression.js'
import { type Pending } from '../../../src/rules/item/contended-item.js'
import {
  decodePending,
  encodeEntry,
  encodePending,
  hasTombstone,
} from '../../../src/storage/items/pending-bytes.js'
import { inSpace } from '../../../src/line/spaces.js'

const table: TableShape = {
  name: 'Bücher',
  space: spaceId(7),
  key: { partition: { name: 'id', type: 'S' } },
  indexes: [],
}
const keyAttributes = { id: { S: 'straße' } }
const key = itemKey(table.key, keyAttributes)
const address = inSpace(table.space, key.bytes)
const shape = Buffer.from(JSON.stringify(table))
const expressions = openExpressions({
  ExpressionAttributeNames: { '#c': 'count', '#__proto__': '__proto__' },
  ExpressionAttributeValues: { ':one': { N: '1' }, ':text': { S: '🙂"\\' } },
})

const pendingOf = (mutation: Pending['action']['mutation'], nonce: string): Pending => ({
  tx: txId(ledgerSlot('0123456789abcdef'.repeat(2)), nonce),
  timestamp: timestamp(1_754_000_000_000_001),
  decided: nonce === 'decided',
  action: {
    table,
    key,
    keyAttributes,
    mutation,
    condition: expressions.condition('#c = :one OR #__proto__ = :text', 'ConditionExpression'),
  },
})

const pending: readonly Pending[] = [
  pendingOf({ kind: 'put', item: { ...keyAttributes, text: { S: 'ü🙂\u0000' } } }, 'a'),
  pendingOf({ kind: 'update', update: expressions.update('SET #c = :one') }, 'decided'),
  pendingOf({ kind: 'delete' }, 'b'),
  pendingOf({ kind: 'check' }, 'c'),
]

test('what is pending on an item is read back as it was written', () => {
  for (const tombstone of [
    undefined,
    { timestamp: timestamp(5), blind: true },
    { timestamp: timestamp(6), blind: false },
  ]) {
    const item = { pending, ...(tombstone && { tombstone }) }
    const entries = pending.map((each) => encodeEntry(each, shape))
    const stored = encodePending(item, entries)
    const decoded = decodePending(address, stored)
    assert.deepEqual(decoded.item, item)
    assert.deepEqual(decoded.entries, entries)
    assert.equal(hasTombstone(stored), tombstone !== undefined)
  }
})

test('the item of a pending put is in its bytes as it will be stored', () => {
  const [put] = pending as [Pending]
  const { bytes, itemAt } = encodeEntry(put, shape)
  assert.equal(bytes.toString('utf8', itemAt), JSON.stringify({ ...keyAttributes, text: { S: 'ü🙂\u0000' } }))
})

test('pending bytes of another format are refused', () => {
  assert.throws(() => decodePending(address, Buffer.from('{"pending":[]}')), /format 123/)
})
