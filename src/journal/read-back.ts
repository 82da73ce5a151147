// Reading a journal back: every frame from one offset on, up to the first group of frames that is not whole. What one
// node wrote in a group may rest upon what another wrote in the same group, so none of a torn group counts.
//
// A frame that cannot be read is the torn tail of a group that nobody was told of, unless something proves that it had
// been durable: a later frame that was written when everything up to there was synced, the seal of its segment, or a frame
// in a later segment, which is only written when the one before is sealed. Then acknowledged writes are lost, and the
// journal is refused. So is one of which a file is missing, renamed or another folder's (./segment.ts).
import type { FileLayer } from '../runtime/files.js'
import {
  damagedAt,
  endsBefore,
  missingAll,
  missingBefore,
  missingNext,
  ofAnotherFolder,
  renamed,
  unreadable,
} from './damage.js'
import type { Frame } from './frame.js'
import { recoverOldJournal } from './old-recovery.js'
import { decodeSeal, framesFrom, type Segment, SEGMENT_HEADER_BYTES, segmentsIn } from './segment.js'
import {
  eachFrame,
  findSegment,
  type FoundSegment,
  holdsFrame,
  laterProof,
  readSegment,
  syncSegment,
} from './segment-file.js'

/** Whose journal it is. */
export interface JournalOwner {
  /** Of the data folder: 32 hexadecimal digits. */
  readonly id: string
  /** `unfinished`: the folder is being made, or brought to this format; its journal may be empty, or an old one. */
  readonly state: 'whole' | 'unfinished'
}

export interface ReadBackOptions {
  readonly files: FileLayer
  readonly folder: string
  /** The offset up to which each index has been brought; what one of them holds had been durable. */
  readonly heldUpTo: readonly number[]
  /** Nobody in particular: then an empty journal is a new one. */
  readonly owner?: JournalOwner
}

export interface Recovered {
  readonly segments: readonly Segment[]
  /** Offset after the last whole group. */
  readonly end: number
  /** Its segments have no headers: nothing may be appended to them. */
  readonly isOld?: boolean
}

export const NO_OWNER = '0'.repeat(32)

/**
 * Calls `replay` with each frame that one of the indexes lacks, in order, cuts off a torn tail, and removes segments that
 * were begun and never used.
 * @throws JournalDamaged if a frame is missing that had been durable, or a file is not what its name says
 */
export async function recoverJournal(
  options: ReadBackOptions,
  replay: (frame: Frame) => Promise<void>,
): Promise<Recovered> {
  const { files, folder, heldUpTo, owner } = options
  const found: FoundSegment[] = []
  for (const segment of segmentsIn(await files.list(folder)))
    found.push(await findSegment(files, folder, segment))
  if (owner?.state === 'unfinished' && found.some(({ header }) => header === undefined))
    return recoverOldJournal(options, found, replay)
  const { kept, leftovers } = await sorted(options, found)
  const from = Math.min(...heldUpTo)
  if (kept.length === 0 && from === 0) {
    if (owner?.state === 'whole') throw missingAll(folder)
    await removeAll(files, folder, leftovers)
    return { segments: [], end: 0 }
  }
  const first = kept.findLastIndex((segment) => segment.start <= from)
  if (first < 0) throw found.length === 0 ? missingAll(folder) : missingBefore(folder, from)
  const chain: FoundSegment[] = [kept[first] as FoundSegment]
  let end = 0
  for (;;) {
    const segment = chain.at(-1) as FoundSegment
    const begin = Math.max(from, framesFrom(segment))
    // What a process left behind may be read and yet not be on the disk: a power cut could still undo it.
    await syncSegment(files, folder, segment)
    // What the index holds is not read again: a restart costs what is left to replay.
    const rest = { ...segment, start: begin }
    const bytes = await readSegment(files, folder, segment, begin)
    end = await eachFrame(bytes, rest, begin, replay)
    const next = decodeSeal(bytes, end - begin, segment.seed, end)
    if (next !== undefined) {
      const there = kept.find(({ file }) => file === next.file)
      if (there === undefined) throw missingNext(folder, segment, next)
      chain.push(there)
      continue
    }
    const proof = laterProof(bytes, rest, end)
    if (proof !== undefined)
      throw damagedAt(
        folder,
        segment,
        end,
        `a whole batch or a seal follows at byte ${proof - segment.start}`,
      )
    if (end === from) await assertBoundary(options, segment, bytes, from)
    break
  }
  const last = chain.at(-1) as FoundSegment
  const strays = kept.slice(first + 1).filter((segment) => !chain.includes(segment))
  for (const stray of strays) {
    if (holdsFrame(await readSegment(files, folder, stray, stray.start), stray))
      throw damagedAt(folder, last, end, `the segment ${stray.file} follows`)
  }
  const held = Math.max(...heldUpTo)
  if (end < held) throw endsBefore(folder, last, end, held)
  await cut(files, folder, last, end)
  await removeAll(files, folder, [...leftovers, ...strays])
  return { segments: [...kept.slice(0, first), ...chain], end }
}

/** What is a segment of this journal, and what was left by a process that ended while it made one. */
async function sorted(
  { files, folder, owner }: ReadBackOptions,
  found: readonly FoundSegment[],
): Promise<{ readonly kept: readonly FoundSegment[]; readonly leftovers: readonly FoundSegment[] }> {
  const kept: FoundSegment[] = []
  const leftovers: FoundSegment[] = []
  for (const segment of found) {
    const { header } = segment
    if (header !== undefined) {
      if (header.file !== segment.file) throw renamed(folder, segment, header)
      if (header.owner !== (owner?.id ?? NO_OWNER)) throw ofAnotherFolder(folder, segment)
      kept.push(segment)
    } else if (segment.bytes <= SEGMENT_HEADER_BYTES) leftovers.push(segment)
    // A damaged header does no harm where frames prove the name.
    else if (holdsFrame(await readSegment(files, folder, segment, segment.start), segment)) kept.push(segment)
    else throw unreadable(folder, segment)
  }
  return { kept, leftovers }
}

/**
 * An index was brought up to `from`, and nothing stands there. Either that is the end, or the index is not of this journal:
 * then only zeros, which were prepared for frames to come, stand before it.
 */
async function assertBoundary(
  { files, folder }: ReadBackOptions,
  segment: FoundSegment,
  rest: Buffer,
  from: number,
): Promise<void> {
  const fileEnd = segment.start + segment.bytes
  if (fileEnd < from) throw endsBefore(folder, segment, fileEnd, from)
  // A clean stop leaves nothing behind the last frame.
  if (rest.length === 0) return
  const bytes = await readSegment(files, folder, segment, segment.start)
  const end = await eachFrame(bytes, segment, framesFrom(segment), () => Promise.resolve())
  const gap = bytes.subarray(end - segment.start, Math.max(0, from - segment.start))
  if (end < from && gap.every((byte) => byte === 0)) throw endsBefore(folder, segment, end, from)
}

async function cut(files: FileLayer, folder: string, segment: FoundSegment, end: number): Promise<void> {
  if (segment.start + segment.bytes <= end) return
  const handle = await files.open(`${folder}/${segment.file}`, { create: false })
  try {
    await handle.truncateSynced(end - segment.start)
  } finally {
    await handle.close()
  }
}

async function removeAll(files: FileLayer, folder: string, segments: readonly Segment[]): Promise<void> {
  for (const { file } of segments) await files.remove(`${folder}/${file}`)
}
