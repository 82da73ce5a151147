// Snapshots over all nodes: opened everywhere before anything is read, and read with patience for what is prepared.
//
//   open --openSnapshot(T)--> every node     a node whose clock is beyond T may have lost what T should see: a later T
//   read --readSnapshot(T)--> nodes of the items
//   range --rangeAt(T)------> one node (the router merges)
//   close --closeSnapshot(T)-> every node
import type { ItemRef } from '../ledger/ledger.js'
import type { Timestamp, TxId } from '../model/brand.js'
import type { ItemRecord } from '../rules/item/item.js'
import { steadyMicros } from '../runtime/runtime.js'
import type { RangePage } from '../storage/contract/storage-node.js'
import type {
  LockReply,
  LockRequest,
  OpenSnapshotRequest,
  RangeAtRequest,
  ReadPoint,
  ReadSnapshotReply,
  ReadSnapshotRequest,
  UnitNode,
} from '../storage/contract/units.js'
import type { Parts } from './coordinator.js'
import { groupsOf, inOrder, nodeAt } from './placement.js'

export type SnapshotRefusal =
  | { readonly outcome: 'snapshot-too-old' }
  /** This transaction was prepared before the snapshot, and nobody could say in time what became of it. */
  | { readonly outcome: 'conflict'; readonly tx: TxId }

export type SnapshotRecords =
  { readonly outcome: 'read'; readonly records: readonly (ItemRecord | undefined)[] } | SnapshotRefusal

export type SnapshotPage = { readonly outcome: 'read'; readonly page: RangePage } | SnapshotRefusal

export interface StoreSnapshots {
  /** A timestamp above everything acknowledged so far, at which every node can be read from now on. */
  open(request?: Pick<OpenSnapshotRequest, 'above'>): Promise<Timestamp>
  /** Nobody reads there any more. One that is not open does no harm. */
  close(timestamp: Timestamp): Promise<void>
  /** The same, and nobody waits for it. */
  forget(timestamp: Timestamp): void
  read(request: { readonly at: ReadPoint; readonly items: readonly ItemRef[] }): Promise<SnapshotRecords>
  /** Opens one, and reads there: one step where one node has everything. */
  readNew(
    request: Pick<ReadSnapshotRequest, 'items' | 'above'>,
  ): Promise<{ readonly at: Timestamp; readonly answer: SnapshotRecords }>
  range(node: UnitNode, request: RangeAtRequest): Promise<SnapshotPage>
  /** On each node that has some of the items. What was locked before a refusal stays locked until `unlock`. */
  lock(request: LockRequest): Promise<LockReply>
  unlock(unit: string, items: readonly ItemRef[]): Promise<void>
}

const OPEN_ROUNDS_MAX = 16
/** How far a further try goes beyond the clock that was in its way; doubled with each. */
const AHEAD_MICROS = 64

export function openSnapshots(parts: Parts): StoreSnapshots {
  const { nodes, calls } = parts
  const locate = ({ key }: ItemRef): number => parts.placement.nodeOf(key.hash)

  const only = nodes.length === 1 ? nodes[0] : undefined

  const close = async (timestamp: Timestamp): Promise<void> => {
    await Promise.all(nodes.map((node) => calls(() => node.closeSnapshot(timestamp))))
  }
  const open: StoreSnapshots['open'] = async (request = {}) => {
    if (only === undefined) return openEverywhere(parts, close)
    const { timestamp } = await calls(() => only.openSnapshot(request))
    parts.clock.witness(timestamp)
    return timestamp
  }
  const snapshots: StoreSnapshots = {
    open,
    close,
    forget: (timestamp) => {
      const closed = only === undefined ? close(timestamp) : calls(() => only.closeSnapshot(timestamp))
      closed.catch(() => undefined)
    },
    readNew: async (request) => {
      if (only !== undefined && !calls.lossy) {
        const reply = await only.readSnapshot({ ...request, at: 'new' })
        const records = recordsOf(reply)
        // Otherwise whatever was in the way takes its time.
        if (records.outcome === 'read' && reply.verdict === 'read' && reply.at !== undefined) {
          parts.clock.witness(reply.at)
          return { at: reply.at, answer: records }
        }
        if (reply.verdict === 'read' && reply.at !== undefined) snapshots.forget(reply.at)
      }
      const at = await open(request)
      return { at, answer: await snapshots.read({ at, items: request.items }) }
    },
    read: async ({ at, items }) => {
      const groups = groupsOf(items, locate)
      const answers = await Promise.all(
        groups.map(({ node, parts: refs }) =>
          patiently(parts, async () => {
            return recordsOf(await calls(() => nodeAt(nodes, node).readSnapshot({ at, items: refs })))
          }),
        ),
      )
      const refused = answers.find((answer) => answer.outcome !== 'read')
      if (refused !== undefined) return refused
      const records = answers.map((answer) => (answer.outcome === 'read' ? answer.records : []))
      return { outcome: 'read', records: inOrder(groups, records) }
    },
    range: (node, request) =>
      patiently(parts, async () => {
        const reply = await calls(() => node.rangeAt(request))
        switch (reply.verdict) {
          case 'read':
            return { outcome: 'read', page: reply.page }
          case 'pending':
            return { outcome: 'conflict', tx: reply.tx }
          case 'snapshot-too-old':
            return { outcome: 'snapshot-too-old' }
        }
      }),
    lock: async ({ items, ...request }) => {
      // One node after another: whoever is refused has taken little.
      for (const { node, parts: refs } of groupsOf(items, locate)) {
        const reply = await calls(() => nodeAt(nodes, node).lockItems({ ...request, items: refs }))
        if (reply.verdict !== 'locked') return reply
      }
      return { verdict: 'locked' }
    },
    unlock: async (unit, items) => {
      const groups = groupsOf(items, locate)
      await Promise.all(
        groups.map(({ node, parts: refs }) =>
          calls(() => nodeAt(nodes, node).unlockItems({ unit, items: refs })),
        ),
      )
    },
  }
  return snapshots
}

/** What a node has read, or the first thing that is in the way. */
function recordsOf(reply: ReadSnapshotReply): SnapshotRecords {
  if (reply.verdict === 'snapshot-too-old') return { outcome: 'snapshot-too-old' }
  const records: (ItemRecord | undefined)[] = []
  for (const result of reply.results) {
    if (result.verdict === 'pending') return { outcome: 'conflict', tx: result.tx }
    records.push(result.record)
  }
  return { outcome: 'read', records }
}

async function openEverywhere(
  parts: Parts,
  close: (timestamp: Timestamp) => Promise<void>,
): Promise<Timestamp> {
  const { nodes, calls, clock } = parts
  let timestamp = clock.nextTimestamp()
  for (let round = 0; round < OPEN_ROUNDS_MAX; round++) {
    const at = timestamp
    const replies = await Promise.all(nodes.map((node) => calls(() => node.openSnapshot({ timestamp: at }))))
    const highest = Math.max(...replies.map((reply) => reply.clock))
    if (highest <= at) return at
    // A node has stamped writes beyond it, and what they overwrote was not kept.
    parts.completion.behind(close(at))
    clock.witness((highest + AHEAD_MICROS * 2 ** round) as Timestamp)
    timestamp = clock.nextTimestamp()
  }
  throw new Error('no timestamp could be found at which all nodes can be read')
}

/** Asks again while a transaction is undecided: recovery ends one whose coordinator is gone well before the deadline. */
async function patiently<Answer extends { readonly outcome: string }>(
  { runtime, deadlineMs }: Parts,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const deadline = steadyMicros(runtime.clock) + deadlineMs * 1000
  for (;;) {
    const answer = await ask()
    if (answer.outcome !== 'conflict' || steadyMicros(runtime.clock) > deadline) return answer
  }
}
