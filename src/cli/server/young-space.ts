// Bounds the part of the heap in which new objects begin. V8 lets it grow to 32 MB (Node 20) or to more than 130 MB
// (Node 24) under load. A request leaves nothing behind, so a few MB serve it as well, and the rest is memory for nothing.
//
// It takes an eighth to a sixth off the resident memory under load, at the same processor time (docs/adr/0031, with the
// command).
//
// Its limit is fixed when V8 starts, and a command line cannot be asked to give Node a flag first. The factor by which it
// grows may be changed at any time: it is 1 while the space is as large as we want it. V8 makes the space smaller when
// little happens, and then it may grow again.
import { PerformanceObserver } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Both halves of it, for each node: transactions over several nodes leave more behind until they are finished. */
const NODE_BYTES = 8 * 1024 * 1024
/** Less makes all operations of one node a tenth slower, the double gives them nothing (docs/adr/0019). */
const BYTES_MIN = 16 * 1024 * 1024
const GROWTH_FACTOR = 2

export const youngSpaceBytesFor = (nodes: number): number => Math.max(BYTES_MIN, nodes * NODE_BYTES)

/** Holds for the process. Whoever sets a size of his own for Node has it. */
export function boundYoungSpace(bytesMax: number): void {
  const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
  if (given.some((option) => /semi[-_]space/.test(option))) return
  let factor = GROWTH_FACTOR
  const look = (): void => {
    const wanted = youngSpaceBytes() < bytesMax ? GROWTH_FACTOR : 1
    if (wanted === factor) return
    factor = wanted
    setFlagsFromString(growthFactor(factor))
  }
  look()
  new PerformanceObserver(look).observe({ entryTypes: ['gc'] })
  // The heap of a new thread begins with V8's own factor, for all of the process.
  process.on('worker', (thread) => thread.once('online', () => setFlagsFromString(growthFactor(factor))))
}

const growthFactor = (factor: number): string => `--semi-space-growth-factor=${factor}`

/** What it takes now. */
export function youngSpaceBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
}

/** The number of nodes that a command line asks for, before anything has looked whether it is in order. */
export function nodesIn(args: readonly string[]): number {
  const { values } = parseArgs({ args: [...args], options: { nodes: { type: 'string' } }, strict: false })
  return Math.max(1, Math.floor(Number(values.nodes)) || 1)
}
