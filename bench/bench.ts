// Benchmarks that anyone can run again: how fast, against what, and how it grows.
//
//   seriatim bench --> plan: groups of units, with the time each will take
//                        |
//                        v  group by group; what the run file already holds is left out
//   +-- a group ------------------------------------------------------------------------------+
//   |  open: start its servers, fill them        run: one unit, one record        close: stop  |
//   +-----------|-----------------------------------------|------------------------------------+
//               v                                         v
//     targets/: Seriatim, peers, bare server     load/: the generator, a process of its own,
//     each a process of its own                  over raw keep-alive connections
//                        |
//                        v
//   run file (JSON, written after each unit) --> tables, charts, docs/performance.md
//
// Reads the world: it is there to measure it. May import everything; nothing imports it but the command line.
import { Generator } from '../src/bench/load/generator-process.js'
import { TimeLeft } from '../src/bench/time-left.js'
import type { UnitRecord } from './records.js'

export interface Measurement {
  /** Unique in a run; the key of its record. */
  readonly id: string
  readonly estimateMs: number
}

export interface Session {
  run(unit: Measurement): Promise<UnitRecord>
  close(): Promise<void>
}

export type Records = Readonly<Record<string, UnitRecord>>

export interface BenchGroup {
  readonly name: string
  /** To start and fill what it measures. */
  readonly setupMs: number
  readonly units: readonly Measurement[]
  /** With what the run has measured so far, of an earlier part of it too: rates that were found are kept to. */
  open(generator: Generator, done: Records): Promise<Session>
}

/** A group whose units know what they do with what the group has opened. */
export function groupOf<State>({
  name,
  setupMs,
  units,
  open,
  close,
}: {
  readonly name: string
  readonly setupMs: number
  readonly units: readonly (Measurement & { run(state: State): Promise<UnitRecord> })[]
  readonly open: (generator: Generator, done: Records) => Promise<State>
  readonly close: (state: State) => Promise<void>
}): BenchGroup {
  const byId = new Map(units.map((unit) => [unit.id, unit]))
  return {
    name,
    setupMs,
    units,
    async open(generator, done) {
      const state = await open(generator, done)
      return {
        run: ({ id }) => byId.get(id)!.run(state),
        close: () => close(state),
      }
    },
  }
}

export interface RunOptions {
  readonly groups: readonly BenchGroup[]
  /** Records of an interrupted run. */
  readonly done: Records
  /** Called with all records after each unit. */
  readonly onRecord: (records: Records) => void
  readonly onProgress: (line: string) => void
  readonly signal: AbortSignal
}

/** Runs what is not done yet. A unit that fails leaves a record that says so, and the run goes on. */
export async function runGroups(options: RunOptions): Promise<Records> {
  const records: Record<string, UnitRecord> = { ...options.done }
  const isLeft = ({ id }: Measurement): boolean => records[id] === undefined || records[id].kind === 'failed'
  const left = options.groups
    .map((group) => ({ group, units: group.units.filter(isLeft) }))
    .filter(({ units }) => units.length > 0)
  const clock = new TimeLeft(left.reduce((sum, { group, units }) => sum + group.setupMs + sumOf(units), 0))
  for (const { group, units } of left) {
    if (options.signal.aborted) break
    options.onProgress(`${clock.line()}  ${group.name}: setting up`)
    const generator = new Generator()
    try {
      const session = await clock.take(group.setupMs, () => group.open(generator, records))
      try {
        for (const unit of units) {
          if (options.signal.aborted) break
          options.onProgress(`${clock.line()}  ${unit.id}`)
          records[unit.id] = await clock.take(unit.estimateMs, () =>
            session.run(unit).catch((error: unknown) => failed(error)),
          )
          options.onRecord(records)
        }
      } finally {
        await session.close()
      }
    } catch (error) {
      // The group could not be set up, or its servers not be stopped: the others may still be measured.
      options.onProgress(`${group.name}: ${(error as Error).message}`)
      for (const unit of units) records[unit.id] ??= failed(error)
      options.onRecord(records)
    } finally {
      await generator.close()
    }
  }
  return records
}

const failed = (error: unknown): UnitRecord => ({
  kind: 'failed',
  reason: error instanceof Error ? error.message : String(error),
})

const sumOf = (units: readonly Measurement[]): number =>
  units.reduce((sum, { estimateMs }) => sum + estimateMs, 0)
