import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { deeperThan } from '../../src/server/dispatch/json-body.js'
import { ask, onEach, RawClient, requestOf, type RequestParts } from './support.js'

const SERIALIZATION = 'com.amazon.coral.service#SerializationException'
const UNKNOWN = 'com.amazon.coral.service#UnknownOperationException'

const bodies: readonly (readonly [string, string | Buffer])[] = [
  ['empty', ''],
  ['null', 'null'],
  ['an array', '[]'],
  ['a number', '42'],
  ['a string', '"text"'],
  ['half an object', '{"TableName":'],
  ['two objects', '{}{}'],
  ['a byte order mark', '\uFEFF{}'],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ['a surrogate in UTF-8', Buffer.from([0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d])],
  ['gzip', Buffer.from([0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 3])],
  ['200,000 open brackets', '['.repeat(200_000)],
  ['200,000 levels', `{"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
  ['200,000 levels of objects', `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`],
  ['1001 levels', '{"a":'.repeat(1001) + '1' + '}'.repeat(1001)],
]

for (const [name, body] of bodies) {
  onEach(`malformed: a body that is ${name} is a SerializationException`, async (t, serve) => {
    const { status, json } = await ask(t, await serve(t), requestOf({ body }))
    assert.equal(status, 400)
    assert.equal(json['__type'], SERIALIZATION)
  })
}

onEach('malformed: 200 levels, and brackets in strings, are no offence', async (t, serve) => {
  const server = await serve(t)
  const levels = '{"a":'.repeat(200) + '1' + '}'.repeat(200)
  assert.equal((await ask(t, server, requestOf({ body: levels }))).status, 200)
  const text = `{"a":"${'[{\\"'.repeat(10_000)}"}`
  assert.equal((await ask(t, server, requestOf({ body: text }))).status, 200)
})

test('malformed: the depth of any JSON is found as recursion finds it', () => {
  const depthOf = (value: unknown): number =>
    typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.nat({ max: 8 }), (text, depthMax) => {
      assert.equal(deeperThan(text, depthMax), depthOf(JSON.parse(text)) > depthMax)
    }),
  )
})

const targets: readonly (readonly [string, string | null])[] = [
  ['missing', null],
  ['empty', ''],
  ['without a prefix', 'ListTables'],
  ['of another version', 'DynamoDB_20111205.ListTables'],
  ['of an unknown operation', 'DynamoDB_20120810.FlyToTheMoon'],
  ['of an inherited name', 'DynamoDB_20120810.constructor'],
  ['in another case', 'DynamoDB_20120810.listtables'],
  ['with something behind', 'DynamoDB_20120810.ListTables.x'],
]

for (const [name, target] of targets) {
  onEach(`malformed: a target that is ${name} is an UnknownOperationException`, async (t, serve) => {
    const { status, json } = await ask(t, await serve(t), requestOf({ headers: { 'x-amz-target': target } }))
    assert.equal(status, 400)
    assert.equal(json['__type'], UNKNOWN)
    if (target) assert.ok(String(json['Message']).includes(target))
  })
}

onEach('malformed: another content type, or none, is answered as the service does', async (t, serve) => {
  const server = await serve(t)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', '', null]) {
    const { status, body } = await ask(t, server, requestOf({ headers: { 'content-type': type } }))
    assert.equal(status, 404)
    assert.equal(body.toString(), '<UnknownOperationException/>\n')
  }
})

const framings: readonly (readonly [string, RequestParts])[] = [
  ['a negative length', { headers: { 'content-length': '-1' } }],
  ['a length that is no number', { headers: { 'content-length': 'many' } }],
  ['two lengths', { headers: { 'content-length': '2', 'Content-Length': '3' } }],
  ['a length and chunks', { headers: { 'transfer-encoding': 'chunked' }, body: '0\r\n\r\n' }],
  [
    'a chunk that is no chunk',
    { headers: { 'content-length': null, 'transfer-encoding': 'chunked' }, body: 'zz\r\n' },
  ],
  ['an unknown transfer coding', { headers: { 'content-length': null, 'transfer-encoding': 'tar' } }],
  ['an unknown method', { method: 'BREW' }],
  ['another protocol', { version: '9.9' }],
  ['a header name with a space', { headers: { 'x y': '1' } }],
  ['a header value with a control character', { headers: { 'x-y': 'a\u0000b' } }],
]

for (const [name, parts] of framings) {
  onEach(`malformed: ${name} is a bad request, and ends the connection`, async (t, serve) => {
    const client = await RawClient.open(t, await serve(t))
    const response = await client.write(requestOf(parts)).response()
    assert.equal(response!.status, 400)
    await client.closed()
  })
}

onEach('malformed: what was asked before the garbage is still answered, and first', async (t, serve) => {
  const client = await RawClient.open(t, await serve(t))
  client.write(Buffer.concat([requestOf(), Buffer.from('garbage\r\n\r\n')]))
  assert.equal((await client.response())!.status, 200)
  assert.equal((await client.response())!.status, 400)
  await client.closed()
})

onEach('malformed: random bytes never stop the server and never make it answer 5xx', async (t, serve) => {
  const server = await serve(t, { limits: { lingerMs: 20, headersTimeoutMs: 1000 } })
  const good = requestOf({ headers: { 'content-length': '9' }, body: '{"a":"b"}' })
  const mutated = fc
    .array(fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 8,
    })
    .map((changes) => {
      const bytes = Buffer.from(good)
      for (const [at, value] of changes) bytes[at] = value
      return bytes
    })
  const random = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))
  await fc.assert(
    fc.asyncProperty(fc.oneof(random, mutated), async (bytes) => {
      const client = await RawClient.open(t, server)
      client.socket.end(bytes)
      const answers = (await client.closed()).toString('latin1')
      client.socket.destroy()
      assert.doesNotMatch(answers, /^HTTP\/1\.1 5/m)
    }),
    { numRuns: 300 },
  )
  assert.equal((await ask(t, server, good)).status, 200)
})
