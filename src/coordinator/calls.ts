// Calls to nodes. In one process a call simply answers; over a network it may be lost, and is then repeated: every call
// of the protocol may be. Without a timeout there is no timer on the way.
import type { Clock } from '../runtime/runtime.js'

export interface CallTuning {
  /** Absent: calls are not timed and not repeated, for nodes in this process. */
  readonly callTimeoutMs?: number
  readonly callTriesMax?: number
}

/** Nobody answered, however often it was tried: the call may have been carried out or not. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

export interface Calls {
  /** Calls may be lost: whatever was sent once may arrive late or twice. */
  readonly lossy: boolean
  /** The answer to an idempotent call. */
  <T>(call: () => Promise<T>): Promise<T>
}

const CALL_TRIES_MAX = 3

export function openCalls(clock: Clock, { callTimeoutMs, callTriesMax }: CallTuning): Calls {
  if (callTimeoutMs === undefined) {
    return Object.assign(<T>(call: () => Promise<T>): Promise<T> => call(), { lossy: false })
  }
  const repeated = async <T>(call: () => Promise<T>): Promise<T> => {
    const triesMax = callTriesMax ?? CALL_TRIES_MAX
    let failure: unknown
    for (let attempt = 0; attempt < triesMax; attempt++) {
      try {
        return await within(clock, callTimeoutMs, call())
      } catch (error) {
        failure = error
      }
    }
    // Whatever the last one said, an earlier one may have been carried out.
    throw new NoAnswer(`no answer in ${triesMax} tries: ${failure instanceof Error ? failure.message : ''}`, {
      cause: failure,
    })
  }
  return Object.assign(repeated, { lossy: true })
}

function within<T>(clock: Clock, timeoutMs: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = clock.timer(timeoutMs, () => reject(new NoAnswer(`no answer within ${timeoutMs} ms`)))
    answer.then(resolve, reject).finally(stop)
  })
}
