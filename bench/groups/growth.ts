// How time and memory grow: with the items of a table, the size of an item, the number of indexes, the heat of a few keys,
// and the clients. Anything worse than logarithmic in the size of a table is a defect.
import { type BenchGroup, groupOf } from '../bench.js'
import { addItems, fillItemTable, fillPartitions } from '../../src/bench/fill.js'
import type { Generator } from '../../src/bench/load/generator-process.js'
import { measure } from '../../src/bench/measure.js'
import type { GrowthAxis, UnitRecord } from '../records.js'
import type { TargetName } from '../targets/commands.js'
import { startTarget, type Target } from '../targets/target.js'
import {
  ITEM_BYTES,
  ITEM_TABLE,
  type WorkloadOperation,
  PARTITION_ITEMS,
  PARTITION_TABLE,
  QUERY_ITEMS,
  type Workload,
} from '../../src/bench/load/workloads.js'
import type { Times } from './variants.js'

export interface GrowthOptions extends Times {
  readonly targets: readonly TargetName[]
  /** Of the tables, in rising order. */
  readonly tableItems: readonly number[]
}

interface Running {
  readonly generator: Generator
  readonly target: Target
  /** Items of the growing table so far. */
  filled: number
}

type GrowthUnit = {
  readonly id: string
  readonly estimateMs: number
  run(running: Running): Promise<UnitRecord>
}

const CLIENTS = 16
const FIXED_ITEMS = 10_000
const FILL_ITEMS_PER_MS = 20
const START_MS = 500
/** The table of queries has a tenth of the items of the other. */
const ITEMS_PER_PARTITION = 10 * PARTITION_ITEMS
const ITEM_SIZES = [100, 900, 4_000, 16_000, 64_000, 256_000]
const SIZED_ITEMS = 200
const INDEX_COUNTS = [0, 1, 2, 5, 10]
const HOT_KEYS = [1, 10, 100, 1000, 10_000]
const CLIENT_COUNTS = [1, 4, 16, 64, 256]
/** A heap of Node's usual size holds no more. */
const MEMORY_ITEMS_MAX = 1_000_000

/** Two servers for each target, one after the other: what holds millions of items is no measure of anything else. */
export function growthGroups(options: GrowthOptions): readonly BenchGroup[] {
  return options.targets.flatMap((name) => [
    growthGroup(name, `growth of ${name}`, [
      ...byHeat(options, name),
      ...byClients(options, name),
      ...byIndexes(options, name),
      ...byItemBytes(options, name),
    ]),
    growthGroup(name, `growth of ${name} with items`, byItems(options, name)),
  ])
}

function growthGroup(target: TargetName, name: string, units: readonly GrowthUnit[]): BenchGroup {
  return groupOf<Running>({
    name,
    setupMs: START_MS,
    units,
    async open(generator) {
      const started = await startTarget(target)
      if ('missing' in started) throw new Error(started.missing)
      return { generator, target: started, filled: 0 }
    },
    close: ({ target }) => target.stop(),
  })
}

const itemWorkload = (
  operation: WorkloadOperation,
  items: number,
  over: Partial<Workload> = {},
): Workload => ({
  name: items === 1 ? operation : `${operation} of ${items}`,
  operation,
  items,
  itemBytes: ITEM_BYTES,
  table: ITEM_TABLE,
  keys: { from: 0, to: FIXED_ITEMS },
  ...over,
})

interface Point {
  readonly axis: GrowthAxis
  readonly value: number
  readonly workload: Workload
  readonly clients?: number
  /** What must be there first, and how long that takes. */
  readonly prepare: (running: Running) => Promise<void>
  readonly prepareMs: number
  readonly restarts?: boolean
}

function unitOf({ warmupMs, durationMs }: Times, name: TargetName, point: Point): GrowthUnit {
  const { axis, value, workload, clients = CLIENTS, prepare, prepareMs, restarts = false } = point
  return {
    id: `growth/${name}/${axis}/${value}/${workload.name}`,
    estimateMs: prepareMs + warmupMs + durationMs,
    async run(running) {
      const { generator, target } = running
      await prepare(running)
      const measured = await measure(generator, target, {
        mix: [{ weight: 1, workload }],
        mode: { kind: 'closed', clients },
        warmupMs,
        durationMs,
        seed: 1,
      })
      const onDisk = name.includes('disk')
      return {
        kind: 'growth',
        axis,
        value,
        target: name,
        workload: workload.name,
        measured,
        folderBytes: onDisk ? target.folderBytes() : null,
        restartMs: onDisk && restarts ? await target.restart() : null,
      }
    },
  }
}

/** The tables grow as they are measured, so that what was filled once is not filled again. */
async function growTo(running: Running, items: number): Promise<void> {
  const { endpoint } = running.target
  const { filled } = running
  if (filled >= items) return
  const table = { table: ITEM_TABLE, items, itemBytes: ITEM_BYTES, indexes: 0 }
  if (filled === 0) await fillItemTable(endpoint, table)
  else await addItems(endpoint, table, filled)
  await fillPartitions(
    endpoint,
    Math.floor(items / ITEMS_PER_PARTITION),
    Math.floor(filled / ITEMS_PER_PARTITION),
    ITEM_BYTES,
  )
  running.filled = items
  await running.target.settle()
}

function byItems(options: GrowthOptions, name: TargetName): readonly GrowthUnit[] {
  const itemsMax = name.includes('memory') ? MEMORY_ITEMS_MAX : Infinity
  let before = 0
  return options.tableItems.flatMap((value) => {
    if (value > itemsMax) return []
    const prepareMs = (value - before) / FILL_ITEMS_PER_MS
    before = value
    const keys = { from: 0, to: value }
    const query = itemWorkload('Query', QUERY_ITEMS, {
      table: PARTITION_TABLE,
      keys: { from: 0, to: Math.floor(value / ITEMS_PER_PARTITION) },
    })
    const workloads = [
      itemWorkload('GetItem', 1, { keys }),
      query,
      itemWorkload('TransactGetItems', 3, { keys }),
      itemWorkload('TransactWriteItems', 3, { keys }),
      itemWorkload('PutItem', 1, { keys }),
    ]
    return workloads.map((workload, at) =>
      unitOf(options, name, {
        axis: 'items',
        value,
        workload,
        prepare: (running) => growTo(running, value),
        prepareMs: at === 0 ? prepareMs : 0,
        restarts: at === workloads.length - 1,
      }),
    )
  })
}

function byItemBytes(options: GrowthOptions, name: TargetName): readonly GrowthUnit[] {
  return ITEM_SIZES.flatMap((itemBytes) => {
    const table = `${ITEM_TABLE}-of-${itemBytes}-bytes`
    const over = { table, itemBytes, keys: { from: 0, to: SIZED_ITEMS } }
    return [itemWorkload('PutItem', 1, over), itemWorkload('GetItem', 1, over)].map((workload, at) =>
      unitOf(options, name, {
        axis: 'item bytes',
        value: itemBytes,
        workload,
        prepare: ({ target }) =>
          at === 0
            ? fillItemTable(target.endpoint, { table, items: SIZED_ITEMS, itemBytes, indexes: 0 })
            : Promise.resolve(),
        prepareMs: at === 0 ? START_MS : 0,
      }),
    )
  })
}

function byIndexes(options: GrowthOptions, name: TargetName): readonly GrowthUnit[] {
  return INDEX_COUNTS.map((indexes) => {
    const table = `${ITEM_TABLE}-with-${indexes}-indexes`
    return unitOf(options, name, {
      axis: 'indexes',
      value: indexes,
      workload: itemWorkload('PutItem', 1, { table, indexes }),
      prepare: ({ target }) =>
        fillItemTable(target.endpoint, { table, items: FIXED_ITEMS, itemBytes: ITEM_BYTES, indexes }),
      prepareMs: ((1 + indexes) * FIXED_ITEMS) / FILL_ITEMS_PER_MS,
    })
  })
}

function byHeat(options: GrowthOptions, name: TargetName): readonly GrowthUnit[] {
  return HOT_KEYS.flatMap((value) =>
    (['GetItem', 'UpdateItem'] as const).map((operation) =>
      unitOf(options, name, {
        axis: 'hot keys',
        value,
        workload: itemWorkload(operation, 1, { keys: { from: 0, to: value } }),
        prepare: (running) => growTo(running, FIXED_ITEMS),
        prepareMs: 0,
      }),
    ),
  )
}

function byClients(options: GrowthOptions, name: TargetName): readonly GrowthUnit[] {
  return CLIENT_COUNTS.flatMap((clients) =>
    (['GetItem', 'PutItem'] as const).map((operation) =>
      unitOf(options, name, {
        axis: 'clients',
        value: clients,
        workload: itemWorkload(operation, 1),
        clients,
        prepare: (running) => growTo(running, FIXED_ITEMS),
        prepareMs: 0,
      }),
    ),
  )
}
