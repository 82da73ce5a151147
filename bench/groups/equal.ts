// Latency at a rate that all hold: half of what the slowest of them can, so that a fast server is not blamed for being
// asked more.
import { type BenchGroup, groupOf } from '../bench.js'
import { fillPeerTables } from '../../src/bench/fill.js'
import type { Generator } from '../../src/bench/load/generator-process.js'
import { measure } from '../../src/bench/measure.js'
import { recordsOf, type UnitRecord } from '../records.js'
import type { TargetName } from '../targets/commands.js'
import { startTarget, type Target } from '../targets/target.js'
import { isJudged, peerWorkloads, type Scale, type Workload } from '../../src/bench/load/workloads.js'
import { CONNECTIONS, START_AND_FILL_MS, type Times } from './variants.js'

export interface EqualOptions extends Times {
  readonly targets: readonly TargetName[]
  readonly scale: Scale
  readonly rounds: number
}

const SHARE = 0.5

interface Running {
  readonly generator: Generator
  readonly targets: ReadonlyMap<string, Target>
  readonly missing: ReadonlyMap<string, string>
  readonly rates: Map<string, number>
}

export function equalGroup(options: EqualOptions): BenchGroup {
  const targets = options.targets.filter((name) => name !== 'bare' && !name.endsWith('-4'))
  const workloads = peerWorkloads(options.scale).filter(isJudged)
  return groupOf({
    name: 'equal',
    setupMs:
      targets.length * (START_AND_FILL_MS + workloads.length * (options.warmupMs + options.durationMs)),
    units: Array.from({ length: options.rounds }, (_, at) => at + 1).flatMap((round) =>
      workloads.flatMap((workload) =>
        targets.map((target) => ({
          id: `equal/${workload.name}/${target}/round ${round}`,
          estimateMs: options.warmupMs + options.durationMs,
          run: (running: Running) => measureEqually(options, running, target, workload, round),
        })),
      ),
    ),
    async open(generator, done) {
      const running = await openTargets(targets, options.scale, generator)
      for (const { workload, rate } of recordsOf(done, 'equal')) running.rates.set(workload, rate)
      return running
    },
    close: async ({ targets }) => {
      await Promise.all([...targets.values()].map((target) => target.stop()))
    },
  })
}

async function openTargets(
  names: readonly TargetName[],
  scale: Scale,
  generator: Generator,
): Promise<Running> {
  const targets = new Map<string, Target>()
  const missing = new Map<string, string>()
  try {
    for (const name of names) {
      const target = await startTarget(name)
      if ('missing' in target) missing.set(name, target.missing)
      else {
        targets.set(name, target)
        await fillPeerTables(target.endpoint, scale)
      }
    }
  } catch (error) {
    await Promise.all([...targets.values()].map((target) => target.stop()))
    throw error
  }
  return { generator, targets, missing, rates: new Map() }
}

async function measureEqually(
  options: EqualOptions,
  running: Running,
  name: TargetName,
  workload: Workload,
  round: number,
): Promise<UnitRecord> {
  const { targets, missing, generator } = running
  const target = targets.get(name)
  if (target === undefined) return { kind: 'missing', target: name, reason: missing.get(name) ?? '' }
  const { warmupMs, durationMs } = options
  const rate = await commonRate(options, running, workload)
  const measured = await measure(generator, target, {
    mix: [{ weight: 1, workload }],
    mode: { kind: 'open', perSecond: rate, connections: CONNECTIONS, spacing: 'poisson' },
    warmupMs,
    durationMs,
    seed: round,
  })
  return { kind: 'equal', target: name, workload: workload.name, rate, round, measured }
}

/** Found once for each workload. Who does not know the operation has no say. */
async function commonRate(
  { warmupMs, durationMs }: Times,
  { generator, targets, rates }: Running,
  workload: Workload,
): Promise<number> {
  const known = rates.get(workload.name)
  if (known !== undefined) return known
  let slowest = Infinity
  for (const target of targets.values()) {
    const { perSecond } = await measure(generator, target, {
      mix: [{ weight: 1, workload }],
      mode: { kind: 'closed', clients: CONNECTIONS },
      warmupMs,
      durationMs,
      seed: 1,
    })
    if (perSecond > 0) slowest = Math.min(slowest, perSecond)
  }
  if (slowest === Infinity) throw new Error(`nobody answers ${workload.name}`)
  rates.set(workload.name, slowest * SHARE)
  return slowest * SHARE
}
