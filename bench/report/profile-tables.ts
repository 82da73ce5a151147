// Where the time of the server's main thread goes, by operation.
import { type RecordOf, recordsOf, type UnitRecord } from '../records.js'
import { profileHeading } from './judged.js'
import { fixed, markdownLines, percent, type ReportTable } from '../../src/bench/table.js'

type Records = Readonly<Record<string, UnitRecord>>

/** Parts that take less of every operation are summed up. */
const SHARE_MIN = 0.015
const OTHERS = 'all others'
const FUNCTIONS_SHOWN = 10

/** The parts of the program in rows, the operations in columns. */
export function profileTables(records: Records): readonly ReportTable[] {
  const profiles = recordsOf(records, 'profile')
  if (profiles.length === 0) return []
  const shareOf = ({ times: { parts, busyMicros } }: RecordOf<'profile'>, name: string): number =>
    (parts.find((part) => part.name === name)?.micros ?? 0) / busyMicros
  const most = (name: string): number => Math.max(...profiles.map((profile) => shareOf(profile, name)))
  const names = [...new Set(profiles.flatMap(({ times }) => times.parts.map(({ name }) => name)))]
  const shown = names.filter((name) => most(name) >= SHARE_MIN).toSorted((a, b) => most(b) - most(a))
  const rest = (profile: RecordOf<'profile'>): number =>
    1 - shown.reduce((sum, name) => sum + shareOf(profile, name), 0)
  return [
    {
      title: 'Where the time of the main thread goes, 64 clients, one node on disk',
      columns: ['', ...profiles.map(({ workload }) => workload)],
      rows: [
        [
          'processor time of a request, all threads, us',
          ...profiles.map(({ measured }) => fixed(measured.cpuMicros ?? undefined, 1)),
        ],
        [
          'the main thread is busy',
          ...profiles.map(({ times }) =>
            percent(times.busyMicros / (times.busyMicros + times.idleMicros), 0),
          ),
        ],
        ...shown.map((name) => [name, ...profiles.map((profile) => percent(shareOf(profile, name)))]),
        [OTHERS, ...profiles.map((profile) => percent(Math.max(0, rest(profile))))],
      ],
    },
  ]
}

/** The functions of each operation, below a heading of its own. */
export function functionLines(records: Records): readonly string[] {
  return recordsOf(records, 'profile').flatMap(({ workload, times }) => [
    `### ${profileHeading(workload)}`,
    '',
    ...markdownLines({
      title: '',
      columns: ['function', 'self time'],
      rows: times.functions
        .slice(0, FUNCTIONS_SHOWN)
        .map(({ name, micros }) => [`\`${name}\``, percent(micros / times.busyMicros)]),
    }),
    '',
  ])
}
