// A machine that does everything itself, as `seriatim start` does: beside its nodes run a coordinator and recovery that
// call them without a network between.
//
//   client ----network----> coordinator --call--> node, ledger      nothing is lost, repeated or overtaken on the way;
//                           recovery ----call--/                    whoever answers and whoever asks crash together
//
// What a coordinator spares itself where no call can be lost (fences, records of transactions in one round) is tried here
// alone: between processes it does none of it. And requests that arrive while the process is busy are begun in one turn, so
// that their steps come between each other's.
import { type CoordinatedNode, type Coordinator, openCoordinator } from '../src/coordinator/coordinator.js'
import type { Ledger } from '../src/ledger/ledger.js'
import { startRecovery } from '../src/recovery/recovery.js'
import type { LocalNode } from '../src/storage/node/local-node.js'
import { never } from './disk.js'
import { LEDGER_METHODS, TRANSACTION_METHODS, UNIT_METHODS } from './node-methods.js'
import {
  type Cluster,
  coordinatorServices,
  isExpected,
  placementOf,
  RECOVERY_TIMES,
  WRITE_DEADLINE_MS,
} from './processes.js'
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

/** What such a machine offers to clients, once it has finished what the life before left. */
export async function serveWithin(
  { rules, around, knobs, onBroken }: Pick<Cluster, 'rules' | 'around' | 'knobs' | 'onBroken'>,
  life: Life,
  running: readonly RunningNode[],
): Promise<Services> {
  const called = <T extends object>(target: T, methods: readonly (keyof T & string)[]): T =>
    calledWithin(life, target, methods, onBroken)
  const nodes = running.map(({ node, watched, ledger }): CoordinatedNode => ({
    ...called<Watched>(watched, [...TRANSACTION_METHODS, ...UNIT_METHODS]),
    ledger: called(ledger, LEDGER_METHODS),
    get unitsHeld() {
      return node.unitsHeld
    },
  }))
  const places = {
    runtime: life.runtime,
    nodes,
    placement: placementOf(nodes.length),
  }
  const onError = (): void => around.tally.add('recovery error')
  const recovery = startRecovery({ ...places, tuning: RECOVERY_TIMES, onError })
  for (const [position, { node }] of running.entries()) node.onStalled((tx) => recovery.report(position, tx))
  await recovery.takeOver()
  const coordinator = openCoordinator({
    ...places,
    rules,
    sharedJournal: true,
    tuning: { deadlineMs: WRITE_DEADLINE_MS, completionsMax: knobs.completionsMax },
  })
  const items = running.map(({ service, watched }) => [service, singleItems(watched, coordinator)] as const)
  return inTurns(life, {
    ...coordinatorServices(life.runtime, coordinator, nodes),
    ...Object.fromEntries(items),
  })
}

/** As the router does it: single items are asked of their node, and the coordinator comes after what it answers. */
function singleItems({ get, write }: Pick<Watched, 'get' | 'write'>, coordinator: Coordinator): object {
  const witnessedWrite: Watched['write'] = async (request) => {
    const outcome = await write(request)
    if (outcome.verdict === 'done') coordinator.witness(outcome.timestamp)
    return outcome
  }
  const transactGet: Watched['get'] = async (...args) => {
    const record = await get(...args)
    if (record !== undefined) coordinator.witness(record.timestamp)
    return record
  }
  return { get, transactGet, write: witnessedWrite }
}

/** So many other continuations may have their turn before that of an answer. */
const OTHERS_FIRST_MAX = 3
const BUSY_MICROS = { min: 1, max: 10_000 }

/** The same services, but what arrives while the process is busy is begun together. */
function inTurns(life: Life, services: Services): Services {
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
function calledWithin<T extends object>(
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
