// What a transaction costs beside a single operation on the same server, in turns, over HTTP and durable:
//
//   one node:    a transaction of one item
//   four nodes:  a transaction of three items, each on a node of its own, so that it meets the whole protocol
import { type BenchGroup, groupOf } from '../bench.js'
import { fillItemTable } from '../../src/bench/fill.js'
import type { Generator } from '../../src/bench/load/generator-process.js'
import { measure } from '../../src/bench/measure.js'
import type { UnitRecord } from '../records.js'
import type { TargetName } from '../targets/commands.js'
import { startTarget, type Target } from '../targets/target.js'
import {
  ITEM_BYTES,
  ITEM_TABLE,
  type WorkloadOperation,
  type Workload,
} from '../../src/bench/load/workloads.js'
import { START_AND_FILL_MS, type Times } from './variants.js'

export interface CostOptions extends Times {
  readonly rounds: number
  /** Instead of the warm-up, in the first round. */
  readonly firstWarmupMs: number
  readonly items: number
}

const PLACES = [
  { target: 'seriatim-disk', nodes: 1, size: 1 },
  { target: 'seriatim-disk-4', nodes: 4, size: 3 },
] as const satisfies readonly {
  readonly target: TargetName
  readonly nodes: number
  readonly size: number
}[]
const PAIRS = [
  ['PutItem', 'TransactWriteItems'],
  ['GetItem', 'TransactGetItems'],
] as const
const CLIENTS = [1, 16]

interface Running {
  readonly generator: Generator
  readonly targets: ReadonlyMap<string, Target>
}

export function costGroup(options: CostOptions): BenchGroup {
  const workloadOf = (operation: WorkloadOperation, size: number, nodes: number): Workload => ({
    name: size === 1 ? operation : `${operation} of ${size}`,
    operation,
    items: size,
    itemBytes: ITEM_BYTES,
    table: ITEM_TABLE,
    keys: { from: 0, to: options.items },
    ...(size > 1 && { apartOnNodes: nodes }),
  })
  const { durationMs } = options
  const units = Array.from({ length: options.rounds }, (_, at) => at + 1).flatMap((round) => {
    const warmupMs = round === 1 ? options.firstWarmupMs : options.warmupMs
    return PLACES.flatMap(({ target, nodes, size }) =>
      CLIENTS.flatMap((clients) =>
        PAIRS.flatMap(([plain, transactional]) =>
          [workloadOf(plain, 1, nodes), workloadOf(transactional, size, nodes)].map((workload, at) => ({
            id: `costs/${target}/${clients} clients/${workload.name}/round ${round}`,
            estimateMs: warmupMs + durationMs,
            async run({ generator, targets }: Running): Promise<UnitRecord> {
              const mode = { kind: 'closed', clients } as const
              const mix = [{ weight: 1, workload }]
              const job = { mix, mode, warmupMs, durationMs, seed: round }
              const measured = await measure(generator, targets.get(target)!, job)
              const pair = `${transactional} of ${size} against ${plain}`
              const side = at === 0 ? 'plain' : 'transaction'
              return { kind: 'cost', target, nodes, pair, side, clients, round, measured }
            },
          })),
        ),
      ),
    )
  })
  return groupOf({
    name: 'costs',
    setupMs: PLACES.length * START_AND_FILL_MS,
    units,
    async open(generator): Promise<Running> {
      const targets = new Map<string, Target>()
      try {
        for (const { target: name } of PLACES) {
          const target = await startTarget(name)
          if ('missing' in target) throw new Error(target.missing)
          targets.set(name, target)
          const table = { table: ITEM_TABLE, items: options.items, itemBytes: ITEM_BYTES, indexes: 0 }
          await fillItemTable(target.endpoint, table)
        }
        return { generator, targets }
      } catch (error) {
        await stopAll(targets)
        throw error
      }
    },
    close: ({ targets }) => stopAll(targets),
  })
}

async function stopAll(targets: ReadonlyMap<string, Target>): Promise<void> {
  await Promise.all([...targets.values()].map((target) => target.stop()))
}
