// TransactGetItems: in one round at a timestamp (§4), or in two phases that compare LSNs (§3.4). Neither leaves anything
// behind but marks of when items were read, so whatever is in the way, the transaction is simply driven again.
import type { ItemRef } from '../ledger/ledger.js'
import type { Timestamp, TxId } from '../model/brand.js'
import type { ItemRecord } from '../rules/item/item.js'
import type { LatestVerdict, ReadAtReply, ReadVerdict } from '../storage/contract/transactions.js'
import type { Parts, ReadTransaction, ReadTransactionOutcome } from './coordinator.js'
import { groupsOf, inOrder, nodeAt, type Group } from './placement.js'

export async function readOneRound(
  parts: Parts,
  { items }: ReadTransaction,
): Promise<ReadTransactionOutcome> {
  const groups = groupsOf(items, (item) => parts.placement.nodeOf(item.key.hash))
  let conflicts: readonly (TxId | undefined)[] = []
  // Where one step reads them all, the node sees for itself at which timestamp that can be.
  const isOneStep = groups.length === 1 && parts.placement.isOneStep(items)
  const now = (): Timestamp | undefined => (isOneStep ? undefined : parts.clock.nextTimestamp())
  let at = now()
  for (let round = 0; round < parts.readRoundsMax; round++) {
    const reply = await readAt(parts, groups, at)
    raise(parts, reply.clock)
    const { results, timestamp } = reply
    const records = recordsOf(results)
    if (records !== undefined) return { outcome: 'read', timestamp, records }
    const pending = results.flatMap((result) => (result.verdict === 'pending' ? [result.at] : []))
    const above = results.flatMap((result) => (result.verdict === 'too-old' ? [result.above] : []))
    conflicts = results.map((result) => (result.verdict === 'pending' ? result.tx : undefined))
    raise(parts, Math.max(0, ...above))
    const before = Math.min(...pending) - 1
    // Just before the transactions in the way, unless something was written or read since: every value is the latest
    // one either way, so nothing that anybody was told is missed.
    const earlier = pending.length > 0 && above.every((each) => each < before)
    at = earlier ? (before as Timestamp) : now()
  }
  return { outcome: 'conflict', conflicts: orAll(conflicts, items) }
}

/** What was read, if every item could be. */
function recordsOf(results: readonly ReadVerdict[]): readonly (ItemRecord | undefined)[] | undefined {
  const records: (ItemRecord | undefined)[] = []
  for (const result of results) {
    if (result.verdict !== 'value') return undefined
    records.push(result.record)
  }
  return records
}

function readAt(
  parts: Parts,
  groups: readonly Group<ItemRef>[],
  timestamp: Timestamp | undefined,
): Promise<ReadAtReply> {
  const call = ({ node, parts: items }: Group<ItemRef>): Promise<ReadAtReply> =>
    parts.calls(() =>
      nodeAt(parts.nodes, node).readAt(timestamp === undefined ? { items } : { items, timestamp }),
    )
  const [first] = groups
  if (first !== undefined && groups.length === 1) return call(first)
  return Promise.all(groups.map(call)).then((replies) => ({
    clock: Math.max(...replies.map(({ clock }) => clock)) as Timestamp,
    timestamp: timestamp as Timestamp,
    results: inOrder(
      groups,
      replies.map((reply) => reply.results),
    ),
  }))
}

export async function readTwoPhases(
  parts: Parts,
  { items }: ReadTransaction,
): Promise<ReadTransactionOutcome> {
  const groups = groupsOf(items, (item) => parts.placement.nodeOf(item.key.hash))
  let before: readonly LatestVerdict[] | undefined
  let last: readonly LatestVerdict[] = []
  // Each round is the second phase of the one before it: all items again, since a value holds only from one look at its
  // item to the next, and all have to hold at one moment.
  for (let round = 0; round < parts.readRoundsMax + 1; round++) {
    for (const verdict of before ?? []) if (verdict.verdict === 'value') raise(parts, verdict.written)
    const mark = before === undefined ? undefined : parts.clock.nextTimestamp()
    last = await readLatest(parts, groups, mark)
    if (last.some(({ verdict }) => verdict === 'pending')) {
      before = undefined
      continue
    }
    if (before !== undefined && unchanged(before, last)) {
      const records = last.map((result) => (result.verdict === 'value' ? result.record : undefined))
      return { outcome: 'read', timestamp: mark as Timestamp, records }
    }
    before = last
  }
  const conflicts = last.map((result) => (result.verdict === 'pending' ? result.tx : undefined))
  return { outcome: 'conflict', conflicts: orAll(conflicts, items) }
}

async function readLatest(
  parts: Parts,
  groups: readonly Group<ItemRef>[],
  mark: Timestamp | undefined,
): Promise<readonly LatestVerdict[]> {
  const replies = await Promise.all(
    groups.map(({ node, parts: items }) =>
      parts.calls(() => nodeAt(parts.nodes, node).readLatest({ items, ...(mark !== undefined && { mark }) })),
    ),
  )
  for (const { clock } of replies) raise(parts, clock)
  return inOrder(
    groups,
    replies.map((reply) => reply.results),
  )
}

const unchanged = (before: readonly LatestVerdict[], after: readonly LatestVerdict[]): boolean =>
  after.every((result, at) => {
    const earlier = before[at]
    return result.verdict === 'value' && earlier?.verdict === 'value' && result.lsn === earlier.lsn
  })

/** If nothing was pending at last, it was writes that came between, and they concern all items. */
function orAll(
  conflicts: readonly (TxId | undefined)[],
  items: readonly ItemRef[],
): readonly (TxId | undefined)[] {
  return conflicts.some((tx) => tx !== undefined) ? conflicts : items.map(() => BETWEEN)
}

const BETWEEN = '' as TxId

function raise({ clock }: Parts, timestamp: number): void {
  clock.witness(timestamp as Timestamp)
}
