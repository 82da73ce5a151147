// Puts load on an endpoint and measures what comes back. Runs in the generator's process (generator.ts), which does
// nothing else.
//
//   closed: N clients, each sends its next request when the last one is answered
//   open:   requests arrive at a fixed rate and take any free connection (arrivals.ts)
//
//   |-- warm-up, not counted --|-- measured --|-- answers to what was sent or due by then --|
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Random } from '../../runtime/seeded-random.js'
import type { Workload } from './workloads.js'
import { AlarmClock, monotonicMicros as nowMicros } from './alarm-clock.js'
import { AnswerReader, refusalName } from './answer-reader.js'
import { Arrivals, OpenLoop, type Spacing } from './arrivals.js'
import { Latencies, type LatencySummary } from './latencies.js'
import { RequestBytes } from './request-bytes.js'

export interface LoadJob {
  readonly endpoint: string
  /** Drawn for each request by their weights. */
  readonly mix: readonly { readonly weight: number; readonly workload: Workload }[]
  readonly mode:
    | { readonly kind: 'closed'; readonly clients: number }
    | {
        readonly kind: 'open'
        readonly perSecond: number
        readonly connections: number
        readonly spacing: Spacing
      }
  readonly warmupMs: number
  readonly durationMs: number
  readonly seed: number
}

export interface PartResult {
  readonly workload: string
  readonly answers: number
  /** Answers other than 200, by name. */
  readonly refusals: Readonly<Record<string, number>>
  /** Of all answers, refusals too. */
  readonly latency: LatencySummary
}

export interface LoadResult {
  readonly seconds: number
  readonly answers: number
  /** Answers with 200 in a second. */
  readonly perSecond: number
  readonly refused: number
  readonly latency: LatencySummary
  readonly parts: readonly PartResult[]
  /** Open loop: requests that were due and could not be sent before patience ended. */
  readonly unsent: number
  /** Open loop: how late the generator itself was with requests that had a free connection, 99 % of them. */
  readonly lateMicrosP99: number
  /** All answers after the warm-up, those after the end too: what a server's use of the machine is divided by. */
  readonly answersSinceMeasuring: number
  /** The generator's own processor time for a request. */
  readonly generatorMicros: number
}

/** After the end, for answers and for requests that are still waiting. */
const DRAIN_MS_MAX = 10_000
/** One for the process, from the first open loop on: a thread takes longer to start than a request to answer. */
let alarm: AlarmClock | undefined
/** How late the alarm rings, more or less: the kernel's slack and the way between the threads. */
const ALARM_LATE_MICROS = 60

export async function load(job: LoadJob, onMeasuring: () => void): Promise<LoadResult> {
  const run = new LoadRun(job, onMeasuring)
  try {
    await run.connect()
    return await run.measure()
  } finally {
    run.close()
  }
}

interface Lane {
  readonly socket: Socket
  readonly reader: AnswerReader
  readonly requests: readonly RequestBytes[]
  readonly random: Random
  /** Which workload is in flight; -1: none. */
  part: number
  startMicros: number
  freeMicros: number
}

class PartCounts {
  readonly latencies = new Latencies()
  readonly refusals = new Map<string, number>()
}

class LoadRun {
  readonly #job: LoadJob
  readonly #onMeasuring: () => void
  readonly #random: Random
  readonly #lanes: Lane[] = []
  readonly #all = new Latencies()
  readonly #late = new Latencies()
  readonly #parts: readonly PartCounts[]
  readonly #thresholds: readonly number[]
  #loop: OpenLoop | undefined
  #measureFrom = 0
  #end = 0
  #inFlight = 0
  #answers = 0
  #refused = 0
  #finish: (() => void) | undefined
  #fail: ((error: Error) => void) | undefined

  constructor(job: LoadJob, onMeasuring: () => void) {
    this.#job = job
    this.#onMeasuring = onMeasuring
    this.#random = new Random(job.seed)
    this.#parts = job.mix.map(() => new PartCounts())
    const sum = job.mix.reduce((total, { weight }) => total + weight, 0)
    let below = 0
    this.#thresholds = job.mix.map(({ weight }) => (below += weight) / sum)
  }

  async connect(): Promise<void> {
    const { mode, endpoint, mix } = this.#job
    const { hostname, port, protocol, host } = new URL(endpoint)
    const lanes = mode.kind === 'closed' ? mode.clients : mode.connections
    const opened = Array.from({ length: lanes }, (_, at) => {
      const buffer = Buffer.allocUnsafe(READ_BYTES)
      const onread = {
        buffer,
        callback: (bytes: number) => {
          this.#received(at, buffer.subarray(0, bytes))
          return true
        },
      }
      const secure = protocol === 'https:'
      const address = { host: hostname, port: Number(port || (secure ? 443 : 80)), noDelay: true }
      const socket = secure
        ? connectTls({ ...address, servername: hostname })
        : connect({ ...address, onread })
      if (secure) socket.on('data', (chunk: Buffer) => this.#received(at, chunk))
      const lane: Lane = {
        socket,
        reader: new AnswerReader(),
        requests: mix.map(({ workload }) => new RequestBytes(host, workload)),
        random: this.#random.fork(),
        part: -1,
        startMicros: 0,
        freeMicros: 0,
      }
      this.#lanes.push(lane)
      return new Promise<void>((resolve, reject) => {
        this.#fail = reject
        socket.once(secure ? 'secureConnect' : 'connect', () => resolve())
        socket.once('error', reject)
        socket.once('close', () => reject(new Error('the server closed a connection')))
      })
    })
    await Promise.all(opened)
  }

  async measure(): Promise<LoadResult> {
    const { warmupMs, durationMs, mode } = this.#job
    const start = nowMicros()
    this.#measureFrom = start + warmupMs * 1000
    this.#end = this.#measureFrom + durationMs * 1000
    let usage = process.cpuUsage()
    let answersBefore = 0
    const warm = setTimeout(() => {
      usage = process.cpuUsage()
      answersBefore = this.#answers
      this.#onMeasuring()
    }, warmupMs)
    const patience = setTimeout(() => this.#finish?.(), warmupMs + durationMs + DRAIN_MS_MAX)
    const ended = new Promise<void>((resolve, reject) => {
      this.#finish = resolve
      this.#fail = reject
      for (const { socket } of this.#lanes) {
        socket.on('error', reject)
        socket.on('close', () => reject(new Error('the server closed a connection')))
      }
    })
    if (mode.kind === 'closed') {
      for (const at of this.#lanes.keys()) this.#send(at, nowMicros())
    } else {
      const arrivals = new Arrivals(
        start,
        mode.perSecond,
        mode.spacing === 'poisson' ? this.#random.fork() : undefined,
      )
      this.#loop = new OpenLoop(arrivals, this.#lanes.length, this.#end)
      this.#drive(this.#loop)
    }
    try {
      await ended
    } finally {
      clearTimeout(warm)
      clearTimeout(patience)
    }
    const answersSince = this.#answers - answersBefore
    const { user, system } = process.cpuUsage(usage)
    return this.#result(answersSince, (user + system) / Math.max(1, answersSince))
  }

  close(): void {
    alarm?.stop()
    this.#finish = undefined
    this.#fail = undefined
    for (const { socket } of this.#lanes) {
      socket.removeAllListeners()
      socket.on('error', () => undefined)
      socket.destroy()
    }
  }

  /** Sends what is due, and comes again when the next is. */
  #drive(loop: OpenLoop): void {
    const now = nowMicros()
    for (let start = loop.next(now); start !== undefined; start = loop.next(now)) {
      const lane = this.#lanes[start.lane]!
      const sentMicros = nowMicros()
      if (start.intendedMicros >= this.#measureFrom)
        this.#late.record(sentMicros - Math.max(start.intendedMicros, lane.freeMicros))
      this.#send(start.lane, start.intendedMicros)
    }
    const wake = loop.wakeMicros
    if (wake === undefined) {
      // Nothing more will come, or an answer must come first: #received() goes on.
      if (this.#inFlight === 0) this.#finish?.()
      return
    }
    if (wake - nowMicros() > ALARM_LATE_MICROS)
      (alarm ??= new AlarmClock()).wakeAt(wake - ALARM_LATE_MICROS, () => this.#drive(loop))
    else setImmediate(() => this.#drive(loop))
  }

  #send(at: number, startMicros: number): void {
    const lane = this.#lanes[at]!
    const draw = this.#thresholds.length === 1 ? 0 : lane.random.fraction()
    let part = 0
    while (part < this.#thresholds.length - 1 && draw >= this.#thresholds[part]!) part++
    lane.part = part
    lane.startMicros = startMicros
    this.#inFlight++
    lane.socket.write(lane.requests[part]!.next(lane.random))
  }

  #received(at: number, chunk: Buffer): void {
    const lane = this.#lanes[at]!
    const answer = this.#read(lane, chunk)
    if (answer === undefined) return
    const now = nowMicros()
    const { part, startMicros } = lane
    lane.part = -1
    lane.freeMicros = now
    this.#inFlight--
    this.#answers++
    // A closed loop counts what is answered in time, an open loop everything that was meant to start in time.
    const loop = this.#loop
    const counts =
      loop === undefined ? now >= this.#measureFrom && now < this.#end : startMicros >= this.#measureFrom
    if (counts) {
      const counters = this.#parts[part]!
      this.#all.record(now - startMicros)
      counters.latencies.record(now - startMicros)
      if (answer.status !== 200) {
        const name = refusalName(answer)
        this.#refused++
        counters.refusals.set(name, (counters.refusals.get(name) ?? 0) + 1)
      }
    }
    if (loop === undefined) {
      if (now < this.#end) this.#send(at, now)
      else if (this.#inFlight === 0) this.#finish?.()
      return
    }
    const wasFull = !loop.hasFreeLane
    loop.answered(at)
    if (wasFull || loop.wakeMicros === undefined) this.#drive(loop)
  }

  #read(lane: Lane, chunk: Buffer): ReturnType<AnswerReader['feed']> {
    try {
      const answer = lane.reader.feed(chunk)
      if (answer !== undefined && lane.part === -1) throw new Error('an answer that nobody asked for')
      return answer
    } catch (error) {
      this.#fail?.(error as Error)
      return undefined
    }
  }

  #result(answersSinceMeasuring: number, generatorMicros: number): LoadResult {
    const seconds = (this.#end - this.#measureFrom) / 1e6
    const latency = this.#all.summary()
    return {
      seconds,
      answers: latency.count,
      perSecond: (latency.count - this.#refused) / seconds,
      refused: this.#refused,
      latency,
      parts: this.#job.mix.map(({ workload }, at) => {
        const { latencies, refusals } = this.#parts[at]!
        const summary = latencies.summary()
        return {
          workload: workload.name,
          answers: summary.count,
          refusals: Object.fromEntries(refusals),
          latency: summary,
        }
      }),
      unsent: this.#loop?.countUnsent() ?? 0,
      lateMicrosP99: this.#late.summary().p99Micros,
      answersSinceMeasuring,
      generatorMicros,
    }
  }
}

const READ_BYTES = 64 * 1024
