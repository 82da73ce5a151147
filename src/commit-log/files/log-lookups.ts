// How readers find records in the files of the log: by number, by time and by item.
import type { SpaceId, Timestamp } from '../../model/brand.js'
import type { LogItemRead, LogPage, LogRead } from '../commit-log.js'
import type { CommitRecord } from '../commit-record.js'
import { emptyPage, logConcerns, LogPageBuilder, trimmed } from '../log-page.js'
import { unreadableRecords } from './log-damage.js'
import { isOfItem, itemBytesOfChange } from './log-frame.js'
import { type IndexedFrame, itemHash, type LogIndex } from './log-index.js'
import { bufferOver, isLogDamage, type LogReader } from './log-reader.js'
import type { KeptLogSegment } from './log-recovery.js'
import type { LogGap } from './log-scan.js'
import type { LogSegment } from './log-segment.js'

/** The log as it is now. It may be trimmed and appended to while a lookup waits for the disk. */
export interface KeptLog {
  readonly first: number
  readonly last: number
  readonly folder: string
  readonly readBytesMax: number
  readonly segments: readonly KeptLogSegment[]
  readonly reader: LogReader
  indexOf(segment: LogSegment): Promise<LogIndex>
}

export async function readLogPage(log: KeptLog, request: LogRead): Promise<LogPage> {
  const { from } = request
  if (from < log.first) throw trimmed(from, log.first)
  if (from > log.last) return emptyPage(from)
  const page = new LogPageBuilder(request)
  try {
    await fill(log, page, request)
  } catch (error) {
    // Its file may have gone while it was read.
    if (from < log.first) throw trimmed(from, log.first)
    // What came before the damage is given first.
    if (page.next === from || !isLogDamage(error)) throw error
  }
  return page.page()
}

async function fill(log: KeptLog, page: LogPageBuilder, { spaces }: LogRead): Promise<void> {
  let lookedAtBytes = 0
  while (page.next <= log.last && !page.isFull) {
    const segment = segmentOf(log, page.next)
    const index = await log.indexOf(segment)
    lookedAtBytes += index.headBytes
    for (let at = firstFrameFrom(index, page.next); at < index.frames.length; at++) {
      const frame = index.frames[at] as IndexedFrame
      if (frame.first > page.next) throw damageAt(log, segment, index, page.next)
      if (!logConcerns(spaces, frame.spaces)) {
        page.skipTo(frame.end)
        continue
      }
      lookedAtBytes += frame.bytes
      for (const record of (await log.reader.recordsOf(segment, frame)).slice(page.next - frame.first)) {
        page.add(record)
        if (page.isFull) return
      }
      if (lookedAtBytes >= log.readBytesMax) return
    }
    const next = log.segments.find(({ first }) => first > segment.first)
    if (next === undefined) return
    if (next.first > page.next) throw damageAt(log, segment, index, page.next)
    if (lookedAtBytes >= log.readBytesMax) return
  }
}

/** Where a record might be of which nothing is known, it is taken for one of that time. */
export async function numberAtTime(log: KeptLog, timestamp: Timestamp): Promise<number> {
  for (const segment of log.segments) {
    if (segment.newest !== undefined && segment.newest < timestamp && !isGrowing(log, segment)) continue
    let number: number | undefined
    try {
      number = await numberIn(log, segment, timestamp)
    } catch (error) {
      // Trimmed meanwhile: its records do not count.
      if (segment.first >= log.first) throw error
    }
    if (number !== undefined && number >= log.first) return number
  }
  return log.last + 1
}

async function numberIn(
  log: KeptLog,
  segment: LogSegment,
  timestamp: Timestamp,
): Promise<number | undefined> {
  const { frames, gaps } = await log.indexOf(segment)
  const frame = frames.find(({ newest }) => newest >= timestamp)
  const [gap] = gaps
  if (gap !== undefined && (frame === undefined || gap.first < frame.first)) return gap.first
  if (frame === undefined) return undefined
  try {
    const records = await log.reader.recordsOf(segment, frame)
    return records.find((record) => record.timestamp >= timestamp)?.number
  } catch (error) {
    if (isLogDamage(error)) return frame.first
    throw error
  }
}

export async function itemNumbers(log: KeptLog, request: LogItemRead): Promise<readonly number[]> {
  const { from, to, reverse, entriesMax } = request
  const found: number[] = []
  const segments = log.segments.filter(
    (segment, at) => segment.first <= to && (log.segments[at + 1]?.first ?? Infinity) > from,
  )
  for (const segment of reverse ? segments.toReversed() : segments) {
    try {
      const numbers = await itemNumbersIn(log, segment, request)
      for (const number of reverse ? numbers.toReversed() : numbers) {
        if (found.length >= entriesMax) return found
        found.push(number)
      }
    } catch (error) {
      // Trimmed meanwhile.
      if (segment.first >= log.first) throw error
    }
  }
  return found
}

async function itemNumbersIn(
  log: KeptLog,
  segment: LogSegment,
  request: LogItemRead,
): Promise<readonly number[]> {
  const { space, key, from, to, entriesMax, reverse } = request
  let index = await log.indexOf(segment)
  const hash = itemHash(segment.seed, space, key)
  let places = await index.find(hash)
  if (places === undefined) {
    const end = log.segments.find(({ first }) => first > segment.first)?.first as number
    index = await log.reader.rebuildIndex(segment, end)
    places = (await index.find(hash)) ?? []
  }
  const gap = index.gaps.find(({ first, end }) => first <= to && end > from)
  if (gap !== undefined) throw unreadableRecords(log.folder, segment, gap)
  const wanted = places.filter(({ number }) => number >= from && number <= Math.min(to, log.last))
  if (reverse) wanted.reverse()
  const found: number[] = []
  for (const { number, offset } of wanted) {
    if (found.length >= entriesMax) break
    if (found.at(-1) !== number && (await isChangeOf(log, segment, index, { number, offset, space, key })))
      found.push(number)
  }
  return reverse ? found.toReversed() : found
}

/** Of two items with the same hash one was asked for. */
async function isChangeOf(
  log: KeptLog,
  segment: LogSegment,
  index: LogIndex,
  { number, offset, space, key }: Pick<LogItemRead, 'space' | 'key'> & { number: number; offset: number },
): Promise<boolean> {
  const bytes = await log.reader.withFile(segment.file, async (handle) =>
    bufferOver(await handle.read(offset, itemBytesOfChange(key))),
  )
  if (isOfItem(bytes, space, key)) return true
  // Another item, or damaged: the checksum of the frame tells.
  const frame = index.frames[firstFrameFrom(index, number)] as IndexedFrame
  const records = await log.reader.recordsOf(segment, frame)
  return changesItem(records[number - frame.first], space, key)
}

const changesItem = (record: CommitRecord | undefined, space: SpaceId, key: string): boolean =>
  record?.changes.some((change) => change.space === space && change.key === key) === true

/** Which holds that number. */
const segmentOf = (log: KeptLog, number: number): KeptLogSegment =>
  log.segments[lastAtMost(log.segments, number)] as KeptLogSegment

const isGrowing = ({ segments }: KeptLog, segment: LogSegment): boolean =>
  segments.at(-1)?.file === segment.file

/** The frame that holds the number, or the first one behind it. */
function firstFrameFrom({ frames }: LogIndex, number: number): number {
  const at = lastAtMost(frames, number)
  return at >= 0 && (frames[at] as IndexedFrame).end > number ? at : at + 1
}

function lastAtMost(parts: readonly { readonly first: number }[], number: number): number {
  let [low, high] = [0, parts.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((parts[middle] as { first: number }).first <= number) low = middle + 1
    else high = middle
  }
  return low - 1
}

function damageAt({ folder }: KeptLog, segment: LogSegment, { gaps }: LogIndex, number: number): Error {
  const gap = gaps.find(({ first, end }) => first <= number && number < end)
  const one: LogGap = { first: number, end: number + 1, offset: 0 }
  return unreadableRecords(folder, segment, gap ?? one)
}
