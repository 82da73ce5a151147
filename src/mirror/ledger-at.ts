// Clients of a ledger elsewhere, who do not trust it: a copy in a folder, a memory of checkpoints, a witness.
//
//   server, or any host of an export                                this side
//     GET /ledger/checkpoint  ------- openCheckpoint (verify/) --->  watch: consistent with the one in the file? then that is kept
//     GET /ledger/tile/...    ------- paths of hashes ------------>  export: tiles, bundles and blocks as files
//     GET /ledger/block/...                                          witness: consistent with the last one? then cosigned
//
// May import: model, runtime, verify.
import type { Checkpoint, Trust } from '../verify/checkpoint.js'
import type { ExportedLedger, ExportOptions } from './export-options.js'

/** How a ledger elsewhere is reached, and whose word is taken. */
export interface RemoteLedgerOptions extends Trust {
  /** Headers of a request for this address, such as a signature. */
  readonly headers?: (url: URL) => Readonly<Record<string, string>>
}

/** A ledger on a server, or an export of one on any web server. */
export interface RemoteLedger {
  /**
   * Remembers the last checkpoint in a file, and refuses a server that has rewritten the past.
   *
   * @example
   * const watch = ledgerAt('http://127.0.0.1:8000', { key: ledgerKey }).watch('last-checkpoint')
   * const size = await watch.check().then(({ size }) => size, () => 'unreachable') // in a program: without the second
   * console.log(size) // unreachable
   */
  watch(file: string): LedgerWatch
  /** Writes all of it to a folder that any web server can host. Goes on where an earlier call has ended. */
  export(folder: string, options?: ExportOptions): Promise<ExportedLedger>
}

/** Follows one ledger from checkpoint to checkpoint. */
export interface LedgerWatch {
  /**
   * Fetches the newest checkpoint and resolves to it when it is signed and when all blocks of the remembered one are
   * the beginning of it. Then that is the one to remember, durably. Rejects with LedgerRewritten if they are not.
   */
  check(): Promise<Checkpoint>
}

/**
 * A ledger of another server. The address is that of the server, or of a folder that was exported and is hosted somewhere.
 *
 * @example
 * const ledger = ledgerAt('http://127.0.0.1:8000', { key: ledgerKey })
 * console.log(typeof ledger.watch) // function
 */
export function ledgerAt(address: string, options: RemoteLedgerOptions): RemoteLedger {
  const source = async () => (await import('./remote-source.js')).remoteSource(address, options.headers)
  return {
    watch: (file) => ({
      check: async () => (await import('./watch.js')).checkAndRemember(await source(), file, options),
    }),
    export: async (folder, exportOptions) =>
      (await import('./export-ledger.js')).exportLedger(await source(), folder, options, exportOptions),
  }
}
