// A request whose keys are drawn anew each time it is sent. A connection has one of its own for each workload, and may
// change it as soon as its last answer is there: by then the kernel has the bytes.
import type { Random } from '../../runtime/seeded-random.js'
import { itemKey } from '../../model/key-bytes.js'
import {
  KEY_DIGITS,
  KEY_PLACEHOLDER,
  type KeyNumbers,
  workloadKey,
  prepareBody,
  type Workload,
} from './workloads.js'

/** Servers that check no signature still want to see one. */
export const UNSIGNED_HEADERS = {
  authorization:
    'AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0',
  'x-amz-date': '20260101T000000Z',
} as const

export class RequestBytes {
  readonly #bytes: Buffer
  readonly #slots: readonly { readonly at: number; readonly range: KeyNumbers }[]
  readonly #nodes: KeyNodes | undefined

  constructor(host: string, workload: Workload) {
    const { operation, body, ranges } = prepareBody(workload)
    const headers = Object.entries({
      host,
      'content-type': 'application/x-amz-json-1.0',
      ...UNSIGNED_HEADERS,
      'x-amz-target': `DynamoDB_20120810.${operation}`,
      'content-length': String(Buffer.byteLength(body)),
    })
    const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    this.#bytes = Buffer.from(`POST / HTTP/1.1\r\n${head}\r\n${body}`)
    this.#slots = slotsOf(this.#bytes, ranges)
    this.#nodes =
      workload.apartOnNodes === undefined ? undefined : new KeyNodes(workload.keys, workload.apartOnNodes)
  }

  /** The same buffer each time. */
  next(random: Random): Buffer {
    this.#nodes?.begin()
    for (const { at, range } of this.#slots) {
      let number = range.from + random.below(range.to - range.from)
      while (this.#nodes?.take(number) === false) number = range.from + random.below(range.to - range.from)
      for (let digit = at + KEY_DIGITS - 1; digit >= at; digit--) {
        this.#bytes[digit] = ASCII_ZERO + (number % 10)
        number = Math.floor(number / 10)
      }
    }
    return this.#bytes
  }
}

const ASCII_ZERO = 48
const HASHES = 2 ** 32

/** Which node has which key, and which nodes a request has met already. */
class KeyNodes {
  readonly #from: number
  readonly #nodeOf: Uint8Array
  readonly #met: Uint8Array

  constructor({ from, to }: KeyNumbers, nodes: number) {
    this.#from = from
    this.#met = new Uint8Array(nodes)
    this.#nodeOf = Uint8Array.from({ length: to - from }, (_, at) => {
      const { hash } = itemKey(ITEM_KEY, { id: { S: workloadKey(from + at) } })
      return Math.floor((hash / HASHES) * nodes)
    })
  }

  begin(): void {
    this.#met.fill(0)
  }

  /** False if the request is there already. */
  take(number: number): boolean {
    const node = this.#nodeOf[number - this.#from] ?? 0
    if (this.#met[node] === 1) return false
    this.#met[node] = 1
    return true
  }
}

const ITEM_KEY = { partition: { name: 'id', type: 'S' } } as const

function slotsOf(bytes: Buffer, ranges: readonly KeyNumbers[]): { at: number; range: KeyNumbers }[] {
  const placeholder = Buffer.from(KEY_PLACEHOLDER)
  const slots: { at: number; range: KeyNumbers }[] = []
  for (let at = bytes.indexOf(placeholder); at !== -1; at = bytes.indexOf(placeholder, at + 1)) {
    const range = ranges[slots.length]
    if (range === undefined) throw new RangeError('more keys in the request than ranges to draw them from')
    slots.push({ at: at + placeholder.length - KEY_DIGITS, range })
  }
  if (slots.length !== ranges.length) throw new RangeError('more ranges of keys than keys in the request')
  return slots
}
