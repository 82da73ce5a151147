// Looks at every byte of the files of a log of commits without changing anything.
//
// Not a finding is what a crash may leave: a torn tail, an index that is missing or was not finished, a slot that was being
// written. The next process puts that right by itself, and nothing is lost by it.
import {
  damagedLogHeader,
  damagedLogIndex,
  damagedLogPart,
  lostLogTail,
  missingLog,
  missingWholeLog,
} from './log-damage.js'
import { GrowingIndex, indexFileOf, LOG_INDEX_MAGIC } from './log-index.js'
import {
  chainOf,
  type FoundLogSegment,
  foundLogSegments,
  type LogFolder,
  missingIn,
  readLogSegment,
  wrongLogSegment,
} from './log-recovery.js'
import { type LogScan, scanLogSegment } from './log-scan.js'
import type { LogSegment } from './log-segment.js'

export interface LogCheck extends LogFolder {
  /** The offset at which the journal begins: what it had before that, only the log has. */
  readonly journalFrom?: number
  /** `begun`: there is a log, so an empty folder is not as it should be. */
  readonly state?: 'begun' | 'unknown'
}

/** What is wrong, a sentence each, and how many records were read. */
export interface LogFindings {
  readonly findings: readonly string[]
  readonly records: number
}

export async function checkLogFiles(options: LogCheck): Promise<LogFindings> {
  const { folder } = options
  const findings: string[] = []
  const names = await options.files.list(folder)
  const usable: FoundLogSegment[] = []
  for (const segment of await foundLogSegments(options, names)) {
    const wrong = await wrongLogSegment(options, segment)
    if (wrong === undefined) usable.push(segment)
    else findings.push(wrong.message)
  }
  const { chain, slot } = await chainOf(options, usable)
  for (const missing of missingIn(folder, chain, slot)) findings.push(missing.message)
  if (chain.length === 0 && findings.length === 0 && options.state === 'begun')
    findings.push(missingWholeLog(folder).message)
  let records = 0
  for (const [at, segment] of chain.entries()) {
    const next = chain[at + 1]
    const { bytes, scan } = await scanned(options, segment)
    for (const frame of scan.frames) records += frame.end - frame.first
    if (segment.header === undefined) findings.push(damagedLogHeader(folder, segment))
    for (const part of scan.damaged) findings.push(damagedLogPart(folder, segment, part))
    if (scan.sealed !== undefined && scan.sealed.file !== next?.file)
      findings.push(missingLog(folder, segment, scan.sealed).message)
    if (next === undefined) {
      if (isLost(options, segment, scan, bytes)) findings.push(lostLogTail(folder, segment, scan.end))
      continue
    }
    if (scan.sealed === undefined)
      findings.push(damagedLogPart(folder, segment, { first: scan.next, end: next.first, offset: scan.end }))
    const index = await lookAtIndex(options, names, segment, { bytes, scan, end: next.first })
    if (index.damagedAt !== undefined)
      findings.push(damagedLogIndex(folder, indexFileOf(segment), index.damagedAt))
  }
  return { findings, records }
}

export async function scanned(
  options: LogFolder,
  segment: LogSegment,
): Promise<{ readonly bytes: Buffer; readonly scan: LogScan }> {
  const bytes = await readLogSegment(options, segment)
  return { bytes, scan: scanLogSegment(bytes, segment) }
}

/** Behind the last whole frame stands one that the journal cannot bring again: it had been durable. */
function isLost({ journalFrom }: LogCheck, segment: FoundLogSegment, scan: LogScan, bytes: Buffer): boolean {
  const position = scan.frames.at(-1)?.position ?? segment.header?.position
  if (journalFrom === undefined || position === undefined) return false
  return scan.sealed === undefined && bytes.length > scan.end && position.upTo < journalFrom
}

/** The index that a sealed segment should have, and where its file differs from that. */
export async function lookAtIndex(
  options: LogFolder,
  names: readonly string[],
  segment: FoundLogSegment,
  { bytes, scan, end }: { readonly bytes: Buffer; readonly scan: LogScan; readonly end: number },
): Promise<{
  readonly index: GrowingIndex
  readonly state: 'whole' | 'missing' | 'damaged' | 'not kept'
  readonly damagedAt?: number
}> {
  const index = GrowingIndex.of(segment, bytes, scan, end)
  // Of a damaged segment none is written.
  if (index.gaps.length > 0) return { index, state: 'not kept' }
  if (!names.includes(indexFileOf(segment))) return { index, state: 'missing' }
  const found = await readLogSegment(options, { ...segment, file: indexFileOf(segment) })
  const right = index.encode(end)
  if (found.equals(right)) return { index, state: 'whole' }
  if (isUnfinished(found)) return { index, state: 'missing' }
  const differs = right.findIndex((byte, at) => byte !== found[at])
  return { index, state: 'damaged', damagedAt: differs < 0 ? right.length : differs }
}

/** The magic is written when all the rest is durable: of it, too, only the beginning may be there. */
function isUnfinished(file: Buffer): boolean {
  const begin = file.subarray(0, LOG_INDEX_MAGIC.length)
  const whole = begin.findIndex((byte, at) => byte !== LOG_INDEX_MAGIC[at])
  return (
    begin.length < LOG_INDEX_MAGIC.length || (whole >= 0 && begin.subarray(whole).every((byte) => byte === 0))
  )
}
