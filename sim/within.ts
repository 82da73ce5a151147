// What the services of a simulated server are made of that calls its nodes as they stand, or over a channel: crash points around
// calls, and requests that are begun in one turn.
import type { Coordinator } from '../src/coordinator/coordinator.js'
import type { Ledger } from '../src/ledger/ledger.js'
import type { LocalNode } from '../src/storage/node/local-node.js'
import { never } from './disk.js'
import { type Cluster, isExpected } from './processes.js'
import type { Life, Services } from './process.js'
import type { Watched } from './witness.js'

/** A node that runs, and what the world sees of it. */
export interface RunningNode {
  /** What clients call it by. */
  readonly service: string
  readonly node: LocalNode
  readonly watched: Watched
  readonly ledger: Ledger
}

/** As the router does it: single items are asked of their node, and the coordinator comes after what it answers. */
export function singleItems(
  { get, write }: Pick<Watched, 'get' | 'write'>,
  coordinator: Coordinator,
): object {
  const witnessedWrite: Watched['write'] = async (request) => {
    const outcome = await write(request)
    if (outcome.verdict === 'done') coordinator.clock.witness(outcome.timestamp)
    return outcome
  }
  const transactGet: Watched['get'] = async (...args) => {
    const record = await get(...args)
    if (record !== undefined) coordinator.clock.witness(record.timestamp)
    return record
  }
  return { get, transactGet, write: witnessedWrite }
}

/** So many other continuations may have their turn before that of an answer. */
const OTHERS_FIRST_MAX = 3
const BUSY_MICROS = { min: 1, max: 10_000 }

/** The same services, but what arrives while the process is busy is begun together. */
export function inTurns(life: Life, services: Services): Services {
  const { around, random, name } = life.process
  const label = `turn ${name}`
  let waiting: (() => void)[] = []
  const beginAll = (): void => {
    const all = waiting
    waiting = []
    for (const begin of all) if (life.alive) begin()
  }
  const turned =
    (method: Method): Method =>
    (...args) =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0)
          around.scheduler.after(random.skewed(BUSY_MICROS.min, BUSY_MICROS.max), label, beginAll)
        waiting.push(() => void Promise.resolve(method(...args)).then(resolve, reject))
      })
  const entriesOf = (service: object): (readonly [string, Method])[] =>
    Object.entries(service).map(([method, handler]) => [method, turned(handler as Method)] as const)
  return Object.fromEntries(
    Object.entries(services).map(([service, methods]) => [service, Object.fromEntries(entriesOf(methods))]),
  )
}

type Method = (...args: unknown[]) => Promise<unknown>

/** Calls that are made in the process that answers them: there is a crash point before each, and behind its answer. */
export function calledWithin<T extends object>(
  life: Life,
  target: T,
  methods: readonly (keyof T & string)[],
  onBroken: Cluster['onBroken'],
): T {
  const { random, around } = life.process
  const { tally } = around
  const entries = methods.map((method) => {
    const [before, after] = [`before-call:${method}`, `after-call:${method}`]
    const handler = target[method] as Method
    const call: Method = async (...args) => {
      if (!life.reach(before)) return never()
      try {
        const answer = await handler.apply(target, args)
        for (let others = random.below(OTHERS_FIRST_MAX + 1); others > 0; others--) await Promise.resolve()
        return life.reach(after) ? answer : never()
      } catch (error) {
        tally.add('error/', (error as Error).name)
        if (!life.reach(after)) return never()
        if (!isExpected(error as Error)) onBroken(`${method}: ${(error as Error).stack ?? String(error)}`)
        throw error
      }
    }
    return [method, call] as const
  })
  return Object.fromEntries(entries) as T
}
