// seriatim restore and seriatim backup, and RestoreTables around a transaction.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { run } from '../../src/cli/run.js'
import { processEnvironment } from '../../src/cli/process-environment.js'
import { EXTENSION_PREFIX } from '../../src/port/extension.js'
import { testFolder } from '../support/folder.js'
import { type BackupStore, contentOf, itemOf, openBackups, tableOf } from './support.js'

async function command(...args: readonly string[]): Promise<{ code: number; said: string }> {
  const lines: string[] = []
  const print = (line: string): void => void lines.push(line)
  const code = await run(args, { ...processEnvironment(), print, printError: print })
  return { code, said: lines.join('\n') }
}

async function twoTables(world: BackupStore): Promise<void> {
  for (const name of ['Orders', 'Stock']) {
    await world.store.call('CreateTable', tableOf(name))
    await world.store.call('UpdateContinuousBackups', {
      TableName: name,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    })
  }
}

const transact = ({ store }: BackupStore, value: string) =>
  store.call('TransactWriteItems', {
    TransactItems: ['Orders', 'Stock'].map((TableName) => ({ Put: { TableName, Item: itemOf('a', value) } })),
  })

/** With three transactions, a second apart; answers the id of the second. */
async function threeTransactions(
  t: TestContext,
  path: string,
): Promise<{ world: BackupStore; second: string }> {
  const world = await openBackups(t, { path, nodes: 2 })
  await twoTables(world)
  await world.store.call('UpdateTable', {
    TableName: 'Orders',
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
  })
  for (const value of ['1', '2', '3']) {
    world.clock.advance(1000)
    await transact(world, value)
  }
  const ids: string[] = []
  for await (const { transactionId } of world.store.changes('Orders', { from: 'start' })) {
    ids.push(transactionId ?? '')
    if (ids.length === 3) break
  }
  // The first copies are made.
  await world.store.idle()
  return { world, second: ids[1] as string }
}

test('RestoreTables: several tables are restored to just before and just after a transaction', async (t) => {
  const { world, second } = await threeTransactions(t, testFolder())
  const restore = async (suffix: string, moment: object): Promise<void> => {
    const Tables = ['Orders', 'Stock'].map((name) => ({
      SourceTableName: name,
      TargetTableName: `${name}-${suffix}`,
    }))
    const response = await fetch(world.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `${EXTENSION_PREFIX}RestoreTables`,
      },
      body: JSON.stringify({ Tables, ...moment }),
    })
    assert.equal(response.status, 200, await response.clone().text())
    await world.store.idle()
  }
  await restore('before', { BeforeTransaction: second })
  await restore('after', { AfterTransaction: second })
  for (const name of ['Orders', 'Stock']) {
    assert.deepEqual(await contentOf(world, `${name}-before`), { a: '1' })
    assert.deepEqual(await contentOf(world, `${name}-after`), { a: '2' })
  }
  assert.deepEqual(world.errors, [])
})

test('seriatim restore: a whole folder is brought back to a moment, in a folder of its own', async (t) => {
  const path = testFolder()
  const { world, second } = await threeTransactions(t, path)
  await world.store.close()
  const to = join(testFolder(), 'restored')
  // What an earlier run has left.
  mkdirSync(`${to}.partial`)
  writeFileSync(join(`${to}.partial`, 'unfinished-restore'), '')
  const at = await command('restore', '--path', path, '--to', to, '--at', '2030-01-01T12:00:02.249999Z')
  assert.equal(at.code, 0, at.said)
  assert.match(at.said, /^restored Orders, Stock to .*restored as of 2030-01-01T12:00:02.249999Z$/)
  const before = join(testFolder(), 'before')
  const told = await command(
    'restore',
    '--path',
    path,
    '--to',
    before,
    '--before',
    second,
    '--table',
    'Stock',
  )
  assert.equal(told.code, 0, told.said)
  assert.ok(!existsSync(`${to}.partial`))
  const restored = await openBackups(t, { path: to })
  assert.deepEqual(await contentOf(restored, 'Orders'), { a: '1' })
  assert.deepEqual(await contentOf(restored, 'Stock'), { a: '1' })
  const other = await openBackups(t, { path: before })
  assert.deepEqual(await contentOf(other, 'Stock'), { a: '1' })
  assert.deepEqual((await other.store.call('ListTables', {})).TableNames, ['Stock'])
})

test('seriatim restore: what it refuses, and that nothing is written then', async (t) => {
  const path = testFolder()
  const world = await openBackups(t, { path })
  await world.store.call('CreateTable', tableOf('Plain'))
  await world.store.close()
  const full = testFolder()
  writeFileSync(join(full, 'mine'), '')
  const to = join(testFolder(), 'new')
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['--to', to, '--at', 'noon'], 2, /must be a time/],
    [['--to', to], 2, /one of --at/],
    [['--to', full, '--at', 'latest'], 1, /not empty/],
    [['--to', to, '--at', 'latest'], 1, /Point in time recovery is not enabled for table 'Plain'/],
  ]
  for (const [args, code, said] of cases) {
    const outcome = await command('restore', '--path', path, ...args)
    assert.equal(outcome.code, code, outcome.said)
    assert.match(outcome.said, said)
  }
  const nowhere = await command('restore', '--path', join(path, 'none'), '--to', to, '--at', 'latest')
  assert.match(nowhere.said, /There is no data folder/)
  assert.ok(!existsSync(to))
  assert.deepEqual(readdirSync(full), ['mine'])
})

test('seriatim backup: makes backups of tables of a running server', async (t) => {
  const world = await openBackups(t)
  await world.store.call('CreateTable', tableOf('Orders'))
  const { code, said } = await command('backup', '--endpoint', world.url, '--name', 'nightly', 'Orders')
  assert.equal(code, 0, said)
  assert.match(said, /^arn:aws:dynamodb:us-east-1:000000000000:table\/Orders\/backup\/\d{14}-[0-9a-f]{8}$/)
  const { BackupSummaries } = await world.store.call('ListBackups', {})
  assert.deepEqual(
    BackupSummaries?.map(({ BackupName, BackupStatus }) => [BackupName, BackupStatus]),
    [['nightly', 'AVAILABLE']],
  )
})
