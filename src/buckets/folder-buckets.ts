// Buckets in a folder of this machine, over node:fs. Nothing is believed of a path before the file is open: what the system says
// of the open file must be the path that was meant.
import { messageOf } from '../model/message-of.js'
import { constants } from 'node:fs'
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  unlink,
} from 'node:fs/promises'
import { join } from 'node:path'
import { platform } from 'node:process'
import type { Runtime } from '../runtime/runtime.js'
import {
  type Bucket,
  BucketError,
  bucketLimits,
  type Buckets,
  checkedKey,
  checkedPrefix,
  isBucketName,
  type ObjectEntry,
  type ObjectReader,
  type ObjectWriter,
  UNFINISHED,
} from './buckets.js'

export interface FolderBucketsOptions {
  /** Each folder in it is a bucket. It must exist. */
  readonly root: string
  readonly randomBytes: Runtime['randomBytes']
}

/** @throws if the root is no folder */
export async function openFolderBuckets({ root, randomBytes }: FolderBucketsOptions): Promise<Buckets> {
  const real = await realpath(root).catch((error: unknown) => {
    throw new Error(`the folder of buckets ${root} cannot be used: ${messageOf(error)}`, { cause: error })
  })
  if (!(await lstat(real)).isDirectory())
    throw new Error(`${root} is not a folder: buckets are folders in it`)
  return {
    bucket: async (name) => {
      const path = join(real, name)
      const kind = isBucketName(name) ? await kindOf(path) : 'absent'
      if (kind === 'folder') return new FolderBucket(name, path, randomBytes)
      throw new BucketError(
        'NoSuchBucket',
        kind === 'absent'
          ? `The specified bucket does not exist: ${name}.`
          : `The specified bucket does not exist: ${name} is no folder but a link or a file.`,
      )
    },
  }
}

/** A folder as if it were a bucket, for who owns it: the command line. */
export async function openFolderAsBucket({ root, randomBytes }: FolderBucketsOptions): Promise<Bucket> {
  const real = await realpath(root)
  if ((await kindOf(real)) !== 'folder') throw new Error(`${root} is not a folder`)
  return new FolderBucket(root, real, randomBytes)
}

type Kind = 'folder' | 'file' | 'foreign' | 'absent'

async function kindOf(path: string): Promise<Kind> {
  const found = await lstat(path).catch((error: unknown) => {
    if (isAbsence(error)) return undefined
    throw error
  })
  if (found === undefined) return 'absent'
  return found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'foreign'
}

class FolderBucket implements Bucket {
  readonly name: string
  readonly #root: string
  readonly #randomBytes: Runtime['randomBytes']

  constructor(name: string, root: string, randomBytes: Runtime['randomBytes']) {
    this.name = name
    this.#root = root
    this.#randomBytes = randomBytes
  }

  async list(prefix: string, objectsMax: number): Promise<readonly ObjectEntry[]> {
    const { folder, rest } = checkedPrefix(prefix)
    if (!(await this.#hasFolder(folder))) return []
    const found: ObjectEntry[] = []
    await this.#collect(folder, rest, { found, objectsMax })
    return found.toSorted((one, other) => (one.key < other.key ? -1 : 1))
  }

  async read(key: string): Promise<ObjectReader> {
    const segments = checkedKey(key)
    if (!(await this.#hasFolder(segments.slice(0, -1)))) throw noSuchKey(key)
    const path = join(this.#root, ...segments)
    // A pipe would wait for its writer.
    const flags = constants.O_RDONLY | NOT_BY_LINK | (constants.O_NONBLOCK ?? 0)
    const file = await open(path, flags).catch((error: unknown) => {
      throw isAbsence(error) ? noSuchKey(key) : denied(key, error)
    })
    try {
      const { size } = await this.#checked(file, path, key)
      return new FolderReader(file, size)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async write(key: string): Promise<ObjectWriter> {
    const segments = checkedKey(key)
    const folder = await this.#makeFolder(segments.slice(0, -1), key)
    const target = join(this.#root, ...segments)
    const kind = await kindOf(target)
    if (kind === 'folder' || kind === 'foreign') throw denied(key)
    const path = join(folder, UNFINISHED + Buffer.from(this.#randomBytes(12)).toString('hex'))
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NOT_BY_LINK
    const file = await open(path, flags, 0o644).catch((error: unknown) => {
      throw denied(key, error)
    })
    const writer = new FolderWriter({ file, path, target, folder })
    try {
      await this.#checked(file, path, key)
      return writer
    } catch (error) {
      await writer.close()
      throw error
    }
  }

  async remove(key: string): Promise<void> {
    const segments = checkedKey(key)
    if (!(await this.#hasFolder(segments.slice(0, -1)))) return
    const path = join(this.#root, ...segments)
    const kind = await kindOf(path)
    if (kind === 'absent') return
    if (kind !== 'file') throw denied(key)
    await unlink(path)
  }

  /** Whether every one of these is a real folder; a link among them is refused. */
  async #hasFolder(segments: readonly string[]): Promise<boolean> {
    for (let count = 1; count <= segments.length; count++) {
      const kind = await kindOf(join(this.#root, ...segments.slice(0, count)))
      if (kind === 'absent' || kind === 'file') return false
      if (kind === 'foreign') throw denied(segments.slice(0, count).join('/'))
    }
    return true
  }

  async #makeFolder(segments: readonly string[], key: string): Promise<string> {
    let path = this.#root
    for (const segment of segments) {
      const above = path
      path = join(path, segment)
      const isNew = await mkdir(path).then(
        () => true,
        (error: unknown) => {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw denied(key, error)
          return false
        },
      )
      if (isNew) await syncFolder(above)
      if ((await kindOf(path)) !== 'folder') throw denied(key)
    }
    return path
  }

  async #collect(
    folder: readonly string[],
    rest: string,
    into: { readonly found: ObjectEntry[]; readonly objectsMax: number },
  ): Promise<void> {
    if (folder.length >= bucketLimits.depthMax) throw denied(folder.join('/'))
    const here = join(this.#root, ...folder)
    for (const name of await readdir(here)) {
      if (!name.startsWith(rest) || name.startsWith(UNFINISHED)) continue
      const key = [...folder, name].join('/')
      const found = await lstat(join(here, name)).catch(() => undefined)
      // Removed meanwhile.
      if (found === undefined) continue
      if (found.isDirectory()) await this.#collect([...folder, name], '', into)
      else if (!found.isFile()) throw denied(key)
      else if (into.found.length >= into.objectsMax)
        throw new BucketError('TooManyObjects', `There are more than ${into.objectsMax} objects.`)
      else into.found.push({ key, bytes: found.size })
    }
  }

  /** The open file is a plain one, and stands where it was meant to. */
  async #checked(file: FileHandle, path: string, key: string): Promise<{ readonly size: number }> {
    const opened = await file.stat()
    if (!opened.isFile()) throw denied(key)
    const where = platform === 'linux' ? await readlink(`/proc/self/fd/${file.fd}`) : await realpath(path)
    if (where !== path) throw denied(key)
    if (platform !== 'linux') {
      const there = await lstat(path)
      if (there.ino !== opened.ino || there.dev !== opened.dev) throw denied(key)
    }
    return opened
  }
}

class FolderReader implements ObjectReader {
  readonly bytes: number
  readonly #file: FileHandle

  constructor(file: FileHandle, bytes: number) {
    this.#file = file
    this.bytes = bytes
  }

  async *chunks(chunkBytes: number = bucketLimits.chunkBytes): AsyncGenerator<Buffer> {
    for (let at = 0; at < this.bytes;) {
      const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, this.bytes - at))
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, at)
      // It was cut while it is read.
      if (bytesRead === 0) return
      at += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

interface WriterParts {
  readonly file: FileHandle
  readonly path: string
  readonly target: string
  readonly folder: string
}

class FolderWriter implements ObjectWriter {
  readonly #parts: WriterParts
  #ended = false

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const { bytesWritten } = await this.#parts.file.write(bytes, at, bytes.length - at)
      at += bytesWritten
    }
  }

  async publish(): Promise<void> {
    const { file, path, target, folder } = this.#parts
    await file.sync()
    await file.close()
    this.#ended = true
    await rename(path, target).catch(async (error: unknown) => {
      await unlink(path).catch(() => undefined)
      throw error
    })
    await syncFolder(folder)
  }

  async close(): Promise<void> {
    if (this.#ended) return
    this.#ended = true
    await this.#parts.file.close()
    await unlink(this.#parts.path).catch(() => undefined)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** The name is durable with its folder. Windows has no handle on a folder, and needs none. */
async function syncFolder(path: string): Promise<void> {
  if (platform === 'win32') return
  const folder = await open(path, constants.O_RDONLY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

const NOT_BY_LINK = constants.O_NOFOLLOW ?? 0

const isAbsence = (error: unknown): boolean =>
  ['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')

const noSuchKey = (key: string): BucketError =>
  new BucketError('NoSuchKey', `There is no object ${JSON.stringify(key)}.`)

const denied = (key: string, cause?: unknown): BucketError =>
  new BucketError(
    'AccessDenied',
    cause === undefined
      ? `${JSON.stringify(key)} is, or leads through, something that is neither a folder nor a plain file of the bucket.`
      : `${JSON.stringify(key)} cannot be opened: ${messageOf(cause)}.`,
    { cause },
  )
