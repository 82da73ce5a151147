// Seriatim beside its peers: medians of the rounds, and how far the rounds lie apart.
import { type RecordOf, recordsOf, type UnitRecord } from '../records.js'
import { groupBy, type Spread, spreadOf } from '../../src/bench/statistics.js'
import { TARGET_TITLES } from '../targets/commands.js'
import { fixed, megabytes, percent, type ReportTable, whole } from '../../src/bench/table.js'

type Records = Readonly<Record<string, UnitRecord>>

export const titleOf = (target: string): string =>
  (TARGET_TITLES as Readonly<Record<string, string>>)[target] ?? target

/** Medians of one server under one load. */
export interface PeerRow {
  readonly target: string
  readonly perSecond: Spread
  /** Of the bare server's rate in the same run; undefined if it was not measured. */
  readonly ofBare: number | undefined
  /** The bare server's processor time for a request, of this one's: says more than the rate on a busy machine. */
  readonly ofBareByCpu: number | undefined
  readonly p50Micros: number
  readonly p99Micros: number
  readonly cpuMicros: number
  readonly writtenBytes: number
  readonly residentBytes: number
  /** Of the answers. */
  readonly refusedShare: number
  readonly refusals: readonly string[]
}

/** Of one workload under one load, a row for each target. */
export function peerRows(records: readonly (RecordOf<'peer'> | RecordOf<'equal'>)[]): readonly PeerRow[] {
  const byTarget = groupBy(records, ({ target }) => target)
  const bareRounds = byTarget.get('bare') ?? []
  const bare = spreadOf(bareRounds.map(({ measured }) => measured.perSecond)).median
  const bareCpu = spreadOf(bareRounds.map(({ measured }) => measured.cpuMicros ?? NaN)).median
  return [...byTarget].map(([target, rounds]) => {
    const middle = (of: (measured: RecordOf<'peer'>['measured']) => number | null): number =>
      spreadOf(rounds.map(({ measured }) => of(measured) ?? NaN)).median
    const perSecond = spreadOf(rounds.map(({ measured }) => measured.perSecond))
    const answers = rounds.reduce((sum, { measured }) => sum + measured.answers, 0)
    const refused = rounds.flatMap(({ measured }) => Object.values(measured.refusals))
    return {
      target,
      perSecond,
      ofBare: known(perSecond.median / bare),
      ofBareByCpu: known(bareCpu / middle(({ cpuMicros }) => cpuMicros)),
      p50Micros: middle(({ latency }) => latency.p50Micros),
      p99Micros: middle(({ latency }) => latency.p99Micros),
      cpuMicros: middle(({ cpuMicros }) => cpuMicros),
      writtenBytes: middle(({ writtenBytes }) => writtenBytes),
      residentBytes: middle(({ residentBytes }) => residentBytes),
      refusedShare: answers === 0 ? 0 : refused.reduce((sum, count) => sum + count, 0) / answers,
      refusals: [...new Set(rounds.flatMap(({ measured }) => Object.keys(measured.refusals)))],
    }
  })
}

const known = (ratio: number): number | undefined => (Number.isFinite(ratio) ? ratio : undefined)

/** One table for each workload and load. */
export function peerTables(records: Records): readonly ReportTable[] {
  const loads = groupBy(recordsOf(records, 'peer'), ({ workload, clients, rate }) =>
    rate === null ? `${workload}, ${clients} clients` : `${workload}, ${rate} requests a second, open loop`,
  )
  return [...loads].map(([load, peers]) => ({
    title: `${load}; medians of ${Math.max(...peers.map(({ round }) => round))} rounds`,
    columns: [
      '',
      'requests/s',
      'of C',
      'C by CPU',
      'p50 us',
      'p99 us',
      'CPU us',
      'written B',
      'memory',
      'rounds',
    ],
    rows: peerRows(peers).map(peerCells),
  }))
}

function peerCells(row: PeerRow): readonly string[] {
  const title = titleOf(row.target)
  if (row.refusedShare === 1) return [title, `- (${row.refusals.join(', ')})`]
  const { median, min, max } = row.perSecond
  const refused = row.refusedShare === 0 ? '' : `, ${percent(row.refusedShare, 2)} ${row.refusals.join(', ')}`
  return [
    title,
    whole(median),
    fixed(row.ofBare, 2),
    fixed(row.ofBareByCpu, 2),
    whole(row.p50Micros),
    whole(row.p99Micros),
    fixed(row.cpuMicros, 1),
    whole(row.writtenBytes),
    megabytes(row.residentBytes),
    `${whole(min)} to ${whole(max)}${refused}`,
  ]
}

/** Requests a second, operations beside each other; null if nothing of them was measured with that many clients. */
export function ratesTable(
  records: Records,
  clients: number,
  isShown: (workload: string) => boolean = () => true,
): ReportTable | null {
  const peers = recordsOf(records, 'peer').filter(
    (record) => record.clients === clients && record.rate === null && isShown(record.workload),
  )
  if (peers.length === 0) return null
  const byWorkload = groupBy(peers, ({ workload }) => workload)
  const targets = [...groupBy(peers, ({ target }) => target).keys()]
  const rowsOf = new Map([...byWorkload].map(([workload, all]) => [workload, peerRows(all)]))
  return {
    title: `Requests a second, ${clients} clients (of C)`,
    columns: ['', ...targets.map(titleOf)],
    rows: [...rowsOf].map(([workload, rows]) => [
      workload,
      ...targets.map((target) => {
        const row = rows.find((each) => each.target === target)
        if (row === undefined || row.refusedShare === 1) return '-'
        const ratio = target === 'bare' || row.ofBare === undefined ? '' : ` (${row.ofBare.toFixed(2)})`
        return `${whole(row.perSecond.median)}${ratio}`
      }),
    ]),
  }
}

/** One row for each server: what a single client that waits for each answer gets. */
export function oneClientTable(records: Records): ReportTable | null {
  const alone = recordsOf(records, 'peer').filter((record) => record.clients === 1 && record.rate === null)
  if (alone.length === 0) return null
  const workloads = [...groupBy(alone, ({ workload }) => workload)].map(([name, all]) => ({
    name,
    rows: peerRows(all),
  }))
  return {
    title: 'One client: requests a second, and p50 in us',
    columns: ['', ...workloads.flatMap(({ name }) => [`${name}, a second`, 'p50 us'])],
    rows: [...groupBy(alone, ({ target }) => target).keys()].map((target) => [
      titleOf(target),
      ...workloads.flatMap(({ rows }) => {
        const row = rows.find((each) => each.target === target)
        if (row === undefined || row.refusedShare === 1) return ['-', '-']
        return [whole(row.perSecond.median), whole(row.p50Micros)]
      }),
    ]),
  }
}

/** How many times a target's rate another's is, by workload: for what the store is judged by. */
export function rateRatio(
  records: Records,
  clients: number,
  workload: string,
  [target, other]: readonly [string, string],
): number | undefined {
  const peers = recordsOf(records, 'peer').filter(
    (record) => record.clients === clients && record.rate === null && record.workload === workload,
  )
  const rateOf = (name: string): number =>
    spreadOf(peers.filter((record) => record.target === name).map(({ measured }) => measured.perSecond))
      .median
  return known(rateOf(target) / rateOf(other))
}

export function equalTables(records: Records): readonly ReportTable[] {
  const byWorkload = groupBy(recordsOf(records, 'equal'), ({ workload }) => workload)
  if (byWorkload.size === 0) return []
  const targets = [...groupBy(recordsOf(records, 'equal'), ({ target }) => target).keys()]
  return [
    {
      title: 'Latency at a rate that all of them hold (open loop), p50 and p99 in ms',
      columns: ['', 'rate', ...targets.map(titleOf)],
      rows: [...byWorkload].map(([workload, all]) => {
        const rows = peerRows(all)
        return [
          workload,
          whole(spreadOf(all.map(({ rate }) => rate)).median),
          ...targets.map((target) => {
            const row = rows.find((each) => each.target === target)
            if (row === undefined || row.refusedShare === 1) return '-'
            return `${fixed(row.p50Micros / 1000, 2)} / ${fixed(row.p99Micros / 1000, 2)}`
          }),
        ]
      }),
    },
  ]
}
