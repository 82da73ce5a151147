// seriatim transactions: transactions in flight, stalled, and recently completed, with the reasons of cancelled ones.
import type {
  InFlightTransaction,
  ListedItem,
  RecentTransaction,
  TransactionList,
} from '../../router/transactions/transaction-list.js'
import { readArguments, readInteger, UsageError } from '../command/arguments.js'
import type { CommandEnvironment } from '../command/environment.js'

export const help = `seriatim transactions (--endpoint URL | --path DIR) [--limit N] [--json]

  --endpoint URL   ask a running server; with keys in use, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY sign the request
  --path DIR       look into a folder of data that no server is using; nothing is finished or cancelled by that
  --limit N        at most so many of each kind: 100
  --json           the answer as it is`

const OPTIONS = {
  endpoint: { type: 'string' },
  path: { type: 'string' },
  limit: { type: 'string', default: '100' },
  json: { type: 'boolean' },
} as const

const LIMIT_MAX = 1000

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values } = readArguments(args, OPTIONS)
  const limit = readInteger('limit', values.limit, 1, LIMIT_MAX)
  const { endpoint, path } = values
  if ((endpoint === undefined) === (path === undefined)) {
    throw new UsageError('give either --endpoint URL or --path DIR')
  }
  if (endpoint !== undefined && !URL.canParse(endpoint)) {
    throw new UsageError(`--endpoint must be a URL such as http://127.0.0.1:8000, not '${endpoint}'`)
  }
  if (path === '') throw new UsageError('--path must name a folder')
  const list = await world.listTransactions(
    endpoint === undefined ? { path: path as string } : { endpoint },
    limit,
  )
  if (values.json === true) world.print(JSON.stringify(list, undefined, 2))
  else for (const line of linesOf(list)) world.print(line)
  return 0
}

function linesOf({ InFlight, Recent }: TransactionList): readonly string[] {
  const stalled = InFlight.filter(({ Stalled }) => Stalled).length
  return [
    `In flight: ${InFlight.length}${stalled > 0 ? `, of which ${stalled} stalled` : ''}`,
    ...InFlight.flatMap((each) => [`  ${inFlightLine(each)}`, ...itemLines(each)]),
    `Recently done: ${Recent.length}`,
    ...Recent.flatMap((each) => [`  ${recentLine(each)}`, ...itemLines(each)]),
  ]
}

/** One for each item that is known, and one for how many more there are. */
function itemLines({
  Items = [],
  ItemCount = Items.length,
}: {
  readonly Items?: readonly ListedItem[]
  readonly ItemCount?: number
}): readonly string[] {
  const lines = Items.map(
    ({ TableName, Key }) =>
      `      ${TableName ?? 'a table that was dropped'} ${Key === undefined ? '' : JSON.stringify(Key)}`,
  )
  return ItemCount > Items.length ? [...lines, `      and ${ItemCount - Items.length} more`] : lines
}

function inFlightLine({
  TransactionId,
  State,
  Stalled,
  BegunDateTime,
  Participants,
}: InFlightTransaction): string {
  const nodes = Participants.map(({ Node, Items }) =>
    Items === undefined ? `node ${Node}` : `node ${Node}: ${Items} item${Items === 1 ? '' : 's'}`,
  ).join(', ')
  const begun = BegunDateTime === undefined ? '' : ` since ${shownTime(BegunDateTime)}`
  return `${TransactionId}  ${State.toLowerCase()}${begun}${Stalled ? ', stalled' : ''}  (${nodes})`
}

function recentLine({
  TransactionId,
  Outcome,
  CompletedDateTime,
  CancellationReasons,
}: RecentTransaction): string {
  const at = CompletedDateTime === undefined ? '' : ` at ${shownTime(CompletedDateTime)}`
  const reasons = CancellationReasons?.map(({ Code }) => Code) ?? []
  return `${TransactionId}  ${Outcome.toLowerCase()}${at}${reasons.length > 0 ? `  [${reasons.join(', ')}]` : ''}`
}

const shownTime = (seconds: number): string => new Date(seconds * 1000).toISOString()
