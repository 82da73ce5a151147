// Exports and imports, whose code is loaded by the first request for one of them; or by a start that finds one which was cut off.
import { later } from './later-operations.js'
import type { LaterOperation } from './request/context.js'
import type { Transfers, TransfersParts } from './transfers/transfers.js'

/** Begins the names of records of those that are under way. */
const UNDER_WAY = 'transfer/running/'

export class LaterTransfers {
  readonly operations: readonly LaterOperation[]
  readonly #parts: TransfersParts
  #opened: Promise<Transfers> | undefined

  constructor(parts: TransfersParts) {
    this.#parts = parts
    this.operations = later(
      [
        'ExportTableToPointInTime',
        'DescribeExport',
        'ListExports',
        'ImportTable',
        'DescribeImport',
        'ListImports',
      ],
      async () => (await import('./transfers/transfer-operations.js')).transferOperations(() => this.#open()),
    )
  }

  /** At a start of the only owner: what the process before this one was at work on has failed. */
  async takeOver(): Promise<void> {
    if ((await this.#parts.home.readMeta(UNDER_WAY)).length > 0) await this.#open()
  }

  async idle(): Promise<void> {
    await (await this.#opened)?.idle()
  }

  async close(): Promise<void> {
    await (await this.#opened?.catch(() => undefined))?.close()
  }

  #open(): Promise<Transfers> {
    this.#opened ??= import('./transfers/transfers.js')
      .then(({ Transfers }) => Transfers.open(this.#parts))
      .catch((error: unknown) => {
        this.#opened = undefined
        throw error
      })
    return this.#opened
  }
}
