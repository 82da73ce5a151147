// The records of completed transactions, by epoch: as long as a token holds, and a tombstone is needed. They are in the line
// only; a filter says of nearly all slots that they have none.
import { type KeyBytes, type LedgerSlot, type Timestamp, type TxId, slotOf } from '../model/brand.js'
import type { Line } from '../line/line.js'
import { type Bounds, endedBounds } from '../line/spaces.js'
import type { LedgerRecord } from './ledger.js'
import { type LedgerKnobs, RecentSlots } from './recent-slots.js'
import {
  cancelledKey,
  committedKey,
  completedBefore,
  completedIn,
  completedOf,
  decodeLedgerRecord,
  encodeLedgerRecord,
  epochOf,
} from './record-bytes.js'
import type { Found } from './unfinished.js'

export type CompletedRecord = LedgerRecord & {
  readonly state: 'completed'
  readonly completedAt: Timestamp
}

/** Completed since this was opened, and kept at hand: as many as an answer of ListTransactions may show. */
const NEWEST_MAX = 1000
/** Looked at in one turn of the event loop. */
const SCANNED_MAX = 2000

export class CompletedRecords {
  readonly #line: Line
  readonly #now: () => Timestamp
  readonly #pause: () => Promise<void>
  readonly #recent: RecentSlots
  /** A ring, once it is full. They are newer than all others. */
  readonly #newest: Found[] = []
  #nextNewest = 0
  readonly #epochMicros: number
  /** Of the epochs before this one nothing is left. */
  #purgedBefore: number | undefined

  constructor(
    line: Line,
    now: () => Timestamp,
    { epochMicros, recentSlotDigits }: LedgerKnobs,
    pause: () => Promise<void>,
  ) {
    this.#pause = pause
    this.#line = line
    this.#epochMicros = epochMicros
    this.#now = now
    const epoch = epochOf(now(), epochMicros)
    const known = [epoch, epoch - 1].some((each) => durableRecords(line, completedIn(each), 1).length > 0)
    this.#recent = new RecentSlots(epoch, known ? 'unknown' : 'empty', recentSlotDigits)
  }

  /** As a part of the step that is being decided. */
  add(record: CompletedRecord): Found {
    const { tx, decision, completedAt } = record
    const epoch = epochOf(completedAt, this.#epochMicros)
    const key = decision === 'commit' ? committedKey(epoch, slotOf(tx)) : cancelledKey(epoch, tx)
    this.#line.put(key, encodeLedgerRecord(record))
    this.#recent.add(slotOf(tx), epoch)
    const found = { key, record }
    this.#newest[this.#nextNewest] = found
    this.#nextNewest = (this.#nextNewest + 1) % NEWEST_MAX
    return found
  }

  /** The record of exactly this transaction. */
  find(tx: TxId): Found | undefined {
    const epoch = epochOf(this.#now(), this.#epochMicros)
    const slot = slotOf(tx)
    if (!this.#recent.has(slot, epoch)) return undefined
    for (const each of [epoch, epoch - 1]) {
      for (const key of [committedKey(each, slot), cancelledKey(each, tx)]) {
        const found = this.#get(key)
        if (found?.record.tx === tx) return found
      }
    }
    return undefined
  }

  /** What was committed in this slot within one epoch. */
  committed(slot: LedgerSlot): Found | undefined {
    const now = this.#now()
    const epoch = epochOf(now, this.#epochMicros)
    if (!this.#recent.has(slot, epoch)) return undefined
    for (const key of [committedKey(epoch, slot), committedKey(epoch - 1, slot)]) {
      const found = this.#get(key)
      if (found !== undefined && (found.record.completedAt ?? now) > now - this.#epochMicros) return found
    }
    return undefined
  }

  /** Everything durable of one slot, the newest epoch first. */
  ofSlot(slot: LedgerSlot, recordsMax: number): readonly LedgerRecord[] {
    const epoch = epochOf(this.#now(), this.#epochMicros)
    return [epoch, epoch - 1].flatMap((each) =>
      durableRecords(this.#line, completedOf(each, slot), recordsMax),
    )
  }

  /** The newest first, as far as they are durable. */
  async recent(recordsMax: number): Promise<readonly LedgerRecord[]> {
    const { durable } = this.#line
    const newest = this.#newest
      .filter(({ key }) => durable.get(key) !== undefined)
      .map(({ record }) => record)
    const isEnough = newest.length >= Math.min(recordsMax, NEWEST_MAX)
    return newestOf([...newest, ...(isEnough ? [] : await this.#scanned(recordsMax, newest))], recordsMax)
  }

  /**
   * The newest of all that stand in the line, but for these. They are not in the order of time: each is looked at, some in
   * a turn. Only until enough were completed since this was opened.
   */
  async #scanned(recordsMax: number, known: readonly LedgerRecord[]): Promise<readonly LedgerRecord[]> {
    const isKnown = new Set(known.map(({ tx }) => tx))
    const epoch = epochOf(this.#now(), this.#epochMicros)
    let kept: readonly LedgerRecord[] = []
    for (const each of [epoch, epoch - 1]) {
      const { from, to } = completedIn(each)
      for (let next: KeyBytes | undefined = from; next !== undefined;) {
        const page = durablePage(this.#line, { from: next, to }, SCANNED_MAX)
        kept = newestOf([...kept, ...page.records.filter(({ tx }) => !isKnown.has(tx))], recordsMax)
        next = page.next
        if (next !== undefined) await this.#pause()
      }
    }
    return kept
  }

  /** Forgets those of epochs that are over, up to that many; true when none is left. */
  async purge(recordsMax: number): Promise<boolean> {
    const epoch = epochOf(this.#now(), this.#epochMicros) - 1
    // Nothing is added to an epoch that has passed.
    if (epoch === this.#purgedBefore) return true
    const keys: KeyBytes[] = []
    // With the records go the fences of the transactions that ended at this node, which are kept by the same epochs.
    for (const bounds of [completedBefore(epoch), endedBounds(epoch)]) {
      if (bounds.from >= bounds.to) continue
      for (const [key] of this.#line.durable.range({ ...bounds, reverse: false })) {
        if (keys.length >= recordsMax) break
        keys.push(key)
      }
    }
    if (keys.length === 0) {
      this.#purgedBefore = epoch
      return true
    }
    const admission = this.#line.admission()
    if (admission !== undefined) await admission
    for (const key of keys) this.#line.put(key, undefined)
    await this.#line.whenDurable()
    return keys.length < recordsMax
  }

  #get(key: KeyBytes): Found | undefined {
    const stored = this.#line.decided.get(key)
    return stored === undefined ? undefined : { key, record: decodeLedgerRecord(stored) }
  }
}

function newestOf(records: readonly LedgerRecord[], recordsMax: number): readonly LedgerRecord[] {
  return records
    .toSorted((a, b) => (b.completedAt ?? b.begunAt) - (a.completedAt ?? a.begunAt))
    .slice(0, recordsMax)
}

/** As readers see them, and where to go on; undefined: those were all. */
function durablePage(
  line: Line,
  bounds: Bounds,
  recordsMax: number,
): { readonly records: readonly LedgerRecord[]; readonly next: KeyBytes | undefined } {
  const records: LedgerRecord[] = []
  for (const [key, stored] of line.durable.range({ ...bounds, reverse: false })) {
    if (records.length >= recordsMax) return { records, next: key }
    records.push(decodeLedgerRecord(stored))
  }
  return { records, next: undefined }
}

/** As readers see them. */
export function durableRecords(line: Line, bounds: Bounds, recordsMax: number): readonly LedgerRecord[] {
  const records: LedgerRecord[] = []
  for (const [, stored] of line.durable.range({ ...bounds, reverse: false })) {
    if (records.length >= recordsMax) break
    records.push(decodeLedgerRecord(stored))
  }
  return records
}
