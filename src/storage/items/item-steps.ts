// One change of one item, with everything that follows it in the same step: its index entries, its expiry and the
// counters of its table.
import type { Cause } from '../../commit-log/commit-record.js'
import { EntryDamaged } from '../../ordered-map/checksum.js'
import type { KeyBytes, SpaceId, Timestamp, TxId } from '../../model/brand.js'
import { hasEntries, versionOf, type ItemKey, type LoggedImages, type TableShape } from '../../model/table.js'
import type { ItemState } from '../../rules/item/item.js'
import type { CommittedWrite } from '../../rules/finish.js'
import type { NextImage } from '../../rules/item/single-write.js'
import { entryKey, forEachEntry } from './index-entries.js'
import type { BatchBoundaries } from '../snapshots/batch-boundaries.js'
import type { HybridClock } from '../../line/hybrid-clock.js'
import type { Line, Put } from '../../line/line.js'
import type { Partitions, ReadMarks } from './marks.js'
import { encodeItemRecord, HEADER_BYTES, itemState } from '../../line/record.js'
import { sharedEnds } from '../../commit-log/shared-ends.js'
import { loggedChange, type LoggedStep } from './logged-changes.js'
import type { OpenSnapshots } from '../snapshots/snapshots.js'
import { inSpace, spaceOfKey } from '../../line/spaces.js'

export interface ItemChange {
  readonly table: TableShape
  readonly key: ItemKey
  readonly state: ItemState
  /** Absent: deleted. */
  readonly next: NextImage | undefined
  readonly timestamp: Timestamp
  /** It observed nothing of what was there before. Of an item that stays, the record says so. */
  readonly blind: boolean
  /** The transaction, if it is one. */
  readonly by?: TxId | undefined
  /** Committed in the same step, and overwritten by this one: only snapshots see them. */
  readonly passed?: readonly CommittedWrite[]
  /** `putVisible` for a commit that readers may see before its batch is durable. */
  readonly put: Put
  /** The text of the next image, where it is known already. */
  readonly json?: Uint8Array | undefined
  /** The transaction is carried out node by node; absent: in one step. */
  readonly isFinish?: true
  /** Absent: a request. */
  readonly cause?: Cause | undefined
  /** Who writes, and by which statement. */
  readonly about?: string | undefined
}

/** An image that a step leaves, with whose it is. */
interface LoggedImage extends Pick<LoggedStep, 'old' | 'new' | 'next'> {
  readonly tx: TxId | undefined
  readonly timestamp: Timestamp
  readonly about: string | undefined
}

export interface ItemStepsParts {
  readonly line: Line
  readonly clock: HybridClock
  readonly partitions: Partitions
  readonly marks: ReadMarks
  readonly snapshots: OpenSnapshots
  readonly boundaries: BatchBoundaries
}

export class ItemSteps {
  readonly #line: Line
  readonly #clock: HybridClock
  readonly #partitions: Partitions
  readonly #marks: ReadMarks
  readonly #snapshots: OpenSnapshots
  readonly #boundaries: BatchBoundaries
  #highest: Timestamp
  /** Tables whose shape changed since the node was opened: a request that was validated before carries the old one. */
  readonly #shapes = new Map<SpaceId, TableShape>()
  /** Tables that are no more: a transaction that was prepared before may still be committed, and leaves nothing. */
  readonly #dropped = new Set<SpaceId>()

  constructor({ line, clock, partitions, marks, snapshots, boundaries }: ItemStepsParts) {
    this.#line = line
    this.#clock = clock
    this.#partitions = partitions
    this.#marks = marks
    this.#snapshots = snapshots
    this.#boundaries = boundaries
    this.#highest = clock.timestamp
  }

  /** No write has been done above this timestamp. */
  get highest(): Timestamp {
    return this.#highest
  }

  /**
   * An older shape than the one in force changes nothing, nor does any shape of a table that was dropped: messages of two
   * routers may pass each other, and no space is used twice.
   */
  setShape(table: TableShape): void {
    const known = this.#shapes.get(table.space)
    if (this.isDropped(table.space) || (known !== undefined && !supersedes(table, known))) return
    // Of a new index the past is not known.
    if (this.#snapshots.size > 0 && (known === undefined || gainsIndex(known, table)))
      this.#snapshots.dropAll()
    this.#shapes.set(table.space, table)
  }

  drop(space: SpaceId): void {
    this.#shapes.delete(space)
    this.#dropped.add(space)
  }

  isDropped(space: SpaceId): boolean {
    return this.#dropped.size > 0 && this.#dropped.has(space)
  }

  /**
   * The shape in force: the newer one of what the node was told and what the request was validated with. A newer one stays in
   * force: a step with the older one after it would leave the entries of the first behind.
   */
  shapeOf(table: TableShape): TableShape {
    if (this.#shapes.size === 0) return table
    const known = this.#shapes.get(table.space)
    if (known === undefined) return table
    if (versionOf(known) >= versionOf(table)) return known
    this.setShape(table)
    return table
  }

  /** The record as it now is, in bytes; undefined if there is no item. */
  apply(change: ItemChange): Uint8Array | undefined {
    const { table, key, state, next, timestamp, blind, put, json } = change
    if (this.isDropped(table.space)) return undefined
    const highestBefore = this.#highest
    if (timestamp > highestBefore) this.#highest = timestamp
    const { record } = state
    const lsn = this.#clock.nextLsn()
    const address = inSpace(table.space, key.bytes)
    if (next === undefined) {
      this.#partitions.deleted(key.hash, timestamp, lsn)
      // No record is left that could be its mark; see below.
      if (!blind) this.#marks.raise(address, timestamp)
      if (record === undefined) {
        if (change.passed === undefined) return undefined
        // Nothing to remove; but by this readers know what they have to wait for.
        this.#line[put](address, undefined)
        this.#log(change, undefined)
        if (put === 'put') this.#boundaries.wrote({ address, timestamp, highestBefore, leavesRecord: false })
        if (this.#snapshots.size > 0) this.#remember(address, change)
        return undefined
      }
    }
    // A write that observed the item is its own read mark, until a blind one takes its place: one that observes is a higher one.
    if (blind && record !== undefined && !record.lastWrite.blind) this.#marks.raise(address, record.timestamp)
    const written = next && encodeItemRecord(next, timestamp, lsn, json)
    this.#line[put](address, written)
    this.#log(change, written)
    if (put === 'put')
      this.#boundaries.wrote({ address, timestamp, highestBefore, leavesRecord: written !== undefined })
    const items = (next === undefined ? 0 : 1) - (record === undefined ? 0 : 1)
    const bytes = (next?.itemBytes ?? 0) - (record?.itemBytes ?? 0)
    if (items !== 0 || bytes !== 0) this.#line.addCount(table.space, items, bytes, put)
    if (hasEntries(table)) this.#moveEntries(table, key, state, next, put)
    if (this.#snapshots.size > 0) this.#remember(address, change)
    return written
  }

  /** For the log of commits, if the table asks for it: every image that the step leaves, in order. */
  #log(change: ItemChange, written: Uint8Array | undefined): void {
    const { table, state, next, timestamp, by, passed, about } = change
    if (table.logged === undefined) return
    let old = state.record?.json
    if (passed !== undefined)
      for (const each of passed) {
        const text = each.next && Buffer.from(JSON.stringify(each.next.item))
        const { tx, timestamp: at, about: whose } = each
        this.#logImage(change, { old, new: text, next: each.next, tx, timestamp: at, about: whose })
        old = text
      }
    this.#logImage(change, { old, new: written?.subarray(HEADER_BYTES), next, tx: by, timestamp, about })
  }

  #logImage({ table, key, put, isFinish, cause = 'request' }: ItemChange, image: LoggedImage): void {
    const { old, new: text, next, tx, timestamp, about } = image
    const shared = old && text && sharedEnds(old, text)
    const step = { table, key, old, new: text, shared, next, cause, about }
    const change = loggedChange(table.logged as LoggedImages, step)
    if (change === undefined) return
    const of = tx === undefined ? 'single' : isFinish === true ? 'finish' : 'step'
    this.#line.note({ kind: 'change', of, order: 0, tx, timestamp, change }, put)
  }

  /** The log of commits holds every image that the item ever had. */
  isLogged(address: KeyBytes): boolean {
    return this.#line.isLogging && this.#shapes.get(spaceOfKey(address))?.logged !== undefined
  }

  has(space: SpaceId, key: KeyBytes | undefined): boolean {
    if (key === undefined) return false
    try {
      return this.#line.decided.get(inSpace(space, key)) !== undefined
    } catch (error) {
      // Of a step some changes may be put already: it must not end here. The entry follows from the item, which is sound.
      if (error instanceof EntryDamaged) return true
      throw error
    }
  }

  /** For snapshots, which see what was current when they were opened. */
  #remember(address: KeyBytes, { table, key, state, timestamp, by, passed = [], put }: ItemChange): void {
    let old = state
    for (const each of passed) {
      this.#overwrite(address, old, { table, key, timestamp: each.timestamp, by: each.tx })
      const stored = each.next && encodeItemRecord(each.next, each.timestamp, this.#clock.lsn)
      old = itemState(stored)
    }
    this.#overwrite(address, old, { table, key, timestamp, by })
    const lowest = passed[0]?.timestamp ?? timestamp
    if (put === 'put') this.#snapshots.noteLate(lowest, this.#line.whenAllDurable())
  }

  #overwrite(
    address: KeyBytes,
    old: ItemState,
    { table, key, timestamp, by }: Pick<ItemChange, 'table' | 'key' | 'timestamp'> & { by: TxId | undefined },
  ): void {
    const entries = (): readonly KeyBytes[] => entriesOf(table, key, old)
    this.#snapshots.overwrite({ address, old: old.record, timestamp, by, entries })
  }

  #moveEntries(
    table: TableShape,
    key: ItemKey,
    state: ItemState,
    next: NextImage | undefined,
    put: Put,
  ): void {
    const oldBytes = state.record?.itemBytes ?? 0
    const newBytes = next?.itemBytes ?? 0
    forEachEntry(table, key, { old: state.item(), new: next?.item }, (space, before, after) => {
      if (before === undefined && after === undefined) return
      if (before === after) {
        // An index that is still being filled may not have the entry yet, and then does not count it either.
        if (oldBytes !== newBytes && this.has(space, before))
          this.#line.addCount(space, 0, newBytes - oldBytes, put)
        return
      }
      if (this.has(space, before)) {
        this.#line[put](inSpace(space, before as KeyBytes), undefined)
        this.#line.addCount(space, -1, -oldBytes, put)
      }
      if (after !== undefined) {
        this.#line[put](inSpace(space, after), Buffer.from(key.bytes, 'latin1'))
        this.#line.addCount(space, 1, newBytes, put)
      }
    })
  }
}

/** Shapes without a version come in the order in which they are in force. */
const supersedes = (table: TableShape, known: TableShape): boolean =>
  versionOf(table) > versionOf(known) || (table.version === undefined && known.version === undefined)

/** Where the image stands in the indexes. Nobody reads at a snapshot what expires. */
function entriesOf({ indexes }: TableShape, key: ItemKey, state: ItemState): readonly KeyBytes[] {
  if (indexes.length === 0) return []
  const item = state.item()
  return indexes.flatMap((index) => {
    const entry = entryKey(index, item, key)
    return entry === undefined ? [] : [inSpace(index.space, entry)]
  })
}

const gainsIndex = (before: TableShape, after: TableShape): boolean =>
  after.indexes.some(({ space }) => !before.indexes.some((index) => index.space === space))
