import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { help as comparison } from '../../bench/command.js'
import { help as bench } from '../../src/cli/bench.js'
import { help as demo } from '../../src/cli/demo/demo.js'
import { help as exportTable } from '../../src/cli/copies/export.js'
import { help as health } from '../../src/cli/server/health.js'
import { help as importTable } from '../../src/cli/copies/import.js'
import { help as locks } from '../../src/cli/operate/locks.js'
import { help as simulation } from '../../sim/cli/worlds.js'
import { help as simulatedLocks } from '../../sim/cli/locks.js'
import { help as start } from '../../src/cli/server/start.js'
import { help as sweep } from '../../src/cli/operate/sweep.js'
import { help as transactions } from '../../src/cli/operate/transactions.js'
import { help as verify } from '../../src/cli/operate/verify.js'
import { parseAuthFile } from '../../src/server/access/auth.js'
import { Metrics } from '../../src/server/dispatch/metrics.js'

const pageOf = (path: string): string =>
  readFileSync(join(resolve(import.meta.dirname, '../../../docs'), path), 'utf8')

const HELP = {
  start,
  health,
  transactions,
  locks,
  verify,
  sweep,
  export: exportTable,
  import: importTable,
  demo,
  bench,
}

const COMMAND_LINE = 'reference/command-line.md'
const SIMULATION = 'explanation/simulation.md'
const OPTIONS = [
  ...Object.entries(HELP).map(([command, help]) => [COMMAND_LINE, `seriatim ${command}`, help] as const),
  [COMMAND_LINE, 'npm run bench', comparison] as const,
  [SIMULATION, 'Options of npm run sim', simulation] as const,
  [SIMULATION, 'Options of npm run sim -- locks', simulatedLocks] as const,
]

for (const [page, heading, help] of OPTIONS) {
  test(`docs/${page}: every option under '${heading}' is there, and no other`, () => {
    const [, section = ''] = pageOf(page).split(`\n## ${heading}\n`)
    const documented = [...section.split('\n## ')[0]!.matchAll(/^\| `(--[\w-]+)/gm)].map(
      ([, option]) => option!,
    )
    const options = [...help.matchAll(/^ {2}(--[\w-]+)(?: \S+ (--[\w-]+))?/gm)].flatMap(([, ...names]) =>
      names.filter((name) => name !== undefined),
    )
    assert.ok(options.length > 0)
    assert.deepEqual(documented.toSorted(), options.toSorted())
  })
}

test('docs/reference/server.md: every metric is there', () => {
  const page = pageOf('reference/server.md')
  const metrics = [...new Metrics().render().matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string)
  assert.ok(metrics.length > 5)
  for (const name of metrics) assert.ok(page.includes(`\`${name}`), name)
})

test('docs/how-to/run-the-server.md: the file of keys is one', () => {
  const [, json = ''] = /```json\n([^]*?)\n```/.exec(pageOf('how-to/run-the-server.md')) ?? []
  assert.deepEqual(
    parseAuthFile(json, 'keys.json').map(({ access }) => access),
    [['read'], ['read', 'write', 'admin']],
  )
})
