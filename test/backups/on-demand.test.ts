// On-demand backups with the official client: what is answered, what is restored, what is refused.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testFolder } from '../support/folder.js'
import { contentOf, itemOf, openBackups, refusal, START_MS, tableOf } from './support.js'

for (const place of ['memory', 'folder'] as const) {
  test(`backups: a backup is the table as it was when it was asked for, in a ${place}`, async (t) => {
    const world = await openBackups(t, place === 'folder' ? { path: testFolder(), nodes: 3 } : {})
    const { dynamodb, store } = world
    await dynamodb.createTable(tableOf('Music'))
    for (const id of ['a', 'b', 'c']) await dynamodb.putItem({ TableName: 'Music', Item: itemOf(id, '1') })
    const { BackupDetails: made } = await dynamodb.createBackup({ TableName: 'Music', BackupName: 'first' })
    await dynamodb.putItem({ TableName: 'Music', Item: itemOf('a', '2') })
    await dynamodb.deleteItem({ TableName: 'Music', Key: { id: { S: 'b' } } })
    await dynamodb.putItem({ TableName: 'Music', Item: itemOf('d', '1') })
    // It changes nothing, and leaves no record.
    await dynamodb.putItem({ TableName: 'Music', Item: itemOf('c', '1') })
    assert.equal(made?.BackupStatus, 'CREATING')
    assert.equal(made.BackupType, 'USER')
    assert.equal(made.BackupCreationDateTime?.getTime(), START_MS)
    assert.match(
      made.BackupArn ?? '',
      /^arn:aws:dynamodb:eu-west-1:000000000000:table\/Music\/backup\/01893499200250-[0-9a-f]{8}$/,
    )
    await store.idle()
    const { BackupDescription: described } = await dynamodb.describeBackup({ BackupArn: made.BackupArn })
    assert.equal(described?.BackupDetails?.BackupStatus, 'AVAILABLE')
    assert.equal(described.SourceTableDetails?.ItemCount, 3)
    assert.equal(described.SourceTableDetails?.BillingMode, 'PAY_PER_REQUEST')

    const { TableDescription: restored } = await dynamodb.restoreTableFromBackup({
      BackupArn: made.BackupArn,
      TargetTableName: 'Music2',
    })
    assert.equal(restored?.TableStatus, 'CREATING')
    assert.equal(restored.RestoreSummary?.RestoreInProgress, true)
    assert.equal(restored.RestoreSummary?.SourceBackupArn, made.BackupArn)
    await store.idle()
    const { Table: whole } = await dynamodb.describeTable({ TableName: 'Music2' })
    assert.equal(whole?.TableStatus, 'ACTIVE')
    assert.equal(whole.RestoreSummary?.RestoreInProgress, false)
    assert.equal(whole.ItemCount, 3)
    assert.deepEqual(await contentOf(world, 'Music2'), { a: '1', b: '1', c: '1' })
    assert.deepEqual(await contentOf(world, 'Music'), { a: '2', c: '1', d: '1' })

    await dynamodb.deleteTable({ TableName: 'Music' })
    await dynamodb.restoreTableFromBackup({ BackupArn: made.BackupArn, TargetTableName: 'Music' })
    await store.idle()
    assert.deepEqual(await contentOf(world, 'Music'), { a: '1', b: '1', c: '1' })
    assert.deepEqual(world.errors, [])
  })
}

test('backups: indexes are restored, left out or kept by an override, and billing is as it says', async (t) => {
  const world = await openBackups(t)
  const { dynamodb, store } = world
  const index = (IndexName: string, name: string) => ({
    IndexName,
    KeySchema: [{ AttributeName: name, KeyType: 'HASH' as const }],
    Projection: { ProjectionType: 'ALL' as const },
  })
  await dynamodb.createTable(
    tableOf('Indexed', {
      AttributeDefinitions: ['id', 'v', 'w'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
      GlobalSecondaryIndexes: [index('byV', 'v'), index('byW', 'w')],
    }),
  )
  await dynamodb.putItem({ TableName: 'Indexed', Item: itemOf('a', 'x') })
  const { BackupDetails: made } = await dynamodb.createBackup({ TableName: 'Indexed', BackupName: 'one' })
  await store.idle()
  const { BackupDescription: described } = await dynamodb.describeBackup({ BackupArn: made?.BackupArn })
  assert.equal(described?.SourceTableFeatureDetails?.GlobalSecondaryIndexes?.length, 2)
  const query = (TableName: string) =>
    dynamodb.query({
      TableName,
      IndexName: 'byV',
      KeyConditionExpression: 'v = :v',
      ExpressionAttributeValues: { ':v': { S: 'x' } },
    })
  const BackupArn = made?.BackupArn
  const all = await dynamodb.restoreTableFromBackup({ BackupArn, TargetTableName: 'All' })
  assert.deepEqual(
    all.TableDescription?.GlobalSecondaryIndexes?.map(({ IndexStatus }) => IndexStatus),
    ['CREATING', 'CREATING'],
  )
  await store.idle()
  assert.equal((await query('All')).Count, 1)

  await dynamodb.restoreTableFromBackup({
    BackupArn,
    TargetTableName: 'One',
    GlobalSecondaryIndexOverride: [
      { ...index('byV', 'v'), ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 2 } },
    ],
    BillingModeOverride: 'PROVISIONED',
    ProvisionedThroughputOverride: { ReadCapacityUnits: 3, WriteCapacityUnits: 4 },
  })
  await store.idle()
  const { Table: one } = await dynamodb.describeTable({ TableName: 'One' })
  assert.deepEqual(
    one?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName),
    ['byV'],
  )
  assert.equal(one?.ProvisionedThroughput?.WriteCapacityUnits, 4)
  assert.equal((await query('One')).Count, 1)

  await dynamodb.restoreTableFromBackup({
    BackupArn,
    TargetTableName: 'None',
    GlobalSecondaryIndexOverride: [],
  })
  await store.idle()
  const { Table: none } = await dynamodb.describeTable({ TableName: 'None' })
  assert.equal(none?.GlobalSecondaryIndexes, undefined)
  assert.deepEqual(none?.AttributeDefinitions, [{ AttributeName: 'id', AttributeType: 'S' }])

  const other = dynamodb.restoreTableFromBackup({
    BackupArn,
    TargetTableName: 'Wrong',
    GlobalSecondaryIndexOverride: [index('byX', 'v')],
  })
  assert.equal(await refusal(other), 'ValidationException')
})

test('backups: an item that does not fit an index is restored without it', async (t) => {
  const world = await openBackups(t)
  const { dynamodb, store } = world
  await dynamodb.createTable(tableOf('Late'))
  await dynamodb.putItem({ TableName: 'Late', Item: { id: { S: 'a' }, v: { N: '1' } } })
  await dynamodb.updateTable({
    TableName: 'Late',
    AttributeDefinitions: [{ AttributeName: 'v', AttributeType: 'S' }],
    GlobalSecondaryIndexUpdates: [
      {
        Create: {
          IndexName: 'byV',
          KeySchema: [{ AttributeName: 'v', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      },
    ],
  })
  await store.idle()
  const { BackupDetails: made } = await dynamodb.createBackup({ TableName: 'Late', BackupName: 'one' })
  await store.idle()
  await dynamodb.restoreTableFromBackup({ BackupArn: made?.BackupArn, TargetTableName: 'Again' })
  await store.idle()
  assert.equal((await dynamodb.scan({ TableName: 'Again' })).Count, 1)
  assert.equal((await dynamodb.scan({ TableName: 'Again', IndexName: 'byV' })).Count, 0)
  assert.deepEqual(world.errors, [])
})

test('backups: refusals have the names that DynamoDB gives them', async (t) => {
  const world = await openBackups(t)
  const { dynamodb, store } = world
  await dynamodb.createTable(tableOf('Here'))
  const unknown = 'arn:aws:dynamodb:eu-west-1:000000000000:table/Here/backup/01893499200250-00000000'
  const create = (TableName: string, BackupName = 'name') => dynamodb.createBackup({ TableName, BackupName })
  assert.equal(await refusal(create('Gone')), 'TableNotFoundException')
  assert.equal(await refusal(create('Here', 'no')), 'ValidationException')
  assert.equal(await refusal(dynamodb.describeBackup({ BackupArn: unknown })), 'BackupNotFoundException')
  assert.equal(await refusal(dynamodb.deleteBackup({ BackupArn: unknown })), 'BackupNotFoundException')
  const restore = (BackupArn: string | undefined, TargetTableName: string) =>
    dynamodb.restoreTableFromBackup({ BackupArn, TargetTableName })
  assert.equal(await refusal(restore(unknown, 'There')), 'BackupNotFoundException')
  const { BackupDetails: made } = await create('Here')
  await store.idle()
  assert.equal(await refusal(restore(made?.BackupArn, 'Here')), 'TableAlreadyExistsException')
  await dynamodb.deleteBackup({ BackupArn: made?.BackupArn })
  assert.equal(
    await refusal(dynamodb.describeBackup({ BackupArn: made?.BackupArn })),
    'BackupNotFoundException',
  )
  assert.equal(
    await refusal(dynamodb.describeContinuousBackups({ TableName: 'Gone' })),
    'TableNotFoundException',
  )
})

test('backups: they are listed by table, time and type, in pages', async (t) => {
  const world = await openBackups(t)
  const { dynamodb, store, clock } = world
  for (const table of ['One', 'Two']) await dynamodb.createTable(tableOf(table))
  for (const [n, table] of ['One', 'Two', 'One', 'One'].entries()) {
    await dynamodb.createBackup({ TableName: table, BackupName: `n${n}-x` })
    await store.idle()
    clock.advance(1000)
  }
  const names = async (input: Parameters<typeof dynamodb.listBackups>[0]) => {
    const { BackupSummaries = [], LastEvaluatedBackupArn: last } = await dynamodb.listBackups(input)
    return { names: BackupSummaries.map(({ BackupName }) => BackupName), last }
  }
  assert.deepEqual((await names({})).names, ['n0-x', 'n1-x', 'n2-x', 'n3-x'])
  assert.deepEqual((await names({ TableName: 'One' })).names, ['n0-x', 'n2-x', 'n3-x'])
  assert.deepEqual((await names({ BackupType: 'SYSTEM' })).names, [])
  const first = await names({ TableName: 'One', Limit: 2 })
  assert.deepEqual(first.names, ['n0-x', 'n2-x'])
  const second = await names({ TableName: 'One', Limit: 2, ExclusiveStartBackupArn: first.last })
  assert.deepEqual(second, { names: ['n3-x'], last: undefined })
  const bounds = {
    TimeRangeLowerBound: new Date(START_MS + 1000),
    TimeRangeUpperBound: new Date(START_MS + 3000),
  }
  assert.deepEqual((await names(bounds)).names, ['n1-x', 'n2-x'])
})

test('backups: a folder that is opened again has its backups, and what was not finished is gone', async (t) => {
  const path = testFolder()
  const world = await openBackups(t, { path })
  await world.dynamodb.createTable(tableOf('Kept'))
  await world.dynamodb.putItem({ TableName: 'Kept', Item: itemOf('a', '1') })
  const { BackupDetails: made } = await world.dynamodb.createBackup({ TableName: 'Kept', BackupName: 'one' })
  await world.store.idle()
  await world.store.close()
  const again = await openBackups(t, { path })
  const { BackupSummaries } = await again.dynamodb.listBackups({})
  assert.equal(BackupSummaries?.length, 1)
  await again.dynamodb.restoreTableFromBackup({ BackupArn: made?.BackupArn, TargetTableName: 'New' })
  await again.store.idle()
  assert.deepEqual(await contentOf(again, 'New'), { a: '1' })
  assert.deepEqual(
    readdirSync(join(path, 'backups')).filter((name) => name.endsWith('.draft')),
    [],
  )
})

test('backups: a table is not deleted while it is backed up, nor answered for before it is restored', async (t) => {
  const world = await openBackups(t)
  const { store } = world
  await store.call('CreateTable', tableOf('Busy'))
  await store.call('PutItem', { TableName: 'Busy', Item: itemOf('a', '1') })
  const { BackupDetails: made } = await store.call('CreateBackup', { TableName: 'Busy', BackupName: 'one' })
  assert.equal(await refusal(store.call('DeleteTable', { TableName: 'Busy' })), 'ResourceInUseException')
  assert.equal(
    await refusal(store.call('CreateBackup', { TableName: 'Busy', BackupName: 'two' })),
    'BackupInUseException',
  )
  const { BackupArn } = made!
  assert.equal(await refusal(store.call('DeleteBackup', { BackupArn })), 'BackupInUseException')
  await store.idle()
  await store.call('RestoreTableFromBackup', { BackupArn, TargetTableName: 'Half' })
  assert.equal(await refusal(store.call('Scan', { TableName: 'Half' })), 'ResourceNotFoundException')
  assert.equal(await refusal(store.call('DeleteTable', { TableName: 'Half' })), 'ResourceInUseException')
  const again = store.call('RestoreTableFromBackup', { BackupArn, TargetTableName: 'Half' })
  assert.equal(await refusal(again), 'TableInUseException')
  await store.idle()
  assert.deepEqual(await contentOf(world, 'Half'), { a: '1' })
  await store.call('DeleteTable', { TableName: 'Busy' })
})
