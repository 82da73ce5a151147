// The texts of refusals, by tables of [what, request, answer].
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { capacity, HASH, index, N, openTables, RANGE, S, table, type TestTables } from './tables-support.js'

const INVALID = 'ValidationException: One or more parameter values were invalid: '
const DETECTED = 'ValidationException: 1 validation error detected: '
const REQUIRED =
  "ValidationException: The parameter 'TableName' is required but was not present in the request"
const MISSING = 'ResourceNotFoundException: Requested resource not found'
const ARN = 'arn:aws:dynamodb:us-east-1:000000000000:table/'

type Case = readonly [what: string, input: object, answer: string]

let tables: TestTables
before(async () => {
  tables = await openTables()
  await tables.call('CreateTable', table('OnDemand'))
  const twoIndexes = {
    AttributeDefinitions: [S('id'), N('at'), S('group')],
    KeySchema: [HASH('id'), RANGE('at')],
    LocalSecondaryIndexes: [index('by-group-local', [HASH('id'), RANGE('group')])],
  }
  await tables.call(
    'CreateTable',
    table('Provisioned', {
      ...twoIndexes,
      BillingMode: 'PROVISIONED',
      ProvisionedThroughput: capacity(5, 6),
      GlobalSecondaryIndexes: [index('by-group', [HASH('group')], { ProvisionedThroughput: capacity(1, 2) })],
    }),
  )
  await tables.call(
    'CreateTable',
    table('Indexed', { ...twoIndexes, GlobalSecondaryIndexes: [index('by-group', [HASH('group')])] }),
  )
  await tables.call('CreateTable', table('Protected', { DeletionProtectionEnabled: true }))
})
after(() => tables.close())

function refuses(operation: string, cases: readonly Case[]): void {
  describe(`${operation} refuses`, () => {
    for (const [what, input, answer] of cases) {
      test(what, async () => assert.equal(await tables.refusal(operation, input), answer))
    }
  })
}

const two = { AttributeDefinitions: [S('id'), S('at')], KeySchema: [HASH('id'), RANGE('at')] }
const grouped = { AttributeDefinitions: [S('id'), S('group')] }
const many = (count: number, projected: number): object[] =>
  Array.from({ length: count }, (_, at) =>
    index(`index-${at}`, [HASH('group')], {
      Projection: {
        ProjectionType: 'INCLUDE',
        NonKeyAttributes: Array.from({ length: projected }, (_, attribute) => `a${attribute}`),
      },
    }),
  )
const local = (keys: object[], more: object = {}): object => ({
  AttributeDefinitions: [S('id'), S('at'), S('other')],
  KeySchema: [HASH('id'), RANGE('at')],
  LocalSecondaryIndexes: [index('local', keys, more)],
})

refuses('CreateTable', [
  ['a request without a name', { KeySchema: [] }, REQUIRED],
  [
    'a name of two characters',
    table('ab'),
    `${DETECTED}Value 'ab' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 3`,
  ],
  [
    'a name of 256 characters',
    table('a'.repeat(256)),
    `${DETECTED}Value '${'a'.repeat(256)}' at 'tableName' failed to satisfy constraint: Member must have length less than or equal to 255`,
  ],
  [
    'a name with other characters, and says nothing of the rest',
    { TableName: 'abc;', KeySchema: [] },
    `${DETECTED}Value 'abc;' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+`,
  ],
  ['a name that is taken', table('OnDemand'), 'ResourceInUseException: Table already exists: OnDemand'],
  [
    'no keys',
    table('New', { KeySchema: [] }),
    `${DETECTED}Value '[]' at 'keySchema' failed to satisfy constraint: Member must have length greater than or equal to 1`,
  ],
  [
    'three keys',
    table('New', { KeySchema: [HASH('id'), RANGE('a'), RANGE('b')] }),
    `${DETECTED}Value '[KeySchemaElement(attributeName=id, keyType=HASH), KeySchemaElement(attributeName=a, keyType=RANGE), KeySchemaElement(attributeName=b, keyType=RANGE)]' at 'keySchema' failed to satisfy constraint: Member must have length less than or equal to 2`,
  ],
  [
    'an unknown kind of key',
    table('New', { KeySchema: [{ AttributeName: 'id', KeyType: 'INVALID' }] }),
    `${DETECTED}Value 'INVALID' at 'keySchema.1.member.keyType' failed to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]`,
  ],
  [
    'an unknown type of attribute',
    table('New', { AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'X' }] }),
    `${DETECTED}Value 'X' at 'attributeDefinitions.1.member.attributeType' failed to satisfy constraint: Member must satisfy enum value set: [B, N, S]`,
  ],
  [
    'several members at once',
    table('New', { BillingMode: 'FREE', KeySchema: [{ AttributeName: 'id', KeyType: 'X' }] }),
    "ValidationException: 2 validation errors detected: Value 'FREE' at 'billingMode' failed to satisfy constraint: Member must satisfy enum value set: [PROVISIONED, PAY_PER_REQUEST]; Value 'X' at 'keySchema.1.member.keyType' failed to satisfy constraint: Member must satisfy enum value set: [HASH, RANGE]",
  ],
  [
    'provisioned billing without throughput',
    table('New', { BillingMode: null }),
    `${INVALID}ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED`,
  ],
  [
    'throughput without provisioned billing',
    table('New', { ProvisionedThroughput: capacity(1, 1) }),
    `${INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST`,
  ],
  [
    'throughput beyond all bounds',
    table('New', { BillingMode: 'PROVISIONED', ProvisionedThroughput: capacity(1e12 + 1, 1) }),
    'ValidationException: Given value 1000000000001 for ReadCapacityUnits is out of bounds',
  ],
  [
    'one attribute as both keys',
    table('New', { KeySchema: [HASH('id'), RANGE('id')] }),
    'ValidationException: Invalid KeySchema: Some index key attribute have no definition',
  ],
  [
    'one attribute as both keys beside another definition',
    table('New', { AttributeDefinitions: [S('id'), S('at')], KeySchema: [HASH('id'), RANGE('id')] }),
    'ValidationException: Both the Hash Key and the Range Key element in the KeySchema have the same name',
  ],
  [
    'an attribute defined twice',
    table('New', { AttributeDefinitions: [S('id'), N('id')] }),
    'ValidationException: Attribute Name is duplicated: id',
  ],
  [
    'a key without a definition',
    table('New', { KeySchema: [HASH('other')] }),
    `${INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [other], AttributeDefinitions: [id]`,
  ],
  [
    'a sort key first',
    table('New', { KeySchema: [RANGE('id')] }),
    'ValidationException: Invalid KeySchema: The first KeySchemaElement is not a HASH key type',
  ],
  [
    'two partition keys',
    table('New', { ...two, KeySchema: [HASH('id'), HASH('at')] }),
    'ValidationException: Invalid KeySchema: The second KeySchemaElement is not a RANGE key type',
  ],
  [
    'a definition that no key uses',
    table('New', { AttributeDefinitions: [S('id'), S('other')] }),
    `${INVALID}Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions`,
  ],
  [
    'a definition that no key and no index uses',
    table('New', {
      AttributeDefinitions: [S('id'), S('group'), S('other')],
      GlobalSecondaryIndexes: [index('by-group', [HASH('group')])],
    }),
    `${INVALID}Some AttributeDefinitions are not used. AttributeDefinitions: [other, id, group], keys used: [id, group]`,
  ],
  [
    'an empty list of local indexes',
    table('New', { ...two, LocalSecondaryIndexes: [] }),
    `${INVALID}List of LocalSecondaryIndexes is empty`,
  ],
  [
    'a local index where the table has no sort key',
    table('New', {
      AttributeDefinitions: [S('id'), S('at')],
      LocalSecondaryIndexes: [index('local', [HASH('id'), RANGE('at')])],
    }),
    `${INVALID}Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex`,
  ],
  [
    'a local index without a sort key',
    table('New', local([HASH('id')])),
    `${INVALID}Index KeySchema does not have a range key for index: local`,
  ],
  [
    'a local index with another partition key',
    table('New', local([HASH('other'), RANGE('at')])),
    `${INVALID}Index KeySchema does not have the same leading hash key as table KeySchema for index: local. index hash key: other, table hash key: id`,
  ],
  [
    'six local indexes',
    table('New', {
      ...two,
      LocalSecondaryIndexes: Array.from({ length: 6 }, (_, at) =>
        index(`local-${at}`, [HASH('id'), RANGE('at')]),
      ),
    }),
    `${INVALID}Number of LocalSecondaryIndexes exceeds per-table limit of 5`,
  ],
  [
    'an empty list of global indexes',
    table('New', { GlobalSecondaryIndexes: [] }),
    `${INVALID}List of GlobalSecondaryIndexes is empty`,
  ],
  [
    'two indexes of one name',
    table('New', {
      ...grouped,
      GlobalSecondaryIndexes: [index('same', [HASH('group')]), index('same', [HASH('id')])],
    }),
    `${INVALID}Duplicate index name: same`,
  ],
  [
    'a local and a global index of one name',
    table('New', {
      ...local([HASH('id'), RANGE('other')]),
      GlobalSecondaryIndexes: [index('local', [HASH('other')])],
    }),
    `${INVALID}Duplicate index name: local`,
  ],
  [
    'a short name of an index',
    table('New', { ...grouped, GlobalSecondaryIndexes: [index('ab', [HASH('group')])] }),
    `${DETECTED}Value 'ab' at 'globalSecondaryIndexes.1.member.indexName' failed to satisfy constraint: Member must have length greater than or equal to 3`,
  ],
  [
    '21 global indexes',
    table('New', { ...grouped, GlobalSecondaryIndexes: many(21, 1) }),
    `${INVALID}GlobalSecondaryIndex count exceeds the per-table limit of 20`,
  ],
  [
    '101 projected attributes',
    table('New', { ...grouped, GlobalSecondaryIndexes: [...many(1, 1), ...many(6, 20).slice(1)] }),
    `${INVALID}Number of NonKeyAttributes of all indexes exceeds the per-table limit of 100`,
  ],
  [
    'a projection without a type',
    table('New', {
      ...grouped,
      GlobalSecondaryIndexes: [index('by-group', [HASH('group')], { Projection: {} })],
    }),
    `${INVALID}Unknown ProjectionType: null`,
  ],
  [
    'attributes beside a projection of keys',
    table(
      'New',
      local([HASH('id'), RANGE('other')], {
        Projection: { ProjectionType: 'KEYS_ONLY', NonKeyAttributes: ['a'] },
      }),
    ),
    `${INVALID}ProjectionType is KEYS_ONLY, but NonKeyAttributes is specified`,
  ],
  [
    'a projection of no attributes',
    table('New', local([HASH('id'), RANGE('other')], { Projection: { ProjectionType: 'INCLUDE' } })),
    `${INVALID}ProjectionType is INCLUDE, but NonKeyAttributes is not specified`,
  ],
  [
    'an attribute projected twice',
    table(
      'New',
      local([HASH('id'), RANGE('other')], {
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['a', 'a'] },
      }),
    ),
    `${INVALID}Duplicate element in NonKeyAttributes: a`,
  ],
  [
    'throughput of an index where requests are paid for',
    table('New', {
      ...grouped,
      GlobalSecondaryIndexes: [index('by-group', [HASH('group')], { ProvisionedThroughput: capacity(1, 1) })],
    }),
    `${INVALID}ProvisionedThroughput should not be specified for index: by-group when BillingMode is PAY_PER_REQUEST`,
  ],
  [
    'an index without throughput where it is provisioned',
    table('New', {
      ...grouped,
      BillingMode: 'PROVISIONED',
      ProvisionedThroughput: capacity(1, 1),
      GlobalSecondaryIndexes: [index('by-group', [HASH('group')])],
    }),
    `${INVALID}ProvisionedThroughput is not specified for index: by-group`,
  ],
  [
    'a stream, of nodes that keep no log of commits',
    table('New', { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' } }),
    'ValidationException: Streams are not supported by this store: its nodes keep no log of commits',
  ],
  [
    'an unknown table class',
    table('New', { TableClass: 'GOLD' }),
    'ValidationException: Invalid table-class parameter provided. Please try again with a valid table-class value: [STANDARD, STANDARD_INFREQUENT_ACCESS].',
  ],
  [
    'a tag given twice',
    table('New', {
      Tags: [
        { Key: 'a', Value: '1' },
        { Key: 'a', Value: '2' },
      ],
    }),
    'ValidationException: Duplicate Tag Keys provided as input: Duplicate Tag Key found a',
  ],
])

const newIndex = (name: string, more: object = {}): object => ({
  Create: index(name, [HASH('new')], more),
})
const unchanged = (subject: string, place: string, read: number, write: number): string =>
  `ValidationException: The provisioned throughput for ${subject} will not change. The requested value equals the current value. Current ReadCapacityUnits provisioned for ${place}: ${read}. Requested ReadCapacityUnits: ${read}. Current WriteCapacityUnits provisioned for ${place}: ${write}. Requested WriteCapacityUnits: ${write}. Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits.`
const update = (name: string, more: object): object => ({ TableName: name, ...more })
const indexes = (name: string, updates: object[], more: object = {}): object =>
  update(name, { AttributeDefinitions: [S('new')], GlobalSecondaryIndexUpdates: updates, ...more })
const online =
  'LimitExceededException: Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table'

refuses('UpdateTable', [
  ['a request without a name', {}, REQUIRED],
  [
    'nothing to update',
    update('OnDemand', { AttributeDefinitions: [] }),
    'ValidationException: At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, GlobalSecondaryIndexUpdates, SSESpecification, ReplicaUpdates, MultiAccountReplicaReady, ReplicaTransitRoleArn, MultiRegionConsistency, DeletionProtectionEnabled, OnDemandThroughput, WarmThroughput or TableClass is required',
  ],
  [
    'an unknown table',
    update('None', { BillingMode: 'PAY_PER_REQUEST' }),
    `${MISSING}: Table: None not found`,
  ],
  [
    'provisioned billing without throughput',
    update('OnDemand', { BillingMode: 'PROVISIONED' }),
    `${INVALID}ProvisionedThroughput must be specified when BillingMode is PROVISIONED`,
  ],
  [
    'throughput with billing by request',
    update('Provisioned', { BillingMode: 'PAY_PER_REQUEST', ProvisionedThroughput: capacity(7, 7) }),
    `${INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST`,
  ],
  [
    'throughput of a table that is billed by request',
    update('OnDemand', { ProvisionedThroughput: capacity(7, 7) }),
    `${INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST`,
  ],
  [
    'throughput of nothing',
    update('Provisioned', { ProvisionedThroughput: capacity(0, 5) }),
    `${DETECTED}Value '0' at 'provisionedThroughput.readCapacityUnits' failed to satisfy constraint: Member must have value greater than or equal to 1`,
  ],
  [
    'the throughput that is there',
    update('Provisioned', { BillingMode: 'PROVISIONED', ProvisionedThroughput: capacity(5, 6) }),
    unchanged('the table', 'the table', 5, 6),
  ],
  [
    'the throughput that an index has',
    update('Provisioned', {
      GlobalSecondaryIndexUpdates: [
        { Update: { IndexName: 'by-group', ProvisionedThroughput: capacity(1, 2) } },
      ],
    }),
    unchanged('the index by-group', 'index by-group', 1, 2),
  ],
  [
    'provisioned billing without throughput of its indexes',
    update('Indexed', { BillingMode: 'PROVISIONED', ProvisionedThroughput: capacity(5, 5) }),
    `${INVALID}ProvisionedThroughput must be specified for index: by-group`,
  ],
  [
    'protection with anything else',
    update('Provisioned', { DeletionProtectionEnabled: true, ProvisionedThroughput: capacity(7, 7) }),
    `${INVALID}DeletionProtection modification must be the only operation in the request`,
  ],
  [
    'a table class with protection',
    update('OnDemand', { DeletionProtectionEnabled: true, TableClass: 'STANDARD' }),
    `${INVALID}TableClass modification must be the only operation in the request`,
  ],
  [
    'a new index with throughput of the table',
    indexes('Provisioned', [newIndex('new-index')], { ProvisionedThroughput: capacity(7, 7) }),
    `${INVALID}You cannot create or delete index while updating table IOPS`,
  ],
  ['no index updates', indexes('OnDemand', []), `${INVALID}List of GlobalSecondaryIndexUpdates is empty`],
  [
    'an index update that says nothing',
    indexes('OnDemand', [{}]),
    `${INVALID}One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, GlobalSecondaryIndexUpdate.Delete must not be null`,
  ],
  [
    'two actions in one',
    indexes('OnDemand', [{ ...newIndex('new-index'), Delete: { IndexName: 'new-index' } }]),
    `${INVALID}Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object`,
  ],
  [
    'two actions on one index',
    indexes('OnDemand', [newIndex('new-index'), { Delete: { IndexName: 'new-index' } }]),
    `${INVALID}Only one global secondary index update per index is allowed simultaneously. Index: new-index`,
  ],
  ['two new indexes', indexes('OnDemand', [newIndex('new-1'), newIndex('new-2')]), online],
  [
    'a new index and one less',
    indexes('Indexed', [newIndex('new-1'), { Delete: { IndexName: 'by-group' } }]),
    online,
  ],
  [
    'a new index of a name that is taken',
    indexes('Indexed', [newIndex('by-group')]),
    'ValidationException: Attempting to create an index which already exists',
  ],
  [
    'a new index without definitions',
    update('OnDemand', { GlobalSecondaryIndexUpdates: [newIndex('new-index')] }),
    `${INVALID}AttributeDefinitions is not specified for index: new-index`,
  ],
  [
    'a new index whose key has no definition',
    indexes('OnDemand', [{ Create: index('new-index', [HASH('other')]) }]),
    `${INVALID}Some index key attributes are not defined in AttributeDefinitions. Keys: [other], AttributeDefinitions: [new]`,
  ],
  [
    'another type for a key of the table',
    indexes('OnDemand', [{ Create: index('new-index', [HASH('id')]) }], { AttributeDefinitions: [N('id')] }),
    `${INVALID}Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. ` +
      'Existing schema: Schema:[SchemaElement: key{id:S:HASH}] New schema: Schema:[SchemaElement: key{id:N:HASH}]',
  ],
  [
    'a new index with throughput where requests are paid for',
    indexes('OnDemand', [newIndex('new-index', { ProvisionedThroughput: capacity(1, 1) })]),
    `${INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: new-index when BillingMode is PAY_PER_REQUEST`,
  ],
  [
    'a new index without throughput where it is provisioned',
    indexes('Provisioned', [newIndex('new-index')]),
    `${INVALID}Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: new-index`,
  ],
  [
    'throughput of an index where requests are paid for',
    update('Indexed', {
      GlobalSecondaryIndexUpdates: [
        { Update: { IndexName: 'by-group', ProvisionedThroughput: capacity(1, 1) } },
      ],
    }),
    `${INVALID}Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: by-group when BillingMode is PAY_PER_REQUEST`,
  ],
  [
    'limits of on-demand throughput where it is provisioned',
    update('Provisioned', { OnDemandThroughput: { MaxReadRequestUnits: 5 } }),
    `${INVALID}MaxReadRequestUnits for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED`,
  ],
  ['deleting an unknown index', indexes('OnDemand', [{ Delete: { IndexName: 'none' } }]), MISSING],
  [
    'deleting a local index',
    indexes('Indexed', [{ Delete: { IndexName: 'by-group-local' } }]),
    'ValidationException: Cannot delete an index that is not a GlobalSecondaryIndex: by-group-local',
  ],
  [
    'throughput of an unknown index',
    update('Provisioned', {
      GlobalSecondaryIndexUpdates: [{ Update: { IndexName: 'none', ProvisionedThroughput: capacity(1, 1) } }],
    }),
    MISSING,
  ],
  [
    'a stream, of nodes that keep no log of commits',
    update('OnDemand', { StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } }),
    'ValidationException: Streams are not supported by this store: its nodes keep no log of commits',
  ],
  [
    'the end of a stream that is not there',
    update('OnDemand', { StreamSpecification: { StreamEnabled: false } }),
    'ValidationException: Table has no stream to disable: TableName: OnDemand',
  ],
  [
    'the encryption that every table has',
    update('OnDemand', { SSESpecification: { Enabled: false } }),
    `${INVALID}Table is already encrypted by default`,
  ],
])

refuses('DeleteTable', [
  ['a request without a name', {}, REQUIRED],
  ['an unknown table', { TableName: 'None' }, `${MISSING}: Table: None not found`],
  [
    'a protected table',
    { TableName: 'Protected' },
    'ValidationException: Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.',
  ],
])

refuses('DescribeTable', [
  ['an unknown table', { TableName: 'None' }, `${MISSING}: Table: None not found`],
  [
    'the ARN of something else',
    { TableName: 'arn:aws:s3:::bucket' },
    'ValidationException: Invalid TableArn: Invalid ResourceArn provided as input arn:aws:s3:::bucket',
  ],
])

refuses('ListTables', [
  [
    'a limit of nothing',
    { Limit: 0 },
    `${DETECTED}Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1`,
  ],
  [
    'a limit over 100',
    { Limit: 101 },
    `${DETECTED}Value '101' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 100`,
  ],
])

const ttl = (name: string, attribute: string, enabled: boolean): object => ({
  TableName: name,
  TimeToLiveSpecification: { AttributeName: attribute, Enabled: enabled },
})

refuses('UpdateTimeToLive', [
  [
    'a request without a specification',
    { TableName: 'OnDemand' },
    `${DETECTED}Value null at 'timeToLiveSpecification' failed to satisfy constraint: Member must not be null`,
  ],
  [
    'an empty attribute name',
    ttl('OnDemand', '', true),
    `${DETECTED}Value '' at 'timeToLiveSpecification.attributeName' failed to satisfy constraint: Member must have length greater than or equal to 1`,
  ],
  ['an unknown table', ttl('None', 'ttl', true), `${MISSING}: Table: None not found`],
  [
    'to disable what is not enabled',
    ttl('OnDemand', 'ttl', false),
    'ValidationException: TimeToLive is already disabled',
  ],
])

const tag = (key: string, value: string): object => ({ Key: key, Value: value })
const fiftyOne = Array.from({ length: 51 }, (_, at) => tag(`tag-${at}`, ''))

refuses('TagResource', [
  ['a request without an ARN', { Tags: [] }, 'ValidationException: Invalid TableArn'],
  [
    'what is not an ARN',
    { ResourceArn: 'not-a-valid-arn', Tags: [tag('a', 'b')] },
    'ValidationException: Invalid TableArn: Invalid ResourceArn provided as input not-a-valid-arn',
  ],
  [
    'a request without tags',
    { ResourceArn: `${ARN}OnDemand` },
    `${DETECTED}Value null at 'tags' failed to satisfy constraint: Member must not be null`,
  ],
  [
    'no tags',
    { ResourceArn: `${ARN}OnDemand`, Tags: [] },
    'ValidationException: Atleast one Tag needs to be provided as Input.',
  ],
  [
    'an unknown table',
    { ResourceArn: `${ARN}None`, Tags: [tag('a', 'b')] },
    `${MISSING}: ResourcArn: ${ARN}None not found`,
  ],
  [
    'an empty key',
    { ResourceArn: `${ARN}OnDemand`, Tags: [tag('', 'b')] },
    'ValidationException: The Tag Key provided is invalid, Key: ',
  ],
  [
    'a tag without a value',
    { ResourceArn: `${ARN}OnDemand`, Tags: [{ Key: 'a' }] },
    'ValidationException: The Tag Value provided is invalid, Value: null',
  ],
  [
    'a value of 257 characters',
    { ResourceArn: `${ARN}OnDemand`, Tags: [tag('a', 'v'.repeat(257))] },
    `ValidationException: The Tag Value provided is invalid, Value: ${'v'.repeat(256)}`,
  ],
  [
    'a key that begins with aws:',
    { ResourceArn: `${ARN}OnDemand`, Tags: [tag('aws:a', 'b')] },
    'ValidationException: Tag Key cannot be prefixed with aws:, Key: aws:a',
  ],
  [
    'more than 50 tags',
    { ResourceArn: `${ARN}OnDemand`, Tags: fiftyOne },
    'ValidationException: Number of Tags exceed the current limit for the provided ResourceArn',
  ],
])

refuses('UntagResource', [
  [
    'no keys',
    { ResourceArn: `${ARN}OnDemand`, TagKeys: [] },
    'ValidationException: Atleast one Tag Key needs to be provided as Input.',
  ],
  [
    'an unknown table',
    { ResourceArn: `${ARN}None`, TagKeys: ['a'] },
    `${MISSING}: ResourcArn: ${ARN}None not found`,
  ],
])

refuses('ListTagsOfResource', [
  [
    'an unknown table, without saying that it is unknown',
    { ResourceArn: `${ARN}None` },
    `AccessDeniedException: User is not authorized to perform: dynamodb:ListTagsOfResource on resource: ${ARN}None`,
  ],
])

describe('refusals of what is on already', () => {
  test('UpdateTimeToLive refuses to enable twice, and to change the attribute', async () => {
    await tables.call('CreateTable', table('Expiring'))
    await tables.call('UpdateTimeToLive', ttl('Expiring', 'ttl', true))
    assert.equal(
      await tables.refusal('UpdateTimeToLive', ttl('Expiring', 'ttl', true)),
      'ValidationException: TimeToLive is already enabled',
    )
    for (const enabled of [true, false]) {
      assert.equal(
        await tables.refusal('UpdateTimeToLive', ttl('Expiring', 'other', enabled)),
        'ValidationException: TimeToLive is active on a different AttributeName: current AttributeName is ttl',
      )
    }
  })

  test('TagResource refuses the tag that would be the 51st', async () => {
    await tables.call('CreateTable', table('Tagged', { Tags: fiftyOne.slice(1) }))
    assert.equal(
      await tables.refusal('TagResource', { ResourceArn: `${ARN}Tagged`, Tags: [tag('more', '')] }),
      'ValidationException: Number of Tags exceed the current limit for the provided ResourceArn',
    )
  })

  test('UpdateTable refuses a 21st global index', async () => {
    await tables.call('CreateTable', table('Full', { ...grouped, GlobalSecondaryIndexes: many(20, 1) }))
    assert.equal(
      await tables.refusal('UpdateTable', indexes('Full', [newIndex('new-index')])),
      'LimitExceededException: Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of 20',
    )
  })
})
