import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lsn, timestamp } from '../../src/model/brand.js'
import type { Item } from '../../src/model/value.js'
import type { ItemState } from '../../src/rules/item/item.js'
import { decideWrite } from '../../src/rules/item/single-write.js'
import { deleteRequest, number, plain, plainItem, putRequest, rich, updateRequest } from '../suites/tables.js'

const record = {
  timestamp: timestamp(1),
  lsn: lsn(1),
  lastWrite: { kind: 'put', blind: true },
  itemBytes: 3,
  json: Buffer.alloc(0),
} as const

function state(item: Item | undefined): ItemState & { readonly parsed: () => number } {
  let parsed = 0
  return {
    record: item && record,
    item: () => {
      parsed++
      return item
    },
    parsed: () => parsed,
  }
}

test('single write: a put or delete without condition does not parse the old image', () => {
  const old = state(plainItem('a'))
  assert.equal(decideWrite(old, putRequest(plain, plainItem('a'))).verdict, 'done')
  assert.deepEqual(decideWrite(old, deleteRequest(plain, plainItem('a'))), { verdict: 'done' })
  assert.equal(old.parsed(), 0)
})

test('single write: only a put without condition is blind', () => {
  const blind = (verdict: ReturnType<typeof decideWrite>): unknown =>
    verdict.verdict === 'done' && verdict.next?.lastWrite
  const exists = { condition: 'attribute_exists(id)' }
  assert.deepEqual(blind(decideWrite(state(undefined), putRequest(plain, plainItem('a')))), {
    kind: 'put',
    blind: true,
  })
  assert.deepEqual(blind(decideWrite(state(plainItem('a')), putRequest(plain, plainItem('a'), exists))), {
    kind: 'put',
    blind: false,
  })
  const update = updateRequest(plain, plainItem('a'), 'SET v = :v', { values: { ':v': number(1) } })
  assert.deepEqual(blind(decideWrite(state(undefined), update)), { kind: 'update', blind: false })
})

test('single write: an update of an absent item starts from its key', () => {
  const update = updateRequest(plain, plainItem('a'), 'SET v = :v', { values: { ':v': number(1) } })
  const verdict = decideWrite(state(undefined), update)
  assert.deepEqual(verdict.verdict === 'done' && verdict.next?.item, plainItem('a', { v: number(1) }))
})

test('single write: an update that its item does not allow is invalid, and a failed condition comes first', () => {
  const values = { ':one': number(1) }
  const text = state(plainItem('a', { v: { S: 'text' } }))
  const update = updateRequest(plain, plainItem('a'), 'ADD v :one', { values })
  assert.equal(decideWrite(text, update).verdict, 'invalid')
  const guarded = updateRequest(plain, plainItem('a'), 'ADD v :one', { values, condition: 'v = :one' })
  assert.deepEqual(decideWrite(text, guarded), { verdict: 'condition-failed' })
})

test('single write: an item that no index can take is invalid even if its condition fails', () => {
  const item: Item = { id: { S: 'a' }, n: number(1), color: number(1) }
  const verdict = decideWrite(state(undefined), putRequest(rich, item, { condition: 'attribute_exists(id)' }))
  assert.equal(verdict.verdict, 'invalid')
})
