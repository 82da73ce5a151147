// Bytes that grow while they are written, and are read in the same order. Numbers are little-endian; a length takes one byte
// where it is short.
/** The length of a message stands before it. */
export const FRAME_HEAD_BYTES = 4
const FIRST_BYTES = 64 * 1024
/** What is longer is handed over as it is, and not copied. */
const COPIED_BYTES_MAX = 2 * 1024
/** Buffers that are kept to be written again, of the size that they begin with. */
const SPARE_MAX = 16
const SHORT_MAX = 0xfe

export class ByteWriter {
  #bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)
  readonly #spare: Buffer[] = []
  /** Bytes are written up to here; in front of them is room for their length. */
  at = FRAME_HEAD_BYTES

  get isEmpty(): boolean {
    return this.at === FRAME_HEAD_BYTES
  }

  /** What was written, behind its length, as the caller's own; the next bytes begin anew. */
  takeFrame(): Buffer {
    const { at } = this
    const bytes = this.#bytes
    this.at = FRAME_HEAD_BYTES
    bytes.writeUInt32LE(at - FRAME_HEAD_BYTES)
    if (at <= COPIED_BYTES_MAX) return Buffer.from(bytes.subarray(0, at))
    this.#bytes = this.#spare.pop() ?? Buffer.allocUnsafeSlow(FIRST_BYTES)
    return bytes.subarray(0, at)
  }

  /** The frame has been sent, and nobody has a part of it any more. */
  reuse({ buffer }: Buffer): void {
    if (buffer.byteLength === FIRST_BYTES && this.#spare.length < SPARE_MAX)
      this.#spare.push(Buffer.from(buffer))
  }

  u8(value: number): void {
    this.#room(1)
    this.#bytes[this.at++] = value
  }

  u32(value: number): void {
    this.#room(4)
    this.at = this.#bytes.writeUInt32LE(value, this.at)
  }

  f64(value: number): void {
    this.#room(8)
    this.at = this.#bytes.writeDoubleLE(value, this.at)
  }

  length(value: number): void {
    if (value <= SHORT_MAX) {
      this.u8(value)
    } else {
      this.u8(SHORT_MAX + 1)
      this.u32(value)
    }
  }

  bytes(value: Uint8Array): void {
    this.length(value.length)
    this.#room(value.length)
    this.#bytes.set(value, this.at)
    this.at += value.length
  }

  /** A text in UTF-8, read as bytes. */
  utf8(text: string): void {
    const length = Buffer.byteLength(text)
    this.length(length)
    this.#room(length)
    // As many bytes as characters: it is ASCII, which is copied faster as what it also is.
    this.at += this.#bytes.write(text, this.at, length === text.length ? 'latin1' : 'utf8')
  }

  /** A part of some bytes, with room around it that the reader may write into. */
  bytesBetween(value: Uint8Array, start: number, end: number, before: number, after: number): void {
    const length = before + end - start + after
    this.length(length)
    this.#room(length)
    this.#bytes.set(new Uint8Array(value.buffer, value.byteOffset + start, end - start), this.at + before)
    this.at += length
  }

  /** A text whose characters are bytes: keys, names. */
  latin1(text: string): void {
    this.length(text.length)
    this.#room(text.length)
    this.at += this.#bytes.write(text, this.at, 'latin1')
  }

  /** Any text, lone surrogates included. */
  utf16(text: string): void {
    this.length(text.length)
    this.#room(2 * text.length)
    this.at += this.#bytes.write(text, this.at, 'utf16le')
  }

  #room(more: number): void {
    const needed = this.at + more
    if (needed <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(larger, 0, 0, this.at)
    this.#bytes = larger
  }
}

export class ByteReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  u8(): number {
    const value = this.#bytes[this.#at++]
    if (value === undefined) throw new RangeError('a message ends too early')
    return value
  }

  u32(): number {
    const value = this.#bytes.readUInt32LE(this.#at)
    this.#at += 4
    return value
  }

  f64(): number {
    const value = this.#bytes.readDoubleLE(this.#at)
    this.#at += 8
    return value
  }

  length(): number {
    const short = this.u8()
    return short <= SHORT_MAX ? short : this.u32()
  }

  /** A part of the message, not a copy. */
  bytes(): Buffer {
    return this.#part(this.length())
  }

  latin1(): string {
    const length = this.length()
    return this.#bytes.toString('latin1', this.#at, this.#pass(length))
  }

  utf16(): string {
    const length = this.length()
    return this.#bytes.toString('utf16le', this.#at, this.#pass(2 * length))
  }

  #part(length: number): Buffer {
    const from = this.#at
    return this.#bytes.subarray(from, this.#pass(length))
  }

  #pass(length: number): number {
    if (this.#at + length > this.#bytes.length) throw new RangeError('a message ends too early')
    return (this.#at += length)
  }
}
