/** One thing that is wrong with an exported ledger, and where. */
export interface LedgerProblem {
  /** The file, from the root of the export. */
  readonly path: string
  /** The number of the block. */
  readonly block?: number
  /** Which of its entries, from 0. */
  readonly entry?: number
  /** What is wrong. */
  readonly message: string
}

/**
 * What was to be verified is not true, or cannot be read. The message says what and where.
 *
 * @example
 * const wrong = await verifyProof('not a proof', { key: ledgerKey }).catch((error: unknown) => error)
 * console.log(wrong instanceof VerificationError) // true
 */
export class VerificationError extends Error {
  /** How errors of this kind are told apart. */
  override readonly name = 'VerificationError'
  /** Of an exported ledger: everything that was found, up to a bound. Else empty. */
  readonly problems: readonly LedgerProblem[]

  /** With what was found. */
  constructor(message: string, problems: readonly LedgerProblem[] = []) {
    super(message)
    this.problems = problems
  }
}
