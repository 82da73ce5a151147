// What can go wrong for readers of changes, as far as they could react differently.

/**
 * The changes after this position are not all kept any more, or the table's stream was disabled meanwhile. Read the table
 * itself, and go on from `now`, taken before that read.
 *
 * @example
 *   const longAgo = '100000000000000000000'
 *   try {
 *     for await (const change of store.changes('Orders', { from: longAgo })) console.log(change.keys)
 *   } catch (error) {
 *     if (!(error instanceof ChangesTrimmed)) throw error
 *     console.log('begin anew') // begin anew
 *   }
 */
export class ChangesTrimmed extends Error {
  override readonly name = 'ChangesTrimmed'
}

/**
 * The table has no stream, so its changes are not kept. The message says how to enable one.
 *
 * @example
 *   try {
 *     store.changes('Accounts')
 *   } catch (error) {
 *     console.log(error instanceof NoStream) // true
 *   }
 */
export class NoStream extends Error {
  override readonly name = 'NoStream'
}

/** How to enable one. */
export const noStream = (table: string): NoStream =>
  new NoStream(
    `The table ${table} has no stream, so its changes are not kept. Enable one with UpdateTable (or in CreateTable): ` +
      `StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' }.`,
  )
