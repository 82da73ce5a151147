// The items of a range as one text: their stored JSON, with commas between, as an answer has them.
//
//   room before | {"id":{"S":"a"}},{"id":{"S":"b"}} | room after
//
// Nothing is made for an item on the way: its bytes are lent by the index, copied behind those of the item before it
// into a buffer that is kept for this, and, once their length is known, with all others into the page.
import { HEADER_BYTES, lentItemBytes } from './record.js'
import type { RangeRequest } from './storage-node.js'

export interface RangeTextRequest extends Omit<RangeRequest, 'itemSpace'> {
  /** Bytes to leave free in front of the text. */
  readonly roomBefore: number
  /** Bytes to leave free behind it. */
  readonly roomAfter: number
}

export interface RangeText {
  /** Room, text, room. The receiver's own: nobody else will look at it. */
  readonly bytes: Buffer
  /** The text stands from here ... */
  readonly start: number
  /** ... up to here. */
  readonly end: number
  /** Where the last item begins; it ends with the text. */
  readonly lastStart: number
  readonly entries: number
  /** The sizes of the items, as DynamoDB counts them. */
  readonly itemBytes: number
}

const COMMA = 0x2c
const BYTES_INITIAL = 64 * 1024
/** Larger pages are rare (a text can be several times as long as its items count): their buffer is not kept. */
const BYTES_KEPT_MAX = 2 * 1024 * 1024

/** Collects one text at a time, without a turn of the event loop in between. */
export class TextCollector {
  #bytes = Buffer.allocUnsafeSlow(BYTES_INITIAL)
  #length = 0
  #lastStart = 0
  #entries = 0
  #itemBytes = 0
  #entriesMax = 0
  #bytesMax = 0

  start({ entriesMax, bytesMax }: Pick<RangeTextRequest, 'entriesMax' | 'bytesMax'>): void {
    this.#length = 0
    this.#lastStart = 0
    this.#entries = 0
    this.#itemBytes = 0
    this.#entriesMax = entriesMax
    this.#bytesMax = bytesMax
  }

  /** Takes the record in the first `length` of these bytes; false once the page is full. */
  readonly take = (lent: Uint8Array, length: number): boolean => {
    const jsonBytes = length - HEADER_BYTES
    if (this.#length + 1 + jsonBytes > this.#bytes.length) this.#grow(jsonBytes)
    if (this.#entries > 0) this.#bytes[this.#length++] = COMMA
    this.#itemBytes += lentItemBytes(lent)
    this.#bytes.set(new Uint8Array(lent.buffer, lent.byteOffset + HEADER_BYTES, jsonBytes), this.#length)
    this.#lastStart = this.#length
    this.#length += jsonBytes
    this.#entries += 1
    return this.#entries < this.#entriesMax && this.#itemBytes < this.#bytesMax
  }

  text({ roomBefore, roomAfter }: Pick<RangeTextRequest, 'roomBefore' | 'roomAfter'>): RangeText {
    const end = roomBefore + this.#length
    const bytes = Buffer.allocUnsafe(end + roomAfter)
    bytes.set(new Uint8Array(this.#bytes.buffer, 0, this.#length), roomBefore)
    if (this.#bytes.length > BYTES_KEPT_MAX) this.#bytes = Buffer.allocUnsafeSlow(BYTES_INITIAL)
    return {
      bytes,
      start: roomBefore,
      end,
      lastStart: roomBefore + this.#lastStart,
      entries: this.#entries,
      itemBytes: this.#itemBytes,
    }
  }

  #grow(jsonBytes: number): void {
    const larger = Buffer.allocUnsafeSlow(2 * (this.#bytes.length + jsonBytes))
    larger.set(new Uint8Array(this.#bytes.buffer, 0, this.#length))
    this.#bytes = larger
  }
}
