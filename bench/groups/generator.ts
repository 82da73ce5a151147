// What the generator itself can drive: the bare server is nearly nothing to wait for, and the generator's own processor
// time for a request says what it could drive if nothing were.
import { type BenchGroup, groupOf } from '../bench.js'
import type { Generator } from '../../src/bench/load/generator-process.js'
import { measure } from '../../src/bench/measure.js'
import type { UnitRecord } from '../records.js'
import { startTarget, type Target } from '../targets/target.js'
import { peerWorkloads } from '../../src/bench/load/workloads.js'

export interface GeneratorOptions {
  readonly rounds: number
  readonly warmupMs: number
  readonly durationMs: number
}

const CLIENTS = 64
const SETUP_MS = 300

export function generatorGroup({ rounds, warmupMs, durationMs }: GeneratorOptions): BenchGroup {
  const workload = peerWorkloads({ items: 10_000, partitions: 100 })[0]!
  return groupOf({
    name: 'generator',
    setupMs: SETUP_MS,
    units: Array.from({ length: rounds }, (_, at) => ({
      id: `generator/${workload.name}/${CLIENTS} clients/round ${at + 1}`,
      estimateMs: warmupMs + durationMs,
      async run({ generator, target }: Bare): Promise<UnitRecord> {
        const measured = await measure(generator, target, {
          mix: [{ weight: 1, workload }],
          mode: { kind: 'closed', clients: CLIENTS },
          warmupMs,
          durationMs,
          seed: at,
        })
        return { kind: 'generator', round: at + 1, measured }
      },
    })),
    async open(generator) {
      const target = await startTarget('bare')
      if ('missing' in target) throw new Error(target.missing)
      return { generator, target }
    },
    close: ({ target }) => target.stop(),
  })
}

type Bare = { readonly generator: Generator; readonly target: Target }
