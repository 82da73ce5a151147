// Whether latency stays while the rate rises: one node on disk, an open loop at a tenth and at half of what it holds. What it
// holds is looked at in each round anew: on a machine that others use, it is not the same for long.
import { type BenchGroup, groupOf } from '../bench.js'
import { fillPeerTables } from '../../src/bench/fill.js'
import { recordsOf, type UnitRecord } from '../records.js'
import { startTarget } from '../targets/target.js'
import { isJudged, peerWorkloads, type Scale } from '../../src/bench/load/workloads.js'
import {
  closeVariants,
  measureAtRate,
  peakKey,
  peakOf,
  type RunningVariants,
  START_AND_FILL_MS,
  type Times,
} from './variants.js'

export interface HalfOptions extends Times {
  readonly rounds: number
  readonly scale: Scale
}

const TARGET = 'seriatim-disk'
export const HALF_SHARES = [0.1, 0.5] as const

export function halfGroup(options: HalfOptions): BenchGroup {
  const workloads = peerWorkloads(options.scale).filter(isJudged)
  return groupOf({
    name: 'half',
    setupMs: START_AND_FILL_MS,
    units: Array.from({ length: options.rounds }, (_, at) => at + 1).flatMap((round) =>
      workloads.flatMap((workload) =>
        HALF_SHARES.map((share) => ({
          id: `half/${workload.name}/${share}/round ${round}`,
          estimateMs: (options.warmupMs + options.durationMs) * (1 + 1 / HALF_SHARES.length),
          async run(running: RunningVariants): Promise<UnitRecord> {
            const mix = [{ weight: 1, workload }]
            const peakPerSecond = await peakOf(running, TARGET, inRound(workload.name, round), mix, options)
            const rate = peakPerSecond * share
            const measured = await measureAtRate(running, TARGET, mix, rate, options, round)
            return {
              kind: 'half',
              target: TARGET,
              workload: workload.name,
              share,
              peakPerSecond,
              rate,
              round,
              measured,
            }
          },
        })),
      ),
    ),
    async open(generator, done): Promise<RunningVariants> {
      const target = await startTarget(TARGET)
      if ('missing' in target) throw new Error(target.missing)
      const peaks = new Map(
        recordsOf(done, 'half').map(({ workload, round, peakPerSecond }) => [
          peakKey(TARGET, inRound(workload, round)),
          peakPerSecond,
        ]),
      )
      const running = { generator, targets: new Map([[TARGET, target]]), peaks }
      try {
        await fillPeerTables(target.endpoint, options.scale)
        return running
      } catch (error) {
        await closeVariants(running)
        throw error
      }
    },
    close: closeVariants,
  })
}

const inRound = (workload: string, round: number): string => `${workload}/round ${round}`
