// Waiting for transactions that are pending on items: a request that meets one takes its step again when it is decided,
// for a bounded time, and tells recovery of it if it is old (§3.5). What was pending when the node was opened is in doubt
// (`InDoubtItems`), and nobody reads it before it is decided.
//
//   step --after---------------------> the step again, once that is done (work-ahead.ts)
//        --answer, whenDurable-------> answered once that is durable
//        --answer, waitFor--> a change of one of these items --> the step again
//                         \-> none for that long            --> the answer of the last try
import type { HybridClock } from '../../line/hybrid-clock.js'
import { both, type Line } from '../../line/line.js'
import { pendingKey } from '../../line/spaces.js'
import type { KeyBytes, TxId } from '../../model/brand.js'
import type { Knobs } from '../../model/knobs.js'
import { steadyMicros, type Runtime } from '../../runtime/runtime.js'
import type { PendingItems } from './pending-items.js'
import { StepWaiters } from './step-waiters.js'
import { WaitLog, type WaitEntry } from './wait-log.js'

export interface StepRetryOptions {
  readonly line: Line
  readonly pendings: PendingItems
  readonly runtime: Runtime
  readonly clock: HybridClock
  /** How long a request waits for a pending transaction before it is a conflict. */
  readonly waitMs?: number
  /** Told of a transaction that a request met and that is older than `stalledMs` (§3.5). */
  readonly onStalled?: (tx: TxId) => void
  readonly stalledMs?: number
  readonly knobs?: Knobs
  /** The unit whose lock keeps others from the item, for people who look. */
  readonly lockHolder?: (item: KeyBytes) => string | undefined
}

/** What a step answers, and when: once `whenDurable`, or after another try when one of `waitFor` has changed. */
export type StepOutcome<Answer> =
  | {
      readonly answer: Answer
      readonly whenDurable: Promise<void> | undefined
      readonly waitFor?: undefined
      readonly after?: undefined
    }
  | { readonly answer: Answer; readonly waitFor: readonly KeyBytes[]; readonly after?: undefined }

/** A step that is taken anew once something is done that it need not do itself; a bounded number of times. */
export interface StepDeferred {
  readonly after: Promise<void>
}

const WAIT_MS = 50
/** A committed update waits this long for what is pending before it; recovery decides that much sooner. */
const DECISION_WAIT_MS = 30_000
const CHANGE_WAIT_MS = 200
const STALLED_MS = 2000

export class StepRetries {
  readonly #options: StepRetryOptions
  readonly #waits: StepWaiters
  readonly #doubts: InDoubtItems
  readonly #log: WaitLog

  constructor(options: StepRetryOptions) {
    this.#options = options
    this.#waits = new StepWaiters(options.runtime.clock, options.knobs)
    this.#doubts = new InDoubtItems(options.pendings)
    this.#log = new WaitLog(options.runtime.clock)
    options.line.onRollback(() => this.#waits.changedAll())
  }

  /** Who waits, and who has waited lately. */
  waits(entriesMax: number): readonly WaitEntry[] {
    return this.#log.entries(entriesMax)
  }

  /** Some items may not be read now. */
  get hasDoubts(): boolean {
    return this.#doubts.size > 0
  }

  /** Undefined if the item may be read now. */
  doubt(item: KeyBytes): Promise<void> | undefined {
    return this.#doubts.size > 0 && this.#doubts.has(item) ? this.#resolved([item]) : undefined
  }

  /** The same for all items of the node. */
  anyDoubt(): Promise<void> | undefined {
    return this.#doubts.size > 0 ? this.#resolved(this.#doubts.items()) : undefined
  }

  async #resolved(items: readonly KeyBytes[]): Promise<void> {
    const left = (): KeyBytes[] => items.filter((item) => this.#doubts.has(item))
    for (let doubtful = left(); doubtful.length > 0; doubtful = left()) {
      if (!(await this.decided(doubtful))) {
        throw new Error('a transaction of before the last start has not been decided yet')
      }
    }
  }

  /**
   * Takes a step again and again until it need not wait, or has waited long enough; then its answer is told. `onEnd` is called
   * when it is not taken again, once or twice. `waiter` is whose step it is.
   */
  patiently<Answer, Reply>(
    take: () => StepOutcome<Answer> | StepDeferred,
    replyOf: (answer: Answer) => Reply,
    onEnd?: () => void,
    waiter?: string,
  ): Promise<Reply> {
    const admission = this.#options.line.admission()
    if (admission !== undefined)
      return admission.then(() => this.#until(take(), take, replyOf, onEnd, waiter))
    try {
      const step = take()
      // There is nothing to wait for, as a rule.
      if (step.after === undefined && step.waitFor === undefined && step.whenDurable === undefined)
        return Promise.resolve(replyOf(step.answer))
      return this.#until(step, take, replyOf, onEnd, waiter)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** The same, of a step that was taken and has to wait. */
  again<Answer, Reply>(
    first: StepOutcome<Answer>,
    take: () => StepOutcome<Answer>,
    replyOf: (answer: Answer) => Reply,
  ): Promise<Reply> {
    return this.#until(first, take, replyOf, undefined, undefined)
  }

  async #until<Answer, Reply>(
    first: StepOutcome<Answer> | StepDeferred,
    take: () => StepOutcome<Answer> | StepDeferred,
    replyOf: (answer: Answer) => Reply,
    onEnd: (() => void) | undefined,
    waiter: string | undefined,
  ): Promise<Reply> {
    try {
      const { line, runtime, waitMs = WAIT_MS } = this.#options
      let start = steadyMicros(runtime.clock)
      let step = first
      while (step.after !== undefined || step.waitFor !== undefined) {
        if (step.after !== undefined) {
          await step.after
          start = steadyMicros(runtime.clock)
        } else {
          this.#tellOf(step.waitFor)
          const leftMs = waitMs - (steadyMicros(runtime.clock) - start) / 1000
          if (!(await this.#wait(step.waitFor, leftMs, waiter))) return replyOf(step.answer)
        }
        const admission = line.admission()
        if (admission !== undefined) await admission
        step = take()
      }
      // The step is taken: what it had to itself is for others while it becomes durable.
      onEnd?.()
      if (step.whenDurable !== undefined) await step.whenDurable
      return replyOf(step.answer)
    } finally {
      onEnd?.()
    }
  }

  /** The first of the items is the one that is told of. */
  async #wait(items: readonly KeyBytes[], leftMs: number, waiter: string | undefined): Promise<boolean> {
    const [item] = items
    if (item === undefined) return this.#waits.until(items, leftMs)
    const { pendings, lockHolder } = this.#options
    const holder = lockHolder?.(item)
    const pending = pendings.of(item).pending.map(({ tx }) => tx)
    const wait = this.#log.begin(item, waiter, holder === undefined ? pending : [holder, ...pending])
    const hasChanged = await this.#waits.until(items, leftMs)
    this.#log.end(wait, hasChanged ? 'went-on' : 'gave-up')
    return hasChanged
  }

  /** True after a change of one of these items, which have to be decided; false if there was none for very long. */
  decided(items: readonly KeyBytes[]): Promise<boolean> {
    this.#tellOf(items)
    return this.#waits.until(items, DECISION_WAIT_MS)
  }

  /** After a change of one of these items, or a while. */
  async change(items: readonly KeyBytes[]): Promise<void> {
    this.#tellOf(items)
    await this.#waits.until(items, CHANGE_WAIT_MS)
  }

  /** Something changed about what is pending on this item. */
  changed(item: KeyBytes): void {
    this.#waits.changed(item)
  }

  /**
   * Something was decided about these items, and readers see that. But something may have been decided after it that they
   * do not see yet: only when they do is nothing left to doubt.
   */
  dispel(items: readonly KeyBytes[]): void {
    if (this.#doubts.size === 0) return
    const { line } = this.#options
    let unseen: Promise<void> | undefined
    for (const item of items)
      if (this.#doubts.has(item))
        unseen = both(unseen, both(line.whenDurableAt(item), line.whenDurableAt(pendingKey(item))))
    const again = (): void => this.dispel(items)
    if (unseen !== undefined) void unseen.then(again, again)
    else for (const item of this.#doubts.dispel(items)) this.#waits.changed(item)
  }

  /** A node that meets an old pending transaction tells recovery of it (§3.5). */
  #tellOf(items: readonly KeyBytes[]): void {
    const { onStalled, pendings, clock, stalledMs = STALLED_MS } = this.#options
    if (onStalled === undefined) return
    for (const item of items) {
      for (const { tx, timestamp } of pendings.of(item).pending) {
        if (this.#doubts.has(item) || timestamp < clock.timestamp - stalledMs * 1000) onStalled(tx)
      }
    }
  }
}

export const asItIs = <Answer>(answer: Answer): Answer => answer

// In doubt: what was pending when the node was opened may have been committed and seen before the crash. Until it is
// decided again, and readers see that, nobody reads these items.

export class InDoubtItems {
  readonly #pendings: PendingItems
  /** Items with what was pending on them. */
  readonly #doubtful: Map<KeyBytes, ReadonlySet<TxId>>

  constructor(pendings: PendingItems) {
    this.#pendings = pendings
    this.#doubtful = new Map(
      [...pendings.items()].map((item) => [item, new Set(pendings.of(item).pending.map(({ tx }) => tx))]),
    )
  }

  get size(): number {
    return this.#doubtful.size
  }

  has(item: KeyBytes): boolean {
    return this.#doubtful.has(item)
  }

  items(): readonly KeyBytes[] {
    return [...this.#doubtful.keys()]
  }

  /** Readers see what has been decided about these items: those of which nothing is left to decide can be read. */
  dispel(items: Iterable<KeyBytes>): readonly KeyBytes[] {
    if (this.#doubtful.size === 0) return []
    return [...items].filter((item) => {
      const doubtful = this.#doubtful.get(item)
      if (doubtful === undefined) return false
      if (this.#pendings.of(item).pending.some(({ tx }) => doubtful.has(tx))) return false
      return this.#doubtful.delete(item)
    })
  }
}
