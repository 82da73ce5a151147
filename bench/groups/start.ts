// How long a server takes from the start of its process to its first answer, and the memory it holds when it is then left
// alone for a while.
import { setTimeout as sleep } from 'node:timers/promises'
import { type BenchGroup, groupOf } from '../bench.js'
import type { UnitRecord } from '../records.js'
import type { TargetName } from '../targets/commands.js'
import { startTarget } from '../targets/target.js'

export interface StartOptions {
  readonly targets: readonly TargetName[]
  readonly rounds: number
  /** From the first answer until its memory is looked at. */
  readonly idleMs: number
}

const START_MS = 400
const START_JAVA_MS = 2000

export function startGroup({ targets, rounds, idleMs }: StartOptions): BenchGroup {
  return groupOf({
    name: 'start',
    setupMs: 0,
    units: Array.from({ length: rounds }, (_, round) =>
      targets.map((target) => ({
        id: `start/${target}/round ${round + 1}`,
        estimateMs: (target.startsWith('local') ? START_JAVA_MS : START_MS) + idleMs,
        run: () => measureStart(target, idleMs),
      })),
    ).flat(),
    open: () => Promise.resolve(),
    close: () => Promise.resolve(),
  })
}

async function measureStart(name: TargetName, idleMs: number): Promise<UnitRecord> {
  const target = await startTarget(name, { build: 'bundle' })
  if ('missing' in target) return { kind: 'missing', target: name, reason: target.missing }
  const { startMs = NaN } = target
  await sleep(idleMs)
  const residentBytes = target.memory()?.residentBytes ?? null
  await target.stop()
  return { kind: 'start', target: name, startMs, residentBytes }
}
