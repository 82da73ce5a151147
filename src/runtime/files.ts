// The file layer under the journal: the few calls it needs, so that a test can tear, lose and flip what was written.

export interface FileHandle {
  /**
   * Writes all the bytes at that position and makes them, and the length of the file, survive a power cut. One call,
   * because a disk can do both in one step. Rejects with an `OutOfSpace` error only if the sync was never reached;
   * any other error leaves open what is on the disk. A rejected write may have written a part.
   */
  writeSynced(bytes: Uint8Array, position: number): Promise<void>
  /** Up to that many bytes; fewer at the end of the file. */
  read(position: number, length: number): Promise<Uint8Array>
  /**
   * Fills a part beyond the end with zeros, durably, so that later writes there need not allocate. Never called for a
   * part that is being written. In pieces of that many bytes: a system may keep what was written together in one piece of
   * its cache, and treat all of it as changed by each later write to it.
   */
  reserve(position: number, length: number, pieceBytes: number): Promise<void>
  /** Makes the length of the file survive a power cut. */
  truncateSynced(length: number): Promise<void>
  length(): Promise<number>
  close(): Promise<void>
}

export interface FileLayer {
  /** Opens for reading and writing; creates the file if `create` is set. */
  open(path: string, options: { readonly create: boolean }): Promise<FileHandle>
  /** Names in the folder, in no particular order; none if there is no such folder. */
  list(folder: string): Promise<readonly string[]>
  remove(path: string): Promise<void>
  /** With the folders above it, as far as they do not exist. */
  makeFolder(path: string): Promise<void>
  /** Makes the names in the folder (files created, removed) survive a power cut. */
  syncFolder(path: string): Promise<void>
}

/** No room was left for a write: nothing was synced, and the file can be cut back to what it was. */
export class OutOfSpace extends Error {
  override readonly name = 'OutOfSpace'
}
