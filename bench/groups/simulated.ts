// The experiments of section 5 at the paper's rates, in virtual time: with all of section 4, and with section 3 alone. A
// short stretch of virtual time is enough, since no transaction takes longer than a few milliseconds of it.
import { type BenchGroup, groupOf, type Measurement } from '../bench.js'
import type { RecordOf, UnitRecord } from '../records.js'
import { type SimulatedLoad, simulateLoad } from '../simulated/cluster.js'
import { contended, type MakeRequest, plain, transactions } from '../simulated/requests.js'

export interface SimulatedOptions {
  readonly virtualMs: number
}

/** Enough for a million operations a second with every processor less than half busy. */
export const FLEET = { nodes: 256, coordinators: 96 } as const
const WARMUP_MICROS = 5_000
const SEED = 1
/** Of real time, for an item of a transaction that writes; reads take a fraction of it. */
const ITEM_MS = 0.2
const READ_SHARE = 0.25
const OPEN_MS = 150

const OPERATIONS_PER_SECOND_MAX = 1_000_000
const OPERATIONS_PER_SECOND = [100_000, 250_000, 500_000, OPERATIONS_PER_SECOND_MAX]
const THROUGHPUT_STRETCH_MAX = 4
const TRANSACTION_ITEMS = 3
const MIXES: ReadonlyMap<string, number> = new Map([
  ['reads', 1],
  ['writes', 0],
  ['half of each', 0.5],
])
const SIZES = [3, 10, 25, 50, 100]
/** Large transactions are few in a second, and a percentile needs many. */
const SIZE_STRETCH_MAX = 4
const SIZE_OF_STRETCH = 25
const SIZED_ITEMS_PER_SECOND = 1_000_000
const PLAIN_PER_SECOND = 100_000
const CONTENDED_PER_SECOND_MAX = 100_000
const CONTENDED_PER_SECOND = [10_000, 25_000, 50_000, CONTENDED_PER_SECOND_MAX]
const CONTENDED_ITEMS = 10

type Point = Pick<RecordOf<'simulated'>, 'experiment' | 'mix' | 'value'> & {
  readonly requestsPerSecond: number
  readonly itemsPerSecond: number
  readonly request: MakeRequest
  /** Times the usual virtual time, where there are few requests in it. */
  readonly stretch?: number
}

export function simulatedGroup({ virtualMs }: SimulatedOptions): BenchGroup {
  return groupOf({
    name: 'simulated',
    setupMs: 0,
    units: points().flatMap((point) =>
      (['all', 'none'] as const).map((rules) => unitOf(point, rules, virtualMs * (point.stretch ?? 1))),
    ),
    open: () => Promise.resolve(),
    close: () => Promise.resolve(),
  })
}

function points(): readonly Point[] {
  const throughput = [...MIXES].flatMap(([mix, readShare]) =>
    OPERATIONS_PER_SECOND.map((value): Point => ({
      experiment: 'throughput',
      mix,
      value,
      itemsPerSecond: value,
      requestsPerSecond: value / TRANSACTION_ITEMS,
      request: transactions(TRANSACTION_ITEMS, readShare),
      stretch: Math.min(THROUGHPUT_STRETCH_MAX, OPERATIONS_PER_SECOND_MAX / value),
    })),
  )
  const size = SIZES.flatMap((value) =>
    ['reads', 'writes'].map((mix): Point => ({
      experiment: 'size',
      mix,
      value,
      itemsPerSecond: SIZED_ITEMS_PER_SECOND,
      requestsPerSecond: SIZED_ITEMS_PER_SECOND / value,
      request: transactions(value, mix === 'reads' ? 1 : 0),
      stretch: Math.min(SIZE_STRETCH_MAX, Math.max(1, value / SIZE_OF_STRETCH)),
    })),
  )
  const single = (['GetItem', 'TransactGetItems', 'PutItem', 'TransactWriteItems'] as const).map(
    (mix): Point => ({
      experiment: 'plain',
      mix,
      value: PLAIN_PER_SECOND,
      itemsPerSecond: PLAIN_PER_SECOND,
      requestsPerSecond: PLAIN_PER_SECOND,
      request: plain(mix),
    }),
  )
  const contention = (['A', 'B', 'C'] as const).flatMap((mix) =>
    CONTENDED_PER_SECOND.map((value): Point => ({
      experiment: 'contention',
      mix,
      value,
      itemsPerSecond: value * CONTENDED_ITEMS,
      requestsPerSecond: value,
      request: contended(mix),
      stretch: CONTENDED_PER_SECOND_MAX / value,
    })),
  )
  return [...throughput, ...size, ...single, ...contention]
}

const isRead = (mix: string): boolean => mix === 'reads' || mix.includes('Get')

function unitOf(
  point: Point,
  rules: SimulatedLoad['rules'],
  virtualMs: number,
): Measurement & { run(): Promise<UnitRecord> } {
  const { experiment, mix, value, itemsPerSecond, requestsPerSecond, request } = point
  return {
    id: `simulated/${experiment}/${mix}/${value}/${rules}`,
    estimateMs:
      OPEN_MS +
      (isRead(mix) ? READ_SHARE : 1) * ITEM_MS * itemsPerSecond * ((virtualMs + WARMUP_MICROS / 1000) / 1000),
    async run() {
      const result = await simulateLoad({
        ...FLEET,
        seed: SEED,
        rules,
        requestsPerSecond,
        warmupMicros: WARMUP_MICROS,
        durationMicros: virtualMs * 1000,
        request,
      })
      return { kind: 'simulated', experiment, rules, mix, value, virtualMs, result }
    },
  }
}
