// A disk in memory that does what disks do: it loses what was not synced, tears it at any byte, keeps its pages in any
// order, flips bits, runs full and fails.
//
//   seen   what the process reads back (the page cache)
//   safe   what a power cut leaves for certain (synced)
import { type FileHandle, type FileLayer, OutOfSpace } from '../../src/runtime/files.js'

export type Step = 'write' | 'sync' | 'truncate' | 'open' | 'list' | 'remove' | 'syncFolder' | 'reserve'

/** Called before each step; what it throws or rejects with is what the step fails with. */
export type Fault = (step: Step, path: string) => void | Promise<void>

interface FileState {
  seen: Buffer
  safe: Buffer
}

const PAGE_BYTES = 512

export class FaultyDisk implements FileLayer {
  /** Names as the process sees them, and as a power cut leaves them. */
  readonly #seen = new Map<string, FileState>()
  #safe = new Map<string, FileState>()
  fault: Fault = () => undefined
  /** How many bytes of the next failing write reach the file. */
  partialBytes = 0
  /** Counts the steps, so that a test can cut the power at each. */
  steps = 0

  async #step(step: Step, path: string): Promise<void> {
    this.steps++
    await this.fault(step, path)
  }

  async open(path: string, { create }: { readonly create: boolean }): Promise<FileHandle> {
    await this.#step('open', path)
    let file = this.#seen.get(path)
    if (file === undefined) {
      if (!create) throw new Error(`ENOENT: ${path}`)
      file = { seen: Buffer.alloc(0), safe: Buffer.alloc(0) }
      this.#seen.set(path, file)
    }
    return this.#handle(path, file)
  }

  async list(folder: string): Promise<readonly string[]> {
    await this.#step('list', folder)
    const prefix = `${folder}/`
    return [...this.#seen.keys()]
      .filter((path) => path.startsWith(prefix))
      .map((path) => path.slice(prefix.length))
  }

  async remove(path: string): Promise<void> {
    await this.#step('remove', path)
    this.#seen.delete(path)
  }

  makeFolder(): Promise<void> {
    return Promise.resolve()
  }

  async syncFolder(path: string): Promise<void> {
    await this.#step('syncFolder', path)
    const within = (file: string): boolean => file.slice(0, file.lastIndexOf('/')) === path
    this.#safe = new Map([
      ...[...this.#safe].filter(([file]) => !within(file)),
      ...[...this.#seen].filter(([file]) => within(file)),
    ])
  }

  /** The disk after a power cut: `unsynced` says what comes back of what was not synced. */
  afterPowerCut(unsynced: (safe: Buffer, seen: Buffer) => Buffer = (safe) => safe): FaultyDisk {
    const disk = new FaultyDisk()
    for (const [path, file] of this.#safe) disk.place(path, unsynced(file.safe, file.seen))
    return disk
  }

  copy(): FaultyDisk {
    return this.afterPowerCut((_, seen) => seen)
  }

  /** The same files in another folder. */
  moved(from: string, to: string): FaultyDisk {
    const disk = new FaultyDisk()
    for (const [path, file] of this.#seen) disk.place(path.replace(from, to), file.seen)
    return disk
  }

  get paths(): string[] {
    return [...this.#seen.keys()].toSorted()
  }

  bytes(path: string): Buffer {
    return Buffer.from(this.#seen.get(path)?.seen ?? [])
  }

  /** Puts a file there as if it had always been. */
  place(path: string, bytes: Buffer): void {
    const file = { seen: Buffer.from(bytes), safe: Buffer.from(bytes) }
    this.#seen.set(path, file)
    this.#safe.set(path, file)
  }

  #handle(path: string, file: FileState): FileHandle {
    return {
      writeSynced: async (bytes, position) => {
        const copy = Buffer.from(bytes)
        try {
          await this.#step('write', path)
        } catch (error) {
          file.seen = written(file.seen, copy.subarray(0, this.partialBytes), position)
          throw error
        }
        file.seen = written(file.seen, copy, position)
        await this.#step('sync', path)
        file.safe = file.seen
      },
      read: (position, length) =>
        Promise.resolve(Buffer.from(file.seen.subarray(position, position + length))),
      reserve: async (position, length) => {
        await this.#step('reserve', path)
        file.seen = written(file.seen, Buffer.alloc(length), position)
        file.safe = written(file.safe, Buffer.alloc(length), position)
      },
      truncateSynced: async (length) => {
        await this.#step('truncate', path)
        file.seen = Buffer.from(file.seen.subarray(0, length))
        await this.#step('sync', path)
        file.safe = file.seen
      },
      length: () => Promise.resolve(file.seen.length),
      close: () => Promise.resolve(),
    }
  }
}

/** Of what was not synced, only a prefix comes back. */
export const tornAt =
  (byte: number) =>
  (safe: Buffer, seen: Buffer): Buffer =>
    safe.equals(seen) ? safe : Buffer.concat([safe, seen.subarray(safe.length, safe.length + byte)])

/** Of the pages that differ, those that `keeps` says come back; the others are as they were, or zeros. */
export const somePages =
  (keeps: (page: number) => boolean) =>
  (safe: Buffer, seen: Buffer): Buffer => {
    const bytes = Buffer.alloc(seen.length)
    safe.copy(bytes)
    for (let at = 0, page = 0; at < seen.length; at += PAGE_BYTES, page++) {
      if (keeps(page)) seen.copy(bytes, at, at, at + PAGE_BYTES)
    }
    return bytes
  }

export const outOfSpace = (): OutOfSpace => new OutOfSpace('ENOSPC: no space left on device')
export const ioError = (): Error => Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })

function written(file: Buffer, bytes: Buffer, position: number): Buffer {
  const result = Buffer.alloc(Math.max(file.length, position + bytes.length))
  file.copy(result)
  bytes.copy(result, position)
  return result
}
