// Reads the answers of one keep-alive connection, one at a time. Most answers of a run look alike, so the header of the
// last one is remembered: a chunk of the same length with the same status and content-length at the same place is whole.

export interface HttpAnswer {
  readonly status: number
  /** Only of refusals: what is not 200. */
  readonly body: string
}

const OK: HttpAnswer = { status: 200, body: '' }
const HEADER_END = Buffer.from('\r\n\r\n')
const CHUNKS_END = Buffer.from('0\r\n\r\n')
const HEADER_BYTES_MAX = 64 * 1024
const STATUS_FROM = 9
const STATUS_TO = 12

interface Shape {
  readonly totalBytes: number
  readonly status: string
  readonly lengthFrom: number
  readonly length: string
}

export class AnswerReader {
  #shape: Shape | undefined
  /** The answer so far; undefined between answers. */
  #parts: Buffer | undefined
  /** Bytes still to come of an answer whose header is known to be good and whose body nobody needs. */
  #missing = 0

  /** What the server sent; the bytes are not kept beyond this call. The answer, once it is whole. */
  feed(chunk: Buffer): HttpAnswer | undefined {
    if (this.#missing > 0) {
      this.#missing -= chunk.length
      return this.#missing > 0 ? undefined : OK
    }
    if (this.#parts === undefined && this.#looksLikeTheLast(chunk)) return OK
    const bytes = this.#parts === undefined ? Buffer.from(chunk) : Buffer.concat([this.#parts, chunk])
    this.#parts = bytes
    return this.#read(bytes)
  }

  #looksLikeTheLast(chunk: Buffer): boolean {
    const shape = this.#shape
    if (shape === undefined || chunk.length !== shape.totalBytes) return false
    for (let at = 0; at < shape.status.length; at++) {
      if (chunk[STATUS_FROM + at] !== shape.status.charCodeAt(at)) return false
    }
    for (let at = 0; at < shape.length.length; at++) {
      if (chunk[shape.lengthFrom + at] !== shape.length.charCodeAt(at)) return false
    }
    return true
  }

  #read(bytes: Buffer): HttpAnswer | undefined {
    const headerEnd = bytes.indexOf(HEADER_END)
    if (headerEnd === -1) {
      if (bytes.length > HEADER_BYTES_MAX) throw new Error('an answer without end of its header')
      return undefined
    }
    const header = bytes.toString('latin1', 0, headerEnd)
    const status = header.slice(STATUS_FROM, STATUS_TO)
    const bodyFrom = headerEnd + HEADER_END.length
    const length = /\r\ncontent-length: *(\d+)/i.exec(header)
    if (length === null) {
      if (!/\r\ntransfer-encoding: *chunked/i.test(header)) {
        throw new Error(`an answer without content-length:\n${header}`)
      }
      return bytes.subarray(-CHUNKS_END.length).equals(CHUNKS_END)
        ? this.#done(bytes, status, bodyFrom)
        : undefined
    }
    const digits = length[1] ?? ''
    const totalBytes = bodyFrom + Number(digits)
    if (status === '200') {
      const lengthFrom = length.index + length[0].length - digits.length
      this.#shape = { totalBytes, status, lengthFrom, length: digits }
      if (bytes.length < totalBytes) {
        this.#missing = totalBytes - bytes.length
        this.#parts = undefined
        return undefined
      }
    }
    return bytes.length < totalBytes ? undefined : this.#done(bytes, status, bodyFrom)
  }

  #done(bytes: Buffer, status: string, bodyFrom: number): HttpAnswer {
    this.#parts = undefined
    return status === '200' ? OK : { status: Number(status), body: bytes.toString('utf8', bodyFrom) }
  }
}

/**
 * The name of a refusal, as a benchmark counts it: `TransactionCanceledException: TransactionConflict` tells a conflict
 * from a condition that did not hold.
 */
export function refusalName({ status, body }: HttpAnswer): string {
  const name = /"__type" *: *"(?:[^"#]*#)?([^"]+)"/.exec(body)?.[1]
  if (name === undefined) return `HTTP ${status}`
  if (name !== 'TransactionCanceledException') return name
  const reason = /"Code" *: *"(?!None")([A-Za-z]+)"/.exec(body)?.[1]
  return reason === undefined ? name : `${name}: ${reason}`
}
