// Reads a segment from its first byte to its last: what is whole, what is damaged, and where it ends.
import { decodeLogFrame, LOG_FRAME_MAGIC, type LogFrame } from './log-frame.js'
import { decodeLogSeal, LOG_HEADER_BYTES, LOG_SEAL_MAGIC, type LogSegment } from './log-segment.js'

/** Records that cannot be read: numbers from `first` up to, and without, `end`. */
export interface LogGap {
  readonly first: number
  readonly end: number
  /** Where the damage begins in the file. */
  readonly offset: number
}

export interface LogScan {
  /** The whole ones, also those without records. */
  readonly frames: readonly LogFrame[]
  /** What lies before something that is whole: it had been durable, and cannot be read. It may hold no record at all. */
  readonly damaged: readonly LogGap[]
  /** Offset after the last whole frame; what follows, if it is no seal, is of a frame that was never whole. */
  readonly end: number
  /** Number that follows the last one that is known. */
  readonly next: number
  /** The segment that the seal names. */
  readonly sealed: LogSegment | undefined
}

/**
 * A frame is written only when the one before is durable, and a seal when all are. So whatever cannot be read before a whole
 * frame or a seal is damaged; and what cannot be read behind the last of them is the torn tail of an append of which the
 * caller was not told.
 */
export function scanLogSegment(bytes: Buffer, segment: LogSegment): LogScan {
  const frames: LogFrame[] = []
  const damaged: LogGap[] = []
  let end = LOG_HEADER_BYTES
  let next = segment.first
  for (;;) {
    const found = wholeFrom(bytes, end, segment, next)
    if (found === undefined) return { frames, damaged, end, next, sealed: undefined }
    const { offset } = found
    const first = 'frame' in found ? found.frame.first : found.sealed.first
    if (offset > end || first > next) damaged.push({ first: next, end: first, offset: end })
    if ('sealed' in found) return { frames, damaged, end: offset, next: first, sealed: found.sealed }
    frames.push(found.frame)
    end = offset + found.frame.bytes
    next = found.frame.end
  }
}

type Whole = { readonly offset: number } & ({ readonly frame: LogFrame } | { readonly sealed: LogSegment })

/** The first whole frame or seal from that offset on. */
function wholeFrom(bytes: Buffer, from: number, segment: LogSegment, next: number): Whole | undefined {
  const here = wholeAt(bytes, from, segment, next)
  if (here !== undefined) return here
  let frameAt = bytes.indexOf(LOG_FRAME_MAGIC, from + 1)
  let sealAt = bytes.indexOf(LOG_SEAL_MAGIC, from + 1)
  while (frameAt >= 0 || sealAt >= 0) {
    const offset = sealAt < 0 || (frameAt >= 0 && frameAt < sealAt) ? frameAt : sealAt
    const whole = wholeAt(bytes, offset, segment, next)
    if (whole !== undefined) return whole
    if (offset === frameAt) frameAt = bytes.indexOf(LOG_FRAME_MAGIC, offset + 1)
    else sealAt = bytes.indexOf(LOG_SEAL_MAGIC, offset + 1)
  }
  return undefined
}

function wholeAt(bytes: Buffer, offset: number, segment: LogSegment, next: number): Whole | undefined {
  const frame = decodeLogFrame(bytes, offset, segment)
  if (frame !== undefined) return frame.first >= next ? { offset, frame } : undefined
  const sealed = decodeLogSeal(bytes, offset, segment)
  return sealed !== undefined && sealed.first >= next ? { offset, sealed } : undefined
}
