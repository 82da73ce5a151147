import assert from 'node:assert/strict'
import { copyFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { open } from 'lmdb'
import { EntryDamaged } from '../../src/ordered-map/checksum.js'
import { lmdbMap } from '../../src/ordered-map/lmdb/lmdb-map.js'
import { ENTRIES, ENVIRONMENT, STATE } from '../../src/ordered-map/lmdb/file/lmdb-options.js'
import { upgradeIndex } from '../../src/ordered-map/lmdb/lmdb-upgrade.js'
import type { OrderedMap } from '../../src/ordered-map/ordered-map.js'
import { keyEncoder, SealedEntries } from '../../src/ordered-map/lmdb/file/sealed-entries.js'
import type { KeyBytes } from '../../src/model/brand.js'
import { testFolder } from '../support/folder.js'
import { needsSmallDisk, smallDisk } from '../support/small-disk.js'

const KEYS = 40
const key = (n: number): KeyBytes => `key/${String(n).padStart(3, '0')}/x` as KeyBytes
const value = (n: number): Buffer => Buffer.from(`value of ${String(n).padStart(3, '0')} ${'.'.repeat(200)}`)
const ALL = { from: 'a' as KeyBytes, to: 'z' as KeyBytes }

async function filled(): Promise<string> {
  const path = testFolder()
  const index = lmdbMap(path)
  await index.apply(
    Array.from({ length: KEYS }, (_, n) => [key(2 * n), value(2 * n)] as const),
    7,
  )
  await index.close()
  return path
}

/** Flips one bit wherever these bytes stand in the file. */
function flip(path: string, text: string, offset: number, bit: number): void {
  const file = join(path, 'data.mdb')
  const bytes = readFileSync(file)
  let found = 0
  for (let at = bytes.indexOf(text, 0, 'latin1'); at >= 0; at = bytes.indexOf(text, at + 1, 'latin1')) {
    bytes[at + offset]! ^= 1 << bit
    found++
  }
  assert.ok(found > 0)
  writeFileSync(file, bytes)
}

const isDamaged =
  (named: KeyBytes) =>
  (error: unknown): boolean =>
    error instanceof EntryDamaged && error.key === named

function scanned(index: OrderedMap, from: KeyBytes, to: KeyBytes, reverse: boolean): string[] {
  const seen: string[] = []
  index.scan({ from, to, reverse }, (lent, length) => {
    seen.push(Buffer.from(lent.subarray(0, length)).toString('latin1').slice(9, 12))
    return true
  })
  return seen
}

test('index: a flipped bit in a value is never served, by no way of reading, and all others are', async () => {
  const path = await filled()
  flip(path, 'value of 020', 10, 0)
  const index = lmdbMap(path)
  assert.throws(() => index.get(key(20)), isDamaged(key(20)))
  for (const reverse of [false, true]) {
    assert.throws(() => [...index.range({ ...ALL, reverse })], isDamaged(key(20)))
    assert.throws(() => scanned(index, ALL.from, ALL.to, reverse), isDamaged(key(20)))
    // Beside it nothing is wrong.
    assert.equal([...index.range({ from: ALL.from, to: key(20), reverse })].length, 10)
    assert.equal([...index.range({ from: key(21), to: ALL.to, reverse })].length, KEYS - 11)
    assert.equal(scanned(index, ALL.from, key(20), reverse).length, 10)
    assert.equal(scanned(index, key(21), ALL.to, reverse).length, KEYS - 11)
  }
  for (let n = 0; n < 2 * KEYS; n++) {
    if (n === 20) continue
    assert.deepEqual(index.get(key(n)), n % 2 === 0 ? value(n) : undefined)
  }
  await index.close()
})

test('index: an entry whose key has a flipped bit is missed by nobody: it is named as it was', async () => {
  // Every bit of the number, which moves the entry up or down, a little or far; and of the separators.
  const sound = join(await filled(), 'data.mdb')
  for (let offset = 3; offset < 9; offset++) {
    for (let bit = 0; bit < 8; bit++) {
      const path = testFolder()
      copyFileSync(sound, join(path, 'data.mdb'))
      flip(path, 'key/020/x', offset, bit)
      // A start would find the key out of order; here it is found by whoever reads.
      const index = lmdbMap(path, { checkBytesMax: 0 })
      assert.throws(() => index.get(key(20)), isDamaged(key(20)), `bit ${bit} of byte ${offset}`)
      for (const reverse of [false, true]) {
        assert.throws(() => [...index.range({ from: key(20), to: key(21), reverse })], EntryDamaged)
        assert.throws(() => scanned(index, key(20), key(21), reverse), EntryDamaged)
        assert.throws(() => [...index.range({ ...ALL, reverse })], EntryDamaged)
        assert.throws(() => scanned(index, ALL.from, ALL.to, reverse), EntryDamaged)
      }
      for (let n = 0; n < 2 * KEYS; n++) {
        try {
          assert.deepEqual(index.get(key(n)), n % 2 === 0 ? value(n) : undefined)
        } catch (error) {
          assert.ok(error instanceof EntryDamaged)
        }
      }
      await index.close()
    }
  }
})

test('index: a damaged state is refused with a sentence', async () => {
  const path = await filled()
  flip(path, 'applied', 9, 3)
  assert.throws(() => lmdbMap(path), /its state has a wrong checksum/)
})

/** As versions before checksums wrote it. */
async function olderIndex(): Promise<string> {
  const path = testFolder()
  const root = open<Uint8Array, KeyBytes>(path, ENVIRONMENT)
  const options = { encoding: 'binary' as const, keyEncoder, cache: false }
  const entries = root.openDB<Uint8Array, KeyBytes>(ENTRIES, options)
  const state = root.openDB<Uint8Array, KeyBytes>(STATE, options)
  const applied = Buffer.alloc(8)
  applied.writeDoubleBE(4711)
  root.transactionSync(() => {
    for (let n = 0; n < KEYS; n++) entries.putSync(key(n), value(n))
    entries.putSync('empty' as KeyBytes, Buffer.alloc(0))
    state.putSync('applied' as KeyBytes, applied)
  })
  await root.close()
  return path
}

function checkUpgraded(index: OrderedMap): void {
  assert.equal(index.appliedUpTo, 4711)
  for (let n = 0; n < KEYS; n++) assert.deepEqual(index.get(key(n)), value(n))
  assert.equal(index.get('empty' as KeyBytes)?.length, 0)
}

test('index: the records of an older one get their checksums before it is opened, once', async () => {
  const path = await olderIndex()
  assert.throws(() => lmdbMap(path), /have no checksums yet/)
  const told: number[] = []
  const options = { recordsMax: 12, onProgress: (records: number) => told.push(records) }
  assert.equal(await upgradeIndex(path, options), KEYS + 1)
  assert.deepEqual(told, [12, 24, 36, 41])
  assert.equal(await upgradeIndex(path), 0)
  const index = lmdbMap(path)
  checkUpgraded(index)
  await index.close()
})

test('index: an upgrade that ends at any commit is taken up by the next', async () => {
  for (let ends = 1; ends <= 5; ends++) {
    const path = await olderIndex()
    let commits = 0
    const onProgress = (): void => {
      if (++commits === ends) throw new Error('ended here')
    }
    await upgradeIndex(path, { recordsMax: 10, onProgress }).catch((error: Error) =>
      assert.equal(error.message, 'ended here'),
    )
    await upgradeIndex(path, { recordsMax: 7 })
    const index = lmdbMap(path)
    checkUpgraded(index)
    await index.close()
  }
})

test('index: an upgrade on a full disk is refused before LMDB writes anything', needsSmallDisk, async () => {
  using disk = smallDisk(16 * 1024 * 1024)
  cpSync(await olderIndex(), disk.path, { recursive: true })
  disk.fill()
  await assert.rejects(upgradeIndex(disk.path), { code: 'ENOSPC' })
  disk.free()
  assert.equal(await upgradeIndex(disk.path), KEYS + 1)
  disk.fill()
  const index = lmdbMap(disk.path)
  checkUpgraded(index)
  assert.throws(() => index.setMark('whose'), { code: 'ENOSPC' })
  disk.free()
  index.setMark('whose')
  assert.equal(index.mark, 'whose')
  await index.close()
})

test('index: where there is none, there is nothing to upgrade', async () => {
  assert.equal(await upgradeIndex(testFolder()), 0)
})

test('index: what is not found between two sound records is not sought beside them again, until something is written', async () => {
  const root = open<Uint8Array, KeyBytes>(await filled(), ENVIRONMENT)
  const entries = new SealedEntries(root)
  for (const absent of ['key/003', 'key/003/x', 'key/002/y', 'key/003/z'])
    assert.equal(entries.get(absent as KeyBytes), undefined)
  assert.equal(entries.neighboursRead, 2)
  assert.equal(entries.get(key(5)), undefined)
  assert.equal(entries.neighboursRead, 4)
  entries.forgetGap()
  assert.equal(entries.get(key(5)), undefined)
  assert.equal(entries.neighboursRead, 6)
  // Before the first and behind the last.
  for (const absent of ['a', 'b', 'y', 'z']) assert.equal(entries.get(absent as KeyBytes), undefined)
  assert.equal(entries.neighboursRead, 10)
  await root.close()
})

test('index: beside a damaged record every absent key is looked at again', async () => {
  const path = await filled()
  flip(path, 'value of 020', 10, 0)
  const root = open<Uint8Array, KeyBytes>(path, ENVIRONMENT)
  const entries = new SealedEntries(root)
  for (let time = 1; time <= 3; time++) {
    assert.equal(entries.get(key(21)), undefined)
    assert.equal(entries.neighboursRead, 2 * time)
  }
  await root.close()
})
