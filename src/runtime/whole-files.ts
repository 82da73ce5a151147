// A folder of files that are written once and never changed: a name that exists is a file that is whole.
//
//   create --> NAME.draft: append, append ... each synced --> finish: renamed, the folder synced --> NAME
//                                                        \--> abandon, or the process ends: NAME.draft, removed by `sweep`
//
// In a folder that several processes share, the names of drafts say whose they are, and each process sweeps its own only.
import { constants } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileLayer } from './files.js'
import { realFiles } from './real-files.js'

/** A file that is being written; it has no name yet. */
export interface DraftFile {
  append(bytes: Uint8Array): Promise<void>
  /** Durable, and listed, once it resolves. */
  finish(): Promise<void>
  /** Nothing stays of it. */
  abandon(): Promise<void>
}

export interface WholeFile {
  readonly length: number
  /** Up to that many bytes; fewer at the end of the file. */
  read(position: number, length: number): Promise<Uint8Array>
  close(): Promise<void>
}

export interface WholeFiles {
  /** Those that are whole; none if there is no folder. */
  list(): Promise<readonly string[]>
  create(name: string): Promise<DraftFile>
  open(name: string): Promise<WholeFile>
  /** One that is not there does no harm. */
  remove(name: string): Promise<void>
  /** Gives a whole file another name, in one step. */
  rename(name: string, next: string): Promise<void>
  /** Removes what an earlier process has left unfinished. */
  sweep(): Promise<void>
}

/** What such a folder needs of a file system. */
export interface WholeFileLayer extends Pick<
  FileLayer,
  'open' | 'list' | 'remove' | 'makeFolder' | 'syncFolder'
> {
  /** In one step. */
  rename(path: string, next: string): Promise<void>
  /** For reading: never another file that a link leads to, nor a pipe, which would wait for its writer. */
  openWhole(path: string): Promise<WholeFile>
}

const DRAFT = '.draft'
/** No slashes, no dots at the beginning: names are ours, and stay within the folder. */
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}$/

function checked(name: string): string {
  if (!NAME.test(name) || name.endsWith(DRAFT)) throw new RangeError(`not a name of a file: ${name}`)
  return name
}

/** In a folder of the disk, which is created with the first file. `owner`: letters and digits, where others write into it, too. */
export const wholeFilesIn = (folder: string, owner?: string): WholeFiles =>
  wholeFilesOver(realLayer(), folder, owner)

/** The same on another file system. */
export function wholeFilesOver(files: WholeFileLayer, folder: string, owner?: string): WholeFiles {
  const drafts = new Set<string>()
  const ending = owner === undefined ? DRAFT : `.${owner}${DRAFT}`
  const removeIfThere = (path: string): Promise<void> => files.remove(path).catch(ifThere)
  return {
    list: async () => (await files.list(folder)).filter((name) => NAME.test(name) && !name.endsWith(DRAFT)),
    create: async (name) => {
      const draft = `${checked(name)}${ending}`
      await files.makeFolder(folder)
      await removeIfThere(join(folder, draft))
      const handle = await files.open(join(folder, draft), { create: true })
      drafts.add(draft)
      let length = 0
      let isOpen = true
      const close = async (): Promise<void> => {
        drafts.delete(draft)
        if (isOpen) await handle.close()
        isOpen = false
      }
      return {
        append: async (bytes) => {
          await handle.writeSynced(bytes, length)
          length += bytes.byteLength
        },
        finish: async () => {
          await close()
          await files.rename(join(folder, draft), join(folder, name))
          await files.syncFolder(folder).catch(async (error: unknown) => {
            // Told as not made: it must not be there after the next start.
            await removeIfThere(join(folder, name))
            throw error
          })
        },
        abandon: async () => {
          await close()
          await removeIfThere(join(folder, draft))
        },
      }
    },
    open: (name) => files.openWhole(join(folder, checked(name))),
    remove: async (name) => {
      await removeIfThere(join(folder, checked(name)))
      await files.syncFolder(folder).catch(ifThere)
    },
    rename: async (name, next) => {
      await files.rename(join(folder, checked(name)), join(folder, checked(next)))
      await files.syncFolder(folder)
    },
    sweep: async () => {
      for (const name of await files.list(folder))
        if (name.endsWith(ending) && !drafts.has(name)) await removeIfThere(join(folder, name))
    },
  }
}

function ifThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
}

const realLayer = (): WholeFileLayer => ({
  ...realFiles(),
  rename,
  openWhole: async (path) => {
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
    const handle = await open(path, flags)
    try {
      const found = await handle.stat()
      if (!found.isFile()) throw new Error(`${path} is not a plain file`)
      return {
        length: found.size,
        read: async (position, length) => {
          const bytes = Buffer.allocUnsafe(length)
          let done = 0
          while (done < length) {
            const { bytesRead } = await handle.read(bytes, done, length - done, position + done)
            if (bytesRead === 0) break
            done += bytesRead
          }
          return bytes.subarray(0, done)
        },
        close: () => handle.close(),
      }
    } catch (error) {
      await handle.close()
      throw error
    }
  },
})

/** In memory, for a store that keeps nothing. */
export function wholeFilesInMemory(): WholeFiles {
  const kept = new Map<string, Buffer>()
  return {
    list: () => Promise.resolve([...kept.keys()]),
    create: (name) => {
      const chunks: Uint8Array[] = []
      checked(name)
      return Promise.resolve({
        append: (bytes) => {
          chunks.push(Buffer.from(bytes))
          return Promise.resolve()
        },
        finish: () => {
          kept.set(name, Buffer.concat(chunks))
          return Promise.resolve()
        },
        abandon: () => Promise.resolve(),
      })
    },
    open: (name) => {
      const bytes = kept.get(name)
      if (bytes === undefined) return Promise.reject(new Error(`there is no file ${name}`))
      return Promise.resolve({
        length: bytes.length,
        read: (position, length) => Promise.resolve(bytes.subarray(position, position + length)),
        close: () => Promise.resolve(),
      })
    },
    remove: (name) => {
      kept.delete(name)
      return Promise.resolve()
    },
    rename: (name, next) => {
      const bytes = kept.get(name)
      if (bytes === undefined) return Promise.reject(new Error(`there is no file ${name}`))
      kept.delete(name)
      kept.set(checked(next), bytes)
      return Promise.resolve()
    },
    sweep: () => Promise.resolve(),
  }
}
