// The file of a dump: a line that names its format, then blocks.
//
//   "seriatim dump 1\n"  | block | block | ...
//   block   0 length of the body, u32  4 checksum, u32  8 kind, u8  9 body without its kind
//
// The checksum of a block begins with that of the block before it, and the first one with that of the line: a block that was
// changed, left out, swapped or brought from another dump is found out. The last one says so, so that a file which ends early
// is known, too. Integers are big-endian.
import { crc32 } from 'node:zlib'

export const DUMP_FORMAT = 1
const NAME = 'seriatim dump '
/** The line is no longer than this. */
const LINE_BYTES_MAX = 32
const HEAD_BYTES = 8
/** A block ends with the entry that brings it to a quarter of a MB; an entry has no more than some MB. */
const BODY_BYTES_MAX = 64 * 1024 * 1024

export type BlockKind = 'head' | 'entries' | 'records' | 'end'
const KINDS: readonly BlockKind[] = ['head', 'entries', 'records', 'end']

export interface Block {
  readonly kind: BlockKind
  readonly body: Buffer
}

/** Why these bytes are not a dump that this version reads: the rest of a sentence about the file. */
export class NotADump extends Error {
  override readonly name = 'NotADump'
}

export function* encodeBlocks(blocks: Iterable<Block>): Iterable<Buffer> {
  const line = Buffer.from(`${NAME}${DUMP_FORMAT}\n`)
  yield line
  let checksum = crc32(line)
  for (const { kind, body } of blocks) {
    const head = Buffer.alloc(HEAD_BYTES + 1)
    head[HEAD_BYTES] = KINDS.indexOf(kind)
    checksum = crc32(body, crc32(head.subarray(HEAD_BYTES), checksum))
    head.writeUInt32BE(body.length + 1, 0)
    head.writeUInt32BE(checksum, 4)
    yield head
    yield body
  }
}

/** @throws NotADump */
export async function* decodeBlocks(pieces: AsyncIterable<Buffer>): AsyncIterable<Block> {
  const bytes = new Bytes(pieces)
  try {
    const line = await bytes.line()
    let checksum = crc32(line)
    for (let at = line.length; ;) {
      const head = await bytes.take(HEAD_BYTES)
      if (head.length === 0) return
      if (head.length < HEAD_BYTES) throw endsEarly(at + head.length)
      const length = head.readUInt32BE(0)
      if (length === 0 || length > BODY_BYTES_MAX) throw damaged(at)
      const body = await bytes.take(length)
      if (body.length < length) throw endsEarly(at + HEAD_BYTES + body.length)
      checksum = crc32(body, checksum)
      const kind = KINDS[body[0] as number]
      if (checksum !== head.readUInt32BE(4) || kind === undefined) throw damaged(at)
      yield { kind, body: body.subarray(1) }
      at += HEAD_BYTES + length
    }
  } finally {
    await bytes.close()
  }
}

const NO_BYTES = Buffer.alloc(0)

const damaged = (at: number): NotADump =>
  new NotADump(`is damaged: the block at byte ${at} is not what was written`)
const endsEarly = (at: number): NotADump => new NotADump(`is damaged: it ends at byte ${at}, too early`)

/** Bytes by as many as are asked for; fewer at the end. */
class Bytes {
  readonly #pieces: AsyncIterator<Buffer>
  #left: Buffer = NO_BYTES

  constructor(pieces: AsyncIterable<Buffer>) {
    this.#pieces = pieces[Symbol.asyncIterator]()
  }

  async close(): Promise<void> {
    await this.#pieces.return?.()
  }

  async line(): Promise<Buffer> {
    const start = await this.take(LINE_BYTES_MAX)
    const end = start.indexOf('\n') + 1
    const line = start.subarray(0, end)
    const [, format] = /^seriatim dump (\d+)\n$/.exec(line.toString('latin1')) ?? []
    if (format === undefined) throw new NotADump(`is not a dump of a store: it does not begin with '${NAME}'`)
    if (Number(format) !== DUMP_FORMAT)
      throw new NotADump(
        `is a dump of format ${format}, and this version reads format ${DUMP_FORMAT}. Open it with the version of ` +
          `Seriatim that wrote it`,
      )
    this.#left = Buffer.concat([start.subarray(end), this.#left])
    return line
  }

  async take(length: number): Promise<Buffer> {
    const parts = [this.#left]
    let bytes = this.#left.length
    while (bytes < length) {
      const { value, done } = await this.#pieces.next()
      if (done === true) break
      parts.push(value)
      bytes += value.length
    }
    const all = parts.length === 1 ? this.#left : Buffer.concat(parts)
    this.#left = all.subarray(length)
    return all.subarray(0, length)
  }
}
