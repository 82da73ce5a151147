// Pages and names that were admitted expressly.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { authOf } from '../../src/server/access/auth.js'
import { listen, type ListenOptions } from '../../src/server/http-server.js'
import { originIn } from '../../src/server/access/origin.js'
import { key } from '../access/keys.js'
import { ask, echoRouter, onEach, requestOf, serve } from './support.js'

const APP = 'https://app.example'

test('allowed origins: a page of one may ask from another site and read the answer', async (t) => {
  const server = await serve(t, { allowOrigins: [APP] })
  const preflight = await ask(
    t,
    server,
    requestOf({
      method: 'OPTIONS',
      body: '',
      headers: {
        origin: APP,
        'sec-fetch-site': 'cross-site',
        'access-control-request-headers': 'x-amz-target',
      },
    }),
  )
  assert.equal(preflight.status, 204)
  assert.equal(preflight.headers.get('access-control-allow-origin'), APP)
  assert.equal(preflight.headers.get('access-control-allow-headers'), 'x-amz-target')
  const answer = await ask(t, server, requestOf({ headers: { origin: APP, 'sec-fetch-site': 'cross-site' } }))
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('access-control-allow-origin'), APP)
  assert.equal(answer.headers.get('vary'), 'origin')
})

onEach('allowed origins: scheme, name and port must be those that were named', async (t, serveOn) => {
  const server = await serveOn(t, { allowOrigins: ['https://App.example:443', 'http://localhost:3000/'] })
  const status = async (origin: string): Promise<number> =>
    (await ask(t, server, requestOf({ headers: { origin, 'sec-fetch-site': 'cross-site' } }))).status
  assert.equal(await status(APP), 200)
  assert.equal(await status('http://localhost:3000'), 200)
  const others = [
    'http://app.example',
    'https://app.example:444',
    'https://app.example.evil.example',
    'https://evil.app.example',
    'https://app.example@evil.example',
    'http://localhost:3001',
    'null',
    '*',
  ]
  for (const origin of others) assert.equal(await status(origin), 403, origin)
})

test('allowed origins: a request from another site that names no origin is refused as before', async (t) => {
  const server = await serve(t, { allowOrigins: [APP] })
  const request = requestOf({ headers: { 'sec-fetch-site': 'cross-site' } })
  assert.equal((await ask(t, server, request)).status, 403)
})

test('allowed origins: they do not admit another Host', async (t) => {
  const server = await serve(t, { allowOrigins: [APP] })
  const request = requestOf({ headers: { host: 'app.example', origin: APP } })
  assert.equal((await ask(t, server, request)).status, 403)
})

test('allowed origins: with keys, pages of those alone may read what they sign for', async (t) => {
  const server = await serve(t, { auth: authOf([key('A', ['read'])]), allowOrigins: [APP] })
  const asked = async (origin: string) =>
    ask(
      t,
      server,
      requestOf({
        method: 'OPTIONS',
        body: '',
        headers: { origin, 'access-control-request-headers': 'authorization' },
      }),
    )
  const ours = await asked(APP)
  assert.equal(ours.headers.get('access-control-allow-origin'), APP)
  assert.equal(ours.headers.get('access-control-allow-headers'), 'authorization')
  for (const origin of ['https://evil.example', 'http://localhost:3000']) {
    const { headers } = await asked(origin)
    assert.equal(headers.get('access-control-allow-origin') ?? undefined, undefined, origin)
    assert.equal(headers.get('access-control-allow-headers') ?? undefined, undefined, origin)
  }
  // Without a signature it is refused all the same.
  const unsigned = await ask(t, server, requestOf({ headers: { origin: APP } }))
  assert.match(String(unsigned.json['__type']), /MissingAuthenticationTokenException$/)
})

test('allowed origins: what is no origin is refused at the start', async () => {
  const none = [
    '*',
    'null',
    'app.example',
    'https://',
    'https://app.example/path',
    'file://',
    'https://a@b.example',
  ]
  for (const origin of none) {
    assert.equal(originIn(origin), undefined, origin)
    await assert.rejects(listen(echoRouter, { port: 0, allowOrigins: [origin] }), /an origin is such as/)
  }
})

const hostStatus = async (t: TestContext, options: ListenOptions, headers: Record<string, string>) =>
  (await ask(t, await serve(t, options), requestOf({ headers }))).status

test('service names: a name without a dot is admitted as Host if that was said', async (t) => {
  const options = { host: '0.0.0.0', noAuth: true }
  for (const host of ['db', 'dynamodb-local:8000', 'DB_1']) {
    assert.equal(await hostStatus(t, options, { host }), 403, host)
    assert.equal(await hostStatus(t, { ...options, allowServiceNames: true }, { host }), 200, host)
  }
})

test('service names: names with a dot, numbers and oddities stay refused', async (t) => {
  const options = { host: '0.0.0.0', noAuth: true, allowServiceNames: true }
  for (const host of [
    'evil.example',
    'db.',
    '.db',
    '2130706433',
    '-db',
    'db-',
    'a'.repeat(64),
    'd b',
    'db/x',
  ])
    assert.notEqual(await hostStatus(t, options, { host }), 200, host)
})

test('service names: a page of such a name may not post, so that none that is rebound reaches the store', async (t) => {
  const options = { host: '0.0.0.0', noAuth: true, allowServiceNames: true }
  assert.equal(await hostStatus(t, options, { host: 'evil:8000', origin: 'http://evil:8000' }), 403)
})

test('service names: what a browser sends from a page is refused, with or without an Origin', async (t) => {
  const options = { host: '0.0.0.0', noAuth: true, allowServiceNames: true }
  const server = await serve(t, options)
  const status = async (request: Parameters<typeof requestOf>[0]): Promise<number> =>
    (await ask(t, server, requestOf(request))).status
  for (const site of ['same-origin', 'same-site', 'cross-site', '']) {
    const headers = { host: 'evil:8000', 'sec-fetch-site': site }
    assert.equal(await status({ headers }), 403, site)
    assert.equal(await status({ method: 'GET', path: '/metrics', body: '', headers }), 403, site)
  }
  // As Node's fetch, Prometheus and the SDKs ask, and a user who types the address.
  for (const site of [{}, { 'sec-fetch-site': 'none' }]) {
    const headers = { host: 'db:8000', ...site }
    assert.equal(await status({ headers }), 200)
    assert.equal(await status({ method: 'GET', path: '/metrics', body: '', headers }), 200)
  }
})

test('service names: pages of this machine and of origins that were named are served as before', async (t) => {
  const options = { host: '0.0.0.0', noAuth: true, allowServiceNames: true, allowOrigins: [APP] }
  const page = { host: 'localhost:8000', origin: 'http://localhost:3000', 'sec-fetch-site': 'same-site' }
  assert.equal(await hostStatus(t, options, page), 200)
  const named = { host: 'db:8000', origin: APP, 'sec-fetch-site': 'cross-site' }
  assert.equal(await hostStatus(t, options, named), 200)
})
