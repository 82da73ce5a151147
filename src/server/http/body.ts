// Collects the chunks of a body. One chunk is the common case and is used as it came; more are copied into one buffer
// that doubles, so that a client who sends byte by byte cannot make us hold an object for each.

const GROWTH_BYTES_MIN = 16 * 1024

export class BodyCollector {
  /** The declared length; undefined for a chunked body. */
  readonly #declared: number | undefined
  #bytes: Buffer | undefined
  #owned = false
  length = 0

  constructor(declared: number | undefined) {
    this.#declared = declared
  }

  add(chunk: Buffer): void {
    const length = this.length + chunk.length
    if (this.#bytes === undefined) {
      this.#bytes = chunk
    } else {
      if (!this.#owned || length > this.#bytes.length) this.#grow(length)
      chunk.copy(this.#bytes, this.length)
    }
    this.length = length
  }

  get complete(): boolean {
    return this.length === this.#declared
  }

  bytes(): Buffer {
    if (this.#bytes === undefined) return EMPTY_BODY
    return this.#bytes.length === this.length ? this.#bytes : this.#bytes.subarray(0, this.length)
  }

  /** Grows with what has arrived, never to what was merely declared. */
  #grow(length: number): void {
    let capacity = Math.max(2 * length, GROWTH_BYTES_MIN)
    if (this.#declared !== undefined) capacity = Math.min(capacity, Math.max(this.#declared, length))
    const grown = Buffer.allocUnsafe(capacity)
    this.#bytes!.copy(grown, 0, 0, this.length)
    this.#bytes = grown
    this.#owned = true
  }
}

export const EMPTY_BODY = Buffer.alloc(0)
