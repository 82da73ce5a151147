// The manifests of an export, as Amazon writes them.
//
//   <prefix>/AWSDynamoDB/<export id>/_started
//                                    manifest-files.json, .md5      one line for each file of data
//                                    manifest-summary.json, .md5    written last: with it the export is complete
//                                    data/<name>.json.gz            of a full export
//   <prefix>/AWSDynamoDB/data/<name>.json.gz                        of incremental exports
//
// Checksums are MD5s in base64. Amazon's documentation names their files `.checksum`; its exports have `.md5`. Both are read.
import { createHash } from 'node:crypto'
import { type Bucket, BucketError } from '../buckets/buckets.js'
import { isoTime, microsOf } from './times.js'
import { type ExportFormat, type ExportView, transferLimits } from './transfer.js'

export interface DataFileEntry {
  readonly itemCount: number
  readonly md5Checksum: string
  readonly etag: string
  /** From the root of the bucket. */
  readonly dataFileS3Key: string
}

/** Which moment, or the changes between which two. */
export type ExportWindow =
  | { readonly type: 'FULL_EXPORT'; readonly atMicros: number }
  | {
      readonly type: 'INCREMENTAL_EXPORT'
      readonly fromMicros: number
      readonly toMicros: number
      readonly view: ExportView
    }

/** What both kinds of export say of themselves. */
export interface ExportFacts {
  readonly exportArn: string
  readonly exportId: string
  readonly tableArn: string
  readonly tableId: string
  readonly startMicros: number
  readonly bucket: string
  readonly prefix?: string | undefined
  readonly sseAlgorithm?: string | undefined
  readonly sseKmsKeyId?: string | undefined
  readonly format: ExportFormat
  readonly window: ExportWindow
}

export interface ExportTotals {
  readonly endMicros: number
  readonly billedSizeBytes: number
  readonly files: readonly DataFileEntry[]
}

/** Where the objects of an export stand. */
export function exportKeys({
  prefix,
  exportId,
  window,
}: Pick<ExportFacts, 'prefix' | 'exportId' | 'window'>): {
  readonly home: string
  readonly data: string
} {
  const root = `${prefix === undefined || prefix === '' ? '' : `${prefix.replace(/\/+$/, '')}/`}AWSDynamoDB`
  const home = `${root}/${exportId}`
  return { home, data: window.type === 'FULL_EXPORT' ? `${home}/data` : `${root}/data` }
}

const NAME_LETTERS = 'abcdefghijklmnopqrstuvwxyz234567'
const NAME_LENGTH = 26

/**
 * Of the files of an export the one at that place. Names look as Amazon's: 26 letters and digits. They follow from the export, so that what one
 * that was cut off has left among the files of others can be found.
 */
export function dataFileKey(
  facts: Pick<ExportFacts, 'prefix' | 'exportId' | 'window'>,
  format: ExportFormat,
  place: number,
): string {
  const digest = createHash('sha256').update(`${facts.exportId}/${place}`).digest()
  const name = Array.from(digest.subarray(0, NAME_LENGTH), (byte) => NAME_LETTERS[byte & 31]).join('')
  return `${exportKeys(facts).data}/${name}.${dataFileExtension(format)}`
}

export const dataFileExtension = (format: ExportFormat): string => (format === 'ION' ? 'ion.gz' : 'json.gz')

/** The key of the summary. */
export async function writeManifests(
  bucket: Bucket,
  facts: ExportFacts,
  totals: ExportTotals,
): Promise<string> {
  const { home } = exportKeys(facts)
  const files = totals.files.map((file) => `${JSON.stringify(file)}\n`).join('')
  await writeChecked(bucket, `${home}/manifest-files`, files)
  await writeChecked(bucket, `${home}/manifest-summary`, JSON.stringify(summaryOf(facts, totals)))
  return `${home}/manifest-summary.json`
}

function summaryOf(facts: ExportFacts, totals: ExportTotals): object {
  const { window } = facts
  const isFull = window.type === 'FULL_EXPORT'
  return {
    version: isFull ? '2020-06-30' : '2023-08-01',
    exportArn: facts.exportArn,
    startTime: isoTime(facts.startMicros),
    endTime: isoTime(totals.endMicros),
    tableArn: facts.tableArn,
    tableId: facts.tableId,
    ...(isFull
      ? { exportTime: isoTime(window.atMicros) }
      : { exportFromTime: isoTime(window.fromMicros), exportToTime: isoTime(window.toMicros) }),
    s3Bucket: facts.bucket,
    s3Prefix: facts.prefix ?? null,
    s3SseAlgorithm: facts.sseAlgorithm ?? 'AES256',
    s3SseKmsKeyId: facts.sseKmsKeyId ?? null,
    manifestFilesS3Key: `${exportKeys(facts).home}/manifest-files.json`,
    billedSizeBytes: totals.billedSizeBytes,
    itemCount: totals.files.reduce((sum, { itemCount }) => sum + itemCount, 0),
    outputFormat: facts.format,
    ...(!isFull && { outputView: window.view, exportType: window.type }),
  }
}

/** The checksum first: whoever sees the manifest can check it. */
async function writeChecked(bucket: Bucket, key: string, text: string): Promise<void> {
  await writeText(bucket, `${key}.md5`, md5Of(Buffer.from(text)))
  await writeText(bucket, `${key}.json`, text)
}

export async function writeText(bucket: Bucket, key: string, text: string): Promise<void> {
  await using writer = await bucket.write(key)
  await writer.write(Buffer.from(text))
  await writer.publish()
}

const md5Of = (bytes: Uint8Array): string => createHash('md5').update(bytes).digest('base64')

/** An export that was found in a bucket. */
export interface FoundExport {
  readonly key: string
  readonly tableArn: string
  readonly format: ExportFormat
  readonly window:
    | { readonly type: 'FULL_EXPORT'; readonly atMicros: number }
    | { readonly type: 'INCREMENTAL_EXPORT'; readonly fromMicros: number; readonly toMicros: number }
  readonly files: readonly DataFileEntry[]
}

/** A manifest is not what it should be; the message is a sentence. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError'
}

export const isSummaryKey = (key: string): boolean =>
  key === 'manifest-summary.json' || key.endsWith('/manifest-summary.json')

/** Reads a summary and its list of files, checks both against their checksums, and says where the files are now. */
export async function readExport(bucket: Bucket, summaryKey: string): Promise<FoundExport> {
  const folder = summaryKey.slice(0, -'manifest-summary.json'.length)
  const summary = parsedObject(await readChecked(bucket, `${folder}manifest-summary`), summaryKey)
  const { tableArn, outputFormat: format } = summary
  if (typeof tableArn !== 'string' || (format !== 'DYNAMODB_JSON' && format !== 'ION'))
    throw new ManifestError(`${summaryKey} names no table, or a format other than DYNAMODB_JSON and ION`)
  const lines = (await readChecked(bucket, `${folder}manifest-files`)).split('\n')
  const files = lines.filter((line) => line.trim() !== '').map((line) => fileEntry(line, folder))
  return { key: summaryKey, tableArn, format, window: windowIn(summary, summaryKey), files }
}

function windowIn(summary: Readonly<Record<string, unknown>>, key: string): FoundExport['window'] {
  const fromMicros = microsOf(summary['exportFromTime'])
  const toMicros = microsOf(summary['exportToTime'])
  if (fromMicros !== undefined && toMicros !== undefined)
    return { type: 'INCREMENTAL_EXPORT', fromMicros, toMicros }
  const atMicros = microsOf(summary['exportTime'])
  if (atMicros === undefined)
    throw new ManifestError(`${key} says neither exportTime nor exportFromTime and exportToTime`)
  return { type: 'FULL_EXPORT', atMicros }
}

/** An export may have been copied elsewhere: what counts is where its files stand beside its manifest. */
function fileEntry(line: string, folder: string): DataFileEntry {
  const entry = parsedObject(line, `${folder}manifest-files.json`)
  const { itemCount, md5Checksum, etag, dataFileS3Key } = entry
  if (
    typeof dataFileS3Key !== 'string' ||
    typeof md5Checksum !== 'string' ||
    !Number.isSafeInteger(itemCount)
  )
    throw new ManifestError(
      `a line of ${folder}manifest-files.json names no file, checksum or number of items`,
    )
  const name = dataFileS3Key.slice(dataFileS3Key.lastIndexOf('/') + 1)
  const isShared = /(^|\/)AWSDynamoDB\/data\/[^/]+$/.test(dataFileS3Key)
  const above = folder.replace(/[^/]*\/$/, '')
  return {
    itemCount: itemCount as number,
    md5Checksum,
    etag: String(etag),
    dataFileS3Key: `${isShared ? above : folder}data/${name}`,
  }
}

function parsedObject(text: string, key: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value as Readonly<Record<string, unknown>>
  } catch {
    // As below.
  }
  throw new ManifestError(`${key} is not JSON`)
}

async function readChecked(bucket: Bucket, key: string): Promise<string> {
  const text = await readText(bucket, `${key}.json`)
  for (const extension of ['md5', 'checksum']) {
    const expected = await readText(bucket, `${key}.${extension}`).catch((error: unknown) => {
      if (error instanceof BucketError && error.code === 'NoSuchKey') return undefined
      throw error
    })
    if (expected !== undefined && expected.trim() !== md5Of(Buffer.from(text)))
      throw new ManifestError(
        `${key}.json is not what ${key}.${extension} says: it was changed or is damaged`,
      )
  }
  return text
}

async function readText(bucket: Bucket, key: string): Promise<string> {
  await using reader = await bucket.read(key)
  if (reader.bytes > transferLimits.manifestBytesMax)
    throw new ManifestError(`${key} is too long for a manifest`)
  const chunks: Buffer[] = []
  for await (const chunk of reader.chunks()) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/**
 * The exports to read, in order: the newest full one, and the incremental ones that follow it without a gap. Without a full one,
 * all incremental ones. Throws ManifestError if they belong to several tables, or if something between is missing.
 */
export function exportChain(found: readonly FoundExport[]): readonly FoundExport[] {
  const tables = new Set(found.map(({ tableArn }) => tableArn))
  if (tables.size > 1)
    throw new ManifestError(`these are exports of several tables: ${[...tables].join(', ')}`)
  const starts = (one: FoundExport): number =>
    one.window.type === 'FULL_EXPORT' ? one.window.atMicros : one.window.fromMicros
  const ends = ({ window }: FoundExport): number =>
    window.type === 'FULL_EXPORT' ? window.atMicros : window.toMicros
  const inOrder = found.toSorted((one, other) => starts(one) - starts(other) || ends(one) - ends(other))
  const full = inOrder.findLast(({ window }) => window.type === 'FULL_EXPORT')
  const chain: FoundExport[] = full === undefined ? [] : [full]
  let reached = full && starts(full)
  for (const one of inOrder) {
    const { window } = one
    // One that ends where others have come already would take items back to what they were before.
    if (window.type === 'FULL_EXPORT' || (reached !== undefined && window.toMicros <= reached)) continue
    if (reached !== undefined && window.fromMicros > reached)
      throw new ManifestError(
        `no export covers the time from ${isoTime(reached)} to ${isoTime(window.fromMicros)}`,
      )
    reached = window.toMicros
    chain.push(one)
  }
  return chain
}
