// The file of a backup: what is read is what was written, and no byte of it can change unnoticed.
import assert from 'node:assert/strict'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { BackupReader, BackupWriter } from '../../src/backups/backup-file.js'
import { BackupDamaged, type BackupEntry } from '../../src/backups/backup-frame.js'
import { type WholeFiles, wholeFilesIn, wholeFilesInMemory } from '../../src/runtime/whole-files.js'
import { testFolder } from '../support/folder.js'

const entry = (kind: BackupEntry['kind'], text: string): BackupEntry => ({ kind, text: Buffer.from(text) })

async function written(files: WholeFiles, seed: number): Promise<void> {
  const writer = await BackupWriter.begin(files, 'one', { seed, about: { table: 'Orders' } })
  await writer.add('items', [entry('put', 'a1'), entry('put', 'b1')])
  await writer.add('undo', [entry('put', 'b0'), entry('remove', 'c')])
  await writer.add('redo', [entry('remove', 'a'), entry('put', 'd1')])
  await writer.finish()
}

async function texts(files: WholeFiles): Promise<readonly string[]> {
  const reader = await BackupReader.open(files, 'one')
  try {
    const found: string[] = []
    for await (const entries of reader.read())
      for (const { kind, text } of entries) found.push(`${kind} ${Buffer.from(text).toString()}`)
    return found
  } finally {
    await reader.close()
  }
}

test('backups: a file gives items, then undo from the last to the first, then redo', async () => {
  for (const files of [wholeFilesInMemory(), wholeFilesIn(testFolder())]) {
    await written(files, 7)
    assert.deepEqual(await texts(files), ['put a1', 'put b1', 'remove c', 'put b0', 'remove a', 'put d1'])
    const reader = await BackupReader.open<{ table: string }>(files, 'one')
    assert.equal(reader.head.about.table, 'Orders')
    assert.deepEqual(reader.entries, { items: 2, undo: 2, redo: 2 })
    await reader.close()
  }
})

test('backups: a byte that has changed, and a file that ends early, are damage and never items', async () => {
  const source = wholeFilesInMemory()
  await written(source, 7)
  const file = await source.open('one')
  const bytes = Buffer.from(await file.read(0, file.length))
  const changed = async (next: Buffer): Promise<unknown> => {
    const files = wholeFilesInMemory()
    const draft = await files.create('one')
    await draft.append(next)
    await draft.finish()
    return texts(files).catch((error: unknown) => error)
  }
  assert.ok(Array.isArray(await changed(bytes)))
  for (let at = 0; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] as number) ^ 1
    assert.ok((await changed(flipped)) instanceof BackupDamaged, `byte ${at}`)
    assert.ok((await changed(bytes.subarray(0, at))) instanceof BackupDamaged, `${at} bytes`)
  }
})

test('backups: a draft has no name, and a link is no file of a backup', async () => {
  const folder = testFolder()
  const files = wholeFilesIn(folder)
  const draft = await files.create('half')
  await draft.append(Buffer.from('half'))
  assert.deepEqual(await files.list(), [])
  await draft.abandon()
  writeFileSync(join(folder, 'left.draft'), '')
  await files.sweep()
  assert.deepEqual(await files.list(), [])
  const elsewhere = join(testFolder(), 'secret')
  writeFileSync(elsewhere, 'secret')
  symlinkSync(elsewhere, join(folder, 'linked'))
  await assert.rejects(files.open('linked'))
  await assert.rejects(files.create('../outside'), RangeError)
})
