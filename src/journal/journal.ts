// The journal: what makes a write durable. Append-only, checksummed, in segments.
//
//   batch --append--> [ segment 0 | segment 1 | ... frame, frame, frame ] --recover--> index
//                       removed once the index is beyond them
//
// One frame at a time is written and synced; what arrives meanwhile is the next batch (group commit), and whoever calls
// `append` collects it. An offset counts bytes from the very first frame on and never goes back.
//
// May import: model, index (the shape of a change), runtime (its interfaces). Knows nothing of items.
import type { FileHandle, FileLayer } from '../runtime/files.js'
import { OutOfSpace } from '../runtime/files.js'
import type { Runtime } from '../runtime/runtime.js'
import { AppendFailed, AppendUnsure } from './errors.js'
import { type Frame, type FrameContent, encodeFrame, frameBytes } from './frame.js'
import { recoverJournal } from './recovery.js'
import { type Segment, newSegment } from './segment.js'

export interface JournalOptions {
  readonly files: FileLayer
  readonly runtime: Runtime
  readonly folder: string
  /** A segment that has reached this length is followed by a new one. */
  readonly segmentBytesMax?: number
  /** How much room is prepared ahead of the frames; 0 for none. */
  readonly reserveBytes?: number
}

const SEGMENT_BYTES_MAX = 16 * 1024 * 1024
const RESERVE_BYTES = 1024 * 1024
const RESERVE_DISTANCE_BYTES = 256 * 1024
const SCRATCH_BYTES_MAX = 1024 * 1024

/** @throws JournalDamaged if a batch from `from` on that had been durable cannot be read */
export async function openJournal(
  options: JournalOptions,
  from: number,
  replay: (frame: Frame) => Promise<void>,
): Promise<Journal> {
  await options.files.makeFolder(options.folder)
  const recovered = await recoverJournal(options.files, options.folder, from, replay)
  // A segment that was created just before the last end may not have its name on the disk yet.
  await options.files.syncFolder(options.folder)
  return new Journal(options, recovered.segments, recovered.end)
}

export class Journal {
  readonly #options: JournalOptions
  readonly #segmentBytesMax: number
  readonly #reserveBytes: number
  #segments: readonly Segment[]
  #handle: FileHandle | undefined
  #end: number
  #refusal: AppendUnsure | undefined
  #scratch: Buffer = Buffer.allocUnsafe(64 * 1024)
  /** Length of the current file up to which room is prepared, and the preparation under way. */
  #reservedBytes = 0
  #reserving: Promise<void> | undefined
  #reservingFrom = Infinity
  #trimming: Promise<void> = Promise.resolve()

  constructor(options: JournalOptions, segments: readonly Segment[], end: number) {
    this.#options = options
    this.#segmentBytesMax = options.segmentBytesMax ?? SEGMENT_BYTES_MAX
    this.#reserveBytes = options.reserveBytes ?? RESERVE_BYTES
    this.#segments = segments
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

  /**
   * Writes one batch; resolves to the offset after it once it is durable. One call at a time.
   * @throws AppendFailed if it was not written, AppendUnsure if nobody knows
   */
  async append(content: FrameContent): Promise<number> {
    if (this.#refusal !== undefined) throw this.#refusal
    const [segment, handle] = await this.#current()
    const frame = this.#encode(content, segment)
    const at = this.#end - segment.start
    try {
      if (at + frame.byteLength > this.#reservingFrom) await this.#reserving
      await handle.writeSynced(frame, at)
    } catch (error) {
      throw await this.#failure(error, handle, at)
    }
    this.#end += frame.byteLength
    this.#reserveAhead(handle, at + frame.byteLength)
    return this.#end
  }

  /** Removes the segments that lie wholly before that offset. The current one stays. */
  trim(before: number): Promise<void> {
    this.#trimming = this.#trimming.then(() => this.#trim(before))
    return this.#trimming
  }

  async close(): Promise<void> {
    await this.#trimming
    await this.#reserving
    await this.#handle?.close()
    this.#handle = undefined
  }

  async #current(): Promise<readonly [Segment, FileHandle]> {
    const { files, folder, runtime } = this.#options
    const last = this.#segments.at(-1)
    const goesOn = last !== undefined && this.#end - last.start < this.#segmentBytesMax
    if (goesOn && this.#handle !== undefined) return [last, this.#handle]
    const segment = goesOn ? last : newSegment(this.#end, seedFrom(runtime.randomBytes(4)))
    const handle = await this.#open(`${folder}/${segment.file}`, !goesOn)
    if (!goesOn) {
      try {
        await files.syncFolder(folder)
      } catch (error) {
        throw this.#refuse(error)
      }
      // Only now: the one before it may be removed from here on, and a folder must never be without any.
      this.#segments = [...this.#segments, segment]
    }
    this.#handle = handle
    return [segment, handle]
  }

  async #open(path: string, create: boolean): Promise<FileHandle> {
    try {
      await this.#reserving
      await this.#handle?.close()
      this.#handle = undefined
      this.#reservedBytes = 0
      return await this.#options.files.open(path, { create })
    } catch (error) {
      throw new AppendFailed(`The journal could not be opened for writing: ${messageOf(error)}`, {
        cause: error,
      })
    }
  }

  #encode(content: FrameContent, segment: Segment): Buffer {
    const bytes = frameBytes(content)
    let target = this.#scratch
    if (bytes > target.length) {
      target = Buffer.allocUnsafe(bytes)
      if (bytes <= SCRATCH_BYTES_MAX) this.#scratch = target
    }
    return encodeFrame(target, content, { seed: segment.seed, position: this.#end, syncedUpTo: this.#end })
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
    return this.#refuse(cause)
  }

  #refuse(cause: unknown): AppendUnsure {
    this.#refusal = new AppendUnsure(
      `The journal could not be synced (${messageOf(cause)}). Whether the last writes are durable is known after a ` +
        `restart; until then no write is accepted.`,
      { cause },
    )
    return this.#refusal
  }

  /** Prepares room for the frames to come, at a distance, so that the next ones need not wait for it. */
  #reserveAhead(handle: FileHandle, length: number): void {
    if (this.#reserveBytes === 0 || this.#reserving !== undefined || length < RESERVE_DISTANCE_BYTES) return
    if (length + this.#reserveBytes / 2 < this.#reservedBytes || length >= this.#segmentBytesMax) return
    const from = Math.max(length + RESERVE_DISTANCE_BYTES, this.#reservedBytes)
    this.#reservingFrom = from
    // Room is a help, not a need: without it the file grows frame by frame.
    this.#reserving = handle
      .reserve(from, this.#reserveBytes)
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

function seedFrom(bytes: Uint8Array): number {
  return Buffer.from(bytes).readUInt32BE(0)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
