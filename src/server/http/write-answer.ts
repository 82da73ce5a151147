// Answers as bytes of HTTP/1.1: on a connection of our own, through node:http, and as the last of a connection.
import { STATUS_CODES, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Answer } from './answer.js'

/** Through node:http. */
export function writeResponse(response: ServerResponse, answer: Answer, connection: 'keep' | 'close'): void {
  const { status, headers, body } = answer
  if (status !== 204 && status !== 304) headers.push('content-length', String(body.length))
  if (connection === 'close') headers.push('connection', 'close')
  response.writeHead(status, headers)
  response.end(body)
}

/**
 * Up to here head and body leave as one text in one write, which is cheaper than a gathered write of two buffers. Latin
 * 1 takes every byte for a character and gives it back as it was, whatever the bytes mean.
 */
const ONE_WRITE_BYTES_MAX = 16 * 1024

/** Straight to the socket; false if the client should read before it gets more. */
export function writeAnswer(socket: Socket, answer: Answer, connectionHeaders: string): boolean {
  const { body, headroomBytes } = answer
  const head = headOf(answer, connectionHeaders)
  if (head.length <= headroomBytes) {
    // The head right before the body: what leaves is one piece, and nothing of the body is copied.
    const whole = Buffer.from(body.buffer, body.byteOffset - head.length, head.length + body.length)
    whole.write(head, 0, 'latin1')
    return socket.write(whole)
  }
  if (body.length <= ONE_WRITE_BYTES_MAX) return socket.write(head + latin1(body), 'latin1')
  socket.cork()
  socket.write(head, 'latin1')
  const more = socket.write(body)
  socket.uncork()
  return more
}

/** The bytes of an answer that ends its connection. */
export function closingBytes(answer: Answer): Buffer {
  return Buffer.concat([Buffer.from(headOf(answer, 'connection: close\r\n'), 'latin1'), answer.body])
}

/** Makes the headers that hold for every answer of a second. Clients correct their clock by the date. */
export class ConnectionHeaders {
  readonly #keepAlive: string
  #second = 0
  #date = ''
  #keep = ''

  constructor(keepAliveTimeoutMs: number) {
    this.#keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveTimeoutMs / 1000)}\r\n`
  }

  get keep(): string {
    this.#refresh()
    return this.#keep
  }

  get close(): string {
    this.#refresh()
    return `${this.#date}Connection: close\r\n`
  }

  #refresh(): void {
    const second = Math.floor(Date.now() / 1000)
    if (second === this.#second) return
    this.#second = second
    this.#date = `Date: ${new Date(second * 1000).toUTCString()}\r\n`
    this.#keep = this.#date + this.#keepAlive
  }
}

/** Names and values are our own, or were checked when the request was read. */
function headOf({ status, headers, body }: Answer, connectionHeaders: string): string {
  let text =
    status === 200 ? 'HTTP/1.1 200 OK\r\n' : `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n`
  for (let index = 0; index < headers.length; index += 2)
    text += `${headers[index]}: ${headers[index + 1]}\r\n`
  return `${text}content-length: ${body.length}\r\n${connectionHeaders}\r\n`
}

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
