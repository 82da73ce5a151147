// A storage node in this process: with a journal and LMDB, or in memory. See storage-node.ts for what it promises.
//
// It carries state to the rules and their answer back; it decides nothing about items itself.
import type { KeyBytes, SpaceId } from '../model/brand.js'
import { expiryPrefix } from '../model/key-bytes.js'
import { keyAfter } from '../model/key-range.js'
import type { ItemKey } from '../model/table.js'
import { decideWrite, type NextImage } from '../rules/single-write.js'
import type { ItemState } from '../rules/item.js'
import { entryKey, expiryKey, forEachEntry, hasEntries } from './entries.js'
import type { HybridClock } from './hybrid-clock.js'
import type { Line } from './line.js'
import { asBuffer, decodeRecord, encodeRecord, itemState, parseRecord, recordItemBytes } from './record.js'
import { boundsOf, inSpace, metaBounds, metaKey, metaName, withoutSpace } from './spaces.js'
import type {
  ItemRecord,
  MetaEntry,
  RangeEntry,
  RangePage,
  RangeRequest,
  SpaceCount,
  StorageNode,
  WriteOutcome,
  WriteRequest,
} from './storage-node.js'

export class LocalNode implements StorageNode {
  readonly #line: Line
  readonly #clock: HybridClock
  readonly #onClose: () => Promise<void>
  #closed: Promise<void> | undefined

  constructor(line: Line, clock: HybridClock, onClose: () => Promise<void>) {
    this.#line = line
    this.#clock = clock
    this.#onClose = onClose
  }

  async get(space: SpaceId, key: ItemKey): Promise<ItemRecord | undefined> {
    return this.#record(inSpace(space, key.bytes))
  }

  async write(request: WriteRequest): Promise<WriteOutcome> {
    const admission = this.#line.admission()
    if (admission !== undefined) await admission
    const { outcome, settled } = this.#decide(request)
    if (settled !== undefined) await settled
    return outcome
  }

  async range(request: RangeRequest): Promise<RangePage> {
    const { itemSpace, reverse, entriesMax, bytesMax } = request
    const bounds = boundsOf(request.space, request.from, request.to)
    const entries: RangeEntry[] = []
    let bytes = 0
    if (bounds.from >= bounds.to) return { entries, more: false }
    for (const [key, value] of this.#line.durable.range({ ...bounds, reverse })) {
      if (entries.length >= entriesMax || bytes >= bytesMax) return { entries, more: true }
      const record = itemSpace === undefined ? decodeRecord(value) : this.#pointedTo(itemSpace, value)
      // Without its item the entry belongs to a table that is being removed.
      if (record === undefined) continue
      entries.push({ key: withoutSpace(key), record })
      bytes += record.itemBytes
    }
    return { entries, more: false }
  }

  async writeMeta(entries: readonly MetaEntry[]): Promise<void> {
    const admission = this.#line.admission()
    if (admission !== undefined) await admission
    for (const { name, value } of entries) this.#line.put(metaKey(name), value && Uint8Array.from(value))
    await this.#line.settled()
  }

  async readMeta(prefix: string): Promise<readonly Required<MetaEntry>[]> {
    const entries: Required<MetaEntry>[] = []
    for (const [key, value] of this.#line.durable.range({ ...metaBounds(prefix), reverse: false })) {
      entries.push({ name: metaName(key), value })
    }
    return entries
  }

  async backfill(request: Parameters<StorageNode['backfill']>[0]): Promise<KeyBytes | undefined> {
    const admission = this.#line.admission()
    if (admission !== undefined) await admission
    const next = this.#backfill(request)
    await this.#line.settled()
    return next
  }

  sweep(space: SpaceId, entriesMax: number): Promise<boolean> {
    return this.#line.sweep(space, entriesMax)
  }

  async expired(
    expirySpace: SpaceId,
    itemSpace: SpaceId,
    nowSeconds: number,
    entriesMax: number,
  ): Promise<readonly RangeEntry[]> {
    const page = await this.range({
      space: expirySpace,
      itemSpace,
      from: '' as KeyBytes,
      to: expiryPrefix(Math.floor(nowSeconds) + 1),
      reverse: false,
      entriesMax,
      bytesMax: Infinity,
    })
    return page.entries
  }

  count(space: SpaceId): SpaceCount {
    return this.#line.count(space)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    try {
      await this.#line.close()
    } finally {
      await this.#onClose()
    }
  }

  /** One step: everything from the first look at the item to the last change happens in this turn. */
  #decide(request: WriteRequest): {
    readonly outcome: WriteOutcome
    readonly settled: Promise<void> | undefined
  } {
    const key = inSpace(request.table.space, request.key.bytes)
    const stored = this.#line.decided.get(key)
    const state = itemState(stored)
    const verdict = decideWrite(state, request)
    const { record } = state
    switch (verdict.verdict) {
      case 'condition-failed':
        return {
          outcome: { verdict: 'condition-failed', ...(record && { current: record }) },
          settled: this.#line.settledAt(key),
        }
      case 'invalid':
        return { outcome: verdict, settled: this.#line.settledAt(key) }
      case 'done': {
        const { next } = verdict
        if (next === undefined && record === undefined) {
          return { outcome: { verdict: 'done' }, settled: this.#line.settledAt(key) }
        }
        const written = next && encodeRecord(next, this.#clock.nextTimestamp(), this.#clock.nextLsn())
        this.#line.put(key, written)
        this.#line.addCount(request.table.space, ...difference(record, next))
        if (hasEntries(request.table)) this.#moveEntries(request, state, next)
        return {
          outcome: {
            verdict: 'done',
            ...(record && { old: record }),
            ...(written && { new: decodeRecord(written) }),
          },
          settled: this.#line.settled(),
        }
      }
    }
  }

  #moveEntries(request: WriteRequest, state: ItemState, next: NextImage | undefined): void {
    const { table, key } = request
    const oldBytes = state.record?.itemBytes ?? 0
    const newBytes = next?.itemBytes ?? 0
    forEachEntry(table, key, { old: state.item(), new: next?.item }, (space, before, after) => {
      if (before === undefined && after === undefined) return
      if (before === after) {
        // An index that is still being filled may not have the entry yet, and then does not count it either.
        if (oldBytes !== newBytes && this.#has(space, before))
          this.#line.addCount(space, 0, newBytes - oldBytes)
        return
      }
      if (this.#has(space, before)) {
        this.#line.put(inSpace(space, before as KeyBytes), undefined)
        this.#line.addCount(space, -1, -oldBytes)
      }
      if (after !== undefined) {
        this.#line.put(inSpace(space, after), Buffer.from(key.bytes, 'latin1'))
        this.#line.addCount(space, 1, newBytes)
      }
    })
  }

  #backfill(request: Parameters<StorageNode['backfill']>[0]): KeyBytes | undefined {
    const { table, index, from, itemsMax } = request
    const items: (readonly [KeyBytes, Uint8Array])[] = []
    let more = false
    for (const entry of this.#line.decided.range({ ...boundsOf(table.space, from), reverse: false })) {
      more = items.length >= itemsMax
      if (more) break
      items.push(entry)
    }
    for (const [key, stored] of items) {
      const base = { hash: Buffer.from(key.slice(4, 8), 'latin1').readUInt32BE(0), bytes: withoutSpace(key) }
      const item = parseRecord(decodeRecord(stored))
      const [space, entry] =
        index === 'expiry'
          ? [table.expiry?.space, table.expiry && expiryKey(table.expiry.attribute, item, base)]
          : [index.space, entryKey(index, item, base)]
      if (space === undefined || entry === undefined || this.#has(space, entry)) continue
      this.#line.put(inSpace(space, entry), Buffer.from(base.bytes, 'latin1'))
      this.#line.addCount(space, 1, recordItemBytes(stored))
    }
    const last = items.at(-1)
    return more && last !== undefined ? keyAfter(withoutSpace(last[0])) : undefined
  }

  #has(space: SpaceId, key: KeyBytes | undefined): boolean {
    return key !== undefined && this.#line.decided.get(inSpace(space, key)) !== undefined
  }

  #pointedTo(itemSpace: SpaceId, entry: Uint8Array): ItemRecord | undefined {
    return this.#record(inSpace(itemSpace, asBuffer(entry).toString('latin1') as KeyBytes))
  }

  #record(key: KeyBytes): ItemRecord | undefined {
    const stored = this.#line.durable.get(key)
    return stored === undefined ? undefined : decodeRecord(stored)
  }
}

/** By how many items and bytes a write changes its table. */
function difference(
  old: ItemRecord | undefined,
  next: NextImage | undefined,
): [items: number, bytes: number] {
  const items = (next === undefined ? 0 : 1) - (old === undefined ? 0 : 1)
  return [items, (next?.itemBytes ?? 0) - (old?.itemBytes ?? 0)]
}
