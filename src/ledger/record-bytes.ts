// Ledger records as bytes, and where they stand. A slot has at most one record that holds it (it is or may be committed),
// found by one look-up, and any number of cancelled ones, which stand behind it under their nonces.
//
//   u | slot (16 bytes)                       preparing or committing
//   u | slot | nonce                          cancelling: with the above one small range, scanned by recovery
//   c | epoch u32 | slot                      completed, committed: an epoch is ten minutes, and old ones go as ranges
//   c | epoch u32 | slot | nonce              completed, cancelled, and tombstones
import { type KeyBytes, type LedgerSlot, type Timestamp, type TxId, slotOf, spaceId } from '../model/brand.js'
import { u32 } from '../model/key-bytes.js'
import { prefixEnd } from '../model/key-range.js'
import { asBuffer } from '../line/record.js'
import { type Bounds, ledgerKey } from '../line/spaces.js'
import type { CancellationReason, Decision, ItemRef, LedgerRecord, Participant } from './ledger.js'

/** An epoch is how long a token holds after its transaction was committed, and at least how long a tombstone is kept. */
export const epochOf = (at: Timestamp, epochMicros: number): number => Math.floor(at / epochMicros)

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

// A record as bytes; integers are big-endian, and texts but the reasons have one byte a character:
//
//   0 format  1 state  2 decision  3 timestamp f64  11 begun at f64  19 completed at f64, or 0
//   27 length u8, transaction; length u8, payload hash, or nothing
//   participants u16; of each: node u16, items u16; of each: space u32, hash u32, length u16, key
//   the rest: reasons as JSON, or nothing
const FORMAT = 1
const HEADER_BYTES = 27
const PARTICIPANT_BYTES = 4
const ITEM_BYTES = 10

export function encodeLedgerRecord(record: LedgerRecord): Buffer {
  const { tx, participants, payloadHash = '' } = record
  const reasons = record.reasons === undefined ? '' : JSON.stringify(record.reasons)
  let length = HEADER_BYTES + 1 + tx.length + 1 + payloadHash.length + 2 + Buffer.byteLength(reasons)
  for (const { items } of participants) {
    length += PARTICIPANT_BYTES
    for (const { key } of items) length += ITEM_BYTES + key.bytes.length
  }
  const bytes = Buffer.allocUnsafe(length)
  bytes[0] = FORMAT
  bytes[1] = STATES.indexOf(record.state)
  bytes[2] = DECISIONS.indexOf(record.decision)
  bytes.writeDoubleBE(record.timestamp, 3)
  bytes.writeDoubleBE(record.begunAt, 11)
  bytes.writeDoubleBE(record.completedAt ?? 0, 19)
  let at = writeText(bytes, tx, HEADER_BYTES)
  at = writeText(bytes, payloadHash, at)
  at = bytes.writeUInt16BE(participants.length, at)
  for (const { node, items } of participants) {
    at = bytes.writeUInt16BE(node, at)
    at = bytes.writeUInt16BE(items.length, at)
    for (const { space, key } of items) {
      at = bytes.writeUInt32BE(space, at)
      at = bytes.writeUInt32BE(key.hash, at)
      at = bytes.writeUInt16BE(key.bytes.length, at)
      at += bytes.write(key.bytes, at, 'latin1')
    }
  }
  if (reasons !== '') bytes.write(reasons, at)
  return bytes
}

function writeText(bytes: Buffer, text: string, at: number): number {
  bytes.writeUInt8(text.length, at)
  return at + 1 + bytes.write(text, at + 1, 'latin1')
}

export function decodeLedgerRecord(stored: Uint8Array): LedgerRecord {
  const bytes = asBuffer(stored)
  if (bytes[0] !== FORMAT)
    throw new Error(`a ledger record of format ${bytes[0]}, which this version does not know`)
  const decision: Decision | undefined = DECISIONS[bytes[2] as number]
  const completedAt = bytes.readDoubleBE(19)
  const hashAt = HEADER_BYTES + 1 + (bytes[HEADER_BYTES] as number)
  const participantsAt = hashAt + 1 + (bytes[hashAt] as number)
  const payloadHash = bytes.toString('latin1', hashAt + 1, participantsAt)
  const { participants, end } = decodeParticipants(bytes, participantsAt)
  return {
    tx: bytes.toString('latin1', HEADER_BYTES + 1, hashAt) as TxId,
    state: STATES[bytes[1] as number] as LedgerRecord['state'],
    timestamp: bytes.readDoubleBE(3) as Timestamp,
    participants,
    begunAt: bytes.readDoubleBE(11) as Timestamp,
    ...(completedAt > 0 && { completedAt: completedAt as Timestamp }),
    ...(decision !== undefined && { decision }),
    ...(end < bytes.length && { reasons: JSON.parse(bytes.toString('utf8', end)) as CancellationReason[] }),
    ...(payloadHash !== '' && { payloadHash }),
  }
}

function decodeParticipants(
  bytes: Buffer,
  from: number,
): { readonly participants: readonly Participant[]; readonly end: number } {
  let at = from + 2
  const participants = Array.from({ length: bytes.readUInt16BE(from) }, (): Participant => {
    const node = bytes.readUInt16BE(at)
    const count = bytes.readUInt16BE(at + 2)
    at += PARTICIPANT_BYTES
    const items = Array.from({ length: count }, (): ItemRef => {
      const space = spaceId(bytes.readUInt32BE(at))
      const hash = bytes.readUInt32BE(at + 4)
      const keyAt = at + ITEM_BYTES
      at = keyAt + bytes.readUInt16BE(at + 8)
      return { space, key: { hash, bytes: bytes.toString('latin1', keyAt, at) as KeyBytes } }
    })
    return { node, items }
  })
  return { participants, end: at }
}
