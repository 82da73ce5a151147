// The part of a local node that takes part in transactions: it loads items with what is pending on them, asks the
// rules, and writes their answer in the same step. It decides nothing itself.
//
//   prepare   rules/prepare.ts   --> pending entries (durable before the answer, or `ahead` of the decision)
//   transact  rules/write-step.ts    --> items, token; one step                    write-steps.ts
//   write     rules/write-step.ts    --> the item; one step                        write-steps.ts
//   commit    rules/finish.ts    --> item, index entries, pending entries     transaction-finish.ts
//   readAt    rules/read.ts      --> read marks, below a durable ceiling      transaction-reads.ts
//
// Who has to wait for what is pending does so in step-retries.ts.
import type { KeyBytes, SpaceId, Timestamp, TxId } from '../../model/brand.js'
import type { WriteStepAction, WriteStepPlace, WriteStepVerdict } from '../../rules/write-step.js'
import type { Action } from '../../rules/item/contended-item.js'
import type { PrepareVerdict } from '../../rules/prepare.js'
import type { TransactionRules } from '../../rules/item/section-4.js'
import type { LocalLedger } from '../../ledger/local-ledger.js'
import type { WaitEntry } from '../items/wait-log.js'
import { Ceiling } from '../items/marks.js'
import type { BatchBoundaries } from '../snapshots/batch-boundaries.js'
import { whenDurableAt, type LoadedItem, type TransactionState } from '../items/load-item.js'
import { EndedTransactions } from './ended-transactions.js'
import type { ItemSteps } from '../items/item-steps.js'
import { both, whenAllDurable } from '../../line/line.js'
import {
  StepRetries,
  type StepRetryOptions,
  type StepOutcome,
  type StepDeferred,
} from '../items/step-retries.js'
import { decidePredicates, isFinal, raiseFloors } from '../units/predicates.js'
import { ruleFunctions, type RuleFunctions } from './rule-functions.js'
import { SingleWrites, WriteSteps, leavesTrace, type LoadedAction } from './write-steps.js'
import { TransactionFinish } from './transaction-finish.js'
import { TransactionReads } from './transaction-reads.js'
import { UnitPart } from '../units/unit-part.js'
import type { PredicateCheck } from '../contract/units.js'
import type {
  ActionVerdict,
  CommitReply,
  CommitRequest,
  FinishRequest,
  PrepareReply,
  PrepareRequest,
  ReadAtReply,
  ReadAtRequest,
  ReadLatestReply,
  ReadLatestRequest,
  TransactReply,
  TransactRequest,
  TransactionNode,
} from '../contract/transactions.js'
import { AheadPlace, WorkAhead, type WorkAheadParts } from './work-ahead.js'
import {
  ACCEPTED,
  BUSY,
  GONE,
  RESTAMPED,
  TOKEN_OUTCOMES,
  TOO_MUCH,
  actionVerdict,
  conflictVerdict,
  stepVerdict,
  withImage,
} from './verdicts.js'

/** Client tokens, looked at and recorded within the step of a one-round transaction. */
export type TokenBook = Pick<LocalLedger, 'claimToken' | 'recordCommitted'>

export interface TransactionPartOptions extends TransactionState, StepRetryOptions {
  readonly steps: ItemSteps
  readonly boundaries: BatchBoundaries
  readonly tokens: TokenBook
  /** Position of this node among those of the store. */
  readonly node: number
  readonly rules: TransactionRules
  readonly functions?: RuleFunctions
}

export class TransactionPart implements TransactionNode {
  readonly #options: TransactionPartOptions
  readonly #functions: RuleFunctions
  readonly #retries: StepRetries
  readonly #ahead: WorkAheadParts
  readonly #ended: EndedTransactions
  readonly #ceiling: Ceiling
  readonly #finish: TransactionFinish
  readonly #reads: TransactionReads
  readonly #writing: WriteSteps
  /** Writes outside transactions. */
  readonly singles: SingleWrites
  /** What serves units of work beside their commits. */
  readonly units: UnitPart

  constructor(options: TransactionPartOptions) {
    this.#options = options
    this.#functions = options.functions ?? ruleFunctions
    this.#retries = new StepRetries({
      ...options,
      lockHolder: (item) => options.locks.holder(item),
    })
    this.#ahead = { runtime: options.runtime, knobs: options.knobs, place: new AheadPlace(options.knobs) }
    this.#ended = new EndedTransactions(options.line, options.clock, options.knobs)
    this.#ceiling = new Ceiling(options.line)
    const shared = {
      ...options,
      functions: this.#functions,
      retries: this.#retries,
      ceiling: this.#ceiling,
    }
    this.#finish = new TransactionFinish({ ...shared, ended: this.#ended })
    this.#reads = new TransactionReads(shared)
    this.#writing = new WriteSteps(shared)
    this.singles = new SingleWrites({ ...shared, writing: this.#writing })
    this.units = new UnitPart(shared)
  }

  /** Undefined if the item may be read now. */
  doubt(item: KeyBytes): Promise<void> | undefined {
    return this.#retries.doubt(item)
  }

  /** The same for all items of the node. */
  anyDoubt(): Promise<void> | undefined {
    return this.#retries.anyDoubt()
  }

  /** Undefined if nothing is pending on items of that space; otherwise settles when that may have changed. */
  unrest(space: SpaceId): Promise<void> | undefined {
    const items = this.#options.pendings.inSpace(space)
    return items.length === 0 ? undefined : this.#retries.change(items)
  }

  /** Who waits for items of this node, and who has waited lately. */
  waits(entriesMax: number): readonly WaitEntry[] {
    return this.#retries.waits(entriesMax)
  }

  prepare(request: PrepareRequest): Promise<PrepareReply> {
    const ahead = new WorkAhead(this.#ahead, 'not-made')
    const take = (): StepOutcome<PrepareAnswer> | StepDeferred =>
      request.predicates === undefined
        ? this.#prepare(request, ahead)
        : this.#prepareUnit(request, request.predicates, ahead)
    return this.#retries.patiently(
      take,
      ({ verdicts, predicateVerdicts, run }) => ({
        clock: this.#options.clock.timestamp,
        verdicts,
        predicateVerdicts,
        run,
      }),
      () => ahead.end(),
      request.unit ?? request.tx,
    )
  }

  /** With predicates: nothing is prepared unless they hold, and then nobody writes what would change them. */
  #prepareUnit(
    request: PrepareRequest,
    checks: readonly PredicateCheck[],
    ahead: WorkAhead,
  ): StepOutcome<PrepareAnswer> | StepDeferred {
    const { clock, line } = this.#options
    const { tx, timestamp, actions } = request
    clock.witness(timestamp)
    const place = { timestamp, tx }
    const { verdicts: predicateVerdicts, waitFor } = decidePredicates(this.#options, checks, place)
    const refused = predicateVerdicts.some((each) => isFinal(each) || each.verdict === 'too-old')
    if (refused || waitFor.length > 0) {
      const answer = { verdicts: actions.map(() => ACCEPTED), predicateVerdicts }
      return refused ? { answer, whenDurable: whenAllDurable(line) } : { answer, waitFor }
    }
    const step = this.#prepare(request, ahead)
    if (step.after !== undefined) return step
    const answer = { ...step.answer, predicateVerdicts }
    if (step.waitFor !== undefined) return { answer, waitFor: step.waitFor }
    if (answer.verdicts.every(({ verdict }) => verdict === 'accepted'))
      raiseFloors(this.#options, checks, timestamp)
    return {
      answer,
      whenDurable: both(both(step.whenDurable, whenAllDurable(line)), this.#ceiling.above(timestamp)),
    }
  }

  #prepare(request: PrepareRequest, ahead: WorkAhead): StepOutcome<PrepareAnswer> | StepDeferred {
    const { tx, timestamp, actions, imagesWanted, unit } = request
    const { clock, line, pendings, rules } = this.#options
    clock.witness(timestamp)
    const ended = this.#ended.find(tx)
    if (ended !== undefined)
      return {
        answer: { verdicts: actions.map(() => ({ verdict: 'ended' })) },
        whenDurable: ended.whenDurable,
      }
    const gone = this.#goneTables(actions)
    if (gone !== undefined) return { answer: { verdicts: gone }, whenDurable: undefined }
    const loaded = actions.map((action) => this.#loadAction(action, ahead))
    // What was accepted before stays so, whatever became of the items since: it is not looked at again.
    const isNew = ({ item }: LoadedAction): boolean => !item.pending.some((each) => each.tx === tx)
    const after = ahead.due(pendings.hasItemsOf(tx) ? loaded.filter(isNew) : loaded)
    if (typeof after === 'string')
      return { answer: { verdicts: notTaken(actions, after) }, whenDurable: undefined }
    if (after !== undefined) return { after }
    const items = itemsOf(loaded)
    const at = { tx, timestamp, ...(unit !== undefined && { unit }) }
    const verdicts = loaded.map(({ item, action }) => this.#functions.decidePrepare(item, action, at, rules))
    const refused = verdicts.some(({ verdict }) => verdict !== 'accepted' && verdict !== 'wait')
    const answer = items.map((item, n) => actionVerdict(verdicts[n] as PrepareVerdict, item))
    if (!refused && verdicts.some(({ verdict }) => verdict === 'wait')) {
      return {
        answer: { verdicts: answer },
        waitFor: items.flatMap((item, n) => (verdicts[n]?.verdict === 'wait' ? [item.address] : [])),
      }
    }
    // With a later timestamp those that would wait are asked again: until then they are in nobody's way.
    if (refused && verdicts.every(({ verdict }) => RESTAMPED.has(verdict))) {
      const tooOld = answer.map((each) => (each.verdict === 'too-old' ? each : ACCEPTED))
      return { answer: { verdicts: tooOld }, whenDurable: whenDurableAt(line, items) }
    }
    if (refused) return { answer: { verdicts: answer }, whenDurable: whenDurableAt(line, items) }
    for (let n = 0; n < items.length; n++) {
      const item = items[n] as LoadedItem
      const verdict = verdicts[n] as PrepareVerdict & { verdict: 'accepted' }
      if (verdict.pending === item.pending) continue
      // An absent item keeps what the partition says now: later deletes beside it must not hide this write (§3.3).
      const tombstone = item.state.record === undefined && {
        tombstone: item.pendingItem.tombstone ?? { timestamp: item.written, blind: false },
      }
      // Only an update needs the attributes again when it is committed: of what was parsed ahead no more is kept.
      const isKept = ahead.isEmpty || loaded[n]?.action.mutation.kind === 'update'
      const state = isKept ? item.state : undefined
      pendings.set(item.address, { pending: verdict.pending, ...tombstone }, 'put', state)
    }
    const accepted = imagesWanted ? items.map(withImage) : answer
    const whenDurable = line.whenDurable() ?? whenDurableAt(line, items)
    return request.ahead === true && whenDurable !== undefined
      ? { answer: { verdicts: accepted, run: line.run }, whenDurable: undefined }
      : { answer: { verdicts: accepted }, whenDurable }
  }

  /** Undefined if all tables are there. One may have been dropped while its transaction waited. */
  #goneTables(actions: readonly Action[]): readonly ActionVerdict[] | undefined {
    const { steps } = this.#options
    return actions.some(({ table }) => steps.isDropped(table.space))
      ? actions.map(({ table }) => (steps.isDropped(table.space) ? GONE : ACCEPTED))
      : undefined
  }

  commit(request: CommitRequest): Promise<CommitReply> {
    return this.#finish.commit(request)
  }

  cancel(request: FinishRequest): Promise<{ readonly clock: Timestamp }> {
    return this.#finish.cancel(request)
  }

  finished(transactions: readonly TxId[]): Promise<readonly TxId[]> {
    return this.#finish.finished(transactions)
  }

  readAt(request: ReadAtRequest): Promise<ReadAtReply> {
    return this.#reads.readAt(request)
  }

  readLatest(request: ReadLatestRequest): Promise<ReadLatestReply> {
    return this.#reads.readLatest(request)
  }

  transact(request: TransactRequest): Promise<TransactReply> {
    const ahead = new WorkAhead(this.#ahead, 'made')
    return this.#retries.patiently(
      () => this.#transact(request, ahead),
      (answer) => ({ clock: this.#options.clock.timestamp, ...answer }),
      () => ahead.end(),
      request.unit ?? request.tx,
    )
  }

  #transact(request: TransactRequest, ahead: WorkAhead): StepOutcome<TransactAnswer> | StepDeferred {
    const { tx, actions, token, imagesWanted, unit, predicates = [] } = request
    const payloadHash = token?.payloadHash ?? ''
    const { tokens, line } = this.#options
    const known = this.#recognised(request)
    if (known !== undefined) return known
    const gone = this.#goneTables(actions)
    if (gone !== undefined) return { answer: { outcome: 'refused', verdicts: gone }, whenDurable: undefined }
    const steps = actions.map((action) => this.#loadAction(action, ahead))
    const after = ahead.due(steps)
    if (typeof after === 'string')
      return { answer: { outcome: 'refused', verdicts: notTaken(actions, after) }, whenDurable: undefined }
    if (after !== undefined) return { after }
    const verdict = this.#decideWriteStep(steps, { unit, last: predicates.length > 0 })
    switch (verdict.verdict) {
      case 'refused': {
        const verdicts = verdict.results.map((result, at) =>
          stepVerdict(result, (steps[at] as LoadedAction).item),
        )
        return { answer: { outcome: 'refused', verdicts }, whenDurable: whenDurableAt(line, itemsOf(steps)) }
      }
      case 'wait':
      case 'conflict': {
        const verdicts = verdict.others.map((others, at) => conflictVerdict(others, verdict.holders[at]))
        const answer: TransactAnswer = { outcome: 'refused', verdicts }
        return verdict.verdict === 'wait'
          ? { answer, waitFor: contendedOf(itemsOf(steps)) }
          : { answer, whenDurable: undefined }
      }
      case 'done': {
        const refused = this.#unitRefusal(request, verdict.timestamp)
        if (refused !== undefined) return refused
        const { timestamp } = verdict
        for (let at = 0; at < steps.length; at++) {
          const step = steps[at] as LoadedAction
          const json = ahead.jsonOf(step)
          this.#writing.apply(step, verdict.next[at], timestamp, { by: tx, json })
        }
        raiseFloors(this.#options, predicates, verdict.timestamp)
        if (unit !== undefined) this.#unlock(itemsOf(steps), unit)
        if (isRemembered(request)) tokens.recordCommitted(tx, verdict.timestamp, payloadHash)
        const images = imagesWanted && { verdicts: itemsOf(steps).map(withImage) }
        return {
          answer: { outcome: 'committed', timestamp: verdict.timestamp, ...images },
          whenDurable: steps.some((step, at) => leavesTrace(step, verdict.next[at]))
            ? line.whenDurable()
            : both(
                both(line.whenDurable(), this.#writing.whenSeenIsDurable(itemsOf(steps), timestamp)),
                predicates.length > 0 ? whenAllDurable(line) : undefined,
              ),
        }
      }
    }
  }

  /** What the predicates of a unit have against its commit in one round at that timestamp. */
  #unitRefusal(
    { actions, predicates }: TransactRequest,
    timestamp: Timestamp,
  ): StepOutcome<TransactAnswer> | undefined {
    if (predicates === undefined) return undefined
    const { verdicts: predicateVerdicts, waitFor } = decidePredicates(this.#options, predicates, {
      timestamp,
    })
    if (predicateVerdicts.every(({ verdict }) => verdict === 'holds')) return undefined
    const verdicts = actions.map(() => ACCEPTED)
    const answer: TransactAnswer = { outcome: 'refused', verdicts, predicateVerdicts }
    return waitFor.length > 0 && !predicateVerdicts.some(isFinal)
      ? { answer, waitFor }
      : { answer, whenDurable: whenAllDurable(this.#options.line) }
  }

  /** The commit of a unit gives its locks back. */
  #unlock(items: readonly LoadedItem[], unit: string): void {
    const { locks } = this.#options
    for (const { address } of items) if (locks.release(address, unit)) this.#retries.changed(address)
  }

  /** The answer to a request that was here before, or whose token was. */
  #recognised(request: TransactRequest): StepOutcome<TransactAnswer> | undefined {
    if (!isRemembered(request)) return undefined
    const { tx, actions, token } = request
    // Without a token the slot is the transaction's own, and a request that was repeated on its way is recognised.
    const claim = this.#options.tokens.claimToken(tx, token?.payloadHash ?? '')
    if (claim.verdict !== 'free')
      return { answer: { outcome: TOKEN_OUTCOMES[claim.verdict] }, whenDurable: claim.whenDurable }
    const ended = this.#ended.find(tx)
    if (ended === undefined) return undefined
    const verdicts = actions.map(() => ({ verdict: 'ended' }) as const)
    return { answer: { outcome: 'refused', verdicts }, whenDurable: ended.whenDurable }
  }

  #decideWriteStep(steps: readonly WriteStepAction[], place?: WriteStepPlace): WriteStepVerdict {
    const { clock, rules } = this.#options
    const verdict = this.#functions.decideWriteStep(steps, clock.nextTimestamp(), rules, place)
    if (verdict.verdict === 'done') clock.witness(verdict.timestamp)
    return verdict
  }

  // eslint-disable-next-line typescript/require-await -- an exception must reject
  async stalled(olderThan: Timestamp, entriesMax: number, after?: TxId): Promise<readonly TxId[]> {
    return this.#options.pendings.stalled(olderThan, entriesMax, after)
  }

  #loadAction(given: Action, ahead: WorkAhead): LoadedAction {
    const loaded = this.#writing.load(given)
    if (ahead.isEmpty) return loaded
    const known = ahead.verdictOf(loaded)
    return { item: ahead.load(loaded.item), action: loaded.action, ...(known && { known }) }
  }
}

type PrepareAnswer = Omit<PrepareReply, 'clock'>

type TransactAnswer = TransactReply extends infer Reply
  ? Reply extends unknown
    ? Omit<Reply, 'clock'>
    : never
  : never

const isRemembered = ({ token, once }: TransactRequest): boolean => token !== undefined || once !== true

/** Why a large step is not taken, said of its first action. */
const notTaken = (actions: readonly Action[], why: 'too-much' | 'busy'): readonly ActionVerdict[] =>
  actions.map((_, at) => (at > 0 ? ACCEPTED : why === 'busy' ? BUSY : TOO_MUCH))

const itemsOf = (steps: readonly LoadedAction[]): readonly LoadedItem[] => steps.map(({ item }) => item)

const contendedOf = (items: readonly LoadedItem[]): readonly KeyBytes[] =>
  items.flatMap((item) => (item.pending.length > 0 || item.lockedBy !== undefined ? [item.address] : []))
