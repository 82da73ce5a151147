// Three nodes, items of which it is known where they live, and calls that can be changed on their way.
import type { CoordinatedNode, CoordinatorTuning } from '../../src/coordinator/coordinator.js'
import type { Placement } from '../../src/coordinator/placement.js'
import type { Ledger } from '../../src/ledger/ledger.js'
import { itemKey } from '../../src/model/key-bytes.js'
import type { Item } from '../../src/model/value.js'
import type { TransactionRules } from '../../src/rules/item/section-4.js'
import { openLocalNodes } from '../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import type { Action } from '../../src/storage/contract/transactions.js'
import type { FaultyDisk } from '../faults/faulty-files.js'
import { testCoordinator } from '../support/coordination.js'
import { testFolder } from '../support/folder.js'
import { deleteRequest, itemOf, plain, plainItem, putRequest, updateRequest } from '../suites/tables.js'
import { testRuntime } from '../support/test-runtime.js'

export const NODES = 3
export const nodeOf = (hash: number): number => hash % NODES

/** The id of an item on that node. */
export function idOn(node: number, name: string): string {
  for (let n = 0; ; n++) {
    const id = `${name}${n}`
    if (nodeOf(itemKey(plain.key, plainItem(id)).hash) === node) return id
  }
}

export const refOf = (id: string) => ({ space: plain.space, key: itemKey(plain.key, plainItem(id)) })
export const put = (id: string, attributes: Item = {}, condition?: string): Action =>
  putRequest(plain, plainItem(id, attributes), condition === undefined ? {} : { condition })
export const update = (id: string, expression: string, values: Item): Action =>
  updateRequest(plain, plainItem(id), expression, { values })
export const remove = (id: string): Action => deleteRequest(plain, plainItem(id))
export const check = (id: string, condition: string): Action => {
  const { condition: bound, ...rest } = deleteRequest(plain, plainItem(id), { condition })
  return { ...rest, mutation: { kind: 'check' }, ...(bound && { condition: bound }) }
}

type Method = Exclude<keyof CoordinatedNode, 'ledger'> | `ledger.${Extract<keyof Ledger, string>}`
/** What becomes of one call; `go` carries it out. */
export type Fate = (go: () => Promise<unknown>, request: unknown) => Promise<unknown>

export interface Cluster {
  readonly runtime: ReturnType<typeof testRuntime>
  readonly nodes: readonly StorageNode[]
  /** The nodes as a coordinator sees them through the fates of its calls. */
  readonly seen: readonly CoordinatedNode[]
  readonly calls: { readonly node: number; readonly method: string; readonly request: unknown }[]
  /** The next calls of this method to this node get these fates, one each. */
  on(node: number, method: Method, ...fates: readonly Fate[]): void
  coordinator(options?: {
    readonly rules?: TransactionRules
    readonly tuning?: CoordinatorTuning
    readonly placement?: Placement
  }): ReturnType<typeof testCoordinator>
  get(id: string): Promise<Item | undefined>
  seed(...ids: readonly string[]): Promise<void>
  unfinished(): Promise<number>
  /** Moves the clock on in small steps and lets everything happen meanwhile. */
  pass(ms: number): Promise<void>
}

export const lost: Fate = () => new Promise(() => undefined)
/** It is carried out, but nobody hears of it. */
export const answerLost: Fate = (go) => {
  void go()
  return new Promise(() => undefined)
}

/** In memory, or with a disk for the journal that all nodes share. */
export async function openCluster(seed = 1, disk?: FaultyDisk): Promise<Cluster> {
  const runtime = testRuntime(seed)
  const place = disk === undefined ? ({ memory: true } as const) : { path: testFolder(), files: disk }
  const nodes = await openLocalNodes({ runtime, ...place, nodes: NODES })
  const calls: { node: number; method: string; request: unknown }[] = []
  const fates = new Map<string, Fate[]>()
  const through = (node: number, method: string, go: (...request: never[]) => Promise<unknown>) => {
    return (request: never, ...more: never[]): Promise<unknown> => {
      calls.push({ node, method, request })
      const fate = fates.get(`${node} ${method}`)?.shift()
      const carryOut = (): Promise<unknown> => go(request, ...more)
      return fate === undefined ? carryOut() : fate(carryOut, request)
    }
  }
  const seen = nodes.map((node, position) => {
    const ledger = intercepted(node.ledger, (method, go) => through(position, `ledger.${method}`, go))
    return { ...intercepted(node, (method, go) => through(position, method, go)), ledger }
  })
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    runtime,
    nodes,
    seen,
    calls,
    on: (node, method, ...next) => void fates.set(`${node} ${method}`, [...next]),
    coordinator: (options) =>
      testCoordinator(runtime, seen, nodeOf, { ...options, sharedJournal: disk !== undefined }),
    get: async (id) => {
      const { space, key } = refOf(id)
      return itemOf(await nodes[nodeOf(key.hash)]?.get(space, key, true))
    },
    seed: async (...ids) => {
      for (const id of ids) {
        const request = putRequest(plain, plainItem(id, { v: { S: 'old' } }))
        await nodes[nodeOf(request.key.hash)]?.write(request)
      }
      // Whatever is stamped from here on comes after them.
      runtime.clock.advance(1)
    },
    unfinished: async () => {
      const first = '0'.repeat(32) as Parameters<Ledger['unfinished']>[0]
      const lists = await Promise.all(nodes.map((node) => node.ledger.unfinished(first, 1000)))
      return lists.flat().length
    },
    pass: async (ms) => {
      for (let passed = 0; passed < ms; passed += 50) {
        runtime.clock.advance(50)
        await turns()
      }
    },
  }
}

function intercepted<T extends object>(
  target: T,
  wrap: (method: string, go: (...request: never[]) => Promise<unknown>) => unknown,
): T {
  return new Proxy(
    {},
    {
      ownKeys: () => METHODS,
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
      get: (_, name) => {
        const method = (target as Record<string | symbol, unknown>)[name]
        if (typeof method !== 'function' || typeof name !== 'string') return method
        return wrap(name, (method as (...request: never[]) => Promise<unknown>).bind(target))
      },
    },
  ) as T
}

const METHODS = [
  'prepare',
  'commit',
  'cancel',
  'finished',
  'transact',
  'readAt',
  'readLatest',
  'stalled',
] satisfies Method[]
