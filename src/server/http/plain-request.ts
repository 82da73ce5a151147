// Recognises the plain form of a request, which nearly every client sends, in the bytes of a connection:
//
//   POST / HTTP/1.1 CRLF
//   name ":" [SP] value CRLF       names of letters, digits and "-"; values of visible ASCII and single inner spaces or
//   ...                            more, never empty; nothing folded
//   CRLF
//   body                           of exactly Content-Length bytes
//
// with a Host, a Content-Type, an X-Amz-Target and a Content-Length, each once. Whatever else there may be (another
// method, path or version, chunks, Expect, Upgrade, a Connection header but keep-alive, a header of those above twice, a
// byte outside of the grammar) is of another form, and node:http reads it. So this is no parser of HTTP: it accepts a
// strict subset in which no two readers of HTTP can disagree about where a request ends, and never guesses.
import { itemOperations } from '../../router/request/router.js'
import { hasWordsOfItsOwn } from '../../router/request/router.js'
import type { NeededHeader, RequestHead } from './request-head.js'

/** So far the bytes are of the plain form, and the head goes on behind them. */
export const INCOMPLETE = 0
/** Not of the plain form. */
export const OTHER_FORM = -1

const REQUEST_LINE = 'POST / HTTP/1.1\r\n'
const CR = 0x0d
const LF = 0x0a
const SPACE = 0x20
const COLON = 0x3a
const ZERO = 0x30
const SLASH = 0x2f
/** `Credential=AKIDEXAMPLE/20150830/us-east-1/dynamodb/aws4_request`: from the first slash to the region. */
const DAY_LENGTH = '/20150830/'.length
/** Further digits would not be a body that anybody takes. */
const LENGTH_DIGITS_MAX = 9
const NO_BYTES = Buffer.alloc(0)

export class PlainRequestReader {
  readonly #headBytesMax: number
  readonly #keepsAll: boolean
  #contentLength = -1
  #headers: Headers = noHeaders()
  #all: Record<string, string> | undefined
  #connection = false
  /** Where the header Authorization stands in the bytes read last; -1 if there is none, or all headers are kept. */
  #authorizationAt = -1
  #authorizationEnd = -1
  #bytes: Buffer = NO_BYTES

  /** @param headers which of them `head` gives back: those that the dispatcher needs, or all, for a signature. */
  constructor(headBytesMax: number, headers: 'needed' | 'all') {
    this.#headBytesMax = headBytesMax
    this.#keepsAll = headers === 'all'
  }

  /** The bytes of the body of the request read last. */
  get contentLength(): number {
    return this.#contentLength
  }

  /** The head of the request read last. */
  head(): RequestHead {
    if (this.#authorizationAt >= 0) this.#keepAuthorization()
    return { method: 'POST', url: '/', headers: this.#all ?? this.#headers }
  }

  /** Of use to few requests, and long: only they have it. */
  #keepAuthorization(): void {
    const target = this.#headers['x-amz-target']!
    if (itemOperations.has(target.slice(target.indexOf('.') + 1)) && !this.#isWordedApart()) return
    this.#headers.authorization = this.#bytes.toString(
      'latin1',
      this.#authorizationAt,
      this.#authorizationEnd,
    )
  }

  /** Refusals of requests that are signed for such a region have other words. */
  #isWordedApart(): boolean {
    const bytes = this.#bytes
    const slash = bytes.indexOf(SLASH, this.#authorizationAt)
    const region = slash + DAY_LENGTH
    if (slash < 0 || region >= this.#authorizationEnd || bytes[region - 1] !== SLASH) return false
    return hasWordsOfItsOwn(bytes.toString('latin1', region, bytes.indexOf(SLASH, region)))
  }

  /** Reads a head that begins at `start`. The position behind it, `INCOMPLETE` or `OTHER_FORM`. */
  read(bytes: Buffer, start: number): number {
    const limit = start + this.#headBytesMax
    const end = Math.min(bytes.length, limit)
    const incomplete = bytes.length < limit ? INCOMPLETE : OTHER_FORM
    const line = Math.min(end - start, REQUEST_LINE.length)
    for (let index = 0; index < line; index++) {
      if (bytes[start + index] !== REQUEST_LINE.charCodeAt(index)) return OTHER_FORM
    }
    if (line < REQUEST_LINE.length) return incomplete
    this.#forget()
    this.#bytes = bytes
    let at = start + line
    for (;;) {
      if (at + 1 >= end) return at < end && !startsLine(bytes[at]!) ? OTHER_FORM : incomplete
      if (bytes[at] === CR) break
      const name = at
      while (at < end && IN_NAME[bytes[at]!] === 1) at++
      if (at === end) return incomplete
      const nameEnd = at
      if (nameEnd === name || bytes[at] !== COLON) return OTHER_FORM
      at++
      if (at < end && bytes[at] === SPACE) at++
      const value = at
      while (at < end && IN_VALUE[bytes[at]!] === 1) at++
      if (at + 1 >= end) return at < end && bytes[at] !== CR ? OTHER_FORM : incomplete
      if (bytes[at] !== CR || bytes[at + 1] !== LF) return OTHER_FORM
      if (at === value || bytes[value] === SPACE || bytes[at - 1] === SPACE) return OTHER_FORM
      if (!this.#take(bytes, name, nameEnd, value, at)) return OTHER_FORM
      at += 2
    }
    if (bytes[at + 1] !== LF) return OTHER_FORM
    const { host, 'content-type': type, 'x-amz-target': target } = this.#headers
    if (host === undefined || type === undefined || target === undefined || this.#contentLength < 0) {
      return OTHER_FORM
    }
    return at + 2
  }

  #forget(): void {
    this.#contentLength = -1
    this.#connection = false
    this.#authorizationAt = -1
    this.#headers = noHeaders()
    if (this.#keepsAll) this.#all = Object.create(null) as Record<string, string>
  }

  /** One header; whether the request can still be of the plain form. */
  #take(bytes: Buffer, name: number, nameEnd: number, value: number, valueEnd: number): boolean {
    if (this.#all !== undefined && !this.#keep(bytes, name, nameEnd, value, valueEnd)) return false
    switch (nameEnd - name) {
      case 4:
        return !named(bytes, name, 'host') || this.#need('host', bytes, value, valueEnd)
      case 6:
        if (named(bytes, name, 'expect')) return false
        return !named(bytes, name, 'origin') || this.#need('origin', bytes, value, valueEnd)
      case 7:
        return !named(bytes, name, 'upgrade') && !named(bytes, name, 'trailer')
      case 10:
        return !named(bytes, name, 'connection') || this.#keepsAlive(bytes, value, valueEnd)
      case 12:
        if (named(bytes, name, 'x-amz-target')) return this.#need('x-amz-target', bytes, value, valueEnd)
        return !named(bytes, name, 'content-type') || this.#need('content-type', bytes, value, valueEnd)
      case 13:
        if (this.#all === undefined && this.#authorizationAt < 0 && named(bytes, name, 'authorization')) {
          this.#authorizationAt = value
          this.#authorizationEnd = valueEnd
        }
        return true
      case 14:
        if (named(bytes, name, 'content-length')) return this.#measure(bytes, value, valueEnd)
        return !named(bytes, name, 'sec-fetch-site') || this.#need('sec-fetch-site', bytes, value, valueEnd)
      case 15:
        if (!named(bytes, name, 'accept-encoding') || isIdentity(bytes, value, valueEnd)) return true
        return this.#need('accept-encoding', bytes, value, valueEnd)
      case 16:
        if (named(bytes, name, 'proxy-connection')) return false
        if (named(bytes, name, 'content-encoding'))
          return this.#need('content-encoding', bytes, value, valueEnd)
        return (
          !named(bytes, name, 'x-seriatim-fault') || this.#need('x-seriatim-fault', bytes, value, valueEnd)
        )
      case 17:
        return !named(bytes, name, 'transfer-encoding')
      default:
        return true
    }
  }

  #need(name: NeededHeader, bytes: Buffer, value: number, valueEnd: number): boolean {
    if (this.#headers[name] !== undefined) return false
    this.#headers[name] = bytes.toString('latin1', value, valueEnd)
    return true
  }

  /** What is said twice is put together by rules of each header, which node:http knows. */
  #keep(bytes: Buffer, name: number, nameEnd: number, value: number, valueEnd: number): boolean {
    const all = this.#all!
    const text = bytes.toString('latin1', name, nameEnd).toLowerCase()
    if (all[text] !== undefined) return false
    all[text] = bytes.toString('latin1', value, valueEnd)
    return true
  }

  #keepsAlive(bytes: Buffer, value: number, valueEnd: number): boolean {
    if (this.#connection || valueEnd - value !== 'keep-alive'.length) return false
    this.#connection = true
    return named(bytes, value, 'keep-alive')
  }

  /** Digits, the first of them not 0: a body there is. */
  #measure(bytes: Buffer, value: number, valueEnd: number): boolean {
    if (this.#contentLength >= 0 || valueEnd - value > LENGTH_DIGITS_MAX || bytes[value] === ZERO)
      return false
    let length = 0
    for (let at = value; at < valueEnd; at++) {
      const digit = bytes[at]! - ZERO
      if (digit < 0 || digit > 9) return false
      length = 10 * length + digit
    }
    this.#contentLength = length
    return true
  }
}

type Headers = Record<NeededHeader, string | undefined>

/** One shape for all requests. */
const noHeaders = (): Headers => ({
  host: undefined,
  authorization: undefined,
  'content-type': undefined,
  'content-encoding': undefined,
  'accept-encoding': undefined,
  'x-amz-target': undefined,
  origin: undefined,
  'sec-fetch-site': undefined,
  'x-seriatim-fault': undefined,
  // Of use to GET only.
  'if-none-match': undefined,
  // Of use to OPTIONS only, which is of another form.
  'access-control-request-headers': undefined,
})

const IN_NAME = bytesOf(/[A-Za-z0-9-]/)
const IN_VALUE = bytesOf(/[ -~]/)

function bytesOf(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (characters.test(String.fromCharCode(byte)) ? 1 : 0))
}

const startsLine = (byte: number): boolean => byte === CR || IN_NAME[byte] === 1

/** What most clients of AWS accept: nothing compressed. */
const isIdentity = (bytes: Uint8Array, value: number, valueEnd: number): boolean =>
  valueEnd - value === 'identity'.length && named(bytes, value, 'identity')

/** Whether that word of lower case stands there in any case, where only bytes of names, or visible ones, stand. */
function named(bytes: Uint8Array, at: number, word: string): boolean {
  for (let index = 0; index < word.length; index++) {
    const byte = bytes[at + index]!
    const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
    if (lower !== word.charCodeAt(index)) return false
  }
  return true
}
