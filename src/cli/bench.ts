// seriatim bench: measures this store and its peers on this machine.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runGroups } from '../../bench/bench.js'
import { planOf } from '../../bench/plan.js'
import { PARTS, PRESET_NAMES, PRESETS, type Settings } from '../../bench/presets.js'
import type { RunFile, UnitRecord } from '../../bench/records.js'
import { readRunFile, thisMachine, writeRunFile } from '../../bench/run-file.js'
import { CHART_LIBRARY_MISSING, chartLibrary, chartSvg } from '../../bench/report/chart-svg.js'
import { chartsOf } from '../../bench/report/charts.js'
import { reportLines } from '../../bench/report/report.js'
import { TARGET_NAMES, type TargetName } from '../../bench/targets/commands.js'
import { readArguments, readInteger, UsageError } from './arguments.js'
import { version } from './version.js'
import type { CommandEnvironment } from './environment.js'

export const help = `seriatim bench [--quick | --figures | --page | --full | --try] [options]

  --quick            the most important operations, about 3 minutes: unless told otherwise
  --figures          every operation, and the experiments of the paper, about 15 minutes
  --page             what docs/performance.md shows, about 45 minutes
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

Starts what it compares with (dynalite and DynamoDB Local are looked for, and it says how to get them), in processes of
their own, with the load from another one. Only ratios within one run mean anything.`

const OPTIONS = {
  quick: { type: 'boolean' },
  figures: { type: 'boolean' },
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

const CLIENTS_MAX = 10_000
const RATE_MAX = 10_000_000
const ROUNDS_MAX = 1000
const SECONDS_MAX = 3600
const ITEMS_MIN = 100
const ITEMS_MAX = 100_000_000

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
          seriatim: await version(),
          command: ['seriatim bench', ...args].join(' '),
          startedAt: new Date().toISOString(),
          machine: thisMachine(),
        }
      : resumedNow(before, groups, await version())
  const interrupted = new AbortController()
  const off = world.onSignal(() => {
    if (interrupted.signal.aborted) world.exitNow(130)
    interrupted.abort()
    world.printError('seriatim bench: stopping after this step; once more to stop at once')
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
  const { endpoint } = values
  if (endpoint !== undefined && !URL.canParse(endpoint)) {
    throw new UsageError(`--endpoint must be a URL such as http://127.0.0.1:8000, not '${endpoint}'`)
  }
  const integer = (name: 'rate' | 'rounds' | 'items', min: number, max: number): number | undefined => {
    const text = values[name]
    return text === undefined ? undefined : readInteger(name, text, min, max)
  }
  const rate = integer('rate', 1, RATE_MAX)
  const rounds = integer('rounds', 1, ROUNDS_MAX)
  const { beside, ...most } = preset
  const settings: Settings = {
    ...most,
    ...(beside !== undefined && values.clients === undefined && { beside }),
    // With an endpoint, that is what is asked about; the bare server says what the machine can do.
    ...(endpoint !== undefined && { endpoint, targets: ['bare'], parts: ['generator', 'peers'] }),
    ...(values.part !== undefined && { parts: listOf('part', values.part, PARTS) }),
    ...(values.target !== undefined && targetsOf(listOf('target', values.target, TARGET_NAMES), preset)),
    ...(values.operation !== undefined && { operations: values.operation.split(',') }),
    ...(values.clients !== undefined && {
      clients: values.clients.split(',').map((text) => readInteger('clients', text, 1, CLIENTS_MAX)),
    }),
    ...(rate !== undefined && { rate }),
    rounds: rounds ?? preset.rounds,
    items: integer('items', ITEMS_MIN, ITEMS_MAX) ?? preset.items,
    ...(values.seconds !== undefined && {
      durationMs: secondsOf(values.seconds) * 1000,
      judgedMs: secondsOf(values.seconds) * 1000,
    }),
    experiments: {
      ...preset.experiments,
      ...(rounds !== undefined && { rounds, judgedRounds: rounds }),
      ...(values.seconds !== undefined && { durationMs: secondsOf(values.seconds) * 1000 }),
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

function secondsOf(text: string): number {
  const value = /^\d{1,4}(\.\d{1,3})?$/.test(text) ? Number(text) : NaN
  if (!(value > 0 && value <= SECONDS_MAX)) {
    throw new UsageError(`--seconds must be a number up to ${SECONDS_MAX}, not '${text}'`)
  }
  return value
}
