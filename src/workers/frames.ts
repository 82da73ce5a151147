// Messages in a stream of bytes: each behind its length.
import { FRAME_HEAD_BYTES } from './bytes.js'

/** Takes pieces of the stream as they come, and gives whole messages. */
export class FrameSplitter {
  readonly #onMessage: (message: Buffer) => void
  #rest: Buffer[] = []
  #restBytes = 0
  #wanted = FRAME_HEAD_BYTES

  constructor(onMessage: (message: Buffer) => void) {
    this.#onMessage = onMessage
  }

  take(piece: Buffer): void {
    this.#restBytes += piece.length
    this.#rest.push(piece)
    // Pieces are put together once there is something whole: a large message comes in many.
    if (this.#restBytes < this.#wanted) return
    let all = this.#rest.length === 1 ? piece : Buffer.concat(this.#rest)
    this.#wanted = FRAME_HEAD_BYTES
    while (all.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + all.readUInt32LE(0)
      this.#wanted = end
      if (all.length < end) break
      this.#wanted = FRAME_HEAD_BYTES
      this.#onMessage(all.subarray(FRAME_HEAD_BYTES, end))
      all = all.subarray(end)
    }
    this.#rest = all.length === 0 ? [] : [all]
    this.#restBytes = all.length
  }
}
