// Bodies that are compressed on the wire: requests by Content-Encoding, answers by Accept-Encoding.
//
//   request   gzip, deflate --> one of few places --> room for what it may become --> inflated, up to the bound of its operation
//   answer    asked for, and large --> a place is free --> compressed; otherwise it leaves as it is, which HTTP allows
//
// All of it is done by zlib on threads of the pool, on few of them at once: the journal's syncs need the others. May import:
// model, and limits of this room.
import { crc32, deflate, gunzip, gzip, inflate, inflateRaw } from 'node:zlib'
import { DynamoError } from '../../model/errors.js'
import type { Answer } from './answer.js'
import type { ServerLimits } from './limits.js'

type Coding = 'gzip' | 'deflate'

/** What a Content-Encoding asks for. `amz-1.0` is what older clients of AWS call their plain JSON. */
export function requestCoding(header: string | string[] | undefined): Coding | 'none' | 'unknown' {
  if (header === undefined) return 'none'
  if (typeof header !== 'string') return 'unknown'
  const name = header.trim().toLowerCase()
  if (name === 'gzip' || name === 'x-gzip') return 'gzip'
  if (name === 'deflate') return 'deflate'
  return name === 'identity' || name === 'amz-1.0' || name === '' ? 'none' : 'unknown'
}

/**
 * The coding for an answer that a client with this Accept-Encoding would like best; undefined if it wants none. As the service
 * reads it: of equal ones the first, `*` behind those that are named, and identity says nothing.
 */
export function answerCoding(header: string | string[] | undefined): Coding | undefined {
  if (typeof header !== 'string') return undefined
  const accepted = new Map<string, number>()
  for (const part of header.split(',', CODINGS_MAX)) {
    const [, name = '', parameters = ''] = /^\s*([^\s;]+)\s*(?:;(.*))?$/.exec(part) ?? []
    const coding = name.toLowerCase()
    accepted.set(coding, Math.max(accepted.get(coding) ?? 0, qualityOf(parameters)))
  }
  const others = accepted.get('*') ?? 0
  accepted.delete('*')
  for (const coding of CODINGS) if (!accepted.has(coding)) accepted.set(coding, others)
  let best: Coding | undefined
  for (const [name, quality] of accepted) {
    const coding = CODINGS.find((each) => each === name)
    if (coding !== undefined && quality > (best === undefined ? 0 : accepted.get(best)!)) best = coding
  }
  return best
}

/** From 0 to 1: the first q that is there; one that is no number counts as 1. */
function qualityOf(parameters: string): number {
  const [, text] = /q=\s*([^;]*)/i.exec(parameters) ?? []
  if (text === undefined || !NUMBER.test(text.trim())) return 1
  return Math.min(1, Math.max(0, Number(text)))
}

/** Takes one way through a header of digits only, however long it is. */
const NUMBER = /^-?\d+(?:\.\d*)?$/
const CODINGS = ['gzip', 'deflate'] as const
const CODINGS_MAX = 16
/** Threads of the pool, of which Node has four, that compress or inflate at once. */
const PLACES = 2
/** No byte of deflate becomes more than so many. */
const INFLATION_MAX = 1032
const LEVEL = 1

export class ContentCoder {
  readonly #limits: Pick<ServerLimits, 'inflatedBytesMax' | 'compressedAnswerBytesMin'>
  #busy = 0
  readonly #line: (() => void)[] = []
  /** Of bodies that are being inflated, as much as they may become, and of those whose requests are not answered. */
  #bytes = 0

  constructor(limits: Pick<ServerLimits, 'inflatedBytesMax' | 'compressedAnswerBytesMin'>) {
    this.#limits = limits
  }

  /** What is held of inflated bodies. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * The body as it was before it was compressed, of at most `bytesMax` bytes, for as long as `use` takes. Refuses what says
   * itself that it is longer without a look at the rest, and anything else as soon as it has become longer.
   */
  async inflated<Result>(
    coding: Coding,
    body: Buffer,
    bytesMax: number,
    use: (body: Buffer) => Result | Promise<Result>,
  ): Promise<Result | InflateRefusal> {
    if (coding === 'gzip' && saidBytes(body) > bytesMax) return 'too-large'
    let held = 0
    try {
      // Those that wait for a place are held as they came, and need no room yet.
      const plain = await this.#inPlace(async () => {
        const needed = Math.min(bytesMax, body.length * INFLATION_MAX)
        if (this.#bytes + needed > this.#limits.inflatedBytesMax) return 'no-room'
        this.#bytes += needed
        held = needed
        const inflated = await inflateBounded(coding, body, bytesMax)
        if (typeof inflated === 'string') return inflated
        this.#bytes += inflated.length - held
        held = inflated.length
        return inflated
      })
      if (typeof plain === 'string') return plain
      return await use(plain)
    } finally {
      this.#bytes -= held
    }
  }

  /** The answer as it leaves: compressed if it is large and a thread is free for it. */
  compressed(answer: Answer, coding: Coding): Answer | Promise<Answer> {
    const { body, status } = answer
    if (body.length < this.#limits.compressedAnswerBytesMin || status !== 200 || answer.lost === true)
      return answer
    if (this.#busy >= PLACES) return answer
    return this.#inPlace(() => compress(coding, body)).then(
      (bytes) => (bytes.length < body.length ? compressedAnswer(answer, coding, bytes) : answer),
      () => answer,
    )
  }

  async #inPlace<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#busy >= PLACES) await new Promise<void>((resolve) => this.#line.push(resolve))
    else this.#busy++
    try {
      return await work()
    } finally {
      // The place goes over to the next in line, or becomes free.
      const next = this.#line.shift()
      if (next === undefined) this.#busy--
      else next()
    }
  }
}

/** Why a compressed body was not taken. */
export type InflateRefusal = 'too-large' | 'no-room' | 'damaged'

/** The length in the last four bytes of a gzip, modulo 2^32: nothing to rely on, but reason enough to refuse. */
const saidBytes = (body: Buffer): number =>
  body.length >= GZIP_BYTES_MIN && body.readUInt16BE(0) === GZIP_HEAD ? body.readUInt32LE(body.length - 4) : 0
const GZIP_BYTES_MIN = 18
const GZIP_HEAD = 0x1f8b

function inflateBounded(coding: Coding, body: Buffer, bytesMax: number): Promise<Buffer | InflateRefusal> {
  const options = { maxOutputLength: bytesMax }
  const run = coding === 'gzip' ? gunzip : hasZlibHead(body) ? inflate : inflateRaw
  return new Promise((resolve) => {
    run(body, options, (error: NodeJS.ErrnoException | null, plain) => {
      if (error === null) resolve(plain)
      else resolve(error.code === 'ERR_BUFFER_TOO_LARGE' ? 'too-large' : 'damaged')
    })
  })
}

/** What HTTP calls deflate has a head of its own; some clients leave it out (RFC 9110, section 8.4.1.2). */
const hasZlibHead = (body: Buffer): boolean =>
  body.length >= 2 && (body[0]! & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0

function compress(coding: Coding, body: Uint8Array): Promise<Buffer> {
  const run = coding === 'gzip' ? gzip : deflate
  return new Promise((resolve, reject) => {
    run(body, { level: LEVEL }, (error, bytes) => {
      if (error === null) resolve(bytes)
      else reject(error)
    })
  })
}

/** The checksum is that of the bytes that are sent: clients check it before they inflate them. */
function compressedAnswer(answer: Answer, coding: Coding, body: Buffer): Answer {
  const headers = [...answer.headers]
  const at = headers.indexOf('x-amz-crc32')
  if (at >= 0) headers[at + 1] = String(crc32(body))
  headers.push('content-encoding', coding, 'vary', 'accept-encoding')
  return { ...answer, headers, body, headroomBytes: 0 }
}

/** The service calls both an error of its own. */
export const damagedBody = (coding: Coding): DynamoError =>
  new DynamoError('InternalServerError', `The body of the request is not valid ${coding}`)

export const unknownCoding = (): DynamoError =>
  new DynamoError('InternalServerError', 'A request may be compressed by gzip or deflate, and once')

export const noRoomToInflate = (): DynamoError =>
  new DynamoError('ThrottlingException', 'Too many bytes of compressed requests are in flight; try again.')
