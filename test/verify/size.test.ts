// What a browser has to load.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'

const ROOT = resolve(import.meta.dirname, '../../..')
const COMPRESSED_BYTES_MAX = 10_000

test('verify: bundled, minified and compressed it has at most 10 KB', async () => {
  const bundle = await rolldown({ input: join(ROOT, 'dist/src/verify/index.js'), platform: 'browser' })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  assert.equal(output.length, 1)
  const bytes = gzipSync(output[0].code).length
  assert.ok(bytes <= COMPRESSED_BYTES_MAX, `${bytes} bytes`)
})

test('verify: it imports nothing but itself, and nothing that a browser has not', () => {
  const folder = join(ROOT, 'src/verify')
  for (const file of readdirSync(folder)) {
    const text = readFileSync(join(folder, file), 'utf8')
    const imported = [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, path]) => path!)
    assert.deepEqual(
      imported.filter((path) => !/^\.\/[a-z0-9-]+\.js$/.test(path)),
      [],
      file,
    )
    assert.doesNotMatch(
      text.replaceAll(/\/\/.*|\/\*[^]*?\*\//g, ''),
      /\bBuffer\b|\bprocess\.|\brequire\(/,
      file,
    )
  }
})
