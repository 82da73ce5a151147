// Background work on key spaces: filling new indexes and emptying dropped spaces, in bounded steps.
//
//   fill:   backfill of index A, of index B, A, B, ...      two lines of work, side by side: a sweep waits for commits of
//   sweep:  dropped space 7, space 9, 7, 9, ...             the index, and a backfill must not wait behind it
//
// The jobs are read from the catalogue before every round and nowhere kept, so a restart takes them up and a dropped
// index stops its own backfill. No step of a backfill can fall into a sweep of its space: a backfill is called only while
// the catalogue has its index, and a sweep begins behind all that was called before the index was dropped.
import type { KeyBytes, SpaceId } from '../../../model/brand.js'
import type { IndexShape, TableShape } from '../../../model/table.js'
import { type Runtime, steadyMicros } from '../../../runtime/runtime.js'
import type { StorageNode } from '../../../storage/contract/storage-node.js'
import type { TableCatalog } from './catalog.js'
import { BackgroundLoop } from './background-loop.js'
import type { Claim } from './claims.js'

export interface BackgroundOptions {
  readonly runtime: Runtime
  readonly nodes: readonly StorageNode[]
  readonly catalog: TableCatalog
  /** Other routers may use a table as it was before a change for so long: an index is filled, and a space dropped, only then. */
  readonly staleMs?: number
  /** On all of this work. */
  readonly claim: Claim
  readonly onBackgroundError?: (error: unknown) => void
}

const BACKFILL_ITEMS_MAX = 200
const SWEEP_ENTRIES_MAX = 1000
/** Its own router makes a table at once. */
const MAKING_MS = 10_000
const START = '' as KeyBytes

interface Backfill {
  readonly space: SpaceId
  readonly tableName: string
}

interface Sweep {
  readonly space: SpaceId
}

/** How far a job has come: the node it works on, where on it, and whether the writers before it are through. */
interface Progress {
  node: number
  from: KeyBytes
  passed?: StorageNode
}

export class Maintenance {
  readonly #options: BackgroundOptions
  readonly #filling = new Map<SpaceId, Progress>()
  readonly #sweeping = new Map<SpaceId, Progress>()
  /** Since when this router knows of an index that is to be filled, or of a table that is to be made. */
  readonly #since = new Map<SpaceId, number>()
  readonly #lanes: readonly [BackgroundLoop<Backfill>, BackgroundLoop<Sweep>, BackgroundLoop<Backfill>]
  #cancelTimer: (() => void) | undefined

  constructor(options: BackgroundOptions) {
    this.#options = options
    const { runtime, claim, onBackgroundError } = options
    const onError = (error: unknown): void => onBackgroundError?.(error)
    const shared = { runtime, onError, claim: () => claim.hold(), onRest: () => this.#rest() }
    this.#lanes = [
      new BackgroundLoop({ ...shared, jobs: () => this.#backfills(), step: (job) => this.#fill(job) }),
      new BackgroundLoop({ ...shared, jobs: () => this.#sweeps(), step: (job) => this.#sweep(job) }),
      new BackgroundLoop({
        ...shared,
        jobs: () => this.#makings(),
        step: ({ tableName }) => this.#options.catalog.makeSpaces(tableName),
      }),
    ]
  }

  /** There may be work. It starts in a later turn of the event loop. */
  wake(): void {
    for (const lane of this.#lanes) lane.wake()
  }

  /** Resolves when the work that there is now is done, or has failed and waits for its next attempt. */
  async idle(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.idle()))
  }

  async close(): Promise<void> {
    this.#cancelTimer?.()
    await Promise.all(this.#lanes.map((lane) => lane.close()))
    // If that fails the claim ends with its lease.
    await this.#options.claim.giveUp().catch(() => undefined)
  }

  /** Both lines of work share the claim. Work that has failed and is tried again keeps it. */
  async #rest(): Promise<void> {
    if (this.#backfills().length + this.#sweeps().length === 0) await this.#options.claim.giveUp()
  }

  #backfills(): readonly Backfill[] {
    const jobs: Backfill[] = []
    for (const { name, indexes, timeToLive } of this.#options.catalog.records()) {
      for (const { status, space } of indexes) {
        if (status === 'CREATING') jobs.push({ space, tableName: name })
      }
      if (timeToLive?.status === 'ENABLING') jobs.push({ space: timeToLive.space, tableName: name })
    }
    keepOnly(this.#filling, jobs)
    const staleMs = this.#options.staleMs ?? 0
    return staleMs === 0 ? jobs : jobs.filter(({ space }) => this.#isKnownFor(space, staleMs))
  }

  /** Tables whose router has not finished making them. */
  #makings(): readonly Backfill[] {
    return this.#options.catalog
      .records()
      .filter(({ loading, space }) => loading === 'spaces' && this.#isKnownFor(space, MAKING_MS))
      .map(({ name, space }) => ({ tableName: name, space }))
  }

  /** By a clock that is not set: those of routers are not compared. If not, there is another look when it is. */
  #isKnownFor(space: SpaceId, ms: number): boolean {
    const { clock } = this.#options.runtime
    const now = steadyMicros(clock)
    const since = this.#since.get(space) ?? now
    this.#since.set(space, since)
    const leftMs = (since - now) / 1000 + ms
    if (leftMs <= 0) return true
    this.#cancelTimer?.()
    this.#cancelTimer = clock.timer(leftMs + 1, () => this.wake())
    return false
  }

  #sweeps(): readonly Sweep[] {
    const jobs = this.#options.catalog.droppedSpaces().map((space) => ({ space }))
    keepOnly(this.#sweeping, jobs)
    // The record of the drop tells that a name was used a while ago.
    const staleMs = this.#options.staleMs ?? 0
    return staleMs === 0 ? jobs : jobs.filter(({ space }) => this.#isKnownFor(space, staleMs))
  }

  async #fill(job: Backfill): Promise<void> {
    const progress = progressOf(this.#filling, job.space)
    const node = this.#options.nodes[progress.node]
    if (node === undefined) return this.#filled(job)
    // Shape and backfill in one synchronous stretch, as for every write.
    const table = this.#options.catalog.shapeOf(job.tableName)
    const index = table && indexIn(table, job)
    if (table === undefined || index === undefined) return
    const next = await node.backfill({ table, index, from: progress.from, itemsMax: BACKFILL_ITEMS_MAX })
    if (next === undefined) progress.node += 1
    progress.from = next ?? START
  }

  async #sweep({ space }: Sweep): Promise<void> {
    const { nodes, catalog } = this.#options
    const progress = progressOf(this.#sweeping, space)
    const node = nodes[progress.node]
    if (node === undefined) return catalog.change((draft) => draft.forget(space))
    await this.#passWriters(node, progress)
    if (await node.sweep(space, SWEEP_ENTRIES_MAX)) progress.node += 1
  }

  /**
   * Writes that were called before the space was dropped may still wait in the line of the node. An empty step takes
   * its place behind them; once it is through, nothing adds to the space any more.
   */
  async #passWriters(node: StorageNode, progress: Progress): Promise<void> {
    if (progress.passed === node) return
    await node.writeMeta([])
    progress.passed = node
  }

  async #filled({ space, tableName }: Backfill): Promise<void> {
    await this.#options.catalog.change((draft) => {
      const record = draft.find(tableName)
      if (record === undefined) return
      const { timeToLive } = record
      draft.put({
        ...record,
        indexes: record.indexes.map((index) =>
          index.space === space ? { ...index, status: 'ACTIVE' } : index,
        ),
        ...(timeToLive?.space === space && { timeToLive: { ...timeToLive, status: 'ENABLED' } }),
      })
    })
  }
}

/** The index to fill, unless it was dropped since the round began. */
const indexIn = (
  { indexes, expiry }: TableShape,
  { space }: Pick<Backfill, 'space'>,
): IndexShape | 'expiry' | undefined =>
  expiry?.space === space ? 'expiry' : indexes.find((index) => index.space === space)

function progressOf(all: Map<SpaceId, Progress>, space: SpaceId): Progress {
  let progress = all.get(space)
  if (progress === undefined) all.set(space, (progress = { node: 0, from: START }))
  return progress
}

function keepOnly(all: Map<SpaceId, Progress>, jobs: readonly { readonly space: SpaceId }[]): void {
  if (all.size === 0) return
  const spaces = new Set(jobs.map((job) => job.space))
  for (const space of all.keys()) if (!spaces.has(space)) all.delete(space)
}
