// What a node decided about its items, in order, and how much of it the disk kept: the truth that nobody in the world can
// see. A write whose answer was lost with its node is found here.
//
//   put, put, put --> log --settled--> certain
//                         \--crash-----> kept up to the last LSN that the disk kept, the rest is struck out
//                         \--rollback--> compared with what the node has after it: kept, or struck out
import type { Line, Put } from '../src/line/line.js'
import type { JournalLineOptions } from '../src/line/journal-line.js'
import { asBuffer, decodeItemRecord } from '../src/line/record.js'
import { TABLE } from './table.js'
import { CLOCK_KEY, decodeClock, inSpace, ledgerKey, pendingKey } from '../src/line/spaces.js'
import { decodeLedgerRecord } from '../src/ledger/record-bytes.js'
import type { KeyBytes } from '../src/model/brand.js'
import type { ItemRecord } from '../src/storage/contract/storage-node.js'
import type { MergedView } from '../src/line/merged-view.js'
import { type PendingItem, decodePending, hasTombstone } from '../src/storage/items/pending-bytes.js'

export interface LoggedWrite {
  /** The key of the item with its space. */
  readonly address: KeyBytes
  /** Absent: deleted. */
  readonly record?: ItemRecord
  /** Absent for the delete of a transaction, which the ledger knows of. */
  readonly timestamp?: number
  /** How far the node had counted its writes then. */
  readonly lsn: number
  /** A delete of an item that was not there. */
  readonly ofNothing?: boolean
  /** The ledger's record that was decided in the same step: where it is on the disk, so is this. */
  readonly proof?: KeyBytes
  /** What it was written for, in one step with all that was. */
  readonly request?: string
}

/** What is about to be done in one step. */
export interface DecidedStep {
  readonly request: string
  readonly timestamp: number
  /** What the clock of its node says from there on, until something else is done. */
  readonly clock: number
  /** Of the items that it concerns, with their space. */
  readonly addresses: ReadonlySet<KeyBytes>
}

interface Tap {
  /** After a failed sync nobody knows what is on the disk. */
  readonly isUnsure: () => boolean
  /** Somebody has to wait until there is room for what he writes. */
  readonly onWait: () => void
}

/** Where the state of items after a crash or a rollback is looked up. */
type Lookup = (address: KeyBytes) => Uint8Array | undefined

const ITEMS = inSpace(TABLE.space, '' as KeyBytes)
const COMPLETED = ledgerKey('c')
const PENDING = pendingKey('' as KeyBytes)

export class WriteLog {
  #log: LoggedWrite[] = []
  /** As many of the first ones are on the disk for good. */
  #certain = 0
  #stepStart = 0
  #step: DecidedStep | undefined
  #line: Line | undefined
  /** How far the node had counted its writes in what its disk has kept. */
  #lastLsn = 0
  /** How much of the log each batch makes certain. */
  readonly #countOf = new WeakMap<Promise<void>, number>()
  /** What was found on the disk though it had never been decided. */
  readonly phantoms: string[] = []

  get writes(): readonly LoggedWrite[] {
    return this.#log
  }

  /** Whether a transaction is pending on the item, as decided so far. */
  isPending(address: KeyBytes): boolean {
    return this.#line?.decided.get(pendingKey(address)) !== undefined
  }

  /** Whether a write of the item has been decided of which the disk may know nothing. */
  isUnsynced(address: KeyBytes): boolean {
    return this.#log.findLastIndex((write) => write.address === address) >= this.#certain
  }

  /** What the node shows to readers, or to who decides; of its last life. */
  view(which: 'durable' | 'decided'): MergedView | undefined {
    return this.#line?.[which]
  }

  /** From here until the node does something else it writes for this request. */
  deciding(step: DecidedStep): void {
    this.#step = step
    queueMicrotask(() => {
      this.#step = undefined
    })
  }

  /** A line that writes everything down. */
  tap(line: Line, { clock, index, unapplied }: JournalLineOptions, { isUnsure, onWait }: Tap): Line {
    this.#line = line
    const stored = index.get(CLOCK_KEY)
    this.#lastLsn = unapplied?.lsn ?? (stored === undefined ? 0 : decodeClock(stored).lsn)
    const note = (key: KeyBytes, value: Uint8Array | undefined): void => {
      if (isItem(key)) {
        const record = value && decodeItemRecord(value)
        const step = this.#stepOf(key, clock.timestamp)
        const timestamp = record?.timestamp ?? step?.timestamp ?? clock.timestamp
        this.#log.push({
          address: key,
          timestamp,
          lsn: clock.lsn,
          ...(record && { record }),
          ...(step && { request: step.request }),
        })
        this.#awaitSettled(line)
      }
      this.#noteTombstone(key, value)
      this.#noteCommitted(key, value)
    }
    line.onRollback(() => {
      // After a failed sync nobody knows before the restart.
      if (!isUnsure()) this.reconcile((address) => line.decided.get(address))
    })
    const noted =
      (put: Put) =>
      (key: KeyBytes, value: Uint8Array | undefined): void => {
        // Only for a value: who looks at a new one makes it be written.
        const before = value !== undefined && isPendingKey(key) ? line.decided.get(key) : undefined
        line[put](key, value)
        note(key, value)
        if (this.#noteDeleteOfNothing(key, before, value, clock)) this.#awaitSettled(line)
      }
    return {
      get run() {
        return line.run
      },
      get isLogging() {
        return line.isLogging
      },
      decided: line.decided,
      durable: line.durable,
      put: noted('put'),
      // Never an item: those are put with the value that they have.
      putNew: (key, encode, bytesAbout) => line.putNew(key, encode, bytesAbout),
      putVisible: noted('putVisible'),
      // Whoever asks when a step is settled has come to its end.
      whenDurable: () => {
        this.#endStep()
        return line.whenDurable()
      },
      whenDurableUnhurried: () => {
        this.#endStep()
        return line.whenDurableUnhurried()
      },
      hurry: (whenDurableUnhurried) => line.hurry(whenDurableUnhurried),
      whenDurableAt: (key) => line.whenDurableAt(key),
      whenAllDurable: () => line.whenAllDurable(),
      watches: line.watches,
      admission: () => {
        const admission = line.admission()
        if (admission !== undefined) onWait()
        return admission
      },
      count: (space) => line.count(space),
      note: (entry, put) => line.note(entry, put),
      addCount: (space, items, bytes, put) => line.addCount(space, items, bytes, put),
      onRollback: (callback) => line.onRollback(callback),
      sweep: (space, entriesMax) => line.sweep(space, entriesMax),
      close: () => line.close(),
    }
  }

  /**
   * After a crash: a journal keeps whole batches, and each says how far the node had counted when it was taken. What was
   * written up to there is on the disk, and must be what is found.
   */
  restarted(): void {
    const addresses = new Set(this.#log.slice(this.#certain).map((write) => write.address))
    this.#log = this.#log.filter(({ lsn }, at) => at < this.#certain || lsn <= this.#lastLsn)
    this.#certain = this.#stepStart = this.#log.length
    for (const address of addresses) {
      const last = this.#log.findLast((write) => write.address === address && write.ofNothing !== true)
      const stored = this.#line?.durable.get(address)
      if (!matches(last, stored)) this.phantoms.push(`an item that is not as it was left: ${textOf(stored)}`)
    }
  }

  /**
   * After a rollback: keeps for each item as much as explains the state it now has. That is no more certain than it was:
   * what readers have seen goes along with the next batch, and a crash may come first.
   */
  reconcile(lookup: Lookup): void {
    const uncertain = this.#log.slice(this.#certain)
    const kept = new Set<LoggedWrite>()
    const proven = this.#log.findLastIndex(
      ({ proof }, at) => at >= this.#certain && proof !== undefined && lookup(proof) !== undefined,
    )
    for (const address of new Set(uncertain.map((write) => write.address))) {
      const stored = lookup(address)
      const ofItem = uncertain.filter((write) => write.address === address)
      const before = this.#log.findLast((write, at) => at < this.#certain && write.address === address)
      const states = [before, ...ofItem.filter((write) => write.ofNothing !== true)]
      // A journal keeps what was decided up to some point: whatever comes before something that is proven is there, too.
      const least = uncertain
        .slice(0, Math.max(0, proven + 1 - this.#certain))
        .filter((write) => write.address === address && write.ofNothing !== true).length
      const at = states.findIndex((write, position) => position >= least && matches(write, stored))
      if (at < 0 && ![undefined, ...this.#log].some((write) => this.#explains(write, address, stored)))
        this.phantoms.push(`an item that nobody wrote: ${textOf(stored)}`)
      for (const write of states.slice(1, Math.max(0, at) + 1)) if (write !== undefined) kept.add(write)
      const tombstone = pendingOf(address, lookup(pendingKey(address)))?.tombstone?.timestamp ?? -1
      for (const write of ofItem)
        if (write.ofNothing === true && write.timestamp! <= tombstone) kept.add(write)
    }
    this.#log = this.#log.filter((write, at) => at < this.#certain || kept.has(write))
    this.#stepStart = this.#log.length
  }

  #endStep(): void {
    this.#stepStart = this.#log.length
    this.#step = undefined
  }

  #stepOf(address: KeyBytes, clock: number): DecidedStep | undefined {
    const step = this.#step
    return step?.clock === clock && step.addresses.has(address) ? step : undefined
  }

  #explains(write: LoggedWrite | undefined, address: KeyBytes, stored: Uint8Array | undefined): boolean {
    return (write === undefined || write.address === address) && matches(write, stored)
  }

  /** Beside a pending transaction a deleted item keeps its timestamp; without one the transaction has its own. */
  #noteTombstone(key: KeyBytes, value: Uint8Array | undefined): void {
    const last = this.#log.at(-1)
    if (last === undefined || this.#log.length <= this.#stepStart) return
    if (last.record !== undefined || key !== pendingKey(last.address)) return
    const { address, lsn, request } = last
    const tombstone = pendingOf(address, value)?.tombstone
    this.#log[this.#log.length - 1] = {
      address,
      lsn,
      ...(tombstone && { timestamp: tombstone.timestamp }),
      ...(request !== undefined && { request }),
    }
  }

  /** A delete of what is not there leaves nothing but a later tombstone, and that only beside a pending transaction. */
  #noteDeleteOfNothing(
    key: KeyBytes,
    before: Uint8Array | undefined,
    value: Uint8Array | undefined,
    clock: JournalLineOptions['clock'],
  ): boolean {
    if (before === undefined) return false
    const address = key.slice(PENDING.length) as KeyBytes
    const [old, next] = [pendingOf(address, before), pendingOf(address, value)]
    if (old?.tombstone === undefined || next?.tombstone === undefined) return false
    const { timestamp } = next.tombstone
    if (old.pending.length !== next.pending.length || old.tombstone.timestamp === timestamp) return false
    const step = this.#stepOf(address, clock.timestamp)
    this.#log.push({
      address,
      timestamp,
      lsn: clock.lsn,
      ofNothing: true,
      ...(step && { request: step.request }),
    })
    return true
  }

  /** Deletes of a transaction in one round: its record in the same step says when. */
  #noteCommitted(key: KeyBytes, value: Uint8Array | undefined): void {
    if (value === undefined || !key.startsWith(COMPLETED)) return
    const { timestamp, decision, participants } = decodeLedgerRecord(value)
    if (decision !== 'commit' || participants.length > 0) return
    for (let at = this.#stepStart; at < this.#log.length; at++) {
      const write = this.#log[at] as LoggedWrite
      const isDelete = write.record === undefined && write.timestamp !== undefined
      this.#log[at] = { ...write, proof: key, ...(isDelete && { timestamp }) }
    }
  }

  #awaitSettled(line: Line): void {
    const whenDurable = line.whenDurableUnhurried()
    const count = this.#log.length
    if (whenDurable === undefined) return
    if (!this.#countOf.has(whenDurable)) {
      whenDurable.then(
        () => {
          const upTo = this.#countOf.get(whenDurable) ?? 0
          this.#certain = Math.max(this.#certain, Math.min(upTo, this.#log.length))
        },
        () => undefined,
      )
    }
    this.#countOf.set(whenDurable, count)
  }
}

/** Only if there is a tombstone in it, which is seldom. */
function pendingOf(item: KeyBytes, stored: Uint8Array | undefined): PendingItem | undefined {
  return stored === undefined || !hasTombstone(stored) ? undefined : decodePending(item, stored).item
}

/** Not the entries that follow items, nor the system's own records. */
const isItem = (key: KeyBytes): boolean => key.startsWith(ITEMS)

const isPendingKey = (key: KeyBytes): boolean => key.startsWith(PENDING)

function matches(write: LoggedWrite | undefined, stored: Uint8Array | undefined): boolean {
  if (stored === undefined) return write?.record === undefined
  return write?.record !== undefined && asBuffer(write.record.json).equals(decodeItemRecord(stored).json)
}

const textOf = (stored: Uint8Array | undefined): string =>
  stored === undefined ? 'absent' : asBuffer(decodeItemRecord(stored).json).toString()
