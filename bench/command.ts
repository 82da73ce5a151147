// npm run bench -- ...: measures this store and its peers on this machine.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runGroups } from './bench.js'
import { planOf } from './plan.js'
import { PARTS, PRESET_NAMES, PRESETS, type Settings } from './presets.js'
import type { RunFile, UnitRecord } from './records.js'
import { thisMachine } from '../src/bench/machine.js'
import { readRunFile, writeRunFile } from './run-file.js'
import { CHART_LIBRARY_MISSING, chartLibrary, chartSvg } from './report/chart-svg.js'
import { chartsOf } from './report/charts.js'
import { reportLines } from './report/report.js'
import { TARGET_NAMES, type TargetName } from './targets/commands.js'
import { readArguments, UsageError } from '../src/cli/command/arguments.js'
import { loadOptionsOf } from '../src/cli/bench.js'
import { version } from '../src/cli/command/version.js'
import type { CommandEnvironment } from '../src/cli/command/environment.js'

export const help = `npm run bench -- [--quick | --figures | --judged | --page | --full | --try] [options]

  --quick            the most important operations, about 3 minutes: unless told otherwise
  --figures          every operation, and the experiments of the paper, about 15 minutes
  --judged           the lines that the store is judged by, about 15 minutes
  --page             what docs/performance.md and its appendix show, less than 40 minutes
  --full             everything, for hours
  --try              everything for a moment, to see that it works
  --part LIST        only ${PARTS.join(', ')}
  --operation LIST   only these, such as GetItem or 'TransactWriteItems of 3'
  --target LIST      ${TARGET_NAMES.join(', ')}
  --endpoint URL     a server that is running and checks no signatures; it gets two tables, seriatim-bench-*, and loses
                     them at the end
  --clients LIST     how many connections wait for their answers at once
  --rate N           requests a second that arrive whether or not others are answered (open loop), instead
  --rounds N         how often everything is measured; medians count
  --seconds S        how long each time, after the warm-up
  --items N          in the table
  --json FILE        keep what was measured, after each step
  --resume           go on with FILE where it was interrupted
  --report           measure nothing, show what FILE holds
  --charts DIR       draw figures there, as SVG

Starts what it compares with (dynalite, DynamoDB Local and Dynoxide are looked for, and it says how to get them), in processes of
their own, with the load from another one. Only ratios within one run mean anything.`

const OPTIONS = {
  quick: { type: 'boolean' },
  figures: { type: 'boolean' },
  judged: { type: 'boolean' },
  page: { type: 'boolean' },
  full: { type: 'boolean' },
  try: { type: 'boolean' },
  part: { type: 'string' },
  operation: { type: 'string' },
  target: { type: 'string' },
  endpoint: { type: 'string' },
  clients: { type: 'string' },
  rate: { type: 'string' },
  rounds: { type: 'string' },
  seconds: { type: 'string' },
  items: { type: 'string' },
  json: { type: 'string' },
  resume: { type: 'boolean' },
  report: { type: 'boolean' },
  charts: { type: 'string' },
} as const

export interface BenchCommand {
  readonly settings: Settings
  readonly json?: string
  readonly resume: boolean
  /** Measure nothing. */
  readonly report: boolean
  readonly charts?: string
}

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { settings, json, resume, report, charts } = benchCommandOf(args)
  const before = (resume || report) && json !== undefined ? readRunFile(json) : undefined
  if (report && before === undefined) throw new Error(`there is no file ${json}`)
  const groups = report ? [] : planOf(settings)
  const run: Omit<RunFile, 'records'> =
    before === undefined
      ? {
          format: 'seriatim-bench-1',
          seriatim: version(),
          command: ['npm run bench --', ...args].join(' '),
          startedAt: new Date().toISOString(),
          machine: thisMachine(),
        }
      : resumedNow(before, groups, version())
  const interrupted = new AbortController()
  const off = world.onSignal(() => {
    if (interrupted.signal.aborted) world.exitNow(130)
    interrupted.abort()
    world.printError('stopping after this step; once more to stop at once')
  })
  let records: Readonly<Record<string, UnitRecord>>
  try {
    records = await runGroups({
      groups,
      done: before?.records ?? {},
      onRecord: (all) => {
        if (json !== undefined) writeRunFile(json, { ...run, records: all })
      },
      onProgress: (line) => world.printError(line),
      signal: interrupted.signal,
    })
  } finally {
    off()
  }
  const { cpu, cores, node } = run.machine
  world.print(`${run.command}: Seriatim ${run.seriatim}, Node ${node}, ${cores} cores of ${cpu}`)
  for (const line of reportLines(records)) world.print(line)
  if (charts !== undefined) await drawCharts(records, charts, world)
  return interrupted.signal.aborted ? 1 : 0
}

/** With a note of what is measured later than the rest. */
function resumedNow(before: RunFile, groups: ReturnType<typeof planOf>, seriatim: string): RunFile {
  const left = groups.flatMap(({ units }) => units).filter(({ id }) => before.records[id] === undefined)
  if (left.length === 0) return before
  const parts = [...new Set(left.map(({ id }) => id.split('/', 1)[0] as string))]
  const now = { at: new Date().toISOString(), seriatim, parts }
  return { ...before, resumed: [...(before.resumed ?? []), now] }
}

async function drawCharts(
  records: Readonly<Record<string, UnitRecord>>,
  folder: string,
  world: CommandEnvironment,
): Promise<void> {
  const library = await chartLibrary()
  if (library === undefined) throw new Error(CHART_LIBRARY_MISSING)
  await mkdir(folder, { recursive: true })
  for (const chart of chartsOf(records)) {
    const path = join(folder, `${chart.name}.svg`)
    await writeFile(path, chartSvg(library, chart))
    world.printError(`${path}: ${chart.title}`)
  }
}

/** What the arguments ask for. */
export function benchCommandOf(args: readonly string[]): BenchCommand {
  const { values } = readArguments(args, OPTIONS)
  const presets = PRESET_NAMES.filter((name) => values[name] === true)
  if (presets.length > 1)
    throw new UsageError(`choose one of ${presets.map((name) => `--${name}`).join(', ')}`)
  const preset = PRESETS[presets[0] ?? 'quick']
  for (const name of ['resume', 'report'] as const) {
    if (values[name] === true && values.json === undefined)
      throw new UsageError(`--${name} needs --json FILE`)
  }
  const { endpoint, clients, rate, rounds, items, durationMs } = loadOptionsOf(values)
  const { beside, ...most } = preset
  const settings: Settings = {
    ...most,
    ...(beside !== undefined && clients === undefined && { beside }),
    // With an endpoint, that is what is asked about; the bare server says what the machine can do.
    ...(endpoint !== undefined && { endpoint, targets: ['bare'], parts: ['generator', 'peers'] }),
    ...(values.part !== undefined && { parts: listOf('part', values.part, PARTS) }),
    ...(values.target !== undefined && targetsOf(listOf('target', values.target, TARGET_NAMES), preset)),
    ...(values.operation !== undefined && { operations: values.operation.split(',') }),
    ...(clients !== undefined && { clients }),
    ...(rate !== undefined && { rate }),
    rounds: rounds ?? preset.rounds,
    items: items ?? preset.items,
    ...(durationMs !== undefined && { durationMs, judgedMs: durationMs }),
    experiments: {
      ...preset.experiments,
      ...(rounds !== undefined && { rounds, judgedRounds: rounds }),
      ...(durationMs !== undefined && { durationMs }),
    },
  }
  const { json, charts } = values
  return {
    settings,
    resume: values.resume === true,
    report: values.report === true,
    ...(json !== undefined && { json }),
    ...(charts !== undefined && { charts }),
  }
}

/** Growth is of those of them that the preset lets grow. */
const targetsOf = (
  targets: readonly TargetName[],
  { growing }: Settings,
): Pick<Settings, 'targets' | 'growing'> => ({
  targets,
  growing: growing.filter((name) => targets.includes(name)),
})

function listOf<T extends string>(name: string, text: string, known: readonly T[]): readonly T[] {
  return text.split(',').map((each) => {
    const found = known.find((one) => one === each)
    if (found === undefined) throw new UsageError(`--${name} knows ${known.join(', ')}, not '${each}'`)
    return found
  })
}
