// Where messages are read into: large pieces of memory, filled one behind another, so that what has come of a message lies together
// and is neither copied nor put together again. Parts of messages live on as parts of a slab, which goes when none is left.
import { FRAME_HEAD_BYTES } from './bytes.js'

/** Small enough for the C library to have it at hand. */
const SLAB_BYTES = 64 * 1024
/** Less room is not read into: a read costs the same however little comes. */
const ROOM_BYTES_MIN = 16 * 1024

export class SlabReader {
  readonly #onMessage: (message: Buffer) => void
  #slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
  /** Where the first message begins that is not whole, and where what has come ends. */
  #start = 0
  #end = 0

  constructor(onMessage: (message: Buffer) => void) {
    this.#onMessage = onMessage
  }

  /** Where the next bytes go. */
  readonly room = (): Buffer => {
    if (this.#slab.length - this.#end < Math.min(ROOM_BYTES_MIN, this.#missing())) this.#renew()
    return this.#slab.subarray(this.#end)
  }

  /** So many bytes have come there. */
  readonly filled = (bytes: number): void => {
    this.#end += bytes
    while (this.#end - this.#start >= FRAME_HEAD_BYTES) {
      const from = this.#start + FRAME_HEAD_BYTES
      const end = from + this.#slab.readUInt32LE(this.#start)
      if (end > this.#end) break
      this.#start = end
      this.#onMessage(this.#slab.subarray(from, end))
    }
  }

  /** Of the message that has begun to come; more than any room if its length is not known. */
  #missing(): number {
    const come = this.#end - this.#start
    return come < FRAME_HEAD_BYTES ? Infinity : FRAME_HEAD_BYTES + this.#slab.readUInt32LE(this.#start) - come
  }

  #renew(): void {
    const come = this.#slab.subarray(this.#start, this.#end)
    const missing = this.#missing()
    const needed = come.length + (missing === Infinity ? 0 : missing)
    this.#slab = Buffer.allocUnsafeSlow(Math.max(SLAB_BYTES, needed + ROOM_BYTES_MIN))
    come.copy(this.#slab)
    this.#start = 0
    this.#end = come.length
  }
}
