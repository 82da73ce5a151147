// The transaction ledger on an engine (§3.5): one row for each slot, changed by compare-and-set, and written from the decision on.
//
//   begin    in memory, with a client token after a look at its slot       (presumed abort)
//   decide   commit: one cas, on an absent row without a look; cancel by who began it: in memory; by others: a tombstone
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
import { type LedgerSlot, type Timestamp, type TxId, slotOf } from '../../model/brand.js'
import { type Runtime, steadyMicros } from '../../runtime/runtime.js'
import { LEDGER_SPACE, ledgerRow, slotOfRow } from './rows.js'
import type { StepDecision, RowNext, ScopeSteps } from './scope-steps.js'

export interface EngineLedgerOptions {
  readonly engine: Engine
  readonly runtime: Runtime
  readonly clock: HybridClock
  readonly steps: ScopeSteps
  /** For how long a completed record is watched before it goes. */
  readonly keepMs?: number
}

const KEEP_MS = 10 * 60_000
const BEGUN_MAX = 20_000
const WATCHED_MAX = 50_000
const PAGE_ROWS = 500
const PAGES_MAX = 10
const RECENT_MAX = 100

interface Watched {
  readonly version: string
  readonly sinceMicros: number
}

export class EngineLedger implements Ledger {
  readonly #options: EngineLedgerOptions
  readonly #begun = new Map<TxId, LedgerEntry & { readonly begunAt: Timestamp }>()
  /** Those of them whose commit is on its way to the engine, or was, and nobody knows. */
  readonly #deciding = new Set<TxId>()
  /** Completed ones, since when they were seen unchanged. */
  readonly #watched = new Map<LedgerSlot, Watched>()
  /** Unfinished ones that were seen: they are looked at again, wherever a walk has come to. */
  readonly #open = new Set<LedgerSlot>()
  readonly #recent: LedgerRecord[] = []
  #walkedTo: LedgerSlot | undefined

  constructor(options: EngineLedgerOptions) {
    this.#options = options
  }

  async begin(entry: LedgerEntry): Promise<BeginOutcome> {
    const { tx, payloadHash, replaces } = entry
    if (replaces !== undefined) this.#begun.delete(replaces)
    if (payloadHash !== undefined) {
      const [row] = await this.#options.engine.read([ledgerRow(slotOf(tx))], 'consistent')
      const holder = holderOf(recordsIn(row))
      if (holder !== undefined && holder.tx !== tx) return { verdict: 'exists', record: holder }
    }
    if (this.#begun.size >= BEGUN_MAX) throw new Error('too many transactions are under way on this server')
    this.#begun.set(tx, { ...entry, begunAt: this.#options.clock.now() })
    return { verdict: 'begun' }
  }

  async decide(tx: TxId, decision: Decision, { timestamp, reasons }: DecideAt): Promise<RecordInForce> {
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
    }
    if (decision === 'cancel' && begun !== undefined && !this.#deciding.has(tx)) {
      // Nobody else may commit it, and it is not any more: what is not written was cancelled. Not while its commit is on its way,
      // which recovery on this same server must not overtake.
      this.#begun.delete(tx)
      return { ...cancelled, state: 'cancelling', participants: begun.participants }
    }
    if (begun !== undefined) this.#deciding.add(tx)
    const record = await this.#step(
      tx,
      (records) => {
        const known = records.find((each) => each.tx === tx)
        if (known !== undefined) return { answer: known }
        const holder = holderOf(records)
        if (begun === undefined || holder !== undefined || decision === 'cancel')
          return { answer: cancelled, records: [...records, cancelled] }
        const committing: LedgerRecord = {
          ...begun,
          state: 'committing',
          timestamp,
          decision: 'commit',
        }
        return { answer: committing, records: [...records, committing] }
      },
      begun !== undefined && begun.payloadHash === undefined,
    )
    this.#begun.delete(tx)
    this.#deciding.delete(tx)
    return record
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
    if (under !== undefined && holderOf(records) === undefined) return { ...under, state: 'preparing' }
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
    if (unfinished.length > 0) {
      this.#open.add(slot)
      this.#watched.delete(slot)
    } else if (this.#watched.get(slot)?.version !== row.version && this.#watched.size < WATCHED_MAX)
      this.#watched.set(slot, {
        version: row.version,
        sinceMicros: steadyMicros(this.#options.runtime.clock),
      })
    return unfinished
  }

  recent(recordsMax: number): Promise<readonly LedgerRecord[]> {
    return Promise.resolve(this.#recent.slice(0, recordsMax))
  }

  async purge(recordsMax: number): Promise<boolean> {
    const { runtime, steps, keepMs = KEEP_MS } = this.#options
    const before = steadyMicros(runtime.clock) - keepMs * 1000
    const due = [...this.#watched].filter(([, { sinceMicros }]) => sinceMicros <= before).slice(0, recordsMax)
    await Promise.all(
      due.map(async ([slot, { version }]) => {
        this.#watched.delete(slot)
        const address = ledgerRow(slot)
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

const FIRST_SLOT = '0'.repeat(32) as LedgerSlot
