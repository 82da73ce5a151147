// What the paper says of each experiment, beside what a run gave for the same: a number, and whether it lies where the
// paper's words put it. The words are the paper's; the bounds are how we read them.
import { type RecordOf, recordsOf, type UnitRecord } from '../records.js'
import { median } from '../../src/bench/statistics.js'
import { fixed, percent, type ReportTable } from '../../src/bench/table.js'

type Records = Readonly<Record<string, UnitRecord>>
type Latency = { readonly p50Micros: number; readonly p99Micros: number }
type Percentile = keyof Latency

/** Refusals of one operation of one workload. */
interface Refused {
  readonly workload: string
  readonly operation: string
  readonly rate: number
  readonly answers: number
  readonly conflicts: number
}

/** One way to run the experiments, as the findings ask for it. */
interface Way {
  readonly title: string
  /** At the highest rate, or the most operations, over that at the lowest. */
  throughput(mix: string, operation: string, of: Percentile): number
  size(operation: string, of: Percentile): number
  plain(operation: string, of: Percentile): number
  readonly refused: readonly Refused[]
}

interface Finding {
  readonly what: string
  readonly paper: string
  readonly of: (way: Way) => number
  readonly from: number
  readonly to: number
  readonly shown?: (value: number) => string
}

export const EXPERIMENTS = ['5.1', '5.2', '5.3', '5.4'] as const
export type Experiment = (typeof EXPERIMENTS)[number]

const PERCENTILES = [
  ['p50', 'p50Micros'],
  ['p99', 'p99Micros'],
] as const

const FINDINGS: Readonly<Record<Experiment, readonly Finding[]>> = {
  '5.1': (
    [
      ['reads', 'TransactGetItems'],
      ['half of each', 'TransactGetItems'],
      ['writes', 'TransactWriteItems'],
      ['half of each', 'TransactWriteItems'],
    ] as const
  ).flatMap(([mix, operation]) =>
    PERCENTILES.map(([name, of]): Finding => ({
      what: `${operation} (${mix}), ${name} at the highest rate, of that at the lowest`,
      paper: of === 'p50Micros' ? 'negligible variance: 0.85 to 1.15' : 'rises slightly: 0.95 to 1.5',
      of: (way) => way.throughput(mix, operation, of),
      from: of === 'p50Micros' ? 0.85 : 0.95,
      to: of === 'p50Micros' ? 1.15 : 1.5,
    })),
  ),
  '5.2': (['TransactGetItems', 'TransactWriteItems'] as const).flatMap((operation) =>
    PERCENTILES.map(([name, of]): Finding => ({
      what: `${operation}, ${name} of 100 operations, of that of 3`,
      paper: 'rises: above 1',
      of: (way) => way.size(operation, of),
      from: 1,
      to: Infinity,
    })),
  ),
  '5.3': (
    [
      ['TransactGetItems', 'GetItem', 'slightly less than 2: 1.5 to 2', 1.5, 2],
      ['TransactWriteItems', 'PutItem', 'about 4: 3 to 5', 3, 5],
    ] as const
  ).flatMap(([transaction, plain, paper, from, to]) =>
    PERCENTILES.map(([name, of]): Finding => ({
      what: `${transaction} of 1, ${name}, of that of ${plain}`,
      paper,
      of: (way) => way.plain(transaction, of) / way.plain(plain, of),
      from,
      to,
    })),
  ),
  '5.4': [
    ...(['A', 'B', 'C'] as const).map((workload): Finding => ({
      what: `${workload}: refused at the highest rate, of the share at the lowest`,
      paper: 'rises: above 1',
      of: ({ refused }) => {
        const all = refused.filter((each) => each.workload === workload)
        const rates = all.map(({ rate }) => rate)
        const at = (rate: number): number => shareOf(all.filter((each) => each.rate === rate))
        return at(Math.max(...rates)) / at(Math.min(...rates))
      },
      from: 1.000_001,
      to: Infinity,
    })),
    refusedRatio('B, of A', 'about half: 0.35 to 0.65', ['B'], ['A'], 0.35, 0.65),
    refusedRatio('C, of B', 'the least: below 1', ['C'], ['B'], 0, 0.999_999),
    refusedRatio(
      'B: reads, of writes',
      'similar: 0.67 to 1.5',
      ['B', 'TransactGetItems'],
      ['B', 'TransactWriteItems'],
      0.67,
      1.5,
    ),
    {
      what: 'C: GetItem refused',
      paper: 'never',
      of: ({ refused }) => shareOf(refused.filter(isOf('C', 'GetItem'))),
      from: 0,
      to: 0,
      shown: (share) => percent(share, 2),
    },
    refusedRatio(
      'C: UpdateItem, of TransactWriteItems',
      'comparable: 0.67 to 1.5',
      ['C', 'UpdateItem'],
      ['C', 'TransactWriteItems'],
      0.67,
      1.5,
    ),
    refusedRatio(
      'C: TransactGetItems, of TransactWriteItems',
      'the highest of all: above 1',
      ['C', 'TransactGetItems'],
      ['C', 'TransactWriteItems'],
      1.000_001,
      Infinity,
    ),
  ],
}

type Chosen = readonly [workload: string, operation?: string]

const isOf =
  (workload: string, operation?: string) =>
  (each: Refused): boolean =>
    each.workload === workload && (operation === undefined || each.operation === operation)

/** Of all rates together: there are few refusals at the low ones. */
function refusedRatio(
  what: string,
  paper: string,
  above: Chosen,
  below: Chosen,
  from: number,
  to: number,
): Finding {
  return {
    what: `share refused: ${what}`,
    paper,
    of: ({ refused }) => shareOf(refused.filter(isOf(...above))) / shareOf(refused.filter(isOf(...below))),
    from,
    to,
  }
}

function shareOf(refused: readonly Refused[]): number {
  const sum = (of: (each: Refused) => number): number => refused.reduce((total, each) => total + of(each), 0)
  return sum(({ conflicts }) => conflicts) / sum(({ answers }) => answers)
}

/** Null if the run has nothing of it. */
export function findingsTable(records: Records, experiment: Experiment): ReportTable | null {
  const ways = waysOf(records)
  const rows = FINDINGS[experiment].map(({ what, paper, of, from, to, shown }) => [
    what,
    paper,
    ...ways.map((way) => {
      const value = of(way)
      if (!Number.isFinite(value)) return '-'
      const text = shown === undefined ? fixed(value, 2) : shown(value)
      return `${text}, ${value >= from && value <= to ? 'yes' : 'no'}`
    }),
  ])
  if (rows.every((row) => row.slice(2).every((cell) => cell === '-'))) return null
  return { title: '', columns: ['', 'the paper', ...ways.map(({ title }) => title)], rows, words: 2 }
}

function waysOf(records: Records): readonly Way[] {
  return [
    simulatedWay(records, 'none', 'simulated, section 3'),
    simulatedWay(records, 'all', 'simulated, section 4'),
    measuredWay(records, 'section 3 alone', 'measured, section 3'),
    measuredWay(records, 'section 4', 'measured, section 4'),
  ]
}

const highestOfLowest = (points: readonly { readonly x: number; readonly y: number }[]): number => {
  const xs = points.map(({ x }) => x)
  const at = (wanted: number): number => median(points.filter(({ x }) => x === wanted).map(({ y }) => y))
  return at(Math.max(...xs)) / at(Math.min(...xs))
}

function simulatedWay(records: Records, rules: 'all' | 'none', title: string): Way {
  const all = recordsOf(records, 'simulated').filter((record) => record.rules === rules)
  const partsOf = (experiment: RecordOf<'simulated'>['experiment'], operation: string) =>
    all
      .filter((record) => record.experiment === experiment)
      .flatMap(({ mix, value, result }) =>
        result.parts.filter(({ name }) => name === operation).map((part) => ({ mix, value, part })),
      )
  const points = (of: Percentile, parts: ReturnType<typeof partsOf>) =>
    parts.map(({ value, part }) => ({ x: value, y: part.latency[of] }))
  return {
    title,
    throughput: (mix, operation, of) =>
      highestOfLowest(
        points(
          of,
          partsOf('throughput', operation).filter((each) => each.mix === mix),
        ),
      ),
    size: (operation, of) => highestOfLowest(points(of, partsOf('size', operation))),
    plain: (operation, of) => median(partsOf('plain', operation).map(({ part }) => part.latency[of])),
    refused: all
      .filter(({ experiment }) => experiment === 'contention')
      .flatMap(({ mix, value, result }) =>
        result.parts.map(({ name, answers, conflicts }) => ({
          workload: mix,
          operation: name,
          rate: value,
          answers,
          conflicts,
        })),
      ),
  }
}

/** The pressure on each of them is near the paper's with that few. */
const HOT_ITEMS = 10

function measuredWay(records: Records, variant: string, title: string): Way {
  const sizes = recordsOf(records, 'size').filter((record) => record.variant === variant)
  const plains = recordsOf(records, 'plain').filter((record) => record.variant === variant)
  return {
    title,
    throughput: (mix, operation, of) =>
      highestOfLowest(
        recordsOf(records, 'throughput')
          .filter((record) => record.variant === variant && record.mix === mix)
          .map(({ share, measured }) => {
            const part = measured.parts.find(({ workload }) => workload.startsWith(operation))
            return { x: share, y: (part ?? measured).latency[of] }
          }),
      ),
    size: (operation, of) =>
      highestOfLowest(
        sizes
          .filter((record) => record.operation === operation)
          .map(({ items, measured }) => ({ x: items, y: measured.latency[of] })),
      ),
    plain: (operation, of) =>
      median(
        plains.filter(({ workload }) => workload === operation).map(({ measured }) => measured.latency[of]),
      ),
    refused: recordsOf(records, 'contention')
      .filter((record) => record.variant === variant && record.hotItems === HOT_ITEMS)
      .flatMap(({ workload, rate, measured }) =>
        // A mix of two puts and updates is one operation by its name.
        measured.parts.map((part) => ({
          workload,
          operation: part.workload.split(',')[0]!,
          rate,
          answers: part.answers,
          conflicts: conflictsOf(part.refusals),
        })),
      ),
  }
}

export function conflictsOf(refusals: Readonly<Record<string, number>>): number {
  return Object.entries(refusals)
    .filter(([name]) => name.includes('TransactionConflict'))
    .reduce((sum, [, count]) => sum + count, 0)
}
