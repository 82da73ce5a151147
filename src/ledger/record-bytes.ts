// Ledger records as bytes, and where they stand. A slot has at most one record that holds it (it is or may be committed),
// found by one look-up, and any number of cancelled ones, which stand behind it under their nonces.
//
//   u | slot (16 bytes)                       preparing or committing
//   u | slot | nonce                          cancelling: with the above one small range, scanned by recovery
//   c | epoch u32 | slot                      completed, committed: an epoch is ten minutes, and old ones go as ranges
//   c | epoch u32 | slot | nonce              completed, cancelled, and tombstones
import { type KeyBytes, type LedgerSlot, type Timestamp, type TxId, slotOf } from '../model/brand.js'
import { u32 } from '../model/key-bytes.js'
import { prefixEnd } from '../model/key-range.js'
import { asBuffer } from '../storage/record.js'
import { type Bounds, ledgerKey } from '../storage/spaces.js'
import type { CancellationReason, Decision, LedgerRecord, Participant } from './ledger.js'

/** How long a token holds after its transaction was committed, and at least how long a tombstone is kept. */
export const EPOCH_MICROS = 10 * 60 * 1_000_000

export const epochOf = (at: Timestamp): number => Math.floor(at / EPOCH_MICROS)

export const holdingKey = (slot: LedgerSlot): KeyBytes => ledgerKey(`u${slotBytes(slot)}`)
export const cancellingKey = (tx: TxId): KeyBytes => ledgerKey(`u${slotBytes(slotOf(tx))}${nonceOf(tx)}`)
export const committedKey = (epoch: number, slot: LedgerSlot): KeyBytes =>
  ledgerKey(`c${u32(epoch)}${slotBytes(slot)}`)
export const cancelledKey = (epoch: number, tx: TxId): KeyBytes =>
  ledgerKey(`c${u32(epoch)}${slotBytes(slotOf(tx))}${nonceOf(tx)}`)

/** All unfinished records from a slot on. */
export const unfinishedFrom = (from: LedgerSlot): Bounds => ({ from: holdingKey(from), to: ledgerKey('v') })
/** Everything of one slot that is not finished, or that was completed in that epoch. */
export const unfinishedOf = (slot: LedgerSlot): Bounds => prefixBounds(holdingKey(slot))
export const completedOf = (epoch: number, slot: LedgerSlot): Bounds =>
  prefixBounds(committedKey(epoch, slot))
/** Completed in that epoch, or in any before it. */
export const completedIn = (epoch: number): Bounds => prefixBounds(ledgerKey(`c${u32(epoch)}`))
export const completedBefore = (epoch: number): Bounds => ({
  from: ledgerKey('c'),
  to: ledgerKey(`c${u32(Math.max(0, epoch))}`),
})

const prefixBounds = (from: KeyBytes): Bounds => ({ from, to: prefixEnd(from) as KeyBytes })

const slotBytes = (slot: LedgerSlot): string => Buffer.from(slot, 'hex').toString('latin1')
const nonceOf = (tx: TxId): string => tx.slice(33)

const STATES = ['preparing', 'committing', 'cancelling', 'completed'] as const
const DECISIONS = [undefined, 'commit', 'cancel'] as const

type Stored = readonly [
  tx: TxId,
  state: number,
  decision: number,
  timestamp: number,
  begunAt: number,
  completedAt: number,
  payloadHash: string,
  participants: readonly Participant[],
  reasons: readonly CancellationReason[] | null,
]

export function encodeLedgerRecord(record: LedgerRecord): Buffer {
  const stored: Stored = [
    record.tx,
    STATES.indexOf(record.state),
    DECISIONS.indexOf(record.decision),
    record.timestamp,
    record.begunAt,
    record.completedAt ?? 0,
    record.payloadHash ?? '',
    record.participants,
    record.reasons ?? null,
  ]
  return Buffer.from(JSON.stringify(stored))
}

export function decodeLedgerRecord(bytes: Uint8Array): LedgerRecord {
  const stored = JSON.parse(asBuffer(bytes).toString()) as Stored
  const [tx, state, decision, timestamp, begunAt, completedAt, payloadHash, participants, reasons] = stored
  const decided: Decision | undefined = DECISIONS[decision]
  return {
    tx,
    state: STATES[state] as LedgerRecord['state'],
    timestamp: timestamp as Timestamp,
    participants,
    begunAt: begunAt as Timestamp,
    ...(completedAt > 0 && { completedAt: completedAt as Timestamp }),
    ...(decided !== undefined && { decision: decided }),
    ...(reasons !== null && { reasons }),
    ...(payloadHash !== '' && { payloadHash }),
  }
}
