// Buckets: each folder under one root is a bucket, and its files are objects. Exports, imports and backups go through here, so
// that a key which a client sends never leads out of its bucket.
//
//   key "orders/2026/part-1.json.gz" --checkedKey--> segments --each a real folder, the last a real file--> opened, then asked
//                                                                                                   where it really is
//   write:  folders made --> ".seriatim-<random>" in the same folder --> bytes --> synced --> renamed to the object's name
//
// Refused: `..`, `.` and empty segments, symbolic links anywhere on the way, and whatever is neither a folder nor a plain file. An
// object appears whole or not at all; a program that was killed leaves a file whose name no listing shows.
//
// May import: model, runtime. Knows nothing of tables.

/** The buckets of a server. */
export interface Buckets {
  /** The bucket of that name; rejects with a BucketError if there is none. */
  bucket(name: string): Promise<Bucket>
}

export interface ObjectEntry {
  readonly key: string
  readonly bytes: number
}

export interface Bucket {
  readonly name: string
  /** Objects whose key begins so, in the order of their keys. Rejects if there are more, or if a link or device is among them. */
  list(prefix: string, objectsMax: number): Promise<readonly ObjectEntry[]>
  read(key: string): Promise<ObjectReader>
  write(key: string): Promise<ObjectWriter>
  /** One that is not there does no harm. */
  remove(key: string): Promise<void>
}

/** An object as it was when it was opened. */
export interface ObjectReader extends AsyncDisposable {
  readonly bytes: number
  /** Its bytes in order, so many at a time; the next ones are read when they are asked for. */
  chunks(chunkBytes?: number): AsyncGenerator<Buffer>
  close(): Promise<void>
}

/** An object that nobody sees before `publish`. */
export interface ObjectWriter extends AsyncDisposable {
  write(bytes: Uint8Array): Promise<void>
  /** Resolves when it stands under its key, durably. */
  publish(): Promise<void>
  /** Leaves nothing behind. After `publish` it does nothing. */
  close(): Promise<void>
}

export type BucketErrorCode = 'NoSuchBucket' | 'NoSuchKey' | 'InvalidKey' | 'AccessDenied' | 'TooManyObjects'

/** Why a bucket or an object cannot be used; the message is a sentence. */
export class BucketError extends Error {
  override readonly name = 'BucketError'
  readonly code: BucketErrorCode

  constructor(code: BucketErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export const bucketLimits = {
  keyBytesMax: 1024,
  /** Folders below each other in a bucket. */
  depthMax: 32,
  chunkBytes: 256 * 1024,
} as const

const BUCKET_NAME = /^[a-z0-9A-Z][a-z0-9A-Z._-]{0,253}[a-z0-9A-Z]$/
/** Begins the names of files that are being written. */
export const UNFINISHED = '.seriatim-'

/** Where backups are kept. It is no bucket of clients: an import of it would read tables that its key may not read. */
export const BACKUPS_BUCKET = 'seriatim-backups'

/** As S3 has them: no name that could be a path, and none that is kept for backups, however its letters are written. */
export const isBucketName = (name: string): boolean =>
  BUCKET_NAME.test(name) && !name.includes('..') && name.toLowerCase() !== BACKUPS_BUCKET

/** The segments of a key that may be opened; throws BucketError. */
export function checkedKey(key: string): readonly string[] {
  const refuse = (why: string): never => {
    throw new BucketError('InvalidKey', `The key ${JSON.stringify(key.slice(0, 200))} ${why}.`)
  }
  if (key === '' || Buffer.byteLength(key) > bucketLimits.keyBytesMax)
    return refuse(`is empty or longer than ${bucketLimits.keyBytesMax} bytes`)
  const segments = key.split('/')
  if (segments.length > bucketLimits.depthMax)
    return refuse(`is deeper than ${bucketLimits.depthMax} folders`)
  for (const segment of segments) {
    if (segment === '' || segment === '.' || segment === '..')
      return refuse(`has a part that is ${segment === '' ? 'empty' : `'${segment}'`}`)
    // oxlint-disable-next-line no-control-regex
    if (/[\u0000-\u001f\\]/.test(segment)) return refuse('has a backslash or a control character')
    if (Buffer.byteLength(segment) > 255) return refuse('has a part that is longer than 255 bytes')
    if (segment.startsWith(UNFINISHED)) return refuse(`has a part that begins with ${UNFINISHED}`)
  }
  return segments
}

/** The folder that a prefix names, as segments, and the beginning of the names in it. */
export function checkedPrefix(prefix: string): { readonly folder: readonly string[]; readonly rest: string } {
  const slash = prefix.lastIndexOf('/')
  const rest = prefix.slice(slash + 1)
  if (rest !== '') checkedKey(rest)
  return { folder: slash < 0 ? [] : checkedKey(prefix.slice(0, slash)), rest }
}
