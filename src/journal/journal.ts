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
import { messageOf } from '../model/message-of.js'
import { Appender, type AppenderOptions } from './appender.js'
import { AppendFailed, AppendUnsure } from './errors.js'
import type { Frame, FrameContent } from './frame.js'
import { type Recovered, recoverJournal } from './read-back.js'

export type JournalOptions = AppenderOptions

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
  readonly #appender: Appender
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

  constructor(options: JournalOptions, recovered: Recovered, from: readonly number[], readUpTo = Infinity) {
    this.#options = options
    this.#readUpTo = readUpTo
    this.#appender = new Appender(options, recovered)
    this.#opened = Buffer.from(options.runtime.randomBytes(8)).toString('hex')
    this.#run = `${this.#opened}.0`
    this.#appliedUpTo = [...from]
    this.#shares = from.map(() => undefined)
  }

  /** Offset after the last durable frame. */
  get end(): number {
    return this.#appender.end
  }

  /**
   * Begins the first segment, if there is none of this format, and removes those of an old one. All indexes hold what stands
   * in them.
   */
  begin(): Promise<void> {
    return this.#appender.begin()
  }

  /** Set once nothing can be appended before the next start. */
  get refusal(): AppendUnsure | undefined {
    return this.#appender.refusal
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
        if (this.#shares.every((other) => other === undefined)) await this.#appender.close()
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
    const begins = this.#appender.beginsSegment
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
      ends = await this.#appender.append(contents, writers)
    } catch (error) {
      const failure = isAppendError(error) ? error : this.#appender.refuse(error)
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
    this.#onGroup(this.#appender.end)
  }

  /** Removes the segments that every index is beyond. The current one stays. */
  #trimApplied(): Promise<void> {
    const before = Math.min(...this.#appliedUpTo, this.#readUpTo)
    return this.#appender.trimBefore(before)
  }
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
