// Wakes the generator at a given microsecond. Timers of the event loop are good to a millisecond; to look again and again
// until the time has come would keep a core busy that the server needs, and so measure the generator.
//
//   generator:  wakeAt(t) ----> [ t, number ] shared <---- thread: sleeps on the number until t, or until it changes
//                   ring()  <---------- message ---------- the time has come
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

export interface AlarmFace {
  /** Changes with each setting, so that the thread that sleeps on it looks again. */
  readonly number: Int32Array
  /** When to ring, in microseconds of `monotonicMicros`; Infinity: not at all. */
  readonly due: Float64Array
}

/** The same in all threads of the machine. */
export const monotonicMicros = (): number => Number(process.hrtime.bigint()) / 1000

export class AlarmClock {
  readonly #face: AlarmFace
  readonly #thread: Worker
  #ring: () => void = () => undefined

  constructor() {
    this.#face = {
      number: new Int32Array(new SharedArrayBuffer(4)),
      due: new Float64Array(new SharedArrayBuffer(8)).fill(Infinity),
    }
    const file = fileURLToPath(new URL('alarm-thread.js', import.meta.url))
    this.#thread = new Worker(file, { workerData: this.#face })
    this.#thread.on('message', () => this.#ring())
    this.#thread.unref()
  }

  /** One at a time: a second setting replaces the first. It may ring once more for the one that it replaced. */
  wakeAt(micros: number, ring: () => void): void {
    this.#ring = ring
    this.#set(micros)
  }

  stop(): void {
    this.#ring = () => undefined
    this.#set(Infinity)
  }

  async close(): Promise<void> {
    await this.#thread.terminate()
  }

  #set(micros: number): void {
    const { due, number } = this.#face
    due[0] = micros
    Atomics.add(number, 0, 1)
    Atomics.notify(number, 0)
  }
}
