// What single writes and transactions in one round have in common: the item of an action is loaded, and what the rules say of
// it is written, in one step.
import type { Timestamp, TxId } from '../../model/brand.js'
import { both } from '../../line/line.js'
import { inSpace } from '../../line/spaces.js'
import { observes, writes, type Action } from '../../rules/item/contended-item.js'
import type { WriteRequest } from '../../rules/item/item.js'
import type { NextImage } from '../../rules/item/single-write.js'
import type { ItemSteps } from '../items/item-steps.js'
import type { Ceiling } from '../items/ceiling.js'
import { loadItem, whenDurableAt, type LoadedItem, type TransactionState } from '../items/load-item.js'
import type { StepRetries } from '../items/step-retries.js'

/** An action and the item it meets. */
export interface LoadedAction<A extends Action = Action> {
  readonly item: LoadedItem
  readonly action: A
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
