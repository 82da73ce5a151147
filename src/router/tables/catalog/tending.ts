// Behind requests every table of a fleet is walked through, again and again and slowly: what a server that died has left in the
// middle is put right although nobody reads it, and rows of deleted items go (storage/engine/entry-repair.ts).
//
//   a while --> claim --> one page of one space --> a pause --> ... --> all tables --> a while
//                    \--> another server has it: again when its lease is over
import type { KeyBytes, SpaceId } from '../../../model/brand.js'
import type { TableShape } from '../../../model/table.js'
import type { Runtime } from '../../../runtime/runtime.js'
import type { StorageNode } from '../../../storage/contract/storage-node.js'
import type { Claim } from './claims.js'

export interface TendingOptions {
  readonly runtime: Runtime
  readonly nodes: readonly StorageNode[]
  readonly tables: () => readonly TableShape[]
  readonly claim: Claim
  readonly onError: (error: unknown) => void
}

const ROUND_PAUSE_MS = 60_000
const PAGE_PAUSE_MS = 1000
/** Of an index each is a read of an item. */
const PAGE_ROWS = 100

interface WalkedSpace {
  readonly table: TableShape
  readonly space: SpaceId
  readonly from: KeyBytes
}

const START = '' as KeyBytes

export class Tending {
  readonly #options: TendingOptions
  /** What this round has still to walk through. */
  #left: WalkedSpace[] = []
  #cancel: (() => void) | undefined
  #running: Promise<void> | undefined
  #isClosed = false

  constructor(options: TendingOptions) {
    this.#options = options
    if (options.nodes.some((node) => node.tend !== undefined)) this.#later(ROUND_PAUSE_MS)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancel?.()
    await this.#running
    await this.#options.claim.giveUp().catch(() => undefined)
  }

  #later(ms: number): void {
    if (this.#isClosed) return
    this.#cancel = this.#options.runtime.clock.timer(ms, () => {
      this.#running = this.#step().then(
        (pauseMs) => this.#later(pauseMs),
        (error: unknown) => {
          if (!this.#isClosed) this.#options.onError(error)
          this.#later(ROUND_PAUSE_MS)
        },
      )
    })
  }

  /** One page; how long to wait before the next. */
  async #step(): Promise<number> {
    const { claim, nodes, tables } = this.#options
    const waitMs = await claim.hold()
    if (waitMs !== undefined) {
      this.#left = []
      return Math.max(waitMs, PAGE_PAUSE_MS)
    }
    if (this.#left.length === 0) this.#left = tables().flatMap(placesOf)
    const place = this.#left.shift()
    if (place !== undefined) {
      const { table, space, from } = place
      // A table that has changed meanwhile is walked as it is now.
      const shape = tables().find((each) => each.space === table.space)
      const isThere = shape !== undefined && spacesOf(shape).includes(space)
      const next = isThere ? await nodes[0]?.tend?.(shape, space, from, PAGE_ROWS) : undefined
      if (next !== undefined) this.#left.unshift({ ...place, from: next })
    }
    if (this.#left.length > 0) return PAGE_PAUSE_MS
    await claim.giveUp()
    return ROUND_PAUSE_MS
  }
}

const placesOf = (table: TableShape): readonly WalkedSpace[] =>
  spacesOf(table).map((space) => ({ table, space, from: START }))

/** Those that are walked through: entries of local indexes stand beside the items. */
const spacesOf = ({ space, indexes }: TableShape): readonly SpaceId[] => [
  space,
  ...indexes.flatMap((index) => (index.kind === 'global' ? [index.space] : [])),
]
