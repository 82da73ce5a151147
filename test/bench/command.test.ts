import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BenchGroup, runGroups } from '../../bench/bench.js'
import { HALF_SHARES } from '../../bench/groups/half.js'
import { TimeLeft } from '../../src/bench/time-left.js'
import { planOf } from '../../bench/plan.js'
import { JUDGED_WORKLOADS, matches } from '../../src/bench/load/workloads.js'
import { PRESETS } from '../../bench/presets.js'
import type { UnitRecord } from '../../bench/records.js'
import { benchCommandOf } from '../../bench/command.js'

test('without options the quick preset is run', () => {
  assert.deepEqual(benchCommandOf([]).settings, PRESETS.quick)
  assert.deepEqual(benchCommandOf(['--full']).settings, PRESETS.full)
})

test('options replace parts of a preset', () => {
  const { settings, json, resume } = benchCommandOf(
    '--figures --part peers --target bare,seriatim-disk --clients 1,16 --seconds 0.5 --rounds 7 --json f --resume'.split(
      ' ',
    ),
  )
  assert.deepEqual(settings, {
    ...PRESETS.figures,
    parts: ['peers'],
    targets: ['bare', 'seriatim-disk'],
    clients: [1, 16],
    durationMs: 500,
    judgedMs: 500,
    rounds: 7,
    experiments: { ...PRESETS.figures.experiments, durationMs: 500, rounds: 7, judgedRounds: 7 },
  })
  assert.equal(json, 'f')
  assert.equal(resume, true)
})

test('an endpoint is compared with the bare server only', () => {
  const { settings } = benchCommandOf(['--endpoint', 'http://127.0.0.1:8000', '--rate', '100'])
  assert.deepEqual(settings.targets, ['bare'])
  assert.equal(settings.rate, 100)
  const ids = planOf(settings).flatMap(({ units }) => units.map(({ id }) => id))
  assert.ok(ids.includes('peers/GetItem/100 a second/endpoint/round 1'))
})

for (const [args, sentence] of [
  [['--quick', '--full'], /choose one/],
  [['--resume'], /needs --json/],
  [['--report'], /needs --json/],
  [['--endpoint', 'nowhere'], /must be a URL/],
  [['--target', 'bare,oracle'], /not 'oracle'/],
  [['--clients', '0'], /--clients must be/],
  [['--seconds', '-1'], /--seconds|argument/],
  [['--rounds', 'many'], /--rounds must be/],
] as const) {
  test(`wrong usage is said in a sentence: ${args.join(' ')}`, () => {
    assert.throws(() => benchCommandOf(args), sentence)
  })
}

test('operations are chosen by their whole names', () => {
  assert.ok(matches('GetItem', 'getitem'))
  assert.ok(matches('UpdateItem, conditional', 'UpdateItem'))
  assert.ok(matches('TransactGetItems of 3', 'TransactGetItems'))
  assert.ok(!matches('TransactGetItems of 10', 'TransactGetItems of 1'))
  assert.ok(!matches('TransactGetItems of 1', 'GetItem'))
})

test('ids of units are unique in every preset', () => {
  for (const settings of Object.values(PRESETS)) {
    const ids = planOf(settings).flatMap(({ units }) => units.map(({ id }) => id))
    assert.equal(new Set(ids).size, ids.length)
  }
})

for (const name of ['judged', 'page'] as const) {
  test(`the preset ${name} has seven rounds of all that the judged lines are made of`, () => {
    const ids = new Set(planOf(PRESETS[name]).flatMap(({ units }) => units.map(({ id }) => id)))
    const round = 7
    for (const workload of JUDGED_WORKLOADS) {
      for (const target of ['bare', 'seriatim-memory', 'seriatim-disk', 'dynalite-memory', 'local-disk']) {
        assert.ok(ids.has(`peers/${workload}/64 clients/${target}/round ${round}`), `${workload}, ${target}`)
        if (target !== 'bare') assert.ok(ids.has(`equal/${workload}/${target}/round ${round}`))
      }
      for (const share of HALF_SHARES) assert.ok(ids.has(`half/${workload}/${share}/round ${round}`))
    }
    assert.ok([...ids].some((id) => id.startsWith('worst/')))
  })
}

const record = (reason: string): UnitRecord => ({ kind: 'missing', target: 't', reason })

function group(ran: string[]): BenchGroup {
  return {
    name: 'g',
    setupMs: 0,
    units: ['a', 'b', 'c'].map((id) => ({ id, estimateMs: 1 })),
    open: () =>
      Promise.resolve({
        run: ({ id }) => {
          ran.push(id)
          return id === 'b' ? Promise.reject(new Error('no luck')) : Promise.resolve(record(id))
        },
        close: () => Promise.resolve(),
      }),
  }
}

const QUIET = { onRecord: () => undefined, onProgress: () => undefined, signal: new AbortController().signal }

test('what fails leaves a record of that, and the rest is measured', async () => {
  const records = await runGroups({ ...QUIET, groups: [group([])], done: {} })
  assert.deepEqual(records, { a: record('a'), b: { kind: 'failed', reason: 'no luck' }, c: record('c') })
})

test('an interrupted run goes on with what is left and with what had failed', async () => {
  const ran: string[] = []
  const done: Record<string, UnitRecord> = { a: record('before'), b: { kind: 'failed', reason: 'before' } }
  const records = await runGroups({ ...QUIET, groups: [group(ran)], done })
  assert.deepEqual(ran, ['b', 'c'])
  assert.deepEqual(records['a'], record('before'))
})

test('after an interruption no further unit is begun', async () => {
  const ran: string[] = []
  const interrupted = new AbortController()
  await runGroups({
    ...QUIET,
    groups: [group(ran)],
    done: {},
    onRecord: () => interrupted.abort(),
    signal: interrupted.signal,
  })
  assert.deepEqual(ran, ['a'])
})

test('the time left follows the estimates, and how wrong they were', () => {
  const time = new TimeLeft(100_000)
  assert.equal(time.line(), '[ 1:40 left]')
  time.took(50_000, 50_000)
  assert.equal(time.leftMs, 50_000)
  time.took(40_000, 400_000)
  assert.ok(time.leftMs > 40_000, 'slower than estimated so far')
})
