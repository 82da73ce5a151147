import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chartLibrary, chartSvg } from '../../bench/report/chart-svg.js'
import { chartsOf } from '../../bench/report/charts.js'
import { fillTemplate } from '../../bench/report/document.js'
import { processorFit } from '../../bench/report/timing-table.js'
import { peerRows } from '../../bench/report/peer-tables.js'
import { reportLines } from '../../bench/report/report.js'
import { markdownLines, terminalLines } from '../../src/bench/table.js'
import type { UnitRecord } from '../../bench/records.js'
import { measured, peer, runOf } from './records.js'

const RUN = runOf(
  peer('bare', 'GetItem', 1, measured(40_000, 20)),
  peer('bare', 'GetItem', 2, measured(10_000, 20)),
  peer('bare', 'GetItem', 3, measured(50_000, 22)),
  peer('seriatim-disk', 'GetItem', 1, measured(36_000, 25)),
  peer('seriatim-disk', 'GetItem', 2, measured(38_000, 25)),
  peer('seriatim-disk', 'GetItem', 3, measured(8000, 30)),
  peer(
    'dynalite-memory',
    'GetItem',
    1,
    measured(0, 0, { answers: 9, refusals: { UnknownOperationException: 9 } }),
  ),
)

test('of rounds the median counts, against the bare server of the same run, and the extremes are shown', () => {
  const peers = Object.values(RUN.records).filter((record) => record.kind === 'peer')
  const row = peerRows(peers).find(({ target }) => target === 'seriatim-disk')
  assert.ok(row !== undefined)
  assert.deepEqual(row.perSecond, { median: 36_000, min: 8000, max: 38_000, rounds: 3 })
  assert.equal(row.ofBare, 0.9)
  assert.equal(row.ofBareByCpu, 0.8)
})

test('the template gets tables and figures of the run, and says what was not measured', () => {
  const page = fillTemplate(
    ['before', '{{rates 64}}', '{{figure peers}}', '{{rates 1}}', 'after'].join('\n'),
    RUN,
  )
  assert.equal(
    page,
    [
      'before',
      '|  | bare node:http (C) | Seriatim, disk, durable | dynalite, memory |',
      '| --- | ---: | ---: | ---: |',
      '| GetItem | 40,000 | 36,000 (0.90) | - |',
      '![Requests a second, 64 clients, items of 900 bytes](figures/peers.svg)',
      '_Not measured in this run._',
      'after',
    ].join('\n'),
  )
})

test('of the operations of a load only those are shown that the store is judged by, if that is asked', () => {
  const { records } = RUN
  const run = runOf(
    ...Object.entries(records),
    peer('seriatim-disk', 'BatchWriteItem of 25', 1, measured(1000, 20)),
  )
  const lines = (argument: string): number => fillTemplate(`{{rates ${argument}}}`, run).split('\n').length
  assert.equal(lines('64'), 4)
  assert.equal(lines('64 judged'), 3)
})

test('a single client: a row for each server, with rate and p50 of each operation that it has', () => {
  const alone = (target: string, workload: string, perSecond: number): [string, UnitRecord] => {
    const [id, record] = peer(target, workload, 1, measured(perSecond, 20))
    return [`alone/${id}`, { ...record, clients: 1 } as UnitRecord]
  }
  const run = runOf(
    alone('bare', 'GetItem', 9000),
    alone('bare', 'PutItem', 8000),
    alone('dynoxide-disk', 'GetItem', 7000),
  )
  assert.deepEqual(fillTemplate('{{alone}}', run).split('\n').slice(2), [
    '| bare node:http (C) | 9,000 | 1,000 | 8,000 | 1,000 |',
    '| Dynoxide, disk, durable | 7,000 | 1,000 | - | - |',
  ])
})

for (const name of ['performance', 'performance-tables'])
  test(`the template ${name} asks for nothing that is not known, even of a run that measured nothing`, () => {
    const path = fileURLToPath(new URL(`../../../bench/${name}.template.md`, import.meta.url))
    const page = fillTemplate(readFileSync(path, 'utf8'), runOf())
    assert.ok(!page.includes('{{'), 'every placeholder is filled')
  })

test('a placeholder that is not known is an error', () => {
  assert.throws(() => fillTemplate('{{nonsense}}', RUN), /'nonsense', which nobody knows/)
})

test('an operation that a server refuses is not given a rate', () => {
  const lines = reportLines(RUN.records)
  assert.ok(lines.some((line) => line.includes('dynalite') && line.includes('UnknownOperationException')))
})

test('what is left out or has failed is said at the end', () => {
  const lines = reportLines({
    a: { kind: 'missing', target: 'local-disk', reason: 'there is none' },
    b: { kind: 'missing', target: 'local-memory', reason: 'there is none' },
    c: { kind: 'failed', reason: 'no luck' },
  })
  assert.deepEqual(lines, ['left out: there is none', 'failed: c: no luck'])
})

test('the processor time of a request and of each item is the line through the measured sizes', () => {
  const { records } = runOf(
    ...[1, 3, 10, 100].map((size) =>
      peer('seriatim-disk', `TransactGetItems of ${size}`, 1, measured(1, 40 + 7 * size)),
    ),
  )
  const fit = processorFit(records, 'TransactGetItems', 'seriatim-disk')
  assert.ok(fit !== undefined)
  assert.ok(Math.abs(fit.requestMicros - 40) < 1e-6 && Math.abs(fit.itemMicros - 7) < 1e-6)
  assert.equal(processorFit(records, 'TransactWriteItems', 'seriatim-disk'), undefined)
})

test('a table keeps its columns in a terminal, and its bars in a page', () => {
  const table = {
    title: 'T',
    columns: ['', 'n'],
    rows: [
      ['a|b', '1'],
      ['c', '22'],
    ],
  }
  assert.deepEqual(terminalLines(table), ['', 'T', '        n', '  a|b   1', '  c    22'])
  assert.deepEqual(markdownLines(table), ['|  | n |', '| --- | ---: |', '| a\\|b | 1 |', '| c | 22 |'])
})

test('a chart is drawn as SVG, the same each time', async () => {
  const library = await chartLibrary()
  assert.ok(library !== undefined, 'echarts is a dependency of development')
  const [chart = assert.fail('no chart')] = chartsOf(RUN.records)
  assert.deepEqual(
    chart.series.map(({ name, points }) => [name, points]),
    [
      ['bare node:http (C)', [['GetItem', 40_000]]],
      ['Seriatim, disk, durable', [['GetItem', 36_000]]],
      ['dynalite, memory', []],
    ],
  )
  const svg = chartSvg(library, chart)
  assert.match(svg, /^<svg /)
  assert.ok(svg.includes('Requests a second'))
  assert.equal(chartSvg(library, chart), svg)
})
