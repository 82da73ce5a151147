// The process that writes the indexes of another one. It reads requests from its standard input, one after another, and
// ends with it.
//
//   first piece --> transaction of LMDB: each piece is written and answered --commit--> synced, answered
//
// A transaction is open until its commit comes: the pieces come one by one, but no reader sees a part of them.
//
// After a failure of LMDB this process ends itself without tidying up: the environment may refuse everything from then on,
// and where a write fails lmdb-js prints into a buffer that is too small, which destroys the heap. Another process begins
// anew. See docs/adr/0022-a-process-writes-the-index.md.
import { readSync, writeSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { getSystemErrorName } from 'node:util'
import type { Database, RootDatabase } from 'lmdb'
import { forEachChange } from '../../change-bytes.js'
import { checksumOfKeyBytes, seal } from '../../checksum.js'
import { APPLIED, appliedBytes, decodeApplied, ENTRIES, ENVIRONMENT, STATE } from '../file/lmdb-options.js'
import { NoRoom, assertRoom } from '../file/disk-room.js'
import { type WriterAnswer, type WriterRequest, HEAD_BYTES, decodeHead } from './writer-requests.js'
import { lmdb } from '../file/lmdb.js'

const INPUT = 0
const OUTPUT = 1
const APPLIED_KEY = Buffer.from(APPLIED, 'latin1')
/** The memory of pieces is used again; a piece is rarely longer. */
const PIECE_BYTES = 512 * 1024
const PAUSE = new Int32Array(new SharedArrayBuffer(4))
const PAUSE_MS = 2

type Values = Database<Uint8Array, Uint8Array>

const keyEncoder = {
  writeKey: (key: Uint8Array, target: Buffer, start: number): number => {
    target.set(key, start)
    return start + key.length
  },
  readKey: (source: Buffer, start: number, end: number): Uint8Array => source.subarray(start, end),
}

class IndexFile {
  readonly #path: string
  readonly #root: RootDatabase<Uint8Array, Uint8Array>
  readonly #entries: Values
  readonly #state: Values
  #changes = 0
  #bytes = 0

  constructor(path: string) {
    this.#path = path
    this.#root = lmdb.open<Uint8Array, Uint8Array>(path, ENVIRONMENT)
    const options = { encoding: 'binary' as const, keyEncoder, cache: false }
    this.#entries = this.#root.openDB(ENTRIES, options)
    this.#state = this.#root.openDB(STATE, options)
  }

  /** From the first request to its commit, or until it is abandoned: nothing else is asked for meanwhile. */
  write(first: WriterRequest): void {
    this.#changes = 0
    this.#bytes = 0
    let request = first
    try {
      this.#root.transactionSync(() => {
        for (; request.kind === 'piece'; request = nextRequest()) {
          this.#writePiece(request)
          tell({ number: request.number })
        }
        return request.kind === 'commit' ? this.#finish(request) : lmdb.ABORT
      })
      tell({ number: request.number })
    } catch (error) {
      if (!(error instanceof NoRoom)) endBecause(error, request)
      tell({ number: request.number, error: error.message })
    }
  }

  close(): void {
    void this.#root.close()
  }

  #writePiece(request: WriterRequest): void {
    const piece = read(request.length)
    this.#bytes += piece.length
    forEachChange(piece, this.#change)
  }

  /**
   * The changes are what the journal holds between the two positions. On an index that is before the first, something would
   * be missing; on one that is beyond the second, they are older than what is there: so it is for a process that was left
   * behind by its owner's end, once the next owner has brought the index further. In between they are right: a commit whose
   * answer was lost is followed by one that goes as far, or further.
   */
  #finish({ appliedUpTo, appliedBefore }: WriterRequest): void {
    const stored = this.#state.getBinary(APPLIED_KEY)
    const position = stored === undefined ? 0 : decodeApplied(stored)?.appliedUpTo
    if (position === undefined) throw new Error('its state has a wrong checksum')
    if (position < appliedBefore || position > appliedUpTo)
      throw new Error('another process has written it meanwhile')
    // Before LMDB is asked to write anything.
    assertRoom(this.#path, { changes: this.#changes, bytes: this.#bytes })
    this.#state.putSync(APPLIED_KEY, appliedBytes(appliedUpTo))
  }

  readonly #change = (key: Uint8Array, record: Uint8Array | undefined): void => {
    this.#changes++
    if (record === undefined) {
      this.#entries.removeSync(key)
    } else {
      seal(checksumOfKeyBytes(key, 0, key.length), record)
      this.#entries.putSync(key, record)
    }
  }
}

const files = new Map<number, IndexFile>()
let memory = Buffer.allocUnsafe(PIECE_BYTES)

/** Waits for it; without one, the owner of the indexes is gone or needs nothing any more. */
function nextRequest(): WriterRequest {
  return decodeHead(read(HEAD_BYTES))
}

/** Lent until the next call. */
function read(length: number): Buffer {
  if (length > memory.length) memory = Buffer.allocUnsafe(length)
  for (let done = 0; done < length;) {
    const count = readSome(done, length - done)
    if (count === 0) process.exit(0)
    done += count
  }
  return memory.subarray(0, length)
}

function readSome(at: number, length: number): number {
  try {
    return whenReady(() => readSync(INPUT, memory, at, length, null))
  } catch (error) {
    // So Windows says that it has ended.
    if ((error as NodeJS.ErrnoException).code === 'EOF') return 0
    throw error
  }
}

function tell(answer: WriterAnswer): void {
  const line = Buffer.from(`${JSON.stringify(answer)}\n`)
  for (let done = 0; done < line.length;) done += whenReady(() => writeSync(OUTPUT, line, done))
}

/** Input and output block as a rule. Where they do not, because another holder of them has said so, they are asked again. */
function whenReady(call: () => number): number {
  for (;;) {
    try {
      return call()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(PAUSE, 0, 0, PAUSE_MS)
    }
  }
}

function serve(request: WriterRequest): void {
  switch (request.kind) {
    case 'open':
      files.set(request.index, new IndexFile(read(request.length).toString()))
      break
    case 'close':
      files.get(request.index)?.close()
      files.delete(request.index)
      break
    case 'piece':
    case 'commit':
    case 'abandon': {
      const file = files.get(request.index)
      if (file === undefined) throw new Error('the index is not open')
      file.write(request)
      return
    }
  }
  tell({ number: request.number })
}

/** The system's name of an error and what it means, or LMDB's own words. What lmdb-js adds is of no use. */
function reasonOf(error: unknown): string {
  const { code, message } = error as { readonly code?: unknown; readonly message?: string }
  if (typeof code !== 'number' || code <= 0) return message ?? String(error)
  return `${getSystemErrorName(-code)}: ${(message ?? '').split(':', 1)[0]}`
}

/** Not even memory is given back: that of a failed LMDB may be in disorder. */
function endBecause(error: unknown, { number }: WriterRequest): never {
  tell({ number, error: reasonOf(error), isLast: true })
  process.kill(process.pid, 'SIGKILL')
  process.exit(1)
}

process.title = 'seriatim index writer'
// It ends with its owner, who may have been told to end together with it, and has something to write first.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
lowerPriority()
tell({ number: 0 })
for (;;) {
  const request = nextRequest()
  try {
    serve(request)
  } catch (error) {
    endBecause(error, request)
  }
}

/** What it does comes after the requests. A process that has a lower one may not be allowed to raise it. */
function lowerPriority(): void {
  const { PRIORITY_BELOW_NORMAL } = constants.priority
  try {
    if (getPriority(0) < PRIORITY_BELOW_NORMAL) setPriority(0, PRIORITY_BELOW_NORMAL)
  } catch {
    // Where it may not, it writes at the priority that it has.
  }
}
