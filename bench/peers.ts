// Seriatim beside its peers, in one run: rounds take turns, medians count, ratios are what to read. Every server and
// the load generator have a process of their own.
//
//   npm run bench -- [--rounds 5] [--seconds 2] [--clients 64] [--only GetItem] [--json FILE]
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import type { LoadResult } from './http-load.js'
import { startTarget, type Target, type TargetName } from './targets.js'
import { fill, workloads, type Workload } from './workloads.js'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    clients: { type: 'string', default: '64' },
    only: { type: 'string' },
    targets: {
      type: 'string',
      default: 'bare,seriatim-memory,seriatim-disk,dynalite-memory,dynalite-disk,local-memory,local-disk',
    },
    json: { type: 'string' },
  },
})

interface Figures {
  readonly perSecond: number
  readonly p50Micros: number
  readonly p99Micros: number
  readonly cpuMicros: number
}

const rounds = Number(values.rounds)
const results = new Map<string, Map<string, Figures[]>>()
const chosen = workloads.filter(({ name }) => values.only === undefined || name.includes(values.only))

for (let round = 1; round <= rounds; round++) {
  for (const name of values.targets.split(',') as TargetName[]) {
    process.stderr.write(`round ${round} of ${rounds}: ${name}\n`)
    const target = await startTarget(name)
    if ('missing' in target) {
      if (round === 1) process.stderr.write(`  left out: ${target.missing}\n`)
      continue
    }
    try {
      if (name !== 'bare') await fill(target.port)
      for (const workload of chosen) record(workload, target, await measure(workload, target))
    } finally {
      await target.stop()
    }
  }
}

report()

async function measure(workload: Workload, target: Target): Promise<Figures> {
  const loader = fileURLToPath(new URL('http-load.js', import.meta.url))
  const run = async (seconds: string): Promise<LoadResult> => {
    const args = ['--port', String(target.port), '--connections', values.clients, '--seconds', seconds]
    args.push('--operation', workload.operation, '--body', workload.body, '--keys', String(workload.keys))
    const { stdout } = await promisify(execFile)(process.execPath, [loader, ...args])
    return JSON.parse(stdout) as LoadResult
  }
  await run('0.7')
  const before = target.cpuMicros()
  const result = await run(values.seconds)
  const cpuMicros = (target.cpuMicros() - before) / result.responses
  if (result.failures > 0)
    throw new Error(`${target.name}: ${result.failures} failed answers to ${workload.name}`)
  return {
    perSecond: result.perSecond,
    p50Micros: result.latencyMicrosP50,
    p99Micros: result.latencyMicrosP99,
    cpuMicros,
  }
}

function record(workload: Workload, target: Target, figures: Figures): void {
  const byTarget = results.get(workload.name) ?? new Map<string, Figures[]>()
  results.set(workload.name, byTarget)
  byTarget.set(target.name, [...(byTarget.get(target.name) ?? []), figures])
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0
}

function report(): void {
  const rows: object[] = []
  for (const [workload, byTarget] of results) {
    const bare = median((byTarget.get('bare') ?? []).map(({ perSecond }) => perSecond))
    console.log(`\n${workload}, ${values.clients} clients, median of ${rounds} rounds of ${values.seconds} s`)
    console.log('target            requests/s   of bare   p50 us   p99 us   CPU us   spread of requests/s')
    for (const [target, figures] of byTarget) {
      const rates = figures.map(({ perSecond }) => perSecond)
      const row = {
        workload,
        target,
        perSecond: median(rates),
        ofBare: bare === 0 ? null : median(rates) / bare,
        p50Micros: median(figures.map(({ p50Micros }) => p50Micros)),
        p99Micros: median(figures.map(({ p99Micros }) => p99Micros)),
        cpuMicros: median(figures.map(({ cpuMicros }) => cpuMicros)),
      }
      rows.push(row)
      const cells = [
        target.padEnd(16),
        String(row.perSecond).padStart(12),
        (row.ofBare === null ? '-' : `${(100 * row.ofBare).toFixed(0)}%`).padStart(9),
        String(row.p50Micros).padStart(8),
        String(row.p99Micros).padStart(8),
        row.cpuMicros.toFixed(1).padStart(8),
        `${Math.min(...rates)} to ${Math.max(...rates)}`.padStart(22),
      ]
      console.log(cells.join(' '))
    }
  }
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(rows, undefined, 2))
}
