// The room on the disk that a commit may take, asked for before LMDB is told to write.
//
// LMDB never writes over a page that is in use: a change of a value needs a new page for its leaf, and new ones for what
// the leaf is reached by. Free pages of the file are used first; how many there are is not known here, so this is what a
// commit needs without any.
import { statSync, statfsSync } from 'node:fs'
import { join } from 'node:path'

/** Of LMDB's pages, as it makes them. */
const PAGE_BYTES = 4096
/** For branches, the list of free pages, and what others write meanwhile. */
const RESERVE_BYTES = 1024 * 1024
/** Pages that are split are half empty. */
const SPLIT_FACTOR = 2

export interface Commit {
  readonly changes: number
  /** Of keys and values. */
  readonly bytes: number
  /** What the index has now. */
  readonly fileBytes: number
}

export function neededBytes({ changes, bytes, fileBytes }: Commit): number {
  // Each change touches one leaf; there are no more of them than pages in the file, and those that are added.
  const leavesTouched = Math.min(changes, Math.ceil(fileBytes / PAGE_BYTES))
  return leavesTouched * PAGE_BYTES + SPLIT_FACTOR * bytes + RESERVE_BYTES
}

/** For a process without privileges. A file system that does not say how large it is has no end. */
export function bytesLeft(of: {
  readonly bavail: number
  readonly bsize: number
  readonly blocks: number
}): number {
  return of.blocks === 0 ? Infinity : of.bavail * of.bsize
}

/** What systems say of a disk that is full, before it is. */
export class NoRoom extends Error {
  override readonly name = 'NoRoom'
  readonly code = 'ENOSPC'
  readonly syscall = 'write'
}

/** Asks the disk on which the index in this folder is. @throws NoRoom */
export function assertRoom(path: string, commit: Omit<Commit, 'fileBytes'>): void {
  const fileBytes = statSync(join(path, 'data.mdb')).size
  const needed = neededBytes({ ...commit, fileBytes })
  const left = bytesLeft(statfsSync(path))
  if (left < needed) throw new NoRoom(diskFullMessage(path, left, needed))
}

export function diskFullMessage(path: string, leftBytes: number, neededBytesOfCommit: number): string {
  return `ENOSPC: the disk has ${megabytes(leftBytes)} left at ${path}, and a commit may need ${megabytes(neededBytesOfCommit)}`
}

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`
