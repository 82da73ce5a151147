// A write transaction where one step of a node spans everything: one call, which the node decides and carries out in one step (§4).
import type { TxId } from '../model/brand.js'
import type { Action, TransactReply } from '../storage/contract/transactions.js'
import type { ClientToken, Parts, WriteTransaction, WriteTransactionOutcome } from './coordinator.js'
import { nodeAt, predicatesOn, type Group } from './placement.js'
import { messageOf } from '../model/message-of.js'
import { cancelled, failed } from './outcomes.js'

export async function oneRound(
  parts: Parts,
  { node, parts: actions }: Group<Action>,
  tx: TxId,
  { token, imagesWanted, predicates, unit }: WriteTransaction,
): Promise<WriteTransactionOutcome> {
  const request = {
    tx,
    actions,
    predicates: predicatesOn(node, predicates),
    unit,
    token,
    imagesWanted,
    once: !parts.calls.lossy,
  }
  // The node recognises the transaction when a lost answer makes this call again, with or without a token.
  const transact = (): Promise<TransactReply> =>
    parts.calls(() => nodeAt(parts.nodes, node).transact(request))
  try {
    const reply = await transact()
    parts.clock.witness(reply.clock)
    switch (reply.outcome) {
      case 'committed':
        return reply
      case 'refused': {
        // A copy of the request that is still on its way, or came in between, may find the items in a better mood.
        const after = parts.calls.lossy ? await fenced(parts, node, tx, transact) : 'refused'
        if (after !== 'refused') return after === 'repeated' ? repeated(token) : NOT_FENCED
        return cancelled(reply.verdicts, reply.predicateVerdicts)
      }
      case 'repeated':
        return repeated(token)
      case 'token-mismatch':
      case 'token-in-progress':
        return { outcome: reply.outcome }
    }
  } catch (error) {
    // Even if nothing was done by the last of several calls, one before it may still be on its way.
    return parts.calls.lossy ? { outcome: 'unknown', message: messageOf(error) } : failed(error)
  }
}

const repeated = (token: ClientToken | undefined): WriteTransactionOutcome =>
  token === undefined ? { outcome: 'committed' } : { outcome: 'repeated' }

/** Makes the node refuse the transaction however often it is asked, and says whether it has been committed after all. */
async function fenced(
  { calls, nodes }: Parts,
  node: number,
  tx: TxId,
  transact: () => Promise<TransactReply>,
): Promise<'refused' | 'repeated' | 'unknown'> {
  for (let tries = 0; tries < FENCE_TRIES_MAX; tries++) {
    await calls(() => nodeAt(nodes, node).cancel({ tx, items: [] }))
    // A node that crashed meanwhile has lost the fence; that it says `ended` means that the fence is durable.
    const reply = await transact()
    if (reply.outcome === 'repeated' || reply.outcome === 'committed') return 'repeated'
    if (reply.outcome === 'refused' && reply.verdicts.every(({ verdict }) => verdict === 'ended'))
      return 'refused'
  }
  return 'unknown'
}

const FENCE_TRIES_MAX = 3
const NOT_FENCED: WriteTransactionOutcome = {
  outcome: 'unknown',
  message: 'the transaction was refused, but may be carried out when its request arrives once more',
}
