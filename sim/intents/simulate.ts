// Many small worlds, each from a seed of its own.
import { Tally } from '../faults.js'
import { WORKLOADS } from './workloads.js'
import { runWorld, type WorldReport } from './world.js'

export interface IntentsSimulation {
  readonly seed: number
  readonly transactions: number
  readonly workloads?: readonly string[]
  readonly stopAtAnomaly?: boolean
  readonly onWorld?: (report: WorldReport) => void
}

export interface IntentsReport {
  readonly worlds: number
  readonly tally: Tally
  readonly events: number
  readonly traceHash: string
  readonly broken: readonly WorldReport[]
}

export const WORLD_TRANSACTIONS = 400
const BROKEN_MAX = 5

export async function simulateIntents(options: IntentsSimulation): Promise<IntentsReport> {
  const workloads = options.workloads ?? Object.keys(WORKLOADS)
  const tally = new Tally()
  const broken: WorldReport[] = []
  let [worlds, events, hash] = [0, 0, 0]
  for (let left = options.transactions; left > 0 && broken.length < BROKEN_MAX; left -= WORLD_TRANSACTIONS) {
    const seed = options.seed + worlds
    const workload = workloads[seed % workloads.length] as string
    const report = await runWorld(seed, workload, Math.min(left, WORLD_TRANSACTIONS))
    worlds++
    events += report.events
    hash = (Math.imul(hash, 31) + Number.parseInt(report.traceHash.slice(0, 8), 16)) >>> 0
    tally.addAll(report.tally)
    if (report.anomalies.length > 0) broken.push(report)
    options.onWorld?.(report)
    if (options.stopAtAnomaly === true && broken.length > 0) break
  }
  return { worlds, tally, events, traceHash: hash.toString(16).padStart(8, '0'), broken }
}
