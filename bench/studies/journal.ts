// Ways to make a frame durable: write and fdatasync, or one write to a file opened with O_DSYNC; into a file that grows,
// or into one whose room was prepared.
//   npx tsc && node dist/bench/studies/journal.js [--rounds 5]
import {
  closeSync,
  constants,
  fdatasync,
  fsyncSync,
  mkdtempSync,
  openSync,
  rmSync,
  write,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { parseArgs, promisify } from 'node:util'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })
const writeAll = promisify(write)
const syncData = promisify(fdatasync)
const folder = mkdtempSync(join(tmpdir(), 'seriatim-bench-'))

interface Variant {
  readonly dsync: boolean
  readonly prepared: boolean
}

/** Latencies in milliseconds, sorted. */
async function run({ dsync, prepared }: Variant, frameBytes: number, frames: number): Promise<number[]> {
  const path = join(folder, 'journal')
  if (prepared) {
    const file = openSync(path, 'w')
    const zeros = Buffer.alloc(1 << 20)
    for (let done = 0; done < frameBytes * frames; done += zeros.length) writeSync(file, zeros)
    fsyncSync(file)
    closeSync(file)
  }
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT | (dsync ? constants.O_DSYNC : 0))
  const frame = Buffer.alloc(frameBytes, 7)
  const latencies: number[] = []
  for (let i = 0; i < frames; i++) {
    const begin = performance.now()
    await writeAll(file, frame, 0, frameBytes, i * frameBytes)
    if (!dsync) await syncData(file)
    latencies.push(performance.now() - begin)
  }
  closeSync(file)
  rmSync(path)
  return latencies.toSorted((a, b) => a - b)
}

const variants: Variant[] = [
  { dsync: false, prepared: false },
  { dsync: false, prepared: true },
  { dsync: true, prepared: false },
  { dsync: true, prepared: true },
]
try {
  for (const [frameBytes, frames] of [
    [1000, 500],
    [64_000, 250],
  ] as const) {
    // In turn, and the best of the rounds, because other users of the disk only ever make it slower.
    const best = variants.map(() => ({ p50: Infinity, p99: Infinity }))
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const [at, variant] of variants.entries()) {
        const latencies = await run(variant, frameBytes, frames)
        const seen = best[at] as { p50: number; p99: number }
        seen.p50 = Math.min(seen.p50, latencies[frames >> 1] as number)
        seen.p99 = Math.min(seen.p99, latencies[Math.floor(frames * 0.99)] as number)
      }
    }
    for (const [at, { dsync, prepared }] of variants.entries()) {
      const { p50, p99 } = best[at] as { p50: number; p99: number }
      console.log(
        `${String(frameBytes).padStart(6)} bytes  ${dsync ? 'O_DSYNC          ' : 'write + fdatasync'}  ` +
          `${prepared ? 'prepared' : 'growing '}  p50 ${p50.toFixed(3)} ms  p99 ${p99.toFixed(3)} ms`,
      )
    }
  }
} finally {
  rmSync(folder, { recursive: true })
}
