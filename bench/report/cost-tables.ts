// What a transaction costs beside a single operation.
import { recordsOf, type UnitRecord } from '../records.js'
import { groupBy, median } from '../../src/bench/statistics.js'
import { fixed, type ReportTable, whole } from '../../src/bench/table.js'

export function costTables(records: Readonly<Record<string, UnitRecord>>): readonly ReportTable[] {
  const all = recordsOf(records, 'cost')
  if (all.length === 0) return []
  return [
    {
      title: 'A transaction beside a single operation, durable: median latencies in us, and processor time',
      columns: ['', 'nodes', 'clients', 'plain', 'transaction', 'times', 'times the CPU'],
      rows: [...groupBy(all, ({ pair, nodes, clients }) => `${pair} ${nodes} ${clients}`).values()].map(
        (rounds) => {
          const { pair, nodes, clients } = rounds[0]!
          const of = (side: string, value: (record: (typeof rounds)[number]) => number): number =>
            median(rounds.filter((record) => record.side === side).map(value))
          const p50 = (side: string): number => of(side, ({ measured }) => measured.latency.p50Micros)
          const cpu = (side: string): number => of(side, ({ measured }) => measured.cpuMicros ?? NaN)
          return [
            pair,
            String(nodes),
            String(clients),
            whole(p50('plain')),
            whole(p50('transaction')),
            fixed(p50('transaction') / p50('plain'), 2),
            fixed(cpu('transaction') / cpu('plain'), 2),
          ]
        },
      ),
    },
  ]
}
