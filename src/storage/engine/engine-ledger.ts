// The transaction ledger on an engine (§3.5): one row for each slot, changed by compare-and-set, and written from the decision on.
//
//   begin    in memory, with a client token after a look at its slot       (presumed abort)
//   decide   commit: one cas, on an absent row without a look; cancel by who began it: in memory; by others: a tombstone
//            with a client token: a cancel that a client is told of is a fence in the slot, behind which nothing is committed
//            that was begun before it, on whatever server
//            not by who was frozen for so long after it had begun that its tombstone may be gone again
//   complete one cas
//   purge    records that this server has seen completed, unchanged, for ten minutes by its own steady clock
//
// Any server may decide, complete and purge. How old a record is, no clock of another server says: tombstones and tokens hold
// until a server has watched them for long enough.
import type { Engine, EngineRow } from '../../engine/engine.js'
import type {
  BeginOutcome,
  DecideAt,
  Decided as RecordInForce,
  Decision,
  Ledger,
  LedgerEntry,
  LedgerRecord,
} from '../../ledger/ledger.js'
import { decodeLedgerRecord, encodeLedgerRecord } from '../../ledger/record-bytes.js'
import type { HybridClock } from '../../line/hybrid-clock.js'
import { asBuffer } from '../../line/record.js'
import { type LedgerSlot, type Timestamp, type TxId, ledgerSlot, slotOf } from '../../model/brand.js'
import { type Runtime, steadyMicros } from '../../runtime/runtime.js'
import { BothClocks } from './both-clocks.js'
import { LEDGER_SPACE, ledgerRow, slotOfRow } from './rows.js'
import type { StepDecision, RowNext, ScopeSteps } from './scope-steps.js'
import { ACT_WITHIN_MS } from './sure-cas.js'

export interface EngineLedgerOptions {
  readonly engine: Engine
  readonly runtime: Runtime
  readonly clock: HybridClock
  readonly steps: ScopeSteps
  /** For how long a completed record is watched before it goes. */
  readonly keepMs?: number
  /** For how long after its beginning a transaction may be committed here (60 s). */
  readonly actWithinMs?: number
}

const KEEP_MS = 10 * 60_000
const BEGUN_MAX = 20_000
/** At 800 transactions a second there are as many in ten minutes; beyond that their records stay longer. */
const WATCHED_MAX = 500_000
const PAGE_ROWS = 500
const PAGES_MAX = 10
const RECENT_MAX = 100

type Begun = LedgerEntry & { readonly begunAt: Timestamp; readonly since: BothClocks }

export class EngineLedger implements Ledger {
  readonly isShared = true
  readonly #options: EngineLedgerOptions
  readonly #begun = new Map<TxId, Begun>()
  /** Those of them whose commit is on its way to the engine, or was, and nobody knows. */
  readonly #deciding = new Set<TxId>()
  /** Slots of completed ones with their versions, since when they were seen so, in milliseconds: the oldest first. */
  readonly #watched = new Map<string, number>()
  /** Unfinished ones that were seen: they are looked at again, wherever a walk has come to. */
  readonly #open = new Set<LedgerSlot>()
  readonly #recent: LedgerRecord[] = []
  #walkedTo: LedgerSlot | undefined

  constructor(options: EngineLedgerOptions) {
    this.#options = options
  }

  async begin(entry: LedgerEntry): Promise<BeginOutcome> {
    const { tx, payloadHash, replaces } = entry
    const since = new BothClocks(this.#options.runtime.clock)
    if (replaces !== undefined) this.#begun.delete(replaces)
    let { met } = entry
    if (payloadHash !== undefined) {
      const [row] = await this.#options.engine.read([ledgerRow(slotOf(tx))], 'consistent')
      const records = recordsIn(row)
      met ??= records.map((each) => each.tx)
      const other = holderOf(records) ?? fenceOf(records, { ...entry, met })
      if (other !== undefined && other.tx !== tx) return { verdict: 'exists', record: other }
    }
    if (this.#begun.size >= BEGUN_MAX) throw new Error('too many transactions are under way on this server')
    this.#begun.set(tx, { ...entry, met, begunAt: this.#options.clock.now(), since })
    return { verdict: 'begun', ...(met && { met }) }
  }

  async decide(
    tx: TxId,
    decision: Decision,
    { timestamp, reasons, payloadHash }: DecideAt,
  ): Promise<RecordInForce> {
    const begun = this.#begun.get(tx)
    const now = this.#options.clock.now()
    const cancelled: LedgerRecord = {
      tx,
      state: 'completed',
      timestamp,
      participants: [],
      begunAt: begun?.begunAt ?? now,
      completedAt: now,
      decision: 'cancel',
      ...(reasons && { reasons }),
      ...(payloadHash !== undefined && { payloadHash }),
    }
    const isFence = payloadHash !== undefined
    if (decision === 'cancel' && begun !== undefined && !isFence && !this.#deciding.has(tx)) {
      // Nobody else may commit it, and it is not any more: what is not written was cancelled. Not while its commit is on its way,
      // which recovery on this same server must not overtake.
      this.#begun.delete(tx)
      return { ...cancelled, state: 'cancelling', participants: begun.participants }
    }
    if (begun !== undefined && decision === 'commit') this.#deciding.add(tx)
    try {
      return await this.#step(
        tx,
        (records) => {
          const known = records.find((each) => each.tx === tx)
          if (known !== undefined && !isFence) return { answer: known }
          const holder = holderOf(records)
          if (isFence)
            return holder === undefined
              ? { answer: cancelled, records: fenced(records, cancelled) }
              : { answer: holder }
          const fence = begun && fenceOf(records, begun)
          if (fence !== undefined) return { answer: fence }
          const mayCommit = begun !== undefined && decision === 'commit' && !this.#isTooLate(begun)
          if (!mayCommit || holder !== undefined)
            return { answer: cancelled, records: [...records, cancelled] }
          const { met: _, since: __, ...entry } = begun
          const committing: LedgerRecord = { ...entry, state: 'committing', timestamp, decision: 'commit' }
          return { answer: committing, records: [...records, committing] }
        },
        // With a token the slot was looked at when it was begun.
        begun !== undefined && (begun.met ?? []).length === 0,
      )
    } finally {
      // Also if nobody knows: whoever asks for a cancel from here on asks the engine.
      this.#begun.delete(tx)
      this.#deciding.delete(tx)
    }
  }

  #isTooLate({ since }: Begun): boolean {
    return since.passedMs > (this.#options.actWithinMs ?? ACT_WITHIN_MS)
  }

  async complete(tx: TxId): Promise<void> {
    const completedAt = this.#options.clock.now()
    const record = await this.#step<LedgerRecord | undefined>(
      tx,
      (records) => {
        const known = records.find((each) => each.tx === tx)
        if (known === undefined || known.state === 'completed') return { answer: undefined }
        const completed: LedgerRecord = { ...known, state: 'completed', participants: [], completedAt }
        return { answer: completed, records: records.map((each) => (each === known ? completed : each)) }
      },
      true,
    )
    if (record === undefined) return
    this.#recent.unshift(record)
    this.#recent.length = Math.min(this.#recent.length, RECENT_MAX)
  }

  async read(slot: LedgerSlot): Promise<LedgerRecord | undefined> {
    const [row] = await this.#options.engine.read([ledgerRow(slot)], 'consistent')
    const records = recordsIn(row)
    const under = [...this.#begun.values()].find((each) => slotOf(each.tx) === slot)
    if (under !== undefined && holderOf(records) === undefined) {
      const { since: _, ...entry } = under
      return { ...entry, state: 'preparing' }
    }
    return holderOf(records) ?? records.at(-1)
  }

  /** A walk in the engine's order from that slot on, as far as it comes; with those that were seen before. */
  async unfinished(from: LedgerSlot, recordsMax: number): Promise<readonly LedgerRecord[]> {
    const found = new Map<TxId, LedgerRecord>()
    for (const record of await this.#stillOpen()) found.set(record.tx, record)
    const { engine } = this.#options
    let after = ledgerRow(this.#walkedTo ?? from)
    let isFirst = this.#walkedTo === undefined && from === FIRST_SLOT
    for (let page = 0; page < PAGES_MAX && found.size < recordsMax; page++) {
      const request = { space: LEDGER_SPACE, rowsMax: PAGE_ROWS }
      const { rows, more, after: next } = await engine.range(isFirst ? request : { ...request, after })
      isFirst = false
      for (const row of rows) for (const record of this.#look(row)) found.set(record.tx, record)
      const last = next ?? rows.at(-1)?.address
      this.#walkedTo = more && last !== undefined ? slotOfRow(last) : undefined
      if (!more || last === undefined) {
        this.#walkedTo = undefined
        break
      }
      after = last
    }
    return [...found.values()].toSorted((a, b) => (a.tx < b.tx ? -1 : 1)).slice(0, recordsMax)
  }

  async #stillOpen(): Promise<readonly LedgerRecord[]> {
    const slots = [...this.#open].slice(0, PAGE_ROWS)
    if (slots.length === 0) return []
    const rows = await this.#options.engine.read(slots.map(ledgerRow), 'consistent')
    return slots.flatMap((slot, at) => {
      this.#open.delete(slot)
      return this.#look(rows[at])
    })
  }

  /** Notes what it sees; the unfinished ones of that row. */
  #look(row: EngineRow | undefined): readonly LedgerRecord[] {
    if (row === undefined) return []
    const slot = slotOfRow(row.address)
    const records = recordsIn(row)
    for (const { timestamp } of records) this.#options.clock.witness(timestamp)
    const unfinished = records.filter(({ state }) => state !== 'completed')
    if (unfinished.length > 0) this.#open.add(slot)
    else {
      const watched = slot + row.version
      if (!this.#watched.has(watched) && this.#watched.size < WATCHED_MAX)
        this.#watched.set(watched, Math.ceil(steadyMicros(this.#options.runtime.clock) / 1000))
    }
    return unfinished
  }

  recent(recordsMax: number): Promise<readonly LedgerRecord[]> {
    return Promise.resolve(this.#recent.slice(0, recordsMax))
  }

  async purge(recordsMax: number): Promise<boolean> {
    const { runtime, steps, keepMs = KEEP_MS } = this.#options
    const before = steadyMicros(runtime.clock) / 1000 - keepMs
    const due: string[] = []
    for (const [watched, since] of this.#watched) {
      if (since > before || due.length >= recordsMax) break
      due.push(watched)
    }
    await Promise.all(
      due.map(async (watched) => {
        this.#watched.delete(watched)
        const address = ledgerRow(ledgerSlot(watched.slice(0, SLOT_DIGITS)))
        const version = watched.slice(SLOT_DIGITS)
        await steps.take({
          addresses: [address],
          decide: (rows): StepDecision<void> =>
            rows.row(address)?.version === version
              ? { answer: undefined, next: [{ address, cells: 'removed' }] }
              : { answer: undefined },
        })
      }),
    )
    return due.length < recordsMax
  }

  #step<Answer>(
    tx: TxId,
    decide: (records: readonly LedgerRecord[]) => {
      readonly answer: Answer
      readonly records?: readonly LedgerRecord[]
    },
    mayGuess: boolean,
  ): Promise<Answer> {
    const address = ledgerRow(slotOf(tx))
    return this.#options.steps.take({
      addresses: [address],
      mayGuess,
      decide: (rows): StepDecision<Answer> => {
        const { answer, records } = decide(recordsIn(rows.row(address)))
        return records === undefined ? { answer } : { answer, next: [ledgerPut(tx, records)] }
      },
    })
  }
}

/** The row of a slot with these records. */
export const ledgerPut = (tx: TxId, records: readonly LedgerRecord[]): RowNext => ({
  address: ledgerRow(slotOf(tx)),
  cells: { head: encodeRecords(records) },
})

/** The one that has the slot: it is or was committed. */
export const holderOf = (records: readonly LedgerRecord[]): LedgerRecord | undefined =>
  records.find(({ decision }) => decision === 'commit')

/** A cancel of the same request, by another attempt, that a client may have been told of since this one was begun. */
const fenceOf = (
  records: readonly LedgerRecord[],
  { payloadHash, met = [] }: Pick<LedgerEntry, 'payloadHash' | 'met'>,
): LedgerRecord | undefined =>
  payloadHash === undefined
    ? undefined
    : records.find((each) => isFenceFor(each, payloadHash) && !met.includes(each.tx))

const isFenceFor = (record: LedgerRecord, payloadHash: string | undefined): boolean =>
  record.decision === 'cancel' && record.payloadHash === payloadHash

/** The last fence of a request stands for those before it. */
const fenced = (records: readonly LedgerRecord[], fence: LedgerRecord): readonly LedgerRecord[] => [
  ...records.filter((each) => each.tx !== fence.tx && !isFenceFor(each, fence.payloadHash)),
  fence,
]

export function recordsIn(row: EngineRow | undefined): readonly LedgerRecord[] {
  if (row?.cells.head === undefined) return []
  const bytes = asBuffer(row.cells.head)
  const records: LedgerRecord[] = []
  for (let at = 0; at < bytes.length;) {
    const end = at + 4 + bytes.readUInt32BE(at)
    records.push(decodeLedgerRecord(bytes.subarray(at + 4, end)))
    at = end
  }
  return records
}

function encodeRecords(records: readonly LedgerRecord[]): Buffer {
  return Buffer.concat(
    records.flatMap((record) => {
      const bytes = encodeLedgerRecord(record)
      const length = Buffer.allocUnsafe(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    }),
  )
}

const SLOT_DIGITS = 32
const FIRST_SLOT = '0'.repeat(SLOT_DIGITS) as LedgerSlot
