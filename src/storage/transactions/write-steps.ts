// What single writes and transactions in one round have in common: the item of an action is loaded, and what the rules say of
// it is written, in one step.
import { TableGone } from '../../line/errors.js'
import type { HybridClock } from '../../line/hybrid-clock.js'
import { both } from '../../line/line.js'
import { decodeItemRecord } from '../../line/record.js'
import { inSpace } from '../../line/spaces.js'
import type { Timestamp, TxId } from '../../model/brand.js'
import { observes, writes, type Action } from '../../rules/item/contended-item.js'
import type { WriteRequest } from '../../rules/item/item.js'
import type { TransactionRules } from '../../rules/item/section-4.js'
import type { NextImage, WriteVerdict } from '../../rules/item/single-write.js'
import type { WriteOutcome } from '../contract/storage-node.js'
import type { ItemSteps } from '../items/item-steps.js'
import { loadItem, whenDurableAt, type LoadedItem, type TransactionState } from '../items/load-item.js'
import type { Ceiling } from '../items/marks.js'
import { asItIs, type StepOutcome, type StepRetries } from '../items/step-retries.js'
import type { RuleFunctions } from './rule-functions.js'

/** An action and the item it meets. */
export interface LoadedAction<A extends Action = Action> {
  readonly item: LoadedItem
  readonly action: A
  /** What the rules say of the write on the item as it is, where they were asked ahead. */
  readonly known?: WriteVerdict
}

export interface WriteStepsOptions extends TransactionState {
  readonly steps: ItemSteps
  readonly retries: StepRetries
  readonly ceiling: Ceiling
}

/** Who writes, if it is a transaction, and the text of the next image where it is known. */
export interface Writing {
  readonly by?: TxId
  readonly json?: Uint8Array | undefined
}

export class WriteSteps {
  readonly #options: WriteStepsOptions

  constructor(options: WriteStepsOptions) {
    this.#options = options
  }

  /** With the shape that is in force, whatever the action was validated with. */
  load(given: Action): LoadedAction {
    const table = this.#options.steps.shapeOf(given.table)
    const action = table === given.table ? given : { ...given, table }
    return { item: loadItem(this.#options, inSpace(table.space, action.key.bytes), action.key), action }
  }

  /** The same for a single write, which is stamped above all marks unless something is pending or locked. */
  loadSingle(given: WriteRequest): LoadedAction<WriteRequest> {
    const { steps, pendings, locks } = this.#options
    const table = steps.shapeOf(given.table)
    const action = table === given.table ? given : { ...given, table }
    const { key } = action
    const address = inSpace(table.space, key.bytes)
    return { item: loadItem(this.#options, address, key, pendings.size > 0 || locks.size > 0), action }
  }

  /** The record as it now is, in bytes; undefined if there is no item. */
  apply(
    { item, action }: LoadedAction,
    next: NextImage | undefined,
    timestamp: Timestamp,
    writing: Writing = NOT_A_TRANSACTION,
  ): Uint8Array | undefined {
    const { steps, pendings, marks, retries } = this.#options
    if (!writes(action)) {
      marks.raise(item.address, timestamp)
      return undefined
    }
    const blind = !observes(action)
    const { state, key } = item
    const { table, cause, about } = action
    const { by, json } = writing
    const change = { table, key, state, next, timestamp, blind, put: 'put', by, json, cause, about } as const
    const written = steps.apply(change)
    if (item.pending.length > 0) {
      const tombstone = next === undefined && { tombstone: { timestamp, blind } }
      pendings.set(item.address, { pending: item.pending, ...tombstone }, 'put')
      // What is pending below it is nothing any more, and no request has to wait for it.
      retries.changed(item.address)
    }
    return written
  }

  /**
   * For what only looked, or deleted nothing: no batch of its own is behind what it saw, and no record keeps its place in the
   * serial order. A write that was stamped before it must not come after it because the node was opened anew.
   */
  whenSeenIsDurable(items: readonly LoadedItem[], timestamp: Timestamp): Promise<void> | undefined {
    const { line, ceiling } = this.#options
    return both(whenDurableAt(line, items), ceiling.above(timestamp))
  }
}

const NOT_A_TRANSACTION: Writing = {}

/** Something of it is written, behind everything that it saw. */
export const leavesTrace = ({ item, action }: LoadedAction, next: NextImage | undefined): boolean =>
  writes(action) && (item.state.record !== undefined || next !== undefined)

// Writes to one item outside transactions (§2.2), whether or not transactions are pending on it:
//
//   load --> rules/write-step.ts (decideSingleWrite) --> done: the item, its index entries, what is pending on it
//                                                    refused: answered once what it was based upon is durable
//                                                    wait: the step again when something changes (step-retries.ts)

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
    const { clock, functions, line, rules, steps, writing } = this.#options
    // Its items go one by one: what is left of them decides nothing.
    if (steps.isDropped(request.table.space)) throw new TableGone()
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
        const { mutation } = action
        const json = mutation.kind === 'put' ? mutation.json : undefined
        const written = writing.apply(loaded, image, timestamp, json && { json })
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
