// The same request under the same token may run more than once: what another transaction in the slot means to this one.
import type { LedgerRecord } from '../ledger/ledger.js'
import type { CommitRequest } from '../storage/contract/transactions.js'
import type { ClientToken, Parts, WriteTransactionOutcome } from './coordinator.js'
import { tellParticipants } from './finish.js'

/** `record`: of the other one. */
export async function afterAnother(
  { nodes, calls, clock }: Parts,
  record: LedgerRecord,
  token: ClientToken | undefined,
): Promise<WriteTransactionOutcome> {
  if (record.payloadHash !== token?.payloadHash) return { outcome: 'token-mismatch' }
  // Under way; or a client was told that it was cancelled, and it must not be carried out by this one after all.
  if (record.decision !== 'commit') return { outcome: 'token-in-progress' }
  if (record.state === 'completed') return { outcome: 'repeated' }
  // It is decided, and anybody may carry it out (§3.5): then it is done, whether its coordinator lives or not.
  try {
    const told = await tellParticipants(nodes, record, calls, { unfenced: unfencedOver(calls) })
    clock.witness(told.clock)
  } catch {
    return { outcome: 'token-in-progress' }
  }
  return { outcome: 'repeated' }
}

/** Every prepare of a committed transaction has been answered; only over a network a copy of one may be on its way. */
export const unfencedOver = ({ lossy }: Parts['calls']): CommitRequest['unfenced'] =>
  lossy ? undefined : true
