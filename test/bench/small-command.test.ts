// seriatim bench as a user of the package runs it, in a process of its own.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { MAIN } from '../support/spawned-server.js'
import { promisify } from 'node:util'
import { type BenchFile, settingsOf } from '../../src/cli/bench.js'
import { open } from '../../src/store/store.js'

const bench = (...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> =>
  promisify(execFile)(process.execPath, [MAIN, 'bench', ...args])

const SHORT = ['--rounds', '2', '--seconds', '0.1', '--items', '200', '--clients', '4']

test('seriatim bench measures this store in memory and on disk, with progress, a table and a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'seriatim-bench-test-'))
  const file = join(folder, 'results.json')
  try {
    const { stdout, stderr } = await bench(...SHORT, '--operation', 'PutItem', '--json', file)
    assert.match(stderr, /left\] {2}round 2: PutItem, Seriatim, disk, durable/)
    assert.match(stdout, /PutItem +4 clients +Seriatim, memory +[\d,]+/)
    assert.match(stdout, /PutItem +4 clients +Seriatim, disk, durable +[\d,]+/)
    const { format, results } = JSON.parse(readFileSync(file, 'utf8')) as BenchFile
    assert.equal(format, 'seriatim-bench-results-1')
    assert.deepEqual(
      results.map(({ server, round }) => `${server} ${round}`),
      [1, 2].flatMap((round) => [`Seriatim, memory ${round}`, `Seriatim, disk, durable ${round}`]),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('seriatim bench measures an endpoint that is running, and removes its tables from it', async () => {
  const store = await open({ memory: true })
  try {
    const { port } = await store.listen({ port: 0 })
    const endpoint = `http://127.0.0.1:${port}`
    const { stdout } = await bench(...SHORT, '--operation', 'GetItem', '--rate', '50', '--endpoint', endpoint)
    assert.match(stdout, new RegExp(`GetItem +50 a second +${endpoint} +[\\d,]+`))
    assert.deepEqual((await store.call('ListTables', {})).TableNames, [])
  } finally {
    await store.close()
  }
})

test('seriatim bench: --operation all is every operation, and an unknown one is wrong usage', async () => {
  assert.deepEqual(settingsOf({ operation: 'all' }).operations, [])
  assert.deepEqual(settingsOf({ operation: 'GetItem,Query' }).operations, ['GetItem', 'Query'])
  await assert.rejects(bench('--operation', 'GetItems'), {
    code: 2,
    stderr: /knows GetItem; .* not 'GetItems'/,
  })
})
