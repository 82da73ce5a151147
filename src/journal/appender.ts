// The files of the journal: appends groups of frames, durably, and begins and removes segments.
//
//   append --> [ segment 0 | segment 1 | ... frames ]--room that is prepared ahead--
//                ^ removed once they are not needed         ^ the only one that is open
//
// One call at a time, but for trimming. After `AppendFailed` nothing of the group is there; after `AppendUnsure` only a restart
// knows, and nothing is taken before.
import { type Knobs, knobs } from '../model/knobs.js'
import { messageOf } from '../model/message-of.js'
import { type FileHandle, type FileLayer, OutOfSpace } from '../runtime/files.js'
import type { Runtime } from '../runtime/runtime.js'
import { AppendFailed, AppendUnsure } from './errors.js'
import { encodeFrame, type FrameContent, frameBytes } from './frame.js'
import { type JournalOwner, NO_OWNER, type Recovered } from './read-back.js'
import { encodeHeader, encodeSeal, framesFrom, newSegment, SEAL_BYTES, type Segment } from './segment.js'

export interface AppenderOptions extends Partial<
  Pick<Knobs, 'segmentBytesMax' | 'reserveBytes' | 'reserveDistanceBytes' | 'scratchBytesMax'>
> {
  readonly files: FileLayer
  readonly runtime: Runtime
  readonly folder: string
  /** The data folder that it belongs to, if it is to be told from others. */
  readonly owner?: JournalOwner
}

/** Room is prepared in pieces of about the length of a group (docs/adr/0004): the next power of two between these. */
const PIECE_BYTES_MIN = 8 * 1024
const PIECE_BYTES_MAX = 256 * 1024

export class Appender {
  readonly #options: AppenderOptions
  readonly #segmentBytesMax: number
  readonly #reserveBytes: number
  readonly #reserveDistanceBytes: number
  readonly #scratchBytesMax: number
  #segments: readonly Segment[]
  /** Of a format to which nothing is appended. */
  #old: readonly Segment[]
  /** Created, and not yet part of the journal: the next attempt goes on with it. */
  #begun: Segment | undefined
  #handle: FileHandle | undefined
  #end: number
  #refusal: AppendUnsure | undefined
  #scratch: Buffer = Buffer.allocUnsafe(64 * 1024)
  /** Length of the current file up to which room is prepared, and the preparation under way. */
  #reservedBytes = 0
  #reserving: Promise<void> | undefined
  #reservingFrom = Infinity
  #trimming: Promise<void> = Promise.resolve()

  constructor(options: AppenderOptions, { segments, end, isOld = false }: Recovered) {
    this.#options = options
    const tuned = { ...knobs, ...options }
    this.#segmentBytesMax = tuned.segmentBytesMax
    this.#reserveBytes = tuned.reserveBytes
    this.#reserveDistanceBytes = tuned.reserveDistanceBytes
    this.#scratchBytesMax = tuned.scratchBytesMax
    this.#segments = isOld ? [] : segments
    this.#old = isOld ? segments : []
    this.#end = end
  }

  /** Offset after the last durable frame. */
  get end(): number {
    return this.#end
  }

  /** Set once nothing can be appended before the next start. */
  get refusal(): AppendUnsure | undefined {
    return this.#refusal
  }

  /** The next frame is the first one of its segment. */
  get beginsSegment(): boolean {
    const segment = this.#goesOnWith()
    return segment === undefined || this.#end === framesFrom(segment)
  }

  /**
   * Begins the first segment, if there is none of this format, and removes those of an old one. All indexes hold what stands
   * in them.
   */
  async begin(): Promise<void> {
    if (this.#segments.length === 0) await this.#nextSegment()
    const options = this.#options
    for (const { file } of this.#old) await options.files.remove(`${options.folder}/${file}`)
    this.#old = []
    await options.files.syncFolder(options.folder)
  }

  /** Resolves to the offset after each frame once all are durable. */
  async append(contents: readonly FrameContent[], writers: readonly number[]): Promise<readonly number[]> {
    if (this.#refusal !== undefined) throw this.#refusal
    const [segment, handle] = await this.#current()
    const ends: number[] = []
    const frames = this.#encode(contents, writers, segment, ends)
    const at = this.#end - segment.start
    try {
      if (at + frames.byteLength > this.#reservingFrom) await this.#reserving
      await handle.writeSynced(frames, at)
    } catch (error) {
      throw await this.#failure(error, handle, at)
    }
    this.#end += frames.byteLength
    this.#reserveAhead(handle, at + frames.byteLength, frames.byteLength)
    return ends
  }

  /** Removes the segments that end before that offset. The current one stays. */
  trimBefore(before: number): Promise<void> {
    const [, second] = this.#segments
    if (second !== undefined && second.start <= before)
      this.#trimming = this.#trimming.then(() => this.#trim(before))
    return this.#trimming
  }

  async close(): Promise<void> {
    await this.#trimming
    await this.#reserving
    const [handle, last] = [this.#handle, this.#segments.at(-1)]
    this.#handle = undefined
    // What was prepared and is not needed: a journal that ends with its last frame tells the next start that it does.
    if (this.#reservedBytes > 0 && last !== undefined && this.#refusal === undefined)
      await handle?.truncateSynced(this.#end - last.start).catch(() => undefined)
    await handle?.close()
  }

  /** The segment that the next frame goes to, if there is one. */
  #goesOnWith(): Segment | undefined {
    const last = this.#segments.at(-1)
    return last !== undefined && this.#end - framesFrom(last) < this.#segmentBytesMax ? last : undefined
  }

  async #current(): Promise<readonly [Segment, FileHandle]> {
    const last = this.#goesOnWith()
    if (last === undefined) return this.#nextSegment()
    return [last, await this.#handleOf(last)]
  }

  /** Of the last segment. */
  async #handleOf({ file }: Segment): Promise<FileHandle> {
    this.#handle ??= await this.#open(file, 'there')
    return this.#handle
  }

  /** In the order that ./segment.ts gives. */
  async #nextSegment(): Promise<readonly [Segment, FileHandle]> {
    const { files, folder, runtime } = this.#options
    const last = this.#segments.at(-1)
    const start = last === undefined ? this.#end : this.#end + SEAL_BYTES
    const next = (this.#begun ??= newSegment(start, seedFrom(runtime.randomBytes(4))))
    const handle = await this.#open(next.file, 'new')
    try {
      await this.#writeHeader(next, handle)
      try {
        await files.syncFolder(folder)
      } catch (error) {
        throw this.refuse(error)
      }
      if (last !== undefined) await this.#seal(last, next)
    } catch (error) {
      await handle.close().catch(() => undefined)
      throw error
    }
    // Only now: the one before it may be removed from here on, and a folder must never be without any.
    this.#segments = [...this.#segments, next]
    this.#begun = undefined
    this.#end = framesFrom(next)
    this.#handle = handle
    this.#reservedBytes = 0
    return [next, handle]
  }

  async #writeHeader(segment: Segment, handle: FileHandle): Promise<void> {
    try {
      await handle.writeSynced(encodeHeader(segment, this.#options.owner?.id ?? NO_OWNER), 0)
    } catch (error) {
      if (!(error instanceof OutOfSpace)) throw this.refuse(error)
      throw new AppendFailed(`The journal has no room: ${error.message}`, { cause: error })
    }
  }

  /** Says in the last segment which one follows, and closes it. */
  async #seal(last: Segment, next: Segment): Promise<void> {
    const handle = await this.#handleOf(last)
    const at = this.#end - last.start
    try {
      await this.#reserving
      await handle.writeSynced(encodeSeal(last, this.#end, next), at)
    } catch (error) {
      throw await this.#failure(error, handle, at)
    }
    this.#handle = undefined
    await handle.close().catch(() => undefined)
  }

  async #open(file: string, state: 'new' | 'there'): Promise<FileHandle> {
    const { files, folder } = this.#options
    try {
      return await files.open(`${folder}/${file}`, { create: state === 'new' })
    } catch (error) {
      throw new AppendFailed(`The journal could not be opened for writing: ${messageOf(error)}`, {
        cause: error,
      })
    }
  }

  /** All frames, one behind the other. */
  #encode(
    contents: readonly FrameContent[],
    writers: readonly number[],
    { seed }: Segment,
    ends: number[],
  ): Buffer {
    let bytes = 0
    for (const content of contents) bytes += frameBytes(content)
    let target = this.#scratch
    if (bytes > target.length) {
      target = Buffer.allocUnsafe(bytes)
      if (bytes <= this.#scratchBytesMax) this.#scratch = target
    }
    let at = 0
    for (const [nth, content] of contents.entries()) {
      const goesOn = nth + 1 < contents.length
      const place = {
        writer: writers[nth] as number,
        goesOn,
        seed,
        position: this.#end + at,
        syncedUpTo: this.#end,
      }
      at += encodeFrame(at === 0 ? target : target.subarray(at), content, place).byteLength
      ends.push(this.#end + at)
    }
    return target.subarray(0, at)
  }

  /** No room: cut the part that was written, and go on. Anything else may or may not have reached the disk. */
  async #failure(error: unknown, handle: FileHandle, at: number): Promise<AppendFailed | AppendUnsure> {
    let cause = error
    if (error instanceof OutOfSpace) {
      try {
        await this.#reserving
        await handle.truncateSynced(at)
        this.#reservedBytes = 0
        return new AppendFailed(`The journal has no room: ${error.message}`, { cause: error })
      } catch (cutError) {
        cause = cutError
      }
    }
    return this.refuse(cause)
  }

  /** Nothing is appended any more. */
  refuse(cause: unknown): AppendUnsure {
    this.#refusal = new AppendUnsure(
      `The journal could not be synced (${messageOf(cause)}). Whether the last writes are durable is known after a ` +
        `restart; until then no write is accepted.`,
      { cause },
    )
    return this.#refusal
  }

  /** Prepares room for the frames to come, at a distance, so that the next ones need not wait for it. */
  #reserveAhead(handle: FileHandle, length: number, groupBytes: number): void {
    if (this.#reserveBytes === 0 || this.#reserving !== undefined || length < this.#reserveDistanceBytes)
      return
    if (length + this.#reserveBytes / 2 < this.#reservedBytes || length >= this.#segmentBytesMax) return
    const from = Math.max(length + this.#reserveDistanceBytes, this.#reservedBytes)
    this.#reservingFrom = from
    // Room is a help, not a need: without it the file grows frame by frame.
    this.#reserving = handle
      .reserve(from, this.#reserveBytes, pieceBytesFor(groupBytes))
      .catch(() => undefined)
      .then(() => {
        this.#reservedBytes = from + this.#reserveBytes
        this.#reservingFrom = Infinity
        this.#reserving = undefined
      })
  }

  async #trim(before: number): Promise<void> {
    const { files, folder } = this.#options
    for (;;) {
      const [first, second] = this.#segments
      if (first === undefined || second === undefined || second.start > before) return
      try {
        await files.remove(`${folder}/${first.file}`)
      } catch {
        return // It stays until the next attempt.
      }
      this.#segments = this.#segments.slice(1)
    }
  }
}

function pieceBytesFor(groupBytes: number): number {
  let bytes = PIECE_BYTES_MIN
  while (bytes < groupBytes && bytes < PIECE_BYTES_MAX) bytes *= 2
  return bytes
}

function seedFrom(bytes: Uint8Array): number {
  return Buffer.from(bytes).readUInt32BE(0)
}
