// Machines of a simulated cluster on which nothing fails but everything takes its time: one processor each, a journal
// whose syncs take a while, and a network between them.
//
//   caller --network--> [waits for the processor] work --> the real code --> answer --network--> caller
//
// The simulator of src/sim looks for errors and makes its own trouble; this one looks for waiting, and is a fifth of it.
import type { FileHandle, FileLayer } from '../../src/runtime/files.js'
import type { Runtime } from '../../src/runtime/runtime.js'
import type { Random } from '../../src/runtime/seeded-random.js'
import type { Scheduler } from '../../sim/scheduler.js'
import { type Timing, workOf } from './timing.js'

export interface Cluster {
  readonly scheduler: Scheduler
  readonly random: Random
  readonly timing: Timing
}

const EPOCH_MICROS = 1_900_000_000_000_000

export class Machine {
  readonly name: string
  readonly runtime: Runtime
  readonly #cluster: Cluster
  #busyUntil = 0
  #busyMicros = 0

  constructor(cluster: Cluster, name: string) {
    this.#cluster = cluster
    this.name = name
    const { scheduler, random } = cluster
    this.runtime = {
      clock: {
        nowMicros: () => EPOCH_MICROS + scheduler.nowMicros,
        timer: (delayMs, callback) => scheduler.after(delayMs * 1000, 'timer', callback),
      },
      randomBytes: (count) => random.bytes(count),
      defer: (callback) => void scheduler.after(0, 'defer', callback),
    }
  }

  /** Of the processor so far. */
  get busyMicros(): number {
    return this.#busyMicros
  }

  /** An answer to a call of this machine. */
  receive(then: () => void): void {
    this.work(this.#cluster.timing.messageMicros, then)
  }

  /** After what was there before. */
  work(micros: number, then: () => void): void {
    const { scheduler } = this.#cluster
    const now = scheduler.nowMicros
    this.#busyUntil = Math.max(now, this.#busyUntil) + micros
    this.#busyMicros += micros
    scheduler.after(this.#busyUntil - now, 'work', then)
  }

  /** A journal's files: they remember how long they are, and nothing else. */
  files(): FileLayer {
    const { scheduler, random, timing } = this.#cluster
    const lengths = new Map<string, number>()
    const sync = (): Promise<void> =>
      new Promise((resolve) => void scheduler.after(drawn(random, timing, 'syncMicros'), 'sync', resolve))
    const handle = (path: string): FileHandle => ({
      writeSynced: async (bytes, position) => {
        lengths.set(path, Math.max(lengths.get(path) ?? 0, position + bytes.length))
        await sync()
      },
      read: () => Promise.resolve(new Uint8Array(0)),
      reserve: () => Promise.resolve(),
      truncateSynced: (length) => {
        lengths.set(path, length)
        return sync()
      },
      length: () => Promise.resolve(lengths.get(path) ?? 0),
      close: () => Promise.resolve(),
    })
    return {
      open: (path) => {
        lengths.set(path, lengths.get(path) ?? 0)
        return Promise.resolve(handle(path))
      },
      list: () => Promise.resolve([]),
      remove: (path) => {
        lengths.delete(path)
        return Promise.resolve()
      },
      makeFolder: () => Promise.resolve(),
      syncFolder: sync,
    }
  }
}

type Method = (...args: readonly unknown[]) => Promise<unknown>

/** A target on one machine, as another one sees it. */
export interface Link<T> {
  readonly cluster: Cluster
  readonly from: Machine
  readonly to: Machine
  readonly target: T
}

/** Makes objects whose methods run on another machine. Links are many, so that they share their functions. */
export function remote<T extends object>(methods: readonly (keyof T & string)[]): (link: Link<T>) => T {
  const shared = Object.fromEntries(
    methods.map((method) => [
      method,
      function (this: { readonly link: Link<T> }, ...args: readonly unknown[]): Promise<unknown> {
        const { cluster, from, to, target } = this.link
        return call(cluster, from, to, method, (target[method] as Method).bind(target), args)
      },
    ]),
  )
  return (link) => Object.assign(Object.create(shared) as T, { link })
}

/** Whoever asks; there are so many of them that none has to wait for its processor. */
export interface Caller {
  receive(then: () => void): void
}

export function call<T>(
  { scheduler, random, timing }: Cluster,
  from: Caller,
  to: Machine,
  method: string,
  run: (...args: readonly unknown[]) => Promise<T>,
  args: readonly unknown[],
): Promise<T> {
  const { micros, sentItems, answeredItems } = workOf(timing, method, itemsOf(args[0]))
  const travel = (items: number): number =>
    drawn(random, timing, 'networkMicros') + (items * timing.itemBytes * timing.kilobyteMicros) / 1000
  return new Promise((resolve, reject) => {
    const answer = (settle: () => void): void => {
      scheduler.after(travel(answeredItems), 'answer', () => from.receive(settle))
    }
    scheduler.after(travel(sentItems), 'request', () =>
      to.work(micros, () => {
        run(...args).then(
          (value) => answer(() => resolve(value)),
          (error: unknown) => answer(() => reject(error instanceof Error ? error : new Error(String(error)))),
        )
      }),
    )
  })
}

/** Requests carry their items as `actions` or `items`; single reads and writes are of one. */
function itemsOf(request: unknown): number {
  const { actions, items } = (typeof request === 'object' && request !== null ? request : {}) as {
    readonly actions?: readonly unknown[]
    readonly items?: readonly unknown[]
  }
  return (actions ?? items)?.length ?? 1
}

function drawn(random: Random, timing: Timing, what: 'networkMicros' | 'syncMicros'): number {
  const { min, max } = random.chance(timing.slowShare) ? timing.slowMicros : timing[what]
  return random.skewed(min, max)
}
