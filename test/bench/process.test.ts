// The command as a user runs it, in a process of its own.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { wholeOnly } from '../support/sizes.js'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { RunFile } from '../../bench/records.js'

const MAIN = fileURLToPath(new URL('../../bench/main.js', import.meta.url))

const bench = (...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> =>
  promisify(execFile)(process.execPath, [MAIN, ...args])

/** As docs/performance.md has it, but shorter. */
const PUTS =
  '--part peers --target bare,seriatim-disk --operation PutItem --rounds 1 --seconds 0.1 --items 200'

test(
  'npm run bench measures, keeps what it measured, shows it again and draws it',
  { skip: wholeOnly },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'seriatim-bench-test-'))
    const file = join(folder, 'run.json')
    try {
      const measured = await bench(...PUTS.split(' '), '--json', file)
      assert.match(measured.stderr, /left\] {2}peers\/PutItem\/64 clients\/bare\/round 1/)
      assert.match(measured.stdout, /PutItem, 64 clients; medians of 1 rounds/)
      assert.match(measured.stdout, /Seriatim, disk, durable +[\d,]+/)
      const run = JSON.parse(readFileSync(file, 'utf8')) as RunFile
      assert.deepEqual(
        Object.values(run.records).map(({ kind }) => kind),
        ['peer', 'peer'],
      )
      const resumed = await bench(...PUTS.split(' '), '--json', file, '--resume')
      assert.equal(resumed.stderr, '', 'nothing is left to measure')
      const { 'peers/PutItem/64 clients/bare/round 1': again, ...kept } = run.records
      assert.ok(again !== undefined && run.resumed === undefined)
      const later = join(folder, 'later.json')
      writeFileSync(later, JSON.stringify({ ...run, records: kept }))
      await bench(...PUTS.split(' '), '--json', later, '--resume')
      const gone = JSON.parse(readFileSync(later, 'utf8')) as RunFile
      assert.deepEqual(
        gone.resumed?.map(({ parts }) => parts),
        [['peers']],
      )
      assert.equal(Object.keys(gone.records).length, 2)
      const charts = join(folder, 'figures')
      const shown = await bench('--report', '--json', file, '--charts', charts)
      assert.equal(shown.stdout, measured.stdout)
      assert.deepEqual(readdirSync(charts), ['peers.svg'])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

test('npm run bench says what is wrong with its arguments, and ends with 2', async () => {
  await assert.rejects(bench('--target', 'oracle'), { code: 2, stderr: /--target knows bare/ })
})
