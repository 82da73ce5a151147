// Finishing a transaction that is decided (§3.5). Anybody may do it, any number of times, at the same time: a node does
// what it is told once, and knows the transaction by its id.
import type { LedgerRecord } from '../ledger/ledger.js'
import type { Timestamp } from '../model/brand.js'
import type { CommitRequest } from '../storage/transactions.js'
import type { CoordinatedNode } from './coordinator.js'
import type { Calls } from './calls.js'

/**
 * Tells every node of a decided transaction; rejects if one does not answer. Resolves when readers see it on all of them,
 * or, with `known`, when all know of it: an update may have to wait for others before it, and recovery does not.
 */
export async function tellParticipants(
  nodes: readonly CoordinatedNode[],
  record: Pick<LedgerRecord, 'tx' | 'decision' | 'timestamp' | 'participants'>,
  calls: Calls,
  { until = 'visible', unfenced }: Pick<CommitRequest, 'until' | 'unfenced'> = {},
): Promise<Timestamp> {
  const { tx, timestamp, decision, participants } = record
  const unfencedOf = unfenced && { unfenced }
  const answers = await Promise.allSettled(
    participants.map(({ node, items }) =>
      calls(() => {
        const told = nodeAt(nodes, node)
        return decision === 'commit'
          ? told.commit({ tx, items, timestamp, until, ...unfencedOf })
          : told.cancel({ tx, items })
      }),
    ),
  )
  let clock = 0
  for (const answer of answers) {
    if (answer.status === 'rejected') throw answer.reason
    clock = Math.max(clock, answer.value.clock)
  }
  return clock as Timestamp
}

/** Waits until nothing of it could come back after a crash, and takes it off the list of the unfinished. */
export async function completeRecord(
  nodes: readonly CoordinatedNode[],
  ledger: CoordinatedNode['ledger'],
  { tx, participants }: Pick<LedgerRecord, 'tx' | 'participants'>,
  calls: Calls,
): Promise<void> {
  await Promise.all(
    participants.map(({ node, items }) => calls(() => nodeAt(nodes, node).finished({ tx, items }))),
  )
  await calls(() => ledger.complete(tx))
}

export function nodeAt(nodes: readonly CoordinatedNode[], position: number): CoordinatedNode {
  const node = nodes[position]
  if (node === undefined) throw new RangeError(`there is no node ${position}`)
  return node
}
