// Reading a journal of a data folder before format 4, once: its segments have neither header nor seal. Its frames go to the
// indexes; then a segment of this format is begun, and the old ones are removed.
import { damagedAt, endsBefore, missingBefore, unreadable } from './damage.js'
import { FRAME_HEADER_BYTES, FRAME_MAGIC, type Frame } from './frame.js'
import type { Recovered, ReadBackOptions } from './read-back.js'
import {
  type FoundSegment,
  eachFrame,
  holdsFrame,
  laterProof,
  readSegment,
  syncSegment,
} from './segment-file.js'
import type { Segment } from './segment.js'

/** The same promises as those of `recoverJournal`; a missing last file cannot be told. */
export async function recoverOldJournal(
  { files, folder, heldUpTo }: ReadBackOptions,
  found: readonly FoundSegment[],
  replay: (frame: Frame) => Promise<void>,
): Promise<Recovered> {
  // Segments of this format were begun by an attempt that did not get to its end; nothing was written to them.
  const begun = found.filter(({ header }) => header !== undefined)
  const segments = found.filter(({ header }) => header === undefined)
  const from = Math.min(...heldUpTo)
  const first = segments.findLastIndex((segment) => segment.start <= from)
  if (first < 0) throw missingBefore(folder, from)
  await syncSegment(files, folder, segments.at(-1) as Segment)
  let end = from
  for (const [at, segment] of segments.entries()) {
    if (at < first) continue
    const next = segments[at + 1]
    const rest = { ...segment, start: end }
    const bytes = await readSegment(files, folder, segment, end)
    end = await eachFrame(bytes, rest, end, replay)
    if (next !== undefined) {
      if (next.start !== end)
        throw damagedAt(folder, segment, end, `the next segment begins at ${next.start}`)
      continue
    }
    const proof = laterProof(bytes, rest, end)
    if (proof !== undefined)
      throw damagedAt(folder, segment, end, `a whole batch follows at byte ${proof - segment.start}`)
    const held = Math.max(...heldUpTo)
    if (end < held) throw endsBefore(folder, segment, end, held)
    if (end === segment.start) assertTorn(folder, segment, bytes)
  }
  for (const segment of begun) {
    if (holdsFrame(await readSegment(files, folder, segment, segment.start), segment))
      throw damagedAt(folder, segments.at(-1) as Segment, end, `the segment ${segment.file} follows`)
    await files.remove(`${folder}/${segment.file}`)
  }
  return { segments, end, isOld: true }
}

/**
 * Nothing can be read at the beginning of the last file. That may be its first group, torn; but not if a group follows that
 * was written after another one of this file, nor if the first was written for another place: then the file was renamed.
 */
function assertTorn(folder: string, segment: Segment, bytes: Buffer): void {
  for (let at = 0; isFrameLike(bytes, at); at += bytes.readUInt32BE(at + 4)) {
    if (bytes.readDoubleBE(at + 16) !== segment.start + at || bytes.readDoubleBE(at + 24) > segment.start)
      throw unreadable(folder, segment)
  }
}

/** Whatever its checksum says. */
const isFrameLike = (bytes: Buffer, at: number): boolean =>
  at + FRAME_HEADER_BYTES <= bytes.length &&
  bytes.compare(FRAME_MAGIC, 0, 4, at, at + 4) === 0 &&
  bytes.readUInt32BE(at + 4) >= FRAME_HEADER_BYTES
