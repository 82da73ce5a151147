// Transactions that have ended at this node in a step that is not durable yet, or whose batch failed.
import type { TxId } from '../../model/brand.js'
import type { Put } from '../../line/line.js'

interface LastStep {
  readonly durable: Promise<void>
  /** Readers see all that the transaction did already. */
  readonly visible: boolean
  /** Some of what it did was seen by readers and is not durable: it is done in memory, and not pending any more. */
  readonly seen: boolean
}

export class UndurableEnds {
  readonly #steps = new Map<TxId, LastStep>()
  /** The transactions of each batch that is not durable. */
  readonly #batches = new Map<Promise<void>, TxId[]>()

  /** The last step counts: what a failed batch took back is done again in it, or was visible and is taken along. */
  add(tx: TxId, durable: Promise<void>, put: Put): void {
    const last = this.#steps.get(tx)
    const visible = put === 'putVisible' && last?.visible !== false
    const seen = put === 'putVisible' || last?.seen === true
    this.#steps.set(tx, { durable, visible, seen })
    const batch = this.#batches.get(durable)
    if (batch !== undefined) {
      batch.push(tx)
      return
    }
    this.#batches.set(durable, [tx])
    durable.then(
      () => this.#forget(durable, () => true),
      // What was taken back is pending again, or never was, and that is known without this. What readers have seen is not
      // pending: the failure stays until the transaction was finished once more, and that is durable.
      () => this.#forget(durable, ({ seen }) => !seen),
    )
  }

  #forget(durable: Promise<void>, isOver: (step: LastStep) => boolean): void {
    for (const tx of this.#batches.get(durable) ?? []) {
      const step = this.#steps.get(tx)
      if (step?.durable === durable && isOver(step)) this.#steps.delete(tx)
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
