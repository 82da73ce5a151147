// Streams by clients that are not written in JavaScript.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { spawnServer } from '../support/spawned-server.js'
import { clientEnvironment, needs } from './installed.js'

const PYTHON = '/usr/bin/python3'
const AWS = '/usr/bin/aws'
const run = promisify(execFile)

const SCRIPT = `
import os
import boto3

endpoint = os.environ['ENDPOINT']
table = boto3.resource('dynamodb', endpoint_url=endpoint).create_table(
    TableName='Orders',
    AttributeDefinitions=[{'AttributeName': 'id', 'AttributeType': 'S'}],
    KeySchema=[{'AttributeName': 'id', 'KeyType': 'HASH'}],
    BillingMode='PAY_PER_REQUEST',
    StreamSpecification={'StreamEnabled': True, 'StreamViewType': 'NEW_AND_OLD_IMAGES'})
table.wait_until_exists()
streams = boto3.client('dynamodbstreams', endpoint_url=endpoint)
arn = streams.list_streams(TableName='Orders')['Streams'][0]['StreamArn']
assert arn == table.latest_stream_arn, arn
assert arn.startswith('arn:aws:dynamodb:eu-central-1:'), arn

table.put_item(Item={'id': 'a', 'n': 1, 'b': b'\\x00\\xff'})
table.update_item(Key={'id': 'a'}, UpdateExpression='SET n = n + :one', ExpressionAttributeValues={':one': 1})
table.delete_item(Key={'id': 'a'})

description = streams.describe_stream(StreamArn=arn)['StreamDescription']
assert description['StreamStatus'] == 'ENABLED', description
shard = description['Shards'][0]['ShardId']
iterator = streams.get_shard_iterator(StreamArn=arn, ShardId=shard, ShardIteratorType='TRIM_HORIZON')['ShardIterator']
page = streams.get_records(ShardIterator=iterator)
assert [record['eventName'] for record in page['Records']] == ['INSERT', 'MODIFY', 'REMOVE'], page
changed = page['Records'][1]['dynamodb']
assert changed['OldImage'] == {'id': {'S': 'a'}, 'n': {'N': '1'}, 'b': {'B': b'\\x00\\xff'}}, changed
assert changed['NewImage']['n'] == {'N': '2'}, changed
assert page['Records'][0]['awsRegion'] == 'eu-central-1', page
assert 'NextShardIterator' in page

table.delete()
page = streams.get_records(ShardIterator=page['NextShardIterator'])
assert page['Records'] == [] and 'NextShardIterator' not in page, page
try:
    streams.get_records(ShardIterator=iterator + 'x')
    raise AssertionError('the iterator should have been refused')
except streams.exceptions.ClientError as error:
    assert error.response['Error']['Code'] == 'ValidationException', error
try:
    streams.describe_stream(StreamArn=arn[:-1] + '!')
    raise AssertionError('the name should have been refused')
except streams.exceptions.ClientError as error:
    assert error.response['Error']['Code'] == 'ValidationException', error
try:
    streams.describe_stream(StreamArn=arn.replace('Orders', 'Others'))
    raise AssertionError('there is no such stream')
except streams.exceptions.ResourceNotFoundException:
    pass
print('done')
`

test(
  'boto3 reads a stream to the end of its table',
  needs('python3-boto3', PYTHON, ['-c', 'import boto3']),
  async () => {
    await using server = await spawnServer()
    const { stdout } = await run(PYTHON, ['-c', SCRIPT], { env: clientEnvironment(server.url) })
    assert.equal(stdout, 'done\n')
  },
)

test('the AWS command line reads a stream', needs('awscli', AWS, ['--version']), async () => {
  await using server = await spawnServer()
  const env = clientEnvironment(server.url)
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked at member by member
  const aws = async (...args: string[]): Promise<any> => {
    const { stdout } = await run(AWS, [...args, '--endpoint-url', server.url, '--output', 'json'], { env })
    return stdout === '' ? undefined : JSON.parse(stdout)
  }
  const created = await aws(
    'dynamodb',
    'create-table',
    '--table-name',
    'Orders',
    '--billing-mode',
    'PAY_PER_REQUEST',
    '--attribute-definitions',
    'AttributeName=id,AttributeType=S',
    '--key-schema',
    'AttributeName=id,KeyType=HASH',
    '--stream-specification',
    'StreamEnabled=true,StreamViewType=NEW_IMAGE',
  )
  const arn = ['--stream-arn', created.TableDescription.LatestStreamArn]
  await aws('dynamodb', 'put-item', '--table-name', 'Orders', '--item', '{"id":{"S":"a"}}')
  const { StreamDescription } = await aws('dynamodbstreams', 'describe-stream', ...arn)
  const shard = ['--shard-id', StreamDescription.Shards[0].ShardId]
  const begin = ['--shard-iterator-type', 'TRIM_HORIZON']
  const { ShardIterator } = await aws('dynamodbstreams', 'get-shard-iterator', ...arn, ...shard, ...begin)
  const { Records } = await aws('dynamodbstreams', 'get-records', '--shard-iterator', ShardIterator)
  assert.deepEqual(Records[0].dynamodb.NewImage, { id: { S: 'a' } })
})
