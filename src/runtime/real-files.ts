// The real file layer, over node:fs.
import { close, constants, fdatasync, fstat, ftruncate, open, read, write } from 'node:fs'
import { mkdir, readdir, stat, unlink } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { platform } from 'node:process'
import { promisify } from 'node:util'
import { type FileHandle, type FileLayer, OutOfSpace } from './files.js'

const openFile = promisify(open)
const closeFile = promisify(close)
const syncData = promisify(fdatasync)
const fileStat = promisify(fstat)
const truncateFile = promisify(ftruncate)

/**
 * On Linux a file opened with O_DSYNC makes write and sync one system call and one hop through the thread pool. Elsewhere
 * the flag is missing or does not reach the disk, and fdatasync follows the write.
 */
const WRITES_ARE_SYNCED = platform === 'linux'

export function realFiles(): FileLayer {
  return {
    open: async (path, { create }) => {
      const flags = constants.O_RDWR | (create ? constants.O_CREAT : 0)
      const descriptor = await openFile(path, flags | (WRITES_ARE_SYNCED ? constants.O_DSYNC : 0))
      return new RealFile(path, descriptor)
    },
    list: async (folder) => {
      try {
        return await readdir(folder)
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return []
        throw error
      }
    },
    remove: unlink,
    makeFolder: (path) => makeFolder(resolve(path)),
    syncFolder: async (path) => {
      // Windows has no handle on a folder, and needs none: its file systems journal names themselves.
      if (platform === 'win32') return
      const descriptor = await openFile(path, constants.O_RDONLY)
      try {
        await syncData(descriptor)
      } finally {
        await closeFile(descriptor)
      }
    },
  }
}

/** Node's own way of doing it says ENOENT where the file system is read-only. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    if (await isFolder(path)) return
    const above = dirname(path)
    if (codeOf(error) !== 'ENOENT' || above === path) throw error
    await makeFolder(above)
    // Another process may do the same.
    await mkdir(path).catch(async (again: unknown) => {
      if (!(await isFolder(path))) throw again
    })
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

class RealFile implements FileHandle {
  readonly #path: string
  readonly #descriptor: number

  constructor(path: string, descriptor: number) {
    this.#path = path
    this.#descriptor = descriptor
  }

  async writeSynced(bytes: Uint8Array, position: number): Promise<void> {
    for (let done = 0; done < bytes.byteLength;) {
      done += await writeSome(this.#descriptor, bytes, done, position + done)
    }
    if (!WRITES_ARE_SYNCED) await syncData(this.#descriptor)
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    const bytes = Buffer.allocUnsafe(length)
    let done = 0
    while (done < length) {
      const count = await readSome(this.#descriptor, bytes, done, position + done)
      if (count === 0) break
      done += count
    }
    return bytes.subarray(0, done)
  }

  async reserve(position: number, length: number, pieceBytes: number): Promise<void> {
    // Through a descriptor of its own, so that the zeros need one sync and not one for each write.
    const descriptor = await openFile(this.#path, constants.O_RDWR)
    try {
      const zeros = Buffer.alloc(Math.min(length, pieceBytes))
      for (let done = 0; done < length;) {
        // Up to where the next piece begins, counted from the beginning of the file: as the system's cache has them.
        const piece = pieceBytes - ((position + done) % pieceBytes)
        const step = zeros.subarray(0, Math.min(piece, length - done))
        done += await writeSome(descriptor, step, 0, position + done)
      }
      await syncData(descriptor)
    } finally {
      await closeFile(descriptor)
    }
  }

  async truncateSynced(length: number): Promise<void> {
    await truncateFile(this.#descriptor, length)
    await syncData(this.#descriptor)
  }

  async length(): Promise<number> {
    return (await fileStat(this.#descriptor)).size
  }

  async close(): Promise<void> {
    await closeFile(this.#descriptor)
  }
}

function writeSome(descriptor: number, bytes: Uint8Array, from: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, from, bytes.byteLength - from, position, (error, count) => {
      if (error === null) resolve(count)
      else reject(isOutOfSpace(error) ? new OutOfSpace(error.message, { cause: error }) : error)
    })
  })
}

function readSome(descriptor: number, bytes: Uint8Array, from: number, position: number): Promise<number> {
  return new Promise((resolve, reject) => {
    read(descriptor, bytes, from, bytes.byteLength - from, position, (error, count) => {
      if (error === null) resolve(count)
      else reject(error)
    })
  })
}

const isOutOfSpace = (error: Error): boolean => ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(error) ?? '')

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
