// The file of a backup: the items of one table as they were at one timestamp.
//
//   items    as they were found, page by page, while writers went on
//   undo     of every change after the timestamp that a page may have seen: the item before it. Applied from the last to the
//            first, so that the oldest has the last word
//   redo     changes that follow the timestamp, in their order, where the backup is of a later moment than its pages
//
// Written under another name and renamed: a backup that has a name is whole. What is read is checked, frame by frame, and a
// frame that is not as it was written is an error, never left out (docs/adr/0038).
import { asBuffer } from '../line/record.js'
import { knobs } from '../model/knobs.js'
import type { DraftFile, WholeFile, WholeFiles } from '../runtime/whole-files.js'
import {
  BACKUP_FORMAT,
  BackupDamaged,
  type BackupEntry,
  decodeEntries,
  decodeBackupHead,
  encodeEntries,
  encodeBackupFrame,
  entryBytes,
  BACKUP_FRAME_HEADER_BYTES,
  type FrameHead,
  type FrameKind,
  isWhole,
  TRAILER_BYTES,
} from './backup-frame.js'

export type EntryKind = 'items' | 'undo' | 'redo'

/** What stands at the beginning of the file; `about` is the caller's. */
export interface BackupHead<About> {
  readonly format: number
  readonly seed: number
  readonly about: About
}

interface BackupEnd {
  readonly frames: number
  /** Entries of each kind. */
  readonly entries: Readonly<Record<EntryKind, number>>
  /** Where frames of undo begin, in the order of the file. */
  readonly undo: readonly number[]
  readonly redoFrom: number
}

interface BeginOptions {
  readonly seed: number
  readonly about: unknown
  /** Small enough that the journal, on the same disk, is not kept waiting. */
  readonly frameBytes?: number | undefined
}

export class BackupWriter {
  readonly #file: DraftFile
  readonly #seed: number
  readonly #frameBytes: number
  #frames = 0
  #length = 0
  #kind: EntryKind = 'items'
  #entries: BackupEntry[] = []
  #bytes = 0
  readonly #counts = { items: 0, undo: 0, redo: 0 }
  readonly #undo: number[] = []
  #redoFrom: number | undefined

  private constructor(file: DraftFile, seed: number, frameBytes: number) {
    this.#file = file
    this.#seed = seed
    this.#frameBytes = frameBytes
  }

  static async begin(
    files: WholeFiles,
    name: string,
    { seed, about, frameBytes = knobs.copyFrameBytes }: BeginOptions,
  ): Promise<BackupWriter> {
    const writer = new BackupWriter(await files.create(name), seed, frameBytes)
    try {
      // The header is read before the seed is known.
      await writer.#frame('header', Buffer.from(JSON.stringify({ format: BACKUP_FORMAT, seed, about })), 0)
      return writer
    } catch (error) {
      await writer.abandon()
      throw error
    }
  }

  /** Entries of a kind stand together: items, then undo, then redo. */
  async add(kind: EntryKind, entries: readonly BackupEntry[]): Promise<void> {
    if (kind !== this.#kind) await this.#flush()
    this.#kind = kind
    for (const entry of entries) {
      this.#entries.push(entry)
      this.#bytes += entryBytes(entry)
      if (this.#bytes >= this.#frameBytes) await this.#flush()
    }
  }

  async finish(): Promise<void> {
    await this.#flush()
    const end: BackupEnd = {
      frames: this.#frames,
      entries: this.#counts,
      undo: this.#undo,
      redoFrom: this.#redoFrom ?? this.#length,
    }
    const trailer = Buffer.alloc(TRAILER_BYTES)
    trailer.writeDoubleBE(this.#length)
    await this.#frame('end', Buffer.from(JSON.stringify(end)), this.#seed)
    await this.#file.append(trailer)
    await this.#file.finish()
  }

  abandon(): Promise<void> {
    return this.#file.abandon()
  }

  async #flush(): Promise<void> {
    if (this.#entries.length === 0) return
    const entries = this.#entries
    this.#entries = []
    this.#bytes = 0
    this.#counts[this.#kind] += entries.length
    if (this.#kind === 'undo') this.#undo.push(this.#length)
    if (this.#kind === 'redo') this.#redoFrom ??= this.#length
    await this.#frame(this.#kind, encodeEntries(entries), this.#seed)
  }

  async #frame(kind: FrameKind, body: Uint8Array, seed: number): Promise<void> {
    const frame = encodeBackupFrame(kind, this.#frames++, seed, body)
    await this.#file.append(frame)
    this.#length += frame.length
  }
}

export class BackupReader<About> {
  readonly #file: WholeFile
  readonly #name: string
  readonly head: BackupHead<About>
  readonly #end: BackupEnd
  readonly #itemsFrom: number

  private constructor(file: WholeFile, name: string, head: BackupHead<About>, from: number, end: BackupEnd) {
    this.#file = file
    this.#name = name
    this.head = head
    this.#itemsFrom = from
    this.#end = end
  }

  /** @throws BackupDamaged */
  static async open<About>(files: WholeFiles, name: string): Promise<BackupReader<About>> {
    const file = await files.open(name)
    try {
      const first = await frameAt(file, name, 0, 0)
      if (first.kind !== 'header') throw damaged(name, 0)
      const head = JSON.parse(first.body.toString()) as BackupHead<About>
      if (head.format !== BACKUP_FORMAT)
        throw new BackupDamaged(
          `The backup ${name} has format ${head.format}, and this version reads format ${BACKUP_FORMAT}.`,
        )
      const trailer = asBuffer(await file.read(file.length - TRAILER_BYTES, TRAILER_BYTES))
      const endAt = trailer.length === TRAILER_BYTES ? trailer.readDoubleBE() : NaN
      if (!Number.isSafeInteger(endAt) || endAt < first.end || endAt > file.length)
        throw damaged(name, file.length)
      const last = await frameAt(file, name, endAt, head.seed)
      if (last.kind !== 'end' || last.end + TRAILER_BYTES !== file.length) throw damaged(name, endAt)
      const end = JSON.parse(last.body.toString()) as BackupEnd
      if (end.frames !== last.number) throw damaged(name, endAt)
      return new BackupReader(file, name, head, first.end, end)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  get bytes(): number {
    return this.#file.length
  }

  /** Entries of each kind. */
  get entries(): BackupEnd['entries'] {
    return this.#end.entries
  }

  /**
   * Everything in the order in which it is applied to an empty table, a frame at a time.
   * @throws BackupDamaged
   */
  async *read(): AsyncGenerator<readonly BackupEntry[], void, undefined> {
    yield* this.readChanges(yield* this.readItems())
  }

  /** Items as they were found, each key once: the first part of all. Returns how many frames it had, with the header. */
  async *readItems(): AsyncGenerator<readonly BackupEntry[], number, undefined> {
    let at = this.#itemsFrom
    let number = 1
    for (; at < this.#changesFrom; number++) {
      const frame = await this.#next(at, 'items', number)
      yield [...decodeEntries(frame.body)]
      at = frame.end
    }
    return number
  }

  /** What is applied to them: the rest. `framesBefore`: those in front of it; as its first frame says if they were not read. */
  async *readChanges(framesBefore?: number): AsyncGenerator<readonly BackupEntry[], void, undefined> {
    const { undo, redoFrom, frames } = this.#end
    let at = redoFrom
    let number = framesBefore ?? (await this.#numberAt(this.#changesFrom))
    // Each is the number of frames from the first of them on.
    for (const [place, offset] of [...undo.entries()].toReversed()) {
      const frame = await this.#next(offset, 'undo', number + place)
      yield [...decodeEntries(frame.body)].toReversed()
    }
    number += undo.length
    for (; number < frames; number++) {
      const frame = await this.#next(at, 'redo', number)
      yield [...decodeEntries(frame.body)]
      at = frame.end
    }
  }

  get #changesFrom(): number {
    return this.#end.undo[0] ?? this.#end.redoFrom
  }

  async #numberAt(at: number): Promise<number> {
    return decodeBackupHead(await this.#file.read(at, BACKUP_FRAME_HEADER_BYTES))?.number ?? 0
  }

  async #next(at: number, kind: EntryKind, number: number): Promise<Frame> {
    const frame = await frameAt(this.#file, this.#name, at, this.head.seed)
    if (frame.kind !== kind || frame.number !== number) throw damaged(this.#name, at)
    return frame
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

interface Frame extends FrameHead {
  readonly body: Buffer
  /** The offset behind it. */
  readonly end: number
}

async function frameAt(file: WholeFile, name: string, at: number, seed: number): Promise<Frame> {
  const head = decodeBackupHead(await file.read(at, BACKUP_FRAME_HEADER_BYTES))
  if (head === undefined) throw damaged(name, at)
  const length = BACKUP_FRAME_HEADER_BYTES + head.bodyBytes
  const bytes = asBuffer(await file.read(at, length))
  if (!isWhole(bytes, head, seed)) throw damaged(name, at)
  return { ...head, body: bytes.subarray(BACKUP_FRAME_HEADER_BYTES), end: at + length }
}

const damaged = (name: string, at: number): BackupDamaged =>
  new BackupDamaged(`The backup ${name} is damaged at byte ${at}: it cannot be restored.`)
