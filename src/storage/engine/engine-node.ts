// A storage node that is a view of a compare-and-set engine (docs/adr/0043-engine-interface.md): any number of servers have one
// each on the same engine, and none owns anything.
//
//   write, prepare, transact --> line of the scope: read rows --> rules (pure) --> one cas for all that wait   scope-steps.ts
//   commit, cancel           --> the same, on rows that are remembered                                       engine-transactions.ts
//   get, readLatest, range   --> read, range                                                                 engine-ranges.ts
//   ledger, meta             --> rows of their own                                       engine-ledger.ts, engine-meta.ts
//
// What needs the memory of one owner is not here: read marks, snapshots, explicit locks, watches. Who asks for them is told so.
import { type Engine, type SpaceKind, SpaceMissing } from '../../engine/engine.js'
import { TableGone } from '../../line/errors.js'
import { HybridClock } from '../../line/hybrid-clock.js'
import type { SpaceCount } from '../../line/spaces.js'
import type { KeyBytes, LedgerSlot, SpaceId, Timestamp, TxId } from '../../model/brand.js'
import { keyAfter } from '../../model/key-range.js'
import type { IndexShape, ItemKey, TableShape } from '../../model/table.js'
import { noRules, type TransactionRules } from '../../rules/item/section-4.js'
import type { Runtime } from '../../runtime/runtime.js'
import type {
  ItemRecord,
  MetaEntry,
  RangeEntry,
  RangePage,
  RangeRequest,
  StorageNode,
  WriteOutcome,
  WriteRequest,
} from '../contract/storage-node.js'
import type {
  CommitReply,
  CommitRequest,
  FinishRequest,
  PrepareReply,
  PrepareRequest,
  ReadLatestReply,
  ReadLatestRequest,
  TransactReply,
  TransactRequest,
} from '../contract/transactions.js'
import type { UnitsHeld } from '../contract/units.js'
import { ruleFunctions, type RuleFunctions } from '../transactions/rule-functions.js'
import { CatalogueLease } from './catalogue-lease.js'
import { EngineLedger } from './engine-ledger.js'
import { EngineMeta } from './engine-meta.js'
import { type EngineParts, MetTransactions, RowWaits, TableShapes } from './engine-parts.js'
import { EngineRanges } from './engine-ranges.js'
import { EngineTransactions } from './engine-transactions.js'
import { transactInScope, writeItem } from './engine-writes.js'
import { EntryRepair } from './entry-repair.js'
import { decodeItemHead, recordOf } from './item-row.js'
import { whereMissing } from './missing-spaces.js'
import { itemKeyOf, itemRow, LEDGER_SPACE, ledgerRow, META_SPACE, spaceName } from './rows.js'
import { ScopeSteps, type ScopeStepsOptions } from './scope-steps.js'
import { type DoubtFunctions, SureCas, type SureCasOptions } from './sure-cas.js'

/** Rules 4 and 5 and blind overtaking need read marks, which nobody keeps on an engine (point 36). */
export const engineRules: TransactionRules = {
  ...noRules,
  readsPassPrepared: true,
  writesBehindPrepared: true,
  oneRoundWrites: true,
}

export interface EngineNodeOptions {
  readonly engine: Engine
  readonly runtime: Runtime
  /** The rules in force; those of an engine by default. Only a simulation has others. */
  readonly rules?: TransactionRules
  readonly functions?: RuleFunctions
  readonly doubts?: DoubtFunctions
  /** Whether a step came late. Only a simulation has another answer. */
  readonly isLate?: () => boolean
  readonly tuning?: EngineNodeTuning
  readonly counted?: SureCasOptions['counted']
  readonly stepCounted?: ScopeStepsOptions['counted']
  /** Told of what could not be done behind an answer; it is tried again when it is met again. */
  readonly onError?: (error: unknown) => void
}

export interface EngineNodeTuning {
  /** How long a single write waits for what is pending (200). */
  readonly waitMs?: number
  /** How many steps share one compare-and-set (64). */
  readonly stepsMax?: number
  /** How long completed transactions, entries without an item and rows of deleted items are watched before they go (10 minutes). */
  readonly keepMs?: number
  /** How long a catalogue may be used after it was read (10 s). */
  readonly leaseMs?: number
  /** For how long after its decision a step may be sent again, and after its beginning a transaction be committed (60 s). */
  readonly actWithinMs?: number
}

const WAIT_MS = 200
const ENTRY_ID_BYTES = 8

/**
 * A storage node on an engine.
 *
 * @example
 * const node = await openEngineNode({ engine, runtime })
 */
export async function openEngineNode(options: EngineNodeOptions): Promise<EngineNode> {
  await Promise.all([
    options.engine.createSpace(LEDGER_SPACE, 'passing'),
    options.engine.createSpace(META_SPACE, 'lasting'),
  ])
  return new EngineNode(options)
}

/** What an engine has not: a server asks its clients to do without it. */
export class NotOnEngine extends Error {
  override readonly name = 'NotOnEngine'
}

const absent = (what: string): Promise<never> =>
  Promise.reject(new NotOnEngine(`A store on an engine has no ${what}.`))

export class EngineNode implements StorageNode {
  readonly ledger: EngineLedger
  readonly unitsHeld: UnitsHeld = { snapshots: 0, historyBytes: 0, locks: 0 }
  readonly #parts: EngineParts
  readonly #transactions: EngineTransactions
  readonly #ranges: EngineRanges
  readonly #repair: EntryRepair
  readonly #meta: EngineMeta
  readonly #running = new Set<Promise<unknown>>()
  /** Spaces that are known to be there. */
  readonly #made = new Set<SpaceId>()
  /** Those that are being made: many steps that miss one ask the engine for it once. */
  readonly #making = new Map<SpaceId, Promise<void>>()

  constructor({ engine, runtime, tuning = {}, ...options }: EngineNodeOptions) {
    const behind = (work: Promise<unknown>): void => this.#behind(work, options.onError)
    const waits = new RowWaits(runtime)
    const { keepMs, actWithinMs } = tuning
    const acting = actWithinMs === undefined ? {} : { actWithinMs }
    const sure = new SureCas(
      { engine, runtime, ...acting, ...(options.counted && { counted: options.counted }) },
      options.doubts,
    )
    const steps = new ScopeSteps({
      engine,
      runtime,
      sure,
      behind,
      onChanged: (address) => waits.changed(address),
      ...(options.stepCounted && { counted: options.stepCounted }),
      ...(tuning.stepsMax !== undefined && { stepsMax: tuning.stepsMax }),
    })
    const clock = new HybridClock(runtime.clock)
    const rules = options.rules ?? engineRules
    const lease = new CatalogueLease(runtime.clock, tuning.leaseMs)
    this.#parts = {
      engine,
      runtime,
      clock,
      steps,
      rules,
      isOrdered: !rules.oldTimestamps && !rules.severalPrepared,
      functions: options.functions ?? ruleFunctions,
      shapes: new TableShapes(),
      lease,
      isLate: options.isLate ?? ((isNewer) => isNewer || !lease.isHeld),
      pendings: new MetTransactions(runtime),
      waits,
      waitMs: tuning.waitMs ?? WAIT_MS,
      behind,
      newId: () => Buffer.from(runtime.randomBytes(ENTRY_ID_BYTES)).toString('hex'),
    }
    const keeping = keepMs === undefined ? {} : { keepMs }
    this.ledger = new EngineLedger({ engine, runtime, clock, steps, ...acting, ...keeping })
    this.#transactions = new EngineTransactions(this.#parts)
    this.#repair = new EntryRepair(this.#parts, keepMs)
    this.#ranges = new EngineRanges(this.#parts, this.#repair)
    this.#meta = new EngineMeta(engine, steps)
  }

  #behind(work: Promise<unknown>, onError: EngineNodeOptions['onError']): void {
    const running: Promise<unknown> = work
      .catch((error: unknown) => {
        // Its table is gone, or its entries are yet to come.
        if (!(error instanceof SpaceMissing)) onError?.(error)
      })
      .finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  scopeOfItem({ key, space, table }: { key: ItemKey; space?: SpaceId; table?: { space: SpaceId } }): string {
    return this.#parts.engine.scopeOf(itemRow((space ?? table?.space) as SpaceId, key))
  }

  scopeOfSlot(slot: LedgerSlot): string {
    return this.#parts.engine.scopeOf(ledgerRow(slot))
  }

  /** Whose catalogue this node follows: it is read when the lease has run out, or a row tells of a newer one. */
  followCatalogue(refresh: () => Promise<void>): void {
    this.#parts.lease.follow(refresh)
  }

  async get(space: SpaceId, key: ItemKey, isConsistent: boolean): Promise<ItemRecord | undefined> {
    const address = itemRow(space, key)
    const { engine, clock } = this.#parts
    await this.#readable([space], isConsistent)
    const rows = await this.#there(
      space,
      () => engine.read([address], isConsistent ? 'consistent' : 'eventual'),
      [],
    )
    const [row] = rows
    if (row === undefined) return undefined
    const head = decodeItemHead(row)
    clock.witness(head.written)
    this.#repair.tended(row, head)
    return recordOf(row, head)
  }

  /** What is read from a space; `nothing` if it was not made yet, where nobody follows a catalogue. */
  #there<T>(space: SpaceId, read: () => Promise<T>, nothing: T): Promise<T> {
    return whereMissing(this.#parts, [space], read, () => {
      if (this.#parts.lease.isFollowing) throw new TableGone()
      return nothing
    })
  }

  write(request: WriteRequest): Promise<WriteOutcome> {
    return this.#inSpaces([request.table], () => writeItem(this.#parts, request))
  }

  transact(request: TransactRequest): Promise<TransactReply> {
    return this.#inSpaces(
      request.actions.map(({ table }) => table),
      () => transactInScope(this.#parts, request),
    )
  }

  prepare(request: PrepareRequest): Promise<PrepareReply> {
    return this.#inSpaces(
      request.actions.map(({ table }) => table),
      () => this.#transactions.prepare(request),
    )
  }

  /** Spaces are made when somebody first writes to them, if nobody has before. */
  async #inSpaces<T>(tables: readonly TableShape[], step: () => Promise<T>): Promise<T> {
    try {
      return await step()
    } catch (error) {
      if (!(error instanceof SpaceMissing)) throw error
      // Dropped by another server, or not made yet: the catalogue says.
      await this.#parts.lease.renew()
      this.#made.clear()
      for (const table of tables)
        if (!this.#parts.shapes.isDropped(table.space))
          await this.createSpaces(this.#parts.shapes.newest(table))
      return step()
    }
  }

  /** Makes what a table needs in the engine; resolves once every host that answers knows of it. */
  async createSpaces(table: TableShape): Promise<void> {
    for (const space of spacesOf(table)) {
      if (this.#made.has(space)) continue
      let making = this.#making.get(space)
      if (making === undefined) {
        making = this.#makeSpace(space, space === table.space ? 'lasting' : 'passing')
        this.#making.set(space, making)
      }
      await making
    }
  }

  async #makeSpace(space: SpaceId, kind: SpaceKind): Promise<void> {
    try {
      await this.#parts.engine.createSpace(spaceName(space), kind)
      this.#made.add(space)
    } finally {
      this.#making.delete(space)
    }
  }

  commit(request: CommitRequest): Promise<CommitReply> {
    return this.#transactions.commit(request)
  }

  cancel(request: FinishRequest): Promise<{ readonly clock: Timestamp }> {
    return this.#transactions.cancel(request)
  }

  /** What was answered is durable. */
  finished(_transactions: readonly TxId[]): Promise<readonly TxId[]> {
    return Promise.resolve([])
  }

  async readLatest(request: ReadLatestRequest): Promise<ReadLatestReply> {
    const spaces = request.items.map(({ space }) => space)
    await this.#readable(spaces, true)
    const read = (): Promise<ReadLatestReply> => this.#transactions.readLatest(request)
    return whereMissing(this.#parts, spaces, read, () => {
      throw new TableGone()
    })
  }

  /** A reader follows the catalogue, too: another table may have the name of the one that it means. */
  async #readable(spaces: readonly SpaceId[], isConsistent: boolean): Promise<void> {
    const { lease, shapes } = this.#parts
    if (!lease.isFollowing) return
    try {
      const confirming = lease.confirm()
      if (confirming !== undefined) await confirming
    } catch (error) {
      if (isConsistent) throw error
    }
    if (spaces.some((space) => shapes.isDropped(space))) throw new TableGone()
  }

  stalled(_olderThan: Timestamp, entriesMax: number, after?: TxId): Promise<readonly TxId[]> {
    return this.#transactions.stalled(entriesMax, after)
  }

  onStalled(callback: (tx: TxId) => void): void {
    this.#parts.pendings.onStalled(callback)
  }

  async range(request: RangeRequest): Promise<RangePage> {
    await this.#readable([request.space], true)
    return this.#there(request.space, () => this.#ranges.range(request), { entries: [], more: false })
  }

  expired(
    expirySpace: SpaceId,
    itemSpace: SpaceId,
    nowSeconds: number,
    entriesMax: number,
  ): Promise<readonly RangeEntry[]> {
    return this.#ranges.expired(expirySpace, itemSpace, nowSeconds, entriesMax)
  }

  count(space: SpaceId): Promise<SpaceCount> {
    return this.#ranges.count(space)
  }

  setShape(table: TableShape): Promise<void> {
    this.#parts.shapes.set(table)
    return Promise.resolve()
  }

  dropTable(space: SpaceId): Promise<void> {
    this.#parts.shapes.drop(space)
    return Promise.resolve()
  }

  writeMeta(entries: readonly MetaEntry[]): Promise<void> {
    return this.#meta.write(entries)
  }

  writeMetaIf(seen: MetaEntry, entries: readonly MetaEntry[]): Promise<boolean> {
    return this.#meta.writeIf(seen, entries)
  }

  readMeta(prefix: string): Promise<readonly Required<MetaEntry>[]> {
    return this.#meta.read(prefix)
  }

  async backfill({
    table: given,
    from,
    itemsMax,
  }: {
    readonly table: TableShape
    readonly index: IndexShape | 'expiry'
    readonly from: KeyBytes
    readonly itemsMax: number
  }): Promise<KeyBytes | undefined> {
    const table = this.#parts.shapes.newest(given)
    await this.createSpaces(table)
    const page = (): Promise<KeyBytes | undefined> => this.#backfillPage(table, from, itemsMax)
    return whereMissing(this.#parts, [table.space], page, () => undefined)
  }

  async #backfillPage(table: TableShape, from: KeyBytes, itemsMax: number): Promise<KeyBytes | undefined> {
    let items = 0
    for await (const row of this.#ranges.itemRows(table.space, from)) {
      if (decodeItemHead(row).cell !== undefined || decodeItemHead(row).pending !== undefined)
        await this.#repair.complete(table, row.address)
      if (++items >= itemsMax) return keyAfter((itemKeyOf(row.address) as ItemKey).bytes)
    }
    return undefined
  }

  async tend(
    given: TableShape,
    space: SpaceId,
    from: KeyBytes,
    rowsMax: number,
  ): Promise<KeyBytes | undefined> {
    const page = (): Promise<KeyBytes | undefined> =>
      this.#tendPage(this.#parts.shapes.newest(given), space, from, rowsMax)
    return whereMissing(this.#parts, [space], page, () => undefined)
  }

  async #tendPage(
    table: TableShape,
    space: SpaceId,
    from: KeyBytes,
    rowsMax: number,
  ): Promise<KeyBytes | undefined> {
    if (space !== table.space) {
      // Readers of entries look whether their items name them.
      const bounds = { from, reverse: false, entriesMax: rowsMax, bytesMax: Infinity }
      const { entries, more } = await this.#ranges.range({ space, itemSpace: table.space, ...bounds })
      const last = entries.at(-1)
      return more && last !== undefined ? keyAfter(last.key) : undefined
    }
    let rows = 0
    for await (const row of this.#ranges.itemRows(space, from)) {
      this.#repair.tended(row)
      if (++rows >= rowsMax) return keyAfter((itemKeyOf(row.address) as ItemKey).bytes)
    }
    return undefined
  }

  async sweep(space: SpaceId, _entriesMax: number): Promise<boolean> {
    if (this.#parts.shapes.tableOfLocal(space) === undefined)
      await this.#parts.engine.dropSpace(spaceName(space))
    return true
  }

  readAt(): Promise<never> {
    return absent('read marks')
  }
  openSnapshot(): Promise<never> {
    return absent('snapshots')
  }
  closeSnapshot(): Promise<void> {
    return Promise.resolve()
  }
  readSnapshot(): Promise<never> {
    return absent('snapshots')
  }
  rangeAt(): Promise<never> {
    return absent('snapshots')
  }
  lockItems(): Promise<never> {
    return absent('explicit locks')
  }
  unlockItems(): Promise<void> {
    return Promise.resolve()
  }

  /** Resolves once nothing is left to do behind the answers given so far. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  close(): Promise<void> {
    return this.idle()
  }
}

/** Those that an engine keeps apart: entries of local indexes stand beside the items. */
function spacesOf({ space, indexes, expiry }: TableShape): readonly SpaceId[] {
  const global = indexes.filter(({ kind }) => kind === 'global').map((index) => index.space)
  return [space, ...global, ...(expiry ? [expiry.space] : [])]
}
