import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { testFolder } from '../support/folder.js'
import { key, openKeyed, tableOf } from './keys.js'

test('keys: the client token of an export or import is another one with another key', async (t) => {
  const buckets = testFolder()
  mkdirSync(join(buckets, 'bucket'))
  const every = ['read', 'write', 'admin'] as const
  const { as } = await openKeyed(t, [key('ONE', every, ['one*']), key('TWO', every, ['two*'])], { buckets })
  const arns: unknown[] = []
  for (const [id, TableName] of [
    ['ONE', 'one'],
    ['TWO', 'two'],
  ] as const) {
    await as(id).call('CreateTable', tableOf(TableName))
    await as(id).call('UpdateContinuousBackups', {
      TableName,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    })
    const ask = async (): Promise<unknown> => {
      const { ExportDescription } = await as(id).call('ExportTableToPointInTime', {
        TableArn: `arn:aws:dynamodb:us-east-1:000000000000:table/${TableName}`,
        S3Bucket: 'bucket',
        ClientToken: 'token',
      })
      return (ExportDescription as { readonly ExportArn: string }).ExportArn
    }
    const arn = await ask()
    assert.equal(await ask(), arn)
    arns.push(arn)
    const imported = {
      ClientToken: 'token',
      S3BucketSource: { S3Bucket: 'bucket', S3KeyPrefix: 'nothing/' },
      InputFormat: 'DYNAMODB_JSON',
      TableCreationParameters: tableOf(`${TableName}-imported`),
    }
    assert.equal(await as(id).outcome('ImportTable', imported), 'answered')
  }
  assert.equal(new Set(arns).size, 2)
})
