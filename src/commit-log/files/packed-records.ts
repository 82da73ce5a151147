// Records on their way to a file of the log, packed as a frame has them: encoded once, when they come, and written from where they
// are. Kept as objects until then they would grow old, and the collector would move them twice before they go.
//
//   | room for the header of the frame and the ids of its tables | record, record, record ... | room
//                                                                ^ offsets are counted from here until the frame has a place
import type { KeyBytes, SpaceId, Timestamp } from '../../model/brand.js'
import { hashBytes } from '../../model/key-bytes.js'
import type { CommitRecord } from '../commit-record.js'
import type { LogPosition } from '../log-storage.js'
import type { PendingRecords } from '../pending-records.js'
import {
  type ChangeVisitor,
  decodeRecord,
  encodeRecord,
  LOG_FRAME_HEADER_BYTES,
  type LogFrame,
  recordBytesMax,
  timestampOfRecord,
  SPACE_BYTES,
  writeFrameHeader,
} from './log-frame.js'
import { spaceHash } from './log-index.js'
import type { LogSegment } from './log-segment.js'

/** What a change needs in the index: its hash without the seed of a segment, the place of its record, its offset. */
const NOTE_NUMBERS = 3
const SPACES_ROOM = 64
const FIRST_BYTES = 64 * 1024
/** No frame is longer than a length of four bytes says, without its highest bit. */
const FRAME_BYTES_MAX = 2 ** 31

export interface PackedPlace {
  readonly first: number
  readonly position: LogPosition
  /** In its file. */
  readonly offset: number
}

export class PackedRecords implements PendingRecords {
  #buffer: Buffer<ArrayBuffer>
  /** Where the records begin. */
  #start = LOG_FRAME_HEADER_BYTES + SPACES_ROOM * SPACE_BYTES
  #end = this.#start
  #length = 0
  /** Of each record, from the first one on. */
  #offsets = new Uint32Array(64)
  #notes = new Uint32Array(NOTE_NUMBERS * 64)
  #changes = 0
  #first = 0
  #oldest = Infinity
  #newest = -1
  readonly #spaces = new Set<SpaceId>()

  /** `buffer`: one that nobody looks at any more. */
  constructor(buffer = Buffer.allocUnsafeSlow(FIRST_BYTES)) {
    this.#buffer = buffer
  }

  static of(records: Iterable<CommitRecord>): PackedRecords {
    const packed = new PackedRecords()
    for (const record of records) packed.add(record)
    return packed
  }

  get length(): number {
    return this.#length
  }

  get bytes(): number {
    return this.#end - this.#start
  }

  /** The number of the first record. */
  get first(): number {
    return this.#first
  }

  /** What is to be used again, once nobody looks at the records any more. */
  get buffer(): Buffer<ArrayBuffer> {
    return this.#buffer
  }

  add(record: CommitRecord): void {
    const { number, timestamp } = record
    if (this.#length === 0) this.#first = number
    else if (number !== this.#first + this.#length)
      throw new Error(
        `Record ${number} of the log of commits was to follow ${this.#first + this.#length - 1}.`,
      )
    const from = this.#end
    this.#makeRoom(from + recordBytesMax(record))
    this.#end = encodeRecord(this.#buffer, from, record, this.#note)
    if (this.#length === this.#offsets.length) this.#offsets = grown(this.#offsets)
    this.#offsets[this.#length++] = from - this.#start
    if (timestamp < this.#oldest) this.#oldest = timestamp
    if (timestamp > this.#newest) this.#newest = timestamp
    if (this.#spaces.size * SPACE_BYTES > this.#start - LOG_FRAME_HEADER_BYTES) this.#widen()
  }

  readonly #note: ChangeVisitor = (_, space, key, offset) => {
    const at = this.#changes * NOTE_NUMBERS
    if (at === this.#notes.length) this.#notes = grown(this.#notes)
    this.#notes[at] = hashBytes(key) ^ spaceHash(space)
    this.#notes[at + 1] = this.#length
    this.#notes[at + 2] = offset - this.#start
    this.#changes++
    this.#spaces.add(space)
  }

  #makeRoom(end: number): void {
    if (end <= this.#buffer.length) return
    if (end > FRAME_BYTES_MAX) throw new Error(`The log of commits was given ${end} bytes in one append.`)
    const larger = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.#buffer.length))
    this.#buffer.copy(larger, 0, 0, this.#end)
    this.#buffer = larger
  }

  /** More tables than there is room for in front. */
  #widen(): void {
    const more = this.#start
    this.#makeRoom(this.#end + more)
    this.#buffer.copyWithin(this.#start + more, this.#start, this.#end)
    this.#start += more
    this.#end += more
  }

  /** Copied: the buffer is used again. */
  at(nth: number): CommitRecord {
    const from = this.#start + (this.#offsets[nth] as number)
    const to = nth + 1 < this.#length ? this.#start + (this.#offsets[nth + 1] as number) : this.#end
    return decodeRecord(Buffer.from(this.#buffer.subarray(from, to)), 0, this.#first + nth)
  }

  *[Symbol.iterator](): Iterator<CommitRecord> {
    for (let nth = 0; nth < this.#length; nth++) yield this.at(nth)
  }

  /** The bytes of the frame, which are good until a record is added. */
  frame(
    place: PackedPlace,
    segment: Pick<LogSegment, 'seed'>,
  ): { readonly bytes: Buffer; readonly frame: LogFrame } {
    const spaces = [...this.#spaces]
    let at = this.#start - spaces.length * SPACE_BYTES
    const bytes = this.#buffer.subarray(at - LOG_FRAME_HEADER_BYTES, this.#end)
    for (const space of spaces) at = this.#buffer.writeUInt32BE(space, at)
    const { first, position, offset } = place
    const frame: LogFrame = {
      offset,
      bytes: bytes.length,
      first,
      end: first + this.#length,
      position,
      oldest: this.#length === 0 ? 0 : this.#oldest,
      newest: this.#newest,
      spaces,
    }
    writeFrameHeader(bytes, frame, segment)
    return { bytes, frame }
  }

  /** Tells of each change of a frame at that place, for the index: its hash but for the seed, its number, its offset. */
  eachNote(
    { first, offset, spaces }: LogFrame,
    note: (hash: number, number: number, offset: number) => void,
  ): void {
    const recordsAt = offset + LOG_FRAME_HEADER_BYTES + spaces.length * SPACE_BYTES
    const notes = this.#notes
    for (let at = 0; at < this.#changes * NOTE_NUMBERS; at += NOTE_NUMBERS)
      note(notes[at]!, first + notes[at + 1]!, recordsAt + notes[at + 2]!)
  }

  firstAt(timestamp: Timestamp): number | undefined {
    if (this.#newest < timestamp) return undefined
    for (let nth = 0; nth < this.#length; nth++)
      if (timestampOfRecord(this.#buffer, this.#start + this.#offsets[nth]!) >= timestamp) return nth
    return undefined
  }

  numbersOf(space: SpaceId, key: KeyBytes): readonly number[] {
    const hash = (hashBytes(key) ^ spaceHash(space)) >>> 0
    const found: number[] = []
    for (let at = 0; at < this.#changes * NOTE_NUMBERS; at += NOTE_NUMBERS) {
      const nth = this.#notes[at + 1]!
      if (this.#notes[at] !== hash || found.at(-1) === this.#first + nth) continue
      if (this.at(nth).changes.some((change) => change.space === space && change.key === key))
        found.push(this.#first + nth)
    }
    return found
  }
}

function grown(numbers: Uint32Array): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(2 * numbers.length)
  larger.set(numbers)
  return larger
}
