// The machine that measures: only figures of one machine can be compared.
import { cpus, release, totalmem, type } from 'node:os'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryBytes: number
  readonly system: string
  readonly node: string
}

export function thisMachine(): Machine {
  const all = cpus()
  return {
    cpu: all[0]?.model ?? 'unknown',
    cores: all.length,
    memoryBytes: totalmem(),
    system: `${type()} ${release()}`,
    node: process.version,
  }
}
