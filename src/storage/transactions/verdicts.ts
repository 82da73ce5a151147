// What the rules say, as a node tells it to coordinators.
import type { TxId } from '../../model/brand.js'
import { limits } from '../../model/limits.js'
import type { WriteStepVerdict } from '../../rules/write-step.js'
import type { ChangedVerdict } from '../../rules/units/binding.js'
import type { PrepareVerdict } from '../../rules/prepare.js'
import type { LoadedItem } from '../items/load-item.js'
import type { ActionVerdict } from '../contract/transactions.js'

export function actionVerdict(verdict: PrepareVerdict, item: LoadedItem): ActionVerdict {
  switch (verdict.verdict) {
    case 'accepted':
      return ACCEPTED
    case 'condition-failed': {
      const { record } = item.state
      return { verdict: 'condition-failed', ...(record && { current: record }) }
    }
    case 'wait': {
      const { others, holder } = verdict
      return { verdict: 'conflict', others, ...(holder !== undefined && { holder }) }
    }
    case 'changed':
      return changedVerdict(verdict)
    case 'invalid':
    case 'conflict':
    case 'too-old':
      return verdict
  }
}

export function stepVerdict(
  result: (WriteStepVerdict & { verdict: 'refused' })['results'][number],
  item: LoadedItem,
): ActionVerdict {
  if (result.verdict === 'fine') return ACCEPTED
  if (result.verdict === 'invalid') return result
  if (result.verdict === 'changed') return changedVerdict(result)
  const { record } = item.state
  return { verdict: 'condition-failed', ...(record && { current: record }) }
}

export const conflictVerdict = (others: readonly TxId[], holder: string | undefined): ActionVerdict =>
  others.length === 0 && holder === undefined
    ? ACCEPTED
    : { verdict: 'conflict', others, ...(holder !== undefined && { holder }) }

function changedVerdict({ change }: ChangedVerdict): ActionVerdict {
  return { verdict: 'changed', ...(change?.by !== undefined && { by: change.by }) }
}

export function withImage({ state: { record } }: LoadedItem): ActionVerdict {
  return record === undefined ? ACCEPTED : { verdict: 'accepted', old: record }
}

export const TOKEN_OUTCOMES = {
  repeated: 'repeated',
  mismatch: 'token-mismatch',
  'in-progress': 'token-in-progress',
} as const

/** Its table is no more: nothing may become pending in a space that is being emptied. */
export const GONE = { verdict: 'invalid', message: 'Requested resource not found' } as const
/** Others take the node's time for work ahead of large steps. */
export const BUSY: ActionVerdict = { verdict: 'conflict', others: [] }
export const TOO_MUCH: ActionVerdict = {
  verdict: 'invalid',
  message: `The items that the conditions and updates of the transaction look at exceed ${limits.lookedAtBytesMax} bytes`,
}
export const ACCEPTED = { verdict: 'accepted' } as const
/** Verdicts that another timestamp would change, or that go with one that it would. */
export const RESTAMPED: ReadonlySet<PrepareVerdict['verdict']> = new Set(['accepted', 'wait', 'too-old'])
