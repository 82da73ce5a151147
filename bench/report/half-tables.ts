// Latency at a tenth and at half of the peak rate, on one node.
import { recordsOf, type UnitRecord } from '../records.js'
import { groupBy, median } from '../../src/bench/statistics.js'
import { fixed, type ReportTable, whole } from '../../src/bench/table.js'

export function halfTables(records: Readonly<Record<string, UnitRecord>>): readonly ReportTable[] {
  const all = recordsOf(records, 'half')
  if (all.length === 0) return []
  return [
    {
      title: 'Latency in us at a tenth and at half of the peak rate (open loop), one node on disk',
      columns: ['', 'peak/s', 'p50 at a tenth', 'p99', 'p50 at half', 'p99', 'p50, times'],
      rows: [...groupBy(all, ({ workload }) => workload)].map(([workload, points]) => {
        const at = (share: number, of: 'p50Micros' | 'p99Micros'): number =>
          median(points.filter((point) => point.share === share).map(({ measured }) => measured.latency[of]))
        return [
          workload,
          whole(median(points.map(({ peakPerSecond }) => peakPerSecond))),
          whole(at(0.1, 'p50Micros')),
          whole(at(0.1, 'p99Micros')),
          whole(at(0.5, 'p50Micros')),
          whole(at(0.5, 'p99Micros')),
          fixed(at(0.5, 'p50Micros') / at(0.1, 'p50Micros'), 2),
        ]
      }),
    },
  ]
}
