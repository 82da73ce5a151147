// Servers on files that the page cache does not hold, as after a reboot: how long until the first answer, and what a server
// answers a second in the first seconds. Only the server's own files are cold; its program is not.
import { type BenchGroup, groupOf } from '../bench.js'
import { type Filling, fillPeerTables } from '../../src/bench/fill.js'
import type { Generator } from '../../src/bench/load/generator-process.js'
import { post } from '../../src/bench/targets/post.js'
import { measure } from '../../src/bench/measure.js'
import type { UnitRecord } from '../records.js'
import type { TargetName } from '../targets/commands.js'
import { dropFromPageCache } from '../targets/page-cache.js'
import { startTarget, type Target } from '../targets/target.js'
import { PARTITION_ITEMS, peerWorkloads, QUERY_ITEMS, type Workload } from '../../src/bench/load/workloads.js'

export interface ColdOptions {
  readonly items: number
  readonly partitions: number
  readonly rounds: number
  readonly durationMs: number
}

const TARGETS = ['seriatim-disk', 'dynoxide-disk'] as const satisfies readonly TargetName[]
const WORKLOADS = ['GetItem', `Query of ${QUERY_ITEMS}`]
const CLIENTS = [4, 64]
const RESTART_MS = 1500
const FILL_ITEMS_PER_MS = 8

/** A server may sync each item of a batch by itself, for minutes; a transaction is one commit. */
const IN_TRANSACTIONS: Filling = {
  items: 100,
  async put(endpoint, TableName, items) {
    const TransactItems = items.map((Item) => ({ Put: { TableName, Item } }))
    await post(endpoint, 'TransactWriteItems', { TransactItems })
  },
}

interface Running {
  readonly generator: Generator
  readonly targets: ReadonlyMap<string, Target>
  readonly missing: ReadonlyMap<string, string>
}

export function coldGroup(options: ColdOptions): BenchGroup {
  const { items, partitions, rounds, durationMs } = options
  const workloads = peerWorkloads(options).filter(({ name }) => WORKLOADS.includes(name))
  const filled = items + partitions * PARTITION_ITEMS
  return groupOf({
    name: 'cold files',
    setupMs: (TARGETS.length * filled) / FILL_ITEMS_PER_MS,
    units: Array.from({ length: rounds }, (_, at) => at + 1).flatMap((round) =>
      workloads.flatMap((workload) =>
        CLIENTS.flatMap((clients) =>
          TARGETS.map((target) => ({
            id: `cold/${workload.name}/${clients} clients/${target}/round ${round}`,
            estimateMs: RESTART_MS + durationMs,
            run: (running: Running) => measureCold(running, { target, workload, clients, round, ...options }),
          })),
        ),
      ),
    ),
    open: (generator) => openFilled(generator, options),
    close: stopAll,
  })
}

async function openFilled(generator: Generator, { items, partitions }: ColdOptions): Promise<Running> {
  const targets = new Map<string, Target>()
  const missing = new Map<string, string>()
  const running: Running = { generator, targets, missing }
  try {
    for (const name of TARGETS) {
      const target = await startTarget(name, { build: 'bundle' })
      if ('missing' in target) {
        missing.set(name, target.missing)
        continue
      }
      targets.set(name, target)
      await fillPeerTables(target.endpoint, { items, partitions }, IN_TRANSACTIONS)
      await target.settle()
    }
    return running
  } catch (error) {
    await stopAll(running)
    throw error
  }
}

async function stopAll({ targets }: Running): Promise<void> {
  await Promise.all([...targets.values()].map((target) => target.stop()))
}

async function measureCold(
  { generator, targets, missing }: Running,
  {
    target: name,
    workload,
    clients,
    round,
    items,
    durationMs,
  }: ColdOptions & {
    readonly target: TargetName
    readonly workload: Workload
    readonly clients: number
    readonly round: number
  },
): Promise<UnitRecord> {
  const target = targets.get(name)
  if (target === undefined) return { kind: 'missing', target: name, reason: missing.get(name) ?? '' }
  const startMs = await target.restart(dropFromPageCache)
  const measured = await measure(generator, target, {
    mix: [{ weight: 1, workload }],
    mode: { kind: 'closed', clients },
    warmupMs: 0,
    durationMs,
    seed: round,
  })
  return { kind: 'cold', target: name, workload: workload.name, clients, items, round, startMs, measured }
}
