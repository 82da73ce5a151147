import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UnitRecord } from '../../bench/records.js'
import { costTables } from '../../bench/report/cost-tables.js'
import { findingsTable } from '../../bench/report/findings.js'
import { growingLines } from '../../bench/report/other-tables.js'
import { profileTables } from '../../bench/report/profile-tables.js'
import { latency, measured, runOf } from './records.js'

type Part = { readonly name: string; readonly p50?: number; readonly conflicts?: number }

const simulated = (
  experiment: 'throughput' | 'size' | 'plain' | 'contention',
  mix: string,
  value: number,
  ...parts: readonly Part[]
): [string, UnitRecord] => [
  `simulated/${experiment}/${mix}/${value}`,
  {
    kind: 'simulated',
    experiment,
    rules: 'none',
    mix,
    value,
    virtualMs: 1,
    result: {
      parts: parts.map(({ name, p50 = 1000, conflicts = 0 }) => ({
        name,
        answers: 100,
        conflicts,
        lost: 0,
        latency: latency(p50),
      })),
      nodesBusy: 0.1,
      coordinatorsBusy: 0.1,
    },
  },
]

/** The cell of "simulated, section 3". */
function cell(experiment: '5.1' | '5.2' | '5.3' | '5.4', what: RegExp, ...records: [string, UnitRecord][]) {
  const table = findingsTable(runOf(...records).records, experiment)
  return table?.rows.find(([name]) => what.test(name!))?.[2]
}

test('§5.1 latency at the highest rate is compared with that at the lowest', () => {
  const at = (value: number, p50: number): [string, UnitRecord] =>
    simulated('throughput', 'reads', value, { name: 'TransactGetItems', p50 })
  const what = /TransactGetItems \(reads\), p50/
  assert.equal(cell('5.1', what, at(1_000_000, 1100), at(100_000, 1000), at(500_000, 9000)), '1.10, yes')
  assert.equal(cell('5.1', what, at(1_000_000, 1300), at(100_000, 1000)), '1.30, no')
})

test('§5.2 §5.3 sizes and plain operations have bounds of their own', () => {
  const size = (value: number, p50: number): [string, UnitRecord] =>
    simulated('size', 'writes', value, { name: 'TransactWriteItems', p50 })
  assert.equal(cell('5.2', /TransactWriteItems, p50/, size(3, 1000), size(100, 2500)), '2.50, yes')
  const plain = (name: string, p50: number): [string, UnitRecord] =>
    simulated('plain', name, 100_000, { name, p50 })
  assert.equal(
    cell('5.3', /TransactGetItems of 1, p50/, plain('GetItem', 400), plain('TransactGetItems', 1000)),
    '2.50, no',
  )
})

test('§5.4 shares of refusals are of all rates together; nothing of nothing is no finding', () => {
  const contention = (mix: string, value: number, ...parts: readonly Part[]): [string, UnitRecord] =>
    simulated('contention', mix, value, ...parts)
  const records = [
    contention('A', 10_000, { name: 'TransactWriteItems', conflicts: 2 }),
    contention('A', 100_000, { name: 'TransactWriteItems', conflicts: 18 }),
    contention(
      'B',
      100_000,
      { name: 'TransactWriteItems', conflicts: 6 },
      { name: 'TransactGetItems', conflicts: 4 },
    ),
    contention('C', 100_000, { name: 'GetItem' }, { name: 'UpdateItem' }, { name: 'TransactWriteItems' }),
  ]
  assert.equal(cell('5.4', /^A: refused at the highest/, ...records), '9.00, yes')
  assert.equal(cell('5.4', /B, of A/, ...records), '0.50, yes')
  assert.equal(cell('5.4', /B: reads, of writes/, ...records), '0.67, no')
  assert.equal(cell('5.4', /C: GetItem refused/, ...records), '0.00 %, yes')
  assert.equal(cell('5.4', /C: UpdateItem/, ...records), '-')
})

test('a run without experiments has no findings', () => {
  assert.equal(findingsTable({}, '5.1'), null)
})

const cost = (side: 'plain' | 'transaction', round: number, p50: number): [string, UnitRecord] => [
  `costs/${side}/${round}`,
  {
    kind: 'cost',
    target: 'seriatim-disk',
    nodes: 1,
    pair: 'TransactWriteItems of 1 against PutItem',
    side,
    clients: 1,
    round,
    measured: measured(1, side === 'plain' ? 50 : 60, { latency: latency(p50) }),
  },
]

test('a transaction is shown beside the single operation, by medians', () => {
  const { records } = runOf(
    cost('plain', 1, 100),
    cost('plain', 2, 110),
    cost('plain', 3, 900),
    cost('transaction', 1, 132),
    cost('transaction', 2, 1000),
    cost('transaction', 3, 10),
  )
  assert.deepEqual(costTables(records)[0]?.rows, [
    ['TransactWriteItems of 1 against PutItem', '1', '1', '110', '132', '1.20', '1.20'],
  ])
})

test('parts of a profile that take little of every operation are summed up', () => {
  const profile = (workload: string, parts: Readonly<Record<string, number>>): [string, UnitRecord] => [
    `profile/${workload}`,
    {
      kind: 'profile',
      target: 'seriatim-disk',
      workload,
      measured: measured(1, 40),
      times: {
        busyMicros: 1000,
        idleMicros: 1000,
        parts: Object.entries(parts).map(([name, micros]) => ({ name, micros })),
        functions: [],
      },
    },
  ]
  const { records } = runOf(
    profile('GetItem', { server: 900, router: 90, store: 10 }),
    profile('PutItem', { storage: 500, server: 490, store: 10 }),
  )
  assert.deepEqual(profileTables(records)[0]?.rows.slice(1), [
    ['the main thread is busy', '50 %', '50 %'],
    ['server', '90.0 %', '49.0 %'],
    ['storage', '0.0 %', '50.0 %'],
    ['router', '9.0 %', '0.0 %'],
    ['all others', '1.0 %', '1.0 %'],
  ])
})

test('growth with the items of a table is judged by the logarithm', () => {
  const growth = (
    value: number,
    workload: string,
    cpuMicros: number,
    readBytes = 0,
  ): [string, UnitRecord] => [
    `growth/${value}/${workload}`,
    {
      kind: 'growth',
      axis: 'items',
      value,
      target: 'seriatim-disk',
      workload,
      measured: measured(1, cpuMicros, { readBytes }),
      folderBytes: null,
      restartMs: null,
    },
  ]
  const { records } = runOf(
    growth(1000, 'GetItem', 10),
    growth(1_000_000, 'GetItem', 19),
    growth(1000, 'PutItem', 10),
    growth(1_000_000, 'PutItem', 21, 4096),
  )
  const [gets, puts] = growingLines(records)
  assert.match(gets!, /1\.90 times .* 2\.00 times: no worse than logarithmic\.$/)
  assert.match(
    puts!,
    /2\.10 times .* 2\.00 times: worse than logarithmic; 4,096 bytes of a request came from the disk/,
  )
})
