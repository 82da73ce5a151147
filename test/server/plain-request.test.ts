import assert from 'node:assert/strict'
import { test } from 'node:test'
import { INCOMPLETE, OTHER_FORM, PlainRequestReader } from '../../src/server/http/plain-request.js'

const HEAD_BYTES_MAX = 1000
const LINES = [
  'POST / HTTP/1.1',
  'host: localhost:8000',
  'content-type: application/x-amz-json-1.0',
  'x-amz-target: DynamoDB_20120810.GetItem',
  'content-length: 12',
]
const headOf = (lines: readonly string[], end = '\r\n'): Buffer =>
  Buffer.from(lines.map((line) => line + end).join('') + end, 'latin1')
const read = (bytes: Buffer, headers: 'needed' | 'all' = 'needed'): number =>
  new PlainRequestReader(HEAD_BYTES_MAX, headers).read(bytes, 0)

test('plain form: the head of an SDK is read, in any order and case, from anywhere in the bytes', () => {
  const lines = [
    LINES[0]!,
    'Content-Length:12',
    'X-Amz-Target: DynamoDB_20120810.GetItem',
    'Host: 127.0.0.1:8000',
    'amz-sdk-request: attempt=1; max=3',
    'CONNECTION: Keep-Alive',
    'content-TYPE: application/json; charset=utf-8',
    'Origin: http://localhost:3000',
    'Sec-Fetch-Site: same-site',
    'X-Seriatim-Fault: throttle',
  ]
  const head = headOf(lines)
  const reader = new PlainRequestReader(HEAD_BYTES_MAX, 'needed')
  const bytes = Buffer.concat([Buffer.from('{"before":1}'), head, Buffer.from('{"a":"body"}POST')])
  assert.equal(reader.read(bytes, 12), 12 + head.length)
  assert.equal(reader.contentLength, 12)
  assert.deepEqual(reader.head(), {
    method: 'POST',
    url: '/',
    headers: {
      host: '127.0.0.1:8000',
      authorization: undefined,
      'content-type': 'application/json; charset=utf-8',
      'content-encoding': undefined,
      'if-none-match': undefined,
      'accept-encoding': undefined,
      'x-amz-target': 'DynamoDB_20120810.GetItem',
      origin: 'http://localhost:3000',
      'sec-fetch-site': 'same-site',
      'x-seriatim-fault': 'throttle',
      'access-control-request-headers': undefined,
    },
  })
})

test('plain form: for a signature all headers are kept, by their names in lower case', () => {
  const reader = new PlainRequestReader(HEAD_BYTES_MAX, 'all')
  const head = headOf([...LINES, 'Authorization: AWS4', 'X-Amz-Date: 20260101T000000Z', 'constructor: c'])
  assert.equal(reader.read(head, 0), head.length)
  assert.deepEqual(Object.entries(reader.head().headers), [
    ['host', 'localhost:8000'],
    ['content-type', 'application/x-amz-json-1.0'],
    ['x-amz-target', 'DynamoDB_20120810.GetItem'],
    ['content-length', '12'],
    ['authorization', 'AWS4'],
    ['x-amz-date', '20260101T000000Z'],
    ['constructor', 'c'],
  ])
  assert.equal(read(headOf([...LINES, 'x-amz-date: 1', 'X-Amz-Date: 2']), 'all'), OTHER_FORM)
})

test('plain form: a head that has not ended is incomplete after every one of its bytes', () => {
  const head = headOf([...LINES, 'connection: keep-alive', 'x-empty-ish: -'])
  for (let length = 0; length < head.length; length++) {
    assert.equal(read(head.subarray(0, length)), INCOMPLETE, `after ${length} bytes`)
  }
  assert.equal(read(head), head.length)
})

test('plain form: nothing of one request is left when the next is read', () => {
  const reader = new PlainRequestReader(HEAD_BYTES_MAX, 'needed')
  const first = headOf([...LINES, 'origin: http://evil.example'])
  assert.equal(reader.read(first, 0), first.length)
  const kept = reader.head()
  const second = headOf(LINES.with(3, 'x-amz-target: DynamoDB_20120810.PutItem').with(4, 'content-length: 7'))
  assert.equal(reader.read(second, 0), second.length)
  assert.equal(reader.contentLength, 7)
  assert.equal(reader.head().headers.origin, undefined)
  assert.equal(reader.head().headers['x-amz-target'], 'DynamoDB_20120810.PutItem')
  assert.equal(kept.headers.origin, 'http://evil.example')
})

test('plain form: values that share a place in the memory of values are not mixed up', () => {
  const reader = new PlainRequestReader(HEAD_BYTES_MAX, 'needed')
  for (let round = 0; round < 2; round++) {
    for (let number = 0; number < 3000; number++) {
      const head = headOf(LINES.with(1, `host: localhost:${number}`))
      assert.ok(reader.read(head, 0) > 0)
      assert.equal(reader.head().headers.host, `localhost:${number}`)
    }
  }
})

test('plain form: a head as long as the limit is read, a longer one is not, whether or not it has ended', () => {
  const bare = headOf([...LINES, 'x-fill: ']).length
  const filled = (length: number): Buffer => headOf([...LINES, `x-fill: ${'y'.repeat(length - bare)}`])
  assert.equal(read(filled(HEAD_BYTES_MAX)), HEAD_BYTES_MAX)
  assert.equal(read(filled(HEAD_BYTES_MAX + 1)), OTHER_FORM)
  assert.equal(read(filled(HEAD_BYTES_MAX + 500).subarray(0, HEAD_BYTES_MAX)), OTHER_FORM)
  assert.equal(read(filled(HEAD_BYTES_MAX + 500).subarray(0, HEAD_BYTES_MAX - 1)), INCOMPLETE)
})

const add = (...lines: string[]): Buffer => headOf([...LINES, ...lines])
const length = (line: string): Buffer => headOf(LINES.with(4, line))
const firstLine = (line: string): Buffer => headOf(LINES.with(0, line))

const others: readonly (readonly [string, Buffer])[] = [
  ['GET', firstLine('GET / HTTP/1.1')],
  ['a method in lower case', firstLine('post / HTTP/1.1')],
  ['another path', firstLine('POST /x HTTP/1.1')],
  ['an absolute path', firstLine('POST http://localhost/ HTTP/1.1')],
  ['HTTP/1.0', firstLine('POST / HTTP/1.0')],
  ['two spaces in the first line', firstLine('POST  / HTTP/1.1')],
  ['a blank behind the first line', firstLine('POST / HTTP/1.1 ')],
  ['an empty line before it', Buffer.concat([Buffer.from('\r\n'), headOf(LINES)])],
  ['lines that end in a bare LF', headOf(LINES, '\n')],
  ['lines that end in a bare CR', headOf(LINES, '\r')],
  ['a last line of a bare LF', Buffer.from(headOf(LINES).toString().slice(0, -2) + '\n')],
  ['a last line of CR and something', Buffer.from(headOf(LINES).toString().slice(0, -1) + 'x')],
  ['a folded line', add('x-a: 1', ' folded')],
  ['a line folded by a tab', add('x-a: 1', '\tfolded')],
  ['a blank before the colon', add('x-a : 1')],
  ['a blank in a name', add('x a: 1')],
  ['an underscore in a name', add('content_length: 5')],
  ['a name of other characters', add("x!#$%&'*+.^`|~: 1")],
  ['a line without a colon', add('nothing')],
  ['a line without a name', add(': 1')],
  ['an empty value', add('x-a:')],
  ['an empty value behind a blank', add('x-a: ')],
  ['two blanks before a value', add('x-a:  1')],
  ['a tab before a value', add('x-a:\t1')],
  ['a blank behind a value', add('x-a: 1 ')],
  ['a tab in a value', add('x-a: 1\t2')],
  ['a NUL in a value', add('x-a: 1\0')],
  ['a NUL in a name', add('x\0a: 1')],
  ['a CR in a value', add('x-a: 1\r2')],
  ['a LF in a value', add('x-a: 1\n2')],
  ['a DEL in a value', add('x-a: \u007f')],
  ['a byte above ASCII in a value', add('x-a: \u00fc')],
  ['no length', headOf(LINES.slice(0, 4))],
  ['no host', headOf(LINES.toSpliced(1, 1))],
  ['no content type', headOf(LINES.toSpliced(2, 1))],
  ['no target', headOf(LINES.toSpliced(3, 1))],
  ['two equal lengths', add('content-length: 12')],
  ['two lengths', add('Content-Length: 13')],
  ['two hosts', add('Host: localhost:8000')],
  ['two targets', add('x-amz-target: DynamoDB_20120810.PutItem')],
  ['two content types', add('content-type: application/json')],
  ['two origins', add('origin: http://localhost', 'origin: http://localhost')],
  ['a length of 0', length('content-length: 0')],
  ['a length that begins with 0', length('content-length: 012')],
  ['a length with a sign', length('content-length: +12')],
  ['a negative length', length('content-length: -12')],
  ['a length in hexadecimal', length('content-length: 0xc')],
  ['a length with a fraction', length('content-length: 12.0')],
  ['a length with an exponent', length('content-length: 1e1')],
  ['a length with a blank in it', length('content-length: 1 2')],
  ['a list of lengths', length('content-length: 12, 12')],
  ['a length beyond all bodies', length('content-length: 1000000000')],
  ['a length beyond 2 to the 64', length('content-length: 18446744073709551628')],
  ['chunks', add('transfer-encoding: chunked')],
  ['chunks in any case', add('Transfer-ENCODING: gzip')],
  ['Expect', add('expect: 100-continue')],
  ['Upgrade', add('upgrade: h2c')],
  ['Trailer', add('trailer: x')],
  ['Connection: close', add('connection: close')],
  ['Connection: upgrade', add('connection: upgrade')],
  ['a list in Connection', add('connection: keep-alive, te')],
  ['two Connection headers', add('connection: keep-alive', 'connection: keep-alive')],
  ['Proxy-Connection', add('proxy-connection: keep-alive')],
]

for (const [name, head] of others) {
  test(`plain form: ${name} is of another form, and never less so with fewer bytes`, () => {
    assert.equal(read(head), OTHER_FORM)
    for (let length = 0; length < head.length; length++) {
      assert.ok(read(head.subarray(0, length)) <= INCOMPLETE, `after ${length} bytes`)
    }
  })
}
