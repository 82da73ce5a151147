// docs/performance.md from a run: a template, in whose words nothing is measured, and the figures of the run where it asks
// for them. A line `{{name}}` or `{{name argument}}` asks.
import type { RunFile } from '../records.js'
import { recordsOf } from '../records.js'
import { groupBy, median } from '../statistics.js'
import { FLEET } from '../groups/simulated.js'
import { REGION } from '../simulated/timing.js'
import { chartsOf } from './charts.js'
import {
  appendTables,
  contentionTables,
  growthTables,
  plainTables,
  simulatedTables,
  sizeTables,
  startTables,
  throughputTables,
} from './other-tables.js'
import { equalTables, peerRows, peerTables, rateRatio, ratesTable, titleOf } from './peer-tables.js'
import { generatorLines } from './report.js'
import { fixed, markdownLines, megabytes, percent, type Table, whole } from './table.js'

type Asked = (run: RunFile, argument: string) => readonly string[]

const NOT_MEASURED = '_Not measured in this run._'

/** Throws at a placeholder that it does not know. */
export function fillTemplate(template: string, run: RunFile): string {
  return template
    .split('\n')
    .flatMap((line) => {
      const placeholder = /^\{\{(\w+)(?: (.*))?\}\}$/.exec(line)
      if (placeholder === null) return [line]
      const [, name = '', argument = ''] = placeholder
      const asked = PLACEHOLDERS.get(name)
      if (asked === undefined) throw new Error(`the template asks for '${name}', which nobody knows`)
      const lines = asked(run, argument)
      return lines.length === 0 ? [NOT_MEASURED] : lines
    })
    .join('\n')
}

const tables =
  (of: (records: RunFile['records']) => readonly Table[]): Asked =>
  ({ records }) =>
    of(records)
      .flatMap((table) => [`${table.title}:`, '', ...markdownLines(table), ''])
      .slice(0, -1)

const PLACEHOLDERS: ReadonlyMap<string, Asked> = new Map<string, Asked>([
  ['run', runLines],
  ['generator', ({ records }) => generatorLines(records)],
  [
    'rates',
    ({ records }, clients) => {
      const table = ratesTable(records, Number(clients))
      return table === null ? [] : markdownLines(table)
    },
  ],
  ['peers', tables(peerTables)],
  ['targets', targetLines],
  ['tails', tailLines],
  ['memory', memoryLines],
  ['equal', tables(equalTables)],
  ['start', tables(startTables)],
  ['append', tables(appendTables)],
  ['throughput', tables(throughputTables)],
  ['half', halfLines],
  ['size', tables(sizeTables)],
  ['plain', tables(plainTables)],
  ['contention', tables(contentionTables)],
  [
    'simulated',
    ({ records }, experiment) => {
      const chosen = Object.fromEntries(
        Object.entries(records).filter(
          ([, record]) => record.kind === 'simulated' && record.experiment === experiment,
        ),
      )
      return simulatedTables(chosen).flatMap(markdownLines)
    },
  ],
  ['timing', timingLines],
  [
    'growth',
    ({ records }, axis) =>
      growthTables(records)
        .filter(({ columns }) => columns[0] === axis)
        .flatMap(markdownLines),
  ],
  [
    'figure',
    ({ records }, name) =>
      chartsOf(records)
        .filter((chart) => chart.name === name)
        .map((chart) => `![${chart.title}](figures/${chart.name}.svg)`),
  ],
])

function runLines({ command, startedAt, seriatim, machine }: RunFile): readonly string[] {
  const { cpu, cores, memoryBytes, system, node } = machine
  return [
    '```sh',
    command,
    '```',
    '',
    `Seriatim ${seriatim}, Node ${node.replace('v', '')}, ${cores} cores (${cpu}), ${whole(memoryBytes / 1e9)} GB, ` +
      `${system}, ${startedAt.slice(0, 10)}.`,
  ]
}

/** What the store is judged by, and what this run gives. */
const TARGETS: readonly {
  readonly workload: string
  readonly of: readonly [string, string]
  readonly wanted: number
}[] = [
  ...(
    [
      ['GetItem', 0.9],
      ['PutItem', 0.6],
      ['UpdateItem, conditional', 0.5],
      ['Query of 10', 0.5],
      ['TransactGetItems of 3', 0.6],
      ['TransactWriteItems of 3', 0.4],
    ] as const
  ).map(([workload, wanted]) => ({ workload, wanted, of: ['seriatim-disk', 'bare'] as const })),
  ...(
    [
      ['GetItem', 4],
      ['Query of 10', 3],
      ['TransactGetItems of 3', 3],
      ['PutItem', 25],
      ['TransactWriteItems of 3', 25],
    ] as const
  ).map(([workload, wanted]) => ({ workload, wanted, of: ['seriatim-disk', 'local-disk'] as const })),
  ...(
    [
      ['GetItem', 2.5],
      ['PutItem', 2.5],
      ['Query of 10', 2.5],
      ['UpdateItem, conditional', 4],
    ] as const
  ).map(([workload, wanted]) => ({ workload, wanted, of: ['seriatim-memory', 'dynalite-memory'] as const })),
]

const SHORT: Readonly<Record<string, string>> = {
  bare: 'the bare server',
  'local-disk': 'DynamoDB Local on disk',
  'dynalite-memory': 'dynalite, both in memory',
}

function targetLines({ records }: RunFile, clients: string): readonly string[] {
  const rows = TARGETS.flatMap(({ workload, of, wanted }) => {
    const ratio = rateRatio(records, Number(clients), workload, of)
    if (ratio === undefined) return []
    return [
      [
        `${workload} against ${SHORT[of[1]] ?? of[1]}`,
        fixed(ratio, 2),
        fixed(wanted, 1),
        ratio >= wanted ? 'yes' : 'no',
      ],
    ]
  })
  if (rows.length === 0) return []
  return markdownLines({ title: '', columns: ['', 'times its rate', 'aim', 'reached'], rows })
}

/** How much longer the slowest hundredth takes, under a full house. */
function tailLines({ records }: RunFile, clients: string): readonly string[] {
  const peers = recordsOf(records, 'peer').filter(
    ({ target, clients: count, rate }) =>
      target === 'seriatim-disk' && count === Number(clients) && rate === null,
  )
  if (peers.length === 0) return []
  return markdownLines({
    title: '',
    columns: ['one node, on disk', 'p50 us', 'p99 us', 'times'],
    rows: [...groupBy(peers, ({ workload }) => workload)].map(([workload, rounds]) => {
      const [{ p50Micros, p99Micros } = assertRow()] = peerRows(rounds)
      return [workload, whole(p50Micros), whole(p99Micros), fixed(p99Micros / p50Micros, 1)]
    }),
  })
}

const assertRow = (): never => {
  throw new RangeError('rounds without a row')
}

/** The most that each server held while it was compared. */
function memoryLines({ records }: RunFile): readonly string[] {
  const byTarget = groupBy(recordsOf(records, 'peer'), ({ target }) => target)
  if (byTarget.size === 0) return []
  const most = (of: readonly (number | null)[]): string =>
    megabytes(Math.max(...of.map((bytes) => bytes ?? NaN)))
  return markdownLines({
    title: '',
    columns: ['', 'resident', 'without mapped files'],
    rows: [...byTarget].map(([target, rounds]) => [
      titleOf(target),
      most(rounds.map(({ measured }) => measured.residentBytes)),
      most(rounds.map(({ measured }) => measured.ownBytes)),
    ]),
  })
}

/** The median latency at half of the peak, of that at a tenth of it. */
function halfLines({ records }: RunFile): readonly string[] {
  const all = recordsOf(records, 'throughput').filter(({ variant }) => variant === 'section 4')
  const p50 = (mix: string, share: number): number =>
    median(
      all
        .filter((record) => record.mix === mix && record.share === share)
        .map(({ measured }) => measured.latency.p50Micros),
    )
  const rows = [...new Set(all.map(({ mix }) => mix))].map((mix) => [
    mix,
    whole(p50(mix, 0.1)),
    whole(p50(mix, 0.5)),
    fixed(p50(mix, 0.5) / p50(mix, 0.1), 2),
  ])
  if (rows.length === 0) return []
  return markdownLines({
    title: '',
    columns: ['', 'p50 us at a tenth of the peak', 'p50 us at half of it', 'times'],
    rows,
  })
}

/** The parameters of the simulation, beside what the run measured of them. */
function timingLines({ records }: RunFile): readonly string[] {
  const slope = (operation: string, target: string): string => {
    const fit = processorFit(records, operation, target)
    return fit === undefined ? '-' : `${fit.requestMicros.toFixed(0)} + ${fit.itemMicros.toFixed(1)} an item`
  }
  const syncs = recordsOf(records, 'append').filter(({ frameBytes }) => frameBytes < 1000)
  const { networkMicros, syncMicros, slowShare, slowMicros, messageMicros } = REGION
  const { readMicros, prepareMicros, commitMicros, writeMicros, kilobyteMicros, coordinateMicros } = REGION
  const range = ({ min, max }: { readonly min: number; readonly max: number }): string => `${min} to ${max}`
  return markdownLines({
    title: '',
    columns: ['times in us', 'simulated', 'measured in this run'],
    rows: [
      ['nodes and coordinators', `${FLEET.nodes} and ${FLEET.coordinators}`, '4 nodes in one process'],
      ['network, one way', range(networkMicros), 'not measured'],
      ['a kilobyte on the wire', String(kilobyteMicros), 'not measured'],
      [`slow messages and syncs (${percent(slowShare)})`, range(slowMicros), 'not measured'],
      [
        'write and sync of a journal',
        range(syncMicros),
        `p50 ${whole(median(syncs.map(({ latency }) => latency.p50Micros)))}`,
      ],
      [
        'processor, read',
        `${messageMicros} + ${readMicros} an item`,
        `${slope('TransactGetItems', 'seriatim-disk')} (with HTTP and JSON)`,
      ],
      [
        'processor, write in one round',
        `${messageMicros} + ${writeMicros} an item`,
        `${slope('TransactWriteItems', 'seriatim-disk')} (with HTTP and JSON)`,
      ],
      [
        'processor, prepare and commit',
        `2 × ${messageMicros} + ${prepareMicros + commitMicros} an item`,
        `${slope('TransactWriteItems', 'seriatim-disk-4')} (with HTTP, JSON and the coordinator)`,
      ],
      [
        'processor of a coordinator',
        `${messageMicros} a message + ${coordinateMicros} an item`,
        'in the row above',
      ],
    ],
  })
}

/** Least squares over the sizes of a transaction. */
export function processorFit(
  records: RunFile['records'],
  operation: string,
  of: string,
): { readonly requestMicros: number; readonly itemMicros: number } | undefined {
  const points = recordsOf(records, 'peer').flatMap(({ target, workload, measured }) => {
    const items = Number(/ of (\d+)$/.exec(workload)?.[1] ?? NaN)
    return target === of && workload.startsWith(`${operation} of`) && measured.cpuMicros !== null
      ? [{ items, micros: measured.cpuMicros }]
      : []
  })
  if (new Set(points.map(({ items }) => items)).size < 2) return undefined
  const mean = (of: (point: { items: number; micros: number }) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length
  const [items, micros] = [mean((point) => point.items), mean((point) => point.micros)]
  const itemMicros =
    mean((point) => (point.items - items) * (point.micros - micros)) /
    mean((point) => (point.items - items) ** 2)
  return { requestMicros: micros - itemMicros * items, itemMicros }
}
