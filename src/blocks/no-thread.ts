/** The thread that makes blocks cannot be had, or has ended: its work is done in the thread of the store. */
export class NoThread extends Error {
  override readonly name = 'NoThread'
}
