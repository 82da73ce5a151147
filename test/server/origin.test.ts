import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listen } from '../../src/server/http-server.js'
import { authOf } from '../../src/server/access/auth.js'
import { ask, echoRouter, requestOf, serve } from './support.js'

const good = [
  'localhost',
  'LocalHost:8000',
  '127.0.0.1',
  '127.0.0.1:65535',
  '127.9.8.7:1',
  '[::1]',
  '[::1]:8000',
]
const bad = [
  'evil.example',
  'evil.example:8000',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  'evil.example:127.0.0.1',
  'localhost@evil.example',
  'localhost:8000:9000',
  '10.0.0.1',
  '[::2]:8000',
  '0.0.0.0',
  '',
]

test('origin: without keys the Host must be a name of loopback', async (t) => {
  const server = await serve(t)
  for (const host of good)
    assert.equal((await ask(t, server, requestOf({ headers: { host } }))).status, 200, host)
  for (const host of bad) {
    const { status, json } = await ask(t, server, requestOf({ headers: { host } }))
    assert.equal(status, 403, host)
    assert.match(String(json['message']), /Host header .* --auth/)
  }
  assert.equal((await ask(t, server, requestOf({ headers: { host: null } }))).status, 403)
})

test('origin: pages and probes are refused to other hosts too', async (t) => {
  const server = await serve(t)
  for (const path of ['/', '/health', '/metrics']) {
    const request = requestOf({ method: 'GET', path, headers: { host: 'evil.example' }, body: '' })
    assert.equal((await ask(t, server, request)).status, 403)
  }
})

test('origin: a web page of another host is refused', async (t) => {
  const server = await serve(t)
  for (const origin of ['http://evil.example', 'null', 'https://localhost.evil.example', 'file://', '']) {
    const { status, json } = await ask(t, server, requestOf({ headers: { origin } }))
    assert.equal(status, 403, origin)
    assert.match(String(json['message']), /Origin/)
  }
  const crossSite = requestOf({ headers: { 'sec-fetch-site': 'cross-site' } })
  assert.equal((await ask(t, server, crossSite)).status, 403)
})

test('origin: a web page of this machine may ask, and read the answer', async (t) => {
  const server = await serve(t)
  const origin = 'http://localhost:3000'
  const preflight = await ask(
    t,
    server,
    requestOf({
      method: 'OPTIONS',
      body: '',
      headers: { origin, 'access-control-request-headers': 'x-amz-target,authorization' },
    }),
  )
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), origin)
  assert.equal(preflight.headers.get('access-control-allow-headers'), 'x-amz-target,authorization')
  const answer = await ask(t, server, requestOf({ headers: { origin } }))
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('access-control-allow-origin'), origin)
})

test('origin: nobody but loopback is listened to without keys, and the refusal says what to do', async () => {
  for (const host of ['0.0.0.0', '::', '192.168.0.1', 'example.org']) {
    await assert.rejects(listen(echoRouter, { host, port: 0 }), /without authentication .* --auth FILE/)
  }
})

test('origin: faults are injected on loopback only', async () => {
  const auth = authOf([{ accessKeyId: 'a', secretAccessKey: 'b', tables: ['*'], access: ['read'] }])
  await assert.rejects(
    listen(echoRouter, { host: '0.0.0.0', port: 0, auth, faults: true }),
    /only on loopback/,
  )
})

test('origin: IPv6 loopback has its brackets in the address', async (t) => {
  const server = await listen(echoRouter, { host: '::1', port: 0 }).catch(
    (error: NodeJS.ErrnoException) => error,
  )
  if (server instanceof Error) {
    t.skip(`no IPv6 here: ${server.message}`)
    return
  }
  assert.equal(server.url, `http://[::1]:${server.port}`)
  await server.stop()
})
