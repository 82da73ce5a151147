// What a process has used so far, where there is a /proc to ask.
import { readFileSync } from 'node:fs'

export interface Usage {
  readonly cpuMicros: number
  /** That the process caused to be sent to storage. */
  readonly writtenBytes: number
}

const CLOCK_TICKS_PER_SECOND = 100
const STAT_USER = 11
const STAT_SYSTEM = 12

/** Undefined where there is no /proc, or it does not tell this user. */
export function usageOf(pid: number): Usage | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    const ticks = Number(fields[STAT_USER]) + Number(fields[STAT_SYSTEM])
    const io = readFileSync(`/proc/${pid}/io`, 'utf8')
    return {
      cpuMicros: (ticks / CLOCK_TICKS_PER_SECOND) * 1e6,
      writtenBytes: Number(/^write_bytes: (\d+)/m.exec(io)?.[1] ?? 0),
    }
  } catch {
    return undefined
  }
}

export function residentBytesOf(pid: number): number | undefined {
  try {
    const kilobytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) * 1024
  } catch {
    return undefined
  }
}
