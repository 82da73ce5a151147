// Reads segments of the log of commits: their indexes, and the records of their frames. Little of both is kept in memory,
// because readers at the end of the log ask for the same frame again and again.
import type { Knobs } from '../../model/knobs.js'
import type { FileHandle, FileLayer } from '../../runtime/files.js'
import { LogDamaged } from '../commit-log.js'
import type { CommitRecord } from '../commit-record.js'
import { unreadableRecords } from './log-damage.js'
import { decodeLogFrame, recordsOfFrame } from './log-frame.js'
import {
  decodeIndexHead,
  GrowingIndex,
  headBytesOf,
  type IndexedFrame,
  indexFileOf,
  LOG_INDEX_HEADER_BYTES,
  LOG_INDEX_MAGIC,
  type LogIndex,
} from './log-index.js'
import { scanLogSegment } from './log-scan.js'
import type { LogSegment } from './log-segment.js'

/** Files that are open for reading at once; further readers wait. */
const HANDLES_MAX = 16

export interface LogReaderOptions {
  readonly files: FileLayer
  readonly folder: string
  readonly knobs: Pick<Knobs, 'logCacheBytesMax' | 'logIndexesMax'>
}

export class LogReader {
  readonly #options: LogReaderOptions
  /** By file; the one that was used last is the last. */
  readonly #indexes = new Map<string, Promise<LogIndex>>()
  readonly #frames = new Map<
    string,
    { readonly bytes: number; readonly records: Promise<readonly CommitRecord[]> }
  >()
  #framesBytes = 0
  #open = 0
  readonly #waiting: (() => void)[] = []

  constructor(options: LogReaderOptions) {
    this.#options = options
  }

  /** Of a segment that another follows, which begins with the record `end`. */
  indexOf(segment: LogSegment, end: number): Promise<LogIndex> {
    const kept = this.#indexes.get(segment.file)
    const index = kept ?? this.#readIndex(segment, end)
    this.#keepIndex(segment, index)
    return index
  }

  /** The index of a segment that was just sealed need not be read. */
  keepIndex(segment: LogSegment, index: LogIndex): void {
    this.#keepIndex(segment, Promise.resolve(index))
  }

  /** Made anew from the segment, and written, if nothing in the segment is damaged. */
  rebuildIndex(segment: LogSegment, end: number): Promise<LogIndex> {
    const index = this.#rebuild(segment, end)
    this.#keepIndex(segment, index)
    return index
  }

  /**
   * The records of a frame.
   * @throws LogDamaged if its bytes are not what was written
   */
  async recordsOf(segment: LogSegment, frame: IndexedFrame): Promise<readonly CommitRecord[]> {
    const name = `${segment.file} ${frame.offset}`
    const kept = this.#frames.get(name)
    if (kept !== undefined) {
      this.#frames.delete(name)
      this.#frames.set(name, kept)
      return kept.records
    }
    const records = this.#readRecords(segment, frame)
    const forget = (): void => {
      if (this.#frames.get(name)?.records !== records) return
      this.#frames.delete(name)
      this.#framesBytes -= frame.bytes
    }
    this.#frames.set(name, { bytes: frame.bytes, records })
    this.#framesBytes += frame.bytes
    records.catch(forget)
    // One always stays: a reader takes a large frame in several pages.
    for (const [oldest, { bytes }] of this.#frames) {
      if (this.#framesBytes <= this.#options.knobs.logCacheBytesMax || oldest === name) break
      this.#frames.delete(oldest)
      this.#framesBytes -= bytes
    }
    return records
  }

  /** Lends out a file of the folder for reading. */
  async withFile<T>(file: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
    while (this.#open >= HANDLES_MAX) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#open++
    try {
      const handle = await this.#options.files.open(`${this.#options.folder}/${file}`, { create: false })
      try {
        return await use(handle)
      } finally {
        await handle.close()
      }
    } finally {
      this.#open--
      this.#waiting.shift()?.()
    }
  }

  /** What was let go. */
  forget(segment: LogSegment): void {
    this.#indexes.delete(segment.file)
    for (const [name, { bytes }] of this.#frames) {
      if (!name.startsWith(segment.file)) continue
      this.#frames.delete(name)
      this.#framesBytes -= bytes
    }
  }

  #keepIndex({ file }: LogSegment, index: Promise<LogIndex>): void {
    this.#indexes.delete(file)
    this.#indexes.set(file, index)
    index.catch(() => {
      if (this.#indexes.get(file) === index) this.#indexes.delete(file)
    })
    for (const oldest of this.#indexes.keys()) {
      if (this.#indexes.size <= this.#options.knobs.logIndexesMax) break
      this.#indexes.delete(oldest)
    }
  }

  async #readIndex(segment: LogSegment, end: number): Promise<LogIndex> {
    const file = indexFileOf(segment)
    const read = (position: number, length: number): Promise<Buffer> =>
      this.withFile(file, async (handle) => bufferOver(await handle.read(position, length)))
    const index = await this.withFile(file, async (handle) => {
      const headBytes = headBytesOf(bufferOver(await handle.read(0, LOG_INDEX_HEADER_BYTES)))
      if (headBytes === undefined || headBytes > (await handle.length())) return undefined
      return decodeIndexHead(bufferOver(await handle.read(0, headBytes)), segment, end, read)
    }).catch(() => undefined)
    return index ?? this.#rebuild(segment, end)
  }

  async #rebuild(segment: LogSegment, end: number): Promise<LogIndex> {
    const bytes = await this.withFile(segment.file, async (handle) =>
      bufferOver(await handle.read(0, await handle.length())),
    )
    const index = GrowingIndex.of(segment, bytes, scanLogSegment(bytes, segment), end)
    // What is wrong with a segment may be put right; an index that says so would stay.
    if (index.gaps.length === 0)
      await writeLogIndex(this.#options, segment, index, end).catch(() => undefined)
    return index
  }

  async #readRecords(segment: LogSegment, frame: IndexedFrame): Promise<readonly CommitRecord[]> {
    const bytes = await this.withFile(segment.file, async (handle) =>
      bufferOver(await handle.read(frame.offset, frame.bytes)),
    )
    const found = decodeLogFrame(bytes, frame.offset, segment, frame.offset)
    if (found?.first !== frame.first || found.end !== frame.end)
      throw unreadableRecords(this.#options.folder, segment, frame)
    return recordsOfFrame(bytes, found)
  }
}

/** Its magic last, when all the rest is durable. */
export async function writeLogIndex(
  { files, folder }: Pick<LogReaderOptions, 'files' | 'folder'>,
  segment: LogSegment,
  index: GrowingIndex,
  end: number,
): Promise<void> {
  const bytes = index.encode(end)
  const handle = await files.open(`${folder}/${indexFileOf(segment)}`, { create: true })
  try {
    // Something else may stand there.
    await handle.truncateSynced(0)
    const magicBytes = LOG_INDEX_MAGIC.length
    await handle.writeSynced(bytes.subarray(magicBytes), magicBytes)
    await handle.writeSynced(bytes.subarray(0, magicBytes), 0)
  } finally {
    await handle.close()
  }
}

export const bufferOver = (bytes: Uint8Array): Buffer =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export const isLogDamage = (error: unknown): boolean => error instanceof LogDamaged
