// What workers cost, and what would be full first: processor time a request against that of one worker, and how much of it is the
// first worker's, which has the data. That one is full before the others are.
import type { BenchResult } from './run.js'
import { groupBy, median } from './statistics.js'
import { type ReportTable, whole } from './table.js'

/** Undefined if nothing was measured with several workers. */
export function workersTable(results: readonly BenchResult[]): ReportTable | undefined {
  if (!results.some(({ workers }) => workers !== undefined)) return undefined
  const groups = groupBy(results, ({ workload, clients, server }) => `${workload}/${clients}/${server}`)
  const cpu = (group: readonly BenchResult[]): number =>
    median(group.map(({ measured }) => measured.cpuMicros ?? NaN))
  return {
    title:
      'processor time in microseconds a request: of all workers, against one worker, of the first worker, of the generator; ' +
      'and when the first worker is full',
    columns: [
      'operation',
      'load',
      'server',
      'all',
      'ratio',
      'first',
      'generator',
      'full at a second',
      'with cores',
    ],
    words: 3,
    rows: [...groups.values()]
      .filter(([result]) => result?.workers !== undefined)
      .map((group) => {
        const [{ workload, clients, server, workers }] = group as readonly [BenchResult]
        const alone = groups.get(`${workload}/${clients}/${server.replace(`, ${workers} workers`, '')}`)
        const all = cpu(group)
        const first = median(group.map(({ measured }) => measured.firstCpuMicros ?? NaN))
        return [
          workload,
          `${clients} clients`,
          server,
          all.toFixed(1),
          alone === undefined ? '-' : (all / cpu(alone)).toFixed(2),
          first.toFixed(1),
          median(group.map(({ measured }) => measured.generatorMicros)).toFixed(1),
          whole(1e6 / first),
          (all / first).toFixed(1),
        ]
      }),
  }
}
