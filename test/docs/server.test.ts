import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { help } from '../../src/cli/start.js'
import { parseAuthFile } from '../../src/server/auth.js'
import { Metrics } from '../../src/server/metrics.js'

const page = readFileSync(
  join(resolve(import.meta.dirname, '../../..'), 'docs/how-to/run-the-server.md'),
  'utf8',
)

test('docs/how-to/run-the-server.md: every option and every metric is there', () => {
  const options = [...help.matchAll(/^ {2}(--[\w-]+)/gm)].map(([, option]) => option as string)
  assert.ok(options.length > 5)
  for (const option of options) assert.ok(page.includes(`| \`${option}`), option)
  const metrics = [...new Metrics().render().matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name as string)
  assert.ok(metrics.length > 5)
  for (const name of metrics) assert.ok(page.includes(`\`${name}`), name)
})

test('docs/how-to/run-the-server.md: the file of keys is one', () => {
  const [, json = ''] = /```json\n([^]*?)\n```/.exec(page) ?? []
  assert.deepEqual(
    parseAuthFile(json, 'keys.json').map(({ access }) => access),
    [['read'], ['read', 'write', 'admin']],
  )
})
