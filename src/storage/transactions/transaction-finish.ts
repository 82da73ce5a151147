// Carrying out a decided transaction at one node (§3.3, §3.5), as often as anybody asks for it.
//
//   commit, cancel   rules/finish.ts  --> item, index entries, pending entries; visible at once where that is safe
//                                         a commit may come in the same batch as intent and decision, and is then all of
//                                         the three that is written
//   finished         resolves once all of that would survive a crash
import type { KeyBytes, Timestamp, TxId } from '../../model/brand.js'
import type { FinishVerdict } from '../../rules/finish.js'
import type { Action } from '../../rules/item/contended-item.js'
import { damageIn } from '../items/damage.js'
import { loadItem, type LoadedItem, type TransactionState } from '../items/load-item.js'
import type { EndedTransactions } from './ended-transactions.js'
import type { HybridClock } from '../../line/hybrid-clock.js'
import type { ItemSteps } from '../items/item-steps.js'
import { type Put, both } from '../../line/line.js'
import type { StepRetries } from '../items/step-retries.js'
import type { RuleFunctions } from './rule-functions.js'
import { inSpace, pendingKey } from '../../line/spaces.js'
import { RunOver } from '../../line/errors.js'
import type { CommitReply, CommitRequest, FinishRequest } from '../contract/transactions.js'
import { UndurableEnds } from './undurable-ends.js'

export interface TransactionFinishOptions extends TransactionState {
  readonly clock: HybridClock
  readonly steps: ItemSteps
  readonly functions: RuleFunctions
  readonly retries: StepRetries
  readonly ended: EndedTransactions
  /** Position of this node among those of the store, for the log of commits. */
  readonly node: number
}

type Decision = 'commit' | 'cancel'
const NO_NODES: readonly number[] = []
type FinishStep = FinishRequest & Pick<CommitRequest, 'unfenced' | 'run' | 'nodes'>

export class TransactionFinish {
  readonly #options: TransactionFinishOptions
  readonly #undurable = new UndurableEnds()

  constructor(options: TransactionFinishOptions) {
    this.#options = options
  }

  async commit(request: CommitRequest): Promise<CommitReply> {
    const { pendings, retries, line, clock } = this.#options
    clock.witness(request.timestamp)
    const admission = line.admission()
    if (admission !== undefined) await admission
    const finishing = this.#finish(request, 'commit')
    if (request.run !== undefined && !pendings.hasItemsOf(request.tx)) {
      // Whoever is told waits for something that is put behind this.
      finishing?.catch(() => undefined)
      return { clock: clock.timestamp, run: request.run }
    }
    if (finishing !== undefined) await finishing
    if (request.until === 'known') return { clock: clock.timestamp }
    // An update may have to wait for what is pending before it; the answer means that readers see it.
    while (pendings.hasItemsOf(request.tx)) {
      if (!(await retries.decided(pendings.itemsOf(request.tx))))
        throw new Error('a transaction before this one is not decided')
    }
    const visible = this.#undurable.visible(request.tx)
    if (visible !== undefined) {
      line.hurry(visible)
      await visible
    }
    return { clock: clock.timestamp }
  }

  async cancel(request: FinishRequest): Promise<{ readonly clock: Timestamp }> {
    const admission = this.#options.line.admission()
    if (admission !== undefined) await admission
    const finishing = this.#finish(request, 'cancel')
    if (finishing !== undefined) await finishing
    return { clock: this.#options.clock.timestamp }
  }

  async finished(transactions: readonly TxId[]): Promise<readonly TxId[]> {
    const failed = new Set<TxId>()
    for (const tx of transactions) {
      try {
        // While one step becomes durable another may follow, when what the transaction waited for is decided.
        for (let step = this.#undurable.durable(tx); step !== undefined; step = this.#undurable.durable(tx)) {
          this.#options.line.hurry(step)
          await step
        }
      } catch {
        failed.add(tx)
      }
    }
    // A crash since then has brought the intent back, and what was done with it is gone.
    return transactions.filter((tx) => failed.has(tx) || this.#options.pendings.hasItemsOf(tx))
  }

  /** Undefined if it is done, and readers see it. */
  #finish(request: FinishStep, decision: Decision): Promise<void> | undefined {
    const { line, ended, retries } = this.#options
    const { tx, items, unfenced, run } = request
    if (run !== undefined && run !== line.run) throw new RunOver()
    const addresses = this.#addresses(tx, items)
    const isPending = this.#options.pendings.hasItemsOf(tx)
    // If intent and decision are durable readers may see the write at once; but not if it builds on what is not.
    const isDurable = run === undefined && this.#areDurable(addresses)
    const put = isDurable ? 'putVisible' : 'put'
    const others: TxId[] = []
    let damage: unknown
    for (const address of addresses) {
      try {
        this.#finishItem(address, tx, { decision, put, others })
      } catch (error) {
        // Only this item cannot be finished; it stays pending, and nothing of it can be read either.
        if (damageIn(error) === undefined) throw error
        damage ??= error
      }
    }
    if (unfenced !== true && damage === undefined) ended.add(tx)
    // Also when no table asks any more: what another node has done of it may stand in the log.
    if (line.isLogging) {
      if (decision === 'commit' && isPending)
        this.#notePart(request, put, damage === undefined ? 'sound' : 'damaged')
      for (const other of new Set(others)) this.#notePart({ tx: other }, put, 'sound')
    }
    // Who sees it already need not wait for it.
    const durable = isDurable ? line.whenDurableUnhurried() : line.whenDurable()
    if (durable !== undefined) {
      this.#undurable.add(tx, durable, put)
      for (const other of new Set(others)) this.#undurable.add(other, durable, put)
    }
    if (damage !== undefined) throw damage
    if (isDurable) {
      retries.dispel(addresses)
      return undefined
    }
    // There may be nothing left to do but to wait for what another step has done.
    return (durable ?? this.#whenDurableAt(addresses))?.then(() => retries.dispel(addresses))
  }

  /**
   * For the log of commits, which shows a transaction when all its nodes have carried it out. An item that is damaged cannot
   * be finished; the log does not wait until it is repaired.
   */
  #notePart(
    { tx, nodes = NO_NODES }: Pick<FinishStep, 'tx' | 'nodes'>,
    put: Put,
    state: 'sound' | 'damaged',
  ): void {
    const { line, pendings, node } = this.#options
    const isDone = state === 'damaged' || !pendings.hasItemsOf(tx)
    line.note({ kind: 'part', order: 0, tx, node, nodes, isDone }, put)
  }

  #areDurable(addresses: readonly KeyBytes[]): boolean {
    const { line } = this.#options
    return addresses.every(
      (address) =>
        line.whenDurableAt(address) === undefined && line.whenDurableAt(pendingKey(address)) === undefined,
    )
  }

  #whenDurableAt(addresses: readonly KeyBytes[]): Promise<void> | undefined {
    const { line } = this.#options
    let whenDurable: Promise<void> | undefined
    for (const address of addresses)
      whenDurable = both(
        whenDurable,
        both(line.whenDurableAt(address), line.whenDurableAt(pendingKey(address))),
      )
    return whenDurable
  }

  #addresses(tx: TxId, items: FinishRequest['items']): readonly KeyBytes[] {
    const addresses = this.#options.pendings.itemsOf(tx)
    // All of them are pending here, as is the rule.
    if (addresses.length === items.length) return addresses
    const all = new Set(addresses)
    for (const { space, key } of items) all.add(inSpace(space, key.bytes))
    return [...all]
  }

  /** `others`: transactions that are pending no longer: updates that were decided before and waited for this one. */
  #finishItem(
    address: KeyBytes,
    tx: TxId,
    { decision, put, others }: { readonly decision: Decision; readonly put: Put; readonly others: TxId[] },
  ): void {
    const { pendings, marks, functions, retries, locks } = this.#options
    const mine = pendings.of(address).pending.find((pending) => pending.tx === tx)
    if (mine === undefined) return
    const item = loadItem(this.#options, address, mine.action.key)
    const verdict = functions.decideFinish(item, tx, decision)
    if (verdict.verdict === 'unknown') return
    this.#write(item, mine.action, verdict, put)
    marks.raise(address, verdict.read)
    if (mine.unit !== undefined && decision === 'commit') locks.release(address, mine.unit)
    retries.changed(address)
    for (const { tx: each } of item.pending)
      if (each !== tx && !verdict.pending.some((left) => left.tx === each)) others.push(each)
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
      const { tx: by, next, timestamp, blind, about } = last
      const json = pendings.intendedJson(item.address, by)
      const passed = written.length > 1 && { passed: written.slice(0, -1) }
      const how = { by, put, json, about, isFinish: true } as const
      steps.apply({ table, key, state, next, timestamp, blind, ...how, ...passed })
    }
    const present = last === undefined ? item.state.record !== undefined : last.next !== undefined
    const deleted = last !== undefined && { timestamp: last.timestamp, blind: last.blind }
    const tombstone = present ? undefined : deleted || item.pendingItem.tombstone
    pendings.set(item.address, { pending, ...(tombstone && { tombstone }) }, put)
  }
}
