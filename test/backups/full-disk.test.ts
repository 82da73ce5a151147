// A disk that is full, or fails, under a backup, a base, a restore, an export and an import: nothing half is in use, the reason is told,
// and what is asked for again succeeds once there is room.
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type DiskFault, diskFaults, type DiskFaults, needsCompiler } from '../faults/disk-faults.js'
import { call, scan } from '../kill/killed-server.js'
import { testFolder } from '../support/folder.js'
import { sized } from '../support/sizes.js'
import { type SpawnedServer, spawnServer } from '../support/spawned-server.js'
import { importInput, keysIn, putObject } from '../transfer/support.js'
import { tableOf } from './support.js'

const ITEMS = 150
// eslint-disable-next-line typescript/no-explicit-any -- answers are compared member by member
type Answer = any

interface Place {
  readonly server: SpawnedServer
  readonly faults: DiskFaults
  readonly path: string
  readonly bucket: string
  readonly ask: (operation: string, input: object) => Promise<Answer>
}

/** A server with a table, whose files fail that have such a path. */
async function withPlace(name: string, act: (place: Place) => Promise<void>): Promise<void> {
  const home = testFolder()
  const path = join(home, 'data')
  const bucket = join(home, 'buckets', 'shop')
  mkdirSync(bucket, { recursive: true })
  const faults = diskFaults(name)
  await using server = await spawnServer(['--path', path, '--buckets', join(home, 'buckets')], {
    quiet: true,
    environment: faults.environment,
  })
  const ask = (operation: string, input: object): Promise<Answer> => call(server.url, operation, input)
  await ask('CreateTable', tableOf('Things'))
  for (let id = 0; id < ITEMS; id += 25)
    await ask('BatchWriteItem', {
      RequestItems: {
        Things: Array.from({ length: 25 }, (_, n) => ({
          PutRequest: { Item: { id: { S: `k${id + n}` }, v: { S: 'x'.repeat(4000) } } },
        })),
      },
    })
  await act({ server, faults, path, bucket, ask })
  faults.close()
}

async function until<T>(ask: () => Promise<T>, is: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (is(answer)) return answer
    await pause(10)
  }
}

const isError =
  (name: string) =>
  (answer: unknown): boolean =>
    answer instanceof Error && answer.message.includes(name)
const orError = (asked: Promise<Answer>): Promise<Answer> => asked.catch((error: unknown) => error)
const drafts = (folder: string): readonly string[] =>
  readdirSync(folder).filter((name) => name.endsWith('.draft') || name.startsWith('.seriatim-'))

async function backUp({ ask }: Place): Promise<{ readonly BackupArn: string; readonly status: Answer }> {
  const { BackupDetails: details } = await ask('CreateBackup', { TableName: 'Things', BackupName: 'name' })
  const { BackupArn } = details
  const status = await until(
    () => orError(ask('DescribeBackup', { BackupArn })),
    (answer) =>
      answer instanceof Error || answer.BackupDescription.BackupDetails.BackupStatus === 'AVAILABLE',
  )
  return { BackupArn, status }
}

const WRITES = sized([0, 2], [0, 1, 2, 3, 4])
const FAULTS: readonly DiskFault[] = [
  ...WRITES.map((skip) => ({ kind: 'write', error: 'ENOSPC', skip }) as const),
  { kind: 'write', error: 'EIO', skip: 1 },
  // Of the folder, behind the rename.
  { kind: 'sync', error: 'EIO' },
]

test(
  'backups: where there is no room for a backup, nothing stays of it, the reason is told, and the next one succeeds',
  needsCompiler,
  async () => {
    await withPlace('/seriatim-backups', async (place) => {
      const { ask, faults, server, bucket } = place
      const folder = join(bucket, '..', 'seriatim-backups')
      for (const fault of FAULTS) {
        faults.fail(fault)
        const { status } = await backUp(place)
        assert.ok(isError('BackupNotFoundException')(status), JSON.stringify(fault))
        faults.heal()
        assert.deepEqual(drafts(folder), [])
        // The table is not held by it.
        await ask('PutItem', { TableName: 'Things', Item: { id: { S: 'k0' }, v: { S: 'y' } } })
      }
      assert.match(server.said, /ENOSPC/)
      const { BackupArn } = await backUp(place)
      await ask('RestoreTableFromBackup', { BackupArn, TargetTableName: 'Again' })
      await until(
        () => ask('DescribeTable', { TableName: 'Again' }),
        ({ Table }) => Table.TableStatus === 'ACTIVE',
      )
      assert.equal((await scan(server.url, 'Again')).length, ITEMS)
    })
  },
)

test(
  'backups: where there is no room for a base, recovery begins with the next one, and no moment before it is offered',
  needsCompiler,
  async () => {
    await withPlace('/base-', async ({ ask, faults, path }) => {
      faults.fail({ kind: 'write', error: 'ENOSPC', skip: 1 })
      const enable = {
        TableName: 'Things',
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      }
      await ask('UpdateContinuousBackups', enable)
      await until(() => Promise.resolve(faults.failed), Boolean)
      const restore = (TargetTableName: string): Promise<Answer> =>
        orError(
          ask('RestoreTableToPointInTime', {
            SourceTableName: 'Things',
            TargetTableName,
            UseLatestRestorableTime: true,
          }),
        )
      // It is accepted while the base is being made, and given up with it; or there is no moment yet.
      await restore('Early')
      await until(() => orError(ask('DescribeTable', { TableName: 'Early' })), isError('ResourceNotFound'))
      faults.heal()
      // A change of the catalogue is followed by a look at what is due.
      await ask('CreateTable', tableOf('Other'))
      // One that was accepted while the base that failed was still being made is given up with it, too, and asked for again.
      await until(
        async () => {
          await restore('Again')
          return until(
            () => orError(ask('DescribeTable', { TableName: 'Again' })),
            (answer) => answer instanceof Error || answer.Table.TableStatus === 'ACTIVE',
          )
        },
        (answer) => !(answer instanceof Error),
      )
      // Nothing is left of the one that failed.
      await until(
        () => Promise.resolve(drafts(join(path, 'backups'))),
        (names) => names.length === 0,
      )
    })
  },
)

test(
  'backups: a restore that finds no room in the journal leaves no table, also if that can be written only later',
  needsCompiler,
  async () => {
    await withPlace('/journal', async (place) => {
      const { ask, faults, server } = place
      const { BackupArn } = await backUp(place)
      await ask('RestoreTableFromBackup', { BackupArn, TargetTableName: 'Cut' })
      faults.fail({ kind: 'write', error: 'ENOSPC' })
      // The restore may be whole already: writes of others meet the full disk as well.
      const write = { TableName: 'Things', Item: { id: { S: 'k0' }, v: { S: 'z' } } }
      await until(
        () => orError(ask('PutItem', write)).then(() => faults.failed),
        (failed) => failed > 1,
      )
      const cut = await orError(ask('Scan', { TableName: 'Cut' }))
      faults.heal()
      // It may have been whole before there was no room.
      if (cut instanceof Error) {
        // Or only what ends it was missing, which is repeated until there is room.
        const told = await until(
          () => orError(ask('DescribeTable', { TableName: 'Cut' })),
          (answer) => isError('ResourceNotFound')(answer) || answer.Table?.TableStatus === 'ACTIVE',
        )
        if (told instanceof Error) await ask('RestoreTableFromBackup', { BackupArn, TargetTableName: 'Cut' })
      }
      await until(
        () => ask('DescribeTable', { TableName: 'Cut' }),
        ({ Table }) => Table.TableStatus === 'ACTIVE',
      )
      assert.equal((await scan(server.url, 'Cut')).length, ITEMS)
      // A backup can be made of it again: nothing holds the table.
      await backUp(place)
    })
  },
)

test(
  'transfer: an export that finds no room is FAILED with the reason, and leaves no object',
  needsCompiler,
  async () => {
    await withPlace('/shop/', async ({ ask, faults, bucket }) => {
      await ask('UpdateContinuousBackups', {
        TableName: 'Things',
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      })
      const { Table } = await ask('DescribeTable', { TableName: 'Things' })
      const run = async (): Promise<Answer> => {
        const request = { TableArn: Table.TableArn, S3Bucket: 'shop' }
        const { ExportDescription: begun } = await ask('ExportTableToPointInTime', request)
        const { ExportArn } = begun
        const { ExportDescription: ended } = await until(
          () => ask('DescribeExport', { ExportArn }),
          ({ ExportDescription: { ExportStatus } }) => ExportStatus !== 'IN_PROGRESS',
        )
        return ended
      }
      for (const skip of sized([0, 1, 3], [0, 1, 2, 3, 4])) {
        faults.fail({ kind: 'write', error: 'ENOSPC', skip })
        const failed = await run()
        faults.heal()
        assert.equal(failed.ExportStatus, 'FAILED', `after ${skip} writes`)
        assert.match(failed.FailureMessage, /ENOSPC/)
        assert.deepEqual(keysIn(bucket), [])
      }
      const { ExportStatus, ItemCount } = await run()
      assert.deepEqual([ExportStatus, ItemCount], ['COMPLETED', ITEMS])
    })
  },
)

test(
  'transfer: an import that finds no room in the journal leaves no table, and can be repeated',
  needsCompiler,
  async () => {
    await withPlace('/journal', async ({ ask, faults, bucket }) => {
      const line = (n: number): string => `{"Item":{"p":{"S":"k${n}"},"v":{"S":"${'x'.repeat(400)}"}}}\n`
      putObject(bucket, 'in/0.json', Array.from({ length: 3000 }, (_, n) => line(n)).join(''))
      const run = async (ClientToken: string): Promise<Answer> => {
        const request = { ...importInput('Taken', { prefix: 'in/' }), ClientToken }
        const { ImportTableDescription: begun } = await ask('ImportTable', request)
        if (ClientToken === 'first') {
          faults.fail({ kind: 'write', error: 'ENOSPC' })
          await until(
            () => Promise.resolve(faults.failed),
            (failed) => failed > 1,
          )
          faults.heal()
        }
        const { ImportArn } = begun
        const { ImportTableDescription: ended } = await until(
          () => ask('DescribeImport', { ImportArn }),
          ({ ImportTableDescription: { ImportStatus } }) => ImportStatus !== 'IN_PROGRESS',
        )
        return ended
      }
      const failed = await run('first')
      if (failed.ImportStatus === 'FAILED') {
        assert.match(failed.FailureMessage, /no room/)
        await assert.rejects(ask('DescribeTable', { TableName: 'Taken' }), /ResourceNotFoundException/)
        const { ImportStatus, ImportedItemCount } = await run('second')
        assert.deepEqual([ImportStatus, ImportedItemCount], ['COMPLETED', 3000])
      }
    })
  },
)
