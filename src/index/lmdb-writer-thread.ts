// The thread that writes the indexes of this process.
//
//   first piece --> transaction of LMDB: each piece is written, and its memory given back --commit--> synced, answered
//
// A transaction is open until its commit comes: the pieces come one by one, but nobody sees a part of them.
import { constants, getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { type Database, type RootDatabase, open } from 'lmdb'
import { forEachChange } from './change-bytes.js'
import { checksumOfKeyBytes, seal } from './checksum.js'
import { APPLIED, appliedBytes, ENTRIES, ENVIRONMENT, STATE } from './lmdb-options.js'

export type WriterRequest =
  /** Before anything else of an index, which has this number from now on. */
  | { readonly kind: 'open'; readonly index: number; readonly path: string }
  | { readonly kind: 'piece'; readonly index: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'commit'; readonly index: number; readonly appliedUpTo: number }
  | { readonly kind: 'abandon' | 'close'; readonly index: number }
  /** The process exits: abandon everything, begin nothing. */
  | { readonly kind: 'end' }

export interface WriterAnswer {
  readonly number: number
  readonly error: string | undefined
  /** Of the piece, which is needed no longer. */
  readonly memory: ArrayBuffer | undefined
}

const APPLIED_KEY = Buffer.from(APPLIED, 'latin1')

type Values = Database<Uint8Array, Uint8Array>

const keyEncoder = {
  writeKey: (key: Uint8Array, target: Buffer, start: number): number => {
    target.set(key, start)
    return start + key.length
  },
  readKey: (source: Buffer, start: number, end: number): Uint8Array => source.subarray(start, end),
}

interface OpenTransaction {
  /** Commits, or takes everything back if there is a failure. */
  readonly end: (failure: unknown) => void
  readonly ended: Promise<void>
}

class IndexFile {
  readonly #root: RootDatabase<Uint8Array, Uint8Array>
  readonly #entries: Values
  readonly #state: Values
  #transaction: OpenTransaction | undefined
  /** Of a piece: nothing can be kept of those that belong to it. */
  #failure: unknown

  constructor(path: string) {
    this.#root = open<Uint8Array, Uint8Array>(path, ENVIRONMENT)
    const options = { encoding: 'binary' as const, keyEncoder, cache: false }
    this.#entries = this.#root.openDB(ENTRIES, options)
    this.#state = this.#root.openDB(STATE, options)
  }

  write(piece: Uint8Array): void {
    this.#within(() => forEachChange(piece, this.#change))
  }

  /** All pieces since the last commit, synced; or none of them. */
  async commit(appliedUpTo: number): Promise<void> {
    this.#within(() => this.#state.putSync(APPLIED_KEY, appliedBytes(appliedUpTo)))
    await this.#end()
  }

  /** Takes back the pieces since the last commit. */
  async abandon(): Promise<void> {
    this.#failure ??= new Error('it was abandoned')
    await this.#end().catch(() => undefined)
  }

  async close(): Promise<void> {
    await this.abandon()
    await this.#root.close()
  }

  #within(work: () => void): void {
    if (this.#failure !== undefined) return
    try {
      this.#transaction ??= this.#begin()
      work()
    } catch (error) {
      this.#failure = error
    }
  }

  async #end(): Promise<void> {
    const transaction = this.#transaction
    const failure = this.#failure
    this.#transaction = undefined
    this.#failure = undefined
    if (transaction === undefined) throw failure
    transaction.end(failure)
    await transaction.ended
  }

  #begin(): OpenTransaction {
    let end: OpenTransaction['end'] = () => undefined
    const whole = new Promise<void>((resolve, reject) => {
      end = (failure) => (failure === undefined ? resolve() : reject(failure))
    })
    return { end, ended: this.#root.transactionSync(() => whole) }
  }

  readonly #change = (key: Uint8Array, record: Uint8Array | undefined): void => {
    if (record === undefined) {
      this.#entries.removeSync(key)
    } else {
      seal(checksumOfKeyBytes(key, 0, key.length), record)
      this.#entries.putSync(key, record)
    }
  }
}

const files = new Map<number, IndexFile>()
let ending = false

function fileOf(index: number): IndexFile {
  const file = files.get(index)
  if (file === undefined) throw new Error('the index is not open')
  return file
}

async function answer(request: WriterRequest): Promise<void> {
  if (ending) return
  switch (request.kind) {
    case 'open':
      files.set(request.index, new IndexFile(request.path))
      return
    case 'piece':
      return fileOf(request.index).write(request.bytes)
    case 'commit':
      return fileOf(request.index).commit(request.appliedUpTo)
    case 'abandon':
      return fileOf(request.index).abandon()
    case 'close': {
      const file = fileOf(request.index)
      files.delete(request.index)
      return file.close()
    }
    case 'end':
      ending = true
      for (const file of files.values()) await file.abandon()
      tellAbandoned()
  }
}

function tellAbandoned(): void {
  const abandoned = workerData as Int32Array
  Atomics.store(abandoned, 0, 1)
  Atomics.notify(abandoned, 0)
}

process.on('exit', tellAbandoned)

parentPort?.on('message', ([number, request]: [number: number, request: WriterRequest]) => {
  const memory = request.kind === 'piece' ? request.bytes.buffer : undefined
  const tell = (error: string | undefined): void => {
    const told = { number, error, memory } satisfies WriterAnswer
    parentPort?.postMessage(told, memory === undefined ? [] : [memory])
  }
  answer(request).then(
    () => tell(undefined),
    (error: unknown) => tell(error instanceof Error ? error.message : String(error)),
  )
})

// Elsewhere it would be the priority of the process. A process that has a lower one may not be allowed to raise it.
const { PRIORITY_BELOW_NORMAL } = constants.priority
if (process.platform === 'linux' && getPriority(0) < PRIORITY_BELOW_NORMAL)
  setPriority(0, PRIORITY_BELOW_NORMAL)
