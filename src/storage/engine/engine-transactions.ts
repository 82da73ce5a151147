// An engine node's part in transactions (§3.3, §3.4): every scope of a request is a step of its own, and all are taken at once.
//
//   prepare  read, one cas a scope: intents beside the items; if one scope refuses, the others are taken back
//   commit   one cas a scope, on what this server remembers of the prepare; anybody else reads first
//   cancel   the same
//   readLatest  one read; twice they are a read transaction
import type { EngineRow, RowAddress } from '../../engine/engine.js'
import type { ItemRef } from '../../ledger/ledger.js'
import type { Timestamp, TxId } from '../../model/brand.js'
import type { ItemKey, TableShape } from '../../model/table.js'
import { looksAtImage, observes, writes, type Action } from '../../rules/item/contended-item.js'
import { actionResult } from '../../rules/item/single-write.js'
import type { PrepareVerdict } from '../../rules/prepare.js'
import type {
  ActionVerdict,
  CommitReply,
  CommitRequest,
  FinishRequest,
  LatestVerdict,
  PrepareReply,
  PrepareRequest,
  ReadLatestReply,
  ReadLatestRequest,
} from '../contract/transactions.js'
import { ACCEPTED, actionVerdict, GONE, RESTAMPED, withImage } from '../transactions/verdicts.js'
import type { EngineParts } from './engine-parts.js'
import { itemWriteOf, loadStep, withCatalogue } from './engine-writes.js'
import { clearedChanges, committedChanges, intendedChanges, type Changes } from './item-changes.js'
import { decodeItemHead, loadRow, recordOf } from './item-row.js'
import { whereMissing } from './missing-spaces.js'
import { itemKeyOf, itemRow, spaceOf } from './rows.js'
import type { StepDecision, RowsSeen } from './scope-steps.js'

const ENDED_MAX = 20_000
const ENDED: ActionVerdict = { verdict: 'ended' }

interface Scope {
  readonly actions: readonly Action[]
  readonly positions: readonly number[]
  readonly addresses: readonly RowAddress[]
}

export class EngineTransactions {
  readonly #parts: EngineParts
  /** Transactions that have ended by calls of this server: a prepare of theirs comes too late. */
  readonly #ended = new Set<TxId>()

  constructor(parts: EngineParts) {
    this.#parts = parts
  }

  async prepare(request: PrepareRequest): Promise<PrepareReply> {
    const { tx, timestamp, actions } = request
    const { clock, shapes } = this.#parts
    clock.witness(timestamp)
    if ((request.predicates ?? []).length > 0) throw new Error('an engine node checks no predicates')
    if (this.#ended.has(tx)) return this.#reply(actions.map(() => ENDED))
    const gone = actions.map(({ table }) => shapes.isDropped(table.space))
    if (gone.some(Boolean)) return this.#reply(gone.map((isGone) => (isGone ? GONE : ACCEPTED)))
    const scopes = this.#scopesOf(actions)
    const settled = await Promise.allSettled(scopes.map((scope) => this.#prepareScope(request, scope)))
    const failure = settled.find((each) => each.status === 'rejected')
    const verdicts: ActionVerdict[] = []
    for (const [at, each] of settled.entries())
      for (const [n, position] of scopes[at]!.positions.entries())
        verdicts[position] = (each.status === 'fulfilled' ? each.value[n] : undefined) ?? ACCEPTED
    const isAccepted = failure === undefined && verdicts.every(({ verdict }) => verdict === 'accepted')
    if (isAccepted) return this.#reply(verdicts)
    // All of a node or none.
    const held = scopes.filter(
      ({ addresses }, at) => settled[at]?.status === 'rejected' || addresses.length > 0,
    )
    await Promise.all(held.map((scope) => this.#finish(tx, scope.addresses, 'cancel').catch(() => undefined)))
    if (failure !== undefined) throw failure.reason
    const isOnlyOld = verdicts.every(({ verdict }) => verdict === 'accepted' || verdict === 'too-old')
    return this.#reply(
      isOnlyOld ? verdicts : verdicts.map((each) => (each.verdict === 'too-old' ? ACCEPTED : each)),
    )
  }

  #scopesOf(actions: readonly Action[]): readonly Scope[] {
    const scopes = new Map<string, { actions: Action[]; positions: number[]; addresses: RowAddress[] }>()
    for (const [position, action] of actions.entries()) {
      const address = itemRow(action.table.space, action.key)
      const name = this.#parts.engine.scopeOf(address)
      let scope = scopes.get(name)
      if (scope === undefined) scopes.set(name, (scope = { actions: [], positions: [], addresses: [] }))
      scope.actions.push(action)
      scope.positions.push(position)
      scope.addresses.push(address)
    }
    return [...scopes.values()]
  }

  #prepareScope(request: PrepareRequest, scope: Scope): Promise<readonly ActionVerdict[]> {
    const touched = scope.actions.map(({ table }, at) => ({ table, address: scope.addresses[at]! }))
    return withCatalogue(this.#parts, touched, () =>
      this.#parts.steps.take({
        addresses: scope.addresses,
        decide: (rows) => this.#decidePrepare(rows, request, scope),
      }),
    )
  }

  #decidePrepare(
    rows: RowsSeen,
    { tx, timestamp, imagesWanted, unit }: PrepareRequest,
    { actions }: Scope,
  ): StepDecision<readonly ActionVerdict[]> {
    const { functions, rules } = this.#parts
    if (this.#ended.has(tx)) return { answer: actions.map(() => ENDED) }
    const steps = actions.map((action) => loadStep(this.#parts, rows, action))
    const at = { tx, timestamp, ...(unit !== undefined && { unit }) }
    const verdicts = steps.map(({ item, action }) => functions.decidePrepare(item, action, at, rules))
    const isRefused = verdicts.some(({ verdict }) => verdict !== 'accepted')
    if (isRefused) {
      const isRestamped = verdicts.every(({ verdict }) => RESTAMPED.has(verdict))
      return {
        answer: steps.map(({ item }, n) => {
          const verdict = verdicts[n] as PrepareVerdict
          return isRestamped && verdict.verdict !== 'too-old' ? ACCEPTED : actionVerdict(verdict, item)
        }),
      }
    }
    const changes = steps.map((step): Changes => {
      const { item, action } = step
      if (item.head.pending?.tx === tx) return {}
      const result = actionResult(action, looksAtImage(action) ? item.item() : undefined)
      if (result.verdict !== 'fine') throw new Error(`an action was accepted and is ${result.verdict}`)
      return intendedChanges(itemWriteOf(this.#parts, step, result.next, timestamp), {
        tx,
        kind: action.mutation.kind,
        observes: observes(action) || !writes(action),
      })
    })
    return {
      answer: imagesWanted ? steps.map(({ item }) => withImage(item)) : steps.map(() => ACCEPTED),
      next: changes.flatMap(({ next = [] }) => next),
      before: changes.flatMap(({ before = [] }) => before),
    }
  }

  async commit({ tx, items, timestamp }: CommitRequest): Promise<CommitReply> {
    this.#parts.clock.witness(timestamp)
    await this.#finishItems(tx, items, 'commit')
    return { clock: this.#parts.clock.now() }
  }

  async cancel({ tx, items }: FinishRequest): Promise<{ readonly clock: Timestamp }> {
    await this.#finishItems(tx, items, 'cancel')
    return { clock: this.#parts.clock.now() }
  }

  async #finishItems(tx: TxId, items: readonly ItemRef[], decision: 'commit' | 'cancel'): Promise<void> {
    this.#end(tx)
    const { engine, pendings } = this.#parts
    const given = items.map(({ space, key }) => itemRow(space, key))
    // Without items: all that are known.
    const addresses = items.length > 0 ? given : pendings.addressesOf(tx)
    const byScope = new Map<string, RowAddress[]>()
    for (const address of addresses) {
      const scope = engine.scopeOf(address)
      byScope.set(scope, [...(byScope.get(scope) ?? []), address])
    }
    const all = await Promise.allSettled(
      Array.from(byScope.values(), (each) => this.#finish(tx, each, decision)),
    )
    for (const each of all) if (each.status === 'rejected') throw each.reason
  }

  async #finish(tx: TxId, addresses: readonly RowAddress[], decision: 'commit' | 'cancel'): Promise<void> {
    const { steps, pendings } = this.#parts
    const isKnown = addresses.every((address) => {
      const row = steps.known(address)
      return row !== undefined && decodeItemHead(row).pending?.tx === tx
    })
    const finish = (): Promise<void> =>
      steps.take({
        addresses,
        mayGuess: isKnown,
        decide: (rows): StepDecision<void> => this.#decideFinish(rows, tx, addresses, decision),
      })
    // If its table was dropped, so was everything in it.
    await whereMissing(this.#parts, addresses.map(spaceOf), finish, () => undefined)
    for (const address of addresses) pendings.ended(tx, address)
  }

  #decideFinish(
    rows: RowsSeen,
    tx: TxId,
    addresses: readonly RowAddress[],
    decision: 'commit' | 'cancel',
  ): StepDecision<void> {
    const changes = addresses.map((address): Changes => {
      const row = rows.row(address)
      const head = decodeItemHead(row)
      if (head.pending?.tx !== tx) return {}
      const key = itemKeyOf(address) as ItemKey
      const item = loadRow(row, BARE, key, this.#parts.isOrdered)
      // Nothing is written to a table that is no more.
      const isGone = this.#parts.shapes.isDropped(spaceOf(address))
      const verdict = this.#parts.functions.decideFinish(item, tx, isGone ? 'cancel' : decision)
      if (verdict.verdict === 'unknown') return {}
      this.#parts.clock.witness(head.pending.timestamp)
      const isWritten = verdict.written.length > 0 || (decision === 'commit' && head.pending.kind === 'check')
      return isWritten ? committedChanges(address, key, head) : clearedChanges(address, key, head)
    })
    const next = changes.flatMap((each) => each.next ?? [])
    return {
      answer: undefined,
      ...(next.length > 0 && { next }),
      after: changes.flatMap(({ after = [] }) => after),
    }
  }

  #end(tx: TxId): void {
    this.#ended.add(tx)
    if (this.#ended.size <= ENDED_MAX) return
    for (const oldest of this.#ended) {
      this.#ended.delete(oldest)
      return
    }
  }

  async readLatest({ items }: ReadLatestRequest): Promise<ReadLatestReply> {
    const { engine, functions, clock, pendings, isOrdered } = this.#parts
    const addresses = items.map(({ space, key }) => itemRow(space, key))
    const rows = await engine.read(addresses, 'consistent')
    const results = items.map(({ key }, at): LatestVerdict => {
      const row = rows[at]
      const item = loadRow(row, BARE, key, isOrdered)
      clock.witness(item.written)
      const verdict = functions.decideReadLatest(item)
      if (verdict.verdict === 'pending') {
        pendings.meet(verdict.tx, addresses[at]!)
        return verdict
      }
      const record = recordOf(row, item.head)
      return { verdict: 'value', lsn: item.written, written: item.written, ...(record && { record }) }
    })
    return { clock: clock.now(), results }
  }

  /** Those that requests have met here and that are still pending. */
  async stalled(entriesMax: number, after: TxId | undefined): Promise<readonly TxId[]> {
    const { engine, pendings } = this.#parts
    const met = pendings
      .all()
      .filter(([tx]) => after === undefined || tx > after)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, entriesMax)
    const still: TxId[] = []
    await Promise.all(
      met.map(async ([tx, addresses]) => {
        const read = (): Promise<readonly (EngineRow | undefined)[]> => engine.read(addresses, 'consistent')
        const rows = await whereMissing(this.#parts, addresses.map(spaceOf), read, () => [])
        const isPending = addresses.map((_, at) => decodeItemHead(rows[at]).pending?.tx === tx)
        for (const [at, address] of addresses.entries()) if (!isPending[at]) pendings.ended(tx, address)
        if (isPending.some(Boolean)) still.push(tx)
      }),
    )
    return still.toSorted()
  }

  #reply(verdicts: readonly ActionVerdict[]): PrepareReply {
    return { clock: this.#parts.clock.now(), verdicts }
  }
}

/** What a commit need not know: the image and its entries were made when the intent was. */
const BARE = {
  name: '',
  space: 0,
  key: { partition: { name: '', type: 'S' } },
  indexes: [],
} as unknown as TableShape
