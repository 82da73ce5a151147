// What a process and those that it has started have used so far, where there is a /proc to ask.
import { readdirSync, readFileSync } from 'node:fs'

export interface Usage {
  readonly cpuMicros: number
  /** That the process caused to be sent to storage. */
  readonly writtenBytes: number
  /** That it caused to be fetched from storage: what the system's cache did not hold. */
  readonly readBytes: number
}

const CLOCK_TICKS_PER_SECOND = 100
const STAT_USER = 11
const STAT_SYSTEM = 12

/** Undefined where there is no /proc, or it does not tell this user. */
export function usageOf(pid: number): Usage | undefined {
  return summed(pid, ownUsage, (one, other) => ({
    cpuMicros: one.cpuMicros + other.cpuMicros,
    writtenBytes: one.writtenBytes + other.writtenBytes,
    readBytes: one.readBytes + other.readBytes,
  }))
}

/** Without those that it has started. */
export function ownUsage(pid: number): Usage | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    const ticks = Number(fields[STAT_USER]) + Number(fields[STAT_SYSTEM])
    const io = readFileSync(`/proc/${pid}/io`, 'utf8')
    return {
      cpuMicros: (ticks / CLOCK_TICKS_PER_SECOND) * 1e6,
      writtenBytes: Number(/^write_bytes: (\d+)/m.exec(io)?.[1] ?? 0),
      readBytes: Number(/^read_bytes: (\d+)/m.exec(io)?.[1] ?? 0),
    }
  } catch {
    return undefined
  }
}

export interface Memory {
  readonly residentBytes: number
  /** Without mapped files. */
  readonly ownBytes: number
}

/** What several processes share counts for each of them. */
export function memoryOf(pid: number): Memory | undefined {
  return summed(pid, ownMemory, (one, other) => ({
    residentBytes: one.residentBytes + other.residentBytes,
    ownBytes: one.ownBytes + other.ownBytes,
  }))
}

function ownMemory(pid: number): Memory | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const bytes = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? NaN) * 1024
    const residentBytes = bytes('VmRSS')
    return { residentBytes, ownBytes: residentBytes - bytes('RssFile') }
  } catch {
    return undefined
  }
}

function summed<T extends object>(
  pid: number,
  of: (pid: number) => T | undefined,
  add: (one: T, other: T) => T,
): T | undefined {
  const own = of(pid)
  if (own === undefined) return undefined
  return startedBy(pid).reduce((sum, child) => {
    const more = summed(child, of, add)
    return more === undefined ? sum : add(sum, more)
  }, own)
}

function startedBy(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    )
  } catch {
    return []
  }
}
