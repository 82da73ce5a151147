// Two builds of the store in turns, under the load of this one's generator: whether a change made it faster.
//   node scripts/compare-builds.mjs BEFORE AFTER [--nodes N] [--clients N] [--rounds N] [--seconds S] [--operation NAME]...
// BEFORE and AFTER are folders of the project, each built (a git worktree, say). With several nodes the items of a
// transaction are on different ones. Medians of the rounds; how far they are apart says how sure that is.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fillPeerTables } from '../dist/src/bench/fill.js'
import { Generator } from '../dist/src/bench/load/generator-process.js'
import { measure } from '../dist/src/bench/measure.js'
import { median } from '../dist/src/bench/statistics.js'
import { memoryOf, usageOf } from '../dist/src/bench/targets/usage.js'
import { peerWorkloads } from '../dist/src/bench/load/workloads.js'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    nodes: { type: 'string', default: '1' },
    clients: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '1.5' },
    operation: { type: 'string', multiple: true, default: ['PutItem', 'TransactWriteItems of 3'] },
  },
})
if (positionals.length !== 2) throw new Error('which two builds? BEFORE AFTER')
const nodes = Number(values.nodes)
const scale = { items: 10_000, partitions: 500 }
const workloads = values.operation.map((name) => {
  const workload = peerWorkloads(scale).find((each) => each.name === name)
  if (workload === undefined) throw new Error(`no such operation: ${name}`)
  return nodes > 1 && name.startsWith('Transact') ? { ...workload, apartOnNodes: nodes } : workload
})

async function started(name, root) {
  const folder = mkdtempSync(join(tmpdir(), 'seriatim-compare-'))
  const main = join(root, 'dist/src/cli/main.js')
  const args = [main, 'start', '--path', folder, '--port', '0', '--nodes', String(nodes)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let told = ''
  const endpoint = await new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`${main} does not start`)))
    child.stdout.on('data', (data) => {
      told += data
      const url = /http:\/\/[0-9.:]+/.exec(told)
      if (url !== null) resolve(url[0])
    })
  })
  await fillPeerTables(endpoint, scale)
  return { name, folder, child, endpoint, usage: () => usageOf(child.pid), memory: () => memoryOf(child.pid) }
}

const builds = [await started('before', positionals[0]), await started('after', positionals[1])]
const generator = new Generator()
const found = new Map()
// The round before the first is for the compiler.
for (let round = 0; round <= Number(values.rounds); round++) {
  for (const workload of workloads) {
    for (const build of builds) {
      const measured = await measure(generator, build, {
        mix: [{ weight: 1, workload }],
        mode: { kind: 'closed', clients: Number(values.clients) },
        warmupMs: 400,
        durationMs: Number(values.seconds) * 1000,
        seed: round + 1,
      })
      const line = `${workload.name}, ${build.name}`
      if (round > 0) found.set(line, [...(found.get(line) ?? []), measured])
    }
  }
}
for (const [line, rounds] of found) {
  const of = (pick) => Math.round(median(rounds.map(pick)))
  const latencies = rounds.map(({ latency }) => latency.p50Micros)
  console.log(
    `${line}: ${of((each) => each.perSecond)}/s, p50 ${of(({ latency }) => latency.p50Micros)} us ` +
      `(${Math.min(...latencies)} to ${Math.max(...latencies)}), p99 ${of(({ latency }) => latency.p99Micros)} us, ` +
      `CPU ${of((each) => each.cpuMicros)} us, written ${of((each) => each.writtenBytes)} bytes, ` +
      `resident ${of((each) => each.residentBytes / 1e6)} MB`,
  )
}
await generator.close()
for (const { child, folder } of builds) {
  child.removeAllListeners('exit')
  child.kill()
  await once(child, 'exit')
  rmSync(folder, { recursive: true })
}
