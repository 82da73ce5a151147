// TransactWriteItems: one round where one atomic step of a node spans everything (§4), otherwise two phases (§3.3, Listing 2).
//
// An attempt whose timestamp was too old is given up, and the next one is another transaction: same slot of the ledger,
// new nonce, higher timestamp. With the same id, a delayed prepare of the first attempt could not be told from one of
// the second, and might be accepted with the old timestamp after the new one was refused. With an id of its own it meets
// the fence that the cancel of the first attempt left at the node, or, where there is none any more, becomes a pending
// entry of a transaction that the ledger knows to be cancelled.
import type { BeginOutcome, Decided, LedgerRecord, Participant } from '../ledger/ledger.js'
import type { LedgerSlot, Timestamp, TxId } from '../model/brand.js'
import { WriteFailed } from '../line/errors.js'
import type {
  Action,
  ActionVerdict,
  PredicateVerdict,
  PrepareReply,
} from '../storage/contract/transactions.js'
import type { Parts, WriteTransaction, WriteTransactionOutcome } from './coordinator.js'
import { tellParticipants } from './finish.js'
import { type FirstWave, firstWave } from './first-wave.js'
import {
  groupsOf,
  inOrder,
  nodeAt,
  participantOf,
  predicateHolds,
  predicateVerdicts,
  predicatesOn,
  type Group,
  withPredicateNodes,
  newAttempt,
  passingAttempt,
  tokenSlot,
} from './placement.js'
import { oneRound } from './one-round.js'
import { afterAnother, unfencedOver } from './other-attempt.js'
import { cancelled, failed } from './outcomes.js'
import { isRefusedVerdict, reasonsOf } from './reasons.js'
import type { PhaseTimes } from './recent.js'

export async function writeTransaction(
  parts: Parts,
  transaction: WriteTransaction,
): Promise<WriteTransactionOutcome> {
  const { actions, token } = transaction
  const groups = withPredicateNodes(
    groupsOf(actions, (action) => parts.placement.nodeOf(action.key.hash)),
    transaction.predicates,
  )
  const [only] = groups
  const isOneRound = groups.length === 1 && parts.rules.oneRoundWrites && parts.placement.isOneStep(actions)
  if (only !== undefined && isOneRound && token === undefined && !parts.calls.lossy) {
    const tx = passingAttempt(parts.runtime)
    const times = timesOf(parts, groups, transaction)
    return ended(parts, tx, transaction, await oneRound(parts, only, tx, transaction), times)
  }
  // Without a token any slot will do: one at a node that has items of the transaction shares their syncs.
  const slot = token === undefined ? parts.slots.at(only?.node ?? 0) : tokenSlot(token.text)
  if (only !== undefined && isOneRound) {
    // The token must be claimed in the same step as the effect.
    if (token === undefined || parts.placement.isOneStep(actions, slot)) {
      const tx = newAttempt(parts.runtime, slot)
      const times = timesOf(parts, groups, transaction)
      return ended(parts, tx, transaction, await oneRound(parts, only, tx, transaction), times)
    }
  }
  return twoPhases(parts, groups, slot, transaction)
}

/** For people who look. */
function ended(
  parts: Parts,
  tx: TxId,
  { actions }: WriteTransaction,
  outcome: WriteTransactionOutcome,
  times: PhaseTimes,
): WriteTransactionOutcome {
  parts.recent.add(tx, actions, outcome, times)
  return outcome
}

/** For people who look, too. */
const timesOf = (
  { runtime }: Parts,
  groups: readonly Group<Action>[],
  { unit }: WriteTransaction,
  attempt = 1,
): PhaseTimes => ({
  begunMicros: runtime.clock.nowMicros(),
  attempt,
  unit,
  nodes: groups.map(({ node, parts: actions }) => ({ node, items: actions.length })),
})

type Attempt =
  | { readonly done: WriteTransactionOutcome }
  /** Given up because of its timestamp, or cancelled by somebody who took this coordinator for dead. */
  | { readonly done?: never; readonly verdicts: readonly ActionVerdict[]; readonly above: Timestamp }

interface EarlierAttempt {
  readonly replaces: TxId
  /** What the first one met in its slot. */
  readonly met: Met
}
type Met = Extract<BeginOutcome, { verdict: 'begun' }>['met']

async function twoPhases(
  parts: Parts,
  groups: readonly Group<Action>[],
  slot: LedgerSlot,
  transaction: WriteTransaction,
): Promise<WriteTransactionOutcome> {
  // By the clock that the ledger keeps its tombstones by: a machine that slept has passed it.
  const deadline = parts.runtime.clock.nowMicros() + parts.deadlineMs * 1000
  let earlier: EarlierAttempt | undefined
  for (let attempt = 1; ; attempt++) {
    const tx = newAttempt(parts.runtime, slot)
    const times = timesOf(parts, groups, transaction, attempt)
    const run = new TwoPhases(parts, groups, tx, { deadline, times, token: transaction.token })
    parts.recent.begun(tx, times)
    let result: Attempt
    try {
      result = await run.attempt(transaction, earlier)
    } finally {
      parts.recent.over(tx)
    }
    if (result.done !== undefined) return ended(parts, tx, transaction, result.done, times)
    parts.clock.witness(result.above)
    if (attempt >= parts.attemptsMax || parts.runtime.clock.nowMicros() > deadline) {
      return ended(parts, tx, transaction, await run.cancel(result.verdicts), times)
    }
    // Before the next attempt asks for the same items.
    await run.release()
    earlier = { replaces: tx, met: run.met }
  }
}

class TwoPhases {
  readonly #parts: Parts
  readonly #groups: readonly Group<Action>[]
  readonly #tx: TxId
  readonly #deadline: number
  readonly #times: PhaseTimes
  readonly #timestamp: Timestamp
  readonly #ledger: Parts['nodes'][number]['ledger']
  /** What the nodes hold of it if it is accepted; nodes that were only asked about predicates hold nothing. */
  readonly #participants: readonly Participant[]
  readonly #token: WriteTransaction['token']
  met: Met
  /** Nodes that may hold something of this attempt. */
  #holding: readonly Group<Action>[]

  constructor(
    parts: Parts,
    groups: readonly Group<Action>[],
    tx: TxId,
    {
      deadline,
      times,
      token,
    }: {
      readonly deadline: number
      readonly times: PhaseTimes
      readonly token: WriteTransaction['token']
    },
  ) {
    this.#parts = parts
    this.#groups = groups
    this.#holding = groups.filter((group) => group.parts.length > 0)
    this.#participants = this.#holding.map(participantOf)
    this.#tx = tx
    this.#deadline = deadline
    this.#times = times
    this.#token = token
    this.#timestamp = parts.clock.nextTimestamp()
    this.#ledger = nodeAt(parts.nodes, parts.placement.ledgerNodeOf(tx.slice(0, 32) as LedgerSlot)).ledger
  }

  async attempt(transaction: WriteTransaction, earlier: EarlierAttempt | undefined): Promise<Attempt> {
    const token = this.#token
    const [begun, prepared] = await this.#prepare(transaction, earlier)
    const replies = prepared.map((answer) => (answer?.status === 'fulfilled' ? answer.value : undefined))
    for (const reply of replies) if (reply !== undefined) this.#parts.clock.witness(reply.clock)
    this.#noteHolding(replies)

    if (begun.status === 'fulfilled' && begun.value.verdict === 'exists') {
      const { record } = begun.value
      if (record.tx !== this.#tx) {
        await this.release()
        return { done: await afterAnother(this.#parts, record, token) }
      }
      this.#parts.clock.witness(record.begunAt)
      return { verdicts: this.#ended(), above: record.timestamp }
    }
    if (begun.status === 'fulfilled' && begun.value.verdict === 'begun') this.met = begun.value.met
    const failure = [begun, ...prepared].find((answer) => answer?.status === 'rejected')
    if (failure !== undefined) {
      await this.cancel([])
      // Under a token another request may be what the ledger could not tell of, and that one may be committed.
      if (failure === begun && token !== undefined) return { done: failed(failure.reason) }
      return { done: { ...failed(failure.reason), outcome: 'unavailable' } }
    }
    const verdicts = inOrder(
      this.#groups,
      replies.map((reply, at) => reply?.verdicts ?? this.#groups[at]?.parts.map(() => NOTHING_KNOWN) ?? []),
    )
    const predicates = predicateVerdicts(this.#groups, replies, transaction.predicates)
    const changed = predicates.some((each) => !predicateHolds(each) && each.verdict !== 'too-old')
    if (changed) return { done: await this.cancel(verdicts, predicates) }
    if (verdicts.every(({ verdict }) => verdict === 'accepted') && predicates.every(predicateHolds))
      return this.#commit(verdicts, replies)
    if (verdicts.some(isRefusedVerdict)) return { done: await this.cancel(verdicts) }
    return { verdicts, above: highest([...verdicts, ...predicates]) }
  }

  /** The first wave: the ledger and all nodes at once. A node that answers before the ledger knows is no harm. */
  #prepare(
    { imagesWanted, predicates, unit }: WriteTransaction,
    earlier: EarlierAttempt | undefined,
  ): Promise<FirstWave> {
    const { calls, nodes, runtime, sharedJournal } = this.#parts
    const [tx, timestamp] = [this.#tx, this.#timestamp]
    const entry = {
      tx,
      timestamp,
      participants: this.#participants,
      ...(this.#token && { payloadHash: this.#token.payloadHash }),
      ...earlier,
    }
    const begun = calls(() => this.#ledger.begin(entry))
    const prepared = this.#groups.map(({ node, parts: actions }, at) => {
      const own = predicatesOn(node, predicates)
      const request = { tx, timestamp, actions, imagesWanted, predicates: own, unit, ahead: sharedJournal }
      const reply = calls(() => nodeAt(nodes, node).prepare(request))
      const times = this.#times.nodes[at]!
      const note = (): void => void (times.preparedMicros = runtime.clock.nowMicros())
      reply.then(note, note)
      return reply
    })
    return firstWave(begun, prepared)
  }

  /** Where nothing is lost or repeated, a node that refused has nothing to cancel. */
  #noteHolding(replies: readonly (PrepareReply | undefined)[]): void {
    if (this.#parts.calls.lossy) return
    this.#holding = this.#groups.filter((group, at) => {
      const verdicts = replies[at]?.verdicts
      return (
        group.parts.length > 0 &&
        (verdicts === undefined || verdicts.every(({ verdict }) => verdict === 'accepted'))
      )
    })
  }

  async #commit(
    verdicts: readonly ActionVerdict[],
    replies: readonly (PrepareReply | undefined)[],
  ): Promise<Attempt> {
    const { calls, nodes, runtime, completion, sharedJournal } = this.#parts
    const [run, ...others] = runsOf(replies)
    if (others.length > 0 || runtime.clock.nowMicros() > this.#deadline)
      return { verdicts: this.#ended(), above: this.#timestamp }
    let record: Decided
    let isUnderWay = false
    let failure: unknown
    try {
      record = await this.#decide(run, sharedJournal)
      this.#times.decidedMicros = runtime.clock.nowMicros()
      if (record.run !== undefined) {
        isUnderWay = true
        const carriedOut = await this.#carryOut(record.run)
        if (carriedOut.isDone)
          return { done: { outcome: 'committed', timestamp: record.timestamp, verdicts } }
        failure = carriedOut.failure
        record = await this.#decide(run ?? record.run)
      }
    } catch (error) {
      const outcome = failed(error)
      if (isUnderWay) return { done: { ...outcome, outcome: 'unknown' } }
      if (outcome.outcome === 'unavailable') await this.cancel([])
      return { done: outcome }
    }
    this.#times.decidedMicros ??= runtime.clock.nowMicros()
    if (record.decision !== 'commit' && failure instanceof WriteFailed) {
      // Not for its timestamp, nor for others: a next attempt would fail as well.
      await this.cancel([])
      return { done: failed(failure) }
    }
    if (record.tx !== this.#tx) {
      await this.release()
      return { done: await afterAnother(this.#parts, record, this.#token) }
    }
    if (record.decision !== 'commit') return { verdicts: this.#ended(), above: record.timestamp }
    if (record.state === 'completed')
      return { done: { outcome: 'committed', timestamp: record.timestamp, verdicts } }
    const decided = this.#committed()
    try {
      const { clock } = await tellParticipants(nodes, decided, calls, {
        unfenced: unfencedOver(calls),
        onAnswer: this.#noteFinished,
      })
      this.#parts.clock.witness(clock)
    } catch (error) {
      // It is committed, but not everybody would see it yet: recovery goes on with it.
      return { done: { ...failed(error), outcome: 'unknown' } }
    }
    completion.add({ ...decided, ledger: this.#ledger })
    return { done: { outcome: 'committed', timestamp: record.timestamp, verdicts } }
  }

  /** A lost answer is repeated: whoever decides second learns what was decided. */
  #decide(run: string | undefined, ahead?: boolean): Promise<Decided> {
    const at = { timestamp: this.#timestamp, run, ahead }
    return this.#parts.calls(() => this.#ledger.decide(this.#tx, 'commit', at))
  }

  /**
   * Everything that follows the decision, at once: all of it stands behind the decision in one journal, and there is one
   * wait for the last of it. Not done if a node did not answer, must wait for another transaction, or the run of the
   * journal is over: then nobody knows how much of it was kept, and whoever asks the ledger goes on from there.
   */
  async #carryOut(run: string): Promise<{ readonly isDone: boolean; readonly failure?: unknown }> {
    const { calls, clock, nodes } = this.#parts
    try {
      const told = await tellParticipants(nodes, this.#committed(), calls, {
        unfenced: unfencedOver(calls),
        run,
        onAnswer: this.#noteFinished,
      })
      clock.witness(told.clock)
      if (told.run === undefined) return NOT_DONE
      await calls(() => this.#ledger.complete(this.#tx, run))
      return DONE
    } catch (failure) {
      return { isDone: false, failure }
    }
  }

  readonly #noteFinished = (node: number): void => {
    const times = this.#times.nodes.find((each) => each.node === node)
    if (times !== undefined) times.finishedMicros = this.#parts.runtime.clock.nowMicros()
  }

  #committed(): Pick<LedgerRecord, 'tx' | 'decision' | 'timestamp' | 'participants'> {
    return { tx: this.#tx, decision: 'commit', timestamp: this.#timestamp, participants: this.#participants }
  }

  /**
   * Cancels for good. The nodes are told while the ledger is: nobody but this coordinator asks for a commit of this
   * transaction, and it will not.
   */
  async cancel(
    verdicts: readonly ActionVerdict[],
    predicates?: readonly PredicateVerdict[],
  ): Promise<WriteTransactionOutcome> {
    const { calls, completion } = this.#parts
    const at = {
      timestamp: this.#timestamp,
      reasons: reasonsOf(verdicts),
      payloadHash: this.#token?.payloadHash,
    }
    this.#times.decidedMicros = this.#parts.runtime.clock.nowMicros()
    const [decided] = await Promise.allSettled([
      calls(() => this.#ledger.decide(this.#tx, 'cancel', at)),
      this.release(),
    ])
    if (this.#ledger.isShared === true && this.#token !== undefined) {
      // Until the ledger has it, the same request may be committed elsewhere; or it has been.
      if (decided.status === 'rejected') return { ...failed(decided.reason), outcome: 'unknown' }
      if (decided.value.tx !== this.#tx) return afterAnother(this.#parts, decided.value, this.#token)
    }
    if (decided.status === 'fulfilled') {
      const participants = this.#holding.map(participantOf)
      completion.add({ tx: this.#tx, participants, ledger: this.#ledger })
    }
    return cancelled(verdicts, predicates)
  }

  /** Takes back what the nodes hold of this attempt. Whoever does not answer will ask recovery. */
  async release(): Promise<void> {
    const { calls, nodes } = this.#parts
    const participants = this.#holding.map(participantOf)
    await tellParticipants(
      nodes,
      { tx: this.#tx, decision: 'cancel', timestamp: this.#timestamp, participants },
      calls,
      { onAnswer: this.#noteFinished },
    ).catch(() => undefined)
  }

  #ended(): readonly ActionVerdict[] {
    return this.#groups.flatMap(({ parts: actions }) => actions.map(() => ({ verdict: 'ended' }) as const))
  }
}

/** The runs of the journal in which intents were put that may not be durable yet. Those of a run that is over may be lost. */
function runsOf(replies: readonly (PrepareReply | undefined)[]): readonly string[] {
  const runs: string[] = []
  for (const reply of replies) if (reply?.run !== undefined && !runs.includes(reply.run)) runs.push(reply.run)
  return runs
}

const DONE = { isDone: true }
const NOT_DONE = { isDone: false }

/** Of a node that was not waited for nothing is known; another node has said that the attempt is in vain. */
const NOTHING_KNOWN: ActionVerdict = { verdict: 'accepted' }

function highest(verdicts: readonly (ActionVerdict | PredicateVerdict)[]): Timestamp {
  let above = 0
  for (const verdict of verdicts) if (verdict.verdict === 'too-old') above = Math.max(above, verdict.above)
  return above as Timestamp
}
