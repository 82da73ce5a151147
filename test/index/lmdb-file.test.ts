import assert from 'node:assert/strict'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { IndexDamaged } from '../../src/index/lmdb-file.js'
import { lmdbIndex } from '../../src/index/lmdb-index.js'
import type { KeyBytes } from '../../src/model/brand.js'
import { testFolder } from '../suites/folder.js'

async function filledIndex(): Promise<string> {
  const path = testFolder()
  const index = lmdbIndex(path)
  const changes = Array.from(
    { length: 500 },
    (_, n) => [`key${n}` as KeyBytes, Buffer.alloc(900, n)] as const,
  )
  await index.apply(changes, 1)
  await index.close()
  return path
}

test('index: a file that is shorter than its data is refused with a sentence, at every page', async () => {
  const path = await filledIndex()
  const whole = readFileSync(join(path, 'data.mdb'))
  for (let length = 4096; length < whole.length; length += 4096) {
    truncateSync(join(path, 'data.mdb'), length)
    assert.throws(() => lmdbIndex(path), IndexDamaged)
    writeFileSync(join(path, 'data.mdb'), whole)
  }
  const index = lmdbIndex(path)
  assert.equal(index.get('key7' as KeyBytes)?.[0], 7)
  await index.close()
})

test('index: a file that is not an index is refused with a sentence', async () => {
  const path = await filledIndex()
  writeFileSync(join(path, 'data.mdb'), Buffer.alloc(20_000, 1))
  assert.throws(() => lmdbIndex(path), IndexDamaged)
})
