// Segments as they are found on the disk.
import type { FileLayer } from '../runtime/files.js'
import { FRAME_MAGIC, type Frame, decodeFrame, decodeGroup } from './frame.js'
import {
  decodeHeader,
  decodeSeal,
  SEAL_MAGIC,
  type Segment,
  SEGMENT_HEADER_BYTES,
  type SegmentHeader,
} from './segment.js'

export interface FoundSegment extends Segment {
  readonly bytes: number
  /** What it says of itself; undefined if that cannot be read. */
  readonly header: SegmentHeader | undefined
}

export async function findSegment(files: FileLayer, folder: string, segment: Segment): Promise<FoundSegment> {
  const handle = await files.open(`${folder}/${segment.file}`, { create: false })
  try {
    const begin = await handle.read(0, SEGMENT_HEADER_BYTES)
    return { ...segment, bytes: await handle.length(), header: decodeHeader(asBuffer(begin)) }
  } finally {
    await handle.close()
  }
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
    return asBuffer(await handle.read(skipped, Math.max(0, (await handle.length()) - skipped)))
  } finally {
    await handle.close()
  }
}

/** Calls `each` with every frame of the whole groups from the offset `from` on; resolves to the offset after the last. */
export async function eachFrame(
  bytes: Buffer,
  segment: Segment,
  from: number,
  each: (frame: Frame) => Promise<void>,
): Promise<number> {
  let end = from
  for (;;) {
    const group = decodeGroup(bytes, end - segment.start, segment.seed, end)
    if (group === undefined) return end
    for (const frame of group) {
      await each(frame)
      end = frame.end
    }
  }
}

/** Where something stands that proves that everything up to `end`, where no frame can be read, had been durable. */
export function laterProof(bytes: Buffer, segment: Segment, end: number): number | undefined {
  const from = end - segment.start + 1
  for (let at = bytes.indexOf(FRAME_MAGIC, from); at >= 0; at = bytes.indexOf(FRAME_MAGIC, at + 1)) {
    const frame = decodeFrame(bytes, at, segment.seed, segment.start + at)
    if (frame !== undefined && frame.syncedUpTo > end) return frame.position
  }
  // A segment is sealed when all of its frames are durable.
  for (let at = bytes.indexOf(SEAL_MAGIC, from); at >= 0; at = bytes.indexOf(SEAL_MAGIC, at + 1)) {
    if (decodeSeal(bytes, at, segment.seed, segment.start + at) !== undefined) return segment.start + at
  }
  return undefined
}

/** Whether there is a frame anywhere in it: its name is the right one then, as the checksums depend on it. */
export function holdsFrame(bytes: Buffer, segment: Segment): boolean {
  for (let at = bytes.indexOf(FRAME_MAGIC); at >= 0; at = bytes.indexOf(FRAME_MAGIC, at + 1)) {
    if (decodeFrame(bytes, at, segment.seed, segment.start + at) !== undefined) return true
  }
  return false
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** What was written of it is durable afterwards. */
export async function syncSegment(files: FileLayer, folder: string, { file }: Segment): Promise<void> {
  const handle = await files.open(`${folder}/${file}`, { create: false })
  try {
    await handle.truncateSynced(await handle.length())
  } finally {
    await handle.close()
  }
}
