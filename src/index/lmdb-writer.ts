// The thread that writes the indexes of this process, as seen from the one that answers requests.
//
//   apply --a piece--> thread: written, memory given back; the next piece ... --commit--> synced --> apply resolves
//
// A commit of thousands of changes is a hundredth of a second of work. Done at once, beside the requests, it makes all of them
// wait that come meanwhile; so the thread has a lower priority, and gets its work a piece at a time.
//
// LMDB never ends if its thread is ended within a transaction. A process that exits has this one abandon it before; a
// worker that is terminated is not asked. So there is no such thread in a worker (./lmdb-index.ts).
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
/** A commit that is being synced as the process exits is waited for so long. */
const EXIT_WAIT_MS = 10_000

interface Asker {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

class IndexWriter {
  /** Not 0: the thread has abandoned what was open, and begins nothing any more. */
  readonly #abandoned = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))
  // No flag of the process concerns it; some would keep it from starting.
  readonly #thread = new Worker(new URL('./lmdb-writer-thread.js', import.meta.url), {
    execArgv: [],
    workerData: this.#abandoned,
    resourceLimits: { maxYoungGenerationSizeMb: THREAD_YOUNG_SPACE_MB },
  })
  readonly #askers = new Map<number, Asker>()
  readonly #spare: ArrayBuffer[] = []
  #asked = 0
  #applying = 0
  #failure: Error | undefined

  constructor() {
    this.#thread.on('message', (answer: WriterAnswer) => this.#answered(answer))
    this.#thread.on('error', (error: Error) => this.#ended(error))
    this.#thread.on('exit', () => this.#ended(new Error('its thread has ended')))
    this.#thread.unref()
    process.on('exit', this.#exit)
  }

  get hasEnded(): boolean {
    return this.#failure !== undefined
  }

  /** One at a time for each index; nothing changes the changes before it has resolved. */
  async apply(path: string, changes: Iterable<IndexChange>, appliedUpTo: number): Promise<void> {
    this.#applying++
    try {
      for (const bytes of encodeChanges(changes, (bytesMin) => this.#lend(bytesMin)))
        await this.#ask({ kind: 'piece', path, bytes }, [bytes.buffer])
      await this.#ask({ kind: 'commit', path, appliedUpTo })
    } catch (error) {
      if (!this.hasEnded) await this.#ask({ kind: 'abandon', path })
      throw error
    } finally {
      this.#applying--
    }
  }

  async close(path: string): Promise<void> {
    await this.#ask({ kind: 'close', path })
  }

  #lend(bytesMin: number): ArrayBuffer {
    const spare = bytesMin <= PIECE_BYTES ? this.#spare.pop() : undefined
    return spare ?? new ArrayBuffer(Math.max(bytesMin, PIECE_BYTES))
  }

  async #ask(request: WriterRequest, transferred: readonly ArrayBuffer[] = []): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    const number = ++this.#asked
    // As long as somebody waits the process does not end.
    if (this.#askers.size === 0) this.#thread.ref()
    return new Promise<void>((resolve, reject) => {
      this.#askers.set(number, { resolve, reject })
      this.#thread.postMessage([number, request], transferred)
    })
  }

  #answered({ number, error, memory }: WriterAnswer): void {
    if (memory?.byteLength === PIECE_BYTES && this.#spare.length < SPARE_MAX) this.#spare.push(memory)
    const asker = this.#noLongerAsking(number)
    if (error === undefined) asker?.resolve()
    else asker?.reject(notWritten(error))
  }

  #noLongerAsking(number: number): Asker | undefined {
    const asker = this.#askers.get(number)
    this.#askers.delete(number)
    if (this.#askers.size === 0) this.#thread.unref()
    return asker
  }

  #ended(why: Error): void {
    process.off('exit', this.#exit)
    this.#failure ??= notWritten(why.message, why)
    for (const number of this.#askers.keys()) this.#noLongerAsking(number)?.reject(this.#failure)
  }

  readonly #exit = (): void => {
    if (this.#applying === 0) return
    this.#thread.postMessage([0, { kind: 'end' } satisfies WriterRequest])
    Atomics.wait(this.#abandoned, 0, 0, EXIT_WAIT_MS)
  }
}

const notWritten = (why: string, cause?: Error): Error =>
  new Error(`the index could not be written: ${why}`, { cause })

let writer: IndexWriter | undefined

/** The one of this process; a new one if it has ended. */
export function indexWriter(): IndexWriter {
  if (writer === undefined || writer.hasEnded) writer = new IndexWriter()
  return writer
}

/** The folder's files are free afterwards, if the writer ever had them open. */
export async function closeInWriter(path: string): Promise<void> {
  if (writer !== undefined && !writer.hasEnded) await writer.close(path)
}
