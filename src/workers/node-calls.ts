// A storage node that belongs to another worker: every call of the contract is a message and its answer.
//
//   router, coordinator --> remoteNode --channel--> nodeService --> the node
//
// A message is answered when the node has answered: what is durable then is durable here. Two things are not calls: a watch of
// an item, and hints of stalled transactions; routers of other workers use neither (they hand such requests on).
import type { Ledger } from '../ledger/ledger.js'
import type { StorageNode } from '../storage/contract/storage-node.js'
import type { Channel, Method, Service } from './channel.js'
import { ANY_CALL, type CallForm } from './forms.js'
import { NODE_FORMS } from './node-forms.js'

/** By their numbers. A method that is left out is not there for other workers. */
export const NODE_METHODS = [
  'get',
  'write',
  'range',
  'rangeText',
  'transact',
  'prepare',
  'commit',
  'cancel',
  'finished',
  'readAt',
  'readLatest',
  'stalled',
  'openSnapshot',
  'closeSnapshot',
  'readSnapshot',
  'rangeAt',
  'lockItems',
  'unlockItems',
  'readMeta',
  'writeMeta',
  'writeMetaIf',
  'setShape',
  'dropTable',
  'count',
  'expired',
  'backfill',
  'sweep',
  'load',
] as const satisfies readonly (keyof StorageNode)[]

export const LEDGER_METHODS = [
  'begin',
  'decide',
  'complete',
  'read',
  'unfinished',
  'recent',
  'purge',
] as const satisfies readonly (keyof Ledger)[]

/** Two for each node: its own, and that of its ledger. */
export const SERVICES_OF_NODE = 2

/** What another worker may call of a node, and of its ledger. */
export function nodeServices(node: StorageNode): readonly [Service, Service] {
  return [methodsOf(node, NODE_METHODS, NODE_FORMS), methodsOf(node.ledger, LEDGER_METHODS, {})]
}

function methodsOf<T extends object>(
  target: T,
  names: readonly (keyof T)[],
  forms: { readonly [Name in keyof T]?: CallForm },
): Service {
  return names.map((name) => {
    const method = target[name] as Method | undefined
    if (method === undefined) return undefined
    const run: Method = (...args) => method.apply(target, args)
    return { run, form: forms[name] ?? ANY_CALL }
  })
}

/** A node behind a channel; its services have the numbers from `first` on. Closing it is its owner's business. */
export function remoteNode(channel: Channel, first: number): StorageNode {
  return {
    ...callsOf<StorageNode>(channel, first, NODE_METHODS, NODE_FORMS),
    ledger: callsOf<Ledger>(channel, first + 1, LEDGER_METHODS, {}),
    onStalled: () => undefined,
    // Of another process: whoever counts them asks there.
    unitsHeld: { snapshots: 0, historyBytes: 0, locks: 0 },
    close: () => Promise.resolve(),
  }
}

function callsOf<T extends object>(
  channel: Channel,
  service: number,
  names: readonly (keyof T & string)[],
  forms: { readonly [Name in keyof T]?: CallForm },
): T {
  return Object.fromEntries(
    names.map((name, number) => {
      const form = forms[name]
      return [name, (...args: readonly unknown[]) => channel.call(service, number, args, form)]
    }),
  ) as T
}
