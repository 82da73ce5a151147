// Start-up, the durable ceiling, growth, and the experiments of the paper.
import type { Measured } from '../../src/bench/measure.js'
import { GROWTH_AXES, recordsOf, type UnitRecord } from '../records.js'
import { groupBy, median, spreadOf } from '../../src/bench/statistics.js'
import { conflictsOf } from './findings.js'
import { titleOf } from './peer-tables.js'
import { fixed, megabytes, millis, percent, type ReportTable, whole } from '../../src/bench/table.js'

type Records = Readonly<Record<string, UnitRecord>>

export function startTables(records: Records): readonly ReportTable[] {
  const byTarget = groupBy(recordsOf(records, 'start'), ({ target }) => target)
  if (byTarget.size === 0) return []
  return [
    {
      title: 'From the start of the process to the first answer, and resident memory when idle',
      columns: ['', 'first answer ms', 'rounds', 'idle memory'],
      rows: [...byTarget].map(([target, starts]) => {
        const { median: middle, min, max } = spreadOf(starts.map(({ startMs }) => startMs))
        const resident = median(starts.map(({ residentBytes }) => residentBytes ?? NaN))
        return [titleOf(target), whole(middle), `${whole(min)} to ${whole(max)}`, megabytes(resident)]
      }),
    },
  ]
}

const WORST_SHOWN = 12

export function worstTables(records: Records): readonly ReportTable[] {
  const all = recordsOf(records, 'worst')
  if (all.length === 0) return []
  const rows = [...groupBy(all, ({ request }) => request)].map(([request, rounds]) => ({
    request,
    expected: rounds[0]!.expected,
    longestMs: Math.min(...rounds.map(({ longestMs }) => longestMs)),
    activeMs: Math.min(...rounds.map(({ activeMs }) => activeMs)),
  }))
  return (['refused', 'valid'] as const).map((expected) => ({
    title: `The dearest requests, ${expected}: time of the main thread in ms, best of the rounds`,
    columns: ['', 'at a stretch', 'in all'],
    rows: rows
      .filter((row) => row.expected === expected)
      .toSorted((a, b) => b.longestMs - a.longestMs)
      .slice(0, WORST_SHOWN)
      .map(({ request, longestMs, activeMs }) => [request, whole(longestMs), whole(activeMs)]),
  }))
}

export function appendTables(records: Records): readonly ReportTable[] {
  const bySize = groupBy(recordsOf(records, 'append'), ({ frameBytes }) => String(frameBytes))
  if (bySize.size === 0) return []
  return [
    {
      title: 'A loop that appends a frame to a file and syncs it (fdatasync), and does nothing else',
      columns: ['bytes of a frame', 'frames/s', 'p50 us', 'p99 us', 'rounds'],
      rows: [...bySize].map(([size, runs]) => {
        const rate = spreadOf(runs.map(({ perSecond }) => perSecond))
        return [
          whole(Number(size)),
          whole(rate.median),
          whole(median(runs.map(({ latency }) => latency.p50Micros))),
          whole(median(runs.map(({ latency }) => latency.p99Micros))),
          `${whole(rate.min)} to ${whole(rate.max)}`,
        ]
      }),
    },
  ]
}

/** §5.1 on the real server. */
export function throughputTables(records: Records): readonly ReportTable[] {
  const all = recordsOf(records, 'throughput')
  if (all.length === 0) return []
  const shares = [...new Set(all.map(({ share }) => share))].toSorted((a, b) => a - b)
  return [
    {
      title: '§5.1, measured: p50 / p99 in ms at shares of the peak rate',
      columns: ['', 'peak/s', ...shares.map((share) => percent(share, 0))],
      rows: [...groupBy(all, ({ variant, mix }) => `${mix}, ${variant}`)].map(([name, points]) => [
        name,
        whole(points[0]!.peakPerSecond),
        ...shares.map((share) => latencyCell(points.filter((point) => point.share === share))),
      ]),
    },
  ]
}

/** §5.2 and §5.3 on the real server. */
export function sizeTables(records: Records): readonly ReportTable[] {
  const all = recordsOf(records, 'size')
  if (all.length === 0) return []
  const sizes = [...new Set(all.map(({ items }) => items))].toSorted((a, b) => a - b)
  return [
    {
      title: '§5.2, measured: p50 / p99 in ms by operations of a transaction, at a constant rate of items',
      columns: ['', 'items/s', ...sizes.map(String)],
      rows: [...groupBy(all, ({ variant, operation }) => `${operation}, ${variant}`)].map(
        ([name, points]) => [
          name,
          whole(median(points.map(({ itemsPerSecond }) => itemsPerSecond))),
          ...sizes.map((size) => latencyCell(points.filter(({ items }) => items === size))),
        ],
      ),
    },
  ]
}

export function plainTables(records: Records): readonly ReportTable[] {
  const all = recordsOf(records, 'plain')
  if (all.length === 0) return []
  const workloads = [...new Set(all.map(({ workload }) => workload))]
  return [
    {
      title: '§5.3, measured: p50 / p99 in ms of one operation, plain and as a transaction, at the same rate',
      columns: ['', 'rate', ...workloads],
      rows: [...groupBy(all, ({ variant }) => variant)].map(([variant, points]) => [
        variant,
        whole(median(points.map(({ rate }) => rate))),
        ...workloads.map((name) => latencyCell(points.filter(({ workload }) => workload === name))),
      ]),
    },
  ]
}

function latencyCell(
  points: readonly { readonly measured: { readonly latency: { p50Micros: number; p99Micros: number } } }[],
): string {
  if (points.length === 0) return '-'
  const p50 = median(points.map(({ measured }) => measured.latency.p50Micros))
  const p99 = median(points.map(({ measured }) => measured.latency.p99Micros))
  return `${millis(p50)} / ${millis(p99)}`
}

/** §5.4 on the real server. */
export function contentionTables(records: Records): readonly ReportTable[] {
  const all = recordsOf(records, 'contention')
  if (all.length === 0) return []
  return [
    {
      title: '§5.4, measured: requests refused because of a transaction',
      columns: ['', 'hot items', 'requests/s', 'refused', 'by operation'],
      rows: all.map(({ workload, variant, hotItems, rate, measured }) => {
        const parts = measured.parts.map(
          (part) => `${part.workload} ${percent(conflictsOf(part.refusals) / part.answers)}`,
        )
        return [
          `${workload}, ${variant}`,
          whole(hotItems),
          whole(rate),
          percent(conflictsOf(measured.refusals) / measured.answers, 2),
          parts.join(', '),
        ]
      }),
    },
  ]
}

/** All of section 5 in virtual time. */
export function simulatedTables(records: Records): readonly ReportTable[] {
  const titles = {
    throughput: '§5.1, simulated: operations a second',
    size: '§5.2, simulated: operations of a transaction, a million items a second',
    plain: '§5.3, simulated: one operation, requests a second',
    contention: '§5.4, simulated: requests a second; conflicts',
  } as const
  return [...groupBy(recordsOf(records, 'simulated'), ({ experiment }) => experiment)].map(([, points]) => ({
    title: titles[points[0]!.experiment],
    columns: ['', 'at', 'section', 'p50 ms', 'p99 ms', 'conflicts', 'unanswered', 'requests', 'nodes busy'],
    rows: points.flatMap(({ mix, value, rules, result }) =>
      result.parts.map((part) => [
        part.name === mix ? mix : `${mix}: ${part.name}`,
        whole(value),
        rules === 'all' ? '4' : '3',
        millis(part.latency.p50Micros),
        millis(part.latency.p99Micros),
        percent(part.conflicts / part.answers, 2),
        percent(part.lost / part.answers, 2),
        whole(part.answers),
        percent(result.nodesBusy, 0),
      ]),
    ),
  }))
}

export function growthTables(records: Records): readonly ReportTable[] {
  const all = recordsOf(records, 'growth')
  return GROWTH_AXES.flatMap((axis) => {
    const points = all.filter((record) => record.axis === axis)
    if (points.length === 0) return []
    const hasFolder = axis === 'items'
    return [
      {
        title: `Growth with ${axis}`,
        columns: [
          axis,
          'target',
          'operation',
          'requests/s',
          'CPU us',
          'p50 ms',
          'p99 ms',
          'memory',
          'own memory',
          ...(hasFolder ? ['read bytes', 'folder', 'restart ms'] : []),
        ],
        rows: points.map(({ value, target, workload, measured, folderBytes, restartMs }) => [
          whole(value),
          titleOf(target),
          workload,
          whole(measured.perSecond),
          fixed(measured.cpuMicros ?? undefined, 1),
          millis(measured.latency.p50Micros),
          millis(measured.latency.p99Micros),
          megabytes(measured.residentBytes ?? NaN),
          megabytes(measured.ownBytes ?? NaN),
          ...(hasFolder
            ? [whole(measured.readBytes ?? NaN), megabytes(folderBytes ?? NaN), whole(restartMs ?? NaN)]
            : []),
        ]),
      },
    ]
  })
}

/** A page that the system has to fetch costs more than all the rest. */
const fetched = ({ readBytes }: Measured): string =>
  (readBytes ?? 0) < FETCHED_BYTES_MIN
    ? ''
    : `; ${whole(readBytes ?? 0)} bytes of a request came from the disk, not from the system's cache`
const FETCHED_BYTES_MIN = 100

/** How the largest table compares with the smallest, and with what the logarithm of their sizes would allow. */
export function growingLines(records: Records): readonly string[] {
  const points = recordsOf(records, 'growth').filter(({ axis }) => axis === 'items')
  return [...groupBy(points, ({ workload, target }) => `${titleOf(target)}, ${workload}`)].flatMap(
    ([name, line]) => {
      const sorted = line.toSorted((a, b) => a.value - b.value)
      const [least, most] = [sorted[0]!, sorted.at(-1)!]
      const times = (most.measured.cpuMicros ?? NaN) / (least.measured.cpuMicros ?? NaN)
      const allowed = Math.log(most.value) / Math.log(least.value)
      if (least.value === most.value || !Number.isFinite(times)) return []
      return [
        `- ${name}: with ${whole(most.value)} items ${fixed(times, 2)} times the processor time that it takes with ` +
          `${whole(least.value)}; the logarithm grows ${fixed(allowed, 2)} times: ` +
          `${times <= allowed ? 'no worse than logarithmic' : 'worse than logarithmic'}${fetched(most.measured)}.`,
      ]
    },
  )
}
