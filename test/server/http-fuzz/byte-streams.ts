// Streams of bytes that a client might send: plain requests, rare forms, forms that two readers of HTTP could take for
// different things, and damaged ones, one after another on a connection.
import type { Random } from '../../differential/random.js'

export interface ByteStream {
  readonly bytes: Buffer
  /** Where the client makes a pause, so that the server reads pieces. */
  readonly cuts: readonly number[]
}

export function randomStream(random: Random): ByteStream {
  let count = 0
  const next = (): Buffer => randomMessage(random, ++count)
  const messages = random.several(1, 5, next)
  let bytes: Buffer = Buffer.concat(messages)
  if (random.oneIn(3)) bytes = damaged(random, bytes)
  if (random.oneIn(8)) bytes = bytes.subarray(0, random.below(bytes.length))
  return { bytes, cuts: randomCuts(random, bytes.length) }
}

function randomCuts(random: Random, length: number): number[] {
  if (length < 2 || random.oneIn(3)) return []
  if (random.oneIn(12)) return Array.from({ length: Math.min(length, 400) - 1 }, (_, index) => index + 1)
  const cuts = random.several(1, 6, () => 1 + random.below(length - 1))
  return [...new Set(cuts)].toSorted((a, b) => a - b)
}

function damaged(random: Random, bytes: Buffer): Buffer {
  let result = Buffer.from(bytes)
  for (const at of random.several(1, 3, () => random.below(bytes.length))) {
    const piece = result.subarray(at, at + 1 + random.below(12))
    const before = result.subarray(0, at)
    const after = result.subarray(at)
    const byte = Buffer.from([
      random.pick([0, 9, 10, 13, 32, 44, 45, 58, 0x30, 0x7f, 0x80, random.below(256)]),
    ])
    switch (random.below(4)) {
      case 0:
        result = Buffer.concat([before, byte, after.subarray(1)])
        break
      case 1:
        result = Buffer.concat([before, byte, after])
        break
      case 2:
        result = Buffer.concat([before, after.subarray(piece.length)])
        break
      default:
        result = Buffer.concat([before, piece, after])
    }
  }
  return result
}

function randomMessage(random: Random, id: number): Buffer {
  if (random.oneIn(40))
    return Buffer.from(random.pick(['\r\n', '\n', '\r\n\r\n', 'garbage\r\n\r\n', ' ', '\0']))
  const body = randomBody(random, id)
  const method = random.oneIn(15) ? random.pick(METHODS) : 'POST'
  const path = random.oneIn(20) ? random.pick(PATHS) : '/'
  const version = random.oneIn(25) ? random.pick(VERSIONS) : 'HTTP/1.1'
  const lineEnd = random.oneIn(40) ? random.pick(['\n', '\r', '\r\r\n', ' \r\n']) : '\r\n'
  const headers = usualHeaders(random, body.length)
  let sent: Buffer = body
  if (random.oneIn(10)) {
    sent = inChunks(random, body)
    replace(headers, 'content-length', random.oneIn(5) ? `content-length: ${sent.length}` : undefined)
    headers.push(random.oneIn(4) ? random.pick(TRANSFER_ENCODINGS) : 'transfer-encoding: chunked')
  }
  if (random.oneIn(6)) replace(headers, 'content-length', random.pick(LENGTHS)(sent.length))
  if (random.oneIn(3)) headers.splice(random.below(headers.length + 1), 0, random.pick(ODD_LINES))
  if (random.oneIn(4)) shuffle(random, headers)
  const head = `${method} ${path} ${version}${lineEnd}${headers.map((line) => line + lineEnd).join('')}${lineEnd}`
  return Buffer.concat([Buffer.from(head, 'latin1'), sent])
}

function usualHeaders(random: Random, length: number): string[] {
  const named = (name: string): string =>
    random.oneIn(4)
      ? random.pick([name.toUpperCase(), name.replace(/\b[a-z]/g, (c) => c.toUpperCase())])
      : name
  const line = (name: string, value: string): string =>
    `${named(name)}:${random.oneIn(5) ? random.pick(['', '  ', '\t']) : ' '}${value}${random.oneIn(30) ? ' ' : ''}`
  const headers = [
    line(
      'host',
      random.oneIn(15) ? random.pick(['evil.example', '', 'localhost:99999999']) : 'localhost:8000',
    ),
    line('content-type', random.oneIn(15) ? 'text/plain' : 'application/x-amz-json-1.0'),
    line('x-amz-target', `DynamoDB_20120810.${random.pick(['GetItem', 'PutItem', 'ListTables', 'Nothing'])}`),
    line('content-length', String(length)),
  ]
  if (random.oneIn(2)) headers.push(line('user-agent', `client/${random.below(100)} (a b; c)`))
  if (random.oneIn(6)) headers.push(random.pick(CONNECTIONS))
  if (random.oneIn(25)) headers.splice(random.below(headers.length), 1)
  if (random.oneIn(25)) headers.push(random.pick(headers))
  return headers
}

/** Some bodies are requests themselves: who measures them wrongly answers more often than he was asked. */
function randomBody(random: Random, id: number): Buffer {
  if (random.oneIn(30)) return Buffer.alloc(0)
  if (random.oneIn(30)) return Buffer.from(`{"id":${id},"long":"${'x'.repeat(random.below(200_000))}"}`)
  if (random.oneIn(8)) {
    const hidden = `{"hidden":${id}}`
    return Buffer.from(
      `0\r\n\r\nPOST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\n` +
        `x-amz-target: DynamoDB_20120810.PutItem\r\ncontent-length: ${hidden.length}\r\n\r\n${hidden}`,
    )
  }
  return Buffer.from(
    random.oneIn(15) ? `{"id":${id}` : `{"id":${id},"text":"${'ü'.repeat(random.below(50))}"}`,
  )
}

function inChunks(random: Random, body: Buffer): Buffer {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length;) {
    const chunk = body.subarray(at, at + 1 + random.below(Math.max(1, body.length)))
    const size = chunk.length.toString(16)
    const declared = random.oneIn(20)
      ? random.pick([`0x${size}`, ` ${size}`, `${size} `, `+${size}`, ''])
      : size
    const extension = random.oneIn(15) ? random.pick([';a=b', ';', ';\n']) : ''
    pieces.push(
      Buffer.from(`${declared}${extension}\r\n`),
      chunk,
      Buffer.from(random.oneIn(30) ? '\n' : '\r\n'),
    )
    at += chunk.length
  }
  pieces.push(Buffer.from(random.oneIn(15) ? '0\r\nx-trailer: 1\r\n\r\n' : '0\r\n\r\n'))
  return Buffer.concat(pieces)
}

function replace(headers: string[], name: string, line: string | undefined): void {
  const at = headers.findIndex((header) => header.toLowerCase().startsWith(name))
  if (at === -1) return
  if (line === undefined) headers.splice(at, 1)
  else headers[at] = line
}

function shuffle(random: Random, lines: string[]): void {
  for (let at = lines.length - 1; at > 0; at--) {
    const other = random.below(at + 1)
    ;[lines[at], lines[other]] = [lines[other]!, lines[at]!]
  }
}

const METHODS = ['GET', 'PUT', 'OPTIONS', 'DELETE', 'post', 'BREW', 'POSTX', 'M-SEARCH', 'PRI', '']
const PATHS = ['/health', '//', '/?a', '/#a', 'http://localhost/', '*', '/x', '', '/\t', '/ ', '/ü']
const VERSIONS = ['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.1 ', 'HTTP/11', '']
const TRANSFER_ENCODINGS = [
  'transfer-encoding: identity',
  'transfer-encoding: chunked, identity',
  'transfer-encoding: identity, chunked',
  'transfer-encoding: xchunked',
  'transfer-encoding: chunked ',
  'transfer-encoding:\tchunked',
  'transfer-encoding : chunked',
  'Transfer-Encoding: CHUNKED',
  'transfer-encoding: chunked\r\ntransfer-encoding: identity',
]
const CONNECTIONS = [
  'connection: keep-alive',
  'Connection: Keep-Alive',
  'connection: close',
  'connection: upgrade',
  'connection: keep-alive, close',
  'connection: x',
  'connection: keep-alive\r\nconnection: close',
  'proxy-connection: close',
  'keep-alive: timeout=1',
]
const LENGTHS: readonly ((length: number) => string)[] = [
  (length) => `content-length: +${length}`,
  (length) => `content-length: -${length}`,
  (length) => `content-length: 0${length}`,
  (length) => `content-length: 0x${length.toString(16)}`,
  (length) => `content-length: ${length} `,
  (length) => `content-length:  ${length}`,
  (length) => `content-length: ${length}, ${length}`,
  (length) => `content-length: ${length}\r\ncontent-length: ${length}`,
  (length) => `content-length: ${length}\r\ncontent-length: ${length + 1}`,
  (length) => `content-length : ${length}`,
  (length) => `content-length: ${length}.0`,
  (length) => `content-length: ${length}e0`,
  (length) => `content-length: ${length + 5}`,
  (length) => `content-length: ${Math.max(0, length - 5)}`,
  (length) => `content-length: ${length}\r\ntransfer-encoding: chunked`,
  (length) => `transfer-encoding: chunked\r\ncontent-length: ${length}`,
  (length) => `content_length: ${length}`,
  (length) => `content-length: 1${'0'.repeat(20)}${length}`,
  () => 'content-length: 18446744073709551618',
  () => 'content-length: 4294967298',
  () => 'content-length: 999999999',
  () => 'content-length: 0',
  () => 'content-length:',
  () => 'x-nothing: 1',
]
const ODD_LINES = [
  'expect: 100-continue',
  'expect: something',
  'upgrade: h2c',
  'trailer: x',
  'te: trailers',
  ' folded: line',
  '\tfolded: line',
  'x-space : 1',
  'x space: 1',
  'x-nul: a\0b',
  'x-cr: a\rb',
  'x-lf: a\nb',
  'x-tab: a\tb',
  'x-high: \u00ff\u0080',
  'x-delete: \u007f',
  'x_under: 1',
  "x!#$%&'*+.^`|~: 1",
  'x-empty:',
  ': nameless',
  'no-colon',
  'x@: 1',
  '__proto__: 1',
  'constructor: 1',
  'host: localhost:8000',
  'host: evil.example',
  'origin: http://localhost:3000',
  'origin: http://evil.example',
  'sec-fetch-site: cross-site',
  'x-amz-target: DynamoDB_20120810.ListTables',
  'content-type: application/json',
  'x-seriatim-fault: throttle',
  'x-seriatim-fault: nonsense',
  'authorization: AWS4-HMAC-SHA256 x',
  `x-long: ${'y'.repeat(5000)}`,
  `x-longer: ${'y'.repeat(20_000)}`,
  `x-edge: ${'y'.repeat(16_000)}`,
]
