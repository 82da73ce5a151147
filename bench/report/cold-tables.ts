// Servers on files that the page cache does not hold.
import { recordsOf, type UnitRecord } from '../records.js'
import { groupBy, median } from '../../src/bench/statistics.js'
import { titleOf } from './peer-tables.js'
import { millis, type ReportTable, whole } from '../../src/bench/table.js'

export function coldTables(records: Readonly<Record<string, UnitRecord>>): readonly ReportTable[] {
  const all = recordsOf(records, 'cold')
  if (all.length === 0) return []
  const loads = groupBy(all, ({ target, workload, clients }) => `${target}/${workload}/${clients}`)
  return [
    {
      title: `Started on cold files, tables of ${whole(all[0]!.items)} items and more`,
      columns: [
        '',
        'operation',
        'clients',
        'first answer ms',
        'requests/s',
        'p50 ms',
        'p99 ms',
        'read bytes',
      ],
      words: 2,
      rows: [...loads.values()].map((rounds) => {
        const { target, workload, clients } = rounds[0]!
        const middle = (of: (record: (typeof rounds)[number]) => number): number => median(rounds.map(of))
        return [
          titleOf(target),
          workload,
          String(clients),
          whole(middle(({ startMs }) => startMs)),
          whole(middle(({ measured }) => measured.perSecond)),
          millis(middle(({ measured }) => measured.latency.p50Micros)),
          millis(middle(({ measured }) => measured.latency.p99Micros)),
          whole(middle(({ measured }) => measured.readBytes ?? NaN)),
        ]
      }),
    },
  ]
}
