import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openExpressions } from '../../src/expression/expression.js'
import type { Item } from '../../src/model/value.js'
import { judgeBank } from '../../sim/check/bank.js'
import { judgeByReplay } from '../../sim/check/oracle.js'
import type {
  HistoryEntry,
  Image,
  LookEntry,
  HistoryRead,
  WriteEntry,
  WrittenAction,
} from '../../sim/history.js'

const item = (w: string, n: number): Item => ({ id: { S: 'k' }, w: { S: w }, n: { N: String(n) } })
const put = (key: string, w: string, n: number): WrittenAction => ({
  key,
  keyAttributes: { id: { S: 'k' } },
  mutation: { kind: 'put', item: item(w, n) },
})
const remove = (key: string): WrittenAction => ({ key, keyAttributes: {}, mutation: { kind: 'delete' } })
const atLeast = (n: number) =>
  openExpressions({ ExpressionAttributeValues: { ':n': { N: String(n) } } }).condition(
    'n >= :n',
    'ConditionExpression',
  )
const increment = (key: string, w: string, by: number): WrittenAction => ({
  key,
  keyAttributes: { id: { S: 'k' } },
  mutation: {
    kind: 'update',
    update: openExpressions({
      ExpressionAttributeValues: { ':by': { N: String(by) }, ':w': { S: w } },
    }).update('SET n = n + :by, w = :w'),
  },
})

function write(
  id: string,
  timestamp: number,
  actions: WrittenAction[],
  more: Partial<WriteEntry> = {},
): WriteEntry {
  const at = { invokedAt: timestamp, completedAt: timestamp + 5 }
  return { kind: 'write', id, actions, status: 'committed', timestamp, ...at, ...more }
}
function read(id: string, timestamp: number, images: Record<string, Image>): HistoryRead {
  const at = { invokedAt: timestamp, completedAt: timestamp + 5 }
  return { kind: 'read', id, timestamp, images: new Map(Object.entries(images)), ...at }
}
function look(
  id: string,
  [invokedAt, completedAt]: [number, number],
  image: Image,
  more: Partial<LookEntry> = {},
): LookEntry {
  return { kind: 'look', id, key: 'x', image, invokedAt, completedAt, ...more }
}
const kinds = (history: readonly HistoryEntry[], final?: Record<string, Image>): string[] =>
  judgeByReplay(history, final && new Map(Object.entries(final))).anomalies.map((a) => a.kind)

const base = write('a', 10, [put('x', 'a', 1), put('y', 'a', 1)])

test('sim oracle: answers in the order of timestamps are right, whatever the order of the history', () => {
  const history = [
    read('r', 30, { x: item('b', 6), y: item('a', 1), z: undefined }),
    write('b', 20, [{ ...increment('x', 'b', 5), condition: atLeast(1) }], {
      old: new Map([['x', item('a', 1)]]),
    }),
    base,
    write('c', 40, [remove('x')]),
    read('s', 50, { x: undefined }),
  ]
  assert.deepEqual(kinds(history, { x: undefined, y: item('a', 1) }), [])
})

test('sim oracle: a read that misses a write below its timestamp, or sees one above, is found', () => {
  assert.deepEqual(kinds([base, read('r', 20, { x: undefined })]), ['read'])
  assert.deepEqual(kinds([base, read('r', 5, { x: item('a', 1) })]), ['read'])
})

test('sim oracle: a condition that does not hold at its place is found', () => {
  assert.deepEqual(kinds([base, write('b', 20, [{ ...put('x', 'b', 2), condition: atLeast(2) }])]), [
    'condition',
  ])
  const check: WrittenAction = {
    key: 'x',
    keyAttributes: {},
    mutation: { kind: 'check' },
    condition: atLeast(2),
  }
  assert.deepEqual(kinds([base, write('b', 20, [check])]), ['condition'])
})

test('sim oracle: an update that is impossible at its place is found', () => {
  assert.deepEqual(kinds([write('b', 20, [increment('x', 'b', 1)])]), ['impossible-update'])
})

test('sim oracle: a wrong image before a write is found', () => {
  assert.deepEqual(kinds([base, write('b', 20, [put('x', 'b', 2)], { old: new Map([['x', undefined]]) })]), [
    'old-image',
  ])
})

test('sim oracle: two writes of one item at the same timestamp are found, unless nobody can tell', () => {
  const tie = write('b', 10, [put('x', 'b', 2)])
  assert.deepEqual(kinds([base, tie], { x: item('b', 2) }), ['timestamp-tie'])
  assert.deepEqual(kinds([base, tie, read('r', 20, { x: item('b', 2) })]), ['timestamp-tie'])
  assert.deepEqual(kinds([base, tie, write('c', 20, [increment('x', 'c', 1)])]), ['timestamp-tie'])
  assert.deepEqual(kinds([base, tie, write('c', 20, [put('x', 'c', 3)])], { x: item('c', 3) }), [])
})

test('sim oracle: a final state that is not the last write is found', () => {
  assert.deepEqual(kinds([base], { x: item('a', 2) }), ['final-state'])
  assert.deepEqual(kinds([base], { x: undefined }), ['final-state'])
  assert.deepEqual(kinds([base], { x: item('a', 1), z: item('q', 1) }), ['final-state'])
})

test('sim oracle: a look may see any version that was current while it looked', () => {
  const later = write('b', 20, [put('x', 'b', 2)])
  assert.deepEqual(kinds([base, later, look('g', [22, 30], item('a', 1))]), [])
  assert.deepEqual(kinds([base, later, look('g', [22, 30], item('b', 2))]), [])
  assert.deepEqual(kinds([base, later, look('g', [0, 5], undefined)]), [])
})

test('sim oracle: a look at what was overwritten before, at what is to come, or at nobody’s image is found', () => {
  const later = write('b', 20, [put('x', 'b', 2)])
  assert.deepEqual(kinds([base, later, look('g', [26, 30], item('a', 1))]), ['look'])
  assert.deepEqual(kinds([base, later, look('g', [12, 19], item('b', 2))]), ['look'])
  assert.deepEqual(kinds([base, later, look('g', [22, 30], item('q', 2))]), ['look'])
})

test('sim oracle: a look that goes back behind an earlier look is found', () => {
  const slow = write('b', 20, [put('x', 'b', 2)], { completedAt: 100 })
  const first = look('g', [30, 40], item('b', 2))
  assert.deepEqual(kinds([base, slow, first, look('h', [35, 50], item('a', 1))]), [])
  assert.deepEqual(kinds([base, slow, first, look('h', [41, 50], item('a', 1))]), ['look'])
})

test('sim oracle: a refusal whose condition holds on the image it was based upon is found', () => {
  assert.deepEqual(kinds([base, look('g', [20, 30], item('a', 1), { failed: atLeast(2) })]), [])
  assert.deepEqual(kinds([base, look('g', [20, 30], item('a', 1), { failed: atLeast(1) })]), [
    'condition-held',
  ])
})

test('sim oracle: a write that was refused leaves nothing, and one of unknown outcome leaves doubt', () => {
  const refused = write('b', 20, [put('x', 'b', 2)], { status: 'refused' })
  assert.deepEqual(kinds([base, refused], { x: item('a', 1) }), [])
  assert.deepEqual(kinds([base, refused], { x: item('b', 2) }), ['final-state'])
  const unknown = write('b', 20, [put('x', 'b', 2)], { status: 'unknown', completedAt: Infinity })
  assert.deepEqual(kinds([base, unknown], { x: item('b', 2) }), [])
  assert.deepEqual(kinds([base, unknown], { y: item('b', 2) }), ['final-state'])
})

test('sim judge of a bank: the sum is constant and nobody is overdrawn', () => {
  const of = (balances: Record<string, number | undefined>) => [
    { id: 'r', balances: new Map(Object.entries(balances)) },
  ]
  const judged = (balances: Record<string, number | undefined>) =>
    judgeBank(of(balances), 100).map((a) => a.kind)
  assert.deepEqual(judged({ a: 40, b: 60 }), [])
  assert.deepEqual(judged({ a: 40, b: 61 }), ['bank-total'])
  assert.deepEqual(judged({ a: -40, b: 140 }), ['bank-overdrawn'])
  assert.deepEqual(judged({ a: undefined, b: 100 }), ['bank-missing'])
})
