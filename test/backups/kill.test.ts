// kill -9 in the middle of a backup and of a restore: nothing half is there, nothing is lost, and what is repeated succeeds.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { call, killNow, scan, start } from '../kill/killed-server.js'
import { testFolder } from '../support/folder.js'
import { sized } from '../support/sizes.js'
import { MAIN } from '../support/spawned-server.js'
import { tableOf } from './support.js'

const ITEMS = 3000
const ROUNDS = sized(1, 10)

interface Described {
  readonly BackupDescription: { readonly BackupDetails: { readonly BackupStatus: string } }
}

async function fill(url: string): Promise<void> {
  await call(url, 'CreateTable', tableOf('Source'))
  await call(url, 'UpdateContinuousBackups', {
    TableName: 'Source',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  })
  for (let from = 0; from < ITEMS; from += 25)
    await call(url, 'BatchWriteItem', {
      RequestItems: {
        Source: Array.from({ length: 25 }, (_, n) => ({
          PutRequest: { Item: { id: { S: `k${from + n}` }, v: { S: 'x'.repeat(200) } } },
        })),
      },
    })
}

async function until<T>(ask: () => Promise<T>, is: (answer: T) => boolean): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (is(answer)) return answer
    await pause(20)
  }
}

test('backups: a server that is killed while it makes a backup and restores one has nothing half', async () => {
  const path = testFolder()
  let server = await start(path, 2)
  await fill(server.url)
  const create = async (): Promise<string> => {
    const { BackupDetails: made } = (await call(server.url, 'CreateBackup', {
      TableName: 'Source',
      BackupName: 'name',
    })) as { readonly BackupDetails: { readonly BackupArn: string } }
    return made.BackupArn
  }
  const list = async (): Promise<readonly { readonly BackupArn: string; readonly BackupStatus: string }[]> =>
    (
      (await call(server.url, 'ListBackups', {})) as {
        readonly BackupSummaries: readonly { readonly BackupArn: string; readonly BackupStatus: string }[]
      }
    ).BackupSummaries
  for (let round = 0; round < ROUNDS; round++) {
    await create()
    await pause(round * 7)
    await killNow(server.child)
    server = await start(path, 2)
    for (const { BackupStatus } of await list()) assert.equal(BackupStatus, 'AVAILABLE')
    const drafts = readdirSync(join(path, 'backups')).filter((name) => name.endsWith('.draft'))
    // A base may be in the making again.
    assert.deepEqual(
      drafts.filter((name) => name.startsWith('backup-')),
      [],
    )
    const BackupArn = await create()
    await until(
      () => call(server.url, 'DescribeBackup', { BackupArn }) as Promise<Described>,
      ({ BackupDescription: { BackupDetails: details } }) => details.BackupStatus === 'AVAILABLE',
    )
    const restore = (): Promise<unknown> =>
      call(server.url, 'RestoreTableFromBackup', { BackupArn, TargetTableName: `Target${round}` })
    await restore()
    await pause(round * 7)
    await killNow(server.child)
    server = await start(path, 2)
    const { TableNames } = (await call(server.url, 'ListTables', {})) as {
      readonly TableNames: readonly string[]
    }
    // The restore was over, or there is nothing of it.
    if (!TableNames.includes(`Target${round}`)) await restore()
    await until(
      () => call(server.url, 'DescribeTable', { TableName: `Target${round}` }),
      (answer) => (answer as { Table: { TableStatus: string } }).Table.TableStatus === 'ACTIVE',
    )
    assert.equal((await scan(server.url, `Target${round}`)).length, ITEMS)
  }
  assert.equal((await scan(server.url, 'Source')).length, ITEMS)
  await killNow(server.child)

  // The command of a whole folder, ended when it has begun.
  const to = join(testFolder(), 'restored')
  const args = [MAIN, 'restore', '--path', path, '--to', to, '--at', 'latest', '--table', 'Source']
  const ended = spawn(process.execPath, args, { stdio: 'ignore' })
  const exited = once(ended, 'exit')
  await until(
    () =>
      Promise.resolve(existsSync(join(`${to}.partial`, 'data', 'seriatim.json')) || ended.exitCode !== null),
    Boolean,
  )
  ended.kill('SIGKILL')
  await exited
  const [code] = (await once(spawn(process.execPath, args, { stdio: 'ignore' }), 'exit')) as [number]
  assert.ok(existsSync(to) && (code === 0 || ended.exitCode === 0))
  const again = await start(to, 2)
  assert.equal((await scan(again.url, 'Source')).length, ITEMS)
  await killNow(again.child)
})
