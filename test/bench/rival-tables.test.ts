import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UnitRecord } from '../../bench/records.js'
import { comparisons, rivalLeads, rivalTables, timesAsGood } from '../../bench/report/rival-tables.js'
import { latency, measured, peer, runOf } from './records.js'

const start = (target: string, startMs: number, residentBytes: number): [string, UnitRecord] => [
  `start/${target}`,
  { kind: 'start', target, startMs, residentBytes },
]

const cold = (target: string, startMs: number, perSecond: number): [string, UnitRecord] => [
  `cold/${target}`,
  {
    kind: 'cold',
    target,
    workload: 'GetItem',
    clients: 4,
    items: 1000,
    round: 1,
    startMs,
    measured: measured(perSecond, 20),
  },
]

const equal = (target: string, p99Micros: number): [string, UnitRecord] => [
  `equal/${target}`,
  {
    kind: 'equal',
    target,
    workload: 'GetItem',
    rate: 100,
    round: 1,
    measured: measured(100, 20, { latency: latency(100, p99Micros) }),
  },
]

const { records } = runOf(
  peer('seriatim-memory', 'GetItem', 1, measured(40_000, 20)),
  peer('dynoxide-memory', 'GetItem', 1, measured(20_000, 20, { residentBytes: 10e6 })),
  peer('seriatim-disk', 'PutItem', 1, measured(20_000, 20)),
  equal('seriatim-disk', 300),
  equal('dynoxide-disk', 600),
  start('seriatim-disk', 200, 80e6),
  start('dynoxide-disk', 20, 8e6),
  cold('seriatim-disk', 300, 5000),
  cold('dynoxide-disk', 30, 4000),
)

test('what both were measured by is compared, memory beside memory and disk beside disk', () => {
  assert.deepEqual(
    comparisons(records).map((each) => [each.what, timesAsGood(each)]),
    [
      ['GetItem, 64 clients, memory', 2],
      ['GetItem, p99 at an equal rate, disk', 2],
      ['start to the first answer, disk', 0.1],
      ['resident memory when idle, disk', 0.1],
      ['start to the first answer, cold files', 0.1],
      ['GetItem, 4 clients, cold files', 1.25],
      ['resident memory under load, memory', 0.2],
    ],
  )
})

test('the leads of the other are counted and listed, the largest first', () => {
  const leads = rivalLeads(records)
  assert.match(leads?.sentence ?? '', /^Of 7 figures .* Seriatim leads in 3 and Dynoxide in 4:$/)
  assert.deepEqual(leads?.table?.rows.at(-1), [
    'resident memory under load, memory, MB',
    '50',
    '10',
    'Dynoxide',
    '5.0',
  ])
  assert.equal(leads?.table?.rows.length, 4)
})

test('without Dynoxide there is nothing to compare', () => {
  const alone = runOf(peer('seriatim-disk', 'PutItem', 1, measured(20_000, 20))).records
  assert.equal(rivalLeads(alone), undefined)
  assert.deepEqual(rivalTables(alone), [])
})

test('of many leads the largest are listed, and the sentence says so', () => {
  const many = runOf(
    ...Array.from({ length: 20 }, (_, at) => [
      peer('seriatim-disk', `operation ${at}`, 1, measured(100, 20, { residentBytes: null })),
      peer('dynoxide-disk', `operation ${at}`, 1, measured(200 + at, 20, { residentBytes: null })),
    ]).flat(),
  ).records
  const leads = rivalLeads(many)
  assert.match(leads?.sentence ?? '', /Dynoxide in 20, of which these are the largest 16:$/)
  assert.equal(leads?.table?.rows.length, 16)
  assert.equal(leads?.table?.rows[0]?.[0], 'operation 19, 64 clients, disk, requests/s')
})
