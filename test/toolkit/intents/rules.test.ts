import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultPatience } from '../../../src/toolkit/intents/protocol/limits.js'
import type { Header, Intent } from '../../../src/toolkit/intents/protocol/records.js'
import {
  contentionOf,
  effectiveOf,
  isOlder,
  commitWayOf,
  settlementOf,
  type WorkSummary,
  sweepingOf,
  versionAfter,
} from '../../../src/toolkit/intents/protocol/rules.js'

const intent: Intent = {
  id: 't',
  turn: 1,
  since: 100,
  patienceMs: 1_000,
  transient: false,
  redo: { act: 'write', set: { n: { N: '2' } }, remove: ['gone'] },
}
const header = (change: Partial<Header>): Header => ({
  id: 't',
  state: 'pending',
  turn: 1,
  stamp: 's',
  since: 100,
  patienceMs: 1_000,
  items: [],
  parts: 0,
  done: false,
  plan: 0,
  planFirst: 0,
  once: false,
  ...change,
})

test('intents: nothing is applied or dropped before the header says so', () => {
  assert.equal(settlementOf(intent, undefined), 'undecided')
  assert.equal(settlementOf(intent, header({})), 'undecided')
  assert.equal(settlementOf(intent, header({ state: 'committed' })), 'apply')
  assert.equal(settlementOf(intent, header({ state: 'cancelled' })), 'drop')
})

test('intents: one of another turn, or of a transaction that is done, counts for nothing', () => {
  assert.equal(settlementOf(intent, header({ state: 'committed', turn: 2 })), 'drop')
  assert.equal(settlementOf(intent, header({ state: 'committed', done: true })), 'drop')
})

test('intents: a reader sees the redo of a committed transaction and nothing of others', () => {
  const stored = { item: { id: { S: 'a' }, n: { N: '1' }, gone: { S: 'x' } }, version: 'v', intent }
  assert.deepEqual(effectiveOf(stored, 'apply', intent.redo), {
    item: { id: { S: 'a' }, n: { N: '2' } },
    version: 't',
  })
  assert.deepEqual(effectiveOf(stored, 'undecided', intent.redo), { item: stored.item, version: 'v' })
  assert.deepEqual(effectiveOf(stored, 'apply', { act: 'delete' }), {})
  const transient = { item: { id: { S: 'a' } }, intent: { ...intent, transient: true } }
  assert.deepEqual(effectiveOf(transient, 'drop', intent.redo), {})
  assert.equal(effectiveOf(transient, 'apply', intent.redo).version, 't*t')
})

test('intents: a version keeps the name of its inserter through later writes', () => {
  assert.equal(versionAfter({ id: 't', transient: true }, undefined), 't*t')
  assert.equal(versionAfter({ id: 'u', transient: false }, 't*t'), 'u*t')
  assert.equal(versionAfter({ id: 'w', transient: false }, 'u*t'), 'w*t')
  assert.equal(versionAfter({ id: 'u', transient: false }, 'v'), 'u')
})

test('intents: the older waits a little and cancels, the younger waits longer and yields', () => {
  const meet = (
    since: number,
    waitedMs: number,
    unchangedMs = 0,
    found: Header | undefined = header({}),
  ): string =>
    contentionOf({
      me: { id: 'm', since },
      intent,
      header: found,
      waitedMs,
      unchangedMs,
      patience: defaultPatience,
    })
  const { graceMs, waitMs } = defaultPatience
  assert.deepEqual([meet(50, graceMs - 1), meet(50, graceMs)], ['wait', 'cancel'])
  assert.deepEqual([meet(150, graceMs), meet(150, waitMs)], ['wait', 'yield'])
  // Without a header it is the same: it may be on its way.
  assert.deepEqual([meet(50, graceMs, 0, undefined), meet(150, waitMs, 0, undefined)], ['cancel', 'yield'])
  assert.equal(meet(150, 0, 1_000), 'cancel')
  assert.equal(meet(150, 0, 0, header({ state: 'committed' })), 'apply')
})

test('intents: of two transactions exactly one is older', () => {
  const parties = [
    { id: 'a', since: 1 },
    { id: 'b', since: 1 },
    { id: 'a', since: 2 },
  ]
  for (const one of parties)
    for (const other of parties) if (one !== other) assert.notEqual(isOlder(one, other), isOlder(other, one))
})

test('intents: a sweeper leaves alone what moves, and deletes only what has long been done', () => {
  const swept = (change: Partial<Header>, unchangedMs: number): string =>
    sweepingOf(header(change), unchangedMs, defaultPatience)
  assert.equal(swept({}, 999), 'leave')
  assert.equal(swept({}, 1_000), 'cancel')
  assert.equal(swept({ state: 'committed' }, 1_000), 'finish')
  assert.equal(swept({ state: 'cancelled' }, 1_000), 'undo')
  assert.equal(swept({ state: 'committed', done: true }, defaultPatience.keepMs - 1), 'leave')
  assert.equal(swept({ state: 'committed', done: true }, defaultPatience.keepMs), 'delete')
})

test('intents: the cheapest way that is right', () => {
  const means = { single: true, transact: true, transactMax: 100, transactBytesMax: 1_000 }
  const none: WorkSummary = {
    writes: 0,
    blind: 0,
    observed: 0,
    absent: 0,
    unversioned: 0,
    ranges: 0,
    bytes: 10,
    begun: false,
  }
  const path = (shape: Partial<WorkSummary>, change: Partial<typeof means> = {}): string =>
    commitWayOf({ ...none, ...shape }, { ...means, ...change })
  assert.equal(path({ writes: 1 }), 'single')
  assert.equal(path({ writes: 1, blind: 1 }), 'transact')
  assert.equal(path({ writes: 1, blind: 1 }, { transact: false }), 'single')
  assert.equal(path({ writes: 1, observed: 1 }), 'transact')
  assert.equal(path({ writes: 1, observed: 1 }, { transact: false }), 'intents')
  assert.equal(path({ writes: 101 }), 'intents')
  assert.equal(path({ writes: 2, bytes: 1_001 }), 'intents')
  assert.equal(path({ writes: 1, unversioned: 1 }), 'intents')
  assert.equal(path({ writes: 1, ranges: 1 }), 'intents')
  assert.equal(path({ writes: 1, begun: true }), 'intents')
  assert.equal(path({ observed: 3, absent: 1 }), 'read-only')
  assert.equal(path({ observed: 3, absent: 2 }), 'transact')
  assert.equal(path({ observed: 3, absent: 2 }, { transact: false }), 'intents')
  assert.equal(path({ ranges: 2 }), 'read-only')
})
