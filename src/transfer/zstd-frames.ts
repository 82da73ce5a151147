// Walks over the headers of a ZSTD object (RFC 8878) before a decoder sees its bytes, so that none of them makes it allocate more
// than is allowed: the window of each frame, and the size of each block, which the decoder for Node 20 does not check.
import { transferLimits } from './transfer.js'

const MAGIC = 0xfd2fb528
const SKIPPABLE_MASK = 0xfffffff0
const SKIPPABLE = 0x184d2a50
const BLOCK_BYTES_MAX = 128 * 1024
const HEADER_BYTES_MAX = 18

/** The bytes are passed on as they came. Throws if something is not allowed. */
export class ZstdFrames {
  #state: 'frame' | 'skip' | 'block' = 'frame'
  /** Bytes to pass over before the next header. */
  #passing = 0
  #hasChecksum = false
  /** Of a header that is not whole yet. */
  #begun: Buffer = Buffer.alloc(0)

  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length || this.#begun.length > 0) {
      if (this.#passing > 0) {
        const step = Math.min(this.#passing, chunk.length - at)
        if (step === 0) return
        this.#passing -= step
        at += step
        continue
      }
      const header = Buffer.concat([
        this.#begun,
        chunk.subarray(at, at + HEADER_BYTES_MAX - this.#begun.length),
      ])
      const length = this.#state === 'block' ? this.#block(header) : this.#frame(header)
      if (length === undefined) {
        this.#begun = header
        return
      }
      at += length - this.#begun.length
      this.#begun = Buffer.alloc(0)
      if (at < 0) throw new Error('a header of ZSTD was read twice')
    }
  }

  /** Its length, or undefined if it is not whole. */
  #frame(header: Buffer): number | undefined {
    if (header.length < 5) return undefined
    const magic = header.readUInt32LE(0)
    if ((magic & SKIPPABLE_MASK) >>> 0 === SKIPPABLE) {
      if (header.length < 8) return undefined
      this.#passing = header.readUInt32LE(4)
      return 8
    }
    if (magic !== MAGIC) throw new Error('not ZSTD')
    const flags = header[4]!
    const isSingle = (flags >> 5) & 1
    const contentFlag = flags >> 6
    const dictionaryBytes = [0, 1, 2, 4][flags & 3]!
    const contentBytes = contentFlag === 0 ? isSingle : 1 << contentFlag
    const length = 5 + (1 - isSingle) + dictionaryBytes + contentBytes
    if (header.length < length) return undefined
    if (dictionaryBytes > 0) throw new Error('ZSTD with a dictionary')
    const window = isSingle === 1 ? contentSize(header, 5, contentBytes) : windowOf(header[5]!)
    if (window > transferLimits.zstdWindowBytesMax)
      throw new Error(
        `a window of ZSTD of ${window} bytes, where ${transferLimits.zstdWindowBytesMax} are allowed`,
      )
    this.#hasChecksum = ((flags >> 2) & 1) === 1
    this.#state = 'block'
    return length
  }

  #block(header: Buffer): number | undefined {
    if (header.length < 3) return undefined
    const head = header.readUIntLE(0, 3)
    const isLast = (head & 1) === 1
    const isRun = ((head >> 1) & 3) === 1
    const bytes = head >> 3
    if (bytes > BLOCK_BYTES_MAX) throw new Error('a block of ZSTD that is larger than allowed')
    this.#passing = isRun ? 1 : bytes
    if (isLast) {
      this.#passing += this.#hasChecksum ? 4 : 0
      this.#state = 'frame'
    }
    return 3
  }
}

function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >> 3))
  return base + (base / 8) * (descriptor & 7)
}

function contentSize(header: Buffer, at: number, bytes: number): number {
  if (bytes === 8) return Number(header.readBigUInt64LE(at))
  const size = header.readUIntLE(at, bytes)
  return bytes === 2 ? size + 256 : size
}
