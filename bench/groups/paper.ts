// The experiments of the paper's section 5 on the real server, at the rates that this machine holds.
//
//   §5.1  latency against throughput, three mixes of transactions of three (and plain reads and writes beside them)
//   §5.2  latency against the operations of a transaction, at a constant rate of items
//   §5.3  one operation, plain and as a transaction
//   §5.4  cancellations of workloads A, B and C; one item of each transaction is one of a few hot ones
import { type BenchGroup, groupOf } from '../bench.js'
import type { LoadJob } from '../../src/bench/load/load.js'
import { recordsOf, type UnitRecord } from '../records.js'
import {
  ITEM_BYTES,
  ITEM_TABLE,
  type KeyNumbers,
  type WorkloadOperation,
  type Workload,
} from '../../src/bench/load/workloads.js'
import {
  closeVariants,
  measureAtRate,
  openVariants,
  peakKey,
  peakOf,
  type RunningVariants,
  START_AND_FILL_MS,
  type Times,
  type Variant,
} from './variants.js'

export interface PaperOptions extends Times {
  readonly variants: readonly Variant[]
  readonly rounds: number
  readonly items: number
}

type Mix = LoadJob['mix']
type PaperUnit = {
  readonly id: string
  readonly estimateMs: number
  run(variants: RunningVariants): Promise<UnitRecord>
}

function paperGroup(
  name: string,
  options: PaperOptions,
  items: number,
  units: readonly PaperUnit[],
): BenchGroup {
  return groupOf({
    name,
    setupMs: START_AND_FILL_MS * options.variants.length,
    units,
    async open(generator, done) {
      const running = await openVariants(options.variants, items, generator)
      for (const { variant, mix, peakPerSecond } of recordsOf(done, 'throughput')) {
        running.peaks.set(peakKey(variant, mix), peakPerSecond)
      }
      return running
    },
    close: closeVariants,
  })
}

const workloadOf = (operation: WorkloadOperation, size: number, keys: KeyNumbers): Workload => ({
  name: `${operation} of ${size}`,
  operation,
  items: size,
  itemBytes: ITEM_BYTES,
  table: ITEM_TABLE,
  keys,
})

const only = (workload: Workload): Mix => [{ weight: 1, workload }]

const TRANSACTION_ITEMS = 3
export const SHARES = [0.1, 0.25, 0.5, 0.75, 0.9]

export function throughputMixes(items: number): ReadonlyMap<string, Mix> {
  const keys = { from: 0, to: items }
  const gets = workloadOf('TransactGetItems', TRANSACTION_ITEMS, keys)
  const writes = workloadOf('TransactWriteItems', TRANSACTION_ITEMS, keys)
  return new Map([
    ['reads', only(gets)],
    ['writes', only(writes)],
    ['half of each', [...only(gets), ...only(writes)]],
    ['GetItem', only(workloadOf('GetItem', 1, keys))],
    ['PutItem', only(workloadOf('PutItem', 1, keys))],
  ])
}

export function throughputGroup(options: PaperOptions): BenchGroup {
  const mixes = [...throughputMixes(options.items)]
  const units = options.variants.flatMap(({ name: variant }) =>
    mixes.flatMap(([mixName, mix]) =>
      SHARES.map((share) => ({
        id: `throughput/${variant}/${mixName}/${share}`,
        estimateMs: (options.warmupMs + options.durationMs) * (share === SHARES[0] ? 2 : 1),
        async run(variants: RunningVariants): Promise<UnitRecord> {
          const peakPerSecond = await peakOf(variants, variant, mixName, mix, options)
          const rate = peakPerSecond * share
          const measured = await measureAtRate(variants, variant, mix, rate, options, 1)
          return { kind: 'throughput', variant, mix: mixName, share, peakPerSecond, rate, measured }
        },
      })),
    ),
  )
  return paperGroup('throughput', options, options.items, units)
}

export const SIZES = [3, 5, 10, 25, 50, 100]
/** Of the peak of transactions of three. */
const SIZE_SHARE = 0.25

export function sizeGroup(options: PaperOptions): BenchGroup {
  const keys = { from: 0, to: options.items }
  const units = rounds(options).flatMap((round) =>
    (['TransactGetItems', 'TransactWriteItems'] as const).flatMap((operation) =>
      SIZES.flatMap((items) =>
        options.variants.map(({ name: variant }) => ({
          id: `size/${operation} of ${items}/${variant}/round ${round}`,
          estimateMs: options.warmupMs + options.durationMs,
          async run(variants: RunningVariants): Promise<UnitRecord> {
            const three = only(workloadOf(operation, TRANSACTION_ITEMS, keys))
            // The slowest of them decides, so that all get the same.
            const peaks = await inTurn(options.variants, ({ name }) =>
              peakOf(variants, name, operation, three, options),
            )
            const itemsPerSecond = Math.min(...peaks) * TRANSACTION_ITEMS * SIZE_SHARE
            const mix = only(workloadOf(operation, items, keys))
            const measured = await measureAtRate(
              variants,
              variant,
              mix,
              itemsPerSecond / items,
              options,
              round,
            )
            return { kind: 'size', variant, operation, items, itemsPerSecond, round, measured }
          },
        })),
      ),
    ),
  )
  return paperGroup('size', options, options.items, units)
}

const PLAIN_SHARE = 0.3

export function plainGroup(options: PaperOptions): BenchGroup {
  const keys = { from: 0, to: options.items }
  const workloads = (['GetItem', 'TransactGetItems', 'PutItem', 'TransactWriteItems'] as const).map(
    (operation) => workloadOf(operation, 1, keys),
  )
  const slowest = workloads.at(-1)!
  const units = rounds(options).flatMap((round) =>
    workloads.flatMap((workload) =>
      options.variants.map(({ name: variant }) => ({
        id: `plain/${workload.operation}/${variant}/round ${round}`,
        estimateMs: options.warmupMs + options.durationMs,
        async run(variants: RunningVariants): Promise<UnitRecord> {
          const peaks = await inTurn(options.variants, ({ name }) =>
            peakOf(variants, name, slowest.name, only(slowest), options),
          )
          const rate = Math.min(...peaks) * PLAIN_SHARE
          const measured = await measureAtRate(variants, variant, only(workload), rate, options, round)
          return { kind: 'plain', variant, workload: workload.operation, rate, round, measured }
        },
      })),
    ),
  )
  return paperGroup('plain', options, options.items, units)
}

const CONTENDED_ITEMS = 10
/** A thousand, as in the paper, and as few as give a slower machine the paper's pressure on each. */
export const HOT_ITEMS = [1000, 10]
export const CONTENDED_SHARES = [0.2, 0.4, 0.8]

export function contentionGroup(options: PaperOptions): BenchGroup {
  const items = Math.max(options.items, MIN_CONTENDED_TABLE)
  const units = HOT_ITEMS.flatMap((hotItems) =>
    (['A', 'B', 'C'] as const).flatMap((workload) =>
      CONTENDED_SHARES.flatMap((share) =>
        options.variants.map(({ name: variant }) => ({
          id: `contention/${workload}/${hotItems} hot/${share}/${variant}`,
          estimateMs: options.warmupMs + options.durationMs,
          async run(variants: RunningVariants): Promise<UnitRecord> {
            const calm = only(workloadOf('TransactWriteItems', CONTENDED_ITEMS, { from: 0, to: items }))
            const peaks = await inTurn(options.variants, ({ name }) =>
              peakOf(variants, name, 'calm', calm, options),
            )
            const rate = Math.min(...peaks) * share
            const mix = contendedMix(workload, hotItems, items)
            const measured = await measureAtRate(variants, variant, mix, rate, options, 1)
            return { kind: 'contention', variant, workload, hotItems, rate, measured }
          },
        })),
      ),
    ),
  )
  return paperGroup('contention', options, items, units)
}

const MIN_CONTENDED_TABLE = 20_000

/** Half of the write transactions put whole items, half update them under a condition. */
export function contendedMix(workload: 'A' | 'B' | 'C', hotItems: number, items: number): Mix {
  const hot = { from: 0, to: hotItems }
  const cold = { from: hotItems, to: items }
  const writes = { ...workloadOf('TransactWriteItems', CONTENDED_ITEMS, cold), hot }
  const transactions = (weight: number): Mix => [
    { weight: weight / 2, workload: { ...writes, name: 'TransactWriteItems, puts', writes: 'puts' } },
    { weight: weight / 2, workload: { ...writes, name: 'TransactWriteItems, updates', writes: 'updates' } },
  ]
  const reads: Workload = { ...writes, name: 'TransactGetItems', operation: 'TransactGetItems' }
  switch (workload) {
    case 'A':
      return transactions(1)
    case 'B':
      return [...transactions(0.5), { weight: 0.5, workload: reads }]
    case 'C':
      return [
        ...transactions(0.25),
        { weight: 0.25, workload: reads },
        { weight: 0.25, workload: { ...workloadOf('UpdateItem', 1, hot), name: 'UpdateItem' } },
        { weight: 0.25, workload: { ...workloadOf('GetItem', 1, hot), name: 'GetItem' } },
      ]
  }
}

const rounds = ({ rounds }: PaperOptions): readonly number[] =>
  Array.from({ length: rounds }, (_, round) => round + 1)

async function inTurn<T>(variants: readonly Variant[], of: (variant: Variant) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (const variant of variants) results.push(await of(variant))
  return results
}
