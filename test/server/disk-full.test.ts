import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyDataFolder } from '../../src/cli/operate/verify-folder.js'
import { open } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'
import { spawnServer } from '../support/spawned-server.js'

const TableName = 'Things'
const MB = 1024 * 1024

test('disk full: writes are answered as errors, reads go on, and what was acknowledged is there after a restart', async () => {
  const path = testFolder()
  const server = await spawnServer(['--path', path], { fileBytesMax: 2 * MB, quiet: true })
  const call = async (operation: string, input: object) => {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDB_20120810.${operation}`,
      },
      body: JSON.stringify(input),
    })
    return { status: response.status, json: (await response.json()) as Record<string, unknown> }
  }
  await call('CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  const acknowledged: number[] = []
  const refused: Record<string, unknown>[] = []
  // The journal is full after about forty of these. The index is written behind, and comes to its end later.
  for (let id = 0; id < 80; id++) {
    const Item = { id: { N: String(id) }, text: { S: 'x'.repeat(50_000) } }
    const { status, json } = await call('PutItem', { TableName, Item })
    if (status === 200) acknowledged.push(id)
    else refused.push({ status, ...json })
  }
  assert.ok(acknowledged.length > 20 && refused.length > 20)
  for (const { status, __type, message } of refused) {
    assert.equal(status, 500)
    assert.equal(__type, 'com.amazonaws.dynamodb.v20120810#InternalServerError')
    assert.match(String(message), /The journal has no room/)
  }
  for (const id of acknowledged) {
    const { json } = await call('GetItem', { TableName, Key: { id: { N: String(id) } } })
    assert.ok(json['Item'])
  }
  assert.equal((await fetch(`${server.url}/health`)).status, 200)
  await server.stop()

  await using store = await open({ path })
  for (const id of acknowledged) {
    assert.ok((await store.call('GetItem', { TableName, Key: { id: { N: String(id) } } })).Item)
  }
  assert.equal((await store.call('DescribeTable', { TableName })).Table?.ItemCount, acknowledged.length)
  await store.call('PutItem', { TableName, Item: { id: { N: '-1' } } })
  await store.close()
  assert.deepEqual((await verifyDataFolder(path)).problems, [])
})
