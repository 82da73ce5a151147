// The records of transactions that are not completed, in memory: those that are decided stand in the line, too, which has
// the truth. Every step of the ledger looks for one, and they are as few as there are transactions under way.
import { type KeyBytes, type LedgerSlot, type TxId, slotOf } from '../model/brand.js'
import type { LedgerRecord } from './ledger.js'

/** A record and where it stands. */
export interface Found {
  readonly key: KeyBytes
  readonly record: LedgerRecord
  /** It was read from the line. */
  readonly isStored?: true
}

export class UnfinishedRecords {
  /** Preparing or committing: at most one a slot. */
  readonly #holding = new Map<LedgerSlot, Found>()
  readonly #cancelling = new Map<TxId, Found>()

  holder(slot: LedgerSlot): Found | undefined {
    return this.#holding.get(slot)
  }

  find(tx: TxId): Found | undefined {
    const holding = this.#holding.get(slotOf(tx))
    return holding?.record.tx === tx ? holding : this.#cancelling.get(tx)
  }

  /** In no order. */
  all(): Found[] {
    return [...this.#holding.values(), ...this.#cancelling.values()]
  }

  set(found: Found): void {
    const { tx, state } = found.record
    if (state === 'cancelling') this.#cancelling.set(tx, found)
    else this.#holding.set(slotOf(tx), found)
  }

  delete(tx: TxId): void {
    const slot = slotOf(tx)
    if (this.#holding.get(slot)?.record.tx === tx) this.#holding.delete(slot)
    this.#cancelling.delete(tx)
  }

  /** The line has been taken back to these. */
  reset(all: readonly Found[]): void {
    this.#holding.clear()
    this.#cancelling.clear()
    for (const found of all) this.set(found)
  }
}
