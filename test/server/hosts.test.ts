// Under which names a server is reached, and what its answers say of where it is.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  CreateTableCommand,
  DescribeEndpointsCommand,
  DescribeTableCommand,
  DynamoDBClient,
  ListTagsOfResourceCommand,
} from '@aws-sdk/client-dynamodb'
import { authOf } from '../../src/server/access/auth.js'
import { listen, type ListenOptions } from '../../src/server/http-server.js'
import { open } from '../../src/store/store.js'
import { key, tableOf } from '../access/keys.js'
import { ask, echoRouter, onEach, requestOf, serve } from './support.js'

const withHosts = (head: string, body: string): Buffer =>
  Buffer.from(`${head}\r\nHost: localhost\r\nhOST: localhost\r\n${body}`)
const plain = 'Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\n'

onEach('hosts: a request with two Host headers is refused, in every form', async (t, serveOn) => {
  const server = await serveOn(t)
  for (const request of [
    withHosts('POST / HTTP/1.1', `${plain}Content-Length: 2\r\n\r\n{}`),
    withHosts('POST / HTTP/1.1', `${plain}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`),
    withHosts('POST / HTTP/1.1', `${plain}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`),
    withHosts('GET /health HTTP/1.1', '\r\n'),
    Buffer.from(
      `POST / HTTP/1.1\r\nHost: localhost\r\n${plain}Content-Length: 2\r\nHost: evil.example\r\n\r\n{}`,
    ),
  ]) {
    const { status, json } = await ask(t, server, request)
    assert.equal(status, 400, request.toString())
    assert.match(String(json['message']), /more than one Host/)
  }
})

test('hosts: with keys, too, two Host headers are refused', async (t) => {
  const server = await serve(t, { auth: authOf([key('A', ['read'])]) })
  const { status } = await ask(t, server, withHosts('POST / HTTP/1.1', `${plain}Content-Length: 2\r\n\r\n{}`))
  assert.equal(status, 400)
})

test('hosts: another address than loopback needs keys, or that no keys are said expressly', async (t) => {
  await assert.rejects(listen(echoRouter, { host: '0.0.0.0', port: 0 }), /--auth FILE, or say --no-auth/)
  const auth = authOf([key('A', ['read'])])
  await assert.rejects(listen(echoRouter, { port: 0, auth, noAuth: true }), /contradict/)
  const server = await serve(t, {
    host: '0.0.0.0',
    noAuth: true,
    allowHosts: ['Host.Docker.Internal', 'db_1'],
  })
  const hostStatus = async (host: string, rest: Record<string, string> = {}): Promise<number> =>
    (await ask(t, server, requestOf({ headers: { host, ...rest } }))).status
  const good = ['localhost', '10.1.2.3:8000', '[fe80::1]:8000', 'host.docker.internal:8000', 'DB_1:80']
  for (const host of good) assert.equal(await hostStatus(host), 200, host)
  const bad = ['evil.example', 'db_1.evil.example', '10.1.2.3.evil.example', '[fe80::1', '999.1.1.1', '']
  for (const host of bad) assert.equal(await hostStatus(host), 403, host)
  // An address is no name that is rebound, but pages may come from any: of this one they are the console's.
  const origin = (text: string) => hostStatus('10.1.2.3', { origin: text })
  assert.equal(await origin('http://6.6.6.6'), 403)
  assert.equal(await origin('http://10.1.2.3:81'), 403)
  assert.equal(await origin('http://10.1.2.3'), 200)
  assert.equal(await origin('http://host.docker.internal:3000'), 200)
})

test('hosts: a further name is admitted on loopback', async (t) => {
  const server = await serve(t, { allowHosts: ['host.docker.internal'] })
  const asked = async (host: string): Promise<number> =>
    (await ask(t, server, requestOf({ headers: { host } }))).status
  assert.equal(await asked('host.docker.internal:8000'), 200)
  assert.equal(await asked('10.1.2.3:8000'), 403)
})

async function serveStore(t: TestContext, options: ListenOptions = {}) {
  const store = await open({ memory: true })
  t.after(() => store.close())
  const { url } = await store.listen({ port: 0, ...options })
  const clientIn = (region: string): DynamoDBClient => {
    const client = new DynamoDBClient({
      endpoint: url,
      region,
      credentials: { accessKeyId: 'A', secretAccessKey: 'secret of A' },
    })
    t.after(() => client.destroy())
    return client
  }
  return { store, url, clientIn }
}

test('hosts: DescribeEndpoints answers the host that was asked', async (t) => {
  const { store, url, clientIn } = await serveStore(t)
  const { Endpoints } = await clientIn('eu-west-1').send(new DescribeEndpointsCommand({}))
  assert.equal(Endpoints?.[0]?.Address, new URL(url).host)
  assert.equal((await store.call('DescribeEndpoints', {})).Endpoints?.[0]?.Address, 'localhost:8000')
})

for (const [how, options] of [
  ['without keys', {}],
  ['with keys', { auth: authOf([key('A', ['read', 'admin'])]) }],
] as const) {
  test(`hosts: ARNs carry the region of the request's signature, ${how}`, async (t) => {
    const { store, clientIn } = await serveStore(t, options)
    const table = {
      ...tableOf('Books'),
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by-id',
          KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
          Projection: { ProjectionType: 'ALL' as const },
        },
      ],
    }
    const arn = 'arn:aws:dynamodb:eu-central-1:000000000000:table/Books'
    const created = await clientIn('eu-central-1').send(new CreateTableCommand(table))
    assert.equal(created.TableDescription?.TableArn, arn)
    assert.equal(created.TableDescription?.GlobalSecondaryIndexes?.[0]?.IndexArn, `${arn}/index/by-id`)
    for (const [region, shown] of [
      ['us-west-2', 'arn:aws:dynamodb:us-west-2'],
      ['cn-north-1', 'arn:aws-cn:dynamodb:cn-north-1'],
      ['us-gov-west-1', 'arn:aws-us-gov:dynamodb:us-gov-west-1'],
    ] as const) {
      const client = clientIn(region)
      const { Table } = await client.send(new DescribeTableCommand({ TableName: 'Books' }))
      assert.equal(Table?.TableArn, `${shown}:000000000000:table/Books`)
      // Of any region: there is only one store.
      await client.send(new DescribeTableCommand({ TableName: arn }))
      await client.send(new ListTagsOfResourceCommand({ ResourceArn: arn }))
    }
    const inProcess = store.client({ region: 'ap-south-1' })
    const { Table } = await inProcess.send(new DescribeTableCommand({ TableName: 'Books' }))
    assert.match(Table?.TableArn ?? '', /^arn:aws:dynamodb:ap-south-1:/)
    const { Table: own } = await store.call('DescribeTable', { TableName: 'Books' })
    assert.match(own?.TableArn ?? '', /^arn:aws:dynamodb:us-east-1:/)
  })
}

test('hosts: a region that cannot be one is not repeated', async (t) => {
  const { store, url } = await serveStore(t)
  await store.call('CreateTable', tableOf('Books'))
  for (const region of ['"><script>', 'EU_WEST', 'x'.repeat(33), '']) {
    const answer = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'DynamoDB_20120810.DescribeTable',
        authorization: `AWS4-HMAC-SHA256 Credential=A/20260101/${region}/dynamodb/aws4_request, Signature=0`,
      },
      body: JSON.stringify({ TableName: 'Books' }),
    })
    assert.match(await answer.text(), /"arn:aws:dynamodb:us-east-1:0+:table\/Books"/)
  }
})
