// The catalogue: which tables there are, kept in memory and, as small records, in the meta space of node 0.
//
//   change(decide) --> one at a time: decide on a draft (synchronous) --> writeMetaIf, atomic and durable --> memory
//                              ^                                           |                                   |
//                              +-- read what is stored <-- another router's change came first                  +--> nodes: told
//   table(name) <-- a map look-up, for every request                                                           +--> maintenance, expiry
//
// Several routers may change tables on the same nodes. Each change raises the version of the catalogue, and is written only
// if the version is still the one that it was decided on. A record carries the version of its last change, and so does the
// shape of its table: nodes follow the highest version, whoever tells them first. A router that changes nothing itself knows
// of the changes of others once it is told to `refresh`: the first worker tells the others, and answers a change after that.
//
// The invariant that keeps indexes complete: whoever writes an item reads the table's shape and calls `node.write` in
// one synchronous stretch, and a node decides its steps in the order in which they were called (at once, or in line when
// it has no room). A shape changes between two calls: whatever was called with the old one is decided before whatever
// is called after the change. The backfill of a new index, and the sweep of a dropped space, are called in a later turn
// of the event loop: the backfill meets all items written with the old shape, and nothing is added to a space whose
// sweep has begun. A transaction is prepared in one turn and committed in another, and a write may queue behind it: nodes
// are told of each new shape, and use it for whatever they decide from then on.
//
// Space ids are never reused, not even that of a change whose outcome is unknown. Dropped spaces are remembered with
// the change that drops them, until they are empty on every node.
import { spaceId, type SpaceId } from '../../../model/brand.js'
import { DynamoError } from '../../../model/errors.js'
import type { TableShape } from '../../../model/table.js'
import { awaitedTimer, type Clock, type Runtime } from '../../../runtime/runtime.js'
import type { StorageNode } from '../../../storage/contract/storage-node.js'
import type { SpaceCount } from '../../../line/spaces.js'
import type { LedgerTable } from '../../../blocks/maker.js'
import type { CommitLog } from '../../../commit-log/commit-log.js'
import { streamKey, type StreamRecord } from '../../lineage/stream-record.js'
import type { Catalog, Table } from '../../request/context.js'
import { CatalogDraft, metaEntries, numberEntry, CATALOGUE_VERSION } from './catalog-draft.js'
import { type CreationMoment, isTableCreating, phasesOf } from './creation-pace.js'
import { type Claim, LeasedClaim, type LeasedClaimOptions, soleClaim } from './claims.js'
import { ExpirySweeper } from './expiry.js'
import { Maintenance } from './maintenance.js'
import { FIRST_SPACE, storedCatalog, storedVersion } from './stored-catalog.js'
import { StreamKeeper } from './stream-keeper.js'
import { spacesOf, tableOf, type TableRecord } from '../record/table-record.js'

export interface CatalogOptions {
  readonly runtime: Runtime
  readonly nodes: readonly StorageNode[]
  /** No other router uses these nodes: background work is not claimed, and nothing waits for a claim. */
  readonly isSoleOwner?: boolean
  /** What is committed to tables with a stream; absent: no table can have one. */
  readonly log?: CommitLog
  /** When the shards of a stream roll. */
  readonly shardMinutes?: number
  /** For how long tables and indexes stay CREATING; none by default. */
  readonly creatingMs?: number
  /** How long a router may use a table as it was before a change, and how long a step on its way may take besides. */
  readonly staleMs?: number
  /** How long a router may use a table as it was before a change. */
  readonly leaseMs?: number
  /** How often a router that is not alone looks whether another has changed a table. */
  readonly refreshMs?: number
  /** It only follows what another router changes (`refresh`): it tells nodes nothing, and does nothing in the background. */
  readonly isCopy?: boolean
  /** Tells other routers of a change that is in force here; the change is answered when they follow it. */
  readonly announce?: () => Promise<void>
  /** Told of every failure in the background; the work is tried again later. */
  readonly onBackgroundError?: (error: unknown) => void
}

const REFRESH_MS = 2000
/** How often a change is decided, each time because another router's came first. */
const CHANGE_TRIES_MAX = 100

/**
 * Loads the catalogue and takes up the background work that was left.
 *
 * @example
 * const catalog = await openCatalog({ runtime, nodes: [node] })
 * catalog.table('Accounts').shape.key.partition.name // 'id'
 * await catalog.close()
 */
export async function openCatalog(options: CatalogOptions): Promise<TableCatalog> {
  const home = options.nodes[0]
  if (home === undefined) throw new RangeError('a catalogue needs a node')
  const catalog = new TableCatalog(options, home)
  await catalog.begin()
  return catalog
}

interface Applied<T> {
  readonly result: T
  /** What it adds is there where it is kept. */
  readonly made?: Promise<void>
}

interface Entry {
  readonly record: TableRecord
  readonly table: Table
  /** By the clock it may still be in creation. */
  readonly isSettling: boolean
}

export class TableCatalog implements Catalog, AsyncDisposable {
  readonly #nodes: readonly StorageNode[]
  readonly #isSoleOwner: boolean
  readonly #isCopy: boolean
  readonly #announce: (() => Promise<void>) | undefined
  readonly #home: StorageNode
  readonly #clock: Clock
  readonly #creatingMicros: number
  readonly #refreshMs: number
  readonly #leaseMs: number
  readonly #entries = new Map<string, Entry>()
  #dropped = new Map<SpaceId, string>()
  readonly #maintenance: Maintenance
  readonly #expiry: ExpirySweeper
  /** What is told of streams, and done for them behind requests. */
  readonly keeper: StreamKeeper
  readonly #streams = new Map<string, StreamRecord>()
  /** Undefined: to be sorted anew, as the names. */
  #sortedStreams: readonly StreamRecord[] | undefined
  /** By the id of the table. */
  readonly #ledgers = new Map<string, LedgerTable>()
  readonly #onChanged = new Set<() => void>()
  /** Undefined: to be sorted anew. */
  #names: readonly string[] | undefined
  #nextSpace = FIRST_SPACE
  /** Of the last change that this process knows of. */
  #version: number | undefined
  /** What is stored may be newer than what is known here: it is read before the next change is decided. */
  #isBehind = true
  #lastChange: Promise<unknown> = Promise.resolve()
  #cancelRefresh: (() => void) | undefined
  #closed = false

  constructor(options: CatalogOptions, home: StorageNode) {
    this.#nodes = options.nodes
    this.#isSoleOwner = options.isSoleOwner === true
    this.#isCopy = options.isCopy === true
    this.#announce = options.announce
    this.#home = home
    this.#clock = options.runtime.clock
    this.#creatingMicros = (options.creatingMs ?? 0) * 1000
    this.#refreshMs = options.refreshMs ?? REFRESH_MS
    this.#leaseMs = options.leaseMs ?? 0
    const claimOf = (work: LeasedClaimOptions['work']): Claim =>
      this.#isSoleOwner
        ? soleClaim
        : new LeasedClaim({ runtime: options.runtime, home, work, onTaken: () => this.refresh() })
    const background = { ...options, catalog: this }
    this.#maintenance = new Maintenance({ ...background, claim: claimOf('maintenance') })
    this.#expiry = new ExpirySweeper({ ...background, claim: claimOf('expiry') })
    this.keeper = new StreamKeeper(background)
  }

  /** Nodes of an engine make room for a table when it is created. */
  get makesSpaces(): boolean {
    return this.#nodes.some((node) => node.createSpaces !== undefined)
  }

  /**
   * Until every host of the engine knows of the table, it is CREATING; and if there was one of its name a while ago, until no
   * server may take it for that one any more.
   */
  async makeSpaces(name: string): Promise<void> {
    const shape = this.shapeOf(name)
    if (shape === undefined || this.find(name)?.loading !== 'spaces') return
    const isNameUsed = [...this.#dropped.values()].includes(name)
    await Promise.all([
      ...this.#nodes.map(async (node) => node.createSpaces?.(shape)),
      ...(isNameUsed ? [this.#leasesOver()] : []),
    ])
    await this.change((draft) => {
      const record = draft.find(name)
      if (record?.loading !== 'spaces') return
      const { loading: _, ...made } = record
      draft.put(made)
    })
  }

  /** Whoever writes from then on has read the catalogue since now. */
  #leasesOver(): Promise<void> {
    return new Promise((resolve) => void awaitedTimer(this.#clock, this.#leaseMs, resolve))
  }

  /** Before anything else: takes what is stored, and takes up the background work that was left. */
  async begin(): Promise<void> {
    await this.#refresh()
    // What the process before this one has left in the middle.
    if (this.#isSoleOwner) await this.change((draft) => draft.tidy(this.records()))
    else if (!this.#isCopy) this.#refreshLater()
    for (const node of this.#nodes) node.followCatalogue?.(() => this.refreshIfChanged())
    this.#wake()
  }

  #refreshLater(): void {
    if (this.#closed) return
    const refreshMs = this.#refreshMs
    this.#cancelRefresh = this.#clock.timer(refreshMs, () => {
      this.refreshIfChanged().then(
        () => this.#refreshLater(),
        () => this.#refreshLater(),
      )
    })
  }

  /** The same as `refresh` for one look at the version, where it is still what is known here. */
  refreshIfChanged(): Promise<void> {
    const refreshed = this.#lastChange.then(async () => {
      if (!this.#isBehind && (await storedVersion(this.#home)) === this.#version) return
      await this.#refresh()
      this.#wake()
    })
    this.#lastChange = refreshed.catch(() => undefined)
    return refreshed
  }

  /** Takes what is stored, which another router may have changed, after all changes that were called before. */
  refresh(): Promise<void> {
    const refreshed = this.#lastChange.then(async () => {
      await this.#refresh()
      this.#wake()
    })
    this.#lastChange = refreshed.catch(() => undefined)
    return refreshed
  }

  /** Nodes are told, too: what was prepared before the last start may have been so with an older shape. */
  async #refresh(): Promise<void> {
    const { records, streams, ledgers, dropped, nextSpace, version } = await storedCatalog(this.#home)
    // Those that another router has dropped, and emptied, since.
    const there = new Set(records.map(({ space }) => space))
    const gone = this.records().filter(({ space }) => !there.has(space))
    this.#entries.clear()
    this.#names = undefined
    this.#streams.clear()
    this.#sortedStreams = undefined
    for (const stream of streams) this.#streams.set(streamKey(stream), stream)
    this.#ledgers.clear()
    for (const table of ledgers) this.#ledgers.set(table.id, table)
    this.#dropped = new Map(dropped)
    this.#nextSpace = Math.max(this.#nextSpace, nextSpace)
    this.#version = version
    await Promise.all([
      ...records.map((record) => this.#enforce(record.name, record)),
      ...[...dropped.keys(), ...gone.map(({ space }) => space)].map((space) => this.#drop(space)),
    ])
    this.#isBehind = false
  }

  /** Of the last change that this router knows of. */
  get version(): number | undefined {
    return this.#version
  }

  table(name: string): Table {
    const entry = this.#entries.get(name)
    if (entry === undefined || entry.record.loading !== undefined) {
      throw new DynamoError('ResourceNotFoundException', 'Requested resource not found')
    }
    return entry.isSettling ? this.#settled(name, entry) : entry.table
  }

  /** A table that is being created has no items yet for who asks, and indexes that are cannot be read. */
  #settled(name: string, { record }: Entry): Table {
    const { moment } = this
    if (isTableCreating(record, moment))
      throw new DynamoError('ResourceNotFoundException', 'Requested resource not found')
    const phases = phasesOf(record, moment)
    const table = tableOf(record, phases)
    this.#entries.set(name, { record, table, isSettling: phases.size > 0 })
    return table
  }

  /** For what concerns the creation of tables and indexes. */
  get moment(): CreationMoment {
    return { creatingMicros: this.#creatingMicros, nowMicros: this.#clock.nowMicros() }
  }

  /** The shape of that table, for work behind requests, which does not wait for anything to be settled. */
  shapeOf(name: string): TableShape | undefined {
    return this.#entries.get(name)?.table.shape
  }

  shapes(): readonly TableShape[] {
    return Array.from(this.#entries.values(), ({ table }) => table.shape)
  }

  find(name: string): TableRecord | undefined {
    return this.#entries.get(name)?.record
  }

  /** The record of that table, for requests for the table itself. */
  record(name: string): TableRecord {
    return this.find(name) ?? noSuchTable(name)
  }

  records(): TableRecord[] {
    return Array.from(this.#entries.values(), (entry) => entry.record)
  }

  /** In the order of their bytes. */
  names(): readonly string[] {
    this.#names ??= [...this.#entries.keys()].toSorted()
    return this.#names
  }

  /** Those of tables that are gone, and those that have ended, too; in the order of table names and labels. */
  streams(): readonly StreamRecord[] {
    this.#sortedStreams ??= [...this.#streams.values()].toSorted((one, other) =>
      one.tableName === other.tableName
        ? one.label < other.label
          ? -1
          : 1
        : one.tableName < other.tableName
          ? -1
          : 1,
    )
    return this.#sortedStreams
  }

  get lastRecord(): number {
    return this.keeper.log?.last ?? 0
  }

  stream(key: string): StreamRecord | undefined {
    return this.#streams.get(key)
  }

  /** The tables that are ledgers, and those that were until they were dropped. */
  ledgers(): readonly LedgerTable[] {
    return [...this.#ledgers.values()]
  }

  ledger(tableId: string): LedgerTable | undefined {
    return this.#ledgers.get(tableId)
  }

  /** Key spaces that nothing refers to any more and that may still hold entries. */
  droppedSpaces(): SpaceId[] {
    return [...this.#dropped.keys()]
  }

  /** Over all nodes. */
  async count(space: SpaceId): Promise<SpaceCount> {
    const counts = await Promise.all(this.#nodes.map((node) => node.count(space)))
    return counts.reduce(
      (sum, { items, bytes }) => ({ items: sum.items + items, bytes: sum.bytes + bytes }),
      {
        items: 0,
        bytes: 0,
      },
    )
  }

  /** Those of a table and its indexes. */
  async counts(record: TableRecord): Promise<(space: SpaceId) => SpaceCount> {
    const counted = new Map<SpaceId, SpaceCount>()
    await Promise.all(spacesOf(record).map(async (space) => counted.set(space, await this.count(space))))
    return (space) => counted.get(space) ?? { items: 0, bytes: 0 }
  }

  /**
   * One change, after all changes before it. `decide` sees the catalogue as it then is and either throws, and nothing
   * changes, or describes the change on the draft. Resolves once the change is durable and in force.
   */
  async change<T>(decide: (draft: CatalogDraft) => T): Promise<T> {
    const change = this.#lastChange.then(() => this.#apply(decide))
    this.#lastChange = change.catch(() => undefined)
    const { result, made } = await change
    await made
    return result
  }

  async #apply<T>(decide: (draft: CatalogDraft) => T): Promise<Applied<T>> {
    if (this.#closed) throw new Error('the catalogue is closed')
    if (this.#isCopy) throw new Error('a copy of the catalogue is not changed')
    for (let tries = 0; tries < CHANGE_TRIES_MAX; tries++) {
      if (this.#isBehind) await this.#refresh()
      const draft = new CatalogDraft(this, () => spaceId(this.#nextSpace++), this.#clock.nowMicros())
      const result = decide(draft)
      if (draft.isEmpty) return { result }
      const version = (this.#version ?? 0) + 1
      const entries = metaEntries(draft, { nextSpace: this.#nextSpace, version })
      // Until it is in force: if it was decided on what another router has changed meanwhile, it is decided once more on what
      // is there then, and a change whose outcome is unknown may be there, too.
      this.#isBehind = true
      if (!(await this.#home.writeMetaIf(numberEntry(CATALOGUE_VERSION, this.#version), entries))) continue
      await this.#inForce(draft, version)
      this.#isBehind = false
      await this.#announce?.()
      return { result, made: this.#makeAdded(draft) }
    }
    throw new Error(`other routers were faster with their changes of tables ${CHANGE_TRIES_MAX} times`)
  }

  async #inForce(draft: CatalogDraft, version: number): Promise<void> {
    this.#version = version
    const told: Promise<void>[] = []
    for (const [name, record] of draft.tables) {
      if (record === undefined) this.#entries.delete(name)
      else told.push(this.#enforce(name, { ...record, version }))
    }
    for (const [key, stream] of draft.streams) {
      if (stream === undefined) this.#streams.delete(key)
      else this.#streams.set(key, stream)
    }
    if (draft.streams.size > 0) this.#sortedStreams = undefined
    for (const [id, table] of draft.ledgers) this.#ledgers.set(id, table)
    for (const [space, table] of draft.dropped) {
      this.#dropped.set(space, table)
      told.push(this.#drop(space))
    }
    for (const space of draft.swept) this.#dropped.delete(space)
    if (draft.tables.size > 0) this.#names = undefined
    await Promise.all(told)
    this.#wake()
  }

  /** Requests see the new shape from here on, and nodes use it for those that were validated with the old one. */
  async #enforce(name: string, record: TableRecord): Promise<void> {
    const table = tableOf(record)
    this.#entries.set(name, { record, table, isSettling: this.#creatingMicros > 0 })
    if (!this.#isCopy) await Promise.all(this.#nodes.map((node) => node.setShape(table.shape)))
  }

  /**
   * Of a change made here: what it adds is made where it is kept. If that fails, whoever needs it first makes it. Nobody but who has
   * asked for the change waits: hosts of an engine may take long to agree, and a lease is over before.
   */
  async #makeAdded(draft: CatalogDraft): Promise<void> {
    if (!this.makesSpaces) return
    const made = Array.from(draft.tables.values(), async (record) => {
      if (record === undefined || record.loading === 'spaces') return
      const { shape } = tableOf(record)
      await Promise.all(this.#nodes.map(async (node) => node.createSpaces?.(shape)))
    })
    await Promise.allSettled(made)
  }

  async #drop(space: SpaceId): Promise<void> {
    if (!this.#isCopy) await Promise.all(this.#nodes.map((node) => node.dropTable(space)))
  }

  #wake(): void {
    if (!this.#isCopy) {
      this.#maintenance.wake()
      this.#expiry.wake()
      this.keeper.wake()
    }
    for (const callback of this.#onChanged) callback()
  }

  /** Calls back after every change of tables and streams that is in force, until the result is called. */
  onChanged(callback: () => void): () => void {
    this.#onChanged.add(callback)
    return () => this.#onChanged.delete(callback)
  }

  /** Resolves when no background work is left or under way, for now. Work that failed waits for its next attempt. */
  async idle(): Promise<void> {
    await this.#lastChange
    await this.#maintenance.idle()
    await this.#expiry.idle()
    await this.keeper.idle()
  }

  /** Stops the background work; what is left of it is taken up when the catalogue is opened again. */
  async close(): Promise<void> {
    this.#closed = true
    this.#cancelRefresh?.()
    await Promise.all([this.#maintenance.close(), this.#expiry.close(), this.keeper.close()])
    await this.#lastChange
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function noSuchTable(name: string): never {
  throw new DynamoError('ResourceNotFoundException', `Requested resource not found: Table: ${name} not found`)
}
