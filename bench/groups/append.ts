// The ceiling of anything durable: a loop that appends a frame to a file and syncs it, and does nothing else. A frame of
// 900 bytes is one item at a time; one of 64 items is what 64 clients can share.
import { closeSync, fdatasync, mkdtempSync, openSync, rmSync, write } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type BenchGroup, groupOf } from '../bench.js'
import { Latencies, type LatencySummary } from '../../src/bench/load/latencies.js'
import type { UnitRecord } from '../records.js'
import { ITEM_BYTES } from '../../src/bench/load/workloads.js'

const FRAME_ITEMS = [1, 64]
const writeAt = promisify(write)
const syncData = promisify(fdatasync)

export interface AppendOptions {
  readonly rounds: number
  readonly durationMs: number
}

export function appendGroup({ rounds, durationMs }: AppendOptions): BenchGroup {
  return groupOf({
    name: 'append',
    setupMs: 0,
    units: Array.from({ length: rounds }, (_, at) =>
      FRAME_ITEMS.map((items) => {
        const frameBytes = items * ITEM_BYTES
        const round = at + 1
        return {
          id: `append/${frameBytes} bytes/round ${round}`,
          estimateMs: durationMs,
          async run(folder: string): Promise<UnitRecord> {
            const { perSecond, latency } = await appendLoop(join(folder, 'frames'), frameBytes, durationMs)
            return { kind: 'append', frameBytes, round, perSecond, latency }
          },
        }
      }),
    ).flat(),
    open: () => Promise.resolve(mkdtempSync(join(tmpdir(), 'seriatim-bench-'))),
    close: (folder) => Promise.resolve(rmSync(folder, { recursive: true, force: true })),
  })
}

async function appendLoop(
  path: string,
  frameBytes: number,
  durationMs: number,
): Promise<{ readonly perSecond: number; readonly latency: LatencySummary }> {
  const file = openSync(path, 'w')
  const frame = Buffer.alloc(frameBytes, 7)
  const latencies = new Latencies()
  const startMs = performance.now()
  let nowMs = startMs
  try {
    for (let position = 0; nowMs - startMs < durationMs; position += frameBytes) {
      await writeAt(file, frame, 0, frameBytes, position)
      await syncData(file)
      const doneMs = performance.now()
      latencies.record((doneMs - nowMs) * 1000)
      nowMs = doneMs
    }
  } finally {
    closeSync(file)
    rmSync(path)
  }
  return { perSecond: (latencies.count * 1000) / (nowMs - startMs), latency: latencies.summary() }
}
