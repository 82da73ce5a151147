// seriatim changes: follows a table on the terminal.
import { unmarshallItem } from '../../toolkit/values/values.js'
import type { Item } from '../../model/value.js'
import { readArguments, UsageError } from '../command/arguments.js'
import { askEndpoint, type Credentials } from '../command/ask-endpoint.js'
import { credentials, type CommandEnvironment } from '../command/environment.js'
import { followStream, type WireRecord } from './follow-stream.js'

export const help = `seriatim changes --endpoint URL TABLE [--from start|now|NUMBER] [--json]

  --endpoint URL   a running server; with keys in use, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY sign the requests
  --from PLACE     start: with the oldest change that is kept; now, the default: with the next one; a sequence number: with
                   the one after it
  --json           each change as the record of the stream, in one line

Prints the changes of the table's items as they are committed, until SIGINT or SIGTERM. The table needs a stream.`

const OPTIONS = {
  endpoint: { type: 'string' },
  from: { type: 'string', default: 'now' },
  json: { type: 'boolean', default: false },
} as const

const PAUSE_MS = 200
const DYNAMODB = 'DynamoDB_20120810.'
const STREAMS = 'DynamoDBStreams_20120810.'

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values, positionals } = readArguments(args, OPTIONS, 'with positionals')
  const [table, ...more] = positionals
  const { endpoint, from, json } = values
  if (endpoint === undefined || table === undefined || more.length > 0)
    throw new UsageError('give --endpoint URL and the name of one table')
  if (!URL.canParse(endpoint))
    throw new UsageError(`--endpoint must be a URL such as http://127.0.0.1:8000, not '${endpoint}'`)
  if (from !== 'start' && from !== 'now' && !/^\d{1,40}$/.test(from))
    throw new UsageError(`--from is start, now or a sequence number, not '${from}'`)
  const ending = new AbortController()
  const offSignal = world.onSignal(() => ending.abort())
  const { signal } = ending
  const ask = (target: string, input: object, keys: Credentials | undefined): Promise<unknown> =>
    askEndpoint({ endpoint, target, input, credentials: keys, signal })
  try {
    const keys = credentials()
    const streamArn = await streamArnOf(table, endpoint, (input) =>
      ask(`${DYNAMODB}DescribeTable`, input, keys),
    )
    const reading = {
      streamArn,
      from,
      signal,
      pauseMs: PAUSE_MS,
      ask: (operation: string, input: object) => ask(STREAMS + operation, input, keys),
    }
    for await (const record of followStream(reading))
      world.print(json ? JSON.stringify(record) : lineOf(record))
    world.printError(`seriatim changes: the stream of ${table} has ended`)
    return 0
  } catch (error) {
    if (signal.aborted) return 0
    throw error
  } finally {
    offSignal()
  }
}

async function streamArnOf(
  table: string,
  endpoint: string,
  describe: (input: object) => Promise<unknown>,
): Promise<string> {
  const { Table } = (await describe({ TableName: table })) as {
    readonly Table: {
      readonly LatestStreamArn?: string
      readonly StreamSpecification?: { readonly StreamEnabled?: boolean }
    }
  }
  const { LatestStreamArn, StreamSpecification } = Table
  if (LatestStreamArn !== undefined && StreamSpecification?.StreamEnabled === true) return LatestStreamArn
  throw new Error(
    `the table ${table} has no stream. Enable one: aws dynamodb update-table --endpoint-url ${endpoint} --table-name ${table} ` +
      '--stream-specification StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES',
  )
}

/** Time, sequence number, event, key, and the images that there are. */
function lineOf({ eventName, dynamodb }: WireRecord): string {
  const { ApproximateCreationDateTime: seconds, SequenceNumber, Keys, OldImage, NewImage } = dynamodb
  const parts = [
    new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'),
    SequenceNumber,
    eventName.padEnd(6),
    shown(Keys),
  ]
  if (OldImage !== undefined) parts.push(`old ${shown(OldImage)}`)
  if (NewImage !== undefined) parts.push(`new ${shown(NewImage)}`)
  return parts.join('  ')
}

const shown = (item: object): string =>
  JSON.stringify(unmarshallItem(item as Item), (_, value: unknown) => {
    if (typeof value === 'bigint') return value.toString()
    if (value instanceof Set) return [...(value as Set<unknown>)]
    if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
    return value
  })
