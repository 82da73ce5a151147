// Background work on key spaces: filling new indexes and emptying dropped spaces, in bounded steps.
//
//   wake --> a later turn --> one step of each job, a turn between steps --> ... --> no job left: idle
//                                          \--> a step failed: again after a pause
//
// The jobs are read from the catalogue before every step and nowhere kept, so a restart takes them up and a dropped
// index stops its own backfill. Steps run one after another: no step of a backfill can fall into a sweep of its space.
import type { KeyBytes, SpaceId } from '../model/brand.js'
import type { IndexShape } from '../model/table.js'
import type { Runtime } from '../runtime/runtime.js'
import type { StorageNode } from '../storage/storage-node.js'
import type { TableCatalog } from './catalog.js'

export interface BackgroundOptions {
  readonly runtime: Runtime
  readonly nodes: readonly StorageNode[]
  readonly catalog: TableCatalog
  readonly onBackgroundError?: (error: unknown) => void
}

const BACKFILL_ITEMS_MAX = 200
const SWEEP_ENTRIES_MAX = 1000
const RETRY_DELAY_MS = 1000
const START = '' as KeyBytes

type Job =
  | { readonly kind: 'backfill'; readonly space: SpaceId; readonly tableName: string }
  | { readonly kind: 'sweep'; readonly space: SpaceId }

/** How far a job has come: the node it works on, where on it, and whether the writers before it are through. */
interface Progress {
  node: number
  from: KeyBytes
  passed?: StorageNode
}

export class Maintenance {
  readonly #options: BackgroundOptions
  readonly #progress = new Map<SpaceId, Progress>()
  #scheduled = false
  #running: Promise<void> | undefined
  #cancelRetry: (() => void) | undefined
  #closed = false
  #waiting: (() => void)[] = []

  constructor(options: BackgroundOptions) {
    this.#options = options
  }

  /** There may be work. It starts in a later turn of the event loop. */
  wake(): void {
    if (this.#closed || this.#scheduled || this.#running !== undefined || this.#cancelRetry !== undefined)
      return
    if (this.#jobs().length === 0) return
    this.#scheduled = true
    this.#options.runtime.defer(() => {
      this.#scheduled = false
      if (this.#closed) return this.#release()
      this.#running = this.#run().finally(() => {
        this.#running = undefined
        this.#release()
        // A job that came while the last round ended.
        this.wake()
      })
    })
  }

  async idle(): Promise<void> {
    while (this.#scheduled || this.#running !== undefined) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelRetry?.()
    this.#cancelRetry = undefined
    await this.#running
    this.#release()
  }

  #release(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  /** Rounds of one step for each job, until none is left but those that failed: they are tried again later. */
  async #run(): Promise<void> {
    const { runtime, onBackgroundError } = this.#options
    const failed = new Set<SpaceId>()
    for (;;) {
      const jobs = this.#jobs()
      this.#forgetProgressWithout(jobs)
      const able = jobs.filter((job) => !failed.has(job.space))
      if (able.length === 0) break
      for (const job of able) {
        if (this.#closed) return
        try {
          await this.#step(job)
        } catch (error) {
          if (this.#closed) return
          failed.add(job.space)
          onBackgroundError?.(error)
        }
        await new Promise<void>((resolve) => runtime.defer(resolve))
      }
    }
    if (failed.size === 0) return
    this.#cancelRetry = runtime.clock.timer(RETRY_DELAY_MS, () => {
      this.#cancelRetry = undefined
      this.wake()
    })
  }

  #jobs(): Job[] {
    const { catalog } = this.#options
    const jobs: Job[] = []
    for (const record of catalog.records()) {
      for (const index of record.indexes) {
        if (index.status === 'CREATING') {
          jobs.push({ kind: 'backfill', space: index.space, tableName: record.name })
        }
      }
      if (record.timeToLive?.status === 'ENABLING') {
        jobs.push({ kind: 'backfill', space: record.timeToLive.space, tableName: record.name })
      }
    }
    for (const space of catalog.droppedSpaces()) jobs.push({ kind: 'sweep', space })
    return jobs
  }

  async #step(job: Job): Promise<void> {
    const { nodes } = this.#options
    let progress = this.#progress.get(job.space)
    if (progress === undefined) this.#progress.set(job.space, (progress = { node: 0, from: START }))
    const node = nodes[progress.node]
    if (node === undefined) return this.#finish(job)
    if (job.kind === 'sweep') {
      await this.#passWriters(node, progress)
      if (await node.sweep(job.space, SWEEP_ENTRIES_MAX)) progress.node += 1
      return
    }
    // Shape and backfill in one synchronous stretch, as for every write.
    const index = this.#indexOf(job)
    if (index === undefined) return
    const table = this.#options.catalog.table(job.tableName).shape
    const next = await node.backfill({ table, index, from: progress.from, itemsMax: BACKFILL_ITEMS_MAX })
    if (next === undefined) progress.node += 1
    progress.from = next ?? START
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

  /** The index to fill, unless it was dropped since the round began. */
  #indexOf(job: Job & { kind: 'backfill' }): IndexShape | 'expiry' | undefined {
    if (this.#options.catalog.find(job.tableName) === undefined) return undefined
    const { indexes, expiry } = this.#options.catalog.table(job.tableName).shape
    return expiry?.space === job.space ? 'expiry' : indexes.find((index) => index.space === job.space)
  }

  async #finish(job: Job): Promise<void> {
    await this.#options.catalog.change((draft) => {
      if (job.kind === 'sweep') return draft.forget(job.space)
      const record = draft.find(job.tableName)
      if (record === undefined) return
      const { timeToLive } = record
      draft.put({
        ...record,
        indexes: record.indexes.map((index) =>
          index.space === job.space ? { ...index, status: 'ACTIVE' } : index,
        ),
        ...(timeToLive?.space === job.space && { timeToLive: { ...timeToLive, status: 'ENABLED' } }),
      })
    })
  }

  #forgetProgressWithout(jobs: readonly Job[]): void {
    const spaces = new Set(jobs.map((job) => job.space))
    for (const space of this.#progress.keys()) if (!spaces.has(space)) this.#progress.delete(space)
  }
}
