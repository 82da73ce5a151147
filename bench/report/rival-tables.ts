// Seriatim beside Dynoxide, figure by figure: memory beside memory, disk beside disk, and which of the two leads. What the page
// says of it is made here, so that it says what the run has measured.
import { type RecordOf, recordsOf, type UnitRecord } from '../records.js'
import { groupBy, median } from '../../src/bench/statistics.js'
import { peerRows } from './peer-tables.js'
import { fixed, type ReportTable, whole } from '../../src/bench/table.js'

type Records = Readonly<Record<string, UnitRecord>>

export interface Comparison {
  readonly what: string
  readonly unit: string
  readonly better: 'more' | 'less'
  readonly ours: number
  readonly theirs: number
}

const PLACES = [
  { place: 'memory', ours: 'seriatim-memory', theirs: 'dynoxide-memory' },
  { place: 'disk', ours: 'seriatim-disk', theirs: 'dynoxide-disk' },
] as const
const BYTES_OF_MEGABYTE = 1e6

/** How many times as good ours is as theirs. */
export const timesAsGood = ({ better, ours, theirs }: Comparison): number =>
  better === 'more' ? ours / theirs : theirs / ours

/** Of what the run has measured of both. */
export function comparisons(records: Records): readonly Comparison[] {
  return [
    ...rates(records),
    ...tails(records),
    ...starts(records),
    ...coldStarts(records),
    ...memory(records),
  ].filter((each) => Number.isFinite(timesAsGood(each)))
}

function rates(records: Records): readonly Comparison[] {
  const closed = recordsOf(records, 'peer').filter(({ rate }) => rate === null)
  const loads = groupBy(closed, ({ workload, clients }) => `${workload}, ${clients}`)
  return [...loads.values()].flatMap((load) =>
    PLACES.map(({ place, ours, theirs }) => {
      const { workload, clients } = load[0]!
      const rows = peerRows(load)
      const rateOf = (target: string): number =>
        rows.find((row) => row.target === target && row.refusedShare < 1)?.perSecond.median ?? NaN
      return {
        what: `${workload}, ${clientsText(clients)}, ${place}`,
        unit: 'requests/s',
        better: 'more',
        ours: rateOf(ours),
        theirs: rateOf(theirs),
      }
    }),
  )
}

const clientsText = (clients: number): string => (clients === 1 ? 'one client' : `${clients} clients`)

function tails(records: Records): readonly Comparison[] {
  return [...groupBy(recordsOf(records, 'equal'), ({ workload }) => workload)].flatMap(([workload, all]) =>
    PLACES.map(({ place, ours, theirs }) => {
      const rows = peerRows(all)
      const p99Of = (target: string): number =>
        rows.find((row) => row.target === target && row.refusedShare < 1)?.p99Micros ?? NaN
      return {
        what: `${workload}, p99 at an equal rate, ${place}`,
        unit: 'us',
        better: 'less',
        ours: p99Of(ours),
        theirs: p99Of(theirs),
      }
    }),
  )
}

function starts(records: Records): readonly Comparison[] {
  const all = recordsOf(records, 'start')
  const of = (target: string, value: (record: RecordOf<'start'>) => number): number =>
    median(all.filter((record) => record.target === target).map(value))
  return PLACES.flatMap(({ place, ours, theirs }): Comparison[] => [
    {
      what: `start to the first answer, ${place}`,
      unit: 'ms',
      better: 'less',
      ours: of(ours, ({ startMs }) => startMs),
      theirs: of(theirs, ({ startMs }) => startMs),
    },
    {
      what: `resident memory when idle, ${place}`,
      unit: 'MB',
      better: 'less',
      ours: of(ours, ({ residentBytes }) => (residentBytes ?? NaN) / BYTES_OF_MEGABYTE),
      theirs: of(theirs, ({ residentBytes }) => (residentBytes ?? NaN) / BYTES_OF_MEGABYTE),
    },
  ])
}

function coldStarts(records: Records): readonly Comparison[] {
  const all = recordsOf(records, 'cold')
  const [, { ours, theirs }] = PLACES
  const of = (
    cold: readonly RecordOf<'cold'>[],
    target: string,
    value: (record: RecordOf<'cold'>) => number,
  ): number => median(cold.filter((record) => record.target === target).map(value))
  const loads = groupBy(all, ({ workload, clients }) => `${workload}, ${clients} clients, cold files`)
  return [
    {
      what: 'start to the first answer, cold files',
      unit: 'ms',
      better: 'less',
      ours: of(all, ours, ({ startMs }) => startMs),
      theirs: of(all, theirs, ({ startMs }) => startMs),
    },
    ...[...loads].map(([what, cold]): Comparison => ({
      what,
      unit: 'requests/s',
      better: 'more',
      ours: of(cold, ours, ({ measured }) => measured.perSecond),
      theirs: of(cold, theirs, ({ measured }) => measured.perSecond),
    })),
  ]
}

/** The most that each held while it was compared. */
function memory(records: Records): readonly Comparison[] {
  const most = (target: string): number => {
    const held = recordsOf(records, 'peer').flatMap((record) =>
      record.target === target ? [record.measured.residentBytes ?? NaN] : [],
    )
    return held.length === 0 ? NaN : Math.max(...held) / BYTES_OF_MEGABYTE
  }
  return PLACES.map(({ place, ours, theirs }) => ({
    what: `resident memory under load, ${place}`,
    unit: 'MB',
    better: 'less',
    ours: most(ours),
    theirs: most(theirs),
  }))
}

const tableOf = (all: readonly Comparison[]): ReportTable => ({
  title: 'Seriatim beside Dynoxide',
  columns: ['', 'Seriatim', 'Dynoxide', 'leads', 'times'],
  rows: all.map((each) => {
    const times = timesAsGood(each)
    return [
      `${each.what}, ${each.unit}`,
      whole(each.ours),
      whole(each.theirs),
      times >= 1 ? 'Seriatim' : 'Dynoxide',
      fixed(Math.max(times, 1 / times), 1),
    ]
  }),
})

export function rivalTables(records: Records): readonly ReportTable[] {
  const all = comparisons(records)
  return all.length === 0 ? [] : [tableOf(all)]
}

/** The page stays short; the appendix has all of them. */
const LEADS_SHOWN_MAX = 16

/** A sentence that counts, and the table of what the other leads in, its largest lead first; undefined if neither was measured. */
export function rivalLeads(
  records: Records,
): { readonly sentence: string; readonly table: ReportTable | undefined } | undefined {
  const all = comparisons(records)
  if (all.length === 0) return undefined
  const lost = all
    .filter((each) => timesAsGood(each) < 1)
    .toSorted((one, other) => timesAsGood(one) - timesAsGood(other))
  const shown = lost.slice(0, LEADS_SHOWN_MAX)
  const which = shown.length < lost.length ? `, of which these are the largest ${shown.length}` : ''
  const sentence =
    `Of ${all.length} figures that this run has of both, Seriatim leads in ${all.length - lost.length} and Dynoxide in ` +
    `${lost.length}${which}${lost.length === 0 ? '.' : ':'}`
  return { sentence, table: lost.length === 0 ? undefined : tableOf(shown) }
}
