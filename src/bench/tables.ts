// A run's records as lines for a terminal.
import { type RecordOf, recordsOf, type UnitRecord } from './records.js'
import { groupBy, spreadOf } from './statistics.js'
import { TARGET_TITLES } from './targets/commands.js'

type Records = Readonly<Record<string, UnitRecord>>

export function tableLines(records: Records): readonly string[] {
  return [
    ...missingLines(records),
    ...generatorLines(records),
    ...startLines(records),
    ...appendLines(records),
    ...peerLines(records),
    ...failedLines(records),
  ]
}

export const titleOf = (target: string): string =>
  (TARGET_TITLES as Readonly<Record<string, string>>)[target] ?? target

function missingLines(records: Records): readonly string[] {
  const reasons = new Set(recordsOf(records, 'missing').map(({ reason }) => reason))
  return [...reasons].map((reason) => `left out: ${reason}`)
}

function failedLines(records: Records): readonly string[] {
  return Object.entries(records).flatMap(([id, record]) =>
    record.kind === 'failed' ? [`failed: ${id}: ${record.reason}`] : [],
  )
}

function generatorLines(records: Records): readonly string[] {
  const runs = recordsOf(records, 'generator').map(({ measured }) => measured)
  if (runs.length === 0) return []
  const reached = spreadOf(runs.map(({ perSecond }) => perSecond))
  const own = spreadOf(runs.map(({ generatorMicros }) => generatorMicros))
  return [
    '',
    `The generator drives the bare server with ${whole(reached.median)} requests a second (GetItem, 64 clients), and uses ` +
      `${own.median.toFixed(1)} us of processor for each:`,
    `with a core of its own it can drive about ${whole(1e6 / own.median)} a second. What comes near that is measured too low.`,
  ]
}

function startLines(records: Records): readonly string[] {
  const byTarget = groupBy(recordsOf(records, 'start'), ({ target }) => target)
  if (byTarget.size === 0) return []
  return [
    '',
    'From the start of the process to the first answer, and resident memory then',
    ...[...byTarget].map(([target, starts]) => {
      const { median, min, max } = spreadOf(starts.map(({ startMs }) => startMs))
      const resident = starts.map(({ residentBytes }) => residentBytes ?? NaN)
      return (
        `  ${titleOf(target).padEnd(TITLE_WIDTH)} ${whole(median).padStart(6)} ms (${whole(min)} to ${whole(max)})` +
        `   ${megabytes(spreadOf(resident).median)}`
      )
    }),
  ]
}

function appendLines(records: Records): readonly string[] {
  const bySize = groupBy(recordsOf(records, 'append'), ({ frameBytes }) => String(frameBytes))
  if (bySize.size === 0) return []
  return [
    '',
    'A loop that appends a frame to a file and syncs it (fdatasync), and does nothing else',
    ...[...bySize].map(([size, runs]) => {
      const rate = spreadOf(runs.map(({ perSecond }) => perSecond))
      const p50 = spreadOf(runs.map(({ latency }) => latency.p50Micros)).median
      return `  frames of ${size.padStart(6)} bytes  ${whole(rate.median).padStart(7)} a second (${whole(rate.min)} to ${whole(rate.max)}), p50 ${whole(p50)} us`
    }),
  ]
}

export interface PeerRow {
  readonly target: string
  readonly perSecond: ReturnType<typeof spreadOf>
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

/** Medians of the rounds of one workload under one load, a row for each target. */
export function peerRows(records: readonly RecordOf<'peer'>[]): readonly PeerRow[] {
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

function peerLines(records: Records): readonly string[] {
  const loads = groupBy(
    recordsOf(records, 'peer'),
    ({ workload, clients, rate }) =>
      `${workload}, ${rate === null ? `${clients} clients` : `${rate} requests a second, open loop`}`,
  )
  return [...loads].flatMap(([load, peers]) => {
    const rounds = Math.max(...peers.map(({ round }) => round))
    return [
      '',
      `${load}; medians of ${rounds} rounds`,
      `  ${'target'.padEnd(TITLE_WIDTH)} requests/s   of C  by CPU   p50 us   p99 us   CPU us  written B   memory   requests/s of the rounds`,
      ...peerRows(peers).map(peerLine),
    ]
  })
}

function peerLine(row: PeerRow): string {
  const title = `  ${titleOf(row.target).padEnd(TITLE_WIDTH)}`
  if (row.refusedShare === 1) return `${title} does not: ${row.refusals.join(', ')}`
  const { min, max } = row.perSecond
  const cells = [
    whole(row.perSecond.median).padStart(10),
    (row.ofBare?.toFixed(2) ?? '-').padStart(6),
    (row.ofBareByCpu?.toFixed(2) ?? '-').padStart(7),
    whole(row.p50Micros).padStart(8),
    whole(row.p99Micros).padStart(8),
    (Number.isNaN(row.cpuMicros) ? '-' : row.cpuMicros.toFixed(1)).padStart(8),
    whole(row.writtenBytes).padStart(10),
    megabytes(row.residentBytes).padStart(8),
    `  ${whole(min)} to ${whole(max)}`,
  ]
  const refused =
    row.refusedShare === 0 ? '' : `; ${(100 * row.refusedShare).toFixed(2)} % ${row.refusals.join(', ')}`
  return `${title} ${cells.join(' ')}${refused}`
}

const TITLE_WIDTH = 32

const known = (ratio: number): number | undefined => (Number.isFinite(ratio) ? ratio : undefined)

export const whole = (value: number): string =>
  Number.isNaN(value) ? '-' : Math.round(value).toLocaleString('en-US')

const megabytes = (bytes: number): string => (Number.isNaN(bytes) ? '-' : `${whole(bytes / 1e6)} MB`)
