// The rules that a node asks about transactions.
import { decideSingleWrite, decideWriteStep } from '../../rules/write-step.js'
import { decideFinish } from '../../rules/finish.js'
import { decidePrepare } from '../../rules/prepare.js'
import { commonReadTimestamp, decideReadAt, decideReadLatest } from '../../rules/read.js'

/** The rules as functions, so that a simulation can put a wrong one in the place of a right one. */
export interface RuleFunctions {
  readonly decidePrepare: typeof decidePrepare
  readonly decideFinish: typeof decideFinish
  readonly decideWriteStep: typeof decideWriteStep
  readonly decideSingleWrite: typeof decideSingleWrite
  readonly decideReadAt: typeof decideReadAt
  readonly decideReadLatest: typeof decideReadLatest
  readonly commonReadTimestamp: typeof commonReadTimestamp
}

export const ruleFunctions: RuleFunctions = {
  decidePrepare,
  decideFinish,
  decideWriteStep,
  decideSingleWrite,
  decideReadAt,
  decideReadLatest,
  commonReadTimestamp,
}
