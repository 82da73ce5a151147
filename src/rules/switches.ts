// Section 4 of the paper, rule by rule: each can be left out, so that a test, a benchmark or a simulation can compare the
// store with and without it. Every combination is serializable; the rules only spare refusals and rounds.

export interface TransactionRules {
  /** A plain read is answered at once from what is committed, whatever is prepared on the item. */
  readonly readsPassPrepared: boolean
  /** A single write may go before a prepared transaction whose condition and update still hold afterwards. */
  readonly writesBeforePrepared: boolean
  /** A single write may go behind a prepared transaction: a blind one is stamped later, others queue for a while. */
  readonly writesBehindPrepared: boolean
  /** A blind put or delete with a timestamp below the last write is accepted, and has no effect if it is still below. */
  readonly oldTimestamps: boolean
  /** An item may have several prepared transactions at once. */
  readonly severalPrepared: boolean
  /** Read transactions in one round, at a timestamp. */
  readonly oneRoundReads: boolean
  /** Write transactions whose items all live on one node in one round, without prepare. */
  readonly oneRoundWrites: boolean
}

export const allRules: TransactionRules = {
  readsPassPrepared: true,
  writesBeforePrepared: true,
  writesBehindPrepared: true,
  oldTimestamps: true,
  severalPrepared: true,
  oneRoundReads: true,
  oneRoundWrites: true,
}

/** The protocol of §3 alone. */
export const noRules: TransactionRules = {
  readsPassPrepared: false,
  writesBeforePrepared: false,
  writesBehindPrepared: false,
  oldTimestamps: false,
  severalPrepared: false,
  oneRoundReads: false,
  oneRoundWrites: false,
}
