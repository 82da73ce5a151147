// The processes of one simulated server with several workers, as `seriatim start --workers N` has them: the first is the machine with
// the nodes (machine.ts), the others are of this file. They live and die together.
//
//   the machine starts --> each worker joins it by a pipe --> all of them serve clients
//   a worker crashes --a moment later--> the machine ends, too --a moment later--> so do the other workers
//   the machine crashes --a moment later--> all workers end
//
// Meanwhile whoever is left runs on. What runs on the pipes is the real channel, the real forms and the real remote node.
import { Channel, type Service } from '../../src/workers/channel.js'
import { FrameSplitter } from '../../src/workers/frames.js'
import { SlabReader } from '../../src/workers/slabs.js'
import { type Life, type Services, SimProcess, type Surroundings } from '../process.js'
import { openPipe } from './pipe.js'

/** How long it takes until a process is told that another has ended, and until it has ended itself. */
const TOLD_MICROS = { min: 1, max: 20_000 }
const ENDS_MICROS = { min: 1, max: 50_000 }

interface Waiting {
  readonly life: Life
  readonly join: (channel: Channel) => void
}

interface Joined {
  readonly life: Life
  readonly ofFirst: Channel
  readonly ofWorker: Channel
}

/** What the first worker of one life offers to each other. */
interface Offer {
  readonly life: Life
  readonly services: readonly Service[]
  readonly onAll: () => void
}

/** What a worker offers to clients once it has joined. */
export type ServeWorker = (life: Life, channel: Channel) => Services | Promise<Services>

export interface GroupOptions {
  /** Beside the first. */
  readonly workers: number
  readonly serve: ServeWorker
  /** That of their machine. */
  readonly clock: () => SimProcess
  readonly onBroken: (what: string) => void
}

/** Frames of the first worker after which a pipe has no room for a while. */
const FULL = 0.05
const FULL_MICROS_MAX = 20_000

/** Groups whose processes have one clock, as on a real machine; in the others each has its own, which is worse. */
const ONE_CLOCK = 0.7

export class WorkerGroup {
  readonly workers: readonly SimProcess[]
  readonly #around: Surroundings
  readonly #onBroken: (what: string) => void
  #offer: Offer | undefined
  #waiting = new Map<SimProcess, Waiting>()
  #joined = new Map<SimProcess, Joined>()
  #ready = new Set<Life>()

  constructor(around: Surroundings, { workers, serve, clock, onBroken }: GroupOptions) {
    this.#around = around
    this.#onBroken = onBroken
    const hasOneClock = around.random.chance(ONE_CLOCK)
    this.workers = Array.from({ length: workers }, (_, at) => {
      const process = new SimProcess(around, {
        name: `worker-${at + 2}`,
        role: 'worker',
        ...(hasOneClock && { clock }),
        start: async (life) => {
          const channel = await this.#join(process, life)
          const services = await serve(life, channel)
          this.#ready.add(life)
          this.#whenAllReady()
          return services
        },
        onCrash: () => this.#lost(process),
      })
      return process
    })
  }

  /** The first worker has its nodes: resolves when all others serve upon them. */
  async open(life: Life, services: readonly Service[]): Promise<void> {
    await new Promise<void>((onAll) => {
      this.#offer = { life, services, onAll }
      for (const process of this.workers) this.#meet(process)
    })
  }

  /** The first worker has crashed. */
  ended(): void {
    this.#offer = undefined
    this.#ready.clear()
    const joined = this.#joined
    this.#joined = new Map()
    for (const { life, ofWorker } of joined.values())
      this.#soon(TOLD_MICROS, () => {
        if (!life.alive) return
        ofWorker.end('The first worker has ended.')
        life.process.crash('first-ended')
      })
  }

  #join(process: SimProcess, life: Life): Promise<Channel> {
    return new Promise((join) => {
      this.#waiting.set(process, { life, join })
      this.#meet(process)
    })
  }

  #meet(process: SimProcess): void {
    const offer = this.#offer
    const waiting = this.#waiting.get(process)
    if (offer === undefined || waiting === undefined || this.#joined.has(process)) return
    this.#waiting.delete(process)
    const ofFirst: Channel = this.#channelTo(offer.life, waiting.life, offer.services, () => ofWorker)
    const ofWorker: Channel = this.#channelTo(waiting.life, offer.life, [], () => ofFirst)
    this.#joined.set(process, { life: waiting.life, ofFirst, ofWorker })
    waiting.join(ofWorker)
  }

  #whenAllReady(): void {
    if ([...this.#joined.values()].filter(({ life }) => this.#ready.has(life)).length === this.workers.length)
      this.#offer?.onAll()
  }

  /** A worker has crashed: if it had joined, the server ends. */
  #lost(process: SimProcess): void {
    const joined = this.#joined.get(process)
    const offer = this.#offer
    this.#waiting.delete(process)
    if (joined === undefined || offer === undefined) return
    this.#soon(TOLD_MICROS, () => {
      if (!offer.life.alive) return
      joined.ofFirst.end(`${process.name} has ended.`)
      this.#soon(ENDS_MICROS, () => {
        if (offer.life.alive) offer.life.process.crash('worker-ended')
      })
    })
  }

  #soon({ min, max }: { readonly min: number; readonly max: number }, then: () => void): void {
    const { scheduler, random } = this.#around
    scheduler.after(random.skewed(min, max), 'end of a worker', then)
  }

  /** One side of it: what is sent arrives at the other. */
  #channelTo(from: Life, to: Life, services: readonly Service[], other: () => Channel): Channel {
    const { scheduler } = this.#around
    let isFull = false
    const take = takerOf(to.process, (message) => other().receive(message))
    const channel: Channel = new Channel({
      runtime: from.runtime,
      services,
      send: (frame) => {
        pipe.write(frame)
        if (from.process.role === 'worker' || !from.process.random.chance(FULL)) return
        isFull = true
        scheduler.after(from.process.random.skewed(1, FULL_MICROS_MAX), 'room in a pipe', () => {
          isFull = false
          if (from.alive) channel.proceed()
        })
      },
      isFull: () => isFull,
    })
    const pipe = openPipe({
      from,
      to,
      onSent: (frame) => channel.reuse(frame),
      take: (piece) => {
        try {
          take(piece)
        } catch (error) {
          this.#onBroken(`${to.process.name} cannot read a message: ${String(error)}`)
        }
      },
    })
    return channel
  }
}

/** The first worker reads a pipe in pieces as they come, the others into memory of their own. */
function takerOf(process: SimProcess, onMessage: (message: Buffer) => void): (piece: Buffer) => void {
  if (process.role !== 'worker') {
    const frames = new FrameSplitter(onMessage)
    return (piece) => frames.take(piece)
  }
  const slabs = new SlabReader(onMessage)
  return (piece) => {
    for (let at = 0; at < piece.length;) {
      const copied = piece.copy(slabs.room(), 0, at)
      at += copied
      slabs.filled(copied)
    }
  }
}
