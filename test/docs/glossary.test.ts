// The glossary speaks of code that is there.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

const ROOT = resolve(import.meta.dirname, '../../..')
/** A type, a function or a folder; what has other characters is a piece of a program. */
const NAME = /`(\w[\w-]*)\/?`/g

test('every name in the glossary is one of the code', () => {
  const paths = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  const sources = paths.filter((path) => path.endsWith('.ts'))
  const text = sources.map((path) => readFileSync(join(ROOT, 'src', path), 'utf8')).join('\n')
  const known = new Set([...(text.match(/\w+/g) ?? []), ...paths])
  const glossary = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8')
  const names = [...glossary.matchAll(NAME)].map(([, name]) => name!)
  assert.ok(names.length > 20)
  assert.deepEqual(
    names.filter((name) => !known.has(name)),
    [],
  )
})
