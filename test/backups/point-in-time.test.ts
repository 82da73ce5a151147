// Restores to a point in time with the official client.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testFolder } from '../support/folder.js'
import {
  type BackupStore,
  contentOf,
  DAY_MS,
  itemOf,
  openBackups,
  refusal,
  START_MS,
  tableOf,
} from './support.js'

async function recoverable(world: BackupStore, name: string, days?: number): Promise<void> {
  await world.dynamodb.createTable(tableOf(name))
  await enable(world, name, days)
}

const enable = ({ dynamodb }: BackupStore, TableName: string, RecoveryPeriodInDays?: number) =>
  dynamodb.updateContinuousBackups({
    TableName,
    PointInTimeRecoverySpecification: {
      PointInTimeRecoveryEnabled: true,
      ...(RecoveryPeriodInDays !== undefined && { RecoveryPeriodInDays }),
    },
  })

const put = ({ dynamodb }: BackupStore, TableName: string, id: string, value: string) =>
  dynamodb.putItem({ TableName, Item: itemOf(id, value) })

const restore = (
  { dynamodb }: BackupStore,
  SourceTableName: string,
  TargetTableName: string,
  RestoreDateTime?: Date,
) =>
  dynamodb.restoreTableToPointInTime({
    SourceTableName,
    TargetTableName,
    ...(RestoreDateTime === undefined ? { UseLatestRestorableTime: true } : { RestoreDateTime }),
  })

test('point in time: a table is restored to each of its moments, and to the latest', async (t) => {
  const world = await openBackups(t, { path: testFolder(), nodes: 2 })
  const { store, clock } = world
  await recoverable(world, 'Orders')
  for (const n of [1, 2, 3]) {
    clock.advance(1000)
    await put(world, 'Orders', 'a', String(n))
    await put(world, 'Orders', `only-${n}`, 'x')
  }
  clock.advance(1000)
  await world.dynamodb.deleteItem({ TableName: 'Orders', Key: { id: { S: 'a' } } })
  const { TableDescription } = await restore(world, 'Orders', 'At2', new Date(START_MS + 2500))
  assert.equal(TableDescription?.RestoreSummary?.RestoreDateTime?.getTime(), START_MS + 2500)
  assert.match(TableDescription?.RestoreSummary?.SourceTableArn ?? '', /table\/Orders$/)
  await restore(world, 'Orders', 'At0', new Date(START_MS + 500))
  await restore(world, 'Orders', 'Now')
  await store.idle()
  assert.deepEqual(await contentOf(world, 'At0'), {})
  assert.deepEqual(await contentOf(world, 'At2'), { a: '2', 'only-1': 'x', 'only-2': 'x' })
  assert.deepEqual(await contentOf(world, 'Now'), { 'only-1': 'x', 'only-2': 'x', 'only-3': 'x' })
  assert.deepEqual(world.errors, [])
})

test('point in time: what is told of a table, and what is refused', async (t) => {
  const world = await openBackups(t)
  const { dynamodb, clock, store } = world
  await dynamodb.createTable(tableOf('Plain'))
  const described = async () => {
    const { ContinuousBackupsDescription: told } = await dynamodb.describeContinuousBackups({
      TableName: 'Plain',
    })
    return told
  }
  assert.deepEqual(await described(), {
    ContinuousBackupsStatus: 'ENABLED',
    PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'DISABLED' },
  })
  assert.equal(await refusal(restore(world, 'Plain', 'New')), 'PointInTimeRecoveryUnavailableException')
  assert.equal(await refusal(restore(world, 'None', 'New')), 'TableNotFoundException')
  await enable(world, 'Plain', 3)
  clock.advance(10_000)
  const told = (await described())?.PointInTimeRecoveryDescription
  assert.equal(told?.PointInTimeRecoveryStatus, 'ENABLED')
  assert.equal(told.RecoveryPeriodInDays, 3)
  assert.equal(told.LatestRestorableDateTime?.getTime(), START_MS + 10_000)
  const earliest = told.EarliestRestorableDateTime?.getTime() ?? 0
  assert.ok(earliest >= START_MS && earliest <= START_MS + 10, String(earliest))
  const at = (ms: number) => refusal(restore(world, 'Plain', 'New', new Date(ms)))
  assert.equal(await at(START_MS - 1), 'InvalidRestoreTimeException')
  assert.equal(await at(START_MS + 10_001), 'InvalidRestoreTimeException')
  assert.equal(await at(earliest), 'answered')
  assert.equal(await refusal(restore(world, 'Plain', 'Plain')), 'TableAlreadyExistsException')
  assert.equal(await refusal(enable(world, 'Plain', 36)), 'ValidationException')
  const both = dynamodb.restoreTableToPointInTime({
    SourceTableName: 'Plain',
    TargetTableName: 'Other',
    UseLatestRestorableTime: true,
    RestoreDateTime: new Date(START_MS + 9000),
  })
  assert.equal(await refusal(both), 'ValidationException')
  assert.equal(
    await refusal(dynamodb.restoreTableToPointInTime({ SourceTableName: 'Plain', TargetTableName: 'Other' })),
    'ValidationException',
  )
  await store.idle()
  // Enabled again it begins anew.
  await dynamodb.updateContinuousBackups({
    TableName: 'Plain',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: false },
  })
  await enable(world, 'Plain')
  const again = (await described())?.PointInTimeRecoveryDescription
  assert.equal(again?.RecoveryPeriodInDays, 35)
  assert.ok((again.EarliestRestorableDateTime?.getTime() ?? 0) >= START_MS + 10_000)
})

test('point in time: the period passes: bases are made, and those that no moment needs go, with the log', async (t) => {
  const path = testFolder()
  const world = await openBackups(t, { path })
  const { store, clock } = world
  await recoverable(world, 'Orders', 2)
  const bases = () => readdirSync(join(path, 'backups')).filter((name) => name.startsWith('base-'))
  for (let day = 0; day < 8; day++) {
    await put(world, 'Orders', 'a', String(day))
    clock.advance(DAY_MS / 2)
    await store.idle()
    assert.ok(bases().length >= 1 && bases().length <= 6, `${bases().length} bases`)
  }
  const nowMs = START_MS + 4 * DAY_MS
  const { ContinuousBackupsDescription: told } = await world.dynamodb.describeContinuousBackups({
    TableName: 'Orders',
  })
  assert.equal(
    told?.PointInTimeRecoveryDescription?.EarliestRestorableDateTime?.getTime(),
    nowMs - 2 * DAY_MS,
  )
  await restore(world, 'Orders', 'Old', new Date(nowMs - 2 * DAY_MS))
  await restore(world, 'Orders', 'Newer', new Date(nowMs - DAY_MS / 4))
  await store.idle()
  assert.deepEqual(await contentOf(world, 'Old'), { a: '3' })
  assert.deepEqual(await contentOf(world, 'Newer'), { a: '7' })
  const before = bases().length
  // Nothing is written any more: no further copies, and all the same the log need not be kept.
  for (let day = 0; day < 6; day++) {
    clock.advance(DAY_MS)
    await store.idle()
  }
  assert.ok(bases().length <= before && bases().length >= 1, `${bases().length} bases after ${before}`)
  await restore(world, 'Orders', 'Idle', new Date(nowMs + 5 * DAY_MS))
  await store.idle()
  assert.deepEqual(await contentOf(world, 'Idle'), { a: '7' })
  assert.deepEqual(world.errors, [])
})

test('point in time: a base that is advanced while a restore begins is read all the same', async (t) => {
  const world = await openBackups(t, { path: testFolder() })
  const { store, clock } = world
  await recoverable(world, 'Orders', 2)
  await put(world, 'Orders', 'a', '1')
  clock.advance(DAY_MS)
  await store.idle()
  // The pass that advances the base begins a few turns later each time, so that it meets the restore at all its steps.
  for (let turns = 0; turns < 24; turns++) {
    const target = `Restored${turns}`
    const restoring = store.call('RestoreTableToPointInTime', {
      SourceTableName: 'Orders',
      TargetTableName: target,
      UseLatestRestorableTime: true,
    })
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
    clock.advance(DAY_MS)
    await restoring
    await store.idle()
    assert.deepEqual(world.errors, [], `after ${turns} turns`)
    assert.deepEqual(await contentOf(world, target), { a: '1' }, `after ${turns} turns`)
  }
})

test('point in time: a store that is opened again goes on', async (t) => {
  const path = testFolder()
  const first = await openBackups(t, { path })
  await recoverable(first, 'Orders')
  first.clock.advance(1000)
  await put(first, 'Orders', 'a', '1')
  await first.store.idle()
  await first.store.close()
  const second = await openBackups(t, { path })
  second.clock.advance(5000)
  await put(second, 'Orders', 'a', '2')
  await restore(second, 'Orders', 'Before', new Date(START_MS + 4000))
  await restore(second, 'Orders', 'After')
  await second.store.idle()
  assert.deepEqual(await contentOf(second, 'Before'), { a: '1' })
  assert.deepEqual(await contentOf(second, 'After'), { a: '2' })
})

test('point in time: a deleted table leaves a backup of its last state for 35 days', async (t) => {
  const world = await openBackups(t)
  const { dynamodb, store, clock } = world
  await recoverable(world, 'Orders')
  await put(world, 'Orders', 'a', '1')
  await put(world, 'Orders', 'b', '1')
  await dynamodb.deleteItem({ TableName: 'Orders', Key: { id: { S: 'b' } } })
  await dynamodb.deleteTable({ TableName: 'Orders' })
  await store.idle()
  const { BackupSummaries: found = [] } = await dynamodb.listBackups({ BackupType: 'SYSTEM' })
  assert.deepEqual(
    found.map(({ BackupName, BackupType, TableName }) => ({ BackupName, BackupType, TableName })),
    [{ BackupName: 'Orders$DeletedTableBackup', BackupType: 'SYSTEM', TableName: 'Orders' }],
  )
  assert.equal(found[0]?.BackupExpiryDateTime?.getTime(), START_MS + 35 * DAY_MS)
  await dynamodb.restoreTableFromBackup({ BackupArn: found[0]?.BackupArn, TargetTableName: 'Orders' })
  await store.idle()
  assert.deepEqual(await contentOf(world, 'Orders'), { a: '1' })
  clock.advance(36 * DAY_MS)
  await enable(world, 'Orders')
  await store.idle()
  assert.deepEqual((await dynamodb.listBackups({})).BackupSummaries, [])
  assert.deepEqual(world.errors, [])
})

test('point in time: a stream shows what it was asked for, however much the log has', async (t) => {
  const world = await openBackups(t)
  const { dynamodb, store } = world
  await dynamodb.createTable(
    tableOf('Orders', { StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } }),
  )
  await enable(world, 'Orders')
  await put(world, 'Orders', 'a', '1')
  for await (const change of store.changes('Orders', { from: 'start' })) {
    assert.deepEqual(change.keys, { id: 'a' })
    assert.equal(change.new, undefined)
    break
  }
})
