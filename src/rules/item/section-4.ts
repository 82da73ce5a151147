// Section 4 of the paper, rule by rule: each can be left out, so that a test, a benchmark or a simulation can compare the
// store with and without it. Every combination is serializable; the rules only spare refusals and rounds. The numbers are the
// order in which the paper prints them, and what comments cite; README.md says where they are unsafe as printed.

export interface TransactionRules {
  /**
   * §4 rule 1, "Reads to individual items can always be performed": a plain read is answered at once from what is committed,
   * whatever is prepared on the item.
   */
  readonly readsPassPrepared: boolean
  /**
   * §4 rule 2, "Writes to individual items can be performed immediately and serialized before": a single write may go before a
   * prepared transaction whose condition and update still hold afterwards.
   */
  readonly writesBeforePrepared: boolean
  /**
   * §4 rule 3, "... or delayed and serialized after": a single write may go behind a prepared transaction: a blind one is
   * stamped later, others queue for a while.
   */
  readonly writesBehindPrepared: boolean
  /**
   * §4 rule 4, "Write transactions can be accepted even with an old timestamp": a blind put or delete with a timestamp below the
   * last write, if that was blind too, is accepted, and has no effect if it is still below.
   */
  readonly oldTimestamps: boolean
  /** §4 rule 5, "Multiple transactions that write the same item may be prepared at the same time". */
  readonly severalPrepared: boolean
  /** §4 rule 6, "Read transactions can be executed in a single round": at a timestamp. */
  readonly oneRoundReads: boolean
  /**
   * §4 rule 7, "Transactions that write multiple items in a single partition can be executed in a single round": those whose
   * items all live on one node, without prepare.
   */
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

/**
 * Of several coordinators, none of which knows what the others have acknowledged: a transaction that its client has sent after
 * the answer to a write must not be stamped before it and pass for overwritten.
 */
export const workerRules: TransactionRules = { ...allRules, oldTimestamps: false }

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
