// An answer as the bytes of HTTP/1.1, for connections on which node:http no longer speaks.
import { STATUS_CODES } from 'node:http'
import type { Answer } from './answer.js'

export function rawBytes(answer: Answer): Buffer {
  const { status, headers, body } = answer
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}\r\n`
  for (let index = 0; index < headers.length; index += 2) head += `${headers[index]}: ${headers[index + 1]}\r\n`
  head += `content-length: ${body.length}\r\nconnection: close\r\n\r\n`
  return Buffer.concat([Buffer.from(head, 'latin1'), body])
}
