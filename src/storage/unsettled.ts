// Transactions that have ended at this node in a step that is not durable yet, or whose batch failed.
import type { TxId } from '../model/brand.js'

interface LastStep {
  readonly durable: Promise<void>
  /** Readers see all of it already. */
  readonly visible: boolean
}

export class Unsettled {
  readonly #steps = new Map<TxId, LastStep>()
  /** The transactions of each batch that is not durable. */
  readonly #batches = new Map<Promise<void>, TxId[]>()

  /** The last step counts: what a failed batch took back is done again in it, or was visible and is taken along. */
  add(tx: TxId, durable: Promise<void>, put: 'put' | 'putVisible'): void {
    const visible = put === 'putVisible' && this.#steps.get(tx)?.visible !== false
    this.#steps.set(tx, { durable, visible })
    const batch = this.#batches.get(durable)
    if (batch !== undefined) {
      batch.push(tx)
      return
    }
    this.#batches.set(durable, [tx])
    durable.then(
      () => this.#forget(durable),
      // A failure stays until somebody finishes the transaction once more.
      () => this.#batches.delete(durable),
    )
  }

  #forget(durable: Promise<void>): void {
    for (const tx of this.#batches.get(durable) ?? []) {
      if (this.#steps.get(tx)?.durable === durable) this.#steps.delete(tx)
    }
    this.#batches.delete(durable)
  }

  /** Undefined if readers see all that the transaction did here. */
  visible(tx: TxId): Promise<void> | undefined {
    const last = this.#steps.get(tx)
    return last?.visible === false ? last.durable : undefined
  }

  /** Undefined if all that the transaction did here would survive a crash. */
  durable(tx: TxId): Promise<void> | undefined {
    return this.#steps.get(tx)?.durable
  }
}
