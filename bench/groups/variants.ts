// The server that the paper's experiments run on: four nodes, so that transactions meet the whole protocol, on disk; with
// all of section 4, and with the protocol of section 3 alone.
import { fillItemTable } from '../../src/bench/fill.js'
import type { Generator } from '../../src/bench/load/generator-process.js'
import type { LoadJob } from '../../src/bench/load/load.js'
import { measure } from '../../src/bench/measure.js'
import type { Measured } from '../../src/bench/measure.js'
import type { TargetName } from '../targets/commands.js'
import { startTarget, type Target } from '../targets/target.js'
import { ITEM_BYTES, ITEM_TABLE } from '../../src/bench/load/workloads.js'

export interface Variant {
  readonly name: string
  readonly target: TargetName
  readonly extra: readonly string[]
}

export const SECTION_4: Variant = { name: 'section 4', target: 'seriatim-disk-4', extra: [] }
export const SECTION_3: Variant = {
  name: 'section 3 alone',
  target: 'seriatim-disk-4',
  extra: ['--rules', 'none'],
}
export const VARIANTS: readonly Variant[] = [SECTION_4, SECTION_3]

export const CONNECTIONS = 64
export const START_AND_FILL_MS = 3000
const PEAK_MIN = 10

/** The variants, each running and filled, and what was found out about them so far. */
export interface RunningVariants {
  readonly generator: Generator
  readonly targets: ReadonlyMap<string, Target>
  /** In requests a second, by variant and mix. */
  readonly peaks: Map<string, number>
}

export async function openVariants(
  variants: readonly Variant[],
  items: number,
  generator: Generator,
): Promise<RunningVariants> {
  const targets = new Map<string, Target>()
  const running: RunningVariants = { generator, targets, peaks: new Map() }
  try {
    for (const { name, target, extra } of variants) {
      const started = await startTarget(target, { extra })
      if ('missing' in started) throw new Error(started.missing)
      targets.set(name, started)
      await fillItemTable(started.endpoint, { table: ITEM_TABLE, items, itemBytes: ITEM_BYTES, indexes: 0 })
    }
    return running
  } catch (error) {
    await closeVariants(running)
    throw error
  }
}

export async function closeVariants({ targets }: RunningVariants): Promise<void> {
  await Promise.all([...targets.values()].map((target) => target.stop()))
}

export interface Times {
  readonly warmupMs: number
  readonly durationMs: number
}

/** At a fixed rate, as from many independent clients. */
export function measureAtRate(
  { generator, targets }: RunningVariants,
  variant: string,
  mix: LoadJob['mix'],
  perSecond: number,
  { warmupMs, durationMs }: Times,
  seed: number,
): Promise<Measured> {
  return measure(generator, targets.get(variant)!, {
    mix,
    mode: { kind: 'open', perSecond, connections: CONNECTIONS, spacing: 'poisson' },
    warmupMs,
    durationMs,
    seed,
  })
}

export const peakKey = (variant: string, name: string): string => `${variant}/${name}`

/** The rate of a closed loop; found once and remembered. */
export async function peakOf(
  { generator, targets, peaks }: RunningVariants,
  variant: string,
  name: string,
  mix: LoadJob['mix'],
  { warmupMs, durationMs }: Times,
): Promise<number> {
  const key = peakKey(variant, name)
  let peak = peaks.get(key)
  if (peak === undefined) {
    const mode = { kind: 'closed', clients: CONNECTIONS } as const
    const measured = await measure(generator, targets.get(variant)!, {
      mix,
      mode,
      warmupMs,
      durationMs,
      seed: 1,
    })
    // On a machine that is very busy a short look may see no answer at all.
    peak = Math.max(PEAK_MIN, measured.perSecond)
    peaks.set(key, peak)
  }
  return peak
}
