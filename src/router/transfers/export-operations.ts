// ExportTableToPointInTime, DescribeExport and ListExports.
import { DynamoError, validationError } from '../../model/errors.js'
import type { ExportFormat, ExportView } from '../../transfer/transfer.js'
import type { Operation, RouterContext } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { isArnOfNoTable, tableArn, tableNameOfArn, transferArn, transferOfArn } from '../shapes/table-name.js'
import { recoverable } from '../backups/active-table.js'
import type { TableCatalog } from '../tables/catalog/catalog.js'
import { knownMembers } from '../shapes/known-members.js'
import type { StructShape } from '../shapes/shape.js'
import { tableOperation } from '../tables/table-operation.js'
import { tableOf } from '../tables/record/table-record.js'
import { type ExportOutcome, type ExportPage, runExport } from './export-job.js'
import { withTable } from './export-source.js'
import { pastPages } from './past-pages.js'
import {
  bucketOwnerShape,
  bucketShape,
  checkPrefix,
  clientTokenShape,
  nextTokenShape,
  page,
  prefixShape,
  tableArnShape,
  transferArnShape,
} from './transfer-request.js'
import { askedBy, describeExport, type ExportRecord, summariseExport } from './transfer-record.js'
import type { Transfers } from './transfers.js'
import { exportWindow, type WindowInput } from './export-window.js'

interface ExportInput extends WindowInput {
  readonly TableArn: string
  readonly ClientToken?: string
  readonly S3Bucket: string
  readonly S3BucketOwner?: string
  readonly S3Prefix?: string
  readonly S3SseAlgorithm?: string
  readonly S3SseKmsKeyId?: string
  readonly ExportFormat?: ExportFormat
}

const VIEWS: readonly ExportView[] = ['NEW_IMAGE', 'NEW_AND_OLD_IMAGES']
const LIST_MAX = 25

const exportShape: StructShape = {
  kind: 'struct',
  members: {
    TableArn: { ...tableArnShape, required: true },
    ExportTime: { kind: 'double' },
    ClientToken: clientTokenShape,
    S3Bucket: bucketShape,
    S3BucketOwner: bucketOwnerShape,
    S3Prefix: prefixShape,
    S3SseAlgorithm: { kind: 'string', values: ['AES256', 'KMS'] },
    S3SseKmsKeyId: { kind: 'string', lengthMin: 1, lengthMax: 2048 },
    ExportFormat: { kind: 'string', values: ['DYNAMODB_JSON', 'ION'] },
    ExportType: { kind: 'string', values: ['FULL_EXPORT', 'INCREMENTAL_EXPORT'] },
    IncrementalExportSpecification: {
      kind: 'struct',
      members: {
        ExportFromTime: { kind: 'double' },
        ExportToTime: { kind: 'double' },
        ExportViewType: { kind: 'string', values: VIEWS },
      },
    },
  },
}

export const exportOperations = (transfers: () => Promise<Transfers>): readonly Operation[] => [
  tableOperation<ExportInput>({
    name: 'ExportTableToPointInTime',
    shape: exportShape,

    async run(catalog, given, scope, context) {
      const input = knownMembers(exportShape, given)
      // The service says that there is no such table, not that the ARN is wrong.
      if (isArnOfNoTable(input.TableArn))
        throw new DynamoError('TableNotFoundException', `Table not found: ${input.TableArn}`)
      const name = tableNameOfArn(input.TableArn)
      scope.authorise(name)
      checkPrefix('S3Prefix', input.S3Prefix)
      const jobs = await transfers()
      const { principal } = scope
      const known =
        input.ClientToken === undefined ? undefined : jobs.ofToken('export', input.ClientToken, principal)
      if (known !== undefined) {
        if (JSON.stringify(known.request) !== JSON.stringify(input)) throw conflict('ExportConflictException')
        return jsonReply({ ExportDescription: describeExport(known, scope.addressed) })
      }
      const table = recoverable(catalog, name)
      jobs.refuseIfTooMany('export')
      const nowMicros = context.runtime.clock.nowMicros()
      const restorable = (await jobs.backups()).windowOf(table)
      const window = exportWindow(input, {
        nowMicros,
        earliestMicros: restorable?.earliestMicros ?? nowMicros,
      })
      const id = jobs.newId()
      const record: ExportRecord = {
        kind: 'export',
        id,
        tableName: name,
        tableId: table.id,
        clientToken: input.ClientToken ?? `${id}-token`,
        ...askedBy(principal),
        status: 'IN_PROGRESS',
        startMicros: nowMicros,
        request: { ...input },
        bucket: input.S3Bucket,
        ...(input.S3Prefix !== undefined && { prefix: input.S3Prefix }),
        format: input.ExportFormat ?? 'DYNAMODB_JSON',
        window,
      }
      const { region } = scope.addressed
      await jobs.begin(record, () => workOff(record, { catalog, context, jobs, region }))
      return jsonReply({ ExportDescription: describeExport(record, scope.addressed) })
    },
  }),

  tableOperation<{ readonly ExportArn: string }>({
    name: 'DescribeExport',
    shape: { kind: 'struct', members: { ExportArn: transferArnShape } },

    async run(_catalog, input, scope) {
      const { tableName, id } = transferOfArn('export', input.ExportArn)
      scope.authorise(tableName)
      const record = (await transfers()).find('export', id)
      if (record === undefined || record.tableName !== tableName)
        throw new DynamoError('ExportNotFoundException', `Export not found: ${input.ExportArn}`)
      return jsonReply({ ExportDescription: describeExport(record, scope.addressed) })
    },
  }),

  tableOperation<{ readonly TableArn?: string; readonly MaxResults?: number; readonly NextToken?: string }>({
    name: 'ListExports',
    shape: {
      kind: 'struct',
      members: {
        TableArn: tableArnShape,
        MaxResults: { kind: 'integer', valueMin: 1, valueMax: LIST_MAX },
        NextToken: nextTokenShape,
      },
    },

    async run(catalog, input, scope) {
      const name = input.TableArn === undefined ? undefined : tableNameOfArn(input.TableArn)
      // As on Amazon: those of a table that is gone are described, but not listed.
      const listed = (await transfers())
        .all('export')
        .filter(({ tableName, tableId }) => catalog.find(tableName)?.id === tableId)
        .filter(({ tableName }) => (name ?? tableName) === tableName && scope.allows(tableName, 'listed'))
      const found = page('ListExports', listed, {
        token: input.NextToken,
        countMax: input.MaxResults ?? LIST_MAX,
      })
      return jsonReply({
        ExportSummaries: found.page.map((record) => summariseExport(record, scope.addressed)),
        ...(found.next !== undefined && { NextToken: found.next }),
      })
    },
  }),
]

export const conflict = (name: 'ExportConflictException' | 'ImportConflictException'): DynamoError =>
  new DynamoError(name, 'Duplicate request detected with conflicting parameters')

/** What was asked for without a time is the table as it is when the work begins. */
const isOfPast = ({ window, request }: ExportRecord): boolean =>
  window.type === 'INCREMENTAL_EXPORT' || request['ExportTime'] !== undefined

interface WorkParts {
  readonly catalog: TableCatalog
  readonly context: RouterContext
  readonly jobs: Transfers
  readonly region: string | undefined
}

async function workOff(record: ExportRecord, parts: WorkParts): Promise<ExportRecord> {
  const { catalog, context, jobs, region } = parts
  const bucket = await jobs.bucket(record.bucket)
  const table = catalog.find(record.tableName)
  if (table?.id !== record.tableId)
    throw validationError(`The table ${record.tableName} was deleted before it was exported`)
  const { bytes } = await catalog.count(table.space)
  const facts = {
    exportArn: transferArn('export', record.tableName, record.id, region),
    exportId: record.id,
    tableArn: tableArn(record.tableName, region),
    tableId: record.tableId,
    startMicros: record.startMicros,
    bucket: record.bucket,
    prefix: record.prefix,
    sseAlgorithm: record.request['S3SseAlgorithm'] as string | undefined,
    sseKmsKeyId: record.request['S3SseKmsKeyId'] as string | undefined,
    format: record.format,
    window: record.window,
  }
  const write = (pages: AsyncIterable<ExportPage>): Promise<ExportOutcome> =>
    runExport({
      bucket,
      facts,
      pages,
      billedSizeBytes: bytes,
      nowMicros: () => context.runtime.clock.nowMicros(),
      checkpoint: () => jobs.checkpoint(),
    })
  const shape = tableOf(table).shape
  const ofPast = async (): Promise<ExportOutcome> => {
    const past = await (await jobs.backups()).past(table.name)
    try {
      return await write(pastPages(record.window, { table: shape, past }))
    } finally {
      past.release()
    }
  }
  const outcome = isOfPast(record) ? await ofPast() : await withTable(context, shape, write, ofPast)
  return { ...record, status: 'COMPLETED', billedSizeBytes: bytes, ...outcome }
}
