// The figures: what each of them shows, as plain data. Drawing is chart-svg.ts.
import { type RecordOf, recordsOf, type UnitRecord } from '../records.js'
import { groupBy, median } from '../../src/bench/statistics.js'
import { conflictsOf } from './findings.js'
import { peerRows, titleOf } from './peer-tables.js'

type Records = Readonly<Record<string, UnitRecord>>

export interface Series {
  readonly name: string
  readonly points: readonly (readonly [x: number | string, y: number])[]
  /** Series that belong together, such as p50 and p99 of one thing, share a colour. */
  readonly belongsTo: string
  readonly dashed?: boolean
}

export interface Chart {
  /** The name of its file, without ending. */
  readonly name: string
  readonly title: string
  readonly x: { readonly name: string; readonly kind: 'linear' | 'log' | 'names' }
  readonly y: { readonly name: string; readonly kind: 'linear' | 'log' }
  readonly series: readonly Series[]
}

export function chartsOf(records: Records): readonly Chart[] {
  return [
    ...peerCharts(records),
    ...throughputCharts(records),
    ...sizeCharts(records),
    ...plainCharts(records),
    ...contentionCharts(records),
    ...growthCharts(records),
  ].filter(({ series }) => series.some(({ points }) => points.length > 0))
}

interface Latency {
  readonly p50Micros: number
  readonly p99Micros: number
}

/** Two lines, of the medians of the rounds at each x. */
function latencySeries(
  name: string,
  points: readonly { readonly x: number; readonly latency: Latency }[],
): readonly Series[] {
  const byX = [...groupBy(points, ({ x }) => String(x))]
  const line = (of: (latency: Latency) => number): readonly (readonly [number, number])[] =>
    byX.map(([x, all]) => [Number(x), median(all.map(({ latency }) => of(latency))) / 1000])
  return [
    { name: `${name}, p50`, belongsTo: name, points: line(({ p50Micros }) => p50Micros) },
    { name: `${name}, p99`, belongsTo: name, points: line(({ p99Micros }) => p99Micros), dashed: true },
  ]
}

const OPERATIONS = [
  ['TransactGetItems', 'reads'],
  ['TransactWriteItems', 'writes'],
] as const

const SECTIONS = [
  ['all', 'section 4'],
  ['none', 'section 3 alone'],
] as const

/** Figures 3 and 4 of the paper: both mixes that have the operation. */
function throughputCharts(records: Records): readonly Chart[] {
  return OPERATIONS.flatMap(([operation, pure]) => {
    const mixes = [pure, 'half of each']
    const measured = recordsOf(records, 'throughput').filter(({ mix }) => mixes.includes(mix))
    const simulated = recordsOf(records, 'simulated').filter(
      ({ experiment, mix }) => experiment === 'throughput' && mixes.includes(mix),
    )
    return [
      {
        name: `5-1-${pure}-measured`,
        title: `${operation} of 3, measured: latency against throughput`,
        x: { name: 'transactions a second', kind: 'linear' },
        y: { name: 'ms', kind: 'log' },
        series: [...groupBy(measured, ({ mix, variant }) => `${mix}, ${variant}`)].flatMap(([name, points]) =>
          latencySeries(
            name,
            points.map(({ rate, measured }) => ({
              x: Math.round(rate),
              latency:
                measured.parts.find(({ workload }) => workload.startsWith(operation))?.latency ??
                measured.latency,
            })),
          ),
        ),
      },
      {
        name: `5-1-${pure}-simulated`,
        title: `${operation} of 3, simulated: latency against throughput`,
        x: { name: 'operations a second', kind: 'linear' },
        y: { name: 'ms', kind: 'linear' },
        series: SECTIONS.flatMap(([rules, section]) =>
          [
            ...groupBy(
              simulated.filter((record) => record.rules === rules),
              ({ mix }) => mix,
            ),
          ].flatMap(([mix, points]) =>
            latencySeries(`${mix}, ${section}`, simulatedLatencies(points, operation)),
          ),
        ),
      },
    ] satisfies Chart[]
  })
}

function simulatedLatencies(
  points: readonly Extract<UnitRecord, { readonly kind: 'simulated' }>[],
  operation: string,
): { readonly x: number; readonly latency: Latency }[] {
  return points.flatMap(({ value, result }) =>
    result.parts.filter(({ name }) => name === operation).map(({ latency }) => ({ x: value, latency })),
  )
}

/** Figures 5 and 6. */
function sizeCharts(records: Records): readonly Chart[] {
  return OPERATIONS.flatMap(([operation, mix]) => {
    const measured = recordsOf(records, 'size').filter((record) => record.operation === operation)
    const simulated = recordsOf(records, 'simulated').filter(
      (record) => record.experiment === 'size' && record.mix === mix,
    )
    const common = {
      x: { name: 'operations of a transaction', kind: 'linear' },
      y: { name: 'ms', kind: 'linear' },
    } as const
    return [
      {
        ...common,
        name: `5-2-${mix}-measured`,
        title: `${operation}, measured: latency against its operations`,
        series: [...groupBy(measured, ({ variant }) => variant)].flatMap(([variant, points]) =>
          latencySeries(
            variant,
            points.map(({ items, measured }) => ({ x: items, latency: measured.latency })),
          ),
        ),
      },
      {
        ...common,
        name: `5-2-${mix}-simulated`,
        title: `${operation}, simulated: latency against its operations`,
        series: SECTIONS.flatMap(([rules, section]) =>
          latencySeries(
            section,
            simulatedLatencies(
              simulated.filter((record) => record.rules === rules),
              operation,
            ),
          ),
        ),
      },
    ] satisfies Chart[]
  })
}

/** Figures 7 and 8. */
function plainCharts(records: Records): readonly Chart[] {
  const measured = recordsOf(records, 'plain').map(({ variant, workload, measured }) => ({
    section: variant,
    workload,
    latency: measured.latency,
  }))
  const simulated = recordsOf(records, 'simulated')
    .filter(({ experiment }) => experiment === 'plain')
    .flatMap(({ rules, result }) =>
      result.parts.map(({ name, latency }) => ({
        section: rules === 'all' ? 'section 4' : 'section 3 alone',
        workload: name,
        latency,
      })),
    )
  return (
    [
      ['measured', measured],
      ['simulated', simulated],
    ] as const
  ).map(([how, all]) => ({
    name: `5-3-${how}`,
    title: `One operation, plain and as a transaction, ${how}`,
    x: { name: '', kind: 'names' },
    y: { name: 'ms', kind: 'linear' },
    series: [...groupBy(all, ({ section }) => section)].flatMap(([section, points]) => {
      const byWorkload = [...groupBy(points, ({ workload }) => workload)]
      const bars = (of: (latency: Latency) => number): readonly (readonly [string, number])[] =>
        byWorkload.map(([workload, rounds]) => [
          workload,
          median(rounds.map(({ latency }) => of(latency))) / 1000,
        ])
      return [
        { name: `p50, ${section}`, belongsTo: section, points: bars(({ p50Micros }) => p50Micros) },
        {
          name: `p99, ${section}`,
          belongsTo: section,
          points: bars(({ p99Micros }) => p99Micros),
          dashed: true,
        },
      ]
    }),
  }))
}

/** Figures 9, 10 and 11. */
function contentionCharts(records: Records): readonly Chart[] {
  const simulated = recordsOf(records, 'simulated').filter(({ experiment }) => experiment === 'contention')
  const measured = recordsOf(records, 'contention')
  const common = {
    x: { name: 'requests a second', kind: 'linear' },
    y: { name: '% refused', kind: 'linear' },
  } as const
  const overall: Chart = {
    ...common,
    name: '5-4-workloads-simulated',
    title: 'Refused because of a transaction, simulated',
    series: [
      ...groupBy(simulated, ({ mix, rules }) => `${mix}, section ${rules === 'all' ? 4 : '3 alone'}`),
    ].map(([name, points]) => ({
      name,
      belongsTo: points[0]!.mix,
      dashed: points[0]!.rules === 'all',
      points: points.map(({ value, result }) => [
        value,
        100 * share(result.parts, ({ conflicts }) => conflicts),
      ]),
    })),
  }
  const byOperation = (['B', 'C'] as const).map((workload): Chart => ({
    ...common,
    name: `5-4-workload-${workload}-simulated`,
    title: `Workload ${workload} by operation, simulated`,
    series: SECTIONS.flatMap(([rules, section]) => {
      const points = simulated.filter((record) => record.mix === workload && record.rules === rules)
      const operations = new Set(points.flatMap(({ result }) => result.parts.map(({ name }) => name)))
      return [...operations].map((operation) => ({
        name: `${operation}, ${section}`,
        belongsTo: operation,
        dashed: rules === 'all',
        points: points.map(({ value, result }): readonly [number, number] => [
          value,
          100 *
            share(
              result.parts.filter(({ name }) => name === operation),
              ({ conflicts }) => conflicts,
            ),
        ]),
      }))
    }),
  }))
  const real = [...new Set(measured.map(({ hotItems }) => hotItems))].map((hotItems): Chart => ({
    ...common,
    name: `5-4-measured-${hotItems}-hot`,
    title: `Refused because of a transaction, measured, ${hotItems} hot items`,
    series: [
      ...groupBy(
        measured.filter((record) => record.hotItems === hotItems),
        ({ workload, variant }) => `${workload}, ${variant}`,
      ),
    ].map(([name, points]) => ({
      name,
      belongsTo: points[0]!.workload,
      dashed: name.endsWith('section 4'),
      points: points.map(({ rate, measured }) => [Math.round(rate), 100 * conflictShare(measured)]),
    })),
  }))
  return [overall, ...byOperation, ...real]
}

function share<T extends { readonly answers: number }>(parts: readonly T[], of: (part: T) => number): number {
  const answers = parts.reduce((sum, part) => sum + part.answers, 0)
  return answers === 0 ? 0 : parts.reduce((sum, part) => sum + of(part), 0) / answers
}

const conflictShare = ({ answers, refusals }: RecordOf<'contention'>['measured']): number =>
  answers === 0 ? 0 : conflictsOf(refusals) / answers

/** By processor time, which does not care what else the machine does. */
function growthCharts(records: Records): readonly Chart[] {
  const all = recordsOf(records, 'growth')
  const targets = new Set(all.map(({ target }) => target)).size
  return [...groupBy(all, ({ axis }) => axis)].map(([axis, points]) => ({
    name: `growth-${axis.replaceAll(' ', '-')}`,
    title: `Processor time of a request against ${axis}`,
    x: { name: axis, kind: axis === 'indexes' ? 'linear' : 'log' },
    y: { name: 'us of processor', kind: 'linear' },
    series: [...groupBy(points, ({ target, workload }) => growthName(workload, target, targets))].map(
      ([name, line]) => ({
        name,
        belongsTo: name,
        points: line.map(({ value, measured }) => [value, measured.cpuMicros ?? NaN]),
      }),
    ),
  }))
}

const growthName = (workload: string, target: string, targets: number): string =>
  targets === 1 ? workload : `${workload}, ${titleOf(target)}`

function peerCharts(records: Records): readonly Chart[] {
  const most = Math.max(...recordsOf(records, 'peer').map(({ clients }) => clients))
  const peers = recordsOf(records, 'peer').filter(({ clients, rate }) => clients === most && rate === null)
  const byWorkload = [...groupBy(peers, ({ workload }) => workload)].map(
    ([workload, all]) => [workload, peerRows(all)] as const,
  )
  const targets = [...groupBy(peers, ({ target }) => target).keys()]
  return [
    {
      name: 'peers',
      title: `Requests a second, ${most} clients, items of 900 bytes`,
      x: { name: '', kind: 'names' },
      y: { name: 'requests a second', kind: 'log' },
      series: targets.map((target) => ({
        name: titleOf(target),
        belongsTo: target,
        points: byWorkload.flatMap(([workload, rows]) =>
          rows
            .filter((row) => row.target === target && row.refusedShare < 1)
            .map(({ perSecond }): readonly [string, number] => [workload, Math.round(perSecond.median)]),
        ),
      })),
    },
  ]
}
