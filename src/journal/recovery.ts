// Reading a journal back: every frame from one offset on, up to the first group of frames that is not whole. What one
// node wrote in a group may rest upon what another wrote in the same group, so none of a torn group counts.
//
// A frame that cannot be read is the torn tail of a group that nobody was told of, unless something proves that it had
// been durable: a later frame that was written when everything up to there was synced, or a later segment, which is
// only begun when the one before is synced. Then acknowledged writes are lost, and the journal is refused.
import type { FileLayer } from '../runtime/files.js'
import { JournalDamaged } from './errors.js'
import { FRAME_MAGIC, type Frame, decodeFrame, decodeGroup } from './frame.js'
import { type Segment, segmentsIn } from './segment.js'

export interface Recovered {
  readonly segments: readonly Segment[]
  /** Offset after the last whole group. */
  readonly end: number
}

/**
 * Calls `replay` with each frame that one of the indexes lacks, in order, and cuts off a torn tail. `heldUpTo`: the offset
 * up to which each index has been brought; what one of them holds had been durable.
 * @throws JournalDamaged if a frame is missing that had been durable
 */
export async function recoverJournal(
  files: FileLayer,
  folder: string,
  heldUpTo: readonly number[],
  replay: (frame: Frame) => Promise<void>,
): Promise<Recovered> {
  const from = Math.min(...heldUpTo)
  const segments = segmentsIn(await files.list(folder))
  if (segments.length === 0 && from === 0) return { segments, end: 0 }
  const first = segments.findLastIndex((segment) => segment.start <= from)
  if (first < 0) {
    throw new JournalDamaged(
      `The journal in ${folder} does not reach back to offset ${from}, up to which the index was brought: a segment ` +
        `file is missing. Restore the missing file or the whole data folder from a backup.`,
    )
  }
  // What a process left behind may be read and yet not be on the disk: a power cut could still undo it.
  await sync(files, folder, segments.at(-1) as Segment)
  let end = from
  for (let at = first; at < segments.length; at++) {
    const segment = segments[at] as Segment
    const next = segments[at + 1]
    // What the index holds is not read again: a restart costs what is left to replay.
    const rest = { ...segment, start: end }
    const bytes = await readSegment(files, folder, segment, end)
    end = await replaySegment(bytes, rest, end, replay)
    if (next !== undefined) {
      if (next.start !== end) throw damaged(folder, segment, end, `the next segment begins at ${next.start}`)
      continue
    }
    const proof = laterProof(bytes, rest, end)
    if (proof !== undefined) {
      throw damaged(folder, segment, end, `a whole batch follows at byte ${proof.position - segment.start}`)
    }
    const held = Math.max(...heldUpTo)
    if (end < held)
      throw damaged(folder, segment, end, `an index holds what stood up to byte ${held - segment.start}`)
    await cut(files, folder, segment, rest.start + bytes.length, end)
  }
  return { segments, end }
}

/** The bytes of a segment from the offset `from` of the journal on. */
export async function readSegment(
  files: FileLayer,
  folder: string,
  segment: Segment,
  from: number,
): Promise<Buffer> {
  const skipped = from - segment.start
  const handle = await files.open(`${folder}/${segment.file}`, { create: false })
  try {
    const bytes = await handle.read(skipped, Math.max(0, (await handle.length()) - skipped))
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  } finally {
    await handle.close()
  }
}

async function replaySegment(
  bytes: Buffer,
  segment: Segment,
  from: number,
  replay: (frame: Frame) => Promise<void>,
): Promise<number> {
  let end = from
  for (;;) {
    const group = decodeGroup(bytes, end - segment.start, segment.seed, end)
    if (group === undefined) return end
    for (const frame of group) {
      await replay(frame)
      end = frame.end
    }
  }
}

/** A frame behind the unreadable one at `end` that was written after everything at `end` had been synced. */
export function laterProof(bytes: Buffer, segment: Segment, end: number): Frame | undefined {
  for (let at = bytes.indexOf(FRAME_MAGIC, end - segment.start + 1); at >= 0;) {
    const frame = decodeFrame(bytes, at, segment.seed, segment.start + at)
    if (frame !== undefined && frame.syncedUpTo > end) return frame
    at = bytes.indexOf(FRAME_MAGIC, at + 1)
  }
  return undefined
}

async function sync(files: FileLayer, folder: string, { file }: Segment): Promise<void> {
  const handle = await files.open(`${folder}/${file}`, { create: false })
  try {
    await handle.truncateSynced(await handle.length())
  } finally {
    await handle.close()
  }
}

async function cut(
  files: FileLayer,
  folder: string,
  segment: Segment,
  fileEnd: number,
  end: number,
): Promise<void> {
  // A file shorter than `end` lost nothing that the index does not hold; the next append fills the gap with zeros.
  if (fileEnd <= end) return
  const handle = await files.open(`${folder}/${segment.file}`, { create: false })
  try {
    await handle.truncateSynced(end - segment.start)
  } finally {
    await handle.close()
  }
}

function damaged(folder: string, segment: Segment, end: number, proof: string): JournalDamaged {
  return new JournalDamaged(
    `The journal file ${folder}/${segment.file} is damaged at byte ${end - segment.start}: the batch there had been ` +
      `acknowledged (${proof}), but cannot be read. Nothing was changed. Restore the data folder from a backup, or ` +
      `move this file and the later ones away to go on without the writes from there on.`,
  )
}
