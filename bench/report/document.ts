// docs/performance.md and its appendix from a run: templates, in whose words nothing is measured, and the figures of the run
// where they ask for them. A line `{{name}}` or `{{name argument}}` asks.
import type { RunFile } from '../records.js'
import { recordsOf } from '../records.js'
import { groupBy } from '../../src/bench/statistics.js'
import { chartsOf } from './charts.js'
import { costTables } from './cost-tables.js'
import { EXPERIMENTS, findingsTable } from './findings.js'
import { halfTables } from './half-tables.js'
import { judgedLines, judgedMatrixLines, judgedTable, verdictLines } from './judged.js'
import {
  appendTables,
  contentionTables,
  growingLines,
  growthTables,
  plainTables,
  simulatedTables,
  sizeTables,
  startTables,
  throughputTables,
  worstTables,
} from './other-tables.js'
import { coldTables } from './cold-tables.js'
import { equalTables, oneClientTable, peerRows, peerTables, ratesTable, titleOf } from './peer-tables.js'
import { rivalLeads, rivalTables } from './rival-tables.js'
import { isJudgedName } from '../../src/bench/load/workloads.js'
import { functionLines, profileTables } from './profile-tables.js'
import { generatorLines } from './report.js'
import { fixed, markdownLines, megabytes, type ReportTable, whole } from '../../src/bench/table.js'
import { timingTable } from './timing-table.js'

type Asked = (run: RunFile, argument: string) => readonly string[]

export const NOT_MEASURED = '_Not measured in this run._'

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
  (of: (records: RunFile['records']) => readonly ReportTable[]): Asked =>
  ({ records }) =>
    of(records)
      .flatMap((table) => [`${table.title}:`, '', ...markdownLines(table), ''])
      .slice(0, -1)

/** Where the words before it say what it is. */
const bare =
  (of: (records: RunFile['records']) => readonly ReportTable[]): Asked =>
  ({ records }) =>
    of(records).flatMap(markdownLines)

const PLACEHOLDERS: ReadonlyMap<string, Asked> = new Map<string, Asked>([
  ['run', runLines],
  ['generator', ({ records }) => generatorLines(records)],
  [
    'rates',
    ({ records }, argument) => {
      const [clients, which] = argument.split(' ')
      const table = ratesTable(records, Number(clients), which === 'judged' ? isJudgedName : undefined)
      return table === null ? [] : markdownLines(table)
    },
  ],
  [
    'alone',
    ({ records }) => {
      const table = oneClientTable(records)
      return table === null ? [] : markdownLines(table)
    },
  ],
  ['cold', bare(coldTables)],
  ['rival', bare(rivalTables)],
  ['leads', leadLines],
  ['peers', tables(peerTables)],
  ['matrix', ({ records }) => judgedMatrixLines(judgedLines(records))],
  ['judged', ({ records }) => markdownLines(judgedTable(judgedLines(records)))],
  ['verdict', ({ records }) => verdictLines(records)],
  ['profile', tables(profileTables)],
  ['functions', ({ records }) => functionLines(records)],
  ['costs', tables(costTables)],
  ['growing', ({ records }) => growingLines(records)],
  ['output', outputLines],
  ['tails', tailLines],
  ['memory', memoryLines],
  ['equal', bare(equalTables)],
  ['start', bare(startTables)],
  ['append', tables(appendTables)],
  ['worst', tables(worstTables)],
  ['throughput', tables(throughputTables)],
  ['half', tables(halfTables)],
  [
    'findings',
    ({ records }, name) => {
      const experiment = EXPERIMENTS.find((each) => each === name)
      if (experiment === undefined) throw new Error(`the paper has no experiment ${name}`)
      const table = findingsTable(records, experiment)
      return table === null ? [] : markdownLines(table)
    },
  ],
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
  ['timing', ({ records }) => markdownLines(timingTable(records))],
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

/** Of a command of the checkout, which the page shows as it is. */
function outputLines({ records }: RunFile, name: string): readonly string[] {
  return recordsOf(records, 'output')
    .filter((record) => record.name === name)
    .flatMap(({ command, text }) => ['```text', `$ ${command}`, ...text.trimEnd().split('\n'), '```'])
}

function runLines({ command, startedAt, resumed = [], seriatim, machine }: RunFile): readonly string[] {
  const { cpu, cores, memoryBytes, system, node } = machine
  return [
    '```sh',
    command,
    '```',
    '',
    `Seriatim ${seriatim}, Node ${node.replace('v', '')}, ${cores} cores (${cpu}), ${whole(memoryBytes / 1e9)} GB, ` +
      `${system}, ${minuteOf(startedAt)}.`,
    ...resumed.map(
      ({ at, seriatim: by, parts }) =>
        `Gone on with at ${minuteOf(at)} by Seriatim ${by}: ${parts.join(', ')}.`,
    ),
  ]
}

const minuteOf = (iso: string): string => `${iso.slice(0, 16).replace('T', ' ')} UTC`

/** What the strongest peer does better than the store. */
function leadLines({ records }: RunFile): readonly string[] {
  const leads = rivalLeads(records)
  if (leads === undefined) return []
  return [leads.sentence, ...(leads.table === undefined ? [] : ['', ...markdownLines(leads.table)])]
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
