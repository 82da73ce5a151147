// Writes to one item outside transactions (§2.2), whether or not transactions are pending on it:
//
//   load --> rules/write-step.ts (decideSingleWrite) --> done: the item, its index entries, what is pending on it
//                                                    refused: answered once what it was based upon is durable
//                                                    wait: the step again when something changes (step-retries.ts)
import { both } from '../../line/line.js'
import { decodeItemRecord } from '../../line/record.js'
import { inSpace } from '../../line/spaces.js'
import type { HybridClock } from '../../line/hybrid-clock.js'
import type { WriteRequest } from '../../rules/item/item.js'
import type { TransactionRules } from '../../rules/item/section-4.js'
import type { WriteOutcome } from '../contract/storage-node.js'
import { whenDurableAt } from '../items/load-item.js'
import { asItIs, type StepOutcome } from '../items/step-retries.js'
import type { RuleFunctions } from './rule-functions.js'
import { leavesTrace, type WriteSteps, type WriteStepsOptions } from './write-steps.js'

export interface SingleWritesOptions extends WriteStepsOptions {
  readonly clock: HybridClock
  readonly rules: TransactionRules
  readonly functions: RuleFunctions
  readonly writing: WriteSteps
}

export class SingleWrites {
  readonly #options: SingleWritesOptions

  constructor(options: SingleWritesOptions) {
    this.#options = options
  }

  /** Where nothing has to be waited for, the step is taken before this returns. */
  async write(request: WriteRequest): Promise<WriteOutcome> {
    const { line, retries } = this.#options
    const admission = line.admission()
    if (admission !== undefined) await admission
    while (retries.hasDoubts) {
      const doubt = retries.doubt(inSpace(request.table.space, request.key.bytes))
      if (doubt === undefined) break
      await doubt
      const again = line.admission()
      if (again !== undefined) await again
    }
    const step = this.#take(request)
    if (step.waitFor !== undefined) return retries.again(step, () => this.#take(request), asItIs)
    if (step.whenDurable !== undefined) await step.whenDurable
    return step.answer
  }

  /** Everything from the first look at the item to the last change happens in this turn. */
  #take(request: WriteRequest): StepOutcome<WriteOutcome> {
    const { clock, functions, line, rules, writing } = this.#options
    const loaded = writing.loadSingle(request)
    const { item, action } = loaded
    const { record } = item.state
    const verdict = functions.decideSingleWrite(item, action, clock.nextTimestamp(), rules)
    switch (verdict.verdict) {
      case 'condition-failed':
        return {
          answer: { verdict: 'condition-failed', ...(record && { current: record }) },
          whenDurable: whenDurableAt(line, [item]),
        }
      case 'invalid':
        return { answer: verdict, whenDurable: whenDurableAt(line, [item]) }
      case 'wait':
      case 'conflict': {
        const { others, holder } = verdict
        const answer: WriteOutcome = { verdict: 'conflict', others, ...(holder !== undefined && { holder }) }
        return verdict.verdict === 'wait'
          ? { answer, waitFor: [item.address] }
          : { answer, whenDurable: undefined }
      }
      case 'done': {
        const { timestamp, next: image } = verdict
        clock.witness(timestamp)
        const written = writing.apply(loaded, image, timestamp)
        const next = written && decodeItemRecord(written)
        return {
          answer: { verdict: 'done', timestamp, ...(record && { old: record }), ...(next && { new: next }) },
          whenDurable: leavesTrace(loaded, image)
            ? line.whenDurable()
            : both(
                // A tombstone was put beside what is pending.
                item.pending.length > 0 ? line.whenDurable() : undefined,
                writing.whenSeenIsDurable([item], timestamp),
              ),
        }
      }
    }
  }
}
