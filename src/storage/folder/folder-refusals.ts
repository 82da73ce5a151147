// Why a data folder is refused: a sentence each, with the path and what to do.
import { dirname, resolve } from 'node:path'
import type { Holder } from '../../runtime/process-lock.js'
import { FolderRefused } from '../../line/errors.js'

const NAMES_LISTED_MAX = 3

export function heldBy(path: string, { pid, host, isElsewhere }: Holder): FolderRefused {
  const where = `${isElsewhere === true ? ' in another container' : ''}${host === undefined ? '' : ` on host ${host}`}`
  const who = pid === undefined ? 'another process' : `process ${pid}${where}`
  return new FolderRefused(
    `The data folder ${path} is in use by ${who}. Stop that process, or use another folder.`,
  )
}

export function withoutLocks(path: string, why: string): FolderRefused {
  return new FolderRefused(
    `The data folder ${path} cannot be locked: ${why}. Without a lock two processes could own it. Use a folder on a ` +
      `local disk, or mount the file system with locks.`,
  )
}

export function notOurs(path: string, names: readonly string[]): FolderRefused {
  const listed = names.slice(0, NAMES_LISTED_MAX).join(', ')
  const more = names.length > NAMES_LISTED_MAX ? ` and ${names.length - NAMES_LISTED_MAX} more` : ''
  return new FolderRefused(
    `The folder ${path} is not a data folder: it holds ${listed}${more}, and no seriatim.json. Nothing was written into ` +
      `it. Use an empty folder, or one that does not exist yet.`,
  )
}

export function withoutFormat(path: string, part: string): FolderRefused {
  return new FolderRefused(
    `The data folder ${path} has ${part}, but its seriatim.json is missing. Put that file back, or restore the data ` +
      `folder from a backup.`,
  )
}

/** What a system call said about the folder, or about a file in it. */
export async function systemRefusal(
  path: string,
  error: unknown,
  isFile: (path: string) => Promise<boolean>,
): Promise<FolderRefused> {
  const { code, message } = error as NodeJS.ErrnoException
  const sentence = await sentenceFor(code, path, isFile)
  return new FolderRefused(sentence ?? `The data folder ${path} cannot be used: ${message}.`, {
    cause: error,
  })
}

async function sentenceFor(
  code: string | undefined,
  path: string,
  isFile: (path: string) => Promise<boolean>,
): Promise<string | undefined> {
  switch (code) {
    case 'EROFS':
      return `The data folder ${path} is on a read-only file system. Mount it for writing, or use another folder.`
    case 'EACCES':
    case 'EPERM':
      return (
        `The data folder ${path} cannot be read and written by this user (${code}). Give this user access to it, or use ` +
        `another folder.`
      )
    case 'ENOTDIR':
    case 'EEXIST':
      for (let above = resolve(path); ; above = dirname(above)) {
        if (await isFile(above))
          return `The data folder ${path} cannot be made: ${above} is a file. Name a folder instead.`
        if (above === dirname(above)) return undefined
      }
    case 'ENOSPC':
    case 'EDQUOT':
      return `There is no room for the data folder ${path} (${code}). Make room, or use another folder.`
    case undefined:
    default:
      return undefined
  }
}
