// What a write step looks at (rules/write-step.ts): the bytes that it parses are those that work ahead counts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerSlot, txId, type Timestamp } from '../../src/model/brand.js'
import type { Action, ContendedItem, Pending } from '../../src/rules/item/contended-item.js'
import { TextPut } from '../../src/model/text-put.js'
import type { Item } from '../../src/model/value.js'
import { allRules } from '../../src/rules/item/section-4.js'
import { decideWriteStep } from '../../src/rules/write-step.js'
import { deleteRequest, number, plain, plainItem, updateRequest } from '../suites/tables.js'

const at = (timestamp: number): Timestamp => timestamp as Timestamp
const update = updateRequest(plain, plainItem('a'), 'ADD v :one', { values: { ':one': number(1) } })
const pending: Pending = {
  tx: txId(ledgerSlot('1'.padStart(32, '0')), 'n'),
  timestamp: at(1_000),
  action: update,
  decided: false,
}

/** Last written at 10, with an update pending at 1,000; and how often it was parsed. */
function contendedItem() {
  const seen = { parsed: 0 }
  const item: ContendedItem = {
    item: () => {
      seen.parsed++
      return plainItem('a', { v: number(1) })
    },
    written: at(10),
    writtenBlindly: false,
    read: at(0),
    pending: [pending],
    version: at(10),
  }
  return { item, seen }
}

const { mutation: _, ...rest } = deleteRequest(plain, plainItem('a'))
const check: Action = { ...rest, mutation: { kind: 'check' } }

test('write step: a check that expects a version parses nothing, though transactions are pending on its item', () => {
  const { item, seen } = contendedItem()
  const action: Action = { ...check, expected: { kind: 'version', written: at(10) } }
  const verdict = decideWriteStep([{ item, action }], at(2_000), allRules)
  assert.equal(verdict.verdict, 'done')
  assert.ok(verdict.timestamp < 1_000, 'it stands before what is pending')
  assert.equal(seen.parsed, 0)
})

test('write step: a check with a condition sees the committed item before what is pending', () => {
  const { item, seen } = contendedItem()
  const conditioned = (condition: string) => {
    const { condition: bound } = deleteRequest(plain, plainItem('a'), {
      condition,
      values: { ':one': number(1) },
    })
    return { ...check, condition: bound! }
  }
  const decide = (condition: string) =>
    decideWriteStep([{ item, action: conditioned(condition) }], at(2_000), allRules)
  assert.equal(decide('v = :one').verdict, 'done')
  assert.equal(decide('v > :one').verdict, 'refused')
  assert.equal(seen.parsed, 2)
})

test('write step: a put of which the text is known is not parsed where nothing depends on its image', () => {
  const text = Buffer.from(JSON.stringify(plainItem('a', { v: number(2) })))
  const put = new TextPut(4, text)
  const parsed: string[] = []
  Object.defineProperty(put, 'item', {
    get: () => {
      parsed.push('put')
      return JSON.parse(text.toString()) as Item
    },
  })
  const action: Action = { ...rest, mutation: put }
  const free: ContendedItem = { ...contendedItem().item, pending: [] }
  const verdict = decideWriteStep([{ item: free, action }], at(2_000), allRules)
  assert.equal(verdict.verdict, 'done')
  assert.deepEqual(parsed, [])
})
