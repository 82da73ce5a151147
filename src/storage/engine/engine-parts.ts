// What the parts of an engine node share.
import type { Engine, RowAddress } from '../../engine/engine.js'
import type { HybridClock } from '../../line/hybrid-clock.js'
import type { KeyBytes, SpaceId, TxId } from '../../model/brand.js'
import { versionOf, type TableShape } from '../../model/table.js'
import type { TransactionRules } from '../../rules/item/section-4.js'
import { type Runtime, steadyMicros } from '../../runtime/runtime.js'
import { StepWaiters } from '../items/step-waiters.js'
import type { RuleFunctions } from '../transactions/rule-functions.js'
import type { CatalogueLease } from './catalogue-lease.js'
import { rowPlace, type ScopeSteps } from './scope-steps.js'

export interface EngineParts {
  readonly engine: Engine
  readonly runtime: Runtime
  readonly clock: HybridClock
  readonly steps: ScopeSteps
  readonly rules: TransactionRules
  /** Nothing overtakes what is pending (point 36). */
  readonly isOrdered: boolean
  readonly functions: RuleFunctions
  readonly shapes: TableShapes
  readonly lease: CatalogueLease
  /** Whether the lease has run out since a step was decided, or a newer shape has been met. */
  readonly isLate: (isNewer: boolean) => boolean
  readonly pendings: MetTransactions
  readonly waits: RowWaits
  /** How long a single write waits for what is pending. */
  readonly waitMs: number
  /** Work behind an answer. */
  readonly behind: (work: Promise<unknown>) => void
  /** The id of an entry. */
  readonly newId: () => string
}

/** The shapes that this server knows, the newest of each table; and the tables that are no more. */
export class TableShapes {
  readonly #shapes = new Map<SpaceId, TableShape>()
  readonly #dropped = new Set<SpaceId>()
  /** The tables of local indexes, whose entries stand beside the items. */
  readonly #tableOfLocal = new Map<SpaceId, SpaceId>()
  readonly #expirySpaces = new Set<SpaceId>()

  set(table: TableShape): void {
    if (this.#dropped.has(table.space)) return
    const known = this.#shapes.get(table.space)
    if (known !== undefined && versionOf(known) > versionOf(table)) return
    this.#shapes.set(table.space, table)
    for (const { kind, space } of table.indexes)
      if (kind === 'local') this.#tableOfLocal.set(space, table.space)
    if (table.expiry !== undefined) this.#expirySpaces.add(table.expiry.space)
  }

  drop(space: SpaceId): void {
    this.#shapes.delete(space)
    this.#dropped.add(space)
  }

  isDropped(space: SpaceId): boolean {
    return this.#dropped.has(space)
  }

  /** Whether it is the space of a table, or of an index of one. */
  isInUse(space: SpaceId): boolean {
    if (this.#shapes.has(space)) return true
    return this.all().some(
      ({ indexes, expiry }) => indexes.some((index) => index.space === space) || expiry?.space === space,
    )
  }

  /** The newer one of what is known and what a request was validated with. */
  newest(table: TableShape): TableShape {
    const known = this.#shapes.get(table.space)
    const isUncounted = table.version === undefined && known?.version === undefined
    if (known !== undefined && !isUncounted && versionOf(known) >= versionOf(table)) return known
    if (known !== table) this.set(table)
    return table
  }

  of(space: SpaceId): TableShape | undefined {
    return this.#shapes.get(space)
  }

  isExpiry(space: SpaceId): boolean {
    return this.#expirySpaces.has(space)
  }

  tableOfLocal(index: SpaceId): SpaceId | undefined {
    return this.#tableOfLocal.get(index)
  }

  all(): readonly TableShape[] {
    return [...this.#shapes.values()]
  }
}

/** Requests that wait for a row to change; those of this server are told, others look again. */
export class RowWaits {
  readonly #waiters: StepWaiters

  constructor(runtime: Runtime) {
    this.#waiters = new StepWaiters(runtime.clock)
  }

  changed(address: RowAddress): void {
    this.#waiters.changed(rowPlace(address) as KeyBytes)
  }

  async until(addresses: readonly RowAddress[], waitMs: number): Promise<void> {
    await this.#waiters.until(
      addresses.map((address) => rowPlace(address) as KeyBytes),
      waitMs,
    )
  }
}

interface Met {
  readonly addresses: Map<string, RowAddress>
  readonly sinceMicros: number
}

const MET_MAX = 10_000

/** Transactions that requests have met on items, for recovery: an engine has no list of them. */
export class MetTransactions {
  readonly #met = new Map<TxId, Met>()
  readonly #runtime: Runtime
  readonly #callbacks: ((tx: TxId) => void)[] = []

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  onStalled(callback: (tx: TxId) => void): void {
    this.#callbacks.push(callback)
  }

  meet(tx: TxId, address: RowAddress): void {
    let met = this.#met.get(tx)
    if (met === undefined) {
      if (this.#met.size >= MET_MAX) return
      met = { addresses: new Map(), sinceMicros: steadyMicros(this.#runtime.clock) }
      this.#met.set(tx, met)
    } else for (const callback of this.#callbacks) callback(tx)
    met.addresses.set(rowPlace(address), address)
  }

  /** Nothing of it is pending there any more. */
  ended(tx: TxId, address: RowAddress): void {
    const met = this.#met.get(tx)
    met?.addresses.delete(rowPlace(address))
    if (met?.addresses.size === 0) this.#met.delete(tx)
  }

  addressesOf(tx: TxId): readonly RowAddress[] {
    return [...(this.#met.get(tx)?.addresses.values() ?? [])]
  }

  all(): readonly (readonly [TxId, readonly RowAddress[]])[] {
    return Array.from(this.#met, ([tx, { addresses }]) => [tx, [...addresses.values()]] as const)
  }
}
