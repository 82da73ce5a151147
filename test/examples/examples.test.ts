// The examples run, and the documentation shows them as they are.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const folder = join(ROOT, 'examples/node-test')

test('the tests of examples/node-test pass, their files in parallel', async () => {
  const files = readdirSync(folder).filter((file) => file.endsWith('.test.js'))
  assert.ok(files.length >= 2)
  // A run of node:test within another would report to the outer one instead of by its exit code.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--test', '--test-reporter=tap', ...files],
    {
      cwd: folder,
      env,
    },
  )
  assert.match(stdout, /^# pass [1-9]/m)
  assert.match(stdout, /^# fail 0$/m)
})

for (const page of ['docs/how-to/write-tests.md', 'docs/how-to/use-test-presets.md']) {
  test(`${page} shows the examples as they are`, () => {
    const text = readFileSync(join(ROOT, page), 'utf8')
    const blocks = [...text.matchAll(/^```[jt]s\n\/\/ (examples\/\S+)\n([\s\S]*?)^```$/gm)]
    assert.ok(blocks.length >= 4)
    for (const [, path, shown] of blocks) {
      const source = readFileSync(join(ROOT, path!), 'utf8')
      assert.ok(
        withoutIndent(source).includes(withoutIndent(shown!)),
        `${path} no longer holds what ${page} shows`,
      )
    }
  })
}

/** A formatter may indent an excerpt otherwise. */
const withoutIndent = (text: string): string => text.replaceAll(/^\s+/gm, '').trim()
