// Who stands in whose way: requests that wait for items, or have waited lately, and explicit locks of units of work.
import { EXTENSION_PREFIX } from '../../port/extension.js'
import type { ItemLock, ItemWait } from '../../storage/contract/units.js'
import { EVERY_TABLE } from '../request/access.js'
import type { Operation } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { itemLister, type ListedItem } from './transaction-list.js'

const LIMIT_DEFAULT = 100
const LIMIT_MAX = 1000

export const listContention: Operation = {
  name: 'ListContention',
  targetPrefix: EXTENSION_PREFIX,
  shape: {
    kind: 'struct',
    members: { Limit: { kind: 'integer', valueMin: 1, valueMax: LIMIT_MAX } },
  },

  async run({ nodes, catalog }, input, scope) {
    scope.authorise(EVERY_TABLE, 'everyTable')
    const limit = (input['Limit'] as number | null | undefined) ?? LIMIT_DEFAULT
    const found = await Promise.all(nodes.map(async (node) => node.contention?.(limit)))
    const listed = itemLister(catalog.shapes())
    const itemOf = (item: ItemWait['item']): ListedItem => listed([item], 1).Items?.[0] ?? {}
    const waits = found.flatMap((each, node) =>
      (each?.waits ?? []).map((wait) => ({ wait, entry: { ...itemOf(wait.item), ...waitOf(wait, node) } })),
    )
    const locks = found.flatMap((each, node) =>
      (each?.locks ?? []).map((lock) => ({ ...itemOf(lock.item), ...lockOf(lock, node) })),
    )
    return jsonReply({
      Waits: waits
        .toSorted((one, other) => orderOf(other.wait) - orderOf(one.wait))
        .slice(0, limit)
        .map(({ entry }) => entry),
      Locks: locks.toSorted((one, other) => one.SinceDateTime - other.SinceDateTime).slice(0, limit),
    })
  },
}

/** Those that wait now first, then the newest. */
const orderOf = ({ waitedMicros, sinceMicros }: ItemWait): number =>
  waitedMicros === undefined ? Infinity : sinceMicros

const ENDS = { 'went-on': 'WENT_ON', 'gave-up': 'GAVE_UP' } as const

const waitOf = ({ waiter, holders, sinceMicros, waitedMicros, end }: ItemWait, node: number): object => ({
  Node: node,
  ...(waiter !== undefined && { Waiter: waiter }),
  Holders: holders,
  SinceDateTime: sinceMicros / 1e6,
  State: end === undefined ? 'WAITING' : ENDS[end],
  ...(waitedMicros !== undefined && { WaitedMs: waitedMicros / 1000 }),
})

const lockOf = ({ unit, sinceMicros, leftMicros }: ItemLock, node: number) => ({
  Node: node,
  UnitId: unit,
  SinceDateTime: sinceMicros / 1e6,
  LeftMs: Math.ceil(leftMicros / 1000),
})
