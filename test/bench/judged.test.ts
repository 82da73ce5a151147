import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { UnitRecord } from '../../bench/records.js'
import {
  anchor,
  isMet,
  judgedLines,
  judgedMatrixLines,
  judgedTable,
  verdictLines,
} from '../../bench/report/judged.js'
import { latency, measured, peer, runOf } from './records.js'

const half = (workload: string, share: number, round: number, p50Micros: number): [string, UnitRecord] => [
  `half/${workload}/${share}/${round}`,
  {
    kind: 'half',
    target: 'seriatim-disk',
    workload,
    share,
    peakPerSecond: 1000,
    rate: 1000 * share,
    round,
    measured: measured(1000 * share, 10, { latency: latency(p50Micros) }),
  },
]

const equal = (
  target: string,
  workload: string,
  p99Micros: number,
  perSecond = 100,
): [string, UnitRecord] => [
  `equal/${workload}/${target}`,
  {
    kind: 'equal',
    target,
    workload,
    rate: 100,
    round: 1,
    measured: measured(perSecond, 10, {
      latency: latency(100, p99Micros),
      answers: 100,
      ...(perSecond === 0 && { refusals: { UnknownOperationException: 100 } }),
    }),
  },
]

const { records } = runOf(
  ...[1, 2, 3].flatMap((round) => [
    peer('bare', 'GetItem', round, measured(40_000, 20)),
    peer('seriatim-disk', 'GetItem', round, measured([36_000, 38_000, 8000][round - 1]!, 25)),
    peer('local-disk', 'GetItem', round, measured(10_000, 100, { residentBytes: 400e6 })),
  ]),
  half('GetItem', 0.1, 1, 100),
  half('GetItem', 0.5, 1, 201),
  equal('seriatim-disk', 'GetItem', 500),
  equal('local-disk', 'GetItem', 500),
  equal('seriatim-memory', 'GetItem', 400),
  equal('dynalite-memory', 'GetItem', 500),
  equal('seriatim-memory', 'TransactGetItems of 3', 400),
  equal('dynalite-memory', 'TransactGetItems of 3', 400, 0),
)

const line = (area: RegExp, what: RegExp) => {
  const found = judgedLines(records).find((each) => area.test(each.area) && what.test(each.what))
  assert.ok(found !== undefined)
  return found
}

test('a rate is judged by the median of its rounds, of that of the other', () => {
  const ofBare = line(/of C/, /^GetItem$/)
  assert.equal(ofBare.measured, 0.9)
  assert.ok(isMet(ofBare), 'at least')
  const ofLocal = line(/of DynamoDB Local, both/, /^GetItem$/)
  assert.equal(ofLocal.measured, 3.6)
  assert.ok(!isMet(ofLocal))
})

test('p99 is judged by p50, p50 at half of the peak by that at a tenth, memory by that of the peer', () => {
  assert.ok(isMet(line(/p99, of p50/, /^GetItem$/)), 'five times is allowed')
  const atHalf = line(/half of the peak/, /^GetItem$/)
  assert.equal(atHalf.measured, 2.01)
  assert.ok(!isMet(atHalf))
  assert.equal(line(/memory/, /Local/).measured, 50e6 / 400e6)
})

test('p99 at an equal rate must be below that of the peer, and equal is not below', () => {
  assert.ok(!isMet(line(/equal rate: Seriatim, disk/, /^GetItem$/)))
  assert.ok(isMet(line(/equal rate: Seriatim, memory/, /^GetItem$/)))
})

test('what a peer does not know is no line; what was not measured is not met', () => {
  const lines = judgedLines(records)
  assert.ok(!lines.some(({ area, what }) => /dynalite/.test(area) && what === 'TransactGetItems of 3'))
  const puts = line(/of C/, /^PutItem$/)
  assert.equal(puts.measured, undefined)
  assert.ok(!isMet(puts))
  const cells = judgedTable([puts]).rows[0]
  assert.deepEqual(cells?.slice(-2), ['-', 'not measured'])
})

test('beside a peer that was not there the memory of the store is not judged', () => {
  const alone = runOf(peer('seriatim-disk', 'GetItem', 1, measured(36_000, 25))).records
  const lines = judgedLines(alone).filter(({ area }) => area === 'resident memory')
  assert.ok(lines.length > 0)
  for (const each of lines) assert.equal(each.measured, undefined, each.what)
})

const worst = (
  request: string,
  expected: 'valid' | 'refused',
  round: number,
  longestMs: number,
): [string, UnitRecord] => [
  `worst/${request}/${round}`,
  { kind: 'worst', request, expected, status: 0, activeMs: 2 * longestMs, longestMs, round },
]

test('of the dearest requests that one is judged which holds the main thread longest, by its best round', () => {
  const lines = judgedLines(
    runOf(
      worst('a', 'refused', 1, 300),
      worst('a', 'refused', 2, 99),
      worst('b', 'refused', 1, 40),
      worst('c', 'valid', 1, 251),
    ).records,
  ).filter(({ area }) => /stretch/.test(area))
  assert.deepEqual(
    lines.map((each) => [each.what, each.measured, isMet(each)]),
    [
      ['the dearest that is refused', 99, true],
      ['the dearest that is valid', 251, false],
    ],
  )
})

test('what is not met is named, with the section that shows where its time goes', () => {
  const [sentence, , ...missed] = verdictLines(records)
  assert.match(
    sentence!,
    /^4 of \d+ lines are met in this run\. \d+ were not measured\. Medians of 1 rounds\./,
  )
  assert.deepEqual(missed, [
    '- rate, of DynamoDB Local, both on disk: GetItem: 3.60, wanted at least 4; see [GetItem](../bench/performance-tables.md#the-time-of-getitem).',
    '- p50 at half of the peak rate, of that at a tenth of it: GetItem: 2.01, wanted at most 2; see ' +
      '[GetItem](../bench/performance-tables.md#the-time-of-getitem).',
    '- p99 at an equal rate: Seriatim, disk, durable, of DynamoDB Local, disk: GetItem: 1.00, wanted below 1; see ' +
      '[GetItem](../bench/performance-tables.md#the-time-of-getitem).',
  ])
  assert.equal(anchor('The time of UpdateItem, conditional'), 'the-time-of-updateitem-conditional')
})

test('on the page the lines of an operation are a row, with what is wanted, and bold where it is not met', () => {
  const lines = judgedMatrixLines(judgedLines(records))
  const row = lines.find((each) => each.startsWith('| GetItem |')) ?? ''
  assert.ok(row.startsWith('| GetItem | 0.90 (≥ 0.9) |'), row)
  assert.ok(row.includes('| **3.60 (≥ 4)** |'), row)
  const others = lines.filter((each) => each.startsWith('- '))
  assert.equal(others.length, 4)
  assert.ok(others[0]?.endsWith('of DynamoDB Local, disk: 0.13 (< 1)'), others[0])
})
