import assert from 'node:assert/strict'
import type { Principal } from '../../src/router/request/access.js'
import { afterEach, beforeEach, describe, test } from 'node:test'
import {
  capacity,
  HASH,
  index,
  N,
  openTables,
  RANGE,
  S,
  START_MS,
  table,
  type TestTables,
} from './tables-support.js'

const ARN = 'arn:aws:dynamodb:us-east-1:000000000000:table/'

let tables: TestTables
beforeEach(async () => {
  tables = await openTables()
})
afterEach(() => tables.close())

describe('CreateTable', () => {
  test('answers that the table is being created, and it can be used at once', async () => {
    const { TableDescription: created } = await tables.call('CreateTable', table('Accounts'))
    assert.equal(created.TableStatus, 'CREATING')
    await tables.put('Accounts', { id: { S: 'alice' } })
    const { Table: described } = await tables.call('DescribeTable', { TableName: 'Accounts' })
    assert.equal(described.TableStatus, 'ACTIVE')
    assert.equal(described.ItemCount, 1)
    assert.ok(described.TableSizeBytes > 0)
  })

  test('keeps everything that the description shows', async () => {
    await tables.call(
      'CreateTable',
      table('Orders', {
        AttributeDefinitions: [S('id'), N('at'), S('group')],
        KeySchema: [HASH('id'), RANGE('at')],
        BillingMode: 'PROVISIONED',
        ProvisionedThroughput: capacity(5, 6),
        LocalSecondaryIndexes: [index('local', [HASH('id'), RANGE('group')])],
        GlobalSecondaryIndexes: [
          index('global', [HASH('group')], {
            Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['total'] },
            ProvisionedThroughput: capacity(1, 2),
          }),
        ],
        StreamSpecification: { StreamEnabled: false },
        SSESpecification: { Enabled: true },
        TableClass: 'STANDARD_INFREQUENT_ACCESS',
        DeletionProtectionEnabled: true,
      }),
    )
    await tables.reopen()
    const { Table: described } = await tables.call('DescribeTable', { TableName: 'Orders' })
    assert.match(described.TableId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    assert.deepEqual(described, {
      AttributeDefinitions: [S('id'), N('at'), S('group')],
      TableName: 'Orders',
      KeySchema: [HASH('id'), RANGE('at')],
      TableStatus: 'ACTIVE',
      CreationDateTime: START_MS / 1000,
      ProvisionedThroughput: { NumberOfDecreasesToday: 0, ReadCapacityUnits: 5, WriteCapacityUnits: 6 },
      TableSizeBytes: 0,
      ItemCount: 0,
      TableArn: `${ARN}Orders`,
      TableId: described.TableId,
      LocalSecondaryIndexes: [
        {
          IndexName: 'local',
          KeySchema: [HASH('id'), RANGE('group')],
          Projection: { ProjectionType: 'ALL' },
          IndexSizeBytes: 0,
          ItemCount: 0,
          IndexArn: `${ARN}Orders/index/local`,
        },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'global',
          KeySchema: [HASH('group')],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['total'] },
          IndexSizeBytes: 0,
          ItemCount: 0,
          IndexArn: `${ARN}Orders/index/global`,
          IndexStatus: 'ACTIVE',
          ProvisionedThroughput: { NumberOfDecreasesToday: 0, ReadCapacityUnits: 1, WriteCapacityUnits: 2 },
        },
      ],
      SSEDescription: {
        Status: 'ENABLED',
        SSEType: 'KMS',
        KMSMasterKeyArn: 'arn:aws:kms:us-east-1:000000000000:alias/aws/dynamodb',
      },
      TableClassSummary: { TableClass: 'STANDARD_INFREQUENT_ACCESS' },
      DeletionProtectionEnabled: true,
    })
  })

  test('of one name by two at once succeeds for one', async () => {
    const answers = await Promise.all([
      tables.refusal('CreateTable', table('Accounts')),
      tables.refusal('CreateTable', table('Accounts')),
    ])
    assert.match(answers[0] ?? '', /^accepted/)
    assert.equal(answers[1], 'ResourceInUseException: Table already exists: Accounts')
  })

  test('says what is billed by request', async () => {
    const { TableDescription: created } = await tables.call('CreateTable', table('Accounts'))
    assert.equal(created.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST')
    assert.deepEqual(created.ProvisionedThroughput, {
      NumberOfDecreasesToday: 0,
      ReadCapacityUnits: 0,
      WriteCapacityUnits: 0,
    })
  })
})

describe('the catalogue', () => {
  test('finds a table by name and refuses one that is not there', async () => {
    await tables.call('CreateTable', table('Accounts'))
    assert.equal(tables.catalog.table('Accounts'), tables.catalog.table('Accounts'))
    assert.throws(() => tables.catalog.table('None'), { message: 'Requested resource not found' })
  })

  test('never uses a key space twice, not even across restarts', async () => {
    const seen = new Set<number>()
    for (let round = 0; round < 3; round++) {
      await tables.call('CreateTable', table('Accounts'))
      const { space } = tables.catalog.table('Accounts').shape
      assert.ok(!seen.has(space))
      seen.add(space)
      await tables.call('DeleteTable', { TableName: 'Accounts' })
      await tables.catalog.idle()
      await tables.reopen()
    }
  })

  test('goes on after a change that could not be written', async () => {
    const [node] = tables.nodes
    assert.ok(node)
    const writeMetaIf = node.writeMetaIf.bind(node)
    node.writeMetaIf = () => Promise.reject(new Error('no space left on device'))
    assert.match(
      await tables.refusal('CreateTable', table('Accounts')),
      /^InternalServerError: .*no space left/,
    )
    node.writeMetaIf = writeMetaIf
    await tables.call('CreateTable', table('Accounts'))
    assert.ok(tables.catalog.table('Accounts').shape.space > 1)
  })
})

describe('DeleteTable', () => {
  test('answers that the table is being deleted, and it is gone at once', async () => {
    await tables.call('CreateTable', table('Accounts'))
    const { TableDescription: deleted } = await tables.call('DeleteTable', { TableName: `${ARN}Accounts` })
    assert.equal(deleted.TableStatus, 'DELETING')
    assert.match(
      await tables.refusal('DescribeTable', { TableName: 'Accounts' }),
      /^ResourceNotFoundException/,
    )
    assert.deepEqual(await tables.call('ListTables', {}), { TableNames: [] })
  })
})

describe('TableName', () => {
  test('may be the ARN of the table', async () => {
    await tables.call('CreateTable', table('Accounts'))
    const { Table: described } = await tables.call('DescribeTable', { TableName: `${ARN}Accounts` })
    assert.equal(described.TableName, 'Accounts')
  })
})

describe('ListTables', () => {
  test('gives names in order and in pages', async () => {
    for (const name of ['gamma', 'Alpha', 'beta', 'delta']) await tables.call('CreateTable', table(name))
    assert.deepEqual(await tables.call('ListTables', { Limit: 2 }), {
      TableNames: ['Alpha', 'beta'],
      LastEvaluatedTableName: 'beta',
    })
    assert.deepEqual(await tables.call('ListTables', { Limit: 2, ExclusiveStartTableName: 'beta' }), {
      TableNames: ['delta', 'gamma'],
    })
    assert.deepEqual(await tables.call('ListTables', { ExclusiveStartTableName: 'betb' }), {
      TableNames: ['delta', 'gamma'],
    })
  })

  test('gives at most 100 names', async () => {
    for (let at = 100; at < 201; at++) await tables.call('CreateTable', table(`table-${at}`))
    const page = await tables.call('ListTables', {})
    assert.equal(page.TableNames.length, 100)
    assert.equal(page.LastEvaluatedTableName, 'table-199')
  })

  test('shows only tables that the caller may read', async () => {
    for (const name of ['mine-1', 'mine-2', 'theirs']) await tables.call('CreateTable', table(name))
    const owner: Principal = { id: 'owner', name: 'owner', allows: (_, name) => name.startsWith('mine') }
    assert.deepEqual(await tables.call('ListTables', { Limit: 2 }, owner), {
      TableNames: ['mine-1', 'mine-2'],
    })
    assert.match(
      await tables.refusal('DescribeTable', { TableName: 'theirs' }, owner),
      /^AccessDeniedException/,
    )
  })
})

describe('UpdateTable', () => {
  const update = (more: object): Promise<unknown> =>
    tables.call('UpdateTable', { TableName: 'Orders', ...more })
  const describeOrders = async (): Promise<ReturnType<TestTables['call']>> =>
    (await tables.call('DescribeTable', { TableName: 'Orders' })).Table
  beforeEach(() =>
    tables.call(
      'CreateTable',
      table('Orders', {
        AttributeDefinitions: [S('id'), S('group')],
        BillingMode: 'PROVISIONED',
        ProvisionedThroughput: capacity(5, 6),
        GlobalSecondaryIndexes: [index('global', [HASH('group')], { ProvisionedThroughput: capacity(1, 2) })],
      }),
    ),
  )

  test('changes throughput and remembers when', async () => {
    await update({ ProvisionedThroughput: capacity(10, 6) })
    tables.clock.advance(1000)
    await update({ ProvisionedThroughput: capacity(10, 3) })
    const described = await describeOrders()
    assert.deepEqual(described.ProvisionedThroughput, {
      LastIncreaseDateTime: START_MS / 1000,
      LastDecreaseDateTime: START_MS / 1000 + 1,
      NumberOfDecreasesToday: 1,
      ReadCapacityUnits: 10,
      WriteCapacityUnits: 3,
    })
  })

  test('changes the throughput of an index alone', async () => {
    await update({
      GlobalSecondaryIndexUpdates: [
        { Update: { IndexName: 'global', ProvisionedThroughput: capacity(3, 4) } },
      ],
    })
    const described = await describeOrders()
    assert.equal(described.GlobalSecondaryIndexes[0].ProvisionedThroughput.WriteCapacityUnits, 4)
    assert.equal(described.ProvisionedThroughput.WriteCapacityUnits, 6)
  })

  test('switches billing to requests and back, indexes included', async () => {
    await update({ BillingMode: 'PAY_PER_REQUEST' })
    let described = await describeOrders()
    assert.equal(described.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST')
    assert.equal(described.ProvisionedThroughput.ReadCapacityUnits, 0)
    assert.equal(described.GlobalSecondaryIndexes[0].ProvisionedThroughput.ReadCapacityUnits, 0)
    await update({ BillingMode: 'PAY_PER_REQUEST' })
    await update({
      BillingMode: 'PROVISIONED',
      ProvisionedThroughput: capacity(7, 7),
      GlobalSecondaryIndexUpdates: [
        { Update: { IndexName: 'global', ProvisionedThroughput: capacity(3, 4) } },
      ],
    })
    described = await describeOrders()
    assert.equal(described.BillingModeSummary.BillingMode, 'PROVISIONED')
    assert.equal(described.ProvisionedThroughput.ReadCapacityUnits, 7)
    assert.equal(described.GlobalSecondaryIndexes[0].ProvisionedThroughput.ReadCapacityUnits, 3)
  })

  test('changes protection and table class', async () => {
    await update({ DeletionProtectionEnabled: true })
    await update({ TableClass: 'STANDARD' })
    const described = await describeOrders()
    assert.equal(described.DeletionProtectionEnabled, true)
    assert.deepEqual(described.TableClassSummary, { TableClass: 'STANDARD' })
    await update({ DeletionProtectionEnabled: false })
    await tables.call('DeleteTable', { TableName: 'Orders' })
  })
})

describe('tags', () => {
  const resource = { ResourceArn: `${ARN}Accounts` }

  test('are added, changed, removed and listed', async () => {
    await tables.call('CreateTable', table('Accounts', { Tags: [{ Key: 'env', Value: 'test' }] }))
    await tables.call('TagResource', {
      ...resource,
      Tags: [
        { Key: 'env', Value: 'live' },
        { Key: 'team', Value: '' },
      ],
    })
    await tables.reopen()
    assert.deepEqual(await tables.call('ListTagsOfResource', resource), {
      Tags: [
        { Key: 'env', Value: 'live' },
        { Key: 'team', Value: '' },
      ],
    })
    await tables.call('UntagResource', { ...resource, TagKeys: ['env', 'unknown'] })
    assert.deepEqual(await tables.call('ListTagsOfResource', resource), {
      Tags: [{ Key: 'team', Value: '' }],
    })
  })
})

describe('DescribeLimits and DescribeEndpoints', () => {
  test('answer with the defaults', async () => {
    assert.equal((await tables.call('DescribeLimits', {})).TableMaxReadCapacityUnits, 40_000)
    assert.equal((await tables.call('DescribeEndpoints', {})).Endpoints.length, 1)
  })
})
