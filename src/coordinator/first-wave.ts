// The first wave of a transaction in two phases: its ledger and all its nodes are asked at once.
import type { BeginOutcome } from '../ledger/ledger.js'
import type { PrepareReply } from '../storage/contract/transactions.js'
import { isRefusedVerdict } from './reasons.js'

export type FirstWave = readonly [
  begun: PromiseSettledResult<BeginOutcome>,
  prepared: readonly (PromiseSettledResult<PrepareReply> | undefined)[],
]

/**
 * The answers of the ledger and of all nodes; but once the timestamp is known to be too old the other nodes are not waited
 * for, since others may be waiting for this attempt to end. A refusal that is final waits for the reasons of the other
 * nodes.
 */
export function firstWave(
  beginning: Promise<BeginOutcome>,
  prepares: readonly Promise<PrepareReply>[],
): Promise<FirstWave> {
  return new Promise((resolve) => {
    let begun: PromiseSettledResult<BeginOutcome> | undefined
    const prepared: (PromiseSettledResult<PrepareReply> | undefined)[] = prepares.map(() => undefined)
    let left = prepares.length
    const look = (): void => {
      if (left <= 0 && begun !== undefined) resolve([begun, [...prepared]])
    }
    const settleBegun = (result: PromiseSettledResult<BeginOutcome>): void => {
      begun = result
      look()
    }
    beginning.then(
      (value) => settleBegun({ status: 'fulfilled', value }),
      (reason: unknown) => settleBegun({ status: 'rejected', reason }),
    )
    const settle = (at: number, result: PromiseSettledResult<PrepareReply>): void => {
      prepared[at] = result
      left = result.status === 'fulfilled' && isTooOld(result.value) ? 0 : left - 1
      look()
    }
    for (const [at, prepare] of prepares.entries()) {
      prepare.then(
        (value) => settle(at, { status: 'fulfilled', value }),
        (reason: unknown) => settle(at, { status: 'rejected', reason }),
      )
    }
  })
}

const isTooOld = ({ verdicts, predicateVerdicts: predicates = [] }: PrepareReply): boolean =>
  [...verdicts, ...predicates].some(({ verdict }) => verdict === 'too-old' || verdict === 'ended') &&
  !verdicts.some(isRefusedVerdict)
