// Finishing a transaction that is decided (§3.5). Anybody may do it, any number of times, at the same time: a node does
// what it is told once, and knows the transaction by its id.
import type { LedgerRecord } from '../ledger/ledger.js'
import type { Timestamp, TxId } from '../model/brand.js'
import type { CommitReply, CommitRequest } from '../storage/contract/transactions.js'
import type { CoordinatedNode } from './coordinator.js'
import type { Calls } from './calls.js'
import { nodeAt } from './placement.js'

/**
 * Tells every node of a decided transaction; rejects if one does not answer. Resolves when readers see it on all of them,
 * or, with `known`, when all know of it: an update may have to wait for others before it, and recovery does not. With a
 * run of the journal: answers that run again if all nodes have put what they do there, and readers may not see it yet.
 */
export async function tellParticipants(
  nodes: readonly CoordinatedNode[],
  record: Pick<LedgerRecord, 'tx' | 'decision' | 'timestamp' | 'participants'>,
  calls: Calls,
  { until = 'visible', unfenced, run, onAnswer }: TellOptions = {},
): Promise<CommitReply> {
  const { tx, timestamp, decision, participants } = record
  const positions = participants.map(({ node }) => node)
  const answers = await Promise.allSettled(
    participants.map(({ node, items }) => {
      const reply = calls((): Promise<CommitReply> => {
        const told = nodeAt(nodes, node)
        return decision === 'commit'
          ? told.commit({ tx, items, timestamp, until, unfenced, run, nodes: positions })
          : told.cancel({ tx, items })
      })
      if (onAnswer !== undefined) reply.then(() => onAnswer(node), ignore)
      return reply
    }),
  )
  let clock = 0
  let areInRun = run !== undefined
  for (const answer of answers) {
    if (answer.status === 'rejected') throw answer.reason
    const reply: CommitReply = answer.value
    clock = Math.max(clock, reply.clock)
    areInRun &&= reply.run === run
  }
  return { clock: clock as Timestamp, run: areInRun ? run : undefined }
}

export interface TellOptions extends Pick<CommitRequest, 'until' | 'unfenced' | 'run'> {
  /** That node has answered, for people who look. */
  readonly onAnswer?: (node: number) => void
}

const ignore = (): void => undefined

/** A transaction that every node has been told of. */
export type Finished = Pick<LedgerRecord, 'tx' | 'participants'> & {
  readonly ledger: CoordinatedNode['ledger']
}

/**
 * Waits until nothing of these transactions could come back after a crash, and takes them off the list of the unfinished.
 * Resolves to those that are not finished after all, or of which that is not known: recovery will see to them.
 */
export async function completeRecords(
  nodes: readonly CoordinatedNode[],
  records: readonly Finished[],
  calls: Calls,
): Promise<ReadonlySet<TxId>> {
  const byNode = new Map<number, TxId[]>()
  for (const { tx, participants } of records) {
    for (const { node } of participants) {
      const there = byNode.get(node)
      if (there === undefined) byNode.set(node, [tx])
      else there.push(tx)
    }
  }
  const left = new Set<TxId>()
  await Promise.all(
    Array.from(byNode, async ([node, transactions]) => {
      const unfinished = await calls(() => nodeAt(nodes, node).finished(transactions)).catch(
        () => transactions,
      )
      for (const tx of unfinished) left.add(tx)
    }),
  )
  await Promise.all(
    records.map(async ({ tx, ledger }) => {
      if (!left.has(tx)) await calls(() => ledger.complete(tx)).catch(() => left.add(tx))
    }),
  )
  return left
}
