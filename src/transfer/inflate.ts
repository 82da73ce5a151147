// What an object holds when it is inflated, piece by piece and bounded: an object of a few bytes may say of itself that it is
// terabytes long.
import { pipeline } from 'node:stream'
import * as zlib from 'node:zlib'
import { type Compression, transferLimits } from './transfer.js'
import { ZstdFrames } from './zstd-frames.js'

/** The object cannot be what it says it is; the message is a sentence. */
export class NotInflatable extends Error {
  override readonly name = 'NotInflatable'
}

/** Of an inflated object: so that what is made of one piece holds no thread for long. */
const PIECE_BYTES = 64 * 1024

/** `chunks`: of an object of so many bytes. Throws NotInflatable. */
export async function* inflated(
  chunks: AsyncIterable<Buffer>,
  compression: Compression,
  objectBytes: number,
): AsyncGenerator<Buffer> {
  if (compression === 'NONE') return yield* pieces(chunks)
  const most = transferLimits.inflatedBytesFree + objectBytes * transferLimits.inflatedRatioMax
  let bytes = 0
  for await (const piece of decompressed(chunks, compression)) {
    bytes += piece.length
    if (bytes > most)
      throw new NotInflatable(
        `an object of ${objectBytes} bytes is more than ${most} bytes long when it is inflated`,
      )
    yield piece
  }
}

async function* pieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) yield chunk.subarray(at, at + PIECE_BYTES)
}

function decompressed(
  chunks: AsyncIterable<Buffer>,
  compression: Exclude<Compression, 'NONE'>,
): AsyncIterable<Buffer> {
  if (compression === 'GZIP') return through(chunks, zlib.createGunzip({ chunkSize: PIECE_BYTES }))
  return unpackZstd(framesChecked(chunks))
}

async function* through(chunks: AsyncIterable<Buffer>, stream: zlib.Gunzip): AsyncGenerator<Buffer> {
  // An empty object is one of no items, as Amazon takes it.
  const source = await startOf(chunks)
  if (source === undefined) return
  // Errors of either side are met by the loop below.
  pipeline(source, stream, () => undefined)
  try {
    for await (const piece of stream) yield piece as Buffer
  } catch (error) {
    throw new NotInflatable(`an object is not compressed as it should be: ${(error as Error).message}`, {
      cause: error,
    })
  }
}

/** Undefined: there is nothing. */
async function startOf(chunks: AsyncIterable<Buffer>): Promise<AsyncIterable<Buffer> | undefined> {
  const iterator = chunks[Symbol.asyncIterator]()
  const first = await iterator.next()
  if (first.done === true) return undefined
  return (async function* () {
    yield first.value
    for (;;) {
      const next = await iterator.next()
      if (next.done === true) return
      yield next.value
    }
  })()
}

async function* framesChecked(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const frames = new ZstdFrames()
  for await (const chunk of chunks) {
    try {
      frames.push(chunk)
    } catch (error) {
      throw new NotInflatable((error as Error).message, { cause: error })
    }
    yield chunk
  }
}

/** From Node 22.15 on; before, a decoder of JavaScript does it. */
const { createZstdDecompress } = zlib as { createZstdDecompress?: (options: object) => zlib.Gunzip }

async function* unpackZstd(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (createZstdDecompress !== undefined)
    return yield* through(chunks, createZstdDecompress({ chunkSize: PIECE_BYTES }))
  const { Decompress } = await import('fzstd')
  let out: Buffer[] = []
  const decoder = new Decompress((bytes) =>
    out.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)),
  )
  const push = (bytes: Uint8Array, isLast: boolean): void => {
    try {
      decoder.push(bytes, isLast)
    } catch (error) {
      throw new NotInflatable(`an object is not compressed as it should be: ${(error as Error).message}`, {
        cause: error,
      })
    }
  }
  let isEmpty = true
  for await (const chunk of chunks) {
    // A few bytes may stand for megabytes, which are all made at once.
    for (let at = 0; at < chunk.length; at += ZSTD_STEP_BYTES) {
      isEmpty = false
      push(chunk.subarray(at, at + ZSTD_STEP_BYTES), false)
      const made = out
      out = []
      yield* made
    }
  }
  if (isEmpty) return
  push(new Uint8Array(0), true)
  yield* out
}

/** At worst 256 blocks of 128 KB are made of it. */
const ZSTD_STEP_BYTES = 1024
