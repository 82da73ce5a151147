// seriatim import: brings exports, or files of items, into a table of any endpoint.
//
//   folder --> the chain of exports that its manifests tell of, or all files --> records --> BatchWriteItem, several at a time
import type { CreateTableCommandInput, DynamoDB, KeySchemaElement } from '@aws-sdk/client-dynamodb'
import { createHash, randomBytes } from 'node:crypto'
import type { Bucket } from '../../buckets/buckets.js'
import { openFolderAsBucket } from '../../buckets/folder-buckets.js'
import { readSource, type SourceObject, sourceObjects } from '../../transfer/source.js'
import {
  type Compression,
  type CsvOptions,
  type InputFormat,
  transferLimits,
} from '../../transfer/transfer.js'
import type { KeyAttributeType } from '../../model/value.js'
import { readArguments, readInteger, UsageError } from '../command/arguments.js'
import { BatchWriter } from './batch-writer.js'
import { endpointClient } from '../command/endpoint-client.js'
import type { CommandEnvironment } from '../command/environment.js'
import { CopyPace } from './pace.js'
import { ResumeFile } from './resume-file.js'
import { TABLE_FILE, type TableFile } from './table-file.js'

export const help = `seriatim import DIR --endpoint URL [--table NAME] [options]

  --endpoint URL   any DynamoDB endpoint; 'aws' for Amazon's own of the region
  --table NAME     (the table that was exported)
  --key KEY        where the table does not exist and no description of it is in the folder: its key, such as id:S or id:S,day:N
  --rate ITEMS     at most so many items a second
  --region NAME    (us-east-1, or AWS_REGION)
  --format json|ion|csv
                   of files without manifests (json)
  --compression none|gzip|zstd
                   of files without manifests (none)
  --delimiter CHARACTER
                   of CSV (a comma); the first row has the names

DIR has exports of Amazon's, of ExportTableToPointInTime or of seriatim export: the newest full one is read, then the incremental ones
that follow it. Without manifests all files are read, in the order of their names. The table is created if it does not exist. A command
that was interrupted goes on where it was when it is repeated. Ends with 1 if items were refused.`

const OPTIONS = {
  endpoint: { type: 'string' },
  table: { type: 'string' },
  key: { type: 'string' },
  rate: { type: 'string' },
  region: { type: 'string' },
  format: { type: 'string', default: 'json' },
  compression: { type: 'string', default: 'none' },
  delimiter: { type: 'string', default: ',' },
} as const

const RATE_MAX = 999_999_999
const FORMATS: Readonly<Record<string, InputFormat>> = { json: 'DYNAMODB_JSON', ion: 'ION', csv: 'CSV' }
const COMPRESSIONS: Readonly<Record<string, Compression>> = { none: 'NONE', gzip: 'GZIP', zstd: 'ZSTD' }
/** After so many records everything before is durable, and remembered as such. */
const REMEMBER_RECORDS = 5000

interface State {
  /** Objects that are done, and records of the next one. */
  readonly objects: number
  readonly records: number
  readonly items: number
}

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values, positionals } = readArguments(args, OPTIONS, 'with positionals')
  const [folder] = positionals
  const { endpoint } = values
  if (folder === undefined || positionals.length > 1 || endpoint === undefined)
    throw new UsageError('give a folder DIR and --endpoint URL')
  const format = oneOf('format', FORMATS, values.format)
  const compression = oneOf('compression', COMPRESSIONS, values.compression)
  const rate = values.rate === undefined ? Infinity : readInteger('rate', values.rate, 1, RATE_MAX)
  const bucket = await openFolderAsBucket({ root: folder, randomBytes })
  const described = await tableFileIn(bucket)
  const name = values.table ?? described?.create.TableName
  if (name === undefined)
    throw new UsageError(`--table says into which table: ${folder} has no ${TABLE_FILE}`)
  const create = values.key === undefined ? described?.create : keyedTable(values.key)
  const objects = (await sourceObjects(bucket, '', { format, compression })).filter(
    ({ key }) => !key.endsWith(TABLE_FILE),
  )
  const client = await endpointClient(endpoint, values.region)
  try {
    const { keySchema, types } = await ready(client, name, create, described?.timeToLive)
    const id = createHash('sha256').update(endpoint).digest('hex').slice(0, 8)
    const resume = new ResumeFile<State>(folder, `import-${name}-${id}`)
    const begun = resume.read() ?? { objects: 0, records: 0, items: 0 }
    if (begun.items > 0) world.printError(`goes on after ${begun.items} items`)
    const pace = new CopyPace(world, rate)
    const writer = new BatchWriter(client, { table: name, keySchema })
    const csv: CsvOptions = { delimiter: values.delimiter, types }
    const parts = { bucket, objects, csv, writer, pace, resume }
    const items = await bring(parts, begun)
    resume.remove()
    world.print(`${items - writer.refused} items are in ${name} at ${endpoint}`)
    for (const reason of writer.reasons) world.printError(`refused: ${reason}`)
    if (writer.refused > 0) world.printError(`${writer.refused} items were refused`)
    return writer.refused > 0 ? 1 : 0
  } finally {
    client.destroy()
  }
}

function oneOf<Value>(name: string, known: Readonly<Record<string, Value>>, text: string): Value {
  const value = Object.hasOwn(known, text) ? known[text] : undefined
  if (value === undefined)
    throw new UsageError(`--${name} is one of ${Object.keys(known).join(', ')}, not '${text}'`)
  return value
}

interface Bringing {
  readonly bucket: Bucket
  readonly objects: readonly SourceObject[]
  readonly csv: CsvOptions
  readonly writer: BatchWriter
  readonly pace: CopyPace
  readonly resume: ResumeFile<State>
}

/** How many records there were. */
async function bring(
  { bucket, objects, csv, writer, pace, resume }: Bringing,
  begun: State,
): Promise<number> {
  let items = begun.items
  for (const [at, object] of objects.entries()) {
    if (at < begun.objects) continue
    const skipped = at === begun.objects ? begun.records : 0
    let records = 0
    let remembered = skipped
    for await (const batch of readSource(bucket, object, csv)) {
      let count = 0
      for (const record of batch.records) {
        if (++records <= skipped) continue
        count++
        await writer.add(record, object.key)
      }
      items += count
      await pace.done(count, items)
      if (records - remembered < REMEMBER_RECORDS) continue
      remembered = records
      await writer.flush()
      resume.write({ objects: at, records, items })
    }
    // What follows may be about the same items.
    await writer.flush()
    resume.write({ objects: at + 1, records: 0, items })
  }
  return items
}

async function tableFileIn(bucket: Bucket): Promise<TableFile | undefined> {
  const found = (await bucket.list('', transferLimits.objectsMax)).filter(({ key }) =>
    key.endsWith(TABLE_FILE),
  )
  const newest = found.at(-1)
  if (newest === undefined) return undefined
  await using reader = await bucket.read(newest.key)
  const chunks: Buffer[] = []
  for await (const chunk of reader.chunks()) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString()) as TableFile
}

/** `id:S,day:N`. */
function keyedTable(text: string): CreateTableCommandInput {
  const parts = text.split(',').map((part) => part.split(':'))
  if (parts.length > 2 || parts.some(([name, type]) => !name || !/^[SNB]$/.test(type ?? '')))
    throw new UsageError(`--key is such as id:S or id:S,day:N, not '${text}'`)
  return {
    TableName: '',
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: parts.map(([AttributeName], at) => ({ AttributeName, KeyType: at === 0 ? 'HASH' : 'RANGE' })),
    AttributeDefinitions: parts.map(([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType: AttributeType as KeyAttributeType,
    })),
  }
}

interface ReadyTable {
  readonly keySchema: readonly KeySchemaElement[]
  readonly types: ReadonlyMap<string, KeyAttributeType>
}

const ACTIVE_TRIES_MAX = 600
const ACTIVE_PAUSE_MS = 1000

async function ready(
  client: DynamoDB,
  TableName: string,
  create: CreateTableCommandInput | undefined,
  timeToLive: string | undefined,
): Promise<ReadyTable> {
  let isNew = false
  for (let tries = 0; tries < ACTIVE_TRIES_MAX; tries++) {
    const found = await client.describeTable({ TableName }).catch((error: unknown) => {
      if ((error as Error).name === 'ResourceNotFoundException') return undefined
      throw error
    })
    if (found === undefined) {
      if (create === undefined)
        throw new UsageError(
          `the table ${TableName} does not exist, and the folder does not describe it: --key says its key`,
        )
      await client.createTable({ ...create, TableName })
      isNew = true
    } else if (found.Table?.TableStatus === 'ACTIVE') {
      if (isNew && timeToLive !== undefined)
        await client.updateTimeToLive({
          TableName,
          TimeToLiveSpecification: { Enabled: true, AttributeName: timeToLive },
        })
      const { KeySchema = [], AttributeDefinitions = [] } = found.Table
      return {
        keySchema: KeySchema,
        types: new Map(
          AttributeDefinitions.map(({ AttributeName, AttributeType }) => [
            AttributeName!,
            AttributeType as KeyAttributeType,
          ]),
        ),
      }
    } else await new Promise((resolve) => setTimeout(resolve, ACTIVE_PAUSE_MS))
  }
  throw new Error(`the table ${TableName} did not become ACTIVE`)
}
