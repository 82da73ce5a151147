// The journal: what makes a write durable. Append-only, checksummed, in segments. The nodes of a process share one, and
// with it the syncs, which cost more than what is written.
//
//   node 0: batch --\
//   node 1: batch ----> one write, one sync --> [ segment 0 | segment 1 | ... frame, frame, frame ] --recover--> indexes
//   node 2: batch --/                             removed once every index is beyond them
//
// One group of frames at a time is written and synced; what is decided meanwhile is the next group (group commit). A frame
// is of one writer. An offset counts bytes from the very first frame on and never goes back.
//
// A group is kept as a whole or not at all, and groups in their order; a group that fails takes with it whatever any writer
// has decided since. So what one node puts is never durable without what another node had put before, as long as somebody
// waits for both: a decision is not, without the intents that it rests upon. A `run` is how long that holds.
//
// Each segment begins with a frame of every writer, an empty one if it has nothing to write: thereby also an index that
// nobody writes to gets beyond the segments before it, and they can be removed.
//
// May import: model, index (the shape of a change), runtime (its interfaces). Knows nothing of items.
import { type Knobs, knobs } from '../model/knobs.js'
import type { FileHandle, FileLayer } from '../runtime/files.js'
import { OutOfSpace } from '../runtime/files.js'
import type { Runtime } from '../runtime/runtime.js'
import { AppendFailed, AppendUnsure } from './errors.js'
import { type Frame, type FrameContent, encodeFrame, frameBytes } from './frame.js'
import { type JournalOwner, NO_OWNER, type Recovered, recoverJournal } from './read-back.js'
import { encodeHeader, encodeSeal, framesFrom, newSegment, SEAL_BYTES, type Segment } from './segment.js'

export interface JournalOptions extends Partial<
  Pick<Knobs, 'segmentBytesMax' | 'reserveBytes' | 'reserveDistanceBytes' | 'scratchBytesMax'>
> {
  readonly files: FileLayer
  readonly runtime: Runtime
  readonly folder: string
  /** The data folder that it belongs to, if it is to be told from others. */
  readonly owner?: JournalOwner
}

/** Somebody who has batches to write: a node. */
export interface Writer {
  /** What is to be written now: everything decided up to this moment. */
  take(): FrameContent
  /** What was taken last is durable; `end` is the offset after it. */
  written(end: number): void
  /** What was taken last was not written (AppendFailed), or nobody knows (AppendUnsure); nor will be what came after. */
  failed(error: AppendFailed | AppendUnsure): void
  /**
   * Whether what it has is to be taken whenever anything is. The log of commits needs all that was put before what is written;
   * what nobody waits for would otherwise come later.
   */
  goesAlong?(): boolean
}

/** What a reader of the whole journal has of it: the log of commits. */
export interface JournalReader {
  /** It has no need of anything before this offset. */
  readonly from: number
  /** A frame behind it, when the journal is read back. */
  replay(frame: Frame): Promise<void>
}

/** What a writer has of the journal. */
export interface JournalShare {
  /** Asks for what the writer has to be taken, as soon as nothing else is being written. */
  hurry(): void
  /** The writer's index holds all of its batches up to that offset. */
  applied(upTo: number): Promise<void>
  /** The last one to leave closes the journal. */
  leave(): Promise<void>
}

/**
 * Reads back what the indexes lack: `from` is, for each writer, the offset up to which its index has been brought.
 * @throws JournalDamaged if a batch that had been durable cannot be read
 */
export async function openJournal(
  options: JournalOptions,
  from: readonly number[],
  replay: (frame: Frame) => Promise<void>,
  reader?: JournalReader,
): Promise<Journal> {
  const { files, folder, owner } = options
  await files.makeFolder(folder)
  const heldUpTo = reader === undefined ? from : [...from, reader.from]
  const recovered = await recoverJournal(
    { files, folder, heldUpTo, ...(owner && { owner }) },
    async (frame) => {
      if (frame.position >= (from[frame.writer] ?? Infinity)) await replay(frame)
      if (reader !== undefined && frame.position >= reader.from) await reader.replay(frame)
    },
  )
  // A segment that was created just before the last end may not have its name on the disk yet.
  await options.files.syncFolder(options.folder)
  return new Journal(options, recovered, from, reader?.from)
}

interface Share {
  readonly writer: Writer
  wanting: boolean
}

export class Journal {
  readonly #options: JournalOptions
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
  /** Offset after the last durable frame. */
  #end: number
  #refusal: AppendUnsure | undefined
  #scratch: Buffer = Buffer.allocUnsafe(64 * 1024)
  /** Length of the current file up to which room is prepared, and the preparation under way. */
  #reservedBytes = 0
  #reserving: Promise<void> | undefined
  #reservingFrom = Infinity
  #trimming: Promise<void> = Promise.resolve()
  readonly #shares: (Share | undefined)[]
  /** Up to where the index of each writer has been brought. */
  readonly #appliedUpTo: number[]
  /** The log of commits needs what stands behind this offset. */
  #readUpTo: number
  #onGroup: (end: number) => void = () => undefined
  #isWriting = false
  readonly #opened: string
  #failures = 0
  #run: string

  constructor(
    options: JournalOptions,
    { segments, end, isOld = false }: Recovered,
    from: readonly number[],
    readUpTo = Infinity,
  ) {
    this.#options = options
    this.#readUpTo = readUpTo
    const tuned = { ...knobs, ...options }
    this.#segmentBytesMax = tuned.segmentBytesMax
    this.#reserveBytes = tuned.reserveBytes
    this.#reserveDistanceBytes = tuned.reserveDistanceBytes
    this.#scratchBytesMax = tuned.scratchBytesMax
    this.#segments = isOld ? [] : segments
    this.#old = isOld ? segments : []
    this.#end = end
    this.#opened = Buffer.from(options.runtime.randomBytes(8)).toString('hex')
    this.#run = `${this.#opened}.0`
    this.#appliedUpTo = [...from]
    this.#shares = from.map(() => undefined)
  }

  /** Offset after the last durable frame. */
  get end(): number {
    return this.#end
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

  /** Set once nothing can be appended before the next start. */
  get refusal(): AppendUnsure | undefined {
    return this.#refusal
  }

  /** Another one after every start and every failure: whatever was decided in a run and not written is gone then. */
  get run(): string {
    return this.#run
  }

  /** Calls back when a group is durable, after all its writers were told; the end of the journal then. */
  onGroup(callback: (end: number) => void): void {
    this.#onGroup = callback
  }

  /** The log of commits has all that stands before this offset. */
  readUpTo(offset: number): void {
    this.#readUpTo = offset
    void this.#trimApplied()
  }

  join(number: number, writer: Writer): JournalShare {
    const share: Share = { writer, wanting: false }
    this.#shares[number] = share
    return {
      hurry: () => {
        share.wanting = true
        if (!this.#isWriting) void this.#write()
      },
      applied: (upTo) => {
        this.#appliedUpTo[number] = upTo
        return this.#trimApplied()
      },
      leave: async () => {
        this.#shares[number] = undefined
        if (this.#shares.every((other) => other === undefined)) await this.#close()
      },
    }
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    while (this.#shares.some((share) => share?.wanting)) {
      // The rest of this turn, so that what is asked for together is written together. Also behind a write: whoever was
      // just answered may write again at once.
      await new Promise<void>((resolve) => this.#options.runtime.defer(resolve))
      await this.#writeGroup()
    }
    this.#isWriting = false
  }

  async #writeGroup(): Promise<void> {
    const segment = this.#goesOnWith()
    const begins = segment === undefined || this.#end === framesFrom(segment)
    const contents: FrameContent[] = []
    const writers: number[] = []
    let ends: readonly number[]
    try {
      for (const [number, share] of this.#shares.entries()) {
        if (share === undefined || !(begins || share.wanting || share.writer.goesAlong?.() === true)) continue
        share.wanting = false
        writers.push(number)
        contents.push(takenFrom(share.writer))
      }
      ends = await this.#append(contents, writers)
    } catch (error) {
      const failure = isAppendError(error) ? error : this.#refuse(error)
      this.#failures++
      this.#run = `${this.#opened}.${this.#failures}`
      for (const share of this.#shares) {
        if (share === undefined) continue
        share.wanting = false
        share.writer.failed(failure)
      }
      return
    }
    for (const [at, number] of writers.entries()) this.#shares[number]?.writer.written(ends[at] as number)
    this.#onGroup(this.#end)
  }

  /** Resolves to the offset after each frame once all are durable. */
  async #append(contents: readonly FrameContent[], writers: readonly number[]): Promise<readonly number[]> {
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
    this.#reserveAhead(handle, at + frames.byteLength)
    return ends
  }

  /** Removes the segments that every index is beyond. The current one stays. */
  #trimApplied(): Promise<void> {
    const before = Math.min(...this.#appliedUpTo, this.#readUpTo)
    const [, second] = this.#segments
    if (second !== undefined && second.start <= before)
      this.#trimming = this.#trimming.then(() => this.#trim(before))
    return this.#trimming
  }

  async #close(): Promise<void> {
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
        throw this.#refuse(error)
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
      if (!(error instanceof OutOfSpace)) throw this.#refuse(error)
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
    if (this.#reserveBytes === 0 || this.#reserving !== undefined || length < this.#reserveDistanceBytes)
      return
    if (length + this.#reserveBytes / 2 < this.#reservedBytes || length >= this.#segmentBytesMax) return
    const from = Math.max(length + this.#reserveDistanceBytes, this.#reservedBytes)
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

/** Nothing of the group is written yet: a writer that cannot say what it has, has failed for certain. */
function takenFrom(writer: Writer): FrameContent {
  try {
    return writer.take()
  } catch (error) {
    throw new AppendFailed(`What was to be written cannot be: ${messageOf(error)}`, { cause: error })
  }
}

const isAppendError = (error: unknown): error is AppendFailed | AppendUnsure =>
  error instanceof AppendFailed || error instanceof AppendUnsure

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
