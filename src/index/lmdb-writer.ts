// Writes an index by another thread, one for all indexes of this process.
//
//   apply --a piece--> thread: written, memory given back; the next piece ... --commit--> synced --> apply resolves
//
// A commit of thousands of changes is some hundredths of a second of work. Done at once, beside the requests, it makes all of
// them wait that come meanwhile; so the thread has a lower priority, and gets its work a piece at a time.
//
// LMDB never ends if its thread is ended within a transaction. A process that exits has the thread abandon it before; a
// worker that is terminated is not asked. So this is not for workers (./lmdb-index.ts).
import { Worker } from 'node:worker_threads'
import { encodeChanges } from './change-bytes.js'
import type { WriterAnswer, WriterRequest } from './lmdb-writer-thread.js'
import type { IndexChange } from './ordered-index.js'

/** Copied before requests are looked at again: a fraction of a millisecond. */
const PIECE_BYTES = 512 * 1024
/** Pieces whose memory is kept for the next ones. */
const SPARE_MAX = 4
/** Nothing that the thread makes lives longer than a piece. */
const THREAD_YOUNG_SPACE_MB = 1
/** A commit that is being synced as the process exits is waited for so long; Node would wait for it longer. */
const EXIT_WAIT_MS = 60_000

/** Threads cannot be started here: a bundle without their file, or a process that may have none. */
export class NoThread extends Error {
  override readonly name = 'NoThread'
}

/** For one index: one apply at a time, and none once it is closed. */
export class IndexWriter {
  readonly #path: string
  #thread: WriterThread | undefined
  #index = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Nothing changes the changes before it has resolved. */
  async apply(changes: Iterable<IndexChange>, appliedUpTo: number): Promise<void> {
    if (this.#thread === undefined || this.#thread.hasEnded) {
      this.#thread = undefined
      const thread = startedThread()
      this.#index = await thread.open(this.#path)
      this.#thread = thread
    }
    await this.#thread.apply(this.#index, changes, appliedUpTo)
  }

  async close(): Promise<void> {
    if (this.#thread?.hasEnded === false) await this.#thread.close(this.#index)
  }
}

interface Asker {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

class WriterThread {
  /** Not 0: the thread has abandoned what was open, and begins nothing any more. */
  readonly #abandoned = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  // No flag of the process concerns it; some would keep it from starting.
  readonly #worker = new Worker(new URL('./lmdb-writer-thread.js', import.meta.url), {
    execArgv: [],
    workerData: this.#abandoned,
    resourceLimits: { maxYoungGenerationSizeMb: THREAD_YOUNG_SPACE_MB },
  })
  readonly #askers = new Map<number, Asker>()
  readonly #spare: ArrayBuffer[] = []
  #asked = 0
  #hasAnswered = false
  #indexes = 0
  #opened = 0
  #applying = 0
  #failure: Error | undefined

  constructor() {
    this.#worker.on('message', (answer: WriterAnswer) => this.#answered(answer))
    this.#worker.on('error', (error: Error) => this.#ended(error))
    this.#worker.on('exit', () => this.#ended(new Error('its thread has ended')))
    this.#worker.unref()
    process.on('exit', this.#exit)
  }

  get hasEnded(): boolean {
    return this.#failure !== undefined
  }

  /** The number that the index has here. */
  async open(path: string): Promise<number> {
    const index = ++this.#opened
    this.#indexes++
    try {
      await this.#ask({ kind: 'open', index, path })
    } catch (error) {
      this.#indexes--
      throw error
    }
    return index
  }

  async apply(index: number, changes: Iterable<IndexChange>, appliedUpTo: number): Promise<void> {
    this.#applying++
    try {
      for (const bytes of encodeChanges(changes, (bytesMin) => this.#lend(bytesMin)))
        await this.#ask({ kind: 'piece', index, bytes }, [bytes.buffer])
      await this.#ask({ kind: 'commit', index, appliedUpTo })
    } catch (error) {
      if (!this.hasEnded) await this.#ask({ kind: 'abandon', index })
      throw error
    } finally {
      this.#applying--
    }
  }

  /** With the last index the thread ends. */
  async close(index: number): Promise<void> {
    await this.#ask({ kind: 'close', index })
    if (--this.#indexes > 0) return
    this.#ended(new Error('it was closed'))
    await this.#worker.terminate()
  }

  #lend(bytesMin: number): ArrayBuffer {
    const spare = bytesMin <= PIECE_BYTES ? this.#spare.pop() : undefined
    return spare ?? new ArrayBuffer(Math.max(bytesMin, PIECE_BYTES))
  }

  async #ask(request: WriterRequest, transferred: readonly ArrayBuffer[] = []): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    const number = ++this.#asked
    // As long as somebody waits the process does not end.
    if (this.#askers.size === 0) this.#worker.ref()
    return new Promise<void>((resolve, reject) => {
      this.#askers.set(number, { resolve, reject })
      this.#worker.postMessage([number, request], transferred)
    })
  }

  #answered({ number, error, memory }: WriterAnswer): void {
    this.#hasAnswered = true
    if (memory?.byteLength === PIECE_BYTES && this.#spare.length < SPARE_MAX) this.#spare.push(memory)
    const asker = this.#noLongerAsking(number)
    if (error === undefined) asker?.resolve()
    else asker?.reject(notWritten(error))
  }

  #noLongerAsking(number: number): Asker | undefined {
    const asker = this.#askers.get(number)
    this.#askers.delete(number)
    if (this.#askers.size === 0) this.#worker.unref()
    return asker
  }

  #ended(why: Error): void {
    process.off('exit', this.#exit)
    this.#failure ??= this.#hasAnswered
      ? notWritten(why.message, why)
      : new NoThread(why.message, { cause: why })
    for (const number of this.#askers.keys()) this.#noLongerAsking(number)?.reject(this.#failure)
  }

  readonly #exit = (): void => {
    if (this.#applying === 0) return
    this.#worker.postMessage([0, { kind: 'end' } satisfies WriterRequest])
    Atomics.wait(this.#abandoned, 0, 0, EXIT_WAIT_MS)
  }
}

const notWritten = (why: string, cause?: Error): Error =>
  new Error(`the index could not be written: ${why}`, { cause })

let thread: WriterThread | undefined

/** The one of this process; a new one if it has ended. */
function startedThread(): WriterThread {
  if (thread !== undefined && !thread.hasEnded) return thread
  try {
    return (thread = new WriterThread())
  } catch (error) {
    throw new NoThread(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
