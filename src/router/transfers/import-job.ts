// The work of ImportTable: objects of a bucket into a table that no request reaches yet.
//
//   objects, or the chain of exports that manifests tell of --> inflated --> records --> validated --> node.load
//
// Counted as Amazon counts: an item that does not fit the table is an error, and the next one follows; what cannot be an item at all
// is an error that ends its object. Items with the same key overwrite each other, and each of them counts.
import type { Bucket } from '../../buckets/buckets.js'
import { asBuffer } from '../../line/record.js'
import { DynamoError, validationError } from '../../model/errors.js'
import { storableBytes, type KeyAttributeType } from '../../model/value.js'
import { parseItem } from '../../model/parse-value.js'
import { PlainItems } from '../../model/plain-item.js'
import { partitionParts, sortParts, type TableShape } from '../../model/table.js'
import { indexKeyRefusal } from '../../rules/item/index-keys.js'
import type { LoadedPut } from '../../storage/contract/storage-node.js'
import { readSource, type SourceObject, sourceObjects } from '../../transfer/source.js'
import type { CsvOptions, PlainPut, SourceRecord } from '../../transfer/transfer.js'
import { keyOfItem, parseKey } from '../request/keys.js'
import { SeenKeys } from './seen-keys.js'
import type { TableLoader } from './table-loader.js'
import type { ImportCounts, ImportRecord } from './transfer-record.js'

export interface ImportParts {
  readonly bucket: Bucket
  readonly table: TableShape
  readonly loader: TableLoader
  /** Between two pieces; throws if the store is being closed. */
  checkpoint(): void
}

export interface ImportOutcome {
  readonly counts: ImportCounts
  /** What was wrong first, and where. */
  readonly firstError?: string
}

/** An item takes about so much of an object, and compressed a tenth of it. */
const ITEM_BYTES_ABOUT = 100
const COMPRESSED_ITEM_BYTES_ABOUT = 10

export async function runImport(record: ImportRecord, parts: ImportParts): Promise<ImportOutcome> {
  const { bucket, table, loader } = parts
  const objects = await sourceObjects(bucket, record.source['S3KeyPrefix'] ?? '', {
    format: record.format,
    compression: record.compression,
  })
  const bytes = objects.reduce((sum, object) => sum + object.bytes, 0)
  const isCompressed = objects.some(({ compression }) => compression !== 'NONE')
  const seen = new SeenKeys(bytes / (isCompressed ? COMPRESSED_ITEM_BYTES_ABOUT : ITEM_BYTES_ABOUT))
  const tally = new Tally()
  const csv = csvOptions(record, table)
  const plain = table.indexes.length > 0 ? undefined : new PlainItems(keyNames(table))
  for (const object of objects) {
    for await (const batch of readSource(bucket, object, csv, plain)) {
      parts.checkpoint()
      const puts = batch.records.flatMap((source) => tally.count(object, takeRecord(table, source, seen)))
      tally.bytes += batch.bytes
      if (puts.length > 0) await loader.add(table, puts)
      if (tally.hasObjectEnded) break
    }
    tally.hasObjectEnded = false
  }
  await loader.settled()
  return tally.outcome()
}

type Taken = LoadedPut | { readonly error: string; readonly ends: boolean }

const keyNames = ({ key }: TableShape): readonly string[] =>
  [...partitionParts(key), ...sortParts(key)].map(({ name }) => name)

function takeRecord(table: TableShape, source: SourceRecord<PlainPut>, seen: SeenKeys): Taken {
  if (source.kind === 'plain')
    return (
      plainPut(table, source, seen) ?? takeRecord(table, { kind: 'put', item: parsed(source.json) }, seen)
    )
  if (source.kind === 'error') return { error: source.message, ends: source.ends }
  try {
    if (source.kind === 'delete') {
      const { key } = parseKey(table, source.key)
      return { key, itemBytes: 0, isFresh: seen.add(key) }
    }
    const item = parseItem(source.item)
    return itemPut(table, item, seen)
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error
    return { error: error.message, ends: true }
  }
}

/** Undefined: something is wrong with its key, which is told by the way that all other items take. */
function plainPut(table: TableShape, source: PlainPut, seen: SeenKeys): Taken | undefined {
  const { attributes, itemBytes, json } = source
  try {
    const key = keyOfItem(table, attributes)
    return { key, json, itemBytes, isFresh: seen.add(key) }
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error
    return undefined
  }
}

const parsed = (json: Uint8Array): unknown => JSON.parse(asBuffer(json).toString())

function itemPut(table: TableShape, item: ReturnType<typeof parseItem>, seen: SeenKeys): Taken {
  try {
    const itemBytes = storableBytes(item)
    const key = keyOfItem(table, item)
    const refusal = indexKeyRefusal(table, item)
    if (refusal !== undefined) throw validationError(refusal)
    return { key, item, itemBytes, isFresh: seen.add(key) }
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error
    return { error: error.message, ends: false }
  }
}

/** Types of all key attributes, those of indexes too. */
function csvOptions(record: ImportRecord, { key, indexes }: TableShape): CsvOptions | undefined {
  if (record.format !== 'CSV') return undefined
  const types = new Map<string, KeyAttributeType>()
  for (const schema of [key, ...indexes.map((index) => index.key)])
    for (const part of [...partitionParts(schema), ...sortParts(schema)]) types.set(part.name, part.type)
  const { Delimiter, HeaderList } = (record.formatOptions?.['Csv'] ?? {}) as {
    readonly Delimiter?: string
    readonly HeaderList?: readonly string[]
  }
  return { delimiter: Delimiter ?? ',', types, ...(HeaderList && { headerList: HeaderList }) }
}

class Tally {
  bytes = 0
  hasObjectEnded = false
  #processed = 0
  #errors = 0
  #firstError: string | undefined

  /** What is to be written of it. */
  count(object: SourceObject, taken: Taken): readonly LoadedPut[] {
    if (this.hasObjectEnded) return []
    this.#processed++
    if (!('error' in taken)) return [taken]
    this.#errors++
    this.#firstError ??= `${object.key}: ${taken.error}`
    this.hasObjectEnded = taken.ends
    return []
  }

  outcome(): ImportOutcome {
    const { bytes } = this
    const [processed, errors] = [this.#processed, this.#errors]
    return {
      counts: { processed, errors, imported: processed - errors, bytes },
      ...(this.#firstError !== undefined && { firstError: this.#firstError }),
    }
  }
}
