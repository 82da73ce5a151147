// Bodies that are compressed on the wire.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crc32, deflateRawSync, deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib'
import { answerCoding, ContentCoder, requestCoding } from '../../src/server/http/content-coding.js'
import { ask, onEach, RawClient, requestOf, serve } from './support.js'

const MB = 1024 * 1024

const echoed = (name: string, text: string): object => ({ [name]: text })

onEach('compressed requests: gzip, deflate and deflate without a head are read', async (t, serveOn) => {
  const server = await serveOn(t)
  const plain = await ask(t, server, requestOf({ body: '{"Limit":7}' }))
  const bodies = [
    ['gzip', gzipSync('{"Limit":7}')],
    ['x-gzip', gzipSync('{"Limit":7}')],
    ['deflate', deflateSync('{"Limit":7}')],
    ['deflate', deflateRawSync('{"Limit":7}')],
    ['identity', Buffer.from('{"Limit":7}')],
    ['amz-1.0', Buffer.from('{"Limit":7}')],
  ] as const
  for (const [coding, body] of bodies) {
    const answer = await ask(t, server, requestOf({ headers: { 'content-encoding': coding }, body }))
    assert.equal(answer.status, 200, coding)
    assert.deepEqual(answer.json, plain.json)
  }
})

onEach(
  'compressed requests: what cannot be inflated is refused, and the connection goes on',
  async (t, serveOn) => {
    const client = await RawClient.open(t, await serveOn(t))
    const send = async (coding: string, body: Buffer): Promise<[number, string]> => {
      client.write(requestOf({ headers: { 'content-encoding': coding }, body }))
      const { status, json } = (await client.response())!
      return [status, String(json['__type']).split('#')[1]!]
    }
    assert.deepEqual(await send('gzip', Buffer.from('{"Limit":7, "a":"as long as a gzip"}')), [
      500,
      'InternalServerError',
    ])
    assert.deepEqual(await send('gzip', gzipSync('{}').subarray(0, 15)), [500, 'InternalServerError'])
    assert.deepEqual(await send('br', Buffer.from('{}')), [500, 'InternalServerError'])
    assert.deepEqual(await send('gzip, gzip', gzipSync(gzipSync('{}'))), [500, 'InternalServerError'])
    assert.deepEqual((await send('gzip', gzipSync('{}')))[0], 200)
  },
)

test('compressed requests: the limit of a request holds for its inflated bytes', async (t) => {
  const server = await serve(t, { limits: { plainRequestBytesMax: 100_000 } })
  const status = async (bytes: number): Promise<number> => {
    const body = gzipSync(JSON.stringify(echoed('a', 'x'.repeat(bytes - 8))))
    return (await ask(t, server, requestOf({ headers: { 'content-encoding': 'gzip' }, body }))).status
  }
  assert.equal(await status(100_000), 200)
  assert.equal(await status(100_001), 413)
})

describe('compressed requests: bombs', () => {
  test('compressed requests: one that says how long it is is refused without being inflated', async () => {
    const coder = new ContentCoder({ inflatedBytesMax: 4 * MB, compressedAnswerBytesMin: 1 })
    const bomb = gzipSync(Buffer.alloc(32 * MB))
    // What is in it is not even valid: it was not looked at.
    bomb.fill(0xff, 20, bomb.length - 8)
    assert.equal(await coder.inflated('gzip', bomb, MB, () => 'used'), 'too-large')
  })

  test('compressed requests: one that does not is refused as soon as it is too long, and nothing stays held', async () => {
    const coder = new ContentCoder({ inflatedBytesMax: 4 * MB, compressedAnswerBytesMin: 1 })
    const bomb = gzipSync(Buffer.alloc(32 * MB))
    bomb.writeUInt32LE(100, bomb.length - 4)
    assert.equal(await coder.inflated('gzip', bomb, MB, () => 'used'), 'too-large')
    assert.equal(
      await coder.inflated('deflate', deflateSync(Buffer.alloc(32 * MB)), MB, () => 'used'),
      'too-large',
    )
    assert.equal(coder.bytes, 0)
  })

  test('compressed requests: what all of them may become is bounded, and given back when they are answered', async () => {
    const coder = new ContentCoder({ inflatedBytesMax: 2 * MB, compressedAnswerBytesMin: 1 })
    const body = gzipSync(Buffer.alloc(MB, 'x'))
    const release: (() => void)[] = []
    const hold = (): Promise<string> => new Promise((resolve) => release.push(() => resolve('used')))
    const first = coder.inflated('gzip', body, MB, hold)
    const second = coder.inflated('gzip', body, MB, hold)
    assert.equal(await coder.inflated('gzip', body, MB, hold), 'no-room')
    while (release.length < 2) await new Promise((resolve) => setImmediate(resolve))
    for (const each of release) each()
    assert.deepEqual(await Promise.all([first, second]), ['used', 'used'])
    assert.equal(await coder.inflated('gzip', body, MB, () => 'used'), 'used')
    assert.equal(coder.bytes, 0)
  })

  test('compressed requests: room is taken for those that are being inflated, and not for those in line', async () => {
    const coder = new ContentCoder({ inflatedBytesMax: 4 * MB, compressedAnswerBytesMin: 1 })
    // Small, although as many bytes might become a megabyte.
    const text = Array.from({ length: 500 }, (_, at) => at * 7919).join()
    const all = Array.from({ length: 20 }, () =>
      coder.inflated('gzip', gzipSync(text), MB, (plain) => plain.toString()),
    )
    for (const read of await Promise.all(all)) assert.equal(read, text)
    assert.equal(coder.bytes, 0)
  })

  test('compressed requests: more than there are threads for wait in line, and all are read', async () => {
    const coder = new ContentCoder({ inflatedBytesMax: 64 * MB, compressedAnswerBytesMin: 1 })
    const all = Array.from({ length: 40 }, (_, at) =>
      coder.inflated('gzip', gzipSync(String(at)), MB, (plain) => plain.toString()),
    )
    assert.deepEqual(
      await Promise.all(all),
      all.map((_, at) => String(at)),
    )
  })
})

test('compressed answers: a client that asks gets large ones compressed, with the checksum of what is sent', async (t) => {
  const server = await serve(t, { limits: { compressedAnswerBytesMin: 1000 } })
  const body = JSON.stringify(echoed('a', 'x'.repeat(5000)))
  const asked = async (accepted: string | null, sent = body) =>
    ask(t, server, requestOf({ headers: { 'accept-encoding': accepted }, body: sent }))
  const plain = await asked(null)
  assert.equal(plain.headers.get('content-encoding'), undefined)
  for (const accepted of ['identity', 'br', 'gzip;q=0'])
    assert.deepEqual((await asked(accepted)).body, plain.body, accepted)
  for (const [accepted, coding, inflate] of [
    ['gzip, deflate', 'gzip', gunzipSync],
    ['deflate, gzip;q=0.5', 'deflate', inflateSync],
  ] as const) {
    const answer = await asked(accepted)
    assert.equal(answer.headers.get('content-encoding'), coding)
    assert.equal(answer.headers.get('vary'), 'accept-encoding')
    assert.equal(answer.headers.get('x-amz-crc32'), String(crc32(answer.body)))
    assert.ok(answer.body.length < 1000)
    assert.deepEqual(inflate(answer.body), plain.body)
  }
  assert.equal((await asked('gzip', '{}')).headers.get('content-encoding'), undefined)
})

test('compressed answers: answers on one connection keep their order', async (t) => {
  const client = await RawClient.open(t, await serve(t, { limits: { compressedAnswerBytesMin: 1000 } }))
  const texts = Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? String(at).repeat(20_000) : String(at)))
  const headers = { 'accept-encoding': 'gzip' }
  client.write(Buffer.concat(texts.map((a) => requestOf({ headers, body: JSON.stringify({ a }) }))))
  for (const a of texts) {
    const { headers: got, body } = (await client.response())!
    const json = JSON.parse((got.has('content-encoding') ? gunzipSync(body) : body).toString()) as {
      input: { a: string }
    }
    assert.equal(json.input.a, a)
  }
})

test('compression: what the headers ask for', () => {
  assert.deepEqual([undefined, 'GZip', 'deflate', 'identity', ['gzip', 'gzip'], 'zstd'].map(requestCoding), [
    'none',
    'gzip',
    'deflate',
    'none',
    'unknown',
    'unknown',
  ])
  // As the service reads them, by the suite of ScyllaDB's Alternator, which was run against it.
  const cases: Record<string, string | undefined> = {
    identity: undefined,
    '': undefined,
    'x-gzip': undefined,
    'gzip, deflate': 'gzip',
    'br, identity, deflate, gzip': 'deflate',
    'GZIP, identity': 'gzip',
    'dog, gzip ,, cat': 'gzip',
    'br, gzip;q=0, deflate; q = 0.5 , identity;q=0': 'deflate',
    '*': 'gzip',
    '*, deflate;q=0.5': 'gzip',
    '*, deflate': 'deflate',
    '*, gzip;q=0.5': 'deflate',
    'gzip ;q=0': undefined,
    'identity;q=0': undefined,
    '*;q=0': undefined,
    '*;q=0.5,identity': 'gzip',
    'gzip;q=0.5,identity;q=0.8': 'gzip',
    '"gzip"': undefined,
    'gzip br': undefined,
    'gzip:q=1': undefined,
    'gzip;q=31,deflate;q=51': 'gzip',
    'deflate;q=0.5, gzip;q=1;q=0.2': 'gzip',
    'deflate;q=0.5,gzip;q=0.': 'deflate',
    'deflate;q=0.5,gzip;q=0.x': 'gzip',
    'deflate;q=0.5,gzip;q=0. x': 'gzip',
    'deflate;q=-0.5,gzip;q=0.2': 'gzip',
    'gzip;q= 0;q=1': undefined,
    'gzip;q =0;q=1': 'gzip',
    'gzip; q=0;q=1': undefined,
    'gzip;nq=0;q=1': undefined,
    'gzip;q=0, gzip;q=1, gzip;q=0': 'gzip',
    'br,identity;q=0.5,gzip;q=0.0001': 'gzip',
  }
  // Tried in every way, its digits would take hours.
  cases[`gzip;q=${'1'.repeat(1_000_000)}x`] = 'gzip'
  const read = Object.keys(cases).map((header) => [header, answerCoding(header)])
  assert.deepEqual(Object.fromEntries(read), cases)
})
