// What infrastructure tools ask for when they create, read and change a table. The sequences are those of Terraform's
// provider (aws_dynamodb_table and the resources around it) and of CloudFormation, by which the CDK creates tables, written
// down as requests.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { CreateTableCommandInput, DynamoDB } from '@aws-sdk/client-dynamodb'
import { open } from '../../src/store/store.js'

async function client(t: TestContext): Promise<DynamoDB> {
  const store = await open({ memory: true })
  t.after(() => store.close())
  return store.client()
}

const S = (name: string) => ({ AttributeName: name, AttributeType: 'S' }) as const
const HASH = (name: string) => ({ AttributeName: name, KeyType: 'HASH' }) as const
const RANGE = (name: string) => ({ AttributeName: name, KeyType: 'RANGE' }) as const
const TableName = 'GameScores'

const TERRAFORM: CreateTableCommandInput = {
  TableName,
  BillingMode: 'PROVISIONED',
  ProvisionedThroughput: { ReadCapacityUnits: 20, WriteCapacityUnits: 20 },
  AttributeDefinitions: [S('UserId'), S('GameTitle'), { AttributeName: 'TopScore', AttributeType: 'N' }],
  KeySchema: [HASH('UserId'), RANGE('GameTitle')],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'GameTitleIndex',
      KeySchema: [HASH('GameTitle'), RANGE('TopScore')],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['UserId'] },
      ProvisionedThroughput: { ReadCapacityUnits: 10, WriteCapacityUnits: 10 },
    },
  ],
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  SSESpecification: { Enabled: true },
  TableClass: 'STANDARD',
  DeletionProtectionEnabled: false,
  Tags: [
    { Key: 'Environment', Value: 'production' },
    { Key: 'Name', Value: 'scores' },
  ],
}

test('infrastructure: what Terraform sends for a table, its time to live and what surrounds it is answered', async (t) => {
  const dynamodb = await client(t)
  const { TableDescription } = await dynamodb.createTable(TERRAFORM)
  assert.equal(TableDescription?.TableStatus, 'CREATING')
  const { Table } = await dynamodb.describeTable({ TableName })
  assert.equal(Table?.TableStatus, 'ACTIVE')
  assert.deepEqual(Table?.TableClassSummary, { TableClass: 'STANDARD' })
  assert.match(Table?.SSEDescription?.KMSMasterKeyArn ?? '', /^arn:aws:kms:/)
  assert.equal(Table?.Replicas, undefined)
  await dynamodb.updateTimeToLive({
    TableName,
    TimeToLiveSpecification: { AttributeName: 'TimeToExist', Enabled: true },
  })
  const ttl = await dynamodb.describeTimeToLive({ TableName })
  assert.equal(ttl.TimeToLiveDescription?.AttributeName, 'TimeToExist')
  const ResourceArn = Table?.TableArn
  const tags = await dynamodb.listTagsOfResource({ ResourceArn })
  assert.equal(tags.Tags?.length, 2)
  // Resources of their own in a plan, which are read when it is refreshed.
  const insights = await dynamodb.describeContributorInsights({ TableName })
  assert.equal(insights.ContributorInsightsStatus, 'DISABLED')
  const kinesis = await dynamodb.describeKinesisStreamingDestination({ TableName })
  assert.deepEqual(kinesis.KinesisDataStreamDestinations, [])
  const scaling = await dynamodb.describeTableReplicaAutoScaling({ TableName })
  assert.deepEqual(scaling.TableAutoScalingDescription?.Replicas, [])
  await assert.rejects(dynamodb.getResourcePolicy({ ResourceArn }), { name: 'PolicyNotFoundException' })
  // A second plan: other billing, another class, protection, an index more; each in a request of its own.
  await dynamodb.updateTable({ TableName, BillingMode: 'PAY_PER_REQUEST' })
  await dynamodb.updateTable({ TableName, TableClass: 'STANDARD_INFREQUENT_ACCESS' })
  await dynamodb.updateTable({ TableName, DeletionProtectionEnabled: true })
  await dynamodb.updateTable({
    TableName,
    AttributeDefinitions: [...TERRAFORM.AttributeDefinitions!, S('Team')],
    GlobalSecondaryIndexUpdates: [
      {
        Create: { IndexName: 'TeamIndex', KeySchema: [HASH('Team')], Projection: { ProjectionType: 'ALL' } },
      },
    ],
  })
  await dynamodb.updateTable({ TableName, DeletionProtectionEnabled: false })
  await dynamodb.deleteTable({ TableName })
  await assert.rejects(dynamodb.describeTable({ TableName }), { name: 'ResourceNotFoundException' })
})

test('infrastructure: what CloudFormation sends for a table of the CDK is answered', async (t) => {
  const dynamodb = await client(t)
  await dynamodb.createTable({
    TableName,
    AttributeDefinitions: [S('pk'), S('sk')],
    KeySchema: [HASH('pk'), RANGE('sk')],
    BillingMode: 'PAY_PER_REQUEST',
    OnDemandThroughput: { MaxReadRequestUnits: 100, MaxWriteRequestUnits: 50 },
    WarmThroughput: { ReadUnitsPerSecond: 15_000, WriteUnitsPerSecond: 5_000 },
    ResourcePolicy: JSON.stringify({ Version: '2012-10-17', Statement: [] }),
    SSESpecification: { Enabled: true, SSEType: 'KMS' },
    Tags: [{ Key: 'aws-cdk:stack', Value: 'Scores' }],
  })
  const { Table } = await dynamodb.describeTable({ TableName })
  assert.deepEqual(Table?.OnDemandThroughput, { MaxReadRequestUnits: 100, MaxWriteRequestUnits: 50 })
  assert.deepEqual(Table?.WarmThroughput, {
    ReadUnitsPerSecond: 15_000,
    WriteUnitsPerSecond: 5_000,
    Status: 'ACTIVE',
  })
  await dynamodb.updateContributorInsights({ TableName, ContributorInsightsAction: 'ENABLE' })
  const insights = await dynamodb.describeContributorInsights({ TableName })
  assert.deepEqual(
    [
      insights.ContributorInsightsStatus,
      insights.ContributorInsightsMode,
      insights.ContributorInsightsRuleList,
    ],
    ['ENABLED', 'ACCESSED_AND_THROTTLED_KEYS', []],
  )
  const listed = await dynamodb.listContributorInsights({})
  assert.deepEqual(
    listed.ContributorInsightsSummaries?.map((each) => each.TableName),
    [TableName],
  )
  const policy = await dynamodb.getResourcePolicy({ ResourceArn: Table?.TableArn })
  assert.match(policy.Policy ?? '', /2012-10-17/)
  assert.deepEqual((await dynamodb.listGlobalTables({})).GlobalTables, [])
})

test('infrastructure: since when a table is paid per request is told once it is there', async (t) => {
  const dynamodb = await client(t)
  const { TableDescription } = await dynamodb.createTable({
    TableName,
    AttributeDefinitions: [S('pk')],
    KeySchema: [HASH('pk')],
    BillingMode: 'PAY_PER_REQUEST',
  })
  assert.deepEqual(TableDescription?.BillingModeSummary, { BillingMode: 'PAY_PER_REQUEST' })
  const { Table } = await dynamodb.describeTable({ TableName })
  assert.deepEqual(
    Table?.BillingModeSummary?.LastUpdateToPayPerRequestDateTime,
    TableDescription.CreationDateTime,
  )
})

test('infrastructure: warm throughput only grows', async (t) => {
  const dynamodb = await client(t)
  await dynamodb.createTable({
    TableName,
    AttributeDefinitions: [S('pk')],
    KeySchema: [HASH('pk')],
    BillingMode: 'PAY_PER_REQUEST',
  })
  const warm = (ReadUnitsPerSecond: number) =>
    dynamodb.updateTable({ TableName, WarmThroughput: { ReadUnitsPerSecond, WriteUnitsPerSecond: 4_000 } })
  await assert.rejects(warm(11_999), /ReadUnitsPerSecond for WarmThroughput for table is lower than current/)
  assert.equal((await warm(20_000)).TableDescription?.WarmThroughput?.ReadUnitsPerSecond, 20_000)
  await assert.rejects(warm(19_999), /decreasing WarmThroughput is not supported/)
})

test('infrastructure: the throughput that a global index is to have on demand and warm is kept, described and bounded', async (t) => {
  const dynamodb = await client(t)
  const index = (WarmThroughput: object, OnDemandThroughput?: object) => ({
    IndexName: 'by-owner',
    KeySchema: [HASH('owner')],
    Projection: { ProjectionType: 'ALL' as const },
    WarmThroughput,
    ...(OnDemandThroughput && { OnDemandThroughput }),
  })
  const create = (given: ReturnType<typeof index>) =>
    dynamodb.createTable({
      TableName,
      AttributeDefinitions: [S('pk'), S('owner')],
      KeySchema: [HASH('pk')],
      BillingMode: 'PAY_PER_REQUEST',
      GlobalSecondaryIndexes: [given],
    })
  await assert.rejects(
    create(index({ ReadUnitsPerSecond: 10_000 })),
    /ReadUnitsPerSecond for WarmThroughput for index by-owner is lower than initial throughput for OnDemand/,
  )
  await assert.rejects(
    create(index({ ReadUnitsPerSecond: 15_000 }, { MaxReadRequestUnits: 0 })),
    /MaxReadRequestUnits for OnDemandThroughput for index by-owner is outside of valid range/,
  )
  await create(index({ ReadUnitsPerSecond: 15_000, WriteUnitsPerSecond: 5_000 }, { MaxReadRequestUnits: 7 }))
  const described = async () => {
    const { Table } = await dynamodb.describeTable({ TableName })
    const [{ WarmThroughput, OnDemandThroughput } = {}] = Table?.GlobalSecondaryIndexes ?? []
    return { ...WarmThroughput, ...OnDemandThroughput }
  }
  const first = { ReadUnitsPerSecond: 15_000, WriteUnitsPerSecond: 5_000, Status: 'ACTIVE' }
  assert.deepEqual(await described(), { ...first, MaxReadRequestUnits: 7 })
  const Update = { IndexName: 'by-owner', OnDemandThroughput: { MaxWriteRequestUnits: 9 } }
  await dynamodb.updateTable({ TableName, GlobalSecondaryIndexUpdates: [{ Update }] })
  assert.deepEqual(await described(), { ...first, MaxReadRequestUnits: 7, MaxWriteRequestUnits: 9 })
})

test('infrastructure: a policy is kept by revision, and refused where it is none or the revision is another', async (t) => {
  const dynamodb = await client(t)
  const { TableDescription } = await dynamodb.createTable(TERRAFORM)
  const ResourceArn = TableDescription?.TableArn
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow' }] })
  const put = (input: object) => dynamodb.putResourcePolicy({ ResourceArn, Policy, ...input })
  const first = await put({ ExpectedRevisionId: 'NO_POLICY' })
  assert.deepEqual((await put({})).RevisionId, first.RevisionId)
  const notFound = (detail: string) => ({
    name: 'PolicyNotFoundException',
    message: `Resource-based policy not found for the provided ResourceArn: ${detail}`,
  })
  await assert.rejects(
    put({ ExpectedRevisionId: 'NO_POLICY' }),
    notFound(
      `Requested policy update expecting none to be present for table ${TableName}, but a policy exists with revision id ${first.RevisionId}.`,
    ),
  )
  const other = notFound(
    `Requested update for policy with revision id 1, but the policy associated to target table ${TableName} has revision id ${first.RevisionId}.`,
  )
  await assert.rejects(put({ ExpectedRevisionId: '1' }), other)
  await assert.rejects(dynamodb.deleteResourcePolicy({ ResourceArn, ExpectedRevisionId: '1' }), other)
  const absent = {
    name: 'ResourceNotFoundException',
    message: `Requested resource not found: Table: ${TableName}_ not found`,
  }
  await assert.rejects(put({ ResourceArn: `${ResourceArn}_` }), absent)
  await assert.rejects(dynamodb.getResourcePolicy({ ResourceArn: `${ResourceArn}_` }), absent)
  await assert.rejects(put({ Policy: 'nonsense' }), { name: 'ValidationException' })
  const stream = TableDescription?.LatestStreamArn
  await dynamodb.putResourcePolicy({ ResourceArn: stream, Policy })
  await dynamodb.deleteResourcePolicy({ ResourceArn, ExpectedRevisionId: first.RevisionId! })
  assert.deepEqual((await dynamodb.deleteResourcePolicy({ ResourceArn })).RevisionId, undefined)
  await assert.rejects(dynamodb.getResourcePolicy({ ResourceArn }), notFound(ResourceArn!))
  assert.equal((await dynamodb.getResourcePolicy({ ResourceArn: stream })).Policy, Policy)
})

test('infrastructure: what would promise what is not there is refused', async (t) => {
  const dynamodb = await client(t)
  await dynamodb.createTable(TERRAFORM)
  const StreamArn = 'arn:aws:kinesis:us-east-1:000000000000:stream/changes'
  await assert.rejects(dynamodb.enableKinesisStreamingDestination({ TableName, StreamArn }), {
    name: 'ResourceNotFoundException',
  })
  await assert.rejects(dynamodb.updateTableReplicaAutoScaling({ TableName }), /not supported by this store/)
  await assert.rejects(
    dynamodb.updateTable({ TableName, ReplicaUpdates: [{ Create: { RegionName: 'eu-west-1' } }] }),
    /not supported by this store/,
  )
  await assert.rejects(dynamodb.describeGlobalTable({ GlobalTableName: TableName }), {
    name: 'GlobalTableNotFoundException',
  })
})

test('infrastructure: the list of contributor insights has every table and index once, page by page', async (t) => {
  const dynamodb = await client(t)
  const expected: string[] = []
  // Names that sort otherwise when something is put behind them, and indexes enabled in another order than that of their names.
  for (const name of ['table', 'table-2', 'table.3']) {
    const [index] = TERRAFORM.GlobalSecondaryIndexes!
    const indexes = ['zzz', 'aaa', 'constructor']
    await dynamodb.createTable({
      ...TERRAFORM,
      TableName: name,
      GlobalSecondaryIndexes: indexes.map((IndexName) => ({ ...index!, IndexName })),
    })
    for (const IndexName of ['zzz', 'aaa', undefined])
      await dynamodb.updateContributorInsights({
        TableName: name,
        IndexName,
        ContributorInsightsAction: 'ENABLE',
      })
    expected.push(`${name}/`, `${name}/aaa`, `${name}/zzz`)
    const other = await dynamodb.describeContributorInsights({ TableName: name, IndexName: 'constructor' })
    assert.equal(other.ContributorInsightsStatus, 'DISABLED')
  }
  const seen: string[] = []
  let NextToken: string | undefined
  for (let pages = 0; pages < 9; pages++) {
    const page = await dynamodb.listContributorInsights({ MaxResults: 2, NextToken })
    for (const each of page.ContributorInsightsSummaries ?? [])
      seen.push(`${each.TableName}/${each.IndexName ?? ''}`)
    NextToken = page.NextToken
    if (NextToken === undefined) break
  }
  assert.deepEqual(seen.toSorted(), expected.toSorted())
})
