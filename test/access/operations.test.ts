// Walks the table of access: each operation and each part of its input, with a key that has everything but what it needs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  operationAccess,
  type Access,
  type AccessPart,
  type OperationName,
} from '../../src/router/request/access.js'
import { Key, key, openKeyed, tableOf } from './keys.js'

type Examples = {
  readonly [Name in OperationName]: {
    readonly [Part in keyof (typeof operationAccess)[Name]]: (table: string) => object
  }
}

const Unit = { Id: 'unit', Isolation: 'serializable' }
const arn = (table: string): string => `arn:aws:dynamodb:eu-central-1:123456789012:table/${table}`
const streamArn = (table: string): string => `${arn(table)}/stream/2030-01-01T12:00:00.250`
const kinesisArn = 'arn:aws:kinesis:eu-central-1:123456789012:stream/changes'
/** A member that may be read and written by every key of the walk: it stands first, so that order does not help. */
const FREE = 'free'
const free = { TableName: FREE, Key: Key('1') }
const check = (table: string) => ({
  ConditionCheck: { TableName: table, Key: Key('1'), ConditionExpression: 'attribute_not_exists(x)' },
})
const put = (table: string) => ({ Put: { TableName: table, Item: Key('2') } })
const update = (table: string) => ({
  Update: { TableName: table, Key: Key('3'), UpdateExpression: 'REMOVE x' },
})
const remove = (table: string) => ({ Delete: { TableName: table, Key: Key('4') } })
const wait = {
  Key: Key('1'),
  ConditionExpression: 'attribute_exists(nothing)',
  TimeoutMs: 0,
}
const one = { TableName: '', Key: Key('1') }

const statements = {
  Select: (table: string) => `SELECT * FROM "${table}" WHERE id = '1'`,
  Put: (table: string) => `INSERT INTO "${table}" VALUE {'id': '${++inserted}'}`,
  Update: (table: string) => `UPDATE "${table}" SET x = 1 WHERE id = '3'`,
  Delete: (table: string) => `DELETE FROM "${table}" WHERE id = '4' RETURNING ALL OLD *`,
  ConditionCheck: (table: string) => `EXISTS(SELECT * FROM "${table}" WHERE id = '5' AND x IS MISSING)`,
}
const backupArn = (table: string): string => `${arn(table)}/backup/01893499200250-0a1b2c3d`
const restores = (...tables: readonly object[]): object => ({
  Tables: [{ SourceTableName: FREE, TargetTableName: 'free-1' }, ...tables],
  UseLatestRestorableTime: true,
})
const asMember = (Statement: string) => ({ Statement })
let inserted = 1000
const importInto = (TableName: string) => ({
  S3BucketSource: { S3Bucket: 'absent' },
  InputFormat: 'CSV',
  TableCreationParameters: tableOf(TableName),
})

/** An operation or a part without an example does not compile. */
const examples: Examples = {
  GetItem: { table: (TableName) => ({ ...one, TableName }) },
  BatchGetItem: {
    table: (table) => ({ RequestItems: { [FREE]: { Keys: [Key('1')] }, [table]: { Keys: [Key('1')] } } }),
  },
  TransactGetItems: {
    table: (TableName) => ({ TransactItems: [{ Get: free }, { Get: { ...one, TableName } }] }),
  },
  Query: {
    table: (TableName) => ({
      TableName,
      KeyConditionExpression: 'id = :id',
      ExpressionAttributeValues: { ':id': { S: '1' } },
    }),
  },
  Scan: { table: (TableName) => ({ TableName }) },
  WaitForItem: { table: (TableName) => ({ TableName, ...wait }) },
  PutItem: { table: (TableName) => ({ TableName, Item: Key('1') }) },
  UpdateItem: { table: (TableName) => ({ ...one, TableName }) },
  DeleteItem: { table: (TableName) => ({ ...one, TableName }) },
  BatchWriteItem: {
    table: (table) => ({
      RequestItems: {
        [FREE]: [{ PutRequest: { Item: Key('1') } }],
        [table]: [{ PutRequest: { Item: Key('1') } }],
      },
    }),
  },
  TransactWriteItems: {
    Put: (table) => ({ TransactItems: [put(FREE), put(table)] }),
    Update: (table) => ({ TransactItems: [put(FREE), update(table)] }),
    Delete: (table) => ({ TransactItems: [put(FREE), remove(table)] }),
    ConditionCheck: (table) => ({ TransactItems: [put(FREE), check(table)] }),
  },
  ExecuteStatement: {
    Select: (table) => ({ Statement: statements.Select(table) }),
    Put: (table) => ({ Statement: statements.Put(table) }),
    Update: (table) => ({ Statement: statements.Update(table) }),
    Delete: (table) => ({ Statement: statements.Delete(table) }),
  },
  BatchExecuteStatement: {
    Select: (table) => ({ Statements: [statements.Select(FREE), statements.Select(table)].map(asMember) }),
    Put: (table) => ({ Statements: [statements.Put(FREE), statements.Put(table)].map(asMember) }),
    Update: (table) => ({ Statements: [statements.Put(FREE), statements.Update(table)].map(asMember) }),
    Delete: (table) => ({ Statements: [statements.Put(FREE), statements.Delete(table)].map(asMember) }),
  },
  ExecuteTransaction: {
    Select: (table) => ({
      TransactStatements: [statements.Select(FREE), statements.Select(table)].map(asMember),
    }),
    Put: (table) => ({ TransactStatements: [statements.Put(FREE), statements.Put(table)].map(asMember) }),
    Update: (table) => ({
      TransactStatements: [statements.Put(FREE), statements.Update(table)].map(asMember),
    }),
    Delete: (table) => ({
      TransactStatements: [statements.Put(FREE), statements.Delete(table)].map(asMember),
    }),
    ConditionCheck: (table) => ({
      TransactStatements: [statements.Put(FREE), statements.ConditionCheck(table)].map(asMember),
    }),
  },
  UnitGetItems: {
    table: (TableName) => ({ Unit, Gets: [free, { ...one, TableName }] }),
    Lock: (TableName) => ({ Unit, Gets: [free, { ...one, TableName, Lock: true }] }),
  },
  UnitQuery: {
    table: (TableName) => ({
      Unit,
      TableName,
      KeyConditionExpression: 'id = :id',
      ExpressionAttributeValues: { ':id': { S: '1' } },
    }),
  },
  UnitScan: { table: (TableName) => ({ Unit, TableName }) },
  UnitCommit: {
    Put: (table) => ({ Unit, TransactItems: [put(FREE), put(table)] }),
    Update: (table) => ({ Unit, TransactItems: [put(FREE), update(table)] }),
    Delete: (table) => ({ Unit, TransactItems: [put(FREE), remove(table)] }),
    ConditionCheck: (table) => ({ Unit, TransactItems: [put(FREE), check(table)] }),
    Reads: (TableName) => ({ Unit, TransactItems: [put(FREE)], Reads: [{ ...one, TableName }] }),
    Predicates: (TableName) => ({ Unit, TransactItems: [put(FREE)], Predicates: [{ TableName }] }),
    Locks: (TableName) => ({ Unit, TransactItems: [put(FREE)], Locks: [{ ...one, TableName }] }),
  },
  UnitEnd: { Locks: (TableName) => ({ Unit, Locks: [{ ...one, TableName }] }) },
  UnitOutcome: {},
  DescribeTable: { table: (TableName) => ({ TableName }) },
  DescribeTimeToLive: { table: (TableName) => ({ TableName }) },
  ListTagsOfResource: { table: (table) => ({ ResourceArn: arn(table) }) },
  ListTables: { listed: () => ({}) },
  ListStreams: { listed: () => ({}) },
  ExportTableToPointInTime: { table: (table) => ({ TableArn: arn(table), S3Bucket: 'absent' }) },
  DescribeExport: { table: (table) => ({ ExportArn: `${arn(table)}/export/01234567890123-0badf00d` }) },
  ListExports: { listed: () => ({}) },
  ImportTable: { table: (table) => importInto(table) },
  DescribeImport: { table: (table) => ({ ImportArn: `${arn(table)}/import/01234567890123-0badf00d` }) },
  ListImports: { listed: () => ({}) },
  DescribeStream: { table: (table) => ({ StreamArn: streamArn(table) }) },
  GetShardIterator: {
    table: (table) => ({
      StreamArn: streamArn(table),
      ShardId: 'shardId-00000001893499200250-00000000',
      ShardIteratorType: 'LATEST',
    }),
  },
  GetRecords: { table: (table) => ({ ShardIterator: `${streamArn(table)}|1|AAAA.${'A'.repeat(43)}` }) },
  SearchVectors: {
    table: (TableName) => ({ TableName, IndexName: 'near', SearchVector: [{ N: '1' }], TopK: 1 }),
  },
  GetResourcePolicy: { table: (table) => ({ ResourceArn: arn(table) }) },
  DescribeContributorInsights: { table: (TableName) => ({ TableName }) },
  ListContributorInsights: { listed: () => ({}) },
  DescribeKinesisStreamingDestination: { table: (TableName) => ({ TableName }) },
  DescribeTableReplicaAutoScaling: { table: (TableName) => ({ TableName }) },
  DescribeGlobalTable: { table: (GlobalTableName) => ({ GlobalTableName }) },
  ListGlobalTables: {},
  GetRevision: { table: (TableName) => ({ ...one, TableName }) },
  ListRevisions: { table: (TableName) => ({ ...one, TableName }) },
  GetBlock: { table: () => ({ TransactionId: 'guarded' }) },
  GetDigest: {},
  GetLedgerFile: { table: () => ({ Path: 'guarded' }) },
  DescribeLimits: {},
  DescribeEndpoints: {},
  CreateBackup: { table: (TableName) => ({ TableName, BackupName: 'one' }) },
  DescribeBackup: { table: (table) => ({ BackupArn: backupArn(table) }) },
  ListBackups: { listed: () => ({}) },
  DeleteBackup: { table: (table) => ({ BackupArn: backupArn(table) }) },
  UpdateContinuousBackups: {
    table: (TableName) => ({
      TableName,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    }),
  },
  DescribeContinuousBackups: { table: (TableName) => ({ TableName }) },
  RestoreTableFromBackup: {
    Source: (table) => ({ BackupArn: backupArn(table), TargetTableName: 'free-2' }),
    Target: (TargetTableName) => ({ BackupArn: backupArn(FREE), TargetTableName }),
  },
  RestoreTableToPointInTime: {
    Source: (table) => ({
      SourceTableArn: arn(table),
      TargetTableName: 'free-2',
      UseLatestRestorableTime: true,
    }),
    Target: (TargetTableName) => ({ SourceTableName: FREE, TargetTableName, UseLatestRestorableTime: true }),
  },
  RestoreTables: {
    Source: (table) => restores({ SourceTableName: table, TargetTableName: 'free-2' }),
    Target: (table) => restores({ SourceTableName: FREE, TargetTableName: table }),
  },
  CreateTable: { table: (table) => tableOf(table) },
  UpdateTable: { table: (TableName) => ({ TableName, DeletionProtectionEnabled: false }) },
  DeleteTable: { table: (TableName) => ({ TableName }) },
  UpdateTimeToLive: {
    table: (TableName) => ({ TableName, TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true } }),
  },
  TagResource: { table: (table) => ({ ResourceArn: arn(table), Tags: [{ Key: 'k', Value: 'v' }] }) },
  UntagResource: { table: (table) => ({ ResourceArn: arn(table), TagKeys: ['k'] }) },
  PutResourcePolicy: { table: (table) => ({ ResourceArn: arn(table), Policy: '{"Statement":[]}' }) },
  DeleteResourcePolicy: { table: (table) => ({ ResourceArn: arn(table) }) },
  UpdateContributorInsights: {
    table: (TableName) => ({ TableName, ContributorInsightsAction: 'ENABLE' }),
  },
  EnableKinesisStreamingDestination: { table: (TableName) => ({ TableName, StreamArn: kinesisArn }) },
  DisableKinesisStreamingDestination: { table: (TableName) => ({ TableName, StreamArn: kinesisArn }) },
  UpdateKinesisStreamingDestination: { table: (TableName) => ({ TableName, StreamArn: kinesisArn }) },
  UpdateTableReplicaAutoScaling: { table: (TableName) => ({ TableName }) },
  RedactRevision: { table: (TableName) => ({ ...one, TableName, Version: 0 }) },
  ListTransactions: { everyTable: () => ({}) },
  ListContention: { everyTable: () => ({}) },
}

/** What else a request with that part needs: a lock is read, too, and a restore concerns two tables. */
function othersWith(name: OperationName, part: AccessPart): readonly Access[] {
  if (part === 'Source') return ['admin']
  return part === 'Target' || (name === 'UnitGetItems' && part === 'Lock') ? ['read'] : []
}

const ALL: readonly Access[] = ['read', 'write', 'admin']

/** Every part that can be refused, with the accesses of which it needs one. */
function* parts(): Generator<readonly [OperationName, AccessPart, readonly Access[], object]> {
  for (const [name, entry] of Object.entries(operationAccess) as [OperationName, object][]) {
    for (const [part, needed] of Object.entries(entry) as [AccessPart, Access | readonly Access[]][]) {
      // These leave out what they refuse, or what a block touches decides: test/blocks/access.test.ts.
      if (part === 'listed' || name === 'GetBlock' || name === 'GetLedgerFile') continue
      const example = (examples[name] as Record<string, (table: string) => object>)[part]
      assert.ok(example)
      yield [name, part, [needed].flat(), example('guarded')]
    }
  }
}

test('access: an operation is refused to a key that has every access but the one it needs', async (t) => {
  const keys = new Map<string, ReturnType<typeof key>[]>()
  for (const [, , needed] of parts()) {
    const id = `without_${needed.join('_')}`
    const rest = ALL.filter((access) => !needed.includes(access))
    // Two entries would be two secrets: everything that a key may do is in one, so the free table has its own rights.
    keys.set(id, [key(id, rest)])
  }
  const { as } = await openKeyed(t, [key('OWNER', ALL), ...[...keys.values()].flat()])
  await as('OWNER').call('CreateTable', tableOf(FREE))
  await as('OWNER').call('CreateTable', tableOf('guarded'))
  for (const [name, part, needed, input] of parts()) {
    const outcome = await as(`without_${needed.join('_')}`).outcome(name, input)
    assert.equal(outcome, 'AccessDeniedException', `${name}, ${part}`)
  }
})

test('access: every member of a request needs it on its own table', async (t) => {
  // All rights, but on the tables of one half only; the members of that half come first.
  const keys = [key('OWNER', ALL), key('HALF', ALL, ['fre*'])]
  const { as } = await openKeyed(t, keys)
  await as('OWNER').call('CreateTable', tableOf(FREE))
  await as('OWNER').call('CreateTable', tableOf('guarded'))
  for (const [name, part, , input] of parts()) {
    assert.equal(await as('HALF').outcome(name, input), 'AccessDeniedException', `${name}, ${part}`)
    const byArn = JSON.parse(
      JSON.stringify(input).replaceAll('"guarded"', JSON.stringify(arn('guarded'))),
    ) as object
    // A table that is to be created has a name, and no ARN yet.
    if (name !== 'CreateTable' && part !== 'Target')
      assert.equal(await as('HALF').outcome(name, byArn), 'AccessDeniedException', `${name}, ${part}, by ARN`)
  }
})

test('access: a key that has what an operation needs, and no more, is answered', async (t) => {
  const ids = ['read', 'write', 'admin', 'read_write', 'admin_read'] as const
  const { as } = await openKeyed(t, [
    key('OWNER', ALL),
    ...ids.map((id) => key(id, id.split('_') as Access[])),
  ])
  await as('OWNER').call('CreateTable', tableOf(FREE))
  for (const [name, part, needed, input] of parts()) {
    if (name !== 'CreateTable') await as('OWNER').outcome('CreateTable', tableOf('guarded'))
    else await as('OWNER').outcome('DeleteTable', { TableName: 'guarded' })
    const everything = Object.values(operationAccess[name]) as (Access | readonly Access[])[]
    // With the part come others: whoever locks an item also reads it, and `free` is written in all of them.
    const others = othersWith(name, part)
    const writesToo = everything.some((access) => access === 'write') && name !== 'UnitGetItems'
    for (const access of needed) {
      const with_ = new Set<Access>([access, ...others, ...(writesToo ? (['write'] as const) : [])])
      const outcome = await as([...with_].toSorted().join('_')).outcome(name, input)
      assert.notEqual(outcome, 'AccessDeniedException', `${name}, ${part}, with ${[...with_].join()}`)
    }
  }
})

test('access: the store has every operation of the table', async (t) => {
  const { as } = await openKeyed(t, [key('NONE', ['admin'], ['nothing'])])
  for (const name of Object.keys(operationAccess) as OperationName[])
    assert.notEqual(await as('NONE').outcome(name, {}), 'UnknownOperationException', name)
})

test('access: ListTables shows what may be read, and an index ARN opens no table', async (t) => {
  const { as } = await openKeyed(t, [key('OWNER', ALL), key('SOME', ['read'], ['mine*'])])
  for (const name of ['mine-1', 'mine-2', 'other']) await as('OWNER').call('CreateTable', tableOf(name))
  assert.deepEqual((await as('SOME').call('ListTables', {}))['TableNames'], ['mine-1', 'mine-2'])
  const index = `${arn('other')}/index/by-id`
  assert.equal(await as('SOME').outcome('Scan', { TableName: index }), 'ValidationException')
  assert.equal(await as('SOME').outcome('ListTagsOfResource', { ResourceArn: index }), 'ValidationException')
})

test('access: a key with read access alone may check a condition, and cannot lock', async (t) => {
  const { as } = await openKeyed(t, [key('OWNER', ALL), key('READER', ['read'])])
  await as('OWNER').call('CreateTable', tableOf('guarded'))
  assert.equal(
    await as('READER').outcome('TransactWriteItems', { TransactItems: [check('guarded')] }),
    'answered',
  )
  const gets = [{ TableName: 'guarded', Key: Key('1'), Lock: true }]
  const forged = { Id: 'thief', Isolation: 'serializable', Began: 1, TimeoutMs: 900_000 }
  assert.equal(
    await as('READER').outcome('UnitGetItems', { Unit: forged, Gets: gets }),
    'AccessDeniedException',
  )
  assert.equal(await as('OWNER').outcome('PutItem', { TableName: 'guarded', Item: Key('1') }), 'answered')
})
