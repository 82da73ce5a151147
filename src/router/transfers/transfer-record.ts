// What is remembered of an export or import, and how it is described. Kept beside the catalogue, in the meta space of node 0:
//
//   transfer/running/<id>   from the request until it ends; one that a start finds there was cut off with its process
//   transfer/ended/<id>     for 90 days
import type { MetaEntry } from '../../storage/contract/storage-node.js'
import type { Compression, ExportFormat, InputFormat } from '../../transfer/transfer.js'
import type { ExportWindow } from '../../transfer/manifest.js'
import type { Principal } from '../request/access.js'
import type { Addressed } from '../request/router.js'
import { tableArn, transferArn } from '../shapes/table-name.js'
import { seconds } from '../tables/table-description.js'
import { readRecord } from '../tables/record/table-record.js'

export const RUNNING_PREFIX = 'transfer/running/'
export const ENDED_PREFIX = 'transfer/ended/'

interface Transfer {
  /** Grows with time, as text, and is the last part of the ARN. */
  readonly id: string
  readonly tableName: string
  readonly tableId: string
  /** A name for this request among those of one access key. */
  readonly clientToken: string
  /** The access key that asked for it; absent: there are no keys. */
  readonly keyId?: string
  readonly status: 'IN_PROGRESS' | 'COMPLETED' | 'FAILED'
  readonly startMicros: number
  readonly endMicros?: number
  readonly failure?: { readonly code: string; readonly message: string }
}

export interface ExportRecord extends Transfer {
  readonly kind: 'export'
  /** The request as it came, for one with the same token. */
  readonly request: Readonly<Record<string, unknown>>
  readonly bucket: string
  readonly prefix?: string
  readonly format: ExportFormat
  readonly window: ExportWindow
  readonly manifest?: string
  readonly itemCount?: number
  readonly billedSizeBytes?: number
}

export interface ImportRecord extends Transfer {
  readonly kind: 'import'
  readonly source: Readonly<Record<string, string>>
  readonly format: InputFormat
  readonly formatOptions?: Readonly<Record<string, unknown>>
  readonly compression: Compression
  /** TableCreationParameters as they came. */
  readonly creation: Readonly<Record<string, unknown>>
  readonly counts?: ImportCounts
}

export interface ImportCounts {
  readonly processed: number
  readonly imported: number
  readonly errors: number
  /** Inflated. */
  readonly bytes: number
}

export type TransferRecord = ExportRecord | ImportRecord

export const encodeTransfer = (record: TransferRecord): MetaEntry => ({
  name: (record.status === 'IN_PROGRESS' ? RUNNING_PREFIX : ENDED_PREFIX) + record.id,
  value: Buffer.from(JSON.stringify(record)),
})

export const decodeTransfer = (entry: Required<MetaEntry>): TransferRecord =>
  readRecord(entry, (value) => JSON.parse(Buffer.from(value).toString()) as TransferRecord, 'transfers')

/** What takes the place of a running one, in one step. */
export const endedEntries = (record: TransferRecord): readonly MetaEntry[] => [
  { name: RUNNING_PREFIX + record.id },
  encodeTransfer(record),
]

export function describeExport(record: ExportRecord, { region }: Addressed): object {
  const { request, window, endMicros, failure, itemCount } = record
  return {
    ExportArn: transferArn('export', record.tableName, record.id, region),
    ExportStatus: record.status,
    StartTime: seconds(record.startMicros),
    ...(endMicros !== undefined && { EndTime: seconds(endMicros) }),
    ...(record.manifest !== undefined && { ExportManifest: record.manifest }),
    TableArn: tableArn(record.tableName, region),
    TableId: record.tableId,
    ...(window.type === 'FULL_EXPORT' && { ExportTime: seconds(window.atMicros) }),
    ClientToken: record.clientToken,
    S3Bucket: record.bucket,
    ...echoed(request, ['S3BucketOwner', 'S3Prefix', 'S3SseKmsKeyId']),
    S3SseAlgorithm: request['S3SseAlgorithm'] ?? 'AES256',
    ...(failure && { FailureCode: failure.code, FailureMessage: failure.message }),
    ExportFormat: record.format,
    ...(record.billedSizeBytes !== undefined && { BilledSizeBytes: record.billedSizeBytes }),
    ...(itemCount !== undefined && { ItemCount: itemCount }),
    // As on Amazon: said only if it was said in the request.
    ...echoed(request, ['ExportType']),
    ...(window.type === 'INCREMENTAL_EXPORT' && {
      IncrementalExportSpecification: {
        ExportFromTime: seconds(window.fromMicros),
        ExportToTime: seconds(window.toMicros),
        ExportViewType: window.view,
      },
    }),
  }
}

const echoed = (request: Readonly<Record<string, unknown>>, names: readonly string[]): object =>
  Object.fromEntries(names.flatMap((name) => (request[name] === undefined ? [] : [[name, request[name]]])))

export const summariseExport = (record: ExportRecord, { region }: Addressed): object => ({
  ExportArn: transferArn('export', record.tableName, record.id, region),
  ExportStatus: record.status,
  ExportType: record.window.type,
})

/** There are no logs of CloudWatch here, so no group of them is named. */
export function describeImport(record: ImportRecord, addressed: Addressed): object {
  const { counts, failure, formatOptions } = record
  return {
    ...summariseImport(record, addressed),
    TableId: record.tableId,
    ClientToken: record.clientToken,
    ErrorCount: counts?.errors ?? 0,
    ...(formatOptions && { InputFormatOptions: formatOptions }),
    InputCompressionType: record.compression,
    TableCreationParameters: record.creation,
    ...(counts && counts.bytes > 0 && { ProcessedSizeBytes: counts.bytes }),
    ProcessedItemCount: counts?.processed ?? 0,
    ImportedItemCount: counts?.imported ?? 0,
    ...(failure && { FailureCode: failure.code, FailureMessage: failure.message }),
  }
}

export const summariseImport = (record: ImportRecord, { region }: Addressed): object => ({
  ImportArn: transferArn('import', record.tableName, record.id, region),
  ImportStatus: record.status,
  TableArn: tableArn(record.tableName, region),
  S3BucketSource: record.source,
  InputFormat: record.format,
  StartTime: seconds(record.startMicros),
  ...(record.endMicros !== undefined && { EndTime: seconds(record.endMicros) }),
})

/** What says of a record who asked for it. */
export const askedBy = ({ id }: Principal): Pick<TransferRecord, 'keyId'> => (id === '' ? {} : { keyId: id })
