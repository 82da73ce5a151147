// The other workers of a server, as its first one has them: processes that are started with the same arguments.
//
//   port --> the first worker accepts, and hands connections on in turn --IPC--> worker 2, worker 3, ...
//   channel: a pipe for each of them, on which nodes are called and requests are handed on
//
// They ignore signals and end with the pipe. When one of them ends by itself the whole server ends: what it was doing for its
// clients is not known here.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { type HubWorker, WorkerHub } from '../../store/worker-hub.js'
import { FrameSplitter } from '../../workers/frames.js'
import { PIPE, READY, servingWorkers, workerVariable } from './worker-place.js'

const END_MS = 5_000
/** Bytes on their way to a worker, from which on nothing more is begun for it. */
const ON_ITS_WAY_MAX = 4 * 1024 * 1024

interface Started {
  readonly child: ChildProcess
  readonly pipe: Socket
  readonly hubWorker: HubWorker
  readonly ready: Promise<void>
  readonly ended: Promise<void>
}

export class WorkerProcesses {
  readonly hub = new WorkerHub()
  /** Resolves with a sentence when one of them has ended by itself. */
  readonly lost: Promise<string>
  /** That sentence, if one has. */
  lostOne: string | undefined
  #lose: (sentence: string) => void = () => undefined
  #stopped: Promise<void> | undefined
  #started: readonly Started[] = []
  #isStopping = false
  #turn = 0

  constructor() {
    const { hub } = this
    this.lost = new Promise((resolve) => {
      this.#lose = (sentence) => {
        this.lostOne ??= sentence
        resolve(sentence)
      }
    })
    hub.edge = {
      handsOver: (socket) => this.#handsOver(socket),
      otherCounts: () => hub.otherCounts(),
    }
  }

  /** Resolves when all of them can take connections. */
  async start(args: readonly string[], workers: number): Promise<void> {
    this.#started = Array.from({ length: workers - 1 }, (_, at) => this.#start(args, at + 2, workers))
    const sentence = await Promise.race([
      Promise.all(this.#started.map(({ ready }) => ready)).then(() => undefined),
      this.lost,
    ])
    if (sentence !== undefined) throw new Error(sentence)
  }

  /** They answer what they have accepted, and end. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #stop(): Promise<void> {
    this.#isStopping = true
    await this.hub.stop()
    for (const { pipe } of this.#started) pipe.destroy()
    await Promise.all(this.#started.map((started) => endOf(started)))
  }

  #start(args: readonly string[], number: number, workers: number): Started {
    const script = process.argv[1] as string
    const child = spawn(process.execPath, [...process.execArgv, script, 'start', ...args], {
      env: { ...process.env, ...workerVariable({ number, workers }) },
      stdio: ['ignore', 'inherit', 'inherit', 'pipe', 'ipc'],
    })
    const pipe = child.stdio[PIPE] as Socket
    const hubWorker: HubWorker = this.hub.join(
      (frame) => pipe.write(frame, () => hubWorker.channel.reuse(frame)),
      () => pipe.writableLength > ON_ITS_WAY_MAX,
    )
    pipe.on('drain', () => hubWorker.channel.proceed())
    const frames = new FrameSplitter((message) => hubWorker.receive(message))
    pipe.on('data', (piece: Buffer) => frames.take(piece))
    // What ends it is told by its exit.
    pipe.on('error', () => undefined)
    const ready = new Promise<void>((resolve) => {
      child.on('message', (message) => {
        if (message === READY) resolve()
      })
    })
    const ended = new Promise<void>((resolve) => {
      const over = (how: string): void => {
        hubWorker.end(`Worker ${number} has ended (${how}).`)
        if (!this.#isStopping)
          this.#lose(
            `worker ${number} (process ${child.pid}) has ended by itself (${how}), and the server ends with it. ` +
              'What was acknowledged is kept: start the server again',
          )
        resolve()
      }
      child.once('error', (error) => over(error.message))
      child.once('exit', (code, signal) => over(signal ?? `exit code ${code}`))
    })
    return { child, pipe, hubWorker, ready, ended }
  }

  #handsOver(socket: Socket): boolean {
    const others = this.#started.length
    const own = servingWorkers(others + 1) - others
    this.#turn = (this.#turn + 1) % (others + own)
    const child = this.#started[this.#turn - own]?.child
    if (child?.connected !== true) return false
    child.send('connection', socket, (error) => {
      if (error) socket.destroy()
    })
    return true
  }
}

/** One that does not end is made to. */
async function endOf({ child, ended }: Started): Promise<void> {
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS)
  await ended
  clearTimeout(timer)
}
