// Formats of exports and imports: Amazon's, so that data goes to and comes from a real account.
//
//   export:  item --encode--> line --> gzip --> object data/<name>.json.gz, md5      then the manifests: manifest.ts
//   import:  object --inflate, bounded--> bytes --lines or rows--> RawChange[] --> whoever puts them into a table
//
// Everything goes piece by piece: no object is in memory as a whole, and after each piece others have their turn. What comes out
// of a reader is not yet validated: model/parse-value.ts does that.
//
// May import: model, runtime, buckets. Knows no table and no endpoint: router/transfers and cli/ do.
import type { PlainItem } from '../model/plain-item.js'
import type { KeyAttributeType } from '../model/value.js'

export type ExportFormat = 'DYNAMODB_JSON' | 'ION'
export type InputFormat = ExportFormat | 'CSV'
export type Compression = 'NONE' | 'GZIP' | 'ZSTD'
export type ExportView = 'NEW_IMAGE' | 'NEW_AND_OLD_IMAGES'

/** What one line or row says, as JSON of the wire that was not looked into. */
export type RawChange =
  | { readonly kind: 'put'; readonly item: unknown }
  /** Of an incremental export. */
  | { readonly kind: 'delete'; readonly key: unknown }

/** An item whose text is as the store keeps it: it was read without being parsed. */
export interface PlainPut extends PlainItem {
  readonly kind: 'plain'
  readonly json: Uint8Array
}

/** A line or row, or why it is none. `Plain`: only where plain items were asked for. */
export type SourceRecord<Plain extends PlainPut = never> =
  | RawChange
  | Plain
  /** `ends`: what follows in the object is not looked at, as on Amazon when something cannot be an item at all. */
  | { readonly kind: 'error'; readonly message: string; readonly ends: boolean }

export interface CsvOptions {
  readonly delimiter: string
  /** Absent: the first row has the names. */
  readonly headerList?: readonly string[]
  /** Types of the key attributes of the table and its indexes; all others are strings. */
  readonly types: ReadonlyMap<string, KeyAttributeType>
}

/** Some records of an object, and how many bytes of it they took when inflated. */
export interface SourceBatch<Plain extends PlainPut = never> {
  readonly records: readonly SourceRecord<Plain>[]
  readonly bytes: number
}

export const transferLimits = {
  /** A line or row. The text of an item of 400 KB has less, unless it was written to be long. */
  recordBytesMax: 8 * 1024 * 1024,
  /** Inflated bytes of an object: that many are always allowed, and beyond them so many for each byte of the object. */
  inflatedBytesFree: 64 * 1024 * 1024,
  inflatedRatioMax: 400,
  /** What a reader of ZSTD keeps of the past; `zstd` itself refuses more without being told. */
  zstdWindowBytesMax: 128 * 1024 * 1024,
  /** Objects of one import. */
  objectsMax: 50_000,
  /** A file of data of an export is followed by another one when it has this much, inflated. */
  dataFileBytes: 64 * 1024 * 1024,
  manifestBytesMax: 64 * 1024 * 1024,
} as const
