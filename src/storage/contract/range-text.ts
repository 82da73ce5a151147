// The items of a range as one text: their stored JSON, with commas between, as an answer has them.
//
//   room before | {"id":{"S":"a"}},{"id":{"S":"b"}} | room after
//
// Nothing is made for an item on the way: its bytes are lent by the index, and copied behind those of the item before
// it. Short texts stand one behind another in a slab, each in its place from the start. Longer ones are collected in a
// buffer that is kept for that, and copied once their length is known.
import { type Knobs, knobs } from '../../model/knobs.js'
import { HEADER_BYTES, lentItemBytes } from '../../line/record.js'
import type { RangeRequest } from './storage-node.js'

export interface RangeTextRequest extends Omit<RangeRequest, 'itemSpace'> {
  /** Bytes to leave free in front of the text. */
  readonly roomBefore: number
  /** Bytes to leave free behind it. */
  readonly roomAfter: number
}

/** The text with its room is the receiver's own, to write into as well. The rest of `bytes` is not. */
export interface RangeText {
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

type TextKnobs = Pick<Knobs, 'textSlabBytes' | 'textSlabBytesMin' | 'textKeptBytesMax'>

const COMMA = 0x2c

/** Collects one text at a time, without a turn of the event loop in between. */
export class TextCollector {
  #slab: Buffer = NOTHING
  /** The slab is taken up to here. */
  #slabTaken = 0
  #long: Buffer = NOTHING
  /** The slab or the buffer for long texts. */
  #bytes: Buffer = NOTHING
  #start = 0
  #end = 0
  #lastStart = 0
  #entries = 0
  #itemBytes = 0
  #request: RangeTextRequest | undefined
  /** The text must end before this. */
  #limit = 0
  /** Small enough for the C library to have it at hand, large enough for several answers. */
  readonly #slabBytes: number
  readonly #slabBytesMin: number
  /** Texts can be several times as long as their items count; what is larger than this is not kept. */
  readonly #keptBytesMax: number

  constructor({ textSlabBytes, textSlabBytesMin, textKeptBytesMax }: TextKnobs = knobs) {
    this.#slabBytes = textSlabBytes
    this.#slabBytesMin = textSlabBytesMin
    this.#keptBytesMax = textKeptBytesMax
  }

  begin(request: RangeTextRequest): void {
    this.#request = request
    this.#entries = 0
    this.#itemBytes = 0
    if (this.#slab.length - this.#slabTaken < this.#slabBytesMin) this.#newSlab()
    this.#place(this.#slab, this.#slabTaken)
    this.#end = this.#start
    this.#lastStart = this.#start
  }

  /** Takes the record in the first `length` of these bytes; false once the page is full. */
  readonly take = (lent: Uint8Array, length: number): boolean => {
    const jsonBytes = length - HEADER_BYTES
    if (this.#end + 1 + jsonBytes > this.#limit) this.#makeRoom(1 + jsonBytes)
    if (this.#entries > 0) this.#bytes[this.#end++] = COMMA
    this.#itemBytes += lentItemBytes(lent)
    this.#bytes.set(new Uint8Array(lent.buffer, lent.byteOffset + HEADER_BYTES, jsonBytes), this.#end)
    this.#lastStart = this.#end
    this.#end += jsonBytes
    this.#entries += 1
    const { entriesMax, bytesMax } = this.#request!
    return this.#entries < entriesMax && this.#itemBytes < bytesMax
  }

  finish(): RangeText {
    if (this.#bytes === this.#slab) this.#slabTaken = this.#end + this.#request!.roomAfter
    else this.#settleLong()
    return {
      bytes: this.#bytes,
      start: this.#start,
      end: this.#end,
      lastStart: this.#lastStart,
      entries: this.#entries,
      itemBytes: this.#itemBytes,
    }
  }

  #newSlab(): void {
    this.#slab = Buffer.allocUnsafeSlow(this.#slabBytes)
    this.#slabTaken = 0
  }

  /** The text is to stand in these bytes, with its room, from there on. */
  #place(bytes: Buffer, from: number): void {
    const { roomBefore, roomAfter } = this.#request!
    this.#bytes = bytes
    this.#start = from + roomBefore
    this.#limit = bytes.length - roomAfter
  }

  /** So many bytes more do not fit where the text stands. */
  #makeRoom(moreBytes: number): void {
    const { roomBefore, roomAfter } = this.#request!
    const neededBytes = roomBefore + (this.#end - this.#start) + moreBytes + roomAfter
    if (neededBytes <= this.#slabBytes) {
      this.#newSlab()
      this.#moveTo(this.#slab)
    } else {
      if (this.#long.length < neededBytes) this.#long = Buffer.allocUnsafeSlow(2 * neededBytes)
      this.#moveTo(this.#long)
    }
  }

  #moveTo(bytes: Buffer): void {
    const text = this.#bytes.subarray(this.#start, this.#end)
    const offsetOfLast = this.#lastStart - this.#start
    this.#place(bytes, 0)
    bytes.set(text, this.#start)
    this.#lastStart = this.#start + offsetOfLast
    this.#end = this.#start + text.length
  }

  #settleLong(): void {
    this.#moveTo(Buffer.allocUnsafeSlow(this.#end + this.#request!.roomAfter))
    if (this.#long.length > this.#keptBytesMax) this.#long = NOTHING
  }
}

const NOTHING: Buffer = Buffer.alloc(0)
