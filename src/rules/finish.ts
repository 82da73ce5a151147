// Committing and cancelling on one item (§3.3, Listing 4, and §4 rules 4 and 5).
//
//   commit, put or delete:  done at once; a write below the last one has no effect (§4 rules 3 and 4)
//                           (with snapshots open it waits as an update does: the image between the two would show)
//   commit, update:         waits until every write pending before it is finished, then is done on what they left (§4 rule 5)
//   commit, check:          leaves its timestamp as a read mark; the write timestamp, which §3.3 raises here, stays (point 8)
//   cancel:                 vanishes, and may let updates behind it go
//
// Finishing what is not pending changes nothing: it was finished before, by this coordinator or another (§3.5). Listing 4
// answers COMMIT_FAILED for that; here it is no failure, since the ledger has the decision.
import type { Timestamp, TxId } from '../model/brand.js'
import {
  observes,
  writes,
  type Action,
  type ContendedItem,
  type Image,
  type Pending,
} from './item/contended-item.js'
import {
  lastWriteOf,
  type NextImage,
  TextImage,
  type WriteAction,
  actionResult,
  type ActionResult,
} from './item/single-write.js'

/** A committed write on its way to the store. */
export interface CommittedWrite {
  readonly tx: TxId
  readonly timestamp: Timestamp
  /** Absent: deleted. */
  readonly next: NextImage | undefined
  /** It observed nothing of what was there before. */
  readonly blind: boolean
  /** As in Action. */
  readonly about?: string | undefined
}

export type FinishVerdict =
  | { readonly verdict: 'unknown' }
  | {
      readonly verdict: 'finished'
      readonly pending: readonly Pending[]
      /** In timestamp order; all but the last are overwritten, and show only to snapshots. */
      readonly written: readonly CommittedWrite[]
      readonly read: Timestamp
    }

/** `processCommit` and `processCancel` of Listing 4. */
export function decideFinish(item: ContendedItem, tx: TxId, decision: 'commit' | 'cancel'): FinishVerdict {
  const mine = item.pending.find((pending) => pending.tx === tx)
  if (mine === undefined) return { verdict: 'unknown' }
  const progress = new FinishingItem(item)
  if (decision === 'cancel') progress.remove(mine)
  else progress.commit(mine)
  progress.drain()
  return { verdict: 'finished', pending: progress.pending, written: progress.done, read: progress.read }
}

/** The item while several steps are taken on it. */
class FinishingItem {
  pending: readonly Pending[]
  readonly done: CommittedWrite[] = []
  read: Timestamp
  readonly #ordered: boolean
  #written: Timestamp
  #image: () => Image

  constructor(item: ContendedItem) {
    this.pending = item.pending
    this.read = item.read
    this.#written = item.written
    this.#ordered = item.ordered === true
    this.#image = () => item.item()
  }

  remove(pending: Pending): void {
    this.pending = this.pending.filter((each) => each !== pending)
  }

  commit(pending: Pending): void {
    if (this.#mustWait(pending)) {
      this.pending = this.pending.map((each) => (each === pending ? { ...each, decided: true } : each))
      return
    }
    this.remove(pending)
    if (observes(pending.action)) this.read = Math.max(this.read, pending.timestamp) as Timestamp
    if (writes(pending.action) && pending.timestamp > this.#written) this.#write(pending)
  }

  /** Decided updates whose predecessors are finished (§4 rule 5). */
  drain(): void {
    for (;;) {
      const ready = this.pending.find((each) => each.decided && !this.#mustWait(each))
      if (ready === undefined) return
      this.commit(ready)
    }
  }

  #mustWait({ action, timestamp }: Pending): boolean {
    if (this.#ordered && writes(action)) return this.#isBehind(timestamp)
    if (action.mutation.kind !== 'update' || timestamp <= this.#written) return false
    return this.#isBehind(timestamp)
  }

  /** Writes are pending between the last one and that timestamp. */
  #isBehind(timestamp: Timestamp): boolean {
    return this.pending.some(
      (each) => each.timestamp < timestamp && each.timestamp > this.#written && writes(each.action),
    )
  }

  #write({ tx, timestamp, action }: Pending): void {
    // Only an update looks at what is there. A redo cannot fail: all that it depends on was checked at prepare (point 6).
    const result = redo(action, action.mutation.kind === 'update' ? this.#image() : undefined)
    if (result.verdict !== 'fine')
      throw new Error(`the write of ${tx} was accepted and failed: ${result.verdict}`)
    this.done.push({ tx, timestamp, next: result.next, blind: !observes(action), about: action.about })
    this.#written = timestamp
    this.#image = result.image
  }
}

/**
 * What a put or delete leaves does not depend on what it meets, and its condition was settled when it was accepted: the
 * image it meets here may lack the decided updates that it was checked behind and that still wait themselves.
 */
function redo(action: Action, image: Image): ActionResult {
  if (action.mutation.kind === 'update' || action.condition === undefined) return actionResult(action, image)
  const { condition: _, ...unconditional } = action
  const result = actionResult(unconditional, image)
  if (result.verdict !== 'fine' || result.next === undefined) return result
  return {
    ...result,
    next: new TextImage(result.next, result.next.itemBytes, lastWriteOf(action as WriteAction)),
  }
}
