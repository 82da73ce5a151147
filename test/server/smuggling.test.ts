// Bytes that two readers of HTTP could divide into requests differently. What counts is that the request hidden in them
// is never done, and that nothing behind a doubtful one is.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { heldRouter, RawClient, requestOf, serve } from './support.js'

const HIDDEN = requestOf({
  headers: { 'x-amz-target': 'DynamoDB_20120810.PutItem' },
  body: '{"hidden":true}',
}).toString('latin1')

/** The statuses of the answers, and what was done. */
async function sent(
  t: TestContext,
  bytes: Buffer | string,
): Promise<{ statuses: number[]; done: unknown[] }> {
  const done: unknown[] = []
  const server = await serve(
    t,
    { limits: { lingerMs: 50 } },
    {
      operations: ['PutItem', 'ListTables'],
      handle: async ({ input }) => {
        done.push(input)
        return { ok: true, body: Buffer.from('{}') }
      },
    },
  )
  const client = await RawClient.open(t, server)
  client.socket.end(bytes)
  const statuses: number[] = []
  for (let answer = await client.response(); answer !== undefined; answer = await client.response()) {
    statuses.push(answer.status)
  }
  return { statuses, done }
}

const refused: readonly (readonly [string, Parameters<typeof requestOf>[0]])[] = [
  [
    'a length and chunks (CL.TE)',
    { headers: { 'transfer-encoding': 'chunked' }, body: `0\r\n\r\n${HIDDEN}` },
  ],
  [
    'chunks and a length (TE.CL)',
    {
      headers: { 'content-length': null, 'transfer-encoding': 'chunked', 'Content-Length': '4' },
      body: `5c\r\n${HIDDEN}\r\n0\r\n\r\n`,
    },
  ],
  [
    'chunks that are not the last coding',
    {
      headers: { 'content-length': null, 'transfer-encoding': 'chunked, identity' },
      body: `0\r\n\r\n${HIDDEN}`,
    },
  ],
  [
    'an unknown coding (TE.TE)',
    { headers: { 'content-length': null, 'transfer-encoding': 'xchunked' }, body: `0\r\n\r\n${HIDDEN}` },
  ],
  ['two lengths', { headers: { 'content-length': '2', 'Content-Length': '4' }, body: `{}${HIDDEN}` }],
  ['two equal lengths', { headers: { 'content-length': '2', 'Content-Length': '2' }, body: `{}${HIDDEN}` }],
  ['a list of lengths', { headers: { 'content-length': '2, 2' }, body: `{}${HIDDEN}` }],
  ['a length with a sign', { headers: { 'content-length': '+2' }, body: `{}${HIDDEN}` }],
  ['a length in hexadecimal', { headers: { 'content-length': '0x2' }, body: `{}${HIDDEN}` }],
  ['a length with a blank in it', { headers: { 'content-length': '2 0' }, body: `{}${HIDDEN}` }],
  [
    'a length beyond 2 to the 64',
    { headers: { 'content-length': '18446744073709551618' }, body: `{}${HIDDEN}` },
  ],
  ['a blank before the colon', { headers: { 'x-a ': '1' }, body: HIDDEN }],
  ['a name with a blank', { headers: { 'x a': '1' }, body: HIDDEN }],
  ['a NUL in a value', { headers: { 'x-a': '1\0' }, body: HIDDEN }],
  ['a NUL in a name', { headers: { 'x\0a': '1' }, body: HIDDEN }],
  ['a bare CR in a value', { headers: { 'x-a': `1\r${HIDDEN}` } }],
]

for (const [name, parts] of refused) {
  test(`smuggling: ${name} is refused, and nothing behind is done`, async (t) => {
    assert.deepEqual(await sent(t, requestOf(parts)), { statuses: [400], done: [] })
    const after = await sent(t, Buffer.concat([requestOf({ body: '{"n":1}' }), requestOf(parts)]))
    assert.deepEqual(after, { statuses: [200, 400], done: [{ n: 1 }] })
  })
}

test('smuggling: a bare LF ends no line of a head', async (t) => {
  const bytes = requestOf().toString('latin1').replaceAll('\r\n', '\n') + HIDDEN
  assert.deepEqual(await sent(t, bytes), { statuses: [400], done: [] })
})

test('smuggling: a folded line is part of the value before it, never a header', async (t) => {
  const folded = requestOf({ headers: { 'x-a': '1\r\n content-length: 9000' } })
  const { statuses, done } = await sent(t, Buffer.concat([folded, requestOf({ body: '{"n":2}' })]))
  assert.deepEqual(done, statuses[0] === 200 ? [{}, { n: 2 }] : [])
})

test('smuggling: a body that looks like a request is a body', async (t) => {
  const body = requestOf({ body: HIDDEN, headers: { 'content-type': 'application/json' } })
  const { statuses, done } = await sent(t, Buffer.concat([body, requestOf({ body: '{"n":2}' })]))
  assert.deepEqual({ statuses, done }, { statuses: [400, 200], done: [{ n: 2 }] })
})

test('smuggling: a body that is shorter than declared takes of what follows, and no request is made of the rest', async (t) => {
  const short = requestOf({ headers: { 'content-length': '10' }, body: '{}' })
  const { statuses, done } = await sent(t, Buffer.concat([short, requestOf()]))
  assert.deepEqual({ statuses, done }, { statuses: [400, 400], done: [] })
})

test('smuggling: requests of both readers are answered in order, and done one after another', async (t) => {
  const held = heldRouter()
  const client = await RawClient.open(t, await serve(t, {}, held.router))
  const chunked = { 'content-length': null, 'transfer-encoding': 'chunked' }
  const requests = [
    requestOf({ body: '{"n":1}' }),
    requestOf({ body: '{"n":2}' }),
    requestOf({ headers: chunked, body: '7\r\n{"n":3}\r\n0\r\n\r\n' }),
    requestOf({ body: '{"n":4}' }),
    requestOf({ headers: { 'x-a': '' }, body: '{"n":5}' }),
  ]
  client.write(Buffer.concat(requests))
  for (let number = 1; number <= 5; number++) {
    await held.arrival()
    assert.deepEqual(
      held.asked.map(({ input }) => (input as { n: number }).n),
      Array.from({ length: number }, (_, index) => index + 1),
    )
    held.answer(`{"answer":${number}}`)
    assert.deepEqual((await client.response())!.json, { answer: number })
  }
})
