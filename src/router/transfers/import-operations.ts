// ImportTable, DescribeImport and ListImports.
import { DynamoError, validationError } from '../../model/errors.js'
import type { Compression, InputFormat } from '../../transfer/transfer.js'
import type { Operation, RouterContext } from '../request/context.js'
import { jsonReply } from '../request/reply.js'
import { administeredTableNameShape, type StructShape } from '../shapes/shape.js'
import { tableNameOf, tableNameOfArn, transferOfArn } from '../shapes/table-name.js'
import type { TableCatalog } from '../tables/catalog/catalog.js'
import { newTable } from '../tables/create-table.js'
import { refuseLedgerName } from '../tables/record/table-ledger.js'
import { tableDefinition } from '../tables/record/table-definition.js'
import { knownMembers } from '../shapes/known-members.js'
import { tableOperation } from '../tables/table-operation.js'
import { tableOf } from '../tables/record/table-record.js'
import { checkEncryption, checkOnDemandThroughput } from '../tables/record/table-settings.js'
import {
  attributeDefinitionsShape,
  billingModeShape,
  type CreateTableInput,
  encryptionShape,
  globalIndexShape,
  keySchemaShape,
  onDemandThroughputShape,
  throughputShape,
} from '../tables/record/table-shapes.js'
import { conflict } from './export-operations.js'
import { runImport } from './import-job.js'
import { TableLoader } from './table-loader.js'
import {
  bucketOwnerShape,
  bucketShape,
  checkPrefix,
  clientTokenShape,
  nextTokenShape,
  page,
  tableArnShape,
  transferArnShape,
} from './transfer-request.js'
import {
  askedBy,
  describeImport,
  encodeTransfer,
  endedEntries,
  type ImportRecord,
  summariseImport,
} from './transfer-record.js'
import type { Transfers } from './transfers.js'

interface ImportInput {
  readonly ClientToken: string
  readonly S3BucketSource: Readonly<Record<string, string>>
  readonly InputFormat: InputFormat
  readonly InputFormatOptions?: Readonly<Record<string, unknown>>
  readonly InputCompressionType?: Compression
  readonly TableCreationParameters: CreateTableInput & Readonly<Record<string, unknown>>
}

const LIST_MAX = 25

const creationShape: StructShape = {
  kind: 'struct',
  required: true,
  members: {
    TableName: administeredTableNameShape,
    AttributeDefinitions: { ...attributeDefinitionsShape, required: true },
    KeySchema: keySchemaShape,
    BillingMode: billingModeShape,
    ProvisionedThroughput: throughputShape,
    OnDemandThroughput: onDemandThroughputShape,
    SSESpecification: encryptionShape,
    GlobalSecondaryIndexes: { kind: 'list', member: globalIndexShape },
  },
}

export const importOperations = (transfers: () => Promise<Transfers>): readonly Operation[] => [
  tableOperation<ImportInput>({
    name: 'ImportTable',
    shape: {
      kind: 'struct',
      members: {
        // The documentation calls it optional; the service refuses a request without it.
        ClientToken: { ...clientTokenShape, required: true },
        S3BucketSource: {
          kind: 'struct',
          required: true,
          members: {
            S3BucketOwner: bucketOwnerShape,
            S3Bucket: bucketShape,
            S3KeyPrefix: { kind: 'string', lengthMax: 1024 },
          },
        },
        InputFormat: { kind: 'string', required: true, values: ['DYNAMODB_JSON', 'ION', 'CSV'] },
        InputFormatOptions: {
          kind: 'struct',
          members: {
            Csv: {
              kind: 'struct',
              members: {
                Delimiter: { kind: 'string', lengthMin: 1, lengthMax: 1, pattern: '[,;:|\\t ]' },
                HeaderList: {
                  kind: 'list',
                  lengthMin: 1,
                  lengthMax: 255,
                  member: { kind: 'string', required: true, lengthMin: 1, lengthMax: 65_536 },
                },
              },
            },
          },
        },
        InputCompressionType: { kind: 'string', values: ['GZIP', 'ZSTD', 'NONE'] },
        TableCreationParameters: creationShape,
      },
    },

    async run(catalog, input, scope, context) {
      const { S3BucketSource: source } = input
      const creation = knownMembers(creationShape, input.TableCreationParameters)
      const name = tableNameOf(creation.TableName)
      scope.authorise(name)
      refuseLedgerName(context, name)
      if (input.InputFormatOptions !== undefined && input.InputFormat !== 'CSV')
        throw validationError('InputFormatOptions can only be given for the InputFormat CSV')
      checkPrefix('S3KeyPrefix', source['S3KeyPrefix'])
      const definition = tableDefinition(creation)
      checkEncryption(creation.SSESpecification)
      checkOnDemandThroughput(creation.OnDemandThroughput, definition.billingMode, 'table')
      const jobs = await transfers()
      const known = jobs.ofToken('import', input.ClientToken, scope.principal)
      if (known?.status === 'IN_PROGRESS' || (known?.status === 'COMPLETED' && known.tableName !== name)) {
        if (known.tableName !== name) throw conflict('ImportConflictException')
        return jsonReply({ ImportTableDescription: describeImport(known, scope.addressed) })
      }
      jobs.refuseIfTooMany('import')
      const id = jobs.newId()
      const begun = await catalog.change((draft) => {
        if (draft.find(name) !== undefined)
          throw new DynamoError('ResourceInUseException', `Table already exists: ${name}`)
        const made = newTable(draft, context, creation, { definition, tags: [] })
        draft.put({ ...made, loading: 'import' })
        const record: ImportRecord = {
          kind: 'import',
          id,
          tableName: name,
          tableId: made.id,
          clientToken: input.ClientToken,
          ...askedBy(scope.principal),
          status: 'IN_PROGRESS',
          startMicros: context.runtime.clock.nowMicros(),
          source,
          format: input.InputFormat,
          ...(input.InputFormatOptions && { formatOptions: input.InputFormatOptions }),
          compression: input.InputCompressionType ?? 'NONE',
          creation,
        }
        draft.beside.push(encodeTransfer(record))
        return record
      })
      jobs.workOff(begun, () => workOff(begun, { catalog, context, jobs }))
      return jsonReply({ ImportTableDescription: describeImport(begun, scope.addressed) })
    },
  }),

  tableOperation<{ readonly ImportArn: string }>({
    name: 'DescribeImport',
    shape: { kind: 'struct', members: { ImportArn: transferArnShape } },

    async run(_catalog, input, scope) {
      const { tableName, id } = transferOfArn('import', input.ImportArn)
      scope.authorise(tableName)
      const record = (await transfers()).find('import', id)
      if (record === undefined || record.tableName !== tableName)
        throw new DynamoError('ImportNotFoundException', `Import not found: ${input.ImportArn}`)
      return jsonReply({ ImportTableDescription: describeImport(record, scope.addressed) })
    },
  }),

  tableOperation<{ readonly TableArn?: string; readonly PageSize?: number; readonly NextToken?: string }>({
    name: 'ListImports',
    shape: {
      kind: 'struct',
      members: {
        TableArn: tableArnShape,
        PageSize: { kind: 'integer', valueMin: 1, valueMax: LIST_MAX },
        NextToken: { ...nextTokenShape, lengthMin: 112 },
      },
    },

    async run(_catalog, input, scope) {
      const name = input.TableArn === undefined ? undefined : tableNameOfArn(input.TableArn)
      const listed = (await transfers())
        .all('import')
        .filter(({ tableName }) => (name ?? tableName) === tableName && scope.allows(tableName, 'listed'))
      const found = page('ListImports', listed, {
        token: input.NextToken,
        countMax: input.PageSize ?? LIST_MAX,
      })
      return jsonReply({
        ImportSummaryList: found.page.map((record) => summariseImport(record, scope.addressed)),
        ...(found.next !== undefined && { NextToken: found.next }),
      })
    },
  }),
]

interface WorkParts {
  readonly catalog: TableCatalog
  readonly context: RouterContext
  readonly jobs: Transfers
}

/** The table is in use, or gone, in the same step with which the import has ended. */
async function workOff(record: ImportRecord, { catalog, context, jobs }: WorkParts): Promise<ImportRecord> {
  const end = async (ended: ImportRecord, becomes: 'in use' | 'gone'): Promise<ImportRecord> => {
    await catalog.change((draft) => {
      const found = draft.find(record.tableName)
      if (found?.id === record.tableId) {
        const { loading: _, ...table } = found
        if (becomes === 'in use') draft.put(table)
        else draft.remove(found)
      }
      draft.beside.push(...endedEntries(ended))
    })
    jobs.ended(ended)
    return ended
  }
  try {
    const bucket = await jobs.bucket(record.source['S3Bucket'] ?? '')
    const table = catalog.find(record.tableName)
    if (table?.id !== record.tableId) throw new Error(`The table ${record.tableName} is not there any more.`)
    const { counts, firstError } = await runImport(record, {
      bucket,
      table: tableOf(table).shape,
      loader: new TableLoader((hash) => context.nodeOf(hash)),
      checkpoint: () => jobs.checkpoint(),
    })
    // Where tables take their time, so does one that is imported: it is ACTIVE when its import has ended.
    const { creatingMicros } = catalog.moment
    if (creatingMicros > 0) await jobs.until(table.createdAtMicros + creatingMicros)
    const endMicros = Math.max(jobs.nowMicros, record.startMicros)
    if (firstError === undefined)
      return await end({ ...record, status: 'COMPLETED', endMicros, counts }, 'in use')
    const failure = {
      code: 'ItemValidationError',
      message: `Some of the items failed validation checks and were not imported. The first: ${firstError}`,
    }
    return await end({ ...record, status: 'FAILED', endMicros, counts, failure }, 'in use')
  } catch (error) {
    const failed = jobs.failed(record, error)
    if (failed === undefined) throw error
    // On a full disk this waits for room: a table that was being loaded must not stay.
    await jobs.persistently(() => end(failed, 'gone'))
    return failed
  }
}
