import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { heldRouter, RawClient, requestOf, serve } from './support.js'

test('stop: what was accepted is answered, then the connection is closed, and nothing new is accepted', async (t) => {
  const held = heldRouter()
  const server = await serve(t, { limits: { stopMs: 60_000 } }, held.router)
  const idle = await RawClient.open(t, server)
  const busy = await RawClient.open(t, server)
  busy.write(Buffer.concat([requestOf({ body: '{"n":1}' }), requestOf({ body: '{"n":2}' })]))
  await held.arrival()
  const stopped = server.stop()
  await idle.closed()
  const late = connect({ port: server.port, host: '127.0.0.1' })
  const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException]
  assert.equal(error.code, 'ECONNREFUSED')
  held.answer('{"n":1}')
  assert.deepEqual((await busy.response())!.json, { n: 1 })
  await held.arrival()
  held.answer('{"n":2}')
  const last = await busy.response()
  assert.deepEqual(last!.json, { n: 2 })
  assert.equal(last!.headers.get('connection'), 'close')
  await busy.closed()
  busy.socket.end()
  await stopped
})

test('stop: a request whose body is still coming is waited for', async (t) => {
  const server = await serve(t, { limits: { stopMs: 60_000 } })
  const client = await RawClient.open(t, server)
  client.write(requestOf({ headers: { expect: '100-continue', 'content-length': '2' }, body: '' }))
  assert.equal((await client.response())!.status, 100)
  const stopped = server.stop()
  client.write('{}')
  assert.equal((await client.response())!.status, 200)
  await stopped
})

test('stop: a client that never finishes is waited for no longer than the limit', async (t) => {
  const server = await serve(t, { limits: { stopMs: 50 } })
  const client = await RawClient.open(t, server)
  client.write(requestOf({ headers: { expect: '100-continue', 'content-length': '2' }, body: '' }))
  assert.equal((await client.response())!.status, 100)
  await server.stop()
  await client.closed()
})

test('stop: a large answer on its way out arrives whole', async (t) => {
  const held = heldRouter()
  const server = await serve(t, { limits: { stopMs: 60_000 } }, held.router)
  const client = await RawClient.open(t, server)
  const body = `{"text":"${'x'.repeat(8_000_000)}"}`
  client.write(requestOf())
  await held.arrival()
  client.socket.pause()
  held.answer(body)
  await new Promise(setImmediate)
  const stopped = server.stop()
  client.socket.resume()
  assert.equal((await client.response())!.body.length, body.length)
  await stopped
})

test('stop: twice is once, and disposing is stopping', async (t) => {
  const server = await serve(t)
  await Promise.all([server.stop(), server.stop(), server[Symbol.asyncDispose]()])
})
