import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { spawnServer } from '../support/spawned-server.js'
import { clientEnvironment, needs } from './installed.js'

// Debian's own interpreter: another one on the path would not see its packages.
const PYTHON = '/usr/bin/python3'

const SCRIPT = `
import os
from decimal import Decimal
import boto3
from boto3.dynamodb.conditions import Attr, Key

dynamodb = boto3.resource('dynamodb', endpoint_url=os.environ['ENDPOINT'])
table = dynamodb.create_table(
    TableName='Films',
    AttributeDefinitions=[{'AttributeName': 'year', 'AttributeType': 'N'}, {'AttributeName': 'title', 'AttributeType': 'S'}],
    KeySchema=[{'AttributeName': 'year', 'KeyType': 'HASH'}, {'AttributeName': 'title', 'KeyType': 'RANGE'}],
    BillingMode='PAY_PER_REQUEST')
table.wait_until_exists()

with table.batch_writer() as batch:
    for number in range(60):
        batch.put_item(Item={'year': 1999, 'title': 'Film %02d' % number, 'rating': Decimal(number) / 10,
                             'data': b'\\x00\\xff', 'tags': {'a', 'b'}, 'info': {'plot': ['x', None, True]}})

item = table.get_item(Key={'year': 1999, 'title': 'Film 07'})['Item']
assert item['rating'] == Decimal('0.7'), item
assert item['data'].value == b'\\x00\\xff', item
assert item['tags'] == {'a', 'b'}, item
assert item['info'] == {'plot': ['x', None, True]}, item

table.update_item(Key={'year': 1999, 'title': 'Film 07'}, UpdateExpression='SET info.plot[0] = :p',
                  ConditionExpression=Attr('rating').eq(Decimal('0.7')), ExpressionAttributeValues={':p': 'y'})
try:
    table.put_item(Item={'year': 1999, 'title': 'Film 07'}, ConditionExpression=Attr('title').not_exists())
    raise AssertionError('the condition should have failed')
except table.meta.client.exceptions.ConditionalCheckFailedException:
    pass

answer = table.query(KeyConditionExpression=Key('year').eq(1999) & Key('title').begins_with('Film 1'), Limit=4)
assert [film['title'] for film in answer['Items']] == ['Film 10', 'Film 11', 'Film 12', 'Film 13'], answer

pages = boto3.client('dynamodb', endpoint_url=os.environ['ENDPOINT']).get_paginator('scan').paginate(
    TableName='Films', PaginationConfig={'PageSize': 7})
assert sum(page['Count'] for page in pages) == 60

table.delete()
table.meta.client.get_waiter('table_not_exists').wait(TableName='Films', WaiterConfig={'Delay': 1})
print('done')
`

test(
  'boto3 makes a table, writes, reads, pages and drops it',
  needs('python3-boto3', PYTHON, ['-c', 'import boto3']),
  async () => {
    await using server = await spawnServer()
    const { stdout } = await promisify(execFile)(PYTHON, ['-c', SCRIPT], {
      env: clientEnvironment(server.url),
    })
    assert.equal(stdout, 'done\n')
  },
)
