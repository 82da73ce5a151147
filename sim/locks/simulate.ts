// Many runs, one after the other, each from a seed of its own.
import { runLocks, type RunResult } from './run.js'

export interface LockSimulation {
  readonly runs: number
  readonly events: number
  readonly counts: ReadonlyMap<string, number>
  readonly broken: readonly RunResult[]
}

export interface LockSimulationOptions {
  readonly seed: number
  readonly runs: number
  /** So many broken runs are enough. */
  readonly brokenMax?: number
  readonly onRun?: (result: RunResult) => void
}

/** What must have happened in a long simulation, or it did not try everything. */
const EXPECTED = [
  'acquired',
  'acquired shared',
  'acquired beside others',
  'entered beside another',
  'lost',
  'killed',
  'stopped',
  'gave up',
  'broken',
  'refused by the fence',
  'event waiting',
  'event drawn-again',
  'event removed',
  'trouble clock',
  'trouble cut',
]
export const COVERED_FROM_RUNS = 1000

export async function simulateLocks(options: LockSimulationOptions): Promise<LockSimulation> {
  const { seed, runs, brokenMax = 1, onRun } = options
  const counts = new Map<string, number>()
  const broken: RunResult[] = []
  let done = 0
  let events = 0
  while (done < runs && broken.length < brokenMax) {
    const result = await runLocks(seed + done)
    done++
    events += result.events
    for (const [name, count] of result.counts) counts.set(name, (counts.get(name) ?? 0) + count)
    if (result.anomalies.length > 0) broken.push(result)
    onRun?.(result)
  }
  return { runs: done, events, counts, broken }
}

export const neverHappened = ({ counts }: LockSimulation): readonly string[] =>
  EXPECTED.filter((name) => !counts.has(name))
