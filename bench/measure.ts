// One load on one server, with what the server used for it.
import type { Generator } from './load/generator-process.js'
import type { LoadJob } from './load/load.js'
import type { Measured } from './records.js'
import type { Target } from './targets/target.js'
import type { Usage } from './targets/usage.js'

export async function measure(
  generator: Generator,
  target: Target,
  job: Omit<LoadJob, 'endpoint'>,
  onMeasuring: () => void = () => undefined,
): Promise<Measured> {
  let before: Usage | undefined
  const result = await generator.run({ ...job, endpoint: target.endpoint }, () => {
    before = target.usage()
    onMeasuring()
  })
  const after = target.usage()
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
    writtenBytes: forOne((usage) => usage.writtenBytes),
    readBytes: forOne((usage) => usage.readBytes),
    residentBytes: memory?.residentBytes ?? null,
    ownBytes: memory?.ownBytes ?? null,
    generatorMicros: result.generatorMicros,
    lateMicrosP99: result.lateMicrosP99,
  }
}
