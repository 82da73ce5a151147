// Amazon's Kinesis adapter for DynamoDB Streams (Java, the Kinesis Client Library) reads a table of this store through shards
// that roll every minute.
//
//   npm run build && node scripts/kinesis-adapter.mjs [SECONDS]     200 seconds of writes unless told otherwise
//
// Needs a JDK (17 or newer) and Maven, which fetches the adapter and what it needs (128 files) into a folder for temporary
// files. Ends with 0 if each write was read once, in the order of its item, and a shard was read to its end.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const seconds = process.argv[2] ?? '200'
const here = fileURLToPath(new URL('kinesis-adapter', import.meta.url))
const main = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url))
const fetched = join(tmpdir(), 'seriatim-kinesis-adapter')
const classpath = `${join(fetched, 'classes')}:${join(fetched, 'lib')}/*`

function run(command, ...args) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new Error(`${command} ended with ${status ?? error?.message}`)
}

mkdirSync(join(fetched, 'classes'), { recursive: true })
const libraries = `-DoutputDirectory=${join(fetched, 'lib')}`
run('mvn', '-B', '-q', '-f', join(here, 'pom.xml'), 'dependency:copy-dependencies', libraries)
run('javac', '-cp', classpath, '-d', join(fetched, 'classes'), join(here, 'Reader.java'))

const data = mkdtempSync(join(tmpdir(), 'seriatim-kinesis-'))
const server = spawn(
  process.execPath,
  [main, 'start', '--path', data, '--port', '0', '--shard-minutes', '1'],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
try {
  for await (const line of createInterface({ input: server.stdout })) {
    const url = /^seriatim listening on (\S+)$/.exec(line)?.[1]
    if (url === undefined) continue
    const reader = spawnSync('java', ['-cp', classpath, 'Reader', url, seconds], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    })
    console.log(/^written .*$/m.exec(reader.stdout)?.[0] ?? reader.stderr.slice(-5000))
    process.exitCode = reader.status ?? 1
    break
  }
} finally {
  server.kill('SIGKILL')
  rmSync(data, { recursive: true, force: true })
}
