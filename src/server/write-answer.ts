// Three ways to write an answer: through node:http, through node:http with the header made here, and as plain bytes on a
// connection on which node:http no longer speaks.
import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Answer } from './answer.js'

/** The general way. */
export function writeAnswer(response: ServerResponse, answer: Answer, connection: 'keep' | 'close'): void {
  const { status, headers, body } = answer
  if (status !== 204) headers.push('content-length', String(body.length))
  if (connection === 'close') headers.push('connection', 'close')
  response.writeHead(status, headers)
  response.end(body)
}

/**
 * The way of nearly all answers. `writeHead` checks every name and value by regular expressions and costs a fifth of a
 * small request; the values here are our own. `_header` is where node:http keeps the finished header; where it does not
 * exist, or the connection is not one of HTTP/1.1 that stays open, the general way is taken.
 */
export function writeKeepAlive(response: ServerResponse, answer: Answer, connectionHeaders: string): void {
  const prepared = response as ServerResponse & PreparedResponse
  if (prepared._header !== null || !response.shouldKeepAlive || response.req.httpVersionMinor !== 1) {
    writeAnswer(response, answer, 'keep')
    return
  }
  const { status, headers, body } = answer
  let text = statusLine(status)
  for (let index = 0; index < headers.length; index += 2)
    text += `${headers[index]}: ${headers[index + 1]}\r\n`
  prepared._header = `${text}content-length: ${body.length}\r\n${connectionHeaders}\r\n`
  response.statusCode = status
  if (body.length > ONE_WRITE_BYTES_MAX || typeof prepared._send !== 'function') {
    response.end(body)
    return
  }
  // `end` with a body would write an empty text behind it, and gather the two; without one it only ends.
  prepared._send(latin1(body), 'latin1')
  response.end()
}

/** What node:http keeps of an answer, where it is as we know it. */
interface PreparedResponse {
  _header?: string | null
  _send?: (data: string, encoding: 'latin1') => boolean
}

/**
 * Up to here header and body leave as one text in one write, which is cheaper than a gathered write of two buffers. Latin
 * 1 takes every byte for a character and gives it back as it was, whatever the bytes mean.
 */
const ONE_WRITE_BYTES_MAX = 16 * 1024

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')

/** Makes the headers that hold for every answer of a second. Clients correct their clock by the date. */
export function keepAliveHeaders(keepAliveTimeoutMs: number): () => string {
  const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1000)}\r\n`
  let second = 0
  let text = ''
  return () => {
    const now = Math.floor(Date.now() / 1000)
    if (now !== second) {
      second = now
      text = `Date: ${new Date(now * 1000).toUTCString()}\r\n${keepAlive}`
    }
    return text
  }
}

/** The bytes of an answer that ends its connection. */
export function rawBytes(answer: Answer): Buffer {
  const { status, headers, body } = answer
  let head = statusLine(status)
  for (let index = 0; index < headers.length; index += 2)
    head += `${headers[index]}: ${headers[index + 1]}\r\n`
  head += `content-length: ${body.length}\r\nconnection: close\r\n\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), body])
}

function statusLine(status: number): string {
  return status === 200 ? 'HTTP/1.1 200 OK\r\n' : `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n`
}
