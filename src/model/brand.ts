// Things that are all strings or numbers at run time but must never be confused.
declare const brand: unique symbol
type Branded<Base, Name extends string> = Base & { readonly [brand]: Name }

/** Microseconds since the epoch from a hybrid logical clock. Stays exact in a double until the year 2255. */
export type Timestamp = Branded<number, 'Timestamp'>
/** Position of a write in the log of one storage node; only grows (§3.4). */
export type Lsn = Branded<number, 'Lsn'>
/** A key space of a node: the items of one table, or the entries of one index. Never reused. */
export type SpaceId = Branded<number, 'SpaceId'>
/**
 * Order-preserving key bytes as a "binary" (latin1) string, one character a byte: hashable, and `<` compares bytes.
 */
export type KeyBytes = Branded<string, 'KeyBytes'>
/** Identity of one transaction, unique for ever: its ledger slot, a colon and a nonce. */
export type TxId = Branded<string, 'TxId'>
/** Where the ledger keeps a transaction: the digest of its client token, or random without one. 32 hex digits. */
export type LedgerSlot = Branded<string, 'LedgerSlot'>
/** A decimal in DynamoDB's canonical text: no leading or trailing zeros, no exponent unless it is needed. */
export type DecimalText = Branded<string, 'DecimalText'>

export const timestamp = (value: number): Timestamp => checkedInteger(value, 'timestamp') as Timestamp
export const lsn = (value: number): Lsn => checkedInteger(value, 'LSN') as Lsn
export const spaceId = (value: number): SpaceId => {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
    throw new RangeError(`not a space id: ${value}`)
  return value as SpaceId
}

export const ledgerSlot = (text: string): LedgerSlot => {
  if (!/^[0-9a-f]{32}$/.test(text)) throw new RangeError(`not a ledger slot: ${text}`)
  return text as LedgerSlot
}
export const txId = (slot: LedgerSlot, nonce: string): TxId => `${slot}:${nonce}` as TxId
export const slotOf = (tx: TxId): LedgerSlot => tx.slice(0, 32) as LedgerSlot

function checkedInteger(value: number, what: string): number {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a ${what}: ${value}`)
  return value
}
