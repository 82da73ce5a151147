// A dump: all that nodes in memory hold, in one file.
//
//   image --> head | entries of node 0 | entries of node 1 ... | records of the log | end --> file, under another name, renamed
//   file --> each block checked --> image, once the last block was there
//
// It holds what an image holds, when no transaction is under way: entries of the index as the nodes have them, so that its
// format changes with them (docs/reference/folder-formats.md).
import { isSystemError } from '../../model/message-of.js'
import type { CommitRecord, LoggedChange } from '../../commit-log/commit-record.js'
import { type ChangeEntry, decodeLogEntry, encodeLogEntry } from '../../commit-log/entries.js'
import { Assembler } from '../../commit-log/assembler.js'
import { memoryLogStorage, type MemoryLogStorage } from '../../commit-log/memory-log.js'
import { DumpRefused } from '../../line/errors.js'
import { type KeyBytes, lsn, timestamp } from '../../model/brand.js'
import { memoryMap, type MemoryMap } from '../../ordered-map/memory-map.js'
import { readPieces, writePieces } from '../../runtime/large-files.js'
import type { MemoryImage } from '../node/memory-nodes.js'
import { type Block, decodeBlocks, encodeBlocks, NotADump } from './dump-blocks.js'

interface Head {
  readonly nodes: number
  readonly timestamp: number
  readonly lsn: number
  /** Of the log of commits, if there is one. */
  readonly log?: { readonly first: number; readonly last: number; readonly horizon: number }
}

interface Totals {
  readonly entries: number
  readonly records: number
}

/** With the entry that brings it there, a block ends. */
const BLOCK_BYTES = 256 * 1024
const NODE_BYTES = 2
/** Beyond every key. */
const END = '\xff'.repeat(16) as KeyBytes

/**
 * Writes an image in which no transaction is under way. A file of that name is replaced once all is written.
 *
 * @example
 * await writeDump('fixtures.dump', memory.image())
 */
export async function writeDump(file: string, image: MemoryImage): Promise<void> {
  if (!image.log.state.assembler.isSettled) throw new Error('a transaction is under way in what is dumped')
  const records = await recordsOf(image)
  try {
    await writePieces(file, encodeBlocks(blocksOf(image, records)))
  } catch (error) {
    throw isSystemError(error)
      ? new DumpRefused(`The dump ${file} cannot be written: ${error.message}.`, { cause: error })
      : error
  }
}

/**
 * What a dump holds.
 * @throws DumpRefused with a sentence, if it cannot be read, was damaged, or is of a format that is not known here
 */
export async function readDump(file: string): Promise<MemoryImage> {
  try {
    const reading = new Reading()
    for await (const block of decodeBlocks(readPieces(file))) await reading.take(block)
    return reading.image()
  } catch (error) {
    if (error instanceof NotADump)
      throw new DumpRefused(`The file ${file} ${error.message}.`, { cause: error })
    if (isSystemError(error))
      throw new DumpRefused(`The dump ${file} cannot be read: ${error.message}.`, { cause: error })
    throw error
  }
}

/** They are in memory, as all of the store is. */
async function recordsOf({ log: { storage, state } }: MemoryImage): Promise<readonly CommitRecord[]> {
  if (storage === undefined) return []
  const records: CommitRecord[] = []
  for (let from = storage.first; from <= storage.last;) {
    const page = await storage.read({ from, recordsMax: Infinity, bytesMax: Infinity })
    records.push(...page.records)
    from = page.next
  }
  return [...records, ...state.onItsWay]
}

function* blocksOf({ maps, clock, log }: MemoryImage, records: readonly CommitRecord[]): Iterable<Block> {
  const { storage, state } = log
  const head: Head = {
    nodes: maps.length,
    ...clock,
    ...(storage && { log: { first: storage.first, last: state.last, horizon: state.horizon } }),
  }
  yield { kind: 'head', body: Buffer.from(JSON.stringify(head)) }
  let entries = 0
  const everything = { from: '' as KeyBytes, to: END, reverse: false }
  for (const [node, map] of maps.entries()) {
    const prefix = Buffer.alloc(NODE_BYTES)
    prefix.writeUInt16BE(node)
    for (const body of bodiesOf(map.range(everything), entryBytes)) {
      entries += body.count
      yield { kind: 'entries', body: Buffer.concat([prefix, ...body.parts]) }
    }
  }
  for (const { parts } of bodiesOf(changesOf(records), (entry) => [changeBytes(entry)]))
    yield { kind: 'records', body: Buffer.concat(parts) }
  const totals: Totals = { entries, records: records.length }
  yield { kind: 'end', body: Buffer.from(JSON.stringify(totals)) }
}

function* changesOf(records: readonly CommitRecord[]): Iterable<ChangeEntry> {
  for (const { number, timestamp: at, tx, changes } of records)
    for (const change of changes)
      yield { kind: 'change', of: 'step', order: number, timestamp: at, ...(tx && { tx }), change }
}

function changeBytes(entry: ChangeEntry): Buffer {
  const encoded = encodeLogEntry(entry, () => false)
  const bytes = Buffer.allocUnsafe(encoded.byteLength)
  encoded.writeTo(bytes, 0)
  return bytes
}

const entryBytes = ([key, value]: readonly [KeyBytes, Uint8Array]): readonly Uint8Array[] => [
  Buffer.from(key, 'latin1'),
  value,
]

/** The parts of each, with their lengths, collected to the size of a block. */
function* bodiesOf<T>(
  all: Iterable<T>,
  encode: (each: T) => readonly Uint8Array[],
): Iterable<{ readonly parts: readonly Uint8Array[]; readonly count: number }> {
  let parts: Uint8Array[] = []
  let [count, bytes] = [0, 0]
  for (const each of all) {
    for (const part of encode(each)) {
      const length = Buffer.allocUnsafe(4)
      length.writeUInt32BE(part.length)
      parts.push(length, part)
      bytes += length.length + part.length
    }
    count++
    if (bytes < BLOCK_BYTES) continue
    yield { parts, count }
    parts = []
    ;[count, bytes] = [0, 0]
  }
  if (count > 0) yield { parts, count }
}

function* partsOf(body: Buffer): Iterable<Buffer> {
  for (let at = 0; at < body.length;) {
    const from = at + 4
    at = from + body.readUInt32BE(at)
    yield body.subarray(from, at)
  }
}

/** Changes are still added to it. */
type GrowingRecord = CommitRecord & { readonly changes: LoggedChange[] }

/** An image as far as its dump was read. */
class Reading {
  #head: Head | undefined
  #totals: Totals | undefined
  #maps: MemoryMap[] = []
  #log: MemoryLogStorage | undefined
  #record: GrowingRecord | undefined
  #entries = 0
  #records = 0

  async take({ kind, body }: Block): Promise<void> {
    if (this.#totals !== undefined || (kind === 'head') !== (this.#head === undefined))
      throw new NotADump('is damaged: its blocks are not in order')
    switch (kind) {
      case 'head':
        return this.#begin(JSON.parse(body.toString()) as Head)
      case 'entries':
        return this.#takeEntries(body)
      case 'records':
        return this.#takeRecords(body)
      case 'end':
        await this.#keep(undefined)
        this.#totals = JSON.parse(body.toString()) as Totals
    }
  }

  image(): MemoryImage {
    const [head, totals] = [this.#head, this.#totals]
    if (head === undefined || totals === undefined)
      throw new NotADump('is damaged: it ends before all was written')
    if (totals.entries !== this.#entries || totals.records !== this.#records)
      throw new NotADump('is damaged: it does not hold what it says')
    const { log = { last: 0, horizon: 1 } } = head
    return {
      maps: this.#maps,
      clock: { timestamp: timestamp(head.timestamp), lsn: lsn(head.lsn) },
      log: {
        storage: this.#log,
        state: { assembler: new Assembler(), onItsWay: [], last: log.last, horizon: log.horizon },
      },
    }
  }

  #begin(head: Head): void {
    this.#head = head
    this.#maps = Array.from({ length: head.nodes }, () => memoryMap())
    if (head.log !== undefined) this.#log = memoryLogStorage({ first: head.log.first })
  }

  #takeEntries(body: Buffer): void {
    const map = this.#maps[body.readUInt16BE(0)]
    if (map === undefined) throw new NotADump('is damaged: it has more nodes than it says')
    let key: KeyBytes | undefined
    for (const part of partsOf(body.subarray(NODE_BYTES))) {
      if (key === undefined) key = part.toString('latin1') as KeyBytes
      else {
        // A copy of its own: one entry that stays must not keep its whole block.
        void map.apply([[key, Uint8Array.prototype.slice.call(part)]], 0)
        this.#entries++
        key = undefined
      }
    }
  }

  async #takeRecords(body: Buffer): Promise<void> {
    for (const part of partsOf(body)) {
      const entry = decodeLogEntry(Buffer.from(part), noImage) as ChangeEntry
      const record = this.#record
      if (record?.number === entry.order) record.changes.push(entry.change)
      else
        await this.#keep({
          number: entry.order,
          timestamp: entry.timestamp,
          ...(entry.tx && { tx: entry.tx }),
          changes: [entry.change],
        })
    }
  }

  /** The record before is whole. */
  async #keep(next: GrowingRecord | undefined): Promise<void> {
    const whole = this.#record
    this.#record = next
    if (whole === undefined) return
    if (this.#log === undefined) throw new NotADump('is damaged: it has records, and says that it has none')
    this.#records++
    await this.#log.append([whole], { upTo: 0, number: whole.number })
  }
}

const noImage = (): never => {
  throw new NotADump('is damaged: a record refers to what is not there')
}
