// Tables from the templates that projects are deployed with.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tablesIn, type TemplateOptions } from '../../src/testing/tables-in.js'
import { TemplateError } from '../../src/testing/template-error.js'

const KEYS = {
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}
const PLAIN = { ...KEYS, BillingMode: 'PAY_PER_REQUEST' }

/** A template with one table, Orders, that has these properties. */
const templateOf = (properties: object, rest: object = {}): object => ({
  ...rest,
  Resources: { Orders: { Type: 'AWS::DynamoDB::Table', Properties: { ...PLAIN, ...properties } } },
})

const nameIn = (tableName: unknown, rest: object = {}, options: TemplateOptions = {}): string | undefined =>
  tablesIn(templateOf({ TableName: tableName }, rest), options)[0]?.create.TableName

test('templates: a table of CloudFormation becomes the input of CreateTable', () => {
  const index = {
    IndexName: 'by-customer',
    KeySchema: [{ AttributeName: 'customer', KeyType: 'HASH' }],
    Projection: { ProjectionType: 'ALL' },
  }
  const [table, ...others] = tablesIn({
    Resources: {
      Topic: { Type: 'AWS::SNS::Topic', Properties: { TopicName: { 'Fn::Unknown': 1 } } },
      Orders: {
        Type: 'AWS::DynamoDB::Table',
        DeletionPolicy: 'Retain',
        Properties: {
          TableName: 'orders',
          AttributeDefinitions: [
            { AttributeName: 'id', AttributeType: 'S' },
            { AttributeName: 'customer', AttributeType: 'S' },
          ],
          KeySchema: KEYS.KeySchema,
          ProvisionedThroughput: { ReadCapacityUnits: '5', WriteCapacityUnits: 2 },
          GlobalSecondaryIndexes: [
            {
              ...index,
              ProvisionedThroughput: { ReadCapacityUnits: '1', WriteCapacityUnits: '1' },
              ContributorInsightsSpecification: { Enabled: true },
            },
          ],
          StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
          TimeToLiveSpecification: { AttributeName: 'expires', Enabled: 'true' },
          SSESpecification: { SSEEnabled: true, KMSMasterKeyId: { 'Fn::GetAtt': ['Key', 'Arn'] } },
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          DeletionProtectionEnabled: 'false',
          Tags: [{ Key: 'team', Value: 'shop' }],
        },
      },
    },
  })
  assert.deepEqual(others, [])
  assert.deepEqual(table, {
    id: 'Orders',
    create: {
      TableName: 'orders',
      AttributeDefinitions: [
        { AttributeName: 'id', AttributeType: 'S' },
        { AttributeName: 'customer', AttributeType: 'S' },
      ],
      KeySchema: KEYS.KeySchema,
      Tags: [{ Key: 'team', Value: 'shop' }],
      ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 2 },
      GlobalSecondaryIndexes: [
        { ...index, ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 } },
      ],
      DeletionProtectionEnabled: false,
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
    },
    timeToLive: { AttributeName: 'expires', Enabled: true },
  })
})

test('templates: a table without a name has its logical id', () => {
  assert.equal(tablesIn(templateOf({}))[0]?.create.TableName, 'Orders')
})

test('templates: a name is made from given parameters, defaults and pseudo parameters', () => {
  const Parameters = { Stage: { Type: 'String', Default: 'dev' }, Team: { Type: 'String' } }
  const given = { parameters: { Stage: 'test', Team: 'shop' } }
  assert.equal(nameIn({ Ref: 'Stage' }, { Parameters }), 'dev')
  assert.equal(nameIn({ Ref: 'Stage' }, { Parameters }, given), 'test')
  assert.equal(nameIn({ 'Fn::Sub': 'orders-${Stage}' }, { Parameters }), 'orders-dev')
  assert.equal(
    nameIn({ 'Fn::Sub': '${Team}-${!Team}-${ AWS::Region }' }, { Parameters }, given),
    'shop-${Team}-us-east-1',
  )
  assert.equal(
    nameIn({ 'Fn::Sub': ['${a}-${Stage}', { a: { Ref: 'Team' } }] }, { Parameters }, given),
    'shop-test',
  )
  assert.equal(nameIn({ 'Fn::Join': ['-', ['orders', { Ref: 'AWS::StackName' }]] }), 'orders-test')
  assert.equal(
    nameIn({ Ref: 'AWS::Region' }, {}, { parameters: { 'AWS::Region': 'eu-west-1' } }),
    'eu-west-1',
  )
})

test('templates: Select, Split, FindInMap and ImportValue are understood', () => {
  const Mappings = { Names: { test: { orders: 'orders-of-tests' } } }
  assert.equal(nameIn({ 'Fn::Select': [1, { 'Fn::Split': ['-', 'a-b-c'] }] }), 'b')
  assert.equal(nameIn({ 'Fn::FindInMap': ['Names', 'test', 'orders'] }, { Mappings }), 'orders-of-tests')
  assert.equal(nameIn({ 'Fn::ImportValue': 'shared' }, {}, { parameters: { shared: 'theirs' } }), 'theirs')
})

test('templates: conditions decide which tables and which parts of them are there', () => {
  const rest = {
    Parameters: { Stage: { Type: 'String', Default: 'dev' } },
    Conditions: {
      IsLive: { 'Fn::Equals': [{ Ref: 'Stage' }, 'live'] },
      IsTrial: {
        'Fn::And': [{ 'Fn::Not': [{ Condition: 'IsLive' }] }, { 'Fn::Or': [{ Condition: 'IsLive' }, true] }],
      },
    },
  }
  const properties = { TableName: { 'Fn::If': ['IsLive', 'orders', { Ref: 'AWS::NoValue' }] }, ...PLAIN }
  const document = {
    ...rest,
    Resources: {
      Orders: { Type: 'AWS::DynamoDB::Table', Properties: properties },
      Archive: { Type: 'AWS::DynamoDB::Table', Condition: 'IsLive', Properties: PLAIN },
      Trial: { Type: 'AWS::DynamoDB::Table', Condition: 'IsTrial', Properties: PLAIN },
    },
  }
  const names = (options?: TemplateOptions) =>
    tablesIn(document, options).map(({ create }) => create.TableName)
  assert.deepEqual(names(), ['Orders', 'Trial'])
  assert.deepEqual(names({ parameters: { Stage: 'live' } }), ['orders', 'Archive'])
})

test('templates: a reference to another table is its name, and its Arn is made from it', () => {
  const document = {
    Resources: {
      Orders: { Type: 'AWS::DynamoDB::Table', Properties: { TableName: 'orders', ...PLAIN } },
      Copy: {
        Type: 'AWS::DynamoDB::Table',
        Properties: { TableName: { 'Fn::Sub': '${Orders}-copy' }, ...PLAIN },
      },
      Tagged: {
        Type: 'AWS::DynamoDB::Table',
        Properties: { Tags: [{ Key: 'of', Value: { 'Fn::GetAtt': 'Orders.Arn' } }], ...PLAIN },
      },
    },
  }
  const [, copy, tagged] = tablesIn(document)
  assert.equal(copy?.create.TableName, 'orders-copy')
  assert.equal(tagged?.create.Tags?.[0]?.Value, 'arn:aws:dynamodb:us-east-1:000000000000:table/orders')
})

test("templates: SAM's simple table has a key called id, or the one it names", () => {
  const [simple, named] = tablesIn({
    Transform: 'AWS::Serverless-2016-10-31',
    Resources: {
      Simple: { Type: 'AWS::Serverless::SimpleTable' },
      Named: {
        Type: 'AWS::Serverless::SimpleTable',
        Properties: {
          TableName: 'named',
          PrimaryKey: { Name: 'number', Type: 'Number' },
          ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 5 },
          Tags: { team: 'shop' },
        },
      },
    },
  })
  assert.deepEqual(simple?.create, { TableName: 'Simple', ...PLAIN })
  assert.deepEqual(named?.create, {
    TableName: 'named',
    AttributeDefinitions: [{ AttributeName: 'number', AttributeType: 'N' }],
    KeySchema: [{ AttributeName: 'number', KeyType: 'HASH' }],
    ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 5 },
    Tags: [{ Key: 'team', Value: 'shop' }],
  })
})

test('templates: inputs of CreateTable are taken as one, a list, or a list called Tables', () => {
  const input = { TableName: 'orders', ...PLAIN }
  for (const document of [input, [input], { Tables: [input] }, { tables: [input] }])
    assert.deepEqual(tablesIn(document), [{ id: 'orders', create: input }])
})

test('templates: what is wrong is said with its place and what to do', () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [
      templateOf({ TableName: { Ref: 'Stage' } }, { Parameters: { Stage: { Type: 'String' } } }),
      /^Resources\.Orders\.Properties\.TableName: the parameter Stage has no value; give it in parameters: \{ Stage/,
    ],
    [
      templateOf({ TableName: { 'Fn::Sub': 'x-${Stag}' } }),
      /TableName: there is no parameter or resource Stag$/,
    ],
    [templateOf({ TableName: { Ref: 'constructor' } }), /there is no parameter or resource constructor/],
    [templateOf({ TableName: { 'Fn::Cidr': [] } }), /TableName: Fn::Cidr is not understood in tables/],
    [
      templateOf({ TableName: { 'Fn::GetAtt': 'Key.Arn' } }),
      /Key\.Arn is known to a deployment only; give it/,
    ],
    [templateOf({ TableName: { 'Fn::ImportValue': 'shared' } }), /shared is exported by another stack/],
    [templateOf({ TableName: { 'Fn::If': ['None', 'a', 'b'] } }), /there is no condition None/],
    [templateOf({ TableName: '{{resolve:ssm:/name}}' }), /is known to a deployment only/],
    [templateOf({ TableName: { 'Fn::FindInMap': ['a', 'b', 'c'] } }), /there is no a\.b\.c in Mappings/],
    [templateOf({ TableName: { Ref: 'Orders' } }), /refers to itself, or is nested deeper/],
    [templateOf({ KeySchema: { Ref: 'AWS::NoValue' } }), /Properties: the table Orders has no KeySchema/],
    [
      templateOf({ BillingMode: 'PROVISIONED', ProvisionedThroughput: { ReadCapacityUnits: 'many' } }),
      /ProvisionedThroughput\.ReadCapacityUnits: must be a whole number, not "many"/,
    ],
    [
      templateOf({ TimeToLiveSpecification: { AttributeName: 'x', Enabled: 'yes' } }),
      /TimeToLiveSpecification\.Enabled: must be true or false/,
    ],
    [
      { Resources: { 'Fn::ForEach::Tables': [] } },
      /Resources\.Fn::ForEach::Tables: is not understood; write out the resources/,
    ],
    [{ Resources: {} }, /there is no table in it/],
    [{ Outputs: {} }, /this is no template/],
    ['text', /must be a list/],
    [
      [
        { TableName: 'a', ...PLAIN },
        { TableName: 'a', ...PLAIN },
      ],
      /a and a are both called a/,
    ],
  ]
  for (const [document, sentence] of cases) {
    assert.throws(
      () => tablesIn(document),
      (error: Error) => error instanceof TemplateError && sentence.test(error.message),
      `${JSON.stringify(document)} should be refused as ${sentence}`,
    )
  }
})

test('templates: conditions that refer to each other in a circle are refused', () => {
  const Conditions = { A: { 'Fn::Not': [{ Condition: 'B' }] }, B: { 'Fn::Not': [{ Condition: 'A' }] } }
  assert.throws(() => nameIn({ 'Fn::If': ['A', 'x', 'y'] }, { Conditions }), /refers to itself/)
})
