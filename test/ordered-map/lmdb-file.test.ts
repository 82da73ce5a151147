import assert from 'node:assert/strict'
import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { IndexDamaged, inspectIndexFile } from '../../src/ordered-map/lmdb/file/lmdb-file.js'
import { lmdbMap } from '../../src/ordered-map/lmdb/lmdb-map.js'
import { ENTRIES } from '../../src/ordered-map/lmdb/file/lmdb-options.js'
import type { KeyBytes } from '../../src/model/brand.js'
import { testFolder } from '../support/folder.js'

async function filledIndex(): Promise<string> {
  const path = testFolder()
  const index = lmdbMap(path)
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
    assert.throws(() => lmdbMap(path), IndexDamaged)
    writeFileSync(join(path, 'data.mdb'), whole)
  }
  const index = lmdbMap(path)
  assert.equal(index.get('key7' as KeyBytes)?.[0], 7)
  await index.close()
})

test('index: a file that is not an index is refused with a sentence', async () => {
  const path = await filledIndex()
  writeFileSync(join(path, 'data.mdb'), Buffer.alloc(20_000, 1))
  assert.throws(() => lmdbMap(path), IndexDamaged)
})

const entries = (from: number, to: number, value: Buffer | undefined): [KeyBytes, Buffer | undefined][] =>
  Array.from({ length: to - from }, (_, n) => [`key${String(from + n).padStart(5, '0')}` as KeyBytes, value])

/** The bytes of a file up to the last page that its newer meta page names. */
function namedBytes(whole: Buffer): number {
  const newer = whole.readBigUInt64LE(152) > whole.readBigUInt64LE(4096 + 152) ? 0 : 4096
  return (Number(whole.readBigUInt64LE(newer + 144)) + 1) * 4096
}

test('index: a file that ends before its last page opens if that page is free, and was therefore never written', async () => {
  const path = testFolder()
  const file = join(path, 'data.mdb')
  const first = lmdbMap(path)
  await first.apply(entries(0, 20, Buffer.alloc(900, 1)), 1)
  // Pages that are taken and given back within one commit.
  await first.apply([...entries(20, 100, Buffer.alloc(5000, 2)), ...entries(20, 100, undefined)], 2)
  await first.close()
  assert.ok(
    statSync(file).size < namedBytes(readFileSync(file)),
    'the file is not shorter: nothing is tested',
  )
  const again = lmdbMap(path)
  assert.equal(again.appliedUpTo, 2)
  for (const [key] of entries(0, 20, undefined)) assert.equal(again.get(key)?.[0], 1)
  await again.apply(entries(20, 400, Buffer.alloc(900, 3)), 3)
  for (const [key] of entries(20, 400, undefined)) assert.equal(again.get(key)?.[0], 3)
  await again.close()
})

test('index: a file that ends within a value of several pages, or before one of its trees, is refused', async () => {
  const path = testFolder()
  const file = join(path, 'data.mdb')
  const index = lmdbMap(path)
  await index.apply(entries(0, 200, Buffer.alloc(20_000, 7)), 1)
  await index.close()
  const whole = readFileSync(file)
  for (let length = 8192; length < whole.length - 4096; length += 4096 * 7) {
    truncateSync(file, length)
    assert.throws(() => lmdbMap(path), IndexDamaged)
    writeFileSync(file, whole)
  }
})

test('index: of one damaged leaf page no other is suspected, and its keys are told as they are', async () => {
  const path = await filledIndex()
  const file = join(path, 'data.mdb')
  const sound = readFileSync(file)
  const look = (): { found: [string, Buffer | undefined, Buffer | undefined][]; shown: string[] } => {
    const found: [string, Buffer | undefined, Buffer | undefined][] = []
    const shown: string[] = []
    inspectIndexFile(path, {
      found: (problem, keys) => found.push([problem, keys?.from, keys?.to]),
      record: (tree, key) => {
        if (tree === ENTRIES) shown.push(key.toString('latin1'))
      },
    })
    return { found, shown }
  }
  const all = look().shown
  assert.equal(all.length, 500)
  let pages = 0
  for (let at = 2 * 4096; at < sound.length; at += 4096) {
    const firstNode = at + 24 + sound.readUInt16LE(at + 24)
    const key = sound.toString('latin1', firstNode + 8, firstNode + 8 + sound.readUInt16LE(firstNode + 6))
    // A leaf of the entries, whose first pointer then leads elsewhere.
    if (sound.readUInt16LE(at + 18) !== 2 || !key.startsWith('key')) continue
    const bytes = Buffer.from(sound)
    bytes[at + 24]! ^= 4
    writeFileSync(file, bytes)
    const { found, shown } = look()
    assert.equal(found.length, 1, found.join('; '))
    const [problem, from, to] = found[0]!
    assert.match(problem, new RegExp(`^page ${at / 4096} is damaged`))
    const isOutside = (each: string): boolean =>
      (from !== undefined && each < from.toString('latin1')) ||
      (to !== undefined && each >= to.toString('latin1'))
    assert.deepEqual(shown, all.filter(isOutside))
    assert.ok(!isOutside(key))
    pages++
  }
  assert.ok(pages > 100)
})
