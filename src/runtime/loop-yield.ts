// Lets the event loop run now and then.
//
// What a store has at hand it answers through microtasks alone: without this a program that awaits one call after another
// would keep timers, sockets and the syncs of its own writes from ever coming back.
//
//   answers of one turn:  1 .. 7    8: asks to be told of the next turn   9 .. 63   from the 64th on, or after
//                                                                                   five milliseconds: in the next turn
//
// Answers wait, not calls: what was called together is decided together, and shares a batch of the journal. What takes
// longer than its turn, as a write on disk does, waits for nothing.
import { type Runtime, steadyMicros } from './runtime.js'

const ANSWERS_MAX = 64
const TURN_MICROS_MAX = 5000
/** A turn in which there are fewer costs nothing; the clock is read as seldom. */
const ANSWERS_UNWATCHED = 8

export class LoopYield {
  readonly #runtime: Runtime
  /** Since the last turn that was watched. */
  #answers = 0
  #watchedSince = 0
  #nextTurn: Promise<void> | undefined
  #isUsedUp = false

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** The same answer or refusal, in a later turn if this one has had its share. */
  of<Answer>(answer: Promise<Answer>): Promise<Answer> {
    if (++this.#answers < ANSWERS_UNWATCHED) return answer
    const nextTurn = (this.#nextTurn ??= this.#watch())
    if (!this.#isUsedUp && !this.#uses()) return answer
    return inTurn(answer, nextTurn)
  }

  #uses(): boolean {
    const isWatched = this.#answers % ANSWERS_UNWATCHED === 0
    this.#isUsedUp =
      this.#answers >= ANSWERS_MAX ||
      (isWatched && steadyMicros(this.#runtime.clock) - this.#watchedSince > TURN_MICROS_MAX)
    return this.#isUsedUp
  }

  #watch(): Promise<void> {
    this.#watchedSince = steadyMicros(this.#runtime.clock)
    return new Promise((resolve) => {
      this.#runtime.defer(() => {
        this.#nextTurn = undefined
        this.#isUsedUp = false
        this.#answers = 0
        resolve()
      })
    })
  }
}

async function inTurn<Answer>(answer: Promise<Answer>, turn: Promise<void>): Promise<Answer> {
  try {
    return await answer
  } finally {
    await turn
  }
}
