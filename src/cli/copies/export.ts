// seriatim export: copies a table of any endpoint into a folder, in the layout of Amazon's exports.
//
//   Scan, page by page --> files of data, each whole before the next begins --> manifests --> seriatim-table.json, how it was defined
import type { AttributeValue, DynamoDB } from '@aws-sdk/client-dynamodb'
import { randomBytes } from 'node:crypto'
import { type Bucket } from '../../buckets/buckets.js'
import { openFolderAsBucket } from '../../buckets/folder-buckets.js'
import type { Item } from '../../model/value.js'
import { fromWire, toWire } from '../../store/wire-values.js'
import { type LineBlock, writeDataFile } from '../../transfer/data-file.js'
import { jsonItemLine } from '../../transfer/dynamodb-json.js'
import { ionItemLine } from '../../transfer/ion.js'
import {
  type DataFileEntry,
  dataFileExtension,
  type ExportFacts,
  exportKeys,
  writeManifests,
  writeText,
} from '../../transfer/manifest.js'
import type { ExportFormat } from '../../transfer/transfer.js'
import { readArguments, readInteger, UsageError } from '../command/arguments.js'
import { atEndpoint } from '../command/at-endpoint.js'
import { endpointClient } from '../command/endpoint-client.js'
import type { CommandEnvironment } from '../command/environment.js'
import { CopyPace } from './pace.js'
import { ResumeFile } from './resume-file.js'
import { describedTable, TABLE_FILE } from './table-file.js'

export const help = `seriatim export TABLE --endpoint URL --to DIR [--format json|ion] [--rate ITEMS] [--region NAME]

  --endpoint URL   any DynamoDB endpoint; 'aws' for Amazon's own of the region
  --to DIR         the folder; it gets AWSDynamoDB/<id>/ as an export of Amazon's has it, and is created if it is not there
  --format json|ion
                   (json)
  --rate ITEMS     at most so many items a second
  --region NAME    (us-east-1, or AWS_REGION)

Reads the table with consistent scans, one page after another: items that are written meanwhile may be in it or not. For a table as
of one moment use ExportTableToPointInTime. A command that was interrupted goes on where it was when it is repeated. How the table was
defined is written beside the manifests, for seriatim import.`

const OPTIONS = {
  endpoint: { type: 'string' },
  to: { type: 'string' },
  format: { type: 'string', default: 'json' },
  rate: { type: 'string' },
  region: { type: 'string' },
} as const

const RATE_MAX = 999_999_999
const FILE_BYTES = 16 * 1024 * 1024
const FORMATS: Readonly<Record<string, ExportFormat>> = { json: 'DYNAMODB_JSON', ion: 'ION' }

/** After the files that are whole. */
interface State {
  readonly exportId: string
  readonly startMicros: number
  readonly files: readonly DataFileEntry[]
  /** As on the wire; absent: nothing was read yet. */
  readonly lastKey?: Item
  readonly bytes: number
}

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values, positionals } = readArguments(args, OPTIONS, 'with positionals')
  const [table] = positionals
  const { endpoint, to } = values
  if (table === undefined || positionals.length > 1 || endpoint === undefined || to === undefined)
    throw new UsageError('give a TABLE, --endpoint URL and --to DIR')
  const format = FORMATS[values.format]
  if (format === undefined) throw new UsageError(`--format is json or ion, not '${values.format}'`)
  const rate = values.rate === undefined ? Infinity : readInteger('rate', values.rate, 1, RATE_MAX)
  const client = await endpointClient(endpoint, values.region)
  try {
    const { Table } = await client.describeTable({ TableName: table }).catch(atEndpoint(endpoint))
    const resume = new ResumeFile<State>(to, `export-${table}-${values.format}`)
    const bucket = await openFolderAsBucket({ root: to, randomBytes })
    const begun = resume.read()
    if (begun !== undefined) world.printError(`goes on after ${itemsIn(begun.files)} items`)
    const startMicros = begun?.startMicros ?? Date.now() * 1000
    const exportId =
      begun?.exportId ??
      `${String(Math.floor(startMicros / 1000)).padStart(14, '0')}-${randomBytes(4).toString('hex')}`
    const tableArn = Table?.TableArn ?? `arn:aws:dynamodb:us-east-1:000000000000:table/${table}`
    const facts: ExportFacts = {
      exportArn: `${tableArn}/export/${exportId}`,
      exportId,
      tableArn,
      tableId: Table?.TableId ?? exportId,
      startMicros,
      bucket: to,
      format,
      window: { type: 'FULL_EXPORT', atMicros: startMicros },
    }
    const { home } = exportKeys(facts)
    if (begun === undefined) await writeText(bucket, `${home}/_started`, '')
    await writeText(
      bucket,
      `${home}/${TABLE_FILE}`,
      JSON.stringify(await describedTable(client, Table ?? {}), null, 2),
    )
    const pace = new CopyPace(world, rate)
    let state: State = begun ?? { exportId, startMicros, files: [], bytes: 0 }
    const copy = { client, table, bucket, facts, pace }
    for (let isMore = true; isMore;) {
      const next = await nextFile(copy, state)
      isMore = next.lastKey !== undefined
      state = next
      if (isMore) resume.write(state)
    }
    const { files, bytes: billedSizeBytes } = state
    const endMicros = Math.max(Date.now() * 1000, startMicros + 1000)
    await writeManifests(bucket, facts, { endMicros, billedSizeBytes, files })
    resume.remove()
    world.print(`${itemsIn(files)} items of ${table} are in ${to}/${home}`)
    return 0
  } finally {
    client.destroy()
  }
}

const itemsIn = (files: readonly DataFileEntry[]): number =>
  files.reduce((sum, { itemCount }) => sum + itemCount, 0)

interface Copy {
  readonly client: DynamoDB
  readonly table: string
  readonly bucket: Bucket
  readonly facts: ExportFacts
  readonly pace: CopyPace
}

/** The state after one more file; without a last key the table ends there. */
async function nextFile({ client, table, bucket, facts, pace }: Copy, state: State): Promise<State> {
  let lastKey: Record<string, AttributeValue> | undefined =
    state.lastKey && (fromWire(state.lastKey) as Record<string, AttributeValue>)
  let bytes = 0
  let items = itemsIn(state.files)
  const blocks = (async function* (): AsyncGenerator<LineBlock> {
    do {
      const answer = await client.scan({
        TableName: table,
        ConsistentRead: true,
        ...(lastKey !== undefined && { ExclusiveStartKey: lastKey }),
      })
      const found = (answer.Items ?? []).map((item) => toWire(item) as Item)
      lastKey = answer.LastEvaluatedKey
      const line = (item: Item): string =>
        facts.format === 'ION' ? ionItemLine(item) : jsonItemLine(JSON.stringify(item))
      const block = Buffer.from(found.map(line).join(''))
      bytes += block.length
      items += found.length
      await pace.done(found.length, items)
      if (found.length > 0) yield { bytes: block, items: found.length }
    } while (lastKey !== undefined && bytes < FILE_BYTES)
  })()
  const key = `${exportKeys(facts).data}/${String(state.files.length).padStart(6, '0')}-${facts.exportId.slice(-8)}.${dataFileExtension(facts.format)}`
  const file = await writeDataFile(bucket, key, blocks)
  const { lastKey: _, ...rest } = state
  return {
    ...rest,
    files: [...state.files, file],
    bytes: state.bytes + bytes,
    ...(lastKey !== undefined && { lastKey: toWire(lastKey) as Item }),
  }
}
