// serverless.yml: its variables, and tables in its resources.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tablesIn, type TemplateOptions } from '../../src/testing/tables-in.js'

const PLAIN = {
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}
const tableOf = (TableName: unknown) => ({
  Type: 'AWS::DynamoDB::Table',
  Properties: { TableName, ...PLAIN },
})

const nameIn = (tableName: unknown, rest: object = {}, options: TemplateOptions = {}): string | undefined =>
  tablesIn({ service: 'shop', ...rest, resources: { Resources: { Orders: tableOf(tableName) } } }, options)[0]
    ?.create.TableName

test('serverless: variables of the document, options, the stage and the environment are resolved', () => {
  const rest = {
    provider: { name: 'aws', stage: "${opt:stage, 'dev'}", region: 'eu-west-1' },
    custom: { orders: { dev: 'orders-dev', test: 'orders-of-${self:service}' }, list: ['a', 'b'] },
    params: { default: { owner: 'us' }, test: { owner: 'testers' } },
  }
  const given = { parameters: { 'opt:stage': 'test' } }
  for (const [text, name, options] of [
    ['${self:service}-orders', 'shop-orders', {}],
    ['orders-${self:provider.stage}', 'orders-dev', {}],
    ['orders-${self:provider.stage}', 'orders-test', given],
    ['orders-${opt:stage}', 'orders-x', { parameters: { stage: 'x' } }],
    ['orders-${sls:stage}', 'orders-test', given],
    ['${self:custom.orders.${self:provider.stage}}', 'orders-dev', {}],
    ['${self:custom.orders.${opt:stage}}', 'orders-of-shop', given],
    ['${self:custom.list.1}', 'b', {}],
    ['${self:custom.none, self:custom.list.0}', 'a', {}],
    ["${env:TABLE, 'orders'}", 'orders', {}],
    ["${env:TABLE, 'a.b, c'}", 'a.b, c', {}],
    ['${env:TABLE}', 'from-env', { environment: { TABLE: 'from-env' } }],
    ['${param:owner}-orders', 'us-orders', {}],
    ['${param:owner}-orders', 'testers-orders', given],
    ['orders-${aws:region}', 'orders-eu-west-1', {}],
    ['${ssm:/shop/table}', 'by-ssm', { parameters: { 'ssm:/shop/table': 'by-ssm' } }],
  ] as const) {
    assert.equal(nameIn(text, rest, options), name, text)
  }
})

test("serverless: CloudFormation's own ${Name} is left to Fn::Sub", () => {
  assert.equal(
    nameIn({ 'Fn::Sub': '${self:service}-${AWS::Region}-${AWS::StackName}' }),
    'shop-us-east-1-test',
  )
})

test('serverless: resources may be a list, and files', () => {
  const files: Record<string, unknown> = {
    'tables.yml': { Resources: { Orders: tableOf('orders-${self:service}') } },
    'books.json': { deep: { Books: tableOf('books') } },
  }
  const tables = tablesIn(
    {
      service: 'shop',
      resources: [
        '${file(tables.yml)}',
        { Resources: '${file(books.json):deep}' },
        { Resources: { Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: '${ssm:/unknown}' } } } },
        { Outputs: {} },
      ],
    },
    { readDocument: (path) => files[path] },
  )
  assert.deepEqual(
    tables.map(({ create }) => create.TableName),
    ['orders-shop', 'books'],
  )
})

test('serverless: a variable without a value, in a circle, or in a file that cannot be read is a sentence', () => {
  assert.throws(
    () => nameIn('orders-${opt:stage}'),
    /^TemplateError: resources\.Resources\.Orders\.Properties\.TableName: \$\{opt:stage\} has no value; give it in parameters: \{ 'opt:stage': '\.\.\.' \}/,
  )
  assert.throws(
    () => nameIn('${self:custom.a}', { custom: { a: '${self:custom.b}', b: '${self:custom.a}' } }),
    /brings itself/,
  )
  assert.throws(() => nameIn('${file(names.yml):orders}'), /there is no way to read names\.yml here/)
  assert.throws(() => nameIn('x-${self:custom}', { custom: {} }), /must be a text, not \{\}/)
})

test('serverless: one without resources has no table', () => {
  assert.throws(() => tablesIn({ service: 'shop', functions: {} }), /there is no table in it/)
})
