// The page of the suites shows the test of an engine as it is, and names every suite there is.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const page = readFileSync(join(ROOT, 'test/suites/README.md'), 'utf8')

test('suites: the example of their page is a test that runs', () => {
  const example = /```ts\n([^]*?)```/.exec(page)?.[1]
  assert.equal(example, readFileSync(join(ROOT, 'test/storage/node/memory-node.test.ts'), 'utf8'))
})

test('suites: their page names every one of them, and what it names is there', () => {
  const suites = readdirSync(join(ROOT, 'test/suites'))
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => readFileSync(join(ROOT, 'test/suites', file), 'utf8'))
    .flatMap((text) => [...text.matchAll(/^export function (\w+Suite|test\w+)\(/gm)].map(([, name]) => name))
  const named = [...page.matchAll(/^\| `(\w+)\(/gm)].map(([, name]) => name)
  assert.ok(suites.length >= 5)
  assert.deepEqual(new Set(named), new Set(suites))
})
