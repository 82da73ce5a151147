// Templates and seeds in files.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { readDocument, readTables } from '../../src/testing/read-document.js'
import { TemplateError } from '../../src/testing/template-error.js'
import { yamlParser } from '../../src/testing/yaml-document.js'
import { testFolder } from '../support/folder.js'

const SAM = `
AWSTemplateFormatVersion: 2010-09-09
Transform: AWS::Serverless-2016-10-31
Parameters:
  Stage: { Type: String }
Conditions:
  IsLive: !Equals [!Ref Stage, live]
Resources:
  Orders:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Sub orders-\${Stage}
      BillingMode: !If [IsLive, PROVISIONED, PAY_PER_REQUEST]
      AttributeDefinitions: &id
        - AttributeName: id
          AttributeType: S
      KeySchema:
        - { AttributeName: id, KeyType: HASH }
      GlobalSecondaryIndexes:
        - !If
          - IsLive
          - IndexName: never
          - !Ref AWS::NoValue
  Copy:
    Type: AWS::DynamoDB::Table
    Properties:
      TableName: !Join ['-', [!Ref Orders, !Select [0, !Split [',', 'copy,old']]]]
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: *id
      KeySchema:
        - { AttributeName: id, KeyType: HASH }
`

function filesOf(files: Readonly<Record<string, string>>): string {
  const folder = testFolder()
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

test('files: a SAM template in YAML with short forms is read', async () => {
  const root = filesOf({ 'template.yaml': SAM })
  const tables = await readTables('template.yaml', { root, parameters: { Stage: 'test' } })
  const plain = {
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  }
  assert.deepEqual(tables, [
    { id: 'Orders', create: { TableName: 'orders-test', ...plain } },
    { id: 'Copy', create: { TableName: 'orders-test-copy', ...plain } },
  ])
})

test('files: serverless.yml reads the files that it names, beside it', async () => {
  const table = JSON.stringify({
    Type: 'AWS::DynamoDB::Table',
    Properties: {
      TableName: '${self:service}-orders',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    },
  })
  const root = filesOf({
    'serverless.yml':
      'service: shop\nresources:\n  - ${file(tables.yml)}\n  - Resources:\n      Books: ${file(books.json)}\n',
    'tables.yml': `Resources:\n  Orders: ${table}\n`,
    'books.json': table.replace('orders', 'books'),
    'bad.yml': 'service: x\nresources: ${file(tables.js)}\n',
  })
  const tables = await readTables('serverless.yml', { root })
  assert.deepEqual(
    tables.map(({ create }) => create.TableName),
    ['shop-orders', 'shop-books'],
  )
  await assert.rejects(
    readTables('bad.yml', { root }),
    /bad\.yml: resources: tables\.js is neither YAML nor JSON/,
  )
})

test('files: an error names the file, and where in it', async () => {
  const root = filesOf({
    'template.yaml': SAM,
    'broken.yaml': 'Resources: [',
    'broken.json': '{',
    'other.json': '{"Tables": [{"TableName": "a"}]}',
  })
  for (const [file, sentence] of [
    [
      'template.yaml',
      /^template\.yaml: Conditions\.IsLive.*: the parameter Stage has no value|^template\.yaml: Resources\.Orders.*: the parameter Stage has no value/,
    ],
    ['broken.yaml', /^broken\.yaml: .*line 1/],
    ['broken.json', /^broken\.json: .*JSON/],
    ['other.json', /^other\.json: Tables\.a: the table a has no KeySchema/],
    ['none.yaml', /^none\.yaml: there is no such file/],
  ] as const) {
    await assert.rejects(
      readTables(file, { root }),
      (error: Error) => error instanceof TemplateError && sentence.test(error.message),
      file,
    )
  }
})

test('files: seeds are read from JSON and YAML', async () => {
  const root = filesOf({ 'seeds.json': '{"a": [{"id": "1"}]}', 'seeds.yml': 'a:\n  - id: "1"\n' })
  assert.deepEqual(await readDocument('seeds.json', root), { a: [{ id: '1' }] })
  assert.deepEqual(await readDocument('seeds.yml', root), { a: [{ id: '1' }] })
})

test('yaml: short forms stand for the functions, at any depth and behind aliases', async () => {
  const parse = await yamlParser()
  assert.deepEqual(
    parse(
      "a: &a !Sub 'x-${Y}'\nb: *a\nc: !GetAtt T.Arn\nd: !If [C, !Ref 12, {e: !Sub ['${f}', {f: !Ref g}]}]\nh: !Condition C\n",
    ),
    {
      a: { 'Fn::Sub': 'x-${Y}' },
      b: { 'Fn::Sub': 'x-${Y}' },
      c: { 'Fn::GetAtt': 'T.Arn' },
      d: { 'Fn::If': ['C', { Ref: '12' }, { e: { 'Fn::Sub': ['${f}', { f: { Ref: 'g' } }] } }] },
      h: { Condition: 'C' },
    },
  )
})

test('yaml: aliases that multiply without end are refused', async () => {
  const parse = await yamlParser()
  const lines = ['a0: &a0 [x]']
  for (let level = 1; level < 30; level++)
    lines.push(`a${level}: &a${level} [*a${level - 1}, *a${level - 1}, *a${level - 1}]`)
  assert.throws(() => parse(lines.join('\n')), /alias/i)
})
