import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { BodyCollector } from '../../src/server/http/body.js'
import { affordableConnections } from '../../src/server/connection/open-files.js'
import { ask, heldRouter, onEach, RawClient, requestOf, serve } from './support.js'

const MB = 1024 * 1024

test('limits: a body declared over 16 MB is refused before it is sent, and the connection closed', async (t) => {
  const client = await RawClient.open(t, await serve(t))
  client.write(requestOf({ headers: { 'content-length': String(16 * MB + 1) }, body: '' }))
  const response = await client.response()
  assert.equal(response!.status, 413)
  assert.match(String(response!.json['message']), /larger than 16777216 bytes/)
  assert.equal(response!.headers.get('connection'), 'close')
  await client.closed()
})

test('limits: a client that sends a huge body all the same gets the refusal, and is not read to the end', async (t) => {
  const server = await serve(t, { limits: { lingerBytesMax: 4 * MB } })
  const client = await RawClient.open(t, server)
  const total = 1024 * MB
  client.write(requestOf({ headers: { 'content-length': String(total) }, body: '' }))
  const chunk = Buffer.alloc(64 * 1024, 'x')
  const pump = (): void => {
    while (client.socket.writable && client.socket.write(chunk))
      if (client.socket.bytesWritten >= total) return
  }
  client.socket.on('drain', pump)
  pump()
  assert.equal((await client.response())!.status, 413)
  await new Promise((resolve) => client.socket.once('close', resolve))
  assert.ok(client.socket.bytesWritten < total)
})

test('limits: a chunked body is refused as soon as it grows too large', async (t) => {
  const server = await serve(t, { limits: { requestBytesMax: 256 * 1024 } })
  const client = await RawClient.open(t, server)
  const headers = { 'content-length': null, 'transfer-encoding': 'chunked' }
  client.write(requestOf({ headers, body: '' }))
  const chunk = Buffer.concat([Buffer.from('10000\r\n'), Buffer.alloc(65_536, ' '), Buffer.from('\r\n')])
  for (let count = 0; count < 6; count++) client.write(chunk)
  assert.equal((await client.response())!.status, 413)
  await client.closed()
  assert.equal((await ask(t, server, requestOf())).status, 200)
})

test('limits: Expect: 100-continue with too large a body gets the refusal instead of the 100', async (t) => {
  const client = await RawClient.open(t, await serve(t))
  const headers = { expect: '100-continue', 'content-length': String(17 * MB) }
  client.write(requestOf({ headers, body: '' }))
  assert.equal((await client.response())!.status, 413)
})

test('limits: a body of exactly the limit is taken', async (t) => {
  const server = await serve(t, { limits: { requestBytesMax: 100_000 } })
  const body = `{"a":"${'x'.repeat(100_000 - 8)}"}`
  assert.equal((await ask(t, server, requestOf({ body }))).status, 200)
  assert.equal((await ask(t, server, requestOf({ body: body + ' ' }))).status, 413)
})

test('limits: a large request that would be refused anyway is refused unread', async (t) => {
  const server = await serve(t)
  const headers = { 'content-length': String(MB), 'x-amz-target': 'DynamoDB_20120810.Nothing' }
  const { status, json } = await ask(t, server, requestOf({ headers, body: '' }))
  assert.equal(status, 400)
  assert.equal(json['__type'], 'com.amazon.coral.service#UnknownOperationException')
})

test('limits: bodies in flight are bounded in all', async (t) => {
  const held = heldRouter()
  const server = await serve(t, { limits: { bodyBytesInFlightMax: 300_000 } }, held.router)
  const body = `{"a":"${'x'.repeat(200_000)}"}`
  const first = await RawClient.open(t, server)
  first.write(requestOf({ body }))
  await held.arrival()
  const { json } = await ask(t, server, requestOf({ body }))
  assert.equal(json['__type'], 'com.amazon.coral.service#ThrottlingException')
  held.answer('{}')
  await first.response()
  const third = await RawClient.open(t, server)
  third.write(requestOf({ body }))
  await held.arrival()
  held.answer('{}')
  assert.equal((await third.response())!.status, 200)
})

test('limits: requests in flight are bounded, and the excess is told to try again', async (t) => {
  const held = heldRouter()
  const server = await serve(t, { limits: { requestsInFlightMax: 1 } }, held.router)
  const first = await RawClient.open(t, server)
  first.write(requestOf())
  await held.arrival()
  const { status, json } = await ask(t, server, requestOf())
  assert.equal(status, 400)
  assert.equal(json['__type'], 'com.amazon.coral.service#ThrottlingException')
  held.answer('{}')
  assert.equal((await first.response())!.status, 200)
})

test('limits: a connection on which too many requests wait is closed', async (t) => {
  const held = heldRouter()
  const server = await serve(t, { limits: { pipelinedMax: 4 } }, held.router)
  const client = await RawClient.open(t, server)
  client.write(Buffer.concat(Array.from({ length: 10 }, () => requestOf())))
  await client.closed()
  assert.equal(held.asked.length, 1)
})

test('limits: headers that are too large are refused', async (t) => {
  const client = await RawClient.open(t, await serve(t))
  client.write(requestOf({ headers: { 'x-large': 'x'.repeat(20_000) } }))
  assert.equal((await client.response())!.status, 431)
  await client.closed()
})

test('limits: no header is dropped because there are many', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 2500 }, (_, index) => [index.toString(36), '']))
  const headers = { ...many, origin: 'http://evil.example' }
  assert.equal((await ask(t, await serve(t), requestOf({ headers }))).status, 403)
})

const slow = { headersTimeoutMs: 50, requestTimeoutMs: 100, timeoutCheckMs: 20, lingerMs: 50 }

onEach(
  'limits: a connection that sends nothing, or its headers too slowly, is closed',
  async (t, serveOn) => {
    const server = await serveOn(t, { limits: slow })
    const silent = await RawClient.open(t, server)
    const dripping = await RawClient.open(t, server)
    dripping.write('POST / HTTP/1.1\r\nhost: local')
    assert.equal((await dripping.response())!.status, 408)
    await dripping.closed()
    await silent.closed()
  },
)

onEach(
  'limits: a body that comes too slowly is refused, and what it held is given back',
  async (t, serveOn) => {
    const server = await serveOn(t, { limits: { ...slow, bodyBytesInFlightMax: 100_000 } })
    for (let round = 0; round < 3; round++) {
      const client = await RawClient.open(t, server)
      client.write(requestOf({ headers: { 'content-length': '90000' }, body: ' '.repeat(80_000) }))
      assert.equal((await client.response())!.status, 408)
      await client.closed()
    }
  },
)

onEach('limits: an idle connection is closed', async (t, serveOn) => {
  const client = await RawClient.open(t, await serveOn(t, { limits: { keepAliveTimeoutMs: 30 } }))
  assert.equal((await client.write(requestOf()).response())!.status, 200)
  assert.equal((await client.closed()).length, 0)
})

test('limits: connections are bounded', async (t) => {
  const server = await serve(t, { limits: { connectionsMax: 2 } })
  const first = await RawClient.open(t, server)
  const second = await RawClient.open(t, server)
  assert.equal((await second.write(requestOf()).response())!.status, 200)
  const third = connect({ port: server.port, host: '127.0.0.1' })
  third.on('error', () => {})
  await once(third, 'close')
  first.socket.destroy()
  second.socket.destroy()
})

test('limits: a body keeps one buffer however many pieces it comes in', () => {
  for (const declared of [undefined, 100_000]) {
    const collector = new BodyCollector(declared)
    for (let index = 0; index < 100_000; index++) collector.add(Buffer.from([index & 0xff]))
    const bytes = collector.bytes()
    assert.equal(bytes.length, 100_000)
    assert.ok(bytes.every((byte, index) => byte === (index & 0xff)))
    assert.ok(bytes.buffer.byteLength <= 262_144)
    assert.equal(collector.complete, declared !== undefined)
  }
})

test('limits: connections leave files to the journal and the index', () => {
  assert.equal(affordableConnections(16_384, 20_000), 16_384)
  assert.equal(affordableConnections(16_384, 1024), 768)
  assert.equal(affordableConnections(16_384, Infinity), 16_384)
  assert.equal(affordableConnections(16_384, 100), 1)
})
