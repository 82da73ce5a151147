// What `seriatim verify` finds in the files of backups, and what foreign files in their folder do.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { verifyDataFolder } from '../../src/cli/operate/verify-folder.js'
import { wholeFilesIn } from '../../src/runtime/whole-files.js'
import { open } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'
import { sized } from '../support/sizes.js'
import { clientOf, tableOf } from './support.js'

const POINT_IN_TIME = { PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } }

/** A folder with a backup and a base of one table. */
async function filled(buckets?: string): Promise<string> {
  const path = join(testFolder(), 'data')
  const store = await open({ path, ...(buckets !== undefined && { buckets }) })
  await store.call('CreateTable', tableOf('Orders'))
  await store.call('PutItem', { TableName: 'Orders', Item: { id: { S: 'a' }, v: { S: 'one' } } })
  await store.call('UpdateContinuousBackups', { TableName: 'Orders', ...POINT_IN_TIME })
  await store.call('CreateBackup', { TableName: 'Orders', BackupName: 'nightly' })
  await store.call('PutItem', { TableName: 'Orders', Item: { id: { S: 'b' }, v: { S: 'two' } } })
  await store.idle()
  await store.close()
  return path
}

const filesOf = (path: string): readonly string[] =>
  readdirSync(path)
    .filter((name) => /^(backup|base)-/.test(name))
    .map((name) => join(path, name))

test('backups: verify reads the files of backups, and says how many', async () => {
  const path = await filled()
  const { problems, summary } = await verifyDataFolder(path)
  assert.deepEqual(problems, [])
  assert.match(summary, /is sound: .* and 2 files of backups were read/)
})

test('backups: verify finds each flipped byte of a backup and of a base, and names the table', async () => {
  const path = await filled()
  for (const file of filesOf(join(path, 'backups'))) {
    const bytes = readFileSync(file)
    const step = Math.max(1, Math.floor(bytes.length / sized(12, 200)))
    for (let at = 0; at < bytes.length; at += step) {
      writeFileSync(file, bytes.with(at, (bytes[at] as number) ^ 1))
      const { problems } = await verifyDataFolder(path)
      assert.equal(problems.length, 1, `byte ${at} of ${file}`)
      assert.ok(problems[0]?.includes(file), problems[0])
    }
    for (const length of [0, 1, 20, bytes.length - 8, bytes.length - 1]) {
      writeFileSync(file, bytes.subarray(0, length))
      assert.equal((await verifyDataFolder(path)).problems.length, 1, `cut at ${length}`)
    }
    const middle = Math.floor(bytes.length * 0.8)
    writeFileSync(file, bytes.with(middle, (bytes[middle] as number) ^ 1))
    assert.match(
      (await verifyDataFolder(path)).problems[0] ?? '',
      /backup nightly of the table Orders|point in time of the table Orders/,
    )
    writeFileSync(file, bytes)
  }
  assert.deepEqual((await verifyDataFolder(path)).problems, [])
})

test('backups: repair sets damaged files aside; the backup is not listed, and the table is restored from a new base', async (t) => {
  const path = await filled()
  for (const file of filesOf(join(path, 'backups'))) {
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.with(bytes.length - 20, (bytes[bytes.length - 20] as number) ^ 1))
  }
  const { problems, repaired = [] } = await verifyDataFolder(path, { repair: true })
  assert.deepEqual(problems, [])
  assert.ok(repaired.some((sentence) => /no longer listed/.test(sentence)))
  assert.ok(repaired.some((sentence) => /the next start makes another/.test(sentence)))
  const store = await open({ path })
  t.after(() => store.close())
  const { BackupSummaries } = (await store.call('ListBackups', {})) as { BackupSummaries: unknown[] }
  assert.deepEqual(BackupSummaries, [])
  await store.idle()
  await store.call('RestoreTableToPointInTime', {
    SourceTableName: 'Orders',
    TargetTableName: 'Again',
    UseLatestRestorableTime: true,
  })
  await store.idle()
  const { Items } = (await store.call('Scan', { TableName: 'Again' })) as { Items: unknown[] }
  assert.equal(Items.length, 2)
})

test('backups: verify looks into the bucket of backups where it is told of', async () => {
  const buckets = testFolder()
  const path = await filled(buckets)
  const [file = ''] = filesOf(join(buckets, 'seriatim-backups'))
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.with(60, (bytes[60] as number) ^ 1))
  assert.deepEqual((await verifyDataFolder(path)).problems, [])
  assert.equal((await verifyDataFolder(path, { buckets })).problems.length, 1)
  const { problems } = await verifyDataFolder(path, { buckets, repair: true })
  assert.deepEqual(problems, [])
})

async function listed(t: TestContext, path: string): Promise<{ names: string[]; errors: unknown[] }> {
  const errors: unknown[] = []
  const store = await open({ path, onError: (error) => void errors.push(error) })
  t.after(() => store.close())
  const { url } = await store.listen({ port: 0 })
  const dynamodb = clientOf(url)
  t.after(() => dynamodb.destroy())
  const { BackupSummaries = [] } = await dynamodb.listBackups({})
  return { names: BackupSummaries.map(({ BackupName }) => BackupName ?? ''), errors }
}

test('backups: pipes, links, folders and renamed or foreign files among backups are told of and not listed', async (t) => {
  const path = await filled()
  const folder = join(path, 'backups')
  const [backup = ''] = filesOf(folder).filter((file) => file.includes('backup-'))
  execFileSync('mkfifo', [join(folder, 'backup-00000000000001-00000001')])
  symlinkSync(backup, join(folder, 'backup-00000000000001-00000002'))
  mkdirSync(join(folder, 'backup-00000000000001-00000003'))
  copyFileSync(backup, join(folder, 'backup-00000000000001-00000004'))
  writeFileSync(join(folder, 'backup-00000000000001-00000005'), 'not a backup')
  writeFileSync(join(folder, 'notes.txt'), 'not ours')
  const { names, errors } = await listed(t, path)
  assert.deepEqual(names, ['nightly'])
  assert.equal(errors.length, 5)
})

test('backups: a process that starts leaves alone what another one is writing into the same bucket', async () => {
  const folder = testFolder()
  const [one, other] = [wholeFilesIn(folder, 'one'), wholeFilesIn(folder, 'other')]
  const draft = await one.create('backup-1')
  await draft.append(Buffer.from('half'))
  await (await wholeFilesIn(folder, 'other').create('backup-2')).append(Buffer.from('left'))
  await other.sweep()
  assert.deepEqual(readdirSync(folder), ['backup-1.one.draft'])
  await draft.append(Buffer.from(' and half'))
  await draft.finish()
  assert.deepEqual(await other.list(), ['backup-1'])
  assert.equal(readFileSync(join(folder, 'backup-1'), 'utf8'), 'half and half')
})
