// The objects of an import, in the order in which they are read, and the records in them.
//
//   prefix --list--> no manifest: all objects, by their keys
//                    manifests:   the files of the newest full export, then those of the incremental ones that follow it
import { createHash } from 'node:crypto'
import { type Bucket, BucketError, type ObjectReader } from '../buckets/buckets.js'
import type { PlainItems } from '../model/plain-item.js'
import { inflated, NotInflatable } from './inflate.js'
import { exportChain, isSummaryKey, ManifestError, readExport } from './manifest.js'
import { sourceBatches } from './records.js'
import {
  type Compression,
  type CsvOptions,
  type InputFormat,
  type PlainPut,
  type SourceBatch,
  transferLimits,
} from './transfer.js'

export interface SourceObject {
  readonly key: string
  readonly bytes: number
  readonly format: InputFormat
  readonly compression: Compression
  /** As its manifest says, in base64. */
  readonly md5?: string
}

export async function sourceObjects(
  bucket: Bucket,
  prefix: string,
  { format, compression }: Pick<SourceObject, 'format' | 'compression'>,
): Promise<readonly SourceObject[]> {
  const found = await bucket.list(prefix, transferLimits.objectsMax)
  const summaries = found.filter(({ key }) => isSummaryKey(key))
  if (summaries.length === 0) return found.map(({ key, bytes }) => ({ key, bytes, format, compression }))
  const exports = []
  for (const { key } of summaries) exports.push(await readExport(bucket, key))
  const objects: SourceObject[] = []
  for (const one of exportChain(exports))
    for (const { dataFileS3Key: key, md5Checksum: md5 } of one.files) {
      const bytes = found.find((each) => each.key === key)?.bytes ?? (await bytesOf(bucket, key))
      objects.push({ key, bytes, format: one.format, compression: 'GZIP', md5 })
    }
  return objects
}

async function bytesOf(bucket: Bucket, key: string): Promise<number> {
  try {
    await using reader = await bucket.read(key)
    return reader.bytes
  } catch (error) {
    if (error instanceof BucketError && error.code === 'NoSuchKey')
      throw new ManifestError(`a manifest names ${key}, which is not there`)
    throw error
  }
}

/** What cannot be inflated is an error of the object, and ends it; one that its manifest describes otherwise is a ManifestError. */
export function readSource(
  bucket: Bucket,
  object: SourceObject,
  csv: CsvOptions | undefined,
): AsyncGenerator<SourceBatch>
export function readSource(
  bucket: Bucket,
  object: SourceObject,
  csv: CsvOptions | undefined,
  /** Plain items are then not parsed. */
  plain: PlainItems | undefined,
): AsyncGenerator<SourceBatch<PlainPut>>
export async function* readSource(
  bucket: Bucket,
  { key, format, compression, md5 }: SourceObject,
  csv: CsvOptions | undefined,
  plain?: PlainItems,
): AsyncGenerator<SourceBatch<PlainPut>> {
  await using reader = await bucket.read(key)
  const checked = md5 === undefined ? reader.chunks() : checkedChunks(reader, key, md5)
  try {
    yield* sourceBatches(inflated(checked, compression, reader.bytes), format, csv, plain)
  } catch (error) {
    if (!(error instanceof NotInflatable)) throw error
    if (md5 !== undefined) throw new ManifestError(`${key} is not what its manifest says: ${error.message}`)
    yield { records: [{ kind: 'error', message: error.message, ends: true }], bytes: 0 }
  }
}

async function* checkedChunks(reader: ObjectReader, key: string, md5: string): AsyncGenerator<Buffer> {
  const hash = createHash('md5')
  for await (const chunk of reader.chunks()) {
    hash.update(chunk)
    yield chunk
  }
  if (hash.digest('base64') !== md5)
    throw new ManifestError(`${key} is not what its manifest says: it was changed or is damaged`)
}
