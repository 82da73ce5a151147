// How long the package takes to load and a server to answer, of the bundle beside the modules that it is made of.
//
//   node scripts/start-up.mjs [ROUNDS]     7 unless told otherwise; medians, in turns
//
// Processor time of `import`, of `import` and `open`, and the time from the start of a process to its first answer; bare
// Node and a bare node:http server say what the machine takes itself.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { median } from '../dist/src/bench/statistics.js'
import { freePort } from '../dist/src/bench/targets/free-port.js'

const rounds = Number(process.argv[2] ?? 7)
const ROOT = new URL('..', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'seriatim-start-up-'))

const script = (file, then = '') => `const seriatim = await import('${new URL(file, ROOT).href}'); ${then}`
const inMemory = 'await (await seriatim.open({ memory: true })).close()'
const onDisk = `await (await seriatim.open({ path: '${folder}/opened' })).close()`
const loads = {
  'bare Node': '',
  'import of the whole store, modules': `${script('dist/src/store/local-store.js')}; await import('${new URL('dist/src/ordered-map/lmdb/lmdb-map.js', ROOT).href}')`,
  'import, modules': script('dist/src/index.js'),
  'import, bundle': script('lib/index.js'),
  'import and open in memory, modules': script('dist/src/index.js', inMemory),
  'import and open in memory, bundle': script('lib/index.js', inMemory),
  'import and open a folder, modules': script('dist/src/index.js', onDisk),
  'import and open a folder, bundle': script('lib/index.js', onDisk),
}
const bare =
  "import('node:http').then(({ createServer }) => createServer((_, answer) => answer.end()).listen(Number(process.argv[1]), '127.0.0.1'))"
const start =
  (file) =>
  (port, ...place) => [new URL(file, ROOT).pathname, 'start', '--port', String(port), ...place]
const servers = {
  'bare node:http': (port) => ['-e', bare, String(port)],
  'start --memory, modules': (port) => start('dist/src/cli/main.js')(port, '--memory'),
  'start --memory, bundle': (port) => start('lib/main.js')(port, '--memory'),
  'start --path, modules': (port) => start('dist/src/cli/main.js')(port, '--path', `${folder}/modules`),
  'start --path, bundle': (port) => start('lib/main.js')(port, '--path', `${folder}/bundle`),
}

const taken = new Map()
const keep = (name, ms) => taken.set(name, [...(taken.get(name) ?? []), ms])
try {
  for (let round = 0; round < rounds; round++) {
    for (const [name, code] of Object.entries(loads)) keep(name, processorMs(code))
    for (const [name, args] of Object.entries(servers)) keep(name, await answerMs(args))
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
console.log(`| median of ${rounds} | ms |\n| --- | ---: |`)
for (const [name, all] of taken) {
  const unit = name in loads ? 'processor' : 'first answer'
  console.log(`| ${name}, ${unit} | ${Math.round(median(all))} |`)
}

function processorMs(code) {
  const tell =
    'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000); process.exit()'
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', `${code}; ${tell}`], {
    encoding: 'utf8',
  })
  if (run.status !== 0) throw new Error(run.stderr)
  return Number(run.stdout)
}

async function answerMs(args) {
  const port = await freePort()
  const startMs = performance.now()
  const child = spawn(process.execPath, args(port), { stdio: 'ignore' })
  try {
    for (;;) {
      if (await answers(port)) return performance.now() - startMs
      if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}`)
      await delay(1)
    }
  } finally {
    child.kill()
    await new Promise((resolve) => {
      child.once('exit', resolve)
      if (child.exitCode !== null) resolve(undefined)
    })
  }
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /health HTTP/1.1\r\nhost: a\r\n\r\n'))
    socket.once('data', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
