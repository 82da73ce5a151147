// The file layer under the journal: the few calls it needs, so that a test can tear, lose and flip what was written.

export interface FileHandle {
  /** Writes all the bytes at that position, or rejects; a rejected write may have written a part. */
  write(bytes: Uint8Array, position: number): Promise<void>
  read(position: number, length: number): Promise<Uint8Array>
  /** Makes the bytes written so far, and the length of the file, survive a power cut. */
  sync(): Promise<void>
  truncate(length: number): Promise<void>
  length(): Promise<number>
  close(): Promise<void>
}

export interface FileLayer {
  /** Opens for reading and writing; creates the file if `create` is set. */
  open(path: string, options: { readonly create: boolean }): Promise<FileHandle>
  list(folder: string): Promise<readonly string[]>
  remove(path: string): Promise<void>
  makeFolder(path: string): Promise<void>
  /** Makes the names in the folder (files created, renamed, removed) survive a power cut. */
  syncFolder(path: string): Promise<void>
}
