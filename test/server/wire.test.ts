import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { DynamoDBClient, DescribeTableCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { ask, heldRouter, onEach, RawClient, requestOf, serve } from './support.js'

onEach(
  'wire: an answer carries a request id, a checksum, its type, its length and the date',
  async (t, serve) => {
    const server = await serve(t)
    const { status, headers, body } = await ask(t, server, requestOf())
    assert.equal(status, 200)
    assert.match(headers.get('x-amzn-requestid')!, /^[0-9A-Z]{52}$/)
    assert.equal(headers.get('x-amz-crc32'), String(crc32(body)))
    assert.equal(headers.get('content-type'), 'application/x-amz-json-1.0')
    assert.equal(headers.get('content-length'), String(body.length))
    assert.ok(!Number.isNaN(Date.parse(headers.get('date')!)))
  },
)

onEach('wire: the content type of the request comes back', async (t, serve) => {
  const server = await serve(t)
  for (const type of ['application/x-amz-json-1.0', 'application/x-amz-json-1.1', 'application/json']) {
    const { status, headers } = await ask(
      t,
      server,
      requestOf({ headers: { 'content-type': `${type}; charset=utf-8` } }),
    )
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), type)
  }
})

onEach('wire: an exception of an operation keeps its name, message and status', async (t, serve) => {
  const server = await serve(t)
  const headers = { 'x-amz-target': 'DynamoDB_20120810.DescribeTable' }
  const response = await ask(t, server, requestOf({ headers, body: '{"TableName":"absent-table"}' }))
  assert.equal(response.status, 400)
  assert.equal(response.json['__type'], 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException')
  assert.match(response.headers.get('x-amzn-requestid')!, /^[0-9A-Z]{52}$/)
})

onEach('wire: the official client gets its answers and its exceptions', async (t, serve) => {
  const server = await serve(t)
  const client = new DynamoDBClient({
    endpoint: server.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    maxAttempts: 1,
  })
  t.after(() => client.destroy())
  const answer = await client.send(new ListTablesCommand({ Limit: 7 }))
  assert.equal(answer.$metadata.httpStatusCode, 200)
  await assert.rejects(client.send(new DescribeTableCommand({ TableName: 'absent-table' })), {
    name: 'ResourceNotFoundException',
  })
})

test('wire: operations of streams have a target prefix of their own', async (t) => {
  const server = await serve(t)
  const answer = async (target: string): Promise<number> =>
    (await ask(t, server, requestOf({ headers: { 'x-amz-target': target } }))).status
  assert.equal(await answer('DynamoDBStreams_20120810.ListStreams'), 200)
  assert.equal(await answer('DynamoDB_20120810.ListStreams'), 400)
  assert.equal(await answer('DynamoDBStreams_20120810.ListTables'), 400)
})

onEach('wire: there are pages for people and for probes', async (t, serve) => {
  const server = await serve(t)
  const page = (path: string, method = 'GET') => ask(t, server, requestOf({ method, path, body: '' }))
  assert.match((await page('/')).body.toString(), /^healthy: /)
  assert.deepEqual((await page('/health')).json, { status: 'ok' })
  assert.match((await page('/metrics')).headers.get('content-type')!, /^text\/plain; version=0\.0\.4/)
  assert.equal((await page('/elsewhere')).status, 404)
  assert.equal((await page('/', 'OPTIONS')).status, 204)
  assert.equal((await page('/', 'PUT')).status, 405)
  assert.equal((await page('/', 'DELETE')).status, 405)
  assert.equal((await page('/elsewhere', 'POST')).status, 404)
})

onEach('wire: HEAD answers the length without the body', async (t, serve) => {
  const client = await RawClient.open(t, await serve(t))
  client.write(requestOf({ method: 'HEAD', path: '/health', body: '' }))
  const response = await client.response({ bodiless: true })
  assert.equal(response!.status, 200)
  assert.equal(response!.headers.get('content-length'), '15')
  client.write(requestOf())
  assert.equal((await client.response())!.status, 200)
})

onEach('wire: CONNECT is refused', async (t, serve) => {
  const server = await serve(t)
  const { status } = await ask(t, server, 'CONNECT localhost:80 HTTP/1.1\r\nhost: localhost\r\n\r\n')
  assert.equal(status, 405)
})

onEach('wire: an Upgrade header changes nothing', async (t, serve) => {
  const server = await serve(t)
  const headers = { connection: 'upgrade', upgrade: 'h2c' }
  assert.equal((await ask(t, server, requestOf({ headers }))).status, 200)
})

onEach('wire: one connection carries many requests, also after a refused one', async (t, serve) => {
  const client = await RawClient.open(t, await serve(t))
  for (const [body, status] of [
    ['{}', 200],
    ['{', 400],
    ['{}', 200],
  ] as const) {
    assert.equal((await client.write(requestOf({ body })).response())!.status, status)
  }
})

onEach('wire: a client of HTTP/1.0 is answered and the connection closed', async (t, serve) => {
  const client = await RawClient.open(t, await serve(t))
  client.write(requestOf({ version: '1.0' }))
  assert.equal((await client.response())!.status, 200)
  assert.equal((await client.closed()).length, 0)
})

onEach('wire: Connection: close is obeyed', async (t, serve) => {
  const client = await RawClient.open(t, await serve(t))
  client.write(requestOf({ headers: { connection: 'close' } }))
  const response = await client.response()
  assert.equal(response!.status, 200)
  assert.equal(response!.headers.get('connection'), 'close')
  assert.equal((await client.closed()).length, 0)
})

test('wire: pipelined requests are done one after another and answered in order', async (t) => {
  const held = heldRouter()
  const client = await RawClient.open(t, await serve(t, {}, held.router))
  const bodies = ['{"n":1}', '{"n":2}', '{"n":3}']
  client.write(Buffer.concat(bodies.map((body) => requestOf({ body }))))
  for (const [index, body] of bodies.entries()) {
    await held.arrival()
    assert.equal(held.asked.length, index + 1)
    assert.deepEqual(held.asked[index]!.input, JSON.parse(body))
    held.answer(`{"answer":${index}}`)
    assert.deepEqual((await client.response())!.json, { answer: index })
  }
})

test('wire: a body in chunks, or byte by byte, is the same body', async (t) => {
  const held = heldRouter()
  const server = await serve(t, {}, held.router)
  const body = `{"text":"${'ü'.repeat(20_000)}"}`
  const bytes = Buffer.from(body)
  const chunked: Buffer[] = []
  for (let at = 0; at < bytes.length; at += 1000) {
    const chunk = bytes.subarray(at, at + 1000)
    chunked.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
  }
  const head = requestOf({ headers: { 'content-length': null, 'transfer-encoding': 'chunked' }, body: '' })
  const first = await RawClient.open(t, server)
  first.write(Buffer.concat([head, ...chunked, Buffer.from('0\r\n\r\n')]))
  await held.arrival()
  assert.deepEqual(held.asked[0]!.input, JSON.parse(body))
  held.answer('{}')
  assert.equal((await first.response())!.status, 200)

  const second = await RawClient.open(t, server)
  second.socket.setNoDelay(true)
  for (const byte of requestOf({ body: '{"a":"b"}' })) second.write(Buffer.from([byte]))
  await held.arrival()
  assert.deepEqual(held.asked[1]!.input, { a: 'b' })
  held.answer('{}')
  assert.equal((await second.response())!.status, 200)
})

onEach('wire: Expect: 100-continue gets its 100 before the answer', async (t, serve) => {
  const client = await RawClient.open(t, await serve(t))
  const body = '{"a":1}'
  const headers = { expect: '100-continue', 'content-length': String(body.length) }
  client.write(requestOf({ headers, body: '' }))
  assert.equal((await client.response())!.status, 100)
  assert.equal((await client.write(body).response())!.status, 200)
})

test('wire: a client that has closed its side still gets its answer', async (t) => {
  const held = heldRouter()
  const client = await RawClient.open(t, await serve(t, {}, held.router))
  client.socket.end(requestOf())
  await held.arrival()
  held.answer('{"late":true}')
  assert.deepEqual((await client.response())!.json, { late: true })
  await client.closed()
})

test('wire: a large answer arrives whole', async (t) => {
  const held = heldRouter()
  const client = await RawClient.open(t, await serve(t, {}, held.router))
  const body = `{"text":"${'ü'.repeat(1_000_000)}"}`
  client.write(requestOf())
  await held.arrival()
  held.answer(body)
  assert.equal((await client.response())!.body.toString(), body)
})

test('wire: a client that goes away during its body or its answer harms nobody', async (t) => {
  const held = heldRouter()
  const server = await serve(t, {}, held.router)
  const leaver = await RawClient.open(t, server)
  leaver.write(requestOf({ headers: { 'content-length': '100' } }))
  leaver.socket.destroy()
  const impatient = await RawClient.open(t, server)
  impatient.write(requestOf())
  await held.arrival()
  impatient.socket.resetAndDestroy()
  held.answer('{}')
  const client = await RawClient.open(t, server)
  client.write(requestOf())
  await held.arrival()
  held.answer('{}')
  assert.equal((await client.response())!.status, 200)
})
