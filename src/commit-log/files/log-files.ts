// The log of commits in files: append-only, checksummed, in segments, each with an index once it is sealed.
//
//   append --frame, one sync--> [ segment | segment | ... frame, frame, frame ]       commit-log/ of the data folder
//                                 index     index      index in memory, made anew at a start
//                                 ^ trimmed, whole files      ^ never
//
//   read     number --> segment by name --> frame by index --> records (a few frames are kept decoded)
//   numberAt time   --> segment by header of the next --> frame by index --> record
//   ofItem   key    --> bucket in each index --> place in the segment
//
// One append is one frame, and is kept as a whole or not at all. After a failure the file is cut back, and the same records
// can be appended again; if it cannot be cut, nothing is appended before the next start, which cuts it.
//
// A part that is damaged is told to the reader that asks for it (LogDamaged), with the numbers of its records; the rest
// stays readable. Files that are missing, renamed or another folder's are refused when the log is opened.
//
// May import: what the box may. Knows nothing of how records are made.
import { dirname } from 'node:path'
import type { Timestamp } from '../../model/brand.js'
import { type Knobs, knobs } from '../../model/knobs.js'
import { messageOf } from '../../model/message-of.js'
import type { FileHandle } from '../../runtime/files.js'
import type { Runtime } from '../../runtime/runtime.js'
import type { LogItemRead, LogPage, LogRead } from '../commit-log.js'
import type { CommitRecord } from '../commit-record.js'
import { assertFollows } from '../log-page.js'
import type { LogPosition, LogStorage } from '../log-storage.js'
import type { PendingRecords } from '../pending-records.js'
import { GrowingIndex, indexFileOf, type LogIndex } from './log-index.js'
import { itemNumbers, type KeptLog, numberAtTime, readLogPage } from './log-lookups.js'
import { LogReader, writeLogIndex } from './log-reader.js'
import { type KeptLogSegment, type LogFolder, type RecoveredLog, recoverLog } from './log-recovery.js'
import {
  encodeLogHeader,
  encodeLogSeal,
  encodeSlot,
  type KeptSlot,
  LOG_HEADER_BYTES,
  LOG_SEAL_BYTES,
  type LogSegment,
  newLogSegment,
  slotAt,
} from './log-segment.js'
import { PackedRecords } from './packed-records.js'

export interface LogFilesOptions extends LogFolder {
  readonly runtime: Pick<Runtime, 'randomBytes'>
  readonly knobs?: Partial<Knobs>
  /** `begun`: the caller knows that there is a log, so an empty folder is not a new one. */
  readonly state?: 'begun' | 'unknown'
}

/** The records were not written, and nothing is left of them; or, as it says, nothing more is taken before a restart. */
export class LogNotWritten extends Error {
  override readonly name = 'LogNotWritten'
}

/**
 * Opens the log in that folder. A folder in which nothing was appended yet is not made.
 *
 * @example
 * const storage = await openLogFiles({ files: realFiles(), folder: 'data/commit-log', owner, runtime: realRuntime() })
 * @throws LogDamaged if a file is missing, or is not what its name says
 */
export async function openLogFiles(options: LogFilesOptions): Promise<LogStorage> {
  const { files, folder, state = 'unknown' } = options
  const recovered = await recoverLog({ ...options, state })
  if (recovered !== undefined) {
    // What a process left behind may be read and yet not be on the disk: a power cut could still undo it.
    for (const { file } of recovered.segments.slice(-2)) {
      const handle = await files.open(`${folder}/${file}`, { create: false })
      try {
        await handle.truncateSynced(await handle.length())
      } finally {
        await handle.close()
      }
    }
    for (const name of recovered.leftovers) await files.remove(`${folder}/${name}`)
    await files.syncFolder(folder)
  }
  return new LogFiles(options, recovered)
}

class LogFiles implements LogStorage, KeptLog {
  readonly #options: LogFilesOptions
  readonly #knobs: Knobs
  readonly reader: LogReader
  /** In order; the last one grows. */
  #segments: KeptLogSegment[]
  /** Of the last one. */
  #index: GrowingIndex | undefined
  #handle: FileHandle | undefined
  /** Created, and not yet part of the log: the next attempt goes on with it. */
  #begun: LogSegment | undefined
  /** Offset after the last frame of the last segment. */
  #end: number
  /** Something that was never whole follows it. */
  #isTorn: boolean
  #last: number
  #position: LogPosition
  #slot: KeptSlot
  #refusal: LogNotWritten | undefined
  /** Names of files that were let go, and could not be removed. */
  #leftovers: string[] = []
  #heldFrom = Infinity
  #turn: Promise<unknown> = Promise.resolve()
  /** Of records that were kept: used again for the next ones. */
  #spare: Buffer<ArrayBuffer> | undefined

  constructor(options: LogFilesOptions, recovered: RecoveredLog | undefined) {
    this.#options = options
    this.#knobs = { ...knobs, ...options.knobs }
    this.reader = new LogReader({ ...options, knobs: this.#knobs })
    this.#segments = recovered?.segments ?? []
    this.#index = recovered?.index
    this.#end = recovered?.end ?? 0
    this.#isTorn = recovered?.isTorn ?? false
    this.#last = recovered?.last ?? 0
    this.#position = recovered?.position ?? { upTo: 0, number: 0 }
    this.#slot = recovered?.slot ?? { first: 1, turn: 1 }
  }

  get last(): number {
    return this.#last
  }

  get first(): number {
    return this.#segments[0]?.first ?? 1
  }

  get position(): LogPosition {
    return this.#position
  }

  get bytes(): number {
    let bytes = 0
    for (const segment of this.#segments) bytes += segment.bytes + segment.indexBytes
    return bytes
  }

  get folder(): string {
    return this.#options.folder
  }

  get readBytesMax(): number {
    return this.#knobs.logReadBytesMax
  }

  get segments(): readonly KeptLogSegment[] {
    return this.#segments
  }

  indexOf(segment: LogSegment): Promise<LogIndex> {
    const at = this.#segments.findIndex(({ file }) => file === segment.file)
    const next = this.#segments[at + 1]
    return next === undefined
      ? Promise.resolve(this.#index as GrowingIndex)
      : this.reader.indexOf(segment, next.first)
  }

  collect(): PackedRecords {
    const buffer = this.#spare
    this.#spare = undefined
    return new PackedRecords(buffer)
  }

  append(records: PendingRecords | readonly CommitRecord[], position: LogPosition): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#refusal !== undefined) throw this.#refusal
      const packed = records instanceof PackedRecords ? records : PackedRecords.of(records)
      await this.#append(packed, position)
    })
  }

  release(records: PendingRecords): void {
    if (records instanceof PackedRecords && records.buffer.length <= this.#knobs.logSpareBytesMax)
      this.#spare = records.buffer
  }

  read(request: LogRead): Promise<LogPage> {
    return readLogPage(this, request)
  }

  numberAt(timestamp: Timestamp): Promise<number> {
    return numberAtTime(this, timestamp)
  }

  ofItem(request: LogItemRead): Promise<readonly number[]> {
    return itemNumbers(this, request)
  }

  hold(from: number): void {
    this.#heldFrom = from
  }

  trim(before: Timestamp): Promise<number> {
    return this.#inTurn(() => this.#trim(before))
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      const handle = this.#handle
      this.#handle = undefined
      this.#refusal ??= new LogNotWritten('The log of commits is closed.')
      await handle?.close()
    })
  }

  /** What writes does so one after the other. */
  #inTurn<T>(act: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(act)
    this.#turn = result.catch(() => undefined)
    return result
  }

  async #append(records: PackedRecords, position: LogPosition): Promise<void> {
    if (records.length > 0) assertFollows(this.#last, records.first)
    const [segment, handle, index] = await this.#current()
    const offset = this.#end
    try {
      const { bytes, frame } = records.frame({ first: this.#last + 1, position, offset }, segment)
      await this.#write(handle, bytes, offset)
      index.addPacked(records, frame)
      this.#end = offset + frame.bytes
    } catch (error) {
      throw await this.#cutBack(handle, error)
    }
    this.#last += records.length
    this.#position = position
    segment.bytes = this.#end
    segment.newest = index.newest
  }

  /** In pieces: the journal, for which answers wait, writes to the same disk. One that ends in between is torn, as any other. */
  async #write(handle: FileHandle, bytes: Buffer, offset: number): Promise<void> {
    const { logWriteBytes } = this.#knobs
    for (let at = 0; at < bytes.length; at += logWriteBytes)
      await handle.writeSynced(bytes.subarray(at, at + logWriteBytes), offset + at)
  }

  /** The segment that grows, with nothing behind its last frame. */
  async #current(): Promise<readonly [KeptLogSegment, FileHandle, GrowingIndex]> {
    const last = this.#segments.at(-1)
    if (last !== undefined) {
      const handle = await this.#handleOf(last)
      try {
        if (this.#isTorn) await handle.truncateSynced(this.#end)
        this.#isTorn = false
        await this.#index?.whole()
      } catch (error) {
        throw notWritten(error)
      }
    }
    // One without records goes on, whatever its length: the next one would have the same first number.
    const goesOn =
      last !== undefined && (this.#end < this.#knobs.logSegmentBytesMax || this.#last < last.first)
    const segment = goesOn ? last : await this.#nextSegment(last)
    return [segment, await this.#handleOf(segment), this.#index as GrowingIndex]
  }

  async #handleOf({ file }: LogSegment): Promise<FileHandle> {
    const { files, folder } = this.#options
    try {
      this.#handle ??= await files.open(`${folder}/${file}`, { create: false })
      return this.#handle
    } catch (error) {
      throw notWritten(error)
    }
  }

  /** In the order that ./log-segment.ts gives. */
  async #nextSegment(last: KeptLogSegment | undefined): Promise<KeptLogSegment> {
    const { files, folder, owner, runtime } = this.#options
    const next = (this.#begun ??= newLogSegment(this.#last + 1, seedFrom(runtime.randomBytes(4))))
    const index = this.#index
    const previous = last &&
      index && {
        ...last,
        bytes: this.#end + LOG_SEAL_BYTES,
        indexBytes: index.fileBytes,
        newest: index.newest,
      }
    let handle: FileHandle | undefined
    try {
      if (last === undefined) {
        await files.makeFolder(folder)
        await files.syncFolder(dirname(folder))
      }
      handle = await files.open(`${folder}/${next.file}`, { create: true })
      const header = { ...next, owner, position: this.#position, previous }
      await handle.writeSynced(encodeLogHeader(header, last === undefined ? next.first : this.first), 0)
      await files.syncFolder(folder)
      if (last !== undefined) await this.#seal(last, next)
    } catch (error) {
      await handle?.close().catch(() => undefined)
      throw notWritten(error)
    }
    if (last !== undefined && index !== undefined && previous !== undefined) {
      Object.assign(last, { bytes: previous.bytes, indexBytes: previous.indexBytes, newest: previous.newest })
      this.#closed(last, index, next.first)
    }
    const segment: KeptLogSegment = { ...next, bytes: LOG_HEADER_BYTES, indexBytes: 0, newest: -1 }
    this.#segments = [...this.#segments, segment]
    this.#begun = undefined
    this.#index = new GrowingIndex(next)
    this.#handle = handle
    this.#end = LOG_HEADER_BYTES
    this.#slot = { first: this.first, turn: 1 }
    return segment
  }

  /** Says in the last segment which one follows, and closes it. */
  async #seal(last: LogSegment, next: LogSegment): Promise<void> {
    const handle = await this.#handleOf(last)
    try {
      await handle.writeSynced(encodeLogSeal(last, this.#end, next), this.#end)
    } catch (error) {
      throw await this.#cutBack(handle, error)
    }
    this.#handle = undefined
    await handle.close().catch(() => undefined)
  }

  /** Its index becomes a file, behind the append. Without one, it is made anew when it is needed. */
  #closed(segment: LogSegment, index: GrowingIndex, end: number): void {
    this.reader.keepIndex(segment, index)
    if (index.gaps.length > 0) return
    void this.#inTurn(async () => {
      if (this.#segments.some(({ file }) => file === segment.file))
        await writeLogIndex(this.#options, segment, index, end).catch(() => undefined)
    })
  }

  async #cutBack(handle: FileHandle, error: unknown): Promise<LogNotWritten> {
    try {
      await handle.truncateSynced(this.#end)
      return notWritten(error)
    } catch (cause) {
      this.#refusal = new LogNotWritten(
        `The log of commits could not be written (${messageOf(error)}), and not be cut back to what it was ` +
          `(${messageOf(cause)}). It takes no more records before a restart.`,
        { cause },
      )
      return this.#refusal
    }
  }

  async #trim(before: Timestamp): Promise<number> {
    const { files, folder } = this.#options
    let gone = 0
    for (const [at, segment] of this.#segments.slice(0, -1).entries()) {
      if ((this.#segments[at + 1] as KeptLogSegment).first > this.#heldFrom) break
      if (!((await this.#newestOf(segment)) < before)) break
      gone++
    }
    const [kept, current] = [this.#segments[gone], this.#segments.at(-1)]
    if (gone > 0 && kept !== undefined && current !== undefined) {
      const slot = { first: kept.first, turn: this.#slot.turn + 1 }
      const handle = await this.#handleOf(current)
      await handle.writeSynced(encodeSlot(current, slot), slotAt(slot.turn))
      this.#slot = slot
      for (const segment of this.#segments.slice(0, gone)) {
        this.reader.forget(segment)
        this.#leftovers.push(indexFileOf(segment), segment.file)
      }
      this.#segments = this.#segments.slice(gone)
    }
    if (this.#leftovers.length > 0) {
      const names = new Set(await files.list(folder))
      while (this.#leftovers[0] !== undefined) {
        if (names.has(this.#leftovers[0])) await files.remove(`${folder}/${this.#leftovers[0]}`)
        this.#leftovers.shift()
      }
      await files.syncFolder(folder)
    }
    return this.first
  }

  /** Infinity: what it holds is not known in full. */
  async #newestOf(segment: KeptLogSegment): Promise<number> {
    if (segment.newest !== undefined) return segment.newest
    const { frames, gaps } = await this.indexOf(segment)
    segment.newest = gaps.length > 0 ? Infinity : Math.max(-1, ...frames.map(({ newest }) => newest))
    return segment.newest
  }
}

const seedFrom = (bytes: Uint8Array): number => Buffer.from(bytes).readUInt32BE(0)

const notWritten = (error: unknown): LogNotWritten =>
  error instanceof LogNotWritten
    ? error
    : new LogNotWritten(`The log of commits could not be written: ${messageOf(error)}`, { cause: error })
