// What `npm test` and `npm run check` run, with programs in the place of the real ones that only say how they were called.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { testFolder } from '../support/folder.js'

const CHECK = fileURLToPath(new URL('../../../scripts/check.mjs', import.meta.url))
const PROGRAMS = ['tsc', 'oxlint', 'prettier']
const SCRIPTS = [
  'console',
  'test',
  'sim',
  'trials',
  'api-reference',
  'contended-transactions',
  'sim-intents',
  'sim-locks',
  'sim-fleet',
]

function check(which: string, failing?: string): { readonly status: number | null; readonly output: string } {
  const folder = testFolder()
  for (const place of ['scripts', 'node_modules/.bin']) mkdirSync(join(folder, place), { recursive: true })
  copyFileSync(CHECK, join(folder, 'scripts/check.mjs'))
  const stub = (name: string): string =>
    `console.log('ran ${name}', process.argv.slice(2).join(' '))\nprocess.exit(${name === failing ? 3 : 0})\n`
  for (const name of PROGRAMS) writeFileSync(join(folder, 'node_modules/.bin', name), stub(name))
  for (const name of SCRIPTS) writeFileSync(join(folder, 'scripts', `${name}.mjs`), stub(name))
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/check.mjs', which], {
    cwd: folder,
    encoding: 'utf8',
  })
  return { status, output: stdout + stderr }
}

test('check: npm test builds, lints, checks the format, simulates a little, and runs all tests', () => {
  const { status, output } = check('--quick')
  assert.equal(status, 0, output)
  for (const name of [...PROGRAMS, 'console', 'sim --short', 'test --brief'])
    assert.ok(output.includes(`ran ${name}`), `${name}: ${output}`)
  assert.match(output, /all \d+ steps passed/)
})

test('check: whatever fails fails its step, also beside the tests, and ends the check behind it', () => {
  for (const name of ['tsc', 'oxlint', 'sim', 'test']) {
    const { status, output } = check('--quick', name)
    assert.equal(status, 1, `${name}: ${output}`)
    assert.match(output, /failed after/)
    assert.equal(output.includes('ran test'), name !== 'tsc', output)
  }
})

test('check: what npm run check has more runs all simulations, the package and the tests of two sizes', () => {
  const { status, output } = check('--long')
  assert.equal(status, 0, output)
  for (const name of SCRIPTS.filter((each) => each !== 'console'))
    assert.ok(output.includes(`ran ${name}`), `${name}: ${output}`)
  assert.match(output, /ran test --brief --whole --sized/)
})
