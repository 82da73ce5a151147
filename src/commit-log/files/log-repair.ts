// Puts right in the files of a log of commits what follows from the rest: indexes, headers and seals. Records are never touched:
// those that cannot be read stay where they are, so that reading them is an error and not an absence.
import { lookAtIndex, scanned } from './log-check.js'
import { damagedLogPart } from './log-damage.js'
import { gapsIn, type GrowingIndex, indexFileOf } from './log-index.js'
import { writeLogIndex } from './log-reader.js'
import {
  chainOf,
  type FoundLogSegment,
  foundLogSegments,
  type LogFolder,
  wrongLogSegment,
} from './log-recovery.js'
import { encodeLogHeader, encodeLogSeal, type LogSegment, type LogSegmentHeader } from './log-segment.js'

export interface RepairedLog {
  /** What was done, a sentence each. */
  readonly done: readonly string[]
  /** Records that cannot be read. */
  readonly lost: number
}

/** @throws LogDamaged if a file is not what its name says */
export async function repairLogFiles(options: LogFolder): Promise<RepairedLog> {
  const { files, folder } = options
  const done: string[] = []
  let lost = 0
  const names = await files.list(folder)
  const found = await foundLogSegments(options, names)
  for (const segment of found) {
    const wrong = await wrongLogSegment(options, segment)
    if (wrong !== undefined) throw wrong
  }
  const { chain } = await chainOf(options, found)
  let before: LogSegmentHeader['previous']
  let position: LogSegmentHeader['position'] | undefined
  for (const [at, segment] of chain.entries()) {
    const { bytes, scan } = await scanned(options, segment)
    if (segment.header === undefined && (position !== undefined || scan.frames.length > 0)) {
      const begin = position ?? NOWHERE
      await writeHeader(
        options,
        segment,
        { ...segment, owner: options.owner, position: begin, previous: before },
        chain,
      )
      done.push(`The header of ${folder}/${segment.file} was made anew.`)
    }
    const end = chain[at + 1]?.first
    position = scan.frames.at(-1)?.position ?? segment.header?.position ?? position
    for (const gap of gapsIn(scan, end)) {
      lost += gap.end - gap.first
      done.push(`${damagedLogPart(folder, segment, gap)} They were left as they are.`)
    }
    if (end === undefined) break
    if (scan.sealed === undefined && scan.next === end) {
      await writeSeal(options, segment, scan.end, chain[at + 1] as LogSegment)
      done.push(`The end of ${folder}/${segment.file} was made anew.`)
    }
    const { index, state } = await lookAtIndex(options, names, segment, { bytes, scan, end })
    if (state === 'missing' || state === 'damaged') {
      await writeLogIndex(options, segment, index, end)
      done.push(`The index ${folder}/${indexFileOf(segment)} was made anew from its segment.`)
    }
    before = summaryFor(segment, index)
  }
  if (done.length > 0) await files.syncFolder(folder)
  return { done, lost }
}

const NOWHERE = { upTo: 0, number: 0 }

const summaryFor = (segment: FoundLogSegment, index: GrowingIndex): LogSegmentHeader['previous'] => ({
  ...segment,
  bytes: segment.fileBytes,
  indexBytes: index.fileBytes,
  newest: index.gaps.length > 0 ? Infinity : index.newest,
})

/** Behind the last record nothing is lost. */
async function writeSeal(
  { files, folder }: LogFolder,
  segment: LogSegment,
  offset: number,
  next: LogSegment,
): Promise<void> {
  const handle = await files.open(`${folder}/${segment.file}`, { create: false })
  try {
    await handle.truncateSynced(offset)
    await handle.writeSynced(encodeLogSeal(segment, offset, next), offset)
  } finally {
    await handle.close()
  }
}

/** What the last trimming wrote down stays. */
async function writeHeader(
  { files, folder }: LogFolder,
  segment: FoundLogSegment,
  header: LogSegmentHeader,
  chain: readonly FoundLogSegment[],
): Promise<void> {
  const handle = await files.open(`${folder}/${segment.file}`, { create: false })
  try {
    const kept = segment.slots?.first ?? chain[0]?.first ?? segment.first
    await handle.writeSynced(encodeLogHeader(header, kept), 0)
  } finally {
    await handle.close()
  }
}
