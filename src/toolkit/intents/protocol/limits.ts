// Every bound of the protocol, in one place, and how patient it is.
export const intentLimits = {
  /** Requests of one transaction that are under way at once: the SDK's client has 50 sockets. */
  parallelMax: 48,
  /** Keys of the participants that a header carries itself; more go into records of their own. */
  headerBytesMax: 4 * 1024,
  /** Text in one record: JSON of keys, of an image, or of a detached unit. */
  recordBytesMax: 300 * 1024,
  /** What an item needs beside its own attributes to be locked: an intent without its redo. */
  intentBytesMax: 512,
  /** An intent's redo stays in the item up to here, if the item has room for it. */
  itemBytesMax: 400 * 1024,
  /** Levels of lists and maps that a redo may add to, so that the intent around it does not exceed DynamoDB's 32. */
  redoDepthMax: 28,
  /** Attributes that one finishing UpdateItem names; more are finished by PutItem. */
  updateAttributesMax: 100,
  /** Sends of one request whose answers are lost. */
  sendsMax: 4,
  /** How long the answer to one request is waited for, unless told otherwise. */
  requestMs: 5_000,
  /** Rounds of making room on one item before a unit gives up on it. */
  roundsMax: 100,
  /** Headers whose last change is remembered. */
  watchedMax: 10_000,
  /** Writers that are known to be done. */
  doneMax: 10_000,
  batchGetMax: 100,
  transactMax: 100,
  /** Of a TransactWriteItems request; DynamoDB's is 4 MB, counted in ways of its own. */
  transactBytesMax: 3_500_000,
  /** Steps from a delete to the writer of what it deletes, to that writer's deletes, and so on. */
  helpDepthMax: 4,
} as const

/** How long others are waited for. All of it is measured on the clock of whoever waits. */
export interface IntentsPatience {
  /** An older transaction waits so long for a younger one before it cancels it. */
  readonly graceMs: number
  /** A younger transaction waits so long for an older one before it gives up. */
  readonly waitMs: number
  /** A transaction whose header has not changed for so long is taken for stalled. */
  readonly stalledMs: number
  /** The same for one that was detached or holds locks for its user. */
  readonly detachedMs: number
  /** Records of transactions that are done are kept so long: longer than any request can be delayed. */
  readonly keepMs: number
  /** The first pause between two looks at somebody else's header; each is twice as long, up to the longest. */
  readonly pollMs: number
  readonly pollMaxMs: number
  /** A commit that makes no progress for so long is given up. */
  readonly commitMs: number
  /** While a commit makes progress it says so to others, so often. */
  readonly beatMs: number
}

/** With what a caller has said: a transaction that others lose patience with sooner beats sooner. */
export function patienceOf(told: Partial<IntentsPatience>): Partial<IntentsPatience> {
  for (const [name, ms] of Object.entries(told))
    if (ms !== undefined && !(ms > 0)) throw new RangeError(`patience.${name} is a number above 0, not ${ms}`)
  const { stalledMs = defaultPatience.stalledMs } = told
  return { ...told, beatMs: Math.min(defaultPatience.beatMs, stalledMs / 3) }
}

export const commitLimits = {
  /** No transaction is decided later than so long after its commit began: far below `keepMs`. */
  totalMs: 600_000,
} as const

export const defaultPatience: IntentsPatience = {
  graceMs: 100,
  waitMs: 2_000,
  stalledMs: 10_000,
  detachedMs: 600_000,
  keepMs: 3_600_000,
  pollMs: 5,
  pollMaxMs: 100,
  commitMs: 30_000,
  beatMs: 3_000,
}
