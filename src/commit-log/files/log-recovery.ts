// Finds the log of commits in its folder, as the last process left it: which files belong to it, and where it ends.
//
// What is read: the header of every segment, and the last segment from its first byte to its last. So a start takes as long
// with a million records as with a thousand.
//
// The position is that of the last whole frame; a segment without one has it in its header, as it was when the segment was
// begun. A frame that is damaged in the middle takes no part in that: the frames behind it say more. A torn tail was never
// acknowledged, and the journal brings its records again. It is left there until the next append, so that a start changes
// nothing before the journal has said that it still has what follows the position.
import type { FileLayer } from '../../runtime/files.js'
import type { LogPosition } from '../log-storage.js'
import {
  logOfAnotherFolder,
  lostLogPosition,
  missingLog,
  missingLogBefore,
  missingWholeLog,
  renamedLog,
  unreadableLog,
} from './log-damage.js'
import { GrowingIndex, indexFileOf } from './log-index.js'
import { bufferOver } from './log-reader.js'
import { type LogScan, scanLogSegment } from './log-scan.js'
import {
  decodeLogHeader,
  decodeLogSeal,
  decodeSlots,
  type KeptSlot,
  LOG_HEADER_BYTES,
  LOG_SEAL_BYTES,
  type LogSegment,
  type LogSegmentHeader,
  logSegmentsIn,
} from './log-segment.js'

export interface LogFolder {
  readonly files: FileLayer
  readonly folder: string
  /** Id of the data folder: 32 hexadecimal digits. */
  readonly owner: string
}

export interface FoundLogSegment extends LogSegment {
  readonly fileBytes: number
  /** What it says of itself; undefined if that cannot be read. */
  readonly header: LogSegmentHeader | undefined
  readonly slots: ReturnType<typeof decodeSlots>
}

/** A segment of the log, with what is known of it. */
export interface KeptLogSegment extends LogSegment {
  bytes: number
  indexBytes: number
  /** The newest commit timestamp in it; undefined if that has to be looked up. */
  newest: number | undefined
}

export interface RecoveredLog {
  readonly segments: KeptLogSegment[]
  /** Of the last segment. */
  readonly index: GrowingIndex
  readonly end: number
  readonly isTorn: boolean
  readonly last: number
  readonly position: LogPosition
  readonly slot: KeptSlot
  /** Names of files that are not part of it any more, or never became part of it. */
  readonly leftovers: readonly string[]
}

/**
 * Undefined: there is none. Nothing is changed.
 * @throws LogDamaged if a file is missing, or is not what its name says
 */
export async function recoverLog(
  options: LogFolder & { readonly state: 'begun' | 'unknown' },
): Promise<RecoveredLog | undefined> {
  const { files, folder, state } = options
  const names = await files.list(folder)
  const found = await foundLogSegments(options, names)
  for (const segment of found) {
    const wrong = await wrongLogSegment(options, segment)
    if (wrong !== undefined) throw wrong
  }
  const { chain, slot } = await chainOf(options, found)
  const current = chain.at(-1)
  if (current === undefined) {
    if (state === 'begun') throw missingWholeLog(folder)
    return undefined
  }
  for (const missing of missingIn(folder, chain, slot)) throw missing
  const bytes = await readLogSegment(options, current)
  const scan = scanLogSegment(bytes, current)
  if (scan.sealed !== undefined) throw missingLog(folder, current, scan.sealed)
  const index = GrowingIndex.later(current, scan, (at, length) => readLogPart(options, current, at, length))
  const kept = new Set(chain.flatMap((segment) => [segment.file, indexFileOf(segment)]))
  return {
    segments: chain.map((segment, at) => summaryOf(segment, chain[at + 1], index)),
    index,
    end: scan.end,
    isTorn: scan.end < bytes.length,
    last: scan.next - 1,
    position: await positionOf(options, chain, scan),
    slot: { first: chain[0]!.first, turn: slot?.turn ?? 1 },
    leftovers: names.filter((name) => !kept.has(name) && /\.(commits|index)$/.test(name)),
  }
}

export async function foundLogSegments(
  { files, folder }: LogFolder,
  names: readonly string[],
): Promise<FoundLogSegment[]> {
  const found: FoundLogSegment[] = []
  const segments = logSegmentsIn(names)
  // Several at a time: a log of a day may have thousands, and each is a few waits for the disk.
  for (let at = 0; at < segments.length; at += FOUND_AT_ONCE)
    found.push(
      ...(await Promise.all(
        segments.slice(at, at + FOUND_AT_ONCE).map((segment) => foundLogSegment(files, folder, segment)),
      )),
    )
  return found
}

const FOUND_AT_ONCE = 16

async function foundLogSegment(
  files: FileLayer,
  folder: string,
  segment: LogSegment,
): Promise<FoundLogSegment> {
  const handle = await files.open(`${folder}/${segment.file}`, { create: false })
  try {
    const begin = bufferOver(await handle.read(0, LOG_HEADER_BYTES))
    const header = decodeLogHeader(begin)
    return { ...segment, fileBytes: await handle.length(), header, slots: decodeSlots(begin, segment) }
  } finally {
    await handle.close()
  }
}

/** Why the file cannot be part of this log; a file that was not begun in full is not wrong. */
export async function wrongLogSegment(
  options: LogFolder,
  segment: FoundLogSegment,
): Promise<Error | undefined> {
  const { folder, owner } = options
  const { header } = segment
  if (header === undefined) {
    if (segment.fileBytes <= LOG_HEADER_BYTES) return undefined
    // A damaged header does no harm where a frame proves the name.
    const { frames, sealed } = scanLogSegment(await readLogSegment(options, segment), segment)
    return frames.length > 0 || sealed !== undefined ? undefined : unreadableLog(folder, segment)
  }
  if (header.file !== segment.file) return renamedLog(folder, segment, header)
  return header.owner === owner ? undefined : logOfAnotherFolder(folder, segment)
}

/** What is kept, in order: without what was trimmed, and without segments that were begun and never used. */
export async function chainOf(
  options: LogFolder,
  found: readonly FoundLogSegment[],
): Promise<{ readonly chain: FoundLogSegment[]; readonly slot: FoundLogSegment['slots'] }> {
  const used: FoundLogSegment[] = []
  for (const segment of found) {
    const before = found.findLast(({ first }) => first < segment.first)
    // Frames are only written when the segment before is sealed.
    const isUsed =
      segment.fileBytes > LOG_HEADER_BYTES ||
      (before === undefined ? segment.header !== undefined : await isSealedWith(options, before, segment))
    if (isUsed) used.push(segment)
  }
  const slot = used.at(-1)?.slots
  return { chain: slot === undefined ? used : used.filter(({ first }) => first >= slot.first), slot }
}

/** Which files lack in between, or before the first. */
export function missingIn(
  folder: string,
  chain: readonly FoundLogSegment[],
  slot: FoundLogSegment['slots'],
): Error[] {
  const missing: Error[] = []
  const [oldest] = chain
  if (oldest !== undefined && slot?.isSure === true && oldest.first !== slot.first)
    missing.push(missingLogBefore(folder, oldest, slot.first))
  for (const [at, segment] of chain.entries()) {
    const previous = segment.header?.previous
    if (at > 0 && previous !== undefined && previous.file !== chain[at - 1]?.file)
      missing.push(missingLog(folder, segment, previous))
  }
  return missing
}

async function isSealedWith(
  { files, folder }: LogFolder,
  segment: FoundLogSegment,
  next: LogSegment,
): Promise<boolean> {
  const handle = await files.open(`${folder}/${segment.file}`, { create: false })
  try {
    const at = Math.max(0, segment.fileBytes - LOG_SEAL_BYTES)
    const seal = decodeLogSeal(bufferOver(await handle.read(at, LOG_SEAL_BYTES)), at, segment, at)
    return seal?.file === next.file
  } finally {
    await handle.close()
  }
}

export async function readLogSegment({ files, folder }: LogFolder, { file }: LogSegment): Promise<Buffer> {
  const handle = await files.open(`${folder}/${file}`, { create: false })
  try {
    return bufferOver(await handle.read(0, await handle.length()))
  } finally {
    await handle.close()
  }
}

async function readLogPart(
  { files, folder }: LogFolder,
  { file }: LogSegment,
  at: number,
  length: number,
): Promise<Buffer> {
  const handle = await files.open(`${folder}/${file}`, { create: false })
  try {
    return bufferOver(await handle.read(at, length))
  } finally {
    await handle.close()
  }
}

function summaryOf(
  segment: FoundLogSegment,
  next: FoundLogSegment | undefined,
  index: GrowingIndex,
): KeptLogSegment {
  const { file, first, seed, fileBytes: bytes } = segment
  if (next === undefined) return { file, first, seed, bytes, indexBytes: 0, newest: index.newest }
  const known = next.header?.previous
  return { file, first, seed, bytes, indexBytes: known?.indexBytes ?? 0, newest: known?.newest }
}

async function positionOf(
  options: LogFolder,
  chain: readonly FoundLogSegment[],
  scan: LogScan,
): Promise<LogPosition> {
  const [current, before] = chain.toReversed() as [FoundLogSegment, FoundLogSegment?]
  const position = scan.frames.at(-1)?.position ?? current.header?.position
  if (position !== undefined) return position
  // The header of a segment that holds nothing yet is damaged.
  const frames = before && scanLogSegment(await readLogSegment(options, before), before).frames
  const last = frames?.at(-1)
  if (last?.end !== current.first) throw lostLogPosition(options.folder, current)
  return last.position
}
