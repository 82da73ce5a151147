// The console's files: what is served, with which headers, to whom.
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { describe, test } from 'node:test'
import { authOf } from '../../src/server/access/auth.js'
import { key } from '../access/keys.js'
import { ask, serve } from './support.js'

const FOLDER = new URL('../../src/server/dispatch/console/', import.meta.url)
const isBuilt = ((): boolean => {
  try {
    return readdirSync(FOLDER).length > 0
  } catch {
    return false
  }
})()

const POST = 'POST / HTTP/1.1\r\n'
const OPERATION =
  'Content-Type: application/x-amz-json-1.0\r\nX-Amz-Target: DynamoDB_20120810.ListTables\r\nContent-Length: 2\r\n'

test('console: --no-console serves none, and says what there is', async (t) => {
  const server = await serve(t, { console: false })
  const answer = await fetch(`${server.url}/console/`)
  assert.equal(answer.status, 404)
})

describe('console: its files', { skip: isBuilt ? false : 'the console is not built: npm run build' }, () => {
  test('the page has a policy without inline code or strings that become code, and cannot be framed', async (t) => {
    const server = await serve(t)
    const answer = await fetch(`${server.url}/console/`)
    assert.equal(answer.status, 200)
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/)
    const policy = answer.headers.get('content-security-policy') ?? ''
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ])
      assert.ok(policy.includes(rule), rule)
    assert.doesNotMatch(policy, /unsafe/)
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    assert.equal(answer.headers.get('cross-origin-resource-policy'), 'same-origin')
    const page = await answer.text()
    assert.doesNotMatch(page, /<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/)
  })

  test('a file that was fetched before is not sent again', async (t) => {
    const server = await serve(t)
    const first = await fetch(`${server.url}/console/console.js`)
    const etag = first.headers.get('etag') ?? ''
    assert.match(etag, /^"[0-9a-f]{32}"$/)
    await first.text()
    const again = await fetch(`${server.url}/console/console.js`, { headers: { 'if-none-match': etag } })
    assert.equal(again.status, 304)
    assert.equal(await again.text(), '')
  })

  test('a client that takes no gzip gets the same bytes', async (t) => {
    const server = await serve(t)
    const get = (coding: string): Promise<Response> =>
      fetch(`${server.url}/console/console.css`, { headers: { 'accept-encoding': coding } })
    const [plain, packed] = [await get('identity'), await get('gzip')]
    assert.equal(plain.headers.get('content-encoding'), null)
    assert.equal(packed.headers.get('content-encoding'), 'gzip')
    assert.equal(await plain.text(), await packed.text())
  })

  test('no name leads out of the folder', async (t) => {
    const server = await serve(t)
    for (const path of [
      '../dispatch.js',
      '..%2fdispatch.js',
      'console.js.gz',
      '.',
      'x/../index.html',
      '%00',
    ]) {
      const request = `GET /console/${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`
      const { status } = await ask(t, server, Buffer.from(request))
      assert.equal(status, 404, path)
    }
  })

  test('a link of another site leads to it, under a name of ours only', async (t) => {
    const server = await serve(t)
    const get = async (host: string): Promise<number> => {
      const request = `GET /console/ HTTP/1.1\r\nHost: ${host}\r\nSec-Fetch-Site: cross-site\r\nConnection: close\r\n\r\n`
      return (await ask(t, server, Buffer.from(request))).status
    }
    assert.equal(await get('localhost'), 200)
    assert.equal(await get('evil.example'), 403)
  })

  test('with keys the files need no signature, and the operations do', async (t) => {
    const server = await serve(t, { auth: authOf([key('A', ['read'])]) })
    assert.equal((await fetch(`${server.url}/console/`)).status, 200)
    const answer = await ask(t, server, Buffer.from(`${POST}Host: localhost\r\n${OPERATION}\r\n{}`))
    assert.match(String(answer.json['__type']), /MissingAuthenticationToken/)
  })

  test('it has at most 120 KB, compressed, without the editor', () => {
    const bytes = readdirSync(FOLDER)
      .filter((name) => !name.startsWith('code-mirror') && !name.startsWith('licences'))
      .reduce((sum, name) => sum + statSync(new URL(name, FOLDER)).size, 0)
    assert.ok(bytes > 10_000 && bytes <= 120_000, `${bytes} bytes`)
  })

  test('its licences name every package whose code is in it', async (t) => {
    const server = await serve(t)
    const text = await (await fetch(`${server.url}/console/licences.txt`)).text()
    for (const name of ['preact', '@codemirror/view']) assert.ok(text.includes(`${name} `), name)
  })
})

test('console: a page of an address of this machine may use the store under that address, and no other', async (t) => {
  const server = await serve(t, { host: '0.0.0.0', noAuth: true })
  const post = async (host: string, origin: string): Promise<number> => {
    const request = `${POST}Host: ${host}\r\nOrigin: ${origin}\r\nConnection: close\r\n${OPERATION}\r\n{}`
    return (await ask(t, server, Buffer.from(request))).status
  }
  assert.equal(await post('192.0.2.7:8000', 'http://192.0.2.7:8000'), 200)
  assert.equal(await post('192.0.2.7:8000', 'http://192.0.2.7:8001'), 403)
  assert.equal(await post('192.0.2.7:8000', 'http://192.0.2.8:8000'), 403)
  assert.equal(await post('192.0.2.7:8000', 'http://evil.example:8000'), 403)
  const without = await serve(t, { host: '0.0.0.0', noAuth: true, console: false })
  const request = `${POST}Host: 192.0.2.7\r\nOrigin: http://192.0.2.7\r\nConnection: close\r\n${OPERATION}\r\n{}`
  assert.equal((await ask(t, without, Buffer.from(request))).status, 403)
})
