import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { spawnServer } from '../support/spawned-server.js'
import { clientEnvironment, needs } from './installed.js'

// Debian's own: a shim of the same name may come first on the path and lead nowhere.
const AWS = '/usr/bin/aws'

test(
  'the AWS command line makes a table, puts, queries and drops',
  needs('awscli', AWS, ['--version']),
  async () => {
    await using server = await spawnServer()
    const env = clientEnvironment(server.url)
    const aws = async (...args: string[]): Promise<unknown> => {
      const command = ['dynamodb', ...args, '--endpoint-url', server.url, '--output', 'json']
      const { stdout } = await promisify(execFile)(AWS, command, { env })
      return stdout === '' ? undefined : JSON.parse(stdout)
    }
    const table = ['--table-name', 'Songs']
    await aws(
      'create-table',
      ...table,
      '--billing-mode',
      'PAY_PER_REQUEST',
      '--attribute-definitions',
      'AttributeName=artist,AttributeType=S',
      '--key-schema',
      'AttributeName=artist,KeyType=HASH',
    )
    await aws('wait', 'table-exists', ...table)
    await aws('put-item', ...table, '--item', '{"artist":{"S":"Nina"},"plays":{"N":"41"}}')
    await aws(
      'update-item',
      ...table,
      '--key',
      '{"artist":{"S":"Nina"}}',
      '--update-expression',
      'ADD plays :one',
      '--expression-attribute-values',
      '{":one":{"N":"1"}}',
    )
    const answer = await aws(
      'query',
      ...table,
      '--key-condition-expression',
      'artist = :a',
      '--expression-attribute-values',
      '{":a":{"S":"Nina"}}',
    )
    assert.deepEqual((answer as { Items: unknown }).Items, [{ artist: { S: 'Nina' }, plays: { N: '42' } }])
    await assert.rejects(aws('get-item', '--table-name', 'Missing', '--key', '{"artist":{"S":"x"}}'), {
      stderr: /ResourceNotFoundException/,
    })
    await aws('delete-table', ...table)
  },
)
