// How much is measured: `quick` in about three minutes, `figures` and `judged` (the lines that the store is judged by) in about
// fifteen, `page` what docs/performance.md and its appendix show, in less than forty, and `full` all of it. `try` does
// everything for a moment, to see that it works.
import type { TargetName } from './targets/commands.js'
import { TARGET_NAMES } from './targets/commands.js'
import { JUDGED_WORKLOADS } from '../src/bench/load/workloads.js'

export const PRESET_NAMES = ['quick', 'figures', 'judged', 'page', 'full', 'try'] as const
export type PresetName = (typeof PRESET_NAMES)[number]

/** The parts of a run, in the order they are run. */
export const PARTS = [
  'generator',
  'start',
  'cold',
  'append',
  'worst',
  'peers',
  'equal',
  'half',
  'costs',
  'profile',
  'throughput',
  'size',
  'plain',
  'contention',
  'fit',
  'simulated',
  'growth',
] as const
export type Part = (typeof PARTS)[number]

export interface BesideClients {
  readonly clients: readonly number[]
  /** Names of workloads; all if absent. */
  readonly operations?: readonly string[]
  readonly rounds: number
  readonly warmupMs: number
  readonly durationMs: number
}

export interface Settings {
  readonly parts: readonly Part[]
  readonly targets: readonly TargetName[]
  readonly endpoint?: string
  /** Workloads whose name contains one of these; all if there is none. */
  readonly operations: readonly string[]
  readonly clients: readonly number[]
  /** Other numbers of clients that are compared as well, for a shorter time. */
  readonly beside?: BesideClients
  readonly rate?: number
  readonly rounds: number
  /** Instead, of the operations that the store is not judged by. */
  readonly otherRounds?: number
  readonly warmupMs: number
  /** Before a server is measured with an operation for the first time: until then its compiler has not seen it. */
  readonly firstWarmupMs: number
  readonly durationMs: number
  /** Instead, for the operations by whose rate the store is judged: what is written is brought into the index within it. */
  readonly judgedMs?: number
  readonly items: number
  readonly partitions: number
  /** From the first answer of a server until its memory is looked at. */
  readonly idleMs: number
  /** With files that the page cache does not hold: how large the tables are. */
  readonly cold: { readonly items: number; readonly partitions: number; readonly rounds: number }
  /** Virtual time of each simulated experiment. */
  readonly virtualMs: number
  /** The experiments, which take longer than a comparison: latencies need many requests. */
  readonly experiments: {
    readonly warmupMs: number
    readonly durationMs: number
    readonly rounds: number
    /** Of those whose latency the store is judged by. */
    readonly judgedRounds: number
  }
  /** Growth: sizes of the table, and who is measured. */
  readonly tableItems: readonly number[]
  readonly growing: readonly TargetName[]
}

const QUICK_OPERATIONS = [
  'GetItem',
  'PutItem',
  'UpdateItem',
  'Query',
  'TransactGetItems of 3',
  'TransactWriteItems of 3',
]

const ONE_CLIENT_OPERATIONS = ['GetItem', 'PutItem', 'TransactWriteItems of 3']

/** As many rounds as a stable median takes on a quiet machine. */
const JUDGED_TIMES = {
  clients: [64],
  rounds: 7,
  warmupMs: 250,
  firstWarmupMs: 1500,
  durationMs: 500,
  judgedMs: 1200,
  items: 10_000,
  partitions: 100,
  idleMs: 500,
  cold: { items: 200_000, partitions: 5000, rounds: 3 },
  virtualMs: 10,
  experiments: { warmupMs: 300, durationMs: 800, rounds: 3, judgedRounds: 7 },
} as const

export const PRESETS: Readonly<Record<PresetName, Settings>> = {
  quick: {
    parts: ['generator', 'start', 'append', 'peers', 'growth'],
    targets: ['bare', 'seriatim-memory', 'seriatim-disk', 'dynalite-memory', 'local-disk'],
    operations: QUICK_OPERATIONS,
    clients: [64],
    rounds: 3,
    warmupMs: 250,
    firstWarmupMs: 600,
    durationMs: 500,
    items: 10_000,
    partitions: 100,
    idleMs: 500,
    cold: { items: 50_000, partitions: 1000, rounds: 1 },
    virtualMs: 10,
    experiments: { warmupMs: 200, durationMs: 400, rounds: 1, judgedRounds: 1 },
    tableItems: [10_000, 100_000],
    growing: ['seriatim-disk'],
  },
  figures: {
    parts: PARTS,
    targets: [
      'bare',
      'seriatim-memory',
      'seriatim-disk',
      'seriatim-disk-4',
      'dynalite-memory',
      'dynalite-disk',
      'local-disk',
    ],
    operations: [],
    clients: [64],
    rounds: 3,
    warmupMs: 200,
    firstWarmupMs: 500,
    durationMs: 400,
    items: 10_000,
    partitions: 100,
    idleMs: 500,
    cold: { items: 50_000, partitions: 1000, rounds: 1 },
    virtualMs: 10,
    experiments: { warmupMs: 250, durationMs: 500, rounds: 2, judgedRounds: 2 },
    tableItems: [10_000, 100_000, 1_000_000],
    growing: ['seriatim-disk'],
  },
  judged: {
    ...JUDGED_TIMES,
    parts: ['worst', 'peers', 'equal', 'half'],
    targets: ['bare', 'seriatim-memory', 'seriatim-disk', 'dynalite-memory', 'local-disk'],
    operations: JUDGED_WORKLOADS,
    tableItems: [],
    growing: [],
  },
  page: {
    ...JUDGED_TIMES,
    parts: PARTS,
    targets: [
      'bare',
      'seriatim-memory',
      'seriatim-disk',
      'dynoxide-memory',
      'dynoxide-disk',
      'dynalite-memory',
      'local-disk',
    ],
    operations: [],
    otherRounds: 3,
    beside: {
      clients: [1],
      operations: ONE_CLIENT_OPERATIONS,
      rounds: 5,
      warmupMs: 150,
      durationMs: 500,
    },
    tableItems: [10_000, 100_000, 1_000_000],
    growing: ['seriatim-disk'],
  },
  full: {
    parts: PARTS,
    targets: TARGET_NAMES,
    operations: [],
    clients: [1, 16, 64],
    rounds: 5,
    warmupMs: 500,
    firstWarmupMs: 3000,
    durationMs: 1500,
    items: 10_000,
    partitions: 100,
    idleMs: 2000,
    cold: { items: 1_000_000, partitions: 10_000, rounds: 5 },
    virtualMs: 100,
    experiments: { warmupMs: 500, durationMs: 3000, rounds: 5, judgedRounds: 5 },
    tableItems: [10_000, 100_000, 1_000_000, 10_000_000],
    growing: ['seriatim-disk', 'seriatim-memory'],
  },
  try: {
    parts: PARTS,
    targets: [
      'bare',
      'seriatim-memory',
      'seriatim-disk',
      'dynoxide-memory',
      'dynoxide-disk',
      'dynalite-memory',
      'local-disk',
    ],
    operations: [],
    clients: [64],
    beside: { clients: [1], operations: ONE_CLIENT_OPERATIONS, rounds: 1, warmupMs: 10, durationMs: 30 },
    rounds: 1,
    warmupMs: 20,
    firstWarmupMs: 20,
    durationMs: 50,
    items: 1000,
    partitions: 20,
    idleMs: 20,
    cold: { items: 1000, partitions: 20, rounds: 1 },
    virtualMs: 1,
    experiments: { warmupMs: 20, durationMs: 50, rounds: 1, judgedRounds: 1 },
    tableItems: [1000, 10_000],
    growing: ['seriatim-disk'],
  },
}
