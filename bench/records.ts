// What a run leaves behind: one record for each unit of work, by its id, in one JSON file. Tables, charts and
// docs/performance.md are made of it, and a run that was interrupted goes on from it.
import type { LatencySummary } from '../src/bench/load/latencies.js'
import type { Machine } from '../src/bench/machine.js'
import type { Measured } from '../src/bench/measure.js'
import type { SelfTimes } from './profile/self-times.js'
import type { SimulatedResult } from './simulated/cluster.js'

export type UnitRecord =
  | {
      readonly kind: 'peer'
      readonly target: string
      readonly workload: string
      readonly clients: number
      /** Of an open loop; null: closed. */
      readonly rate: number | null
      readonly round: number
      readonly measured: Measured
    }
  | {
      /** One of the dearest requests that the limits let through, or of the dearest to refuse. */
      readonly kind: 'worst'
      readonly request: string
      readonly expected: 'valid' | 'refused'
      readonly status: number
      /** Of the main thread: in all, and at a stretch, during which all others wait. */
      readonly activeMs: number
      readonly longestMs: number
      readonly round: number
    }
  | {
      readonly kind: 'start'
      readonly target: string
      readonly startMs: number
      /** When it has been left alone for a while. */
      readonly residentBytes: number | null
    }
  | {
      /** On files that the page cache does not hold, from the start of the process on. */
      readonly kind: 'cold'
      readonly target: string
      readonly workload: string
      readonly clients: number
      readonly items: number
      readonly round: number
      readonly startMs: number
      readonly measured: Measured
    }
  | {
      readonly kind: 'append'
      readonly frameBytes: number
      readonly round: number
      readonly perSecond: number
      readonly latency: LatencySummary
    }
  | { readonly kind: 'generator'; readonly round: number; readonly measured: Measured }
  | {
      /** §5.1: latency at a share of the peak rate. */
      readonly kind: 'throughput'
      readonly variant: string
      readonly mix: string
      /** Of the peak, which a closed loop of 64 clients found just before. */
      readonly share: number
      readonly peakPerSecond: number
      readonly rate: number
      readonly measured: Measured
    }
  | {
      /** §5.2: latency by the operations of a transaction, the rate of items being the same. */
      readonly kind: 'size'
      readonly variant: string
      readonly operation: string
      readonly items: number
      readonly itemsPerSecond: number
      readonly round: number
      readonly measured: Measured
    }
  | {
      /** §5.3: one operation, plain and as a transaction, at the same rate. */
      readonly kind: 'plain'
      readonly variant: string
      readonly workload: string
      readonly rate: number
      readonly round: number
      readonly measured: Measured
    }
  | {
      /** §5.4: cancellations of workloads A, B and C. */
      readonly kind: 'contention'
      readonly variant: string
      readonly workload: 'A' | 'B' | 'C'
      readonly hotItems: number
      readonly rate: number
      readonly measured: Measured
    }
  | {
      /** The same rate for all, so that latencies can be compared. */
      readonly kind: 'equal'
      readonly target: string
      readonly workload: string
      readonly rate: number
      readonly round: number
      readonly measured: Measured
    }
  | {
      /** One node, at a share of its peak rate. */
      readonly kind: 'half'
      readonly target: string
      readonly workload: string
      readonly share: number
      readonly peakPerSecond: number
      readonly rate: number
      readonly round: number
      readonly measured: Measured
    }
  | {
      /** A transaction beside a single operation. */
      readonly kind: 'cost'
      readonly target: string
      readonly nodes: number
      /** The two, as one name. */
      readonly pair: string
      readonly side: 'plain' | 'transaction'
      readonly clients: number
      readonly round: number
      readonly measured: Measured
    }
  | {
      readonly kind: 'profile'
      readonly target: string
      readonly workload: string
      readonly measured: Measured
      /** Of the server's main thread while it was measured. */
      readonly times: SelfTimes
    }
  | {
      readonly kind: 'growth'
      readonly axis: GrowthAxis
      readonly value: number
      readonly target: string
      readonly workload: string
      readonly measured: Measured
      /** Of the folder; null in memory. */
      readonly folderBytes: number | null
      /** With the tables as they are by then; null where it was not looked at. */
      readonly restartMs: number | null
    }
  | {
      /** Processor time of one call, for the parameters of the simulation. */
      readonly kind: 'fit'
      readonly step: 'read' | 'write in one round' | 'prepare and commit' | 'message'
      readonly items: number
      readonly round: number
      readonly micros: number
    }
  | {
      /** An experiment of section 5 in virtual time. */
      readonly kind: 'simulated'
      readonly experiment: 'throughput' | 'size' | 'plain' | 'contention'
      readonly rules: 'all' | 'none'
      readonly mix: string
      /** Operations a second, items of a transaction, or transactions a second. */
      readonly value: number
      readonly virtualMs: number
      readonly result: SimulatedResult
    }
  /** What another command of the checkout has printed. */
  | { readonly kind: 'output'; readonly name: string; readonly command: string; readonly text: string }
  | { readonly kind: 'missing'; readonly target: string; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }

export const GROWTH_AXES = ['items', 'item bytes', 'indexes', 'hot keys', 'clients'] as const
export type GrowthAxis = (typeof GROWTH_AXES)[number]

export interface RunFile {
  readonly format: 'seriatim-bench-1'
  readonly seriatim: string
  readonly command: string
  readonly startedAt: string
  /** When it was gone on with, and what was left to measure then. */
  readonly resumed?: readonly {
    readonly at: string
    readonly seriatim: string
    readonly parts: readonly string[]
  }[]
  readonly machine: Machine
  readonly records: Readonly<Record<string, UnitRecord>>
}

export type RecordOf<Kind extends UnitRecord['kind']> = Extract<UnitRecord, { readonly kind: Kind }>

export function recordsOf<Kind extends UnitRecord['kind']>(
  records: Readonly<Record<string, UnitRecord>>,
  kind: Kind,
): readonly RecordOf<Kind>[] {
  return Object.values(records).filter((record): record is RecordOf<Kind> => record.kind === kind)
}
