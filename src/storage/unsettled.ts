// Transactions that have ended at this node in a step that is not durable yet, or whose batch failed.
import type { TxId } from '../model/brand.js'

interface LastStep {
  readonly durable: Promise<void>
  /** Readers see all of it already. */
  readonly visible: boolean
}

export class Unsettled {
  readonly #steps = new Map<TxId, LastStep>()

  /** The last step counts: what a failed batch took back is done again in it, or was visible and is taken along. */
  add(tx: TxId, durable: Promise<void>, put: 'put' | 'putVisible'): void {
    const visible = put === 'putVisible' && this.#steps.get(tx)?.visible !== false
    const last = { durable, visible }
    this.#steps.set(tx, last)
    const forget = (): void => {
      if (this.#steps.get(tx) === last) this.#steps.delete(tx)
    }
    // A failure stays until somebody finishes the transaction once more.
    durable.then(forget, () => undefined)
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
