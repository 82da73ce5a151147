import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { Router } from '../../src/router/request/router.js'
import { ask, echoRouter, heldRouter, RawClient, requestOf, serve, UNREAD_BYTES } from './support.js'

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const chunked = { 'content-length': null, 'transfer-encoding': 'chunked' }

test('connections: a head may come in two pieces, or in many, cut anywhere', async (t) => {
  const server = await serve(t)
  const head = requestOf({ body: '{"n":1}' })
  const client = await RawClient.open(t, server)
  client.socket.setNoDelay(true)
  for (let cut = 1; cut < head.length; cut += 7) {
    client.write(head.subarray(0, cut))
    await nextTurn()
    client.write(head.subarray(cut))
    assert.equal((await client.response())!.status, 200)
  }
  for (let cut = 3; cut < head.length; cut += 31) {
    const other = await RawClient.open(t, server)
    other.socket.setNoDelay(true)
    for (const [from, to] of [
      [0, cut - 2],
      [cut - 2, cut - 1],
      [cut - 1, cut],
      [cut, head.length],
    ] as const) {
      other.write(head.subarray(from, to))
      await nextTurn()
    }
    assert.equal((await other.response())!.status, 200)
  }
})

test('connections: a body in pieces is collected, and what follows it in the last piece is the next request', async (t) => {
  const held = heldRouter()
  const client = await RawClient.open(t, await serve(t, {}, held.router))
  const body = `{"text":"${'y'.repeat(150_000)}"}`
  const bytes = Buffer.concat([requestOf({ body }), requestOf({ body: '{"n":2}' })])
  for (let at = 0; at < bytes.length; at += 40_000) {
    client.write(bytes.subarray(at, at + 40_000))
    await nextTurn()
  }
  await held.arrival()
  assert.deepEqual(held.asked[0]!.input, JSON.parse(body))
  held.answer('{"n":1}')
  assert.deepEqual((await client.response())!.json, { n: 1 })
  await held.arrival()
  assert.deepEqual(held.asked[1]!.input, { n: 2 })
  held.answer('{"n":2}')
  assert.deepEqual((await client.response())!.json, { n: 2 })
})

test('connections: who does not read gets no more answers made, and all of them once he reads', async (t) => {
  const answerBytes = 1024 * 1024
  let asked = 0
  const router: Router = {
    ...echoRouter,
    handle: async () => ({ ok: true, body: Buffer.alloc(answerBytes, ++asked) }),
  }
  const client = await RawClient.open(t, await serve(t, {}, router))
  client.socket.pause()
  const count = 60
  for (let sent = 0; sent < count; sent++) client.write(requestOf())
  let before = -1
  // Until no further answer is made in many turns; what the system buffers is some megabytes.
  for (let quiet = 0; quiet < 50; quiet = asked === before ? quiet + 1 : 0) {
    before = asked
    await ask(t, await serve(t), requestOf())
  }
  assert.ok(asked < count / 2, `${asked} of ${count} answers were made`)
  client.socket.resume()
  for (let number = 1; number <= count; number++) {
    const { body } = (await client.response())!
    assert.equal(body.length, answerBytes)
    assert.equal(body[0], number)
    assert.equal(body.at(-1), number)
  }
})

test('connections: a head goes into the room before an answer where it fits, and around it where it does not', async (t) => {
  let headroomBytes = 0
  const bytes = Buffer.alloc(40_000, 'r')
  const router: Router = {
    ...echoRouter,
    handle: async () => {
      bytes.fill('r')
      bytes.fill('b', 600, 20_600)
      return { ok: true, body: bytes.subarray(600, 20_600), headroomBytes }
    },
  }
  const client = await RawClient.open(t, await serve(t, {}, router))
  for (headroomBytes of [0, 1, 200, 300, 600]) {
    client.write(requestOf())
    const { body, status } = (await client.response())!
    assert.equal(status, 200)
    assert.deepEqual(body, Buffer.alloc(20_000, 'b'))
    const untouched = Buffer.alloc(600 - headroomBytes, 'r')
    assert.deepEqual(bytes.subarray(0, 600 - headroomBytes), untouched)
    assert.deepEqual(bytes.subarray(20_600), Buffer.alloc(19_400, 'r'))
  }
})

test('connections: who takes nothing of his answer for too long is cut off', async (t) => {
  const router: Router = {
    ...echoRouter,
    handle: async () => ({ ok: true, body: Buffer.alloc(UNREAD_BYTES) }),
  }
  const limits = { socketIdleMs: 60, keepAliveTimeoutMs: 60_000 }
  const server = await serve(t, { limits }, router)
  const client = await RawClient.open(t, server)
  client.socket.pause()
  client.write(requestOf())
  // The connection counts as long as the server has it.
  for (;;) {
    const page = (
      await ask(t, server, requestOf({ method: 'GET', path: '/metrics', body: '' }))
    ).body.toString()
    if (/^seriatim_connections 1$/m.test(page)) break
  }
})

const slow = { headersTimeoutMs: 50, requestTimeoutMs: 100, timeoutCheckMs: 20, lingerMs: 50 }

test('connections: a second head, or a second body, that does not come is not waited for either', async (t) => {
  const server = await serve(t, { limits: slow })
  for (const rest of [
    'POST / HT',
    requestOf().subarray(0, -40),
    requestOf({ headers: { 'content-length': '9' } }),
    requestOf({ headers: chunked, body: '5\r\n{"a"' }),
    'GET / HT',
  ]) {
    const client = await RawClient.open(t, server)
    assert.equal((await client.write(requestOf()).response())!.status, 200)
    assert.equal((await client.write(rest).response())!.status, 408)
    await client.closed()
  }
})

test('connections: a process that was stopped for longer than any deadline reads first what clients have sent', async (t) => {
  const server = await serve(t, { limits: { ...slow, keepAliveTimeoutMs: 30 } })
  for (const requests of [1, 2]) {
    const client = await RawClient.open(t, server)
    for (let number = 1; number <= requests; number++) {
      client.write(requestOf())
      // Server and client are this process, and it stands still.
      const stopped = new Int32Array(new SharedArrayBuffer(4))
      Atomics.wait(stopped, 0, 0, 500)
      assert.equal((await client.response())?.status, 200)
    }
    client.socket.destroy()
  }
})

test('connections: what was asked before half a request is answered before it is refused', async (t) => {
  const held = heldRouter()
  const client = await RawClient.open(t, await serve(t, { limits: slow }, held.router))
  client.write(Buffer.concat([requestOf(), requestOf({ headers: { 'content-length': '9' } })]))
  await held.arrival()
  await ask(t, await serve(t, { limits: slow }), 'POST / HT')
  held.answer('{"n":1}')
  assert.deepEqual((await client.response())!.json, { n: 1 })
  assert.equal((await client.response())!.status, 408)
  await client.closed()
})

test('connections: the end of the client in the middle of a request is not a request', async (t) => {
  const server = await serve(t)
  for (const bytes of ['POST / HT', requestOf({ headers: { 'content-length': '9' } })]) {
    const client = await RawClient.open(t, server)
    client.socket.end(bytes)
    assert.equal((await client.response())!.status, 400)
    await client.closed()
  }
  const silent = await RawClient.open(t, server)
  silent.socket.end()
  assert.equal((await silent.closed()).length, 0)
})

test('connections: a client that closes its side gets all answers, from both readers', async (t) => {
  const held = heldRouter()
  const client = await RawClient.open(t, await serve(t, {}, held.router))
  client.socket.end(
    Buffer.concat([requestOf(), requestOf(), requestOf({ headers: chunked, body: '2\r\n{}\r\n0\r\n\r\n' })]),
  )
  for (let number = 1; number <= 3; number++) {
    await held.arrival()
    // Meanwhile its end has been seen.
    await nextTurn()
    held.answer(`{"n":${number}}`)
    assert.deepEqual((await client.response())!.json, { n: number })
  }
  assert.equal((await client.closed()).length, 0)
})

test('connections: 100 Continue is said in its turn, not in the middle of the answer before', async (t) => {
  const held = heldRouter()
  const client = await RawClient.open(t, await serve(t, {}, held.router))
  const expecting = requestOf({ headers: { expect: '100-continue', 'content-length': '7' }, body: '' })
  client.write(Buffer.concat([requestOf(), requestOf({ headers: { 'x-a': '' } }), expecting]))
  for (let number = 1; number <= 2; number++) {
    await held.arrival()
    held.answer(`{"n":${number}}`)
    assert.deepEqual((await client.response())!.json, { n: number })
  }
  assert.equal((await client.response())!.status, 100)
  client.write('{"n":3}')
  await held.arrival()
  held.answer('{"n":3}')
  assert.deepEqual((await client.response())!.json, { n: 3 })
})

test('connections: an expectation that nobody can meet is refused in its turn', async (t) => {
  const held = heldRouter()
  const client = await RawClient.open(t, await serve(t, {}, held.router))
  client.write(Buffer.concat([requestOf(), requestOf({ headers: { expect: 'the unexpected' } })]))
  await held.arrival()
  held.answer('{"n":1}')
  assert.deepEqual((await client.response())!.json, { n: 1 })
  assert.equal((await client.response())!.status, 417)
  await client.closed()
})

test('stop: requests of both readers that came before it are answered, and half of one is not waited for', async (t) => {
  const held = heldRouter()
  const server = await serve(t, { limits: { stopMs: 60_000 } }, held.router)
  const mixed = await RawClient.open(t, server)
  mixed.write(Buffer.concat([requestOf(), requestOf({ headers: chunked, body: '2\r\n{}\r\n0\r\n\r\n' })]))
  const half = await RawClient.open(t, server)
  half.write(Buffer.concat([requestOf(), Buffer.from('GET / HT')]))
  await held.arrival()
  while (held.asked.length < 2) await nextTurn()
  const stopped = server.stop()
  held.answer('{"n":1}')
  held.answer('{"n":1}')
  assert.deepEqual((await mixed.response())!.json, { n: 1 })
  assert.deepEqual((await half.response())!.json, { n: 1 })
  assert.equal((await half.closed()).length, 0)
  await held.arrival()
  held.answer('{"n":2}')
  const last = (await mixed.response())!
  assert.deepEqual(last.json, { n: 2 })
  assert.equal(last.headers.get('connection'), 'close')
  mixed.socket.end()
  half.socket.end()
  await stopped
})

test('stop: a body that is still coming is waited for', async (t) => {
  const server = await serve(t, { limits: { stopMs: 60_000 } })
  const client = await RawClient.open(t, server)
  client.write(requestOf({ headers: { 'content-length': '9' }, body: '' }))
  await ask(t, server, requestOf())
  const stopped = server.stop()
  client.write('{"n":111}')
  const last = (await client.response())!
  assert.equal(last.status, 200)
  assert.equal(last.headers.get('connection'), 'close')
  await stopped
})

test('connections: one that was passed on is counted once, and its end once', async (t) => {
  const server = await serve(t)
  const client = await RawClient.open(t, server)
  client.write(requestOf())
  await client.response()
  client.write(requestOf({ method: 'GET', path: '/metrics', body: '' }))
  const page = (await client.response())!.body.toString()
  assert.match(page, /^seriatim_connections 1$/m)
  assert.match(page, /^seriatim_connections_total 1$/m)
  client.socket.destroy()
  await once(client.socket, 'close')
  for (;;) {
    const next = await ask(t, server, requestOf({ method: 'GET', path: '/metrics', body: '' }))
    if (/^seriatim_connections 1$/m.test(next.body.toString())) break
  }
})
