import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { run } from '../../src/cli/run.js'
import { authOf } from '../../src/server/access/auth.js'
import { key } from '../access/keys.js'
import { serve } from '../server/support.js'
import { testWorld } from './test-world.js'

async function healthOf(endpoint: string) {
  const { world, out, errors } = testWorld()
  const code = await run(['health', '--endpoint', endpoint], world)
  return { code, out, errors }
}

test('health: a running server is healthy: a sentence and exit code 0', async (t) => {
  const { url } = await serve(t)
  assert.deepEqual(await healthOf(url), { code: 0, out: [`${url} is healthy`], errors: [] })
})

test('health: a server with keys is asked without one', async (t) => {
  const { url } = await serve(t, { auth: authOf([key('A', ['read'])]) })
  assert.equal((await healthOf(url)).code, 0)
})

test('health: where nothing listens it is a sentence and exit code 1', async (t) => {
  const server = await answering(t, 200, '')
  const endpoint = urlOf(server)
  server.close()
  await once(server, 'close')
  const { code, out, errors } = await healthOf(endpoint)
  assert.deepEqual([code, out], [1, []])
  assert.equal(errors.length, 1)
  assert.match(errors[0]!, /^seriatim health: http:\S+ does not answer: .*ECONNREFUSED/)
})

test('health: a status that is not 200, or an answer of another program, is not healthy', async (t) => {
  for (const [status, body, sentence] of [
    [503, '{"status":"ok"}', /is not healthy: it answers with status 503/],
    [302, '', /is not healthy: it answers with status 302/],
    [200, 'hello', /answers, but not as a Seriatim server does/],
    [200, 'null', /answers, but not as/],
    [200, '{"status":"stopping"}', /answers, but not as/],
    [200, ' '.repeat(100_000) + '{"status":"ok"}', /answers, but not as/],
  ] as const) {
    const { code, errors } = await healthOf(urlOf(await answering(t, status, body)))
    assert.equal(code, 1)
    assert.match(errors.join(), sentence)
  }
})

test('health: an endpoint that is no URL is wrong usage', async () => {
  for (const endpoint of ['127.0.0.1:8000', 'file:///etc/passwd', '']) {
    const { code, errors } = await healthOf(endpoint)
    assert.equal(code, 2)
    assert.match(errors.join(), /--endpoint must be a URL such as http:/)
  }
})

test('health: its help says what the exit codes mean and where it asks by default', async () => {
  const { world, out } = testWorld()
  assert.equal(await run(['health', '--help'], world), 0)
  assert.match(out.join(), /http:\/\/127\.0\.0\.1:8000[^]*Ends with 0/)
})

async function answering(t: TestContext, status: number, body: string): Promise<Server> {
  const server = createServer((_, response) => response.writeHead(status, { location: '/' }).end(body))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return server
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
