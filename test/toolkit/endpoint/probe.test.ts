// What an endpoint is: only an answer of Seriatim's means Seriatim, every other answer means another endpoint, and what is
// no answer means nothing.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { authOf } from '../../../src/server/access/auth.js'
import { open } from '../../../src/store/store.js'
import { clientEndpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { transactor } from '../../../src/toolkit/index.js'
import { Probe } from '../../../src/toolkit/endpoint/probe.js'
import { findDynamoDbLocal } from '../../../bench/targets/dynamodb-local.js'
import { localDatabase } from '../../differential/peers.js'
import { dynalite, type ForeignEndpoint } from '../../support/dynalite.js'
import { findMoto, moto, MOTO_MISSING } from '../../support/moto.js'

const clientOf = (endpoint: string, secretAccessKey = 's'): DynamoDBClient =>
  new DynamoDBClient({ endpoint, region: 'us-east-1', credentials: { accessKeyId: 'A', secretAccessKey } })

interface Scripted {
  readonly status: number
  readonly body: string
  readonly type?: string
}

/** A server that answers extensions, and DynamoDB's own operations, as it is told. */
async function scripted(
  extension: (asked: number) => Scripted,
  plain: Scripted = wire(400, 'ResourceNotFoundException'),
): Promise<ForeignEndpoint & { readonly asked: () => number }> {
  let asked = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const isPlain = String(request.headers['x-amz-target']).startsWith('DynamoDB_')
      const { status, body, type = 'application/x-amz-json-1.0' } = isPlain ? plain : extension(++asked)
      response.writeHead(status, { 'content-type': type }).end(body)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const wire = (status: number, type: string): Scripted => ({
  status,
  body: JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: 'no' }),
})
/** As a gateway says that it has no route; not in DynamoDB's words. */
const untyped = (status: number): Scripted => ({
  status,
  body: '{"message":"no route"}',
  type: 'application/json',
})
const page = (status: number): Scripted => ({ status, body: '<!doctype html><h1>no</h1>', type: 'text/html' })

const kindAt = async (url: string): Promise<string> => {
  const client = clientOf(url)
  try {
    return await new Probe(clientEndpoint(client)).kind()
  } finally {
    client.destroy()
  }
}

test('probe: a Seriatim server says that it is one, to a client with a key for one table, too', async () => {
  await using store = await open({ memory: true })
  const auth = authOf([
    { accessKeyId: 'A', secretAccessKey: 's', tables: ['Locks'], access: ['read', 'write'] },
  ])
  const server = await store.listen({ port: 0, auth })
  assert.equal(await kindAt(server.url), 'seriatim')
  const inProcess = new Probe(clientEndpoint(store.client()))
  assert.equal(await inProcess.kind(), 'seriatim')
  assert.equal(inProcess.kind(), 'seriatim')
})

test('probe: dynalite is another endpoint', async () => {
  await using peer = await dynalite()
  assert.equal(await kindAt(peer.url), 'foreign')
})

const localFolder = findDynamoDbLocal(process.env['DYNAMODB_LOCAL'])
const noLocal = localFolder === undefined && 'DYNAMODB_LOCAL names no folder that has it'
test('probe: DynamoDB Local is another endpoint', { skip: noLocal }, async () => {
  await using peer = await localDatabase(localFolder!)
  assert.equal(await kindAt(peer.url), 'foreign')
})

const motoProgram = findMoto()
test('probe: moto is another endpoint', { skip: motoProgram === undefined && MOTO_MISSING }, async () => {
  await using peer = await moto(motoProgram!)
  assert.equal(await kindAt(peer.url), 'foreign')
})

for (const [what, answer] of [
  ['UnknownOperationException', wire(400, 'UnknownOperationException')],
  ['InvalidAction', wire(400, 'InvalidAction')],
  ['ValidationException', wire(400, 'ValidationException')],
  ['a page with 500, while plain requests are answered', page(500)],
  ['a page with 404, while plain requests are answered', page(404)],
  ['an error without a type, while plain requests are answered', untyped(404)],
  ['an empty success', { status: 200, body: '{}' }],
  ['a success with an Outcome that Seriatim does not have', { status: 200, body: '{"Outcome":"ok"}' }],
  ['a success that is no JSON', page(200)],
] as const)
  test(`probe: ${what} is the answer of another endpoint, and it is asked once`, async () => {
    await using peer = await scripted(() => answer)
    const client = clientOf(peer.url)
    const probe = new Probe(clientEndpoint(client))
    assert.equal(await probe.kind(), 'foreign')
    const asked = peer.asked()
    assert.equal(await probe.kind(), 'foreign')
    assert.equal(peer.asked(), asked)
    client.destroy()
  })

for (const [name, status] of [
  ['ExpiredTokenException', 400],
  ['UnrecognizedClientException', 400],
  ['InvalidSignatureException', 400],
  ['AccessDeniedException', 400],
  ['MissingAuthenticationToken', 403],
  ['ThrottlingException', 400],
  ['InternalServerError', 500],
] as const)
  test(`probe: ${name} decides nothing: it is told as it is, and the next unit asks anew`, async () => {
    let isWell = false
    await using peer = await scripted(() => (isWell ? wire(400, 'InvalidAction') : wire(status, name)))
    const client = clientOf(peer.url)
    const t = transactor(client)
    await assert.rejects(t.setup(), { name })
    isWell = true
    // It goes on to the record table, and so has taken the endpoint for another one.
    await assert.rejects(
      t.transact((tx) => tx.get('Things', { id: 'a' })),
      { name: 'ResourceNotFoundException' },
    )
    client.destroy()
  })

for (const [what, answer, plain] of [
  ['a page of a proxy whose server is away (503)', page(503), undefined],
  ['a page with 500 of something that answers nothing else, either', page(500), page(500)],
  ['an error without a type, of something that answers nothing else, either', untyped(404), untyped(404)],
] as const)
  test(`probe: ${what} decides nothing`, async () => {
    await using peer = await scripted(() => answer, plain)
    await assert.rejects(kindAt(peer.url))
  })

test('probe: after a network failure it is asked anew', async () => {
  const peer = await dynalite()
  const client = clientOf(peer.url)
  const probe = new Probe(clientEndpoint(client))
  await peer[Symbol.asyncDispose]()
  await assert.rejects(async () => probe.kind(), { code: 'ECONNREFUSED' })
  const { port } = new URL(peer.url)
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200).end('{"Outcome":"UNKNOWN"}'))
  })
  server.listen(Number(port), '127.0.0.1')
  await once(server, 'listening')
  assert.equal(await probe.kind(), 'seriatim')
  client.destroy()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})
