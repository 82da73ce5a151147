// What a message between workers costs: a thread behind a message port, a thread behind rings of shared memory, and a process
// behind a pipe. Processor time of both sides, with so many calls of 120 bytes in a message, each answered with 1,000 bytes.
//
//   node dist/bench/studies/worker-messages.js [rounds]
import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { FRAME_HEAD_BYTES } from '../../src/workers/bytes.js'
import { FrameSplitter } from '../../src/workers/frames.js'

const REQUEST_BYTES = 120
const ANSWER_BYTES = 1000
const WARM_UP = 1000
const RING_BYTES = 1 << 22
const TICK_MICROS = 10_000
const PIPE = 3
const me = fileURLToPath(import.meta.url)

interface Link {
  readonly send: (message: Buffer) => void
  readonly end: () => void
  /** Processor time of the other side, where that is not of this process. */
  readonly otherMicros: () => number
}

const answerTo = (message: Buffer): Buffer =>
  Buffer.alloc((message.length / REQUEST_BYTES) * ANSWER_BYTES, message[0])

function portLink(onAnswer: (message: Buffer) => void): Link {
  const worker = new Worker(me, { workerData: {} })
  worker.on('message', (bytes: Uint8Array) => onAnswer(Buffer.from(bytes)))
  return {
    send: (message) => worker.postMessage(message),
    end: () => void worker.terminate(),
    otherMicros: () => 0,
  }
}

function ringLink(onAnswer: (message: Buffer) => void): Link {
  const rings = [new SharedArrayBuffer(RING_BYTES), new SharedArrayBuffer(RING_BYTES)] as const
  const worker = new Worker(me, { workerData: { rings } })
  const [out, back] = [new Ring(rings[0]), new Ring(rings[1])]
  worker.on('message', () => back.drain(onAnswer))
  return {
    send: (message) => {
      if (out.put(message)) worker.postMessage(0)
    },
    end: () => void worker.terminate(),
    otherMicros: () => 0,
  }
}

function pipeLink(onAnswer: (message: Buffer) => void): Link {
  const child: ChildProcess = spawn(process.execPath, [me], {
    env: { ...process.env, WORKER_MESSAGES: 'child' },
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const pipe = child.stdio[PIPE] as Socket
  serveFrames(pipe, onAnswer)
  return {
    send: (message) => sendFrame(pipe, message),
    end: () => pipe.destroy(),
    otherMicros: () => {
      const [, stat = ''] = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')
      const fields = stat.split(' ')
      return (Number(fields[11]) + Number(fields[12])) * TICK_MICROS
    },
  }
}

function serveFrames(pipe: Socket, onMessage: (message: Buffer) => void): void {
  const frames = new FrameSplitter(onMessage)
  pipe.on('data', (piece: Buffer) => frames.take(piece))
  pipe.on('error', () => undefined)
}

function sendFrame(pipe: Socket, message: Buffer): void {
  const frame = Buffer.allocUnsafe(FRAME_HEAD_BYTES + message.length)
  frame.writeUInt32LE(message.length)
  message.copy(frame, FRAME_HEAD_BYTES)
  pipe.write(frame)
}

/** Whole messages one behind another; who finds the other side asleep wakes it. */
class Ring {
  readonly #head: Int32Array
  readonly #bytes: Buffer

  constructor(shared: SharedArrayBuffer) {
    this.#head = new Int32Array(shared, 0, 4)
    this.#bytes = Buffer.from(shared, 16)
  }

  put(message: Buffer): boolean {
    const bytes = this.#bytes
    let at = Atomics.load(this.#head, 0)
    if (at + 8 + message.length > bytes.length) {
      bytes.writeInt32LE(-1, at)
      at = 0
    }
    bytes.writeInt32LE(message.length, at)
    message.copy(bytes, at + 4)
    Atomics.store(this.#head, 0, at + 4 + message.length)
    return Atomics.exchange(this.#head, 2, 1) === 0
  }

  drain(take: (message: Buffer) => void): void {
    Atomics.store(this.#head, 2, 0)
    let at = this.#head[1] as number
    while (at !== Atomics.load(this.#head, 0)) {
      const length = this.#bytes.readInt32LE(at)
      if (length < 0) {
        at = 0
        continue
      }
      take(Buffer.from(this.#bytes.subarray(at + 4, at + 4 + length)))
      at += 4 + length
    }
    this.#head[1] = at
  }
}

async function measure(
  name: string,
  batch: number,
  rounds: number,
  open: (onAnswer: (m: Buffer) => void) => Link,
) {
  let answered: () => void = () => undefined
  const link = open(() => answered())
  const run = async (count: number): Promise<void> => {
    for (let round = 0; round < count; round++) {
      const answer = new Promise<void>((resolve) => (answered = resolve))
      link.send(Buffer.alloc(batch * REQUEST_BYTES, round & 0xff))
      await answer
    }
  }
  await run(WARM_UP)
  const [before, other] = [process.cpuUsage(), link.otherMicros()]
  await run(rounds)
  const { user, system } = process.cpuUsage(before)
  const micros = (user + system + link.otherMicros() - other) / rounds
  link.end()
  console.log(
    `${name.padEnd(28)} ${String(batch).padStart(3)} calls: ${micros.toFixed(1).padStart(6)} us a message, ${(micros / batch).toFixed(1).padStart(5)} us a call`,
  )
}

if (!isMainThread) {
  const { rings } = workerData as { readonly rings?: readonly [SharedArrayBuffer, SharedArrayBuffer] }
  if (rings === undefined) {
    parentPort!.on('message', (message: Uint8Array) =>
      parentPort!.postMessage(answerTo(Buffer.from(message))),
    )
  } else {
    const [incoming, back] = [new Ring(rings[0]), new Ring(rings[1])]
    parentPort!.on('message', () =>
      incoming.drain((message) => {
        if (back.put(answerTo(message))) parentPort!.postMessage(0)
      }),
    )
  }
} else if (process.env['WORKER_MESSAGES'] === 'child') {
  const pipe = new Socket({ fd: PIPE, readable: true, writable: true })
  serveFrames(pipe, (message) => sendFrame(pipe, answerTo(message)))
} else {
  const rounds = Number(process.argv[2] ?? 5000)
  for (const batch of [1, 4, 16]) {
    await measure('thread, message port', batch, rounds, portLink)
    await measure('thread, ring of shared memory', batch, rounds, ringLink)
    await measure('process, pipe', batch, rounds, pipeLink)
  }
}
