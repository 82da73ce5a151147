// Where one frame of a journal ends and the next begins, in what was handed to the disk in one write.
import { FRAME_HEADER_BYTES, FRAME_MAGIC } from '../src/journal/frame.js'

const LENGTH_AT = 4

/** Offsets in `written`, in order, neither its beginning nor its end among them. */
export function frameSeams(written: Buffer): readonly number[] {
  const seams: number[] = []
  for (let at = 0; at + FRAME_HEADER_BYTES <= written.length;) {
    if (written.compare(FRAME_MAGIC, 0, FRAME_MAGIC.length, at, at + FRAME_MAGIC.length) !== 0) break
    at += written.readUInt32BE(at + LENGTH_AT)
    if (at < written.length) seams.push(at)
  }
  return seams
}
