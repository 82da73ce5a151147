// The rules as they are, with a count of how often each of section 4's permissions was made use of.
import type { WriteStepAction } from '../src/rules/write-step.js'
import type { Timestamp } from '../src/model/brand.js'
import { type RuleFunctions, ruleFunctions } from '../src/storage/transactions/rule-functions.js'
import type { Tally } from './faults.js'

const FINISHED = { commit: 'verdict/commit ', cancel: 'verdict/cancel ' } as const

/** `onDone`: told of what is about to be done in one step, and what the clock of its node will say then. */
export function countedRules(
  tally: Tally,
  onDone?: (steps: readonly WriteStepAction[], done: { timestamp: number; clock: number }) => void,
): RuleFunctions {
  const done = (steps: readonly WriteStepAction[], timestamp: Timestamp, now: Timestamp): void => {
    const pending = steps.flatMap(({ item }) => item.pending.map((each) => each.timestamp))
    if (pending.some((each) => each > timestamp)) tally.add('rule/writesBeforePrepared')
    else if (pending.length > 0) tally.add('rule/writesBehindPrepared')
    onDone?.(steps, { timestamp, clock: Math.max(now, timestamp) })
  }
  return {
    ...ruleFunctions,
    decidePrepare: (item, action, at, rules) => {
      const verdict = ruleFunctions.decidePrepare(item, action, at, rules)
      tally.add('verdict/prepare-rule ', verdict.verdict)
      if (verdict.verdict === 'accepted' && verdict.pending !== item.pending) {
        if (item.pending.length > 0) tally.add('rule/severalPrepared')
        if (at.timestamp < item.written) tally.add('rule/oldTimestamps')
      }
      return verdict
    },
    decideFinish: (item, tx, decision) => {
      const verdict = ruleFunctions.decideFinish(item, tx, decision)
      tally.add(FINISHED[decision], verdict.verdict)
      return verdict
    },
    decideWriteStep: (steps, now, rules, place) => {
      const verdict = ruleFunctions.decideWriteStep(steps, now, rules, place)
      tally.add('verdict/step ', verdict.verdict)
      if (verdict.verdict === 'done') done(steps, verdict.timestamp, now)
      return verdict
    },
    decideSingleWrite: (item, action, now, rules) => {
      const verdict = ruleFunctions.decideSingleWrite(item, action, now, rules)
      tally.add('verdict/single-write ', verdict.verdict)
      if (verdict.verdict === 'done') done([{ item, action }], verdict.timestamp, now)
      return verdict
    },
  }
}
