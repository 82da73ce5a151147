// Where the server's time goes, operation by operation: one node on disk under 64 clients, with a processor profile of its
// main thread from the end of the warm-up on.
import { type BenchGroup, groupOf } from '../bench.js'
import { fillPeerTables } from '../../src/bench/fill.js'
import type { Generator } from '../../src/bench/load/generator-process.js'
import { measure } from '../../src/bench/measure.js'
import type { UnitRecord } from '../records.js'
import { startTarget, type Target } from '../targets/target.js'
import { isJudged, peerWorkloads, type Scale, type Workload } from '../../src/bench/load/workloads.js'
import { CONNECTIONS, START_AND_FILL_MS, type Times } from './variants.js'

export interface ProfileOptions extends Times {
  readonly scale: Scale
}

const TARGET = 'seriatim-disk'

interface Running {
  readonly generator: Generator
  readonly target: Target
}

export function profileGroup(options: ProfileOptions): BenchGroup {
  const workloads = peerWorkloads(options.scale).filter(isJudged)
  return groupOf({
    name: 'profile',
    setupMs: START_AND_FILL_MS,
    units: workloads.map((workload) => ({
      id: `profile/${workload.name}`,
      estimateMs: options.warmupMs + options.durationMs,
      run: (running: Running) => profile(options, running, workload),
    })),
    async open(generator) {
      const target = await startTarget(TARGET, { profiled: true })
      if ('missing' in target) throw new Error(target.missing)
      try {
        await fillPeerTables(target.endpoint, options.scale)
        return { generator, target }
      } catch (error) {
        await target.stop()
        throw error
      }
    },
    close: ({ target }) => target.stop(),
  })
}

async function profile(
  { warmupMs, durationMs }: Times,
  { generator, target }: Running,
  workload: Workload,
): Promise<UnitRecord> {
  const { profiler } = target
  if (profiler === undefined) throw new Error(`${target.title} cannot be profiled`)
  let begun: Promise<void> | undefined
  const mode = { kind: 'closed', clients: CONNECTIONS } as const
  const measured = await measure(
    generator,
    target,
    { mix: [{ weight: 1, workload }], mode, warmupMs, durationMs, seed: 1 },
    () => {
      begun = profiler.begin()
      // Who waits for it comes later.
      begun.catch(() => undefined)
    },
  )
  await begun
  return { kind: 'profile', target: TARGET, workload: workload.name, measured, times: await profiler.end() }
}
