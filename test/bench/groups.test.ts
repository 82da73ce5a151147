// The groups as they are run, on real servers, for a moment each.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BenchGroup, runGroups } from '../../bench/bench.js'
import { coldGroup } from '../../bench/groups/cold.js'
import { costGroup } from '../../bench/groups/costs.js'
import { equalGroup } from '../../bench/groups/equal.js'
import { fitGroup } from '../../bench/groups/fit.js'
import { peerGroup } from '../../bench/groups/peers.js'
import { plainGroup } from '../../bench/groups/paper.js'
import { profileGroup } from '../../bench/groups/profile.js'
import { startGroup } from '../../bench/groups/start.js'
import type { UnitRecord } from '../../bench/records.js'
import { SECTION_3, SECTION_4 } from '../../bench/groups/variants.js'
import { peerWorkloads } from '../../src/bench/load/workloads.js'
import { fillItemTable } from '../../src/bench/fill.js'
import { startTarget } from '../../bench/targets/target.js'
import { wholeOnly } from '../support/sizes.js'
import { post } from '../../src/bench/targets/post.js'

const SCALE = { items: 300, partitions: 5 }
const SHORT = { rounds: 1, warmupMs: 20, firstWarmupMs: 20, durationMs: 60 }

const QUIET = { onRecord: () => undefined, onProgress: () => undefined, signal: new AbortController().signal }

const runOne = (group: BenchGroup) => runGroups({ ...QUIET, groups: [group], done: {} })

test('peers: the store, a bare server and an endpoint are asked the same', async () => {
  const other = await startTarget('seriatim-memory')
  assert.ok(!('missing' in other))
  try {
    const workloads = peerWorkloads(SCALE).filter(({ name }) =>
      /^(GetItem|TransactWriteItems of 3)$/.test(name),
    )
    const targets = ['bare', 'seriatim-disk'] as const
    const records = await runOne(
      peerGroup({ ...SHORT, targets, endpoint: other.endpoint, workloads, scale: SCALE, clients: [2] }),
    )
    assert.equal(Object.keys(records).length, 6)
    for (const [id, record] of Object.entries(records)) {
      assert.ok(record.kind === 'peer', `${id}: ${JSON.stringify(record)}`)
      assert.deepEqual(record.measured.refusals, {}, id)
    }
    assert.deepEqual(
      await post(other.endpoint, 'ListTables', {}),
      { TableNames: [] },
      'its tables are gone again',
    )
  } finally {
    await other.stop()
  }
})

test('the paper: section 3 alone is a server of its own', { skip: wholeOnly }, async () => {
  const records = await runOne(plainGroup({ ...SHORT, items: 300, variants: [SECTION_4, SECTION_3] }))
  const kinds = Object.entries(records).map(([id, record]) => [id, record.kind])
  assert.equal(kinds.length, 8)
  for (const [id, kind] of kinds) assert.equal(kind, 'plain', id)
})

/** With a value of the environment for as long as it takes. */
async function withVariable<T>(name: string, value: string, work: () => Promise<T>): Promise<T> {
  const before = process.env[name]
  process.env[name] = value
  try {
    return await work()
  } finally {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  }
}

for (const [target, variable, sentence] of [
  ['local-memory', 'DYNAMODB_LOCAL', /npm install/],
  ['dynoxide-memory', 'DYNOXIDE', /cargo install dynoxide-rs/],
] as const) {
  test(`start: ${target}, which is not installed, is left out with a sentence`, async () => {
    const records = await withVariable(variable, '/nowhere', () =>
      runOne(startGroup({ targets: [target, 'bare'], rounds: 1, idleMs: 1 })),
    )
    const missing = records[`start/${target}/round 1`]
    const bare = records['start/bare/round 1']
    assert.ok(missing?.kind === 'missing' && sentence.test(missing.reason))
    assert.equal(bare?.kind, 'start')
  })
}

const WITHOUT_DYNOXIDE = process.env['DYNOXIDE'] === undefined ? { skip: 'set DYNOXIDE to its program' } : {}

test('peers: Dynoxide, in memory and on disk, answers all that is asked', WITHOUT_DYNOXIDE, async () => {
  const targets = ['dynoxide-memory', 'dynoxide-disk'] as const
  const workloads = peerWorkloads(SCALE)
  const records = await runOne(peerGroup({ ...SHORT, targets, workloads, scale: SCALE, clients: [2] }))
  assert.equal(Object.keys(records).length, targets.length * workloads.length)
  for (const [id, record] of Object.entries(records)) {
    assert.ok(record.kind === 'peer', `${id}: ${JSON.stringify(record)}`)
    assert.deepEqual(record.measured.refusals, {}, id)
  }
})

test('peers: an operation that is not judged may have fewer rounds, and other clients may get fewer operations', () => {
  const workloads = peerWorkloads(SCALE).filter(({ name }) => /^(GetItem|BatchWrite.*)$/.test(name))
  const { units } = peerGroup({
    ...SHORT,
    rounds: 3,
    otherRounds: 1,
    targets: ['bare'],
    workloads,
    scale: SCALE,
    clients: [64],
    beside: { clients: [1], operations: ['GetItem'], rounds: 2, warmupMs: 1, durationMs: 1 },
  })
  const count = (part: string): number => units.filter(({ id }) => id.startsWith(`peers/${part}`)).length
  assert.equal(count('GetItem/64 clients'), 3)
  assert.equal(count('GetItem/1 clients'), 2)
  assert.equal(count('BatchWriteItem of 25/64 clients'), 1)
  assert.equal(count('BatchWriteItem of 25/1 clients'), 0)
})

test(
  'cold: the store answers from files that were taken out of the page cache, as it did before',
  { skip: wholeOnly },
  async () => {
    const records = await runOne(coldGroup({ ...SCALE, rounds: 1, durationMs: 60 }))
    assert.equal(Object.keys(records).length, 8)
    for (const [id, record] of Object.entries(records)) {
      if (id.includes('dynoxide') && 'skip' in WITHOUT_DYNOXIDE) {
        assert.equal(record.kind, 'missing', id)
        continue
      }
      assert.ok(record.kind === 'cold', `${id}: ${JSON.stringify(record)}`)
      assert.deepEqual(record.measured.refusals, {}, id)
    }
  },
)

test('a target that is killed and started again has what it had', async () => {
  const target = await startTarget('seriatim-disk')
  assert.ok(!('missing' in target))
  try {
    await fillItemTable(target.endpoint, { table: 'kept', items: 30, itemBytes: 200, indexes: 1 })
    assert.ok(target.folderBytes() > 30 * 200)
    await target.restart()
    const { Count } = (await post(target.endpoint, 'Scan', { TableName: 'kept', Select: 'COUNT' })) as {
      Count: number
    }
    assert.equal(Count, 30)
  } finally {
    await target.stop()
  }
})

test('profile: the server tells where its time went, and most of it has a name', async () => {
  const records = await runOne(profileGroup({ warmupMs: 50, durationMs: 300, scale: SCALE }))
  const profiles = Object.entries(records)
  assert.equal(profiles.length, 6)
  for (const [id, record] of profiles) {
    assert.ok(record.kind === 'profile', `${id}: ${JSON.stringify(record)}`)
    const { busyMicros, parts } = record.times
    const sum = parts.reduce((total, { micros }) => total + micros, 0)
    assert.ok(busyMicros > 0 && Math.abs(sum - busyMicros) < 1, id)
  }
  const names = profiles.flatMap(([, record]) =>
    record.kind === 'profile' ? record.times.parts.map(({ name }) => name) : [],
  )
  for (const part of ['server', 'storage', 'router']) assert.ok(names.includes(part), `${part} is a part`)
})

test(
  'costs and fit: transactions beside single operations, and the steps of a node',
  { skip: wholeOnly },
  async () => {
    const costs = await runOne(costGroup({ ...SHORT, items: 300 }))
    assert.equal(Object.keys(costs).length, 16)
    for (const [id, record] of Object.entries(costs)) assert.equal(record.kind, 'cost', id)
    const fits = await runOne(fitGroup(SHORT))
    assert.equal(Object.keys(fits).length, 7)
    for (const [id, record] of Object.entries(fits)) {
      assert.ok(record.kind === 'fit' && record.micros >= 0, `${id}: ${JSON.stringify(record)}`)
    }
  },
)

test('an interrupted comparison goes on at the rate that was found for it', { skip: wholeOnly }, async () => {
  const targets = ['seriatim-memory'] as const
  // A busy machine may answer nothing in so short a time.
  let found: [string, UnitRecord] | undefined
  let group: BenchGroup
  let { durationMs } = SHORT
  do {
    group = equalGroup({ ...SHORT, durationMs, rounds: 2, targets, scale: SCALE })
    found = Object.entries(await runOne(group)).find(([, each]) => each.kind === 'equal')
    durationMs *= 4
  } while (found === undefined && durationMs < 60_000)
  const [id, record] = found ?? []
  assert.ok(id !== undefined && record?.kind === 'equal')
  const done = { [id]: { ...record, rate: 123 } }
  const records = await runGroups({ ...QUIET, groups: [group], done })
  const rates = Object.values(records).flatMap((each) =>
    each.kind === 'equal' && each.workload === record.workload ? [each.rate] : [],
  )
  assert.deepEqual(rates, [123, 123])
})
