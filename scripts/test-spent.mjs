// What a process has spent so far.
import { existsSync, readFileSync } from 'node:fs'

const STAT = '/proc/self/stat'
const MS_PER_TICK = 10

/** By the clock, and of the processor: that of this process and, on Linux, of those that it has waited for. */
export function spentMs() {
  if (!existsSync(STAT))
    return { wallMs: Date.now(), cpuMs: (process.cpuUsage().user + process.cpuUsage().system) / 1000 }
  // Behind the name of the program, which may hold anything: user, system, and both of the children.
  const ticks = readFileSync(STAT, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ')
    .slice(11, 15)
  return { wallMs: Date.now(), cpuMs: MS_PER_TICK * ticks.reduce((sum, each) => sum + Number(each), 0) }
}
