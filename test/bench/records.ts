// Records of a run that never was, for tests of what is made of them.
import type { Measured } from '../../src/bench/measure.js'
import type { LatencySummary } from '../../src/bench/load/latencies.js'
import type { RunFile, UnitRecord } from '../../bench/records.js'

export const latency = (p50Micros: number, p99Micros = 5 * p50Micros): LatencySummary => ({
  count: 100,
  meanMicros: p50Micros,
  p50Micros,
  p90Micros: 2 * p50Micros,
  p99Micros,
  p999Micros: 6 * p50Micros,
  maxMicros: 7 * p50Micros,
})

export const measured = (perSecond: number, cpuMicros: number, over: Partial<Measured> = {}): Measured => ({
  perSecond,
  answers: perSecond,
  latency: latency(1000),
  refusals: {},
  parts: [],
  unsent: 0,
  cpuMicros,
  writtenBytes: 0,
  residentBytes: 50e6,
  ownBytes: 40e6,
  generatorMicros: 10,
  lateMicrosP99: 5,
  ...over,
})

export function peer(
  target: string,
  workload: string,
  round: number,
  result: Measured,
): [string, UnitRecord] {
  return [
    `peers/${workload}/64 clients/${target}/round ${round}`,
    { kind: 'peer', target, workload, clients: 64, rate: null, round, measured: result },
  ]
}

export const runOf = (...records: readonly [string, UnitRecord][]): RunFile => ({
  format: 'seriatim-bench-1',
  seriatim: '0.0.0',
  command: 'seriatim bench --figures',
  startedAt: '2026-01-01T00:00:00.000Z',
  machine: { cpu: 'a cpu', cores: 2, memoryBytes: 16e9, system: 'an os', node: 'v20.0.0' },
  records: Object.fromEntries(records),
})
