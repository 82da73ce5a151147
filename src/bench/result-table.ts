// The table of a run: for each load and server the median of the rounds.
import type { BenchResult } from './run.js'
import { groupBy, median, spreadOf } from './statistics.js'
import { millis, type ReportTable, whole } from './table.js'

export function resultTable(results: readonly BenchResult[]): ReportTable {
  const groups = groupBy(results, ({ workload, clients, server }) => `${workload}/${clients}/${server}`)
  const rounds = Math.max(0, ...results.map(({ round }) => round))
  return {
    title: `medians of ${rounds} rounds; latencies in milliseconds, processor time of the server in microseconds`,
    columns: [
      'operation',
      'load',
      'server',
      'a second',
      'least',
      'most',
      'p50',
      'p99',
      'processor',
      'refused',
    ],
    words: 3,
    rows: [...groups.values()].map((group) => {
      const [{ workload, clients, rate, server }] = group as readonly [BenchResult]
      const middle = (of: (result: BenchResult) => number): number => median(group.map(of))
      const perSecond = spreadOf(group.map(({ measured }) => measured.perSecond))
      return [
        workload,
        rate === null ? `${clients} clients` : `${rate} a second`,
        server,
        whole(perSecond.median),
        whole(perSecond.min),
        whole(perSecond.max),
        millis(middle(({ measured }) => measured.latency.p50Micros)),
        millis(middle(({ measured }) => measured.latency.p99Micros)),
        whole(middle(({ measured }) => measured.cpuMicros ?? NaN)),
        whole(group.reduce((sum, { measured }) => sum + refusedIn(measured.refusals), 0)),
      ]
    }),
  }
}

const refusedIn = (refusals: Readonly<Record<string, number>>): number =>
  Object.values(refusals).reduce((sum, count) => sum + count, 0)
