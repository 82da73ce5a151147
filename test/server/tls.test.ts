// HTTPS: the same server behind TLS.
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { on, once } from 'node:events'
import { copyFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import {
  CreateTableCommand,
  DescribeEndpointsCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb'
import { authOf } from '../../src/server/access/auth.js'
import type { Router } from '../../src/router/request/router.js'
import type { RunningServer } from '../../src/server/http-server.js'
import { open } from '../../src/store/store.js'
import { transactor } from '../../src/toolkit/index.js'
import { key, tableOf } from '../access/keys.js'
import { makeCertificate, noCertificates, type TestCertificate } from '../support/certificate.js'
import { spawnServer } from '../support/spawned-server.js'
import { ask, parseResponse, requestOf, serve } from './support.js'

const HOUR = { headersTimeoutMs: 3_600_000, requestTimeoutMs: 3_600_000 }

const tlsTest = (name: string, body: (t: TestContext, tls: TestCertificate) => Promise<void>): void => {
  test(name, { skip: noCertificates }, (t) => body(t, makeCertificate()))
}

function trusting(t: TestContext, { cert }: TestCertificate): Agent {
  const agent = new Agent({ ca: cert, keepAlive: true })
  t.after(() => agent.destroy())
  return agent
}

interface Got {
  readonly status: number | undefined
  readonly body: string
}

const get = (agent: Agent, url: string): Promise<Got> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { agent }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('end', () => resolve({ status: response.statusCode, body }))
    })
    sent.on('error', reject).end()
  })

tlsTest('TLS: the official SDK and units of work, with keys, over https', async (t, tls) => {
  const store = await open({ memory: true })
  t.after(() => store.close())
  const { url } = await store.listen({ port: 0, tls, auth: authOf([key('A', ['read', 'write', 'admin'])]) })
  assert.match(url, /^https:\/\/127\.0\.0\.1:\d+$/)
  const client = new DynamoDBClient({
    endpoint: url,
    region: 'eu-west-1',
    credentials: { accessKeyId: 'A', secretAccessKey: 'secret of A' },
    requestHandler: { httpsAgent: trusting(t, tls) },
  })
  t.after(() => client.destroy())
  await client.send(new CreateTableCommand(tableOf('Books')))
  const text = 'x'.repeat(300_000)
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      client.send(
        new PutItemCommand({ TableName: 'Books', Item: { id: { S: String(n) }, text: { S: text } } }),
      ),
    ),
  )
  const { Item } = await client.send(new GetItemCommand({ TableName: 'Books', Key: { id: { S: '7' } } }))
  assert.equal(Item?.['text']?.S, text)
  const { Count } = await client.send(new ScanCommand({ TableName: 'Books' }))
  assert.equal(Count, 4, 'a page of 1 MB')
  const { Endpoints } = await client.send(new DescribeEndpointsCommand({}))
  assert.equal(Endpoints?.[0]?.Address, new URL(url).host)
  const t1 = transactor(client)
  await t1.transact(async (tx) => {
    const book = await tx.get('Books', { id: '1' })
    tx.put('Books', { id: 'copy', text: book?.['text'] as string })
  })
})

tlsTest('TLS: pages, chunked bodies and pipelined requests are read as without', async (t, tls) => {
  const server = await serve(t, { tls })
  const agent = trusting(t, tls)
  for (const path of ['/', '/health', '/metrics'])
    assert.equal((await get(agent, server.url + path)).status, 200, path)
  const socket = await secured(t, server, tls)
  const chunked = requestOf({ headers: { 'transfer-encoding': 'chunked', 'content-length': null }, body: '' })
  socket.write(Buffer.concat([requestOf(), requestOf(), chunked, Buffer.from('2\r\n{}\r\n0\r\n\r\n')]))
  const answers = await responses(socket, 3)
  assert.deepEqual(answers, [200, 200, 200])
})

tlsTest(
  'TLS: a request without TLS is told so, its connection ends, and others are served',
  async (t, tls) => {
    const server = await serve(t, { tls })
    const { status, json } = await ask(t, server, requestOf())
    assert.equal(status, 400)
    assert.match(String(json['message']), /HTTPS/)
    const socket = await rawSocket(t, server)
    socket.write('GET / HTTP/1.1\r\n\r\n')
    socket.resume()
    await once(socket, 'end')
    // A record of a handshake with nonsense in it.
    const nonsense = await rawSocket(t, server)
    nonsense.on('error', () => undefined)
    nonsense.write(Buffer.from('160301000a0000000000000000000000', 'hex'))
    nonsense.resume()
    await once(nonsense, 'close')
    const { body } = await get(trusting(t, tls), `${server.url}/metrics`)
    assert.match(body, /seriatim_malformed_requests_total 3/)
  },
)

tlsTest(
  'TLS: who does not get through the handshake is closed, and a stop does not wait for it',
  async (t, tls) => {
    const server = await serve(t, { tls, limits: { headersTimeoutMs: 50 } })
    for (const bytes of ['', '16030100']) {
      const socket = await rawSocket(t, server)
      socket.on('error', () => undefined)
      socket.write(Buffer.from(bytes, 'hex'))
      socket.resume()
      await once(socket, 'close')
    }
    const patient = await serve(t, { tls, limits: HOUR })
    const hanging = await rawSocket(t, patient)
    hanging.on('error', () => undefined)
    hanging.write(Buffer.from('16030100', 'hex'))
    hanging.resume()
    const served = await secured(t, patient, tls)
    served.write(requestOf())
    await responses(served, 1)
    await Promise.all([patient.stop(), once(hanging, 'close')])
  },
)

tlsTest(
  'TLS: a new certificate is for new connections, and one that cannot be used changes nothing',
  async (t, tls) => {
    const server = await serve(t, { tls })
    const other = makeCertificate()
    const old = await secured(t, server, tls)
    assert.throws(() => server.renewTls({ cert: tls.cert, key: other.key }), /cannot be used/)
    assert.throws(() => server.renewTls({ cert: 'nonsense', key: tls.key }), /cannot be used/)
    assert.equal(shown(await secured(t, server, tls)), fingerprint(tls))
    server.renewTls(other)
    assert.equal(shown(await secured(t, server, other)), fingerprint(other))
    // Those that are open go on.
    old.write(requestOf())
    assert.deepEqual(await responses(old, 1), [200])
    const plain = await serve(t)
    assert.throws(() => plain.renewTls(tls), /without a certificate/)
    await assert.rejects(serve(t, { tls: { cert: 'nonsense', key: 'nonsense' } }), /cannot be used/)
  },
)

tlsTest('TLS: an answer that its client does not read counts twice, plain and encrypted', async (t, tls) => {
  const bytes = 20 * 1024 * 1024
  const router: Router = {
    operations: ['GetItem'],
    handle: () => Promise.resolve({ ok: true, body: Buffer.alloc(bytes, ' ') }),
  }
  const server = await serve(t, { tls }, router)
  const socket = connectTls({ port: server.port, host: '127.0.0.1', ca: tls.cert })
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  socket.write(requestOf({ headers: { 'x-amz-target': 'DynamoDB_20120810.GetItem' } }))
  const agent = trusting(t, tls)
  const unsent = async (): Promise<number> => {
    const { body } = await get(agent, `${server.url}/metrics`)
    return Number(/^seriatim_answer_bytes_unsent (\d+)/m.exec(body)?.[1])
  }
  for (let held = 0; held === 0; held = await unsent());
  const held = await unsent()
  assert.ok(held >= 2 * bytes && held < 2 * bytes + 2_000, `${held} bytes`)
  socket.resume()
  while ((await unsent()) > 0);
})

tlsTest('TLS: SIGHUP makes a started server read its certificate again', async (_t, tls) => {
  const files = ['--tls-cert', tls.certPath, '--tls-key', tls.keyPath]
  await using server = await spawnServer(['--memory', ...files], { quiet: true })
  assert.match(server.url, /^https:/)
  const port = Number(new URL(server.url).port)
  const shows = async (expected: TestCertificate): Promise<boolean> => {
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const found = shown(socket)
    socket.destroy()
    return found === fingerprint(expected)
  }
  const other = makeCertificate()
  await copyFile(other.certPath, tls.certPath)
  // Half of a change: the certificate is another one already, and the key is not.
  process.kill(server.pid, 'SIGHUP')
  while (!server.said.includes('stays in use')) await delay(5)
  assert.equal(await shows(tls), true)
  await copyFile(other.keyPath, tls.keyPath)
  process.kill(server.pid, 'SIGHUP')
  while (!server.said.includes('from now on')) await delay(5)
  assert.equal(await shows(other), true)
  assert.equal(await server.stop(), 0)
})

const fingerprint = ({ cert }: TestCertificate): string => new X509Certificate(cert).fingerprint256
const shown = (socket: TLSSocket): string => socket.getPeerCertificate().fingerprint256

async function rawSocket(t: TestContext, { port }: RunningServer): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

async function secured(
  t: TestContext,
  { port }: RunningServer,
  { cert }: TestCertificate,
): Promise<TLSSocket> {
  const socket = connectTls({ port, host: '127.0.0.1', servername: 'localhost', ca: cert })
  t.after(() => socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

/** The statuses of so many answers. */
async function responses(socket: TLSSocket, count: number): Promise<readonly number[]> {
  const statuses: number[] = []
  let received = Buffer.alloc(0)
  for await (const [chunk] of on(socket, 'data')) {
    received = Buffer.concat([received, chunk as Buffer])
    for (;;) {
      const response = parseResponse(received, false)
      if (response === undefined) break
      statuses.push(response.status)
      received = received.subarray(response.bytes)
    }
    if (statuses.length >= count) break
  }
  return statuses
}
