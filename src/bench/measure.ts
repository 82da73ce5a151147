// One load on one server, with what the server used for it.
import type { Generator } from './load/generator-process.js'
import type { LatencySummary } from './load/latencies.js'
import type { LoadJob } from './load/load.js'
import type { MeasuredServer } from './targets/server.js'
import type { Usage } from './targets/usage.js'

/** One load on one server. */
export interface Measured {
  /** Answers with 200 in a second. */
  readonly perSecond: number
  readonly answers: number
  readonly latency: LatencySummary
  /** Answers other than 200, by name. */
  readonly refusals: Readonly<Record<string, number>>
  /** Of a mix; empty for a single workload. */
  readonly parts: readonly {
    readonly workload: string
    readonly answers: number
    readonly refusals: Readonly<Record<string, number>>
    readonly latency: LatencySummary
  }[]
  /** Due, and never sent: the server did not keep up with an open loop. */
  readonly unsent: number
  /** Of the server for a request; null where it cannot be seen. */
  readonly cpuMicros: number | null
  /** The same of its first process alone: with workers, the one that has the data. Absent in files of earlier versions. */
  readonly firstCpuMicros?: number | null
  readonly writtenBytes: number | null
  /** Absent in files of earlier versions. */
  readonly readBytes?: number | null
  readonly residentBytes: number | null
  /** Of that, what is not a mapped file: LMDB maps the whole index, and those pages the system can take back. */
  readonly ownBytes: number | null
  /** Of the generator for a request. */
  readonly generatorMicros: number
  readonly lateMicrosP99: number
}

export async function measure(
  generator: Generator,
  target: MeasuredServer,
  job: Omit<LoadJob, 'endpoint'>,
  onMeasuring: () => void = () => undefined,
): Promise<Measured> {
  let before: Usage | undefined
  let firstBefore: number | undefined
  const result = await generator.run({ ...job, endpoint: target.endpoint }, () => {
    before = target.usage()
    firstBefore = target.firstCpuMicros?.()
    onMeasuring()
  })
  const after = target.usage()
  const firstAfter = target.firstCpuMicros?.()
  const memory = target.memory()
  const forOne = (used: (usage: Usage) => number): number | null =>
    before === undefined || after === undefined || result.answersSinceMeasuring === 0
      ? null
      : (used(after) - used(before)) / result.answersSinceMeasuring
  const refusals: Record<string, number> = {}
  for (const part of result.parts) {
    for (const [name, count] of Object.entries(part.refusals)) refusals[name] = (refusals[name] ?? 0) + count
  }
  return {
    perSecond: result.perSecond,
    answers: result.answers,
    latency: result.latency,
    refusals,
    parts: result.parts.length > 1 ? result.parts : [],
    unsent: result.unsent,
    cpuMicros: forOne((usage) => usage.cpuMicros),
    firstCpuMicros:
      firstBefore === undefined || firstAfter === undefined || result.answersSinceMeasuring === 0
        ? null
        : (firstAfter - firstBefore) / result.answersSinceMeasuring,
    writtenBytes: forOne((usage) => usage.writtenBytes),
    readBytes: forOne((usage) => usage.readBytes),
    residentBytes: memory?.residentBytes ?? null,
    ownBytes: memory?.ownBytes ?? null,
    generatorMicros: result.generatorMicros,
    lateMicrosP99: result.lateMicrosP99,
  }
}
