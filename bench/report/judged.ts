// The lines that the store is judged by: what is wanted of each, what a run gave, and whether that is enough. Ratios of
// medians within the run; a line whose figures the run does not have is not measured, and not met.
import { type RecordOf, recordsOf, type UnitRecord } from '../records.js'
import { groupBy, median } from '../../src/bench/statistics.js'
import { JUDGED_WORKLOADS, type JudgedWorkload } from '../../src/bench/load/workloads.js'
import { peerRows, rateRatio, titleOf } from './peer-tables.js'
import { fixed, markdownLines, type ReportTable } from '../../src/bench/table.js'

type Records = Readonly<Record<string, UnitRecord>>

export interface JudgedLine {
  readonly area: string
  readonly what: string
  /** The workload that a profile would explain. */
  readonly workload: string
  readonly wanted: { readonly bound: 'at least' | 'at most' | 'below'; readonly value: number }
  /** Undefined if the run did not measure it. */
  readonly measured: number | undefined
}

export const CLIENTS = 64
type Wanted = Readonly<Partial<Record<JudgedWorkload, number>>>

const STORE = 'seriatim-disk'
const OF_BARE: Wanted = {
  GetItem: 0.9,
  PutItem: 0.6,
  'UpdateItem, conditional': 0.5,
  'Query of 10': 0.5,
  'TransactGetItems of 3': 0.6,
  'TransactWriteItems of 3': 0.4,
}
const OF_LOCAL: Wanted = {
  GetItem: 4,
  'Query of 10': 3,
  'TransactGetItems of 3': 3,
  PutItem: 25,
  'TransactWriteItems of 3': 25,
}
const OF_DYNALITE: Wanted = { GetItem: 2.5, PutItem: 2.5, 'Query of 10': 2.5, 'UpdateItem, conditional': 4 }
const TAIL_MAX = 5
const HALF_MAX = 2
/** Each beside its equal: durable beside disk, memory beside memory. */
const RIVALS = [
  ['seriatim-disk', 'local-disk'],
  ['seriatim-memory', 'dynalite-memory'],
] as const

export function isMet({ wanted: { bound, value }, measured }: JudgedLine): boolean {
  if (measured === undefined || !Number.isFinite(measured)) return false
  switch (bound) {
    case 'at least':
      return measured >= value
    case 'at most':
      return measured <= value
    case 'below':
      return measured < value
  }
}

export function judgedLines(records: Records): readonly JudgedLine[] {
  return [
    ...rateLines(records, 'rate, of C (one node, on disk)', OF_BARE, [STORE, 'bare']),
    ...tailLines(records),
    ...rateLines(records, 'rate, of DynamoDB Local, both on disk', OF_LOCAL, [STORE, 'local-disk']),
    ...rateLines(records, 'rate, of dynalite, both in memory', OF_DYNALITE, [
      'seriatim-memory',
      'dynalite-memory',
    ]),
    ...memoryLines(records),
    ...halfLines(records),
    ...equalLines(records),
    ...worstLines(records),
  ]
}

const STRETCH_MS_MAX = { refused: 100, valid: 250 } as const

/** The request that keeps all others waiting longest, each by the best of its rounds: what disturbs only adds to it. */
function worstLines(records: Records): readonly JudgedLine[] {
  return (['refused', 'valid'] as const).map((expected) => {
    const ofKind = recordsOf(records, 'worst').filter((record) => record.expected === expected)
    const longest = [...groupBy(ofKind, ({ request }) => request).values()].map((rounds) =>
      Math.min(...rounds.map(({ longestMs }) => longestMs)),
    )
    return {
      area: 'longest stretch of the main thread for one request, ms',
      what: `the dearest that is ${expected}`,
      workload: '',
      wanted: { bound: 'at most', value: STRETCH_MS_MAX[expected] },
      measured: longest.length === 0 ? undefined : Math.max(...longest),
    }
  })
}

function rateLines(
  records: Records,
  area: string,
  wanted: Wanted,
  of: readonly [string, string],
): readonly JudgedLine[] {
  return Object.entries(wanted).map(([workload, value]) => ({
    area,
    what: workload,
    workload,
    wanted: { bound: 'at least', value },
    measured: rateRatio(records, CLIENTS, workload, of),
  }))
}

function tailLines(records: Records): readonly JudgedLine[] {
  return JUDGED_WORKLOADS.map((workload) => {
    const [row] = peerRows(
      recordsOf(records, 'peer').filter(
        (record) =>
          record.target === STORE &&
          record.workload === workload &&
          record.clients === CLIENTS &&
          record.rate === null,
      ),
    )
    return {
      area: 'p99, of p50 (one node, on disk)',
      what: workload,
      workload,
      wanted: { bound: 'at most', value: TAIL_MAX },
      measured: row === undefined ? undefined : known(row.p99Micros / row.p50Micros),
    }
  })
}

/** The most that each held while it was compared, all workloads together. */
function memoryLines(records: Records): readonly JudgedLine[] {
  const most = (target: string): number => {
    const ofTarget = recordsOf(records, 'peer').filter((record) => record.target === target)
    // Of nobody the most would be less than nothing.
    return ofTarget.length === 0
      ? NaN
      : Math.max(...ofTarget.map(({ measured }) => measured.residentBytes ?? NaN))
  }
  return RIVALS.map(([ours, theirs]) => ({
    area: 'resident memory',
    what: `${titleOf(ours)}, of ${titleOf(theirs)}`,
    workload: '',
    wanted: { bound: 'below', value: 1 },
    measured: known(most(ours) / most(theirs)),
  }))
}

const known = (value: number): number | undefined => (Number.isFinite(value) ? value : undefined)

function halfLines(records: Records): readonly JudgedLine[] {
  return JUDGED_WORKLOADS.map((workload) => {
    const p50 = (share: number): number =>
      median(
        recordsOf(records, 'half')
          .filter((record) => record.workload === workload && record.share === share)
          .map(({ measured }) => measured.latency.p50Micros),
      )
    return {
      area: 'p50 at half of the peak rate, of that at a tenth of it',
      what: workload,
      workload,
      wanted: { bound: 'at most', value: HALF_MAX },
      measured: known(p50(0.5) / p50(0.1)),
    }
  })
}

/** An operation that a peer does not have is no line. */
function equalLines(records: Records): readonly JudgedLine[] {
  const all = recordsOf(records, 'equal')
  const p99 = (workload: string, target: string): number => {
    const [row] = peerRows(all.filter((each) => each.workload === workload && each.target === target))
    return row === undefined || row.refusedShare === 1 ? NaN : row.p99Micros
  }
  const hasNot = (workload: string, target: string): boolean =>
    allRefused(all.filter((each) => each.workload === workload && each.target === target))
  return RIVALS.flatMap(([ours, theirs]) =>
    JUDGED_WORKLOADS.filter((workload) => !hasNot(workload, theirs)).map((workload): JudgedLine => ({
      area: `p99 at an equal rate: ${titleOf(ours)}, of ${titleOf(theirs)}`,
      what: workload,
      workload,
      wanted: { bound: 'below', value: 1 },
      measured: known(p99(workload, ours) / p99(workload, theirs)),
    })),
  )
}

const allRefused = (records: readonly RecordOf<'equal'>[]): boolean =>
  records.length > 0 && records.every(({ measured }) => measured.perSecond === 0)

export function judgedTable(lines: readonly JudgedLine[]): ReportTable {
  return {
    title: 'What the store is judged by',
    columns: ['', '', 'wanted', 'measured', 'met'],
    words: 2,
    rows: lines.map((line, at) => [
      lines[at - 1]?.area === line.area ? '' : line.area,
      line.what,
      `${line.wanted.bound} ${line.wanted.value}`,
      fixed(line.measured, 2),
      line.measured === undefined ? 'not measured' : isMet(line) ? 'yes' : 'no',
    ]),
  }
}

const BOUND_SIGNS = { 'at least': '≥', 'at most': '≤', below: '<' } as const

/** What was measured and what is wanted; in bold if that is not met. */
function judgedCell(line: JudgedLine): string {
  const { bound, value } = line.wanted
  const text = `${fixed(line.measured, 2)} (${BOUND_SIGNS[bound]} ${value})`
  return isMet(line) ? text : `**${text}**`
}

/** The same lines, those of one operation in a row, and then the others, one each. */
export function judgedMatrixLines(lines: readonly JudgedLine[]): readonly string[] {
  const ofOperations = lines.filter(({ workload }) => workload !== '')
  const areas = [...new Set(ofOperations.map(({ area }) => area))]
  const table: ReportTable = {
    title: '',
    columns: ['', ...areas],
    rows: JUDGED_WORKLOADS.map((workload) => [
      workload,
      ...areas.map((area) => {
        const line = ofOperations.find((each) => each.area === area && each.workload === workload)
        return line === undefined ? '' : judgedCell(line)
      }),
    ]),
  }
  const others = lines.filter(({ workload }) => workload === '')
  return [
    ...markdownLines(table),
    '',
    ...others.map((line) => `- ${line.area}: ${line.what}: ${judgedCell(line)}`),
  ]
}

/** A sentence on how many lines are met, and a list of those that are not. */
export function verdictLines(records: Records): readonly string[] {
  const lines = judgedLines(records)
  const measured = lines.filter((line) => line.measured !== undefined)
  const missed = measured.filter((line) => !isMet(line))
  const unmeasured = lines.length - measured.length
  return [
    `${measured.length - missed.length} of ${lines.length} lines are met in this run.` +
      (unmeasured === 0 ? '' : ` ${unmeasured} were not measured.`) +
      ` Medians of ${judgedRounds(records)} rounds.` +
      (missed.length === 0 ? '' : ' Not met, each with the profile that shows what its time is spent on:'),
    ...(missed.length === 0 ? [] : ['']),
    ...missed.map(
      ({ area, what, workload, wanted, measured: value }) =>
        `- ${area}: ${what}: ${fixed(value, 2)}, wanted ${wanted.bound} ${wanted.value}` +
        (workload === '' ? '.' : `; see [${workload}](${APPENDIX}#${anchor(profileHeading(workload))}).`),
    ),
  ]
}

/** Where the profiles are, from the page. */
const APPENDIX = '../bench/performance-tables.md'

/** Of what there are the fewest of. */
function judgedRounds(records: Records): number {
  const closed = recordsOf(records, 'peer').filter(
    ({ clients, rate }) => clients === CLIENTS && rate === null,
  )
  const counts = [closed, recordsOf(records, 'half'), recordsOf(records, 'equal')].map((all) =>
    Math.max(0, ...all.map(({ round }) => round)),
  )
  return Math.min(...counts)
}

/** As the section with the profile of that operation is called. */
export const profileHeading = (workload: string): string => `The time of ${workload}`

/** Of a heading, as pages of repositories make it. */
export const anchor = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-')
