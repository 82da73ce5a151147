// What can go wrong with a journal, as far as a caller could react differently.

/** A batch that had been durable is not readable any more. Nothing was changed; a person has to decide. */
export class JournalDamaged extends Error {
  override readonly name = 'JournalDamaged'
}

/** The batch was not written, and never will be: the journal was cut back. Others may follow. */
export class AppendFailed extends Error {
  override readonly name = 'AppendFailed'
}

/** Whether the batch is durable is not known before the next start. The journal takes no more. */
export class AppendUnsure extends Error {
  override readonly name = 'AppendUnsure'
}
