// What can go wrong with a node, as far as a caller could react differently.

/** Nothing of the write was kept, and nothing will be; the caller may try again. */
export class WriteFailed extends Error {
  override readonly name = 'WriteFailed'
}

/** The write may or may not be durable: that is known after the next start. */
export class DurabilityUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

/** A transaction is pending on the item, and plain reads do not pass it (§4 rule 1 left out). */
export class ItemPending extends Error {
  override readonly name = 'ItemPending'

  constructor() {
    super('A transaction is pending on the item.')
  }
}

/** The table was deleted since the request looked it up. Nothing was done. */
export class TableGone extends Error {
  override readonly name = 'TableGone'

  constructor() {
    super('The table is no more.')
  }
}

/** What the request rests upon was decided in an earlier run of the journal, and may be lost. Nothing was done. */
export class RunOver extends Error {
  override readonly name = 'RunOver'

  constructor() {
    super('The journal has failed or was opened anew since this was decided.')
  }
}

/**
 * The data folder cannot be used as it is: another process has it open, a part is missing, or it is not a data folder.
 * Nothing was changed, and the message says what to do.
 *
 * @example
 *   await using first = await open({ path })
 *   const error: unknown = await open({ path }).catch((caught: unknown) => caught)
 *   if (error instanceof FolderRefused) console.log('in use by another process or store')
 *   console.log(error instanceof FolderRefused) // true
 */
export class FolderRefused extends Error {
  override readonly name = 'FolderRefused'
}

/**
 * A dump cannot be read or written: the file is not one, was damaged, is of a format or a number of nodes that does not fit, or
 * the system refuses it. The message says which.
 *
 * @example
 *   const error: unknown = await open({ memory: true, from: 'missing.dump' }).catch((caught: unknown) => caught)
 *   console.log(error instanceof DumpRefused) // true
 */
export class DumpRefused extends Error {
  override readonly name = 'DumpRefused'
}
