// The part of a local node that takes part in transactions: it loads items with what is pending on them, asks the
// rules, and writes their answer in the same step. It decides nothing itself.
//
//   prepare   rules/prepare.ts   --> pending entries (durable before the answer)
//   commit    rules/finish.ts    --> item, index entries, pending entries; visible at once (see `#finish`)
//   transact  rules/beside.ts    --> items, token; one step
//   readAt    rules/read.ts      --> read marks, below a durable ceiling
//
// What was pending when the node was opened is in doubt; see doubts.ts.
import type { KeyBytes, Timestamp, TxId } from '../model/brand.js'
import type { Runtime } from '../runtime/runtime.js'
import { decideStep, type StepAction, type StepVerdict } from '../rules/beside.js'
import { decideFinish, type FinishVerdict } from '../rules/finish.js'
import type { ItemRecord, WriteRequest } from '../rules/item.js'
import { observes, writes, type Action } from '../rules/pending.js'
import { decidePrepare, transactions, type PrepareVerdict } from '../rules/prepare.js'
import { commonReadTimestamp, decideReadAt, decideReadLatest } from '../rules/read.js'
import type { NextImage } from '../rules/single-write.js'
import type { TransactionRules } from '../rules/switches.js'
import type { ItemRef } from '../ledger/ledger.js'
import type { LocalLedger } from '../ledger/local-ledger.js'
import { Ceiling } from './ceiling.js'
import { loadItem, type LoadedItem, type TransactionState } from './contended.js'
import { Doubts } from './doubts.js'
import { EndedTransactions } from './ended.js'
import type { HybridClock } from './hybrid-clock.js'
import type { ItemSteps } from './item-steps.js'
import { type Put, both } from './line.js'
import { inSpace, pendingKey } from './spaces.js'
import type { WriteOutcome } from './storage-node.js'
import type {
  ActionVerdict,
  CommitRequest,
  FinishRequest,
  PrepareReply,
  PrepareRequest,
  ReadAtReply,
  ReadAtRequest,
  ReadLatestReply,
  ReadLatestRequest,
  ReadVerdict,
  TransactReply,
  TransactRequest,
  TransactionNode,
} from './transactions.js'
import { Unsettled } from './unsettled.js'
import {
  ACCEPTED,
  RESTAMPED,
  TOKEN_OUTCOMES,
  actionVerdict,
  conflictVerdict,
  stepVerdict,
  withImage,
} from './verdicts.js'
import { PendingWaits } from './waits.js'

/** The rules as functions, so that a simulation can put a wrong one in the place of a right one. */
export interface RuleFunctions {
  readonly decidePrepare: typeof decidePrepare
  readonly decideFinish: typeof decideFinish
  readonly decideStep: typeof decideStep
  readonly decideReadAt: typeof decideReadAt
  readonly decideReadLatest: typeof decideReadLatest
  readonly commonReadTimestamp: typeof commonReadTimestamp
}

export const ruleFunctions: RuleFunctions = {
  decidePrepare,
  decideFinish,
  decideStep,
  decideReadAt,
  decideReadLatest,
  commonReadTimestamp,
}

/** Client tokens, looked at and recorded within the step of a one-round transaction. */
export type TokenBook = Pick<LocalLedger, 'claimToken' | 'recordCommitted'>

export interface TransactionPartOptions extends TransactionState {
  readonly runtime: Runtime
  readonly clock: HybridClock
  readonly steps: ItemSteps
  readonly tokens: TokenBook
  readonly rules: TransactionRules
  readonly functions?: RuleFunctions
  /** How long a request waits for a pending transaction before it is a conflict. */
  readonly waitMs?: number
  /** Told of a transaction that a request met and that is older than `stalledMs` (§3.5). */
  readonly onStalled?: (tx: TxId) => void
  readonly stalledMs?: number
}

const WAIT_MS = 50
/** A committed update waits this long for what is pending before it; recovery decides that much sooner. */
const COMMIT_WAIT_MS = 30_000
const STALLED_MS = 2000

type Loaded = LoadedItem & { readonly action: Action }

export class TransactionPart implements TransactionNode {
  readonly #options: TransactionPartOptions
  readonly #functions: RuleFunctions
  readonly #waits: PendingWaits
  readonly #ended: EndedTransactions
  readonly #ceiling: Ceiling
  readonly #unsettled = new Unsettled()
  readonly #doubts: Doubts

  constructor(options: TransactionPartOptions) {
    this.#options = options
    this.#functions = options.functions ?? ruleFunctions
    this.#waits = new PendingWaits(options.runtime.clock)
    this.#ended = new EndedTransactions(options.line, options.clock)
    this.#ceiling = new Ceiling(options.line)
    this.#doubts = new Doubts(options.pendings)
    options.line.onRollback(() => this.#waits.changedAll())
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
      this.#tellOf(doubtful)
      if (!(await this.#waits.until(doubtful, COMMIT_WAIT_MS))) {
        throw new Error('a transaction of before the last start has not been decided yet')
      }
    }
  }

  async prepare(request: PrepareRequest): Promise<PrepareReply> {
    const answer = await this.#patiently(() => this.#prepare(request))
    return { clock: this.#options.clock.timestamp, verdicts: answer }
  }

  #prepare({ tx, timestamp, actions, imagesWanted }: PrepareRequest): Step<readonly ActionVerdict[]> {
    const { clock, line, pendings, rules } = this.#options
    clock.witness(timestamp)
    const ended = this.#ended.find(tx)
    if (ended !== undefined)
      return { answer: actions.map(() => ({ verdict: 'ended' })), settled: ended.settled }
    const items = actions.map((action) => this.#loadAction(action))
    const verdicts = items.map((item) =>
      this.#functions.decidePrepare(item, item.action, { tx, timestamp }, rules),
    )
    const refused = verdicts.some(({ verdict }) => verdict !== 'accepted' && verdict !== 'wait')
    const answer = items.map((item, at) => actionVerdict(verdicts[at] as PrepareVerdict, item))
    if (!refused && verdicts.some(({ verdict }) => verdict === 'wait')) {
      return {
        answer,
        waitFor: items.flatMap((item, at) => (verdicts[at]?.verdict === 'wait' ? [item.address] : [])),
      }
    }
    // With a later timestamp those that would wait are asked again: until then they are in nobody's way.
    if (refused && verdicts.every(({ verdict }) => RESTAMPED.has(verdict))) {
      const tooOld = answer.map((each) => (each.verdict === 'too-old' ? each : ACCEPTED))
      return { answer: tooOld, settled: this.#settledAt(items) }
    }
    if (refused) return { answer, settled: this.#settledAt(items) }
    for (const [at, item] of items.entries()) {
      const verdict = verdicts[at] as PrepareVerdict & { verdict: 'accepted' }
      if (verdict.pending === item.pending) continue
      // An absent item keeps what the partition says now: later deletes beside it must not hide this write (§3.3).
      const tombstone = item.state.record === undefined && {
        tombstone: item.pendingItem.tombstone ?? { timestamp: item.written, blind: false },
      }
      pendings.set(item.address, { pending: verdict.pending, ...tombstone }, 'put')
    }
    return {
      answer: imagesWanted ? items.map(withImage) : answer,
      settled: line.settled() ?? this.#settledAt(items),
    }
  }

  async commit(request: CommitRequest): Promise<{ readonly clock: Timestamp }> {
    this.#options.clock.witness(request.timestamp)
    await this.#finish(request, 'commit')
    if (request.until === 'known') return { clock: this.#options.clock.timestamp }
    // An update may have to wait for what is pending before it; the answer means that readers see it.
    const { pendings } = this.#options
    for (let left = pendings.itemsOf(request.tx); left.length > 0; left = pendings.itemsOf(request.tx)) {
      this.#tellOf(left)
      if (!(await this.#waits.until(left, COMMIT_WAIT_MS)))
        throw new Error('a transaction before this one is not decided')
    }
    await this.#unsettled.visible(request.tx)
    return { clock: this.#options.clock.timestamp }
  }

  async cancel(request: FinishRequest): Promise<{ readonly clock: Timestamp }> {
    await this.#finish(request, 'cancel')
    return { clock: this.#options.clock.timestamp }
  }

  async finished({ tx }: FinishRequest): Promise<void> {
    // While one step becomes durable another may follow, when what the transaction waited for is decided.
    for (let step = this.#unsettled.durable(tx); step !== undefined; step = this.#unsettled.durable(tx))
      await step
    // A crash since then has brought the intent back, and what was done with it is gone.
    if (this.#options.pendings.itemsOf(tx).length > 0) throw new Error('the transaction is not finished here')
  }

  async #finish(
    { tx, items, unfenced }: FinishRequest & Pick<CommitRequest, 'unfenced'>,
    decision: 'commit' | 'cancel',
  ): Promise<void> {
    const { line, pendings } = this.#options
    const admission = line.admission()
    if (admission !== undefined) await admission
    const addresses = new Set([
      ...items.map(({ space, key }) => inSpace(space, key.bytes)),
      ...pendings.itemsOf(tx),
    ])
    // Intent and decision are durable, so readers may see the write at once; but not if it builds on what is not.
    const settled = [...addresses].every(
      (address) => line.settledAt(address) === undefined && line.settledAt(pendingKey(address)) === undefined,
    )
    const put = settled ? 'putVisible' : 'put'
    // With it go updates that were decided before and waited for this one.
    const finished = new Set([
      tx,
      ...[...addresses].flatMap((address) => this.#finishItem(address, tx, decision, put)),
    ])
    if (unfenced !== true) this.#ended.add(tx)
    const durable = line.settled()
    if (durable !== undefined) for (const each of finished) this.#unsettled.add(each, durable, put)
    if (!settled) await durable
    for (const item of this.#doubts.dispel(addresses)) this.#waits.changed(item)
  }

  /** The transactions that are pending no longer. */
  #finishItem(address: KeyBytes, tx: TxId, decision: 'commit' | 'cancel', put: Put): readonly TxId[] {
    const { pendings, marks } = this.#options
    const mine = pendings.of(address).pending.find((pending) => pending.tx === tx)
    if (mine === undefined) return []
    const item = this.#load(address, mine.action.key)
    const verdict = this.#functions.decideFinish(item, tx, decision)
    if (verdict.verdict === 'unknown') return []
    this.#write(item, mine.action, verdict, put)
    marks.raise(address, verdict.read)
    this.#waits.changed(address)
    return transactions(
      item.pending.filter(({ tx: each }) => !verdict.pending.some((left) => left.tx === each)),
    )
  }

  #write(
    item: LoadedItem,
    action: Action,
    { written, pending }: FinishVerdict & { verdict: 'finished' },
    put: Put,
  ): void {
    const { steps, pendings } = this.#options
    const last = written.at(-1)
    if (last !== undefined) {
      const table = steps.shapeOf(action.table)
      const { state, key } = item
      const { next, timestamp, blind } = last
      steps.apply({ table, key, state, next, timestamp, blind, put })
    }
    const present = last === undefined ? item.state.record !== undefined : last.next !== undefined
    const deleted = last !== undefined && { timestamp: last.timestamp, blind: last.blind }
    const tombstone = present ? undefined : deleted || item.pendingItem.tombstone
    pendings.set(item.address, { pending, ...(tombstone && { tombstone }) }, put)
  }

  async transact(request: TransactRequest): Promise<TransactReply> {
    const answer = await this.#patiently(() => this.#transact(request))
    return { clock: this.#options.clock.timestamp, ...answer }
  }

  #transact(request: TransactRequest): Step<TransactAnswer> {
    const { tx, actions, token, imagesWanted } = request
    const payloadHash = token?.payloadHash ?? ''
    const { tokens, line } = this.#options
    const known = this.#recognised(request)
    if (known !== undefined) return known
    const items = actions.map((action) => this.#loadAction(action))
    const steps = items.map((item) => ({ item, action: item.action, answersImage: false }))
    const verdict = this.#decideStep(steps)
    switch (verdict.verdict) {
      case 'refused': {
        const verdicts = verdict.results.map((result, at) => stepVerdict(result, items[at] as Loaded))
        return { answer: { outcome: 'refused', verdicts }, settled: this.#settledAt(items) }
      }
      case 'wait':
      case 'conflict': {
        const verdicts = verdict.others.map(conflictVerdict)
        const answer: TransactAnswer = { outcome: 'refused', verdicts }
        return verdict.verdict === 'wait'
          ? { answer, waitFor: contendedOf(items) }
          : { answer, settled: undefined }
      }
      case 'done': {
        for (const [at, item] of items.entries())
          this.#applyStep(
            { item, action: item.action, answersImage: false },
            verdict.next[at],
            verdict.timestamp,
          )
        if (isRemembered(request)) tokens.recordCommitted(tx, verdict.timestamp, payloadHash)
        const images = imagesWanted && { verdicts: items.map(withImage) }
        return {
          answer: { outcome: 'committed', timestamp: verdict.timestamp, ...images },
          settled: line.settled(),
        }
      }
    }
  }

  /** The answer to a request that was here before, or whose token was. */
  #recognised(request: TransactRequest): Step<TransactAnswer> | undefined {
    if (!isRemembered(request)) return undefined
    const { tx, actions, token } = request
    // Without a token the slot is the transaction's own, and a request that was repeated on its way is recognised.
    const claim = this.#options.tokens.claimToken(tx, token?.payloadHash ?? '')
    if (claim.verdict !== 'free')
      return { answer: { outcome: TOKEN_OUTCOMES[claim.verdict] }, settled: claim.settled }
    const ended = this.#ended.find(tx)
    if (ended === undefined) return undefined
    const verdicts = actions.map(() => ({ verdict: 'ended' }) as const)
    return { answer: { outcome: 'refused', verdicts }, settled: ended.settled }
  }

  /** A single write to an item that has transactions pending (§4). */
  async writeBeside(request: WriteRequest): Promise<WriteOutcome> {
    return this.#patiently(() => this.#writeBeside(request))
  }

  #writeBeside(request: WriteRequest): Step<WriteOutcome> {
    const item = this.#loadAction(request)
    const { record } = item.state
    const step = { item, action: item.action, answersImage: request.answersImage === true }
    const verdict = this.#decideStep([step])
    switch (verdict.verdict) {
      case 'refused': {
        const [result] = verdict.results
        const settled = this.#settledAt([item])
        if (result?.verdict === 'invalid') return { answer: result, settled }
        return { answer: { verdict: 'condition-failed', ...(record && { current: record }) }, settled }
      }
      case 'wait':
      case 'conflict': {
        const answer: WriteOutcome = { verdict: 'conflict', others: verdict.others[0] ?? [] }
        return verdict.verdict === 'wait'
          ? { answer, waitFor: [item.address] }
          : { answer, settled: undefined }
      }
      case 'done': {
        const next = this.#applyStep(step, verdict.next[0], verdict.timestamp)
        const traceless = record === undefined && next === undefined
        return {
          answer: {
            verdict: 'done',
            timestamp: verdict.timestamp,
            ...(record && { old: record }),
            ...(next && { new: next }),
          },
          settled: both(
            this.#options.line.settled(),
            traceless ? this.covered(verdict.timestamp) : undefined,
          ),
        }
      }
    }
  }

  /**
   * When a delete of nothing has its place in the serial order for good: it leaves no trace but this, and a write that was
   * stamped before it must not come after it because the node was opened anew.
   */
  covered(timestamp: Timestamp): Promise<void> | undefined {
    return this.#ceiling.above(timestamp)
  }

  #decideStep(steps: readonly StepAction[]): StepVerdict {
    const { clock, rules } = this.#options
    const verdict = this.#functions.decideStep(steps, clock.nextTimestamp(), rules)
    if (verdict.verdict === 'done') clock.witness(verdict.timestamp)
    return verdict
  }

  #applyStep(
    { item, action, answersImage }: StepAction & { readonly item: LoadedItem },
    next: NextImage | undefined,
    timestamp: Timestamp,
  ): ItemRecord | undefined {
    const { steps, pendings, marks } = this.#options
    const blind = !observes(action) && !answersImage
    if (!blind) marks.raise(item.address, timestamp)
    if (!writes(action)) return undefined
    const { state, key } = item
    const record = steps.apply({ table: action.table, key, state, next, timestamp, blind, put: 'put' })
    if (item.pending.length > 0) {
      const tombstone = next === undefined && { tombstone: { timestamp, blind } }
      pendings.set(item.address, { pending: item.pending, ...tombstone }, 'put')
      // What is pending below it is nothing any more, and nobody need wait for it.
      this.#waits.changed(item.address)
    }
    return record
  }

  async readAt(request: ReadAtRequest): Promise<ReadAtReply> {
    const answer = await this.#patiently(() => this.#readAt(request))
    return { clock: this.#options.clock.timestamp, ...answer }
  }

  #readAt({ items: refs, timestamp: wanted }: ReadAtRequest): Step<Omit<ReadAtReply, 'clock'>> {
    const { clock, marks } = this.#options
    if (wanted !== undefined) clock.witness(wanted)
    const items = refs.map((ref) => this.#loadRef(ref))
    const now = clock.nextTimestamp()
    const timestamp = wanted ?? this.#functions.commonReadTimestamp(items, now) ?? now
    const verdicts = items.map((item) => this.#functions.decideReadAt(item, timestamp))
    const results = items.map((item, at): ReadVerdict => {
      const verdict = verdicts[at] as ReadVerdict
      const { record } = item.state
      return verdict.verdict === 'value' ? { verdict: 'value', ...(record && { record }) } : verdict
    })
    const answer = { timestamp, results }
    if (verdicts.some(({ verdict }) => verdict === 'too-old'))
      return { answer, settled: this.#settledAt(items) }
    if (verdicts.some(({ verdict }) => verdict === 'pending')) {
      return {
        answer,
        waitFor: items.flatMap((item, at) => (verdicts[at]?.verdict === 'pending' ? [item.address] : [])),
      }
    }
    for (const item of items) marks.raise(item.address, timestamp)
    return { answer, settled: both(this.#settledAt(items), this.#ceiling.above(timestamp)) }
  }

  async readLatest(request: ReadLatestRequest): Promise<ReadLatestReply> {
    const answer = await this.#patiently(() => this.#readLatest(request))
    return { clock: this.#options.clock.timestamp, results: answer }
  }

  #readLatest({ items: refs, mark }: ReadLatestRequest): Step<ReadLatestReply['results']> {
    const { clock, marks, partitions } = this.#options
    if (mark !== undefined) clock.witness(mark)
    const items = refs.map((ref) => this.#loadRef(ref))
    const results = items.map((item): ReadLatestReply['results'][number] => {
      const verdict = this.#functions.decideReadLatest(item)
      if (verdict.verdict === 'pending') return verdict
      const { record } = item.state
      const lsn = record?.lsn ?? partitions.deleteLsn(item.key.hash)
      return { verdict: 'value', lsn, written: item.written, ...(record && { record }) }
    })
    if (mark !== undefined) for (const item of items) marks.raise(item.address, mark)
    const ceiling = mark === undefined ? undefined : this.#ceiling.above(mark)
    return { answer: results, settled: both(this.#settledAt(items), ceiling) }
  }

  // eslint-disable-next-line typescript/require-await -- an exception must reject
  async stalled(olderThan: Timestamp, entriesMax: number): Promise<readonly TxId[]> {
    return this.#options.pendings.stalled(olderThan, entriesMax)
  }

  /** Takes a step again and again until it need not wait, or has waited long enough. */
  async #patiently<Answer>(take: () => Step<Answer>): Promise<Answer> {
    const { line, runtime, waitMs = WAIT_MS } = this.#options
    const start = runtime.clock.nowMicros()
    for (;;) {
      const admission = line.admission()
      if (admission !== undefined) await admission
      const step = take()
      if (step.waitFor === undefined) {
        if (step.settled !== undefined) await step.settled
        return step.answer
      }
      this.#tellOf(step.waitFor)
      const leftMs = waitMs - (runtime.clock.nowMicros() - start) / 1000
      if (!(await this.#waits.until(step.waitFor, leftMs))) return step.answer
    }
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

  #load(address: KeyBytes, key: LoadedItem['key']): LoadedItem {
    return loadItem(this.#options, address, key)
  }

  #loadRef({ space, key }: ItemRef): LoadedItem {
    return this.#load(inSpace(space, key.bytes), key)
  }

  #loadAction(given: Action): Loaded {
    const table = this.#options.steps.shapeOf(given.table)
    const action = table === given.table ? given : { ...given, table }
    return { ...this.#load(inSpace(table.space, action.key.bytes), action.key), action }
  }

  /** When everything these decisions were based upon is durable. */
  #settledAt(items: readonly LoadedItem[]): Promise<void> | undefined {
    const { line } = this.#options
    let settled: Promise<void> | undefined
    for (const { address, pendingItem } of items) {
      settled = both(settled, line.settledAt(address))
      if (pendingItem.pending.length > 0) settled = both(settled, line.settledAt(pendingKey(address)))
    }
    return settled
  }
}

/** What a step answers, and when: once `settled`, or after another try when one of `waitFor` has changed. */
type Step<Answer> =
  | { readonly answer: Answer; readonly settled: Promise<void> | undefined; readonly waitFor?: undefined }
  | { readonly answer: Answer; readonly waitFor: readonly KeyBytes[] }

type TransactAnswer = TransactReply extends infer Reply
  ? Reply extends unknown
    ? Omit<Reply, 'clock'>
    : never
  : never

const isRemembered = ({ token, once }: TransactRequest): boolean => token !== undefined || once !== true

const contendedOf = (items: readonly LoadedItem[]): readonly KeyBytes[] =>
  items.flatMap((item) => (item.pending.length > 0 ? [item.address] : []))
