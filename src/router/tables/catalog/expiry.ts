// Time to live: deletes the items whose expiry has passed, some at a time, in the background.
//
// Until it is deleted an expired item is there for every request, as in DynamoDB. It is deleted on the condition that
// its expiry is still the one that was seen, so an item that was given more time meanwhile stays.
import { keyAttributesOf } from '../../../model/table.js'
import { TableGone } from '../../../line/errors.js'
import { parseRecord } from '../../../line/record.js'
import type { BoundCondition } from '../../../expression/parse/types.js'
import type { KeyBytes } from '../../../model/brand.js'
import { expiryPrefix, itemKey } from '../../../model/key-bytes.js'
import { keyAfter } from '../../../model/key-range.js'
import type { TableShape } from '../../../model/table.js'
import { attribute, type AttributeValue, type Item } from '../../../model/value.js'
import type { StorageNode } from '../../../storage/contract/storage-node.js'
import type { BackgroundOptions } from './maintenance.js'

const ROUND_PAUSE_MS = 1000
/** Deletes of one table on one node in one round. */
const ROUND_ITEMS_MAX = 500
const ROUND_BYTES_MAX = 1024 * 1024
/** Expiries further in the past are taken for mistakes, and such items are kept, as DynamoDB does. */
const AGE_SECONDS_MAX = 5 * 365 * 24 * 60 * 60

interface Swept {
  /** Where to go on; undefined: that was the end. */
  readonly more: KeyBytes | undefined
  readonly looked: number
  /** At least one. */
  readonly deleted: boolean
}

const NOTHING: Swept = { more: undefined, looked: 0, deleted: false }

export class ExpirySweeper {
  readonly #options: BackgroundOptions
  #cancelTimer: (() => void) | undefined
  #running: Promise<void> | undefined
  #closed = false
  /** The last round left expired items behind and could delete others: no pause before the next. */
  #more = false
  /** Another router deletes what has expired, for so long. */
  #waitMs: number | undefined
  /** Something had expired in this round. */
  #isBusy = false

  constructor(options: BackgroundOptions) {
    this.#options = options
  }

  /** A table may have got a time to live. */
  wake(): void {
    if (this.#closed || this.#cancelTimer !== undefined || this.#running !== undefined) return
    if (this.#tables().length === 0) return
    const pauseMs = this.#waitMs ?? (this.#more ? 0 : ROUND_PAUSE_MS)
    this.#cancelTimer = this.#options.runtime.clock.timer(pauseMs, () => this.#start())
  }

  /**
   * Deletes what has expired by now, without the pause between rounds: whoever has moved the clock need not know how
   * often it is looked at. What is written or expires meanwhile is left to the rounds.
   */
  async idle(): Promise<void> {
    const nowSeconds = this.#nowSeconds()
    this.#waitMs = undefined
    await this.#eachTable((name, node) => this.#sweepAll(name, node, nowSeconds))
  }

  #start(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#running = this.#round().finally(() => {
      this.#running = undefined
      this.wake()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    await this.#running
    await this.#giveUp()
  }

  #tables(): string[] {
    const enabled = this.#options.catalog
      .records()
      .filter((record) => record.timeToLive?.status === 'ENABLED')
    return enabled.map((record) => record.name)
  }

  async #round(): Promise<void> {
    this.#more = false
    this.#waitMs = undefined
    this.#isBusy = false
    await this.#eachTable(async (name, node) => {
      const { more, deleted } = await this.#sweep(name, node, this.#nowSeconds())
      if (more !== undefined && deleted) this.#more = true
    })
    if (!this.#isBusy) await this.#giveUp()
  }

  /** Asked for only when there is something to delete. */
  async #mayDelete(): Promise<boolean> {
    this.#isBusy = true
    this.#waitMs = await this.#options.claim.hold()
    return this.#waitMs === undefined
  }

  /** If that fails the claim ends with its lease. */
  #giveUp(): Promise<void> {
    return this.#options.claim.giveUp().catch(() => undefined)
  }

  async #eachTable(sweep: (name: string, node: StorageNode) => Promise<void>): Promise<void> {
    for (const name of this.#tables()) {
      for (const node of this.#options.nodes) {
        // Another router sees to all of them.
        if (this.#closed || this.#waitMs !== undefined) return
        try {
          await sweep(name, node)
        } catch (error) {
          // The next round tries again.
          if (!this.#closed) this.#options.onBackgroundError?.(error)
        }
      }
    }
  }

  /** Once through all, and no further than as many as there are now: more may be written without end. */
  async #sweepAll(name: string, node: StorageNode, nowSeconds: number): Promise<void> {
    const space = this.#current(name)?.expiry?.space
    let left = space === undefined ? 0 : (await node.count(space)).items
    for (let from: KeyBytes | undefined; left > 0 && !this.#closed;) {
      const page = await this.#sweep(name, node, nowSeconds, from)
      from = page.more
      left = from === undefined ? 0 : left - page.looked
    }
  }

  /** Deletes the expired among the next entries from there on. */
  async #sweep(name: string, node: StorageNode, nowSeconds: number, from?: KeyBytes): Promise<Swept> {
    const table = this.#current(name)
    if (table?.expiry === undefined) return NOTHING
    const { entries, more } = await node.range({
      space: table.expiry.space,
      itemSpace: table.space,
      from: from ?? expiryPrefix(Math.max(0, nowSeconds - AGE_SECONDS_MAX)),
      to: expiryPrefix(nowSeconds + 1),
      reverse: false,
      entriesMax: ROUND_ITEMS_MAX,
      bytesMax: ROUND_BYTES_MAX,
      onDamage: (error) => this.#options.onBackgroundError?.(error),
    })
    if (entries.length === 0 || !(await this.#mayDelete())) return NOTHING
    const expirySpace = table.expiry.space
    const deleted = await Promise.all(
      entries.map(async ({ record }) => {
        // The shape and the write in one synchronous stretch; the table may have changed while the page was read.
        const current = this.#current(name)
        if (current?.expiry?.space !== expirySpace) return false
        return deleteExpired(node, current, current.expiry.attribute, parseRecord(record))
      }),
    )
    const last = entries.at(-1)
    return {
      more: more && last !== undefined ? keyAfter(last.key) : undefined,
      looked: entries.length,
      deleted: deleted.includes(true),
    }
  }

  #nowSeconds(): number {
    return Math.floor(this.#options.runtime.clock.nowMicros() / 1e6)
  }

  #current(name: string): TableShape | undefined {
    const { catalog } = this.#options
    return catalog.shapeOf(name)
  }
}

async function deleteExpired(
  node: StorageNode,
  table: TableShape,
  attributeName: string,
  item: Item,
): Promise<boolean> {
  const seen = attribute(item, attributeName)
  if (seen === undefined) return false
  try {
    const { verdict } = await node.write({
      table,
      key: itemKey(table.key, item),
      keyAttributes: keyAttributesOf(table.key, item),
      mutation: { kind: 'delete' },
      condition: stillIs(attributeName, seen),
      cause: 'expiry',
    })
    return verdict === 'done'
  } catch (error) {
    // Its items go anyway.
    if (error instanceof TableGone) return false
    throw error
  }
}

function stillIs(attributeName: string, seen: AttributeValue): BoundCondition {
  return {
    tree: {
      type: 'compare',
      operator: '=',
      left: { type: 'path', steps: ['#expiry'] },
      right: { type: 'value', name: ':seen' },
    },
    bindings: { names: new Map([['#expiry', attributeName]]), values: new Map([[':seen', seen]]) },
  }
}
