// A pipe between two processes of one simulated machine, as a system keeps it: bytes that come in their order, late, and in pieces
// that end anywhere.
//
//   write(frame) --> what the writer has not handed over yet --some bytes at a time--> what the system has --late--> take(piece)
//
// A frame is its writer's until all of it was handed over; then it may be written again (Channel.reuse). When one side crashes, the
// other is given what was handed over, and is then told that the pipe has ended.
import type { Tally } from '../faults.js'
import type { Random } from '../../src/runtime/seeded-random.js'
import type { Scheduler } from '../scheduler.js'

/** One direction. */
export interface PipeEnd {
  readonly write: (frame: Buffer) => void
}

/** A process, as long as it lives. */
interface Side {
  readonly alive: boolean
  readonly process: {
    readonly name: string
    readonly random: Random
    readonly around: { readonly scheduler: Scheduler; readonly tally: Tally }
  }
}

export interface PipeSides {
  readonly from: Side
  readonly to: Side
  /** A frame was handed over. */
  readonly onSent: (frame: Buffer) => void
  readonly take: (piece: Buffer) => void
}

const HAND_OVER_MICROS = { min: 1, max: 2_000 }
const ARRIVE_MICROS = { min: 1, max: 3_000 }
/** Pieces are whole frames, several of them or any part of one. */
const CUT = 0.3

export function openPipe({ from, to, onSent, take }: PipeSides): PipeEnd {
  const { scheduler, tally } = from.process.around
  const { random } = from.process
  const label = `pipe ${from.process.name} ${to.process.name}`
  let waiting: { readonly frame: Buffer; at: number }[] = []
  let isHandingOver = false
  let lastArrival = 0
  const arrive = (pieces: readonly Buffer[]): void => {
    const { min, max } = ARRIVE_MICROS
    lastArrival = Math.max(lastArrival + 1, scheduler.nowMicros + random.skewed(min, max))
    scheduler.after(lastArrival - scheduler.nowMicros, label, () => {
      if (!to.alive) return
      const whole = Buffer.concat(pieces)
      const at = random.chance(CUT) ? random.between(0, whole.length) : 0
      if (at > 0 && at < whole.length) {
        tally.add('pipe/cut')
        take(whole.subarray(0, at))
        if (to.alive) take(whole.subarray(at))
      } else {
        take(whole)
      }
    })
  }
  const handOver = (): void => {
    isHandingOver = false
    if (!from.alive) return
    const pieces: Buffer[] = []
    const sent: Buffer[] = []
    while (waiting.length > 0) {
      const first = waiting[0]!
      const left = first.frame.length - first.at
      const length = random.chance(CUT) ? random.between(1, left) : left
      pieces.push(Buffer.from(first.frame.subarray(first.at, first.at + length)))
      first.at += length
      if (first.at < first.frame.length) break
      waiting = waiting.slice(1)
      sent.push(first.frame)
    }
    arrive(pieces)
    for (const frame of sent) onSent(frame)
    later()
  }
  const later = (): void => {
    if (isHandingOver || waiting.length === 0) return
    isHandingOver = true
    scheduler.after(random.skewed(HAND_OVER_MICROS.min, HAND_OVER_MICROS.max), label, handOver)
  }
  return {
    write: (frame) => {
      waiting.push({ frame, at: 0 })
      later()
    },
  }
}
