// Writes an index by another process, one for all indexes of this one.
//
//   apply --a piece--> process: written, answered; the next piece ... --commit--> synced, answered --> apply resolves
//
// A commit of thousands of changes is some hundredths of a second of work. Done at once, beside the requests, it makes all of
// them wait that come meanwhile; so the process has a lower priority, and gets its work a piece at a time.
//
// It is a process and not a thread because LMDB does not survive a write that fails (docs/adr/0022-a-process-writes-the-index.md).
// What becomes of it concerns no reader: the next apply starts another one. It ends when this process does, however it ends.
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { encodeChanges } from '../../change-bytes.js'
import type { IndexChange } from '../../ordered-map.js'
import { type RequestKind, type WriterAnswer, encodeHead } from './writer-requests.js'

/** Copied before requests are looked at again: a fraction of a millisecond. */
const PIECE_BYTES = 512 * 1024
/** Pieces whose memory is kept for the next ones. */
const SPARE_MAX = 2
/** Nothing that the process makes lives longer than a piece. */
const YOUNG_SPACE_MB = 1
/** A process that answers nothing for so long (a destroyed heap may keep it from ending) is ended, and another one tries. */
const ANSWER_MS_MAX = 120_000
/** Of what it said last, if it ends unasked. */
const SAID_CHARACTERS_MAX = 500

/** What a system says that has no room for another process now, but may have it later. */
const NO_ROOM_NOW = new Set(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])
/** Set for the process that is started: a program that is its own interpreter would start itself without end. */
const STARTED_TO_WRITE = 'SERIATIM_INDEX_WRITER'

/** Processes cannot be started here: a bundle without their file, or a process that may have none. */
export class NoProcess extends Error {
  override readonly name = 'NoProcess'
}

let isToldOfNoProcess = false

/** Says once that this process writes its indexes itself, for as long as it runs. */
export function tellOfNoProcess({ message }: NoProcess): void {
  if (isToldOfNoProcess) return
  isToldOfNoProcess = true
  process.emitWarning(
    `The process that writes the index cannot be started (${message}): until it is restarted, the server writes the index ` +
      'itself. Requests may wait for that, and a failed write of the index may end it; nothing that was acknowledged is lost.',
    'SeriatimWarning',
  )
}

export interface Positions {
  /** Up to where the journal is in the index once the changes are. */
  readonly appliedUpTo: number
  /** Up to where it is before. */
  readonly appliedBefore: number
}

/** For one index: one apply at a time, and none once it is closed. */
export class IndexWriter {
  readonly #path: string
  #process: WriterProcess | undefined
  #index = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Nothing changes the changes before it has resolved. */
  async apply(changes: Iterable<IndexChange>, positions: Positions): Promise<void> {
    if (this.#process === undefined || this.#process.hasEnded) {
      this.#process = undefined
      const started = startedProcess()
      this.#index = await started.open(this.#path)
      this.#process = started
    }
    await this.#process.apply(this.#index, changes, positions)
  }

  async close(): Promise<void> {
    if (this.#process?.hasEnded === false) await this.#process.close(this.#index)
  }
}

interface Asker {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  readonly watch: NodeJS.Timeout
}

const NOTHING = Buffer.alloc(0)
const NOWHERE: Positions = { appliedUpTo: 0, appliedBefore: 0 }

class WriterProcess {
  readonly #child = spawnWriter()
  readonly #requests = this.#child.stdin as Writable
  readonly #askers = new Map<number, Asker>()
  readonly #spare: ArrayBuffer[] = []
  readonly #exited: Promise<void>
  #asked = 0
  #isAlive = false
  #said = ''
  #indexes = 0
  #opened = 0
  #failure: Error | undefined
  /** One apply at a time: the process has one transaction open. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor() {
    const child = this.#child
    this.#exited = new Promise((resolve) => {
      child.once('error', (error) => {
        this.#ended(notStarted(error))
        resolve()
      })
      // Once all that it has said is read.
      child.once('close', (code, signal) => {
        this.#ended(this.#whyEnded(code, signal))
        resolve()
      })
    })
    // A process that could not be started may have no streams.
    if (child.pid === undefined) return
    createInterface({ input: child.stdout as Readable }).on('line', (line) => this.#answered(line))
    child.stderr?.on('data', (text: Buffer) => {
      this.#said = (this.#said + text.toString()).slice(-SAID_CHARACTERS_MAX)
    })
    // Whatever becomes of them, the process ends, and that is told above.
    this.#requests.on('error', () => undefined)
    unref(child)
  }

  get hasEnded(): boolean {
    return this.#failure !== undefined
  }

  /** The number that the index has here. */
  async open(path: string): Promise<number> {
    const index = ++this.#opened
    this.#indexes++
    try {
      await this.#inTurn(() => this.#ask('open', index, Buffer.from(path)))
    } catch (error) {
      this.#indexes--
      throw error
    }
    return index
  }

  apply(index: number, changes: Iterable<IndexChange>, positions: Positions): Promise<void> {
    return this.#inTurn(async () => {
      try {
        for (const bytes of encodeChanges(changes, (bytesMin) => this.#lend(bytesMin))) {
          await this.#ask('piece', index, bytes)
          if (bytes.buffer.byteLength === PIECE_BYTES && this.#spare.length < SPARE_MAX)
            this.#spare.push(bytes.buffer)
        }
      } catch (error) {
        if (!this.hasEnded) await this.#ask('abandon', index).catch(() => undefined)
        throw error
      }
      await this.#ask('commit', index, NOTHING, positions)
    })
  }

  /** With the last index the process ends. */
  async close(index: number): Promise<void> {
    try {
      await this.#inTurn(() => this.#ask('close', index))
    } catch (error) {
      // It has let go of everything.
      if (this.hasEnded) return
      throw error
    }
    if (--this.#indexes > 0) return
    this.#failure ??= notWritten('it was closed')
    this.#child.ref()
    this.#requests.end()
    await this.#exited
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const mine = this.#turn.then(work)
    this.#turn = mine.catch(() => undefined)
    await mine
  }

  #lend(bytesMin: number): ArrayBuffer {
    const spare = bytesMin <= PIECE_BYTES ? this.#spare.pop() : undefined
    return spare ?? new ArrayBuffer(Math.max(bytesMin, PIECE_BYTES))
  }

  async #ask(
    kind: RequestKind,
    index: number,
    bytes: Uint8Array = NOTHING,
    { appliedUpTo, appliedBefore }: Positions = NOWHERE,
  ): Promise<void> {
    if (this.#child.pid === undefined) await this.#exited
    if (this.#failure !== undefined) throw this.#failure
    const number = ++this.#asked
    // As long as an answer is waited for this process does not end.
    if (this.#askers.size === 0) this.#child.ref()
    const head = encodeHead({ kind, number, index, length: bytes.length, appliedUpTo, appliedBefore })
    const watch = setTimeout(() => this.#endUnanswered(), ANSWER_MS_MAX)
    watch.unref()
    return new Promise<void>((resolve, reject) => {
      this.#askers.set(number, { resolve, reject, watch })
      this.#requests.cork()
      this.#requests.write(head)
      if (bytes.length > 0) this.#requests.write(bytes)
      this.#requests.uncork()
    })
  }

  #answered(line: string): void {
    const { number, error, isLast } = JSON.parse(line) as WriterAnswer
    this.#isAlive = true
    const asker = this.#noLongerAsking(number)
    if (error === undefined) asker?.resolve()
    else asker?.reject(notWritten(error))
    if (isLast) this.#ended(notWritten(error ?? ''))
  }

  #noLongerAsking(number: number): Asker | undefined {
    const asker = this.#askers.get(number)
    clearTimeout(asker?.watch)
    if (this.#askers.delete(number) && this.#askers.size === 0) this.#child.unref()
    return asker
  }

  /** Whoever asks is told once it has ended: until then it may still write. */
  #endUnanswered(): void {
    this.#said = `it had not answered for ${ANSWER_MS_MAX / 1000} s`
    this.#child.kill('SIGKILL')
  }

  #whyEnded(code: number | null, signal: NodeJS.Signals | null): Error {
    const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`
    const why = `the process that writes it ${how}${this.#said === '' ? '' : `: ${this.#said.trim()}`}`
    // One that was killed had been started.
    return this.#isAlive || signal !== null ? notWritten(why) : new NoProcess(why)
  }

  #ended(why: Error): void {
    this.#failure ??= why
    for (const number of this.#askers.keys()) this.#noLongerAsking(number)?.reject(this.#failure)
  }
}

function spawnWriter(): ChildProcess {
  const script = fileURLToPath(new URL('./lmdb-writer-process.js', import.meta.url))
  // A bundle may have another program in the place of Node, which would run instead.
  if (!existsSync(script)) throw new Error(`there is no ${script}`)
  if (process.env[STARTED_TO_WRITE] !== undefined)
    throw new Error('this process was started to write an index')
  // Flags of V8, which other runtimes do not know.
  const isNode = process.versions['bun'] === undefined && process.versions['deno'] === undefined
  const flags = isNode ? [`--max-semi-space-size=${YOUNG_SPACE_MB}`] : []
  // No option of this process concerns it; some would keep it from starting.
  const env = { ...process.env, NODE_OPTIONS: '', ELECTRON_RUN_AS_NODE: '1', [STARTED_TO_WRITE]: '1' }
  return spawn(process.execPath, [...flags, script], { cwd: dirname(script), env, windowsHide: true })
}

/** It keeps no process from ending. */
function unref(child: ChildProcess): void {
  child.unref()
  for (const stream of [child.stdin, child.stdout, child.stderr])
    (stream as { unref?: () => void } | null)?.unref?.()
}

const notWritten = (why: string): Error => new Error(`the index could not be written: ${why}`)

function notStarted(error: unknown): Error {
  const { code, message } = error as { readonly code?: string; readonly message: string }
  return NO_ROOM_NOW.has(code ?? '')
    ? notWritten(`the process that writes it could not be started: ${message}`)
    : new NoProcess(message, { cause: error })
}

let writerProcess: WriterProcess | undefined

/** The one of this process; a new one if it has ended. */
function startedProcess(): WriterProcess {
  if (writerProcess !== undefined && !writerProcess.hasEnded) return writerProcess
  try {
    return (writerProcess = new WriterProcess())
  } catch (error) {
    throw notStarted(error)
  }
}
