// What can go wrong with a node, as far as a caller could react differently.

/** Nothing of the write was kept, and nothing will be; the caller may try again. */
export class WriteFailed extends Error {
  override readonly name = 'WriteFailed'
}

/** The write may or may not be durable: that is known after the next start. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown'
}

/** What the request rests upon was decided in an earlier run of the journal, and may be lost. Nothing was done. */
export class RunOver extends Error {
  override readonly name = 'RunOver'

  constructor() {
    super('The journal has failed or was opened anew since this was decided.')
  }
}

/** The data folder cannot be used as it is; the message says what to do. */
export class FolderRefused extends Error {
  override readonly name = 'FolderRefused'
}
