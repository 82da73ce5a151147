// seriatim ledger digest, block, history, prove and redact: what a running server says of its ledger, and one thing that it does.
import { EXTENSION_PREFIX } from '../../port/extension.js'
import { readArguments, readInteger, UsageError } from '../command/arguments.js'
import { askEndpoint } from '../command/ask-endpoint.js'
import { credentials, type CommandEnvironment } from '../command/environment.js'
import { readEndpoint } from './ledger-trust.js'

const OPTIONS = {
  endpoint: { type: 'string' },
  version: { type: 'string' },
  transaction: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  reason: { type: 'string' },
  id: { type: 'boolean' },
} as const
type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values']
type Ask = (operation: string, input: object) => Promise<unknown>

interface AskCommand {
  readonly help: string
  run(args: readonly string[], world: CommandEnvironment): Promise<number>
}

const ENDPOINT_HELP =
  '  --endpoint URL     a running server; with keys in use, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY sign the requests'
const TRANSACTION_HELP = '  --transaction ID   the id of a transaction, or of a unit of work (tx.id)'
const ITEM_HELP = `  KEY is the key of the item as JSON, as DynamoDB writes it: '{"vin":{"S":"v1"}}'
  --id               TABLE is the id of a table, which may have been dropped`

interface Call {
  readonly ask: Ask
  readonly places: readonly string[]
  readonly values: Values
  readonly world: CommandEnvironment
}

/** `options`: those that it takes besides --endpoint. */
const command = (
  help: string,
  options: readonly Exclude<keyof typeof OPTIONS, 'endpoint'>[],
  act: (call: Call) => Promise<void>,
): AskCommand => ({
  help,
  async run(args, world) {
    const own = Object.fromEntries(
      Object.entries(OPTIONS).filter(([name]) => name === 'endpoint' || options.includes(name as never)),
    )
    const { values: found, positionals } = readArguments(args, own, 'with positionals')
    const values = found as Values
    const endpoint = readEndpoint(values.endpoint)
    const ask: Ask = (operation, input) =>
      askEndpoint({ endpoint, target: EXTENSION_PREFIX + operation, input, credentials: credentials() })
    await act({ ask, places: positionals, values, world })
    return 0
  },
})

const print = (world: CommandEnvironment, answer: unknown): void =>
  world.print(JSON.stringify(answer, undefined, 2))

export const printDigest = command(
  `seriatim ledger digest --endpoint URL\n\n${ENDPOINT_HELP}\n\nPrints the signed checkpoint of all that was committed to ledger tables, and the public key below it.`,
  [],
  async ({ ask, places, world }) => {
    if (places.length > 0) throw new UsageError('it takes no arguments but options')
    const { Checkpoint, Key } = (await ask('GetDigest', {})) as { Checkpoint: string; Key: string }
    world.print(`${Checkpoint}\n${Key}`)
  },
)

export const printBlock = command(
  `seriatim ledger block N --endpoint URL\n\n${ENDPOINT_HELP}\n\nPrints a block, by its number or by the id of its transaction.`,
  [],
  async ({ ask, places, world }) => {
    const [named = '', ...more] = places
    if (named === '' || more.length > 0)
      throw new UsageError('give the number of a block, or the id of a transaction')
    const isNumber = /^\d{1,15}$/.test(named)
    print(
      world,
      await ask('GetBlock', isNumber ? { SequenceNumber: Number(named) } : { TransactionId: named }),
    )
  },
)

export const printHistory = command(
  `seriatim ledger history TABLE KEY --endpoint URL [--from TIME] [--to TIME]
seriatim ledger history --transaction ID --endpoint URL\n\n${ENDPOINT_HELP}\n${ITEM_HELP}
  --from TIME --to TIME
                     what was current at some time between them, both inclusive, such as 2030-01-31T12:00:00Z
${TRANSACTION_HELP}

Prints the versions of an item, the oldest first, or all that one transaction has changed, one in a line.`,
  ['id', 'from', 'to', 'transaction'],
  async ({ ask, places, values, world }) => {
    const what = subjectOf(places, values)
    if (what.item !== undefined && what.transaction !== undefined)
      throw new UsageError('give either an item or --transaction, not both')
    const { from, to } = values
    if (what.item === undefined && (from !== undefined || to !== undefined))
      throw new UsageError('--from and --to are for the history of an item')
    let token: string | undefined
    do {
      const input = {
        ...(what.item ?? { TransactionId: what.transaction }),
        ...(from !== undefined && { From: from }),
        ...(to !== undefined && { To: to }),
        ...(token !== undefined && { NextToken: token }),
      }
      const page = (await ask('ListRevisions', input)) as { Revisions: readonly object[]; NextToken?: string }
      for (const revision of page.Revisions) world.print(JSON.stringify(revision))
      token = page.NextToken
    } while (token !== undefined)
  },
)

export const printProof = command(
  `seriatim ledger prove TABLE KEY --endpoint URL [--version N | --transaction ID]
seriatim ledger prove --transaction ID --endpoint URL\n\n${ENDPOINT_HELP}\n${ITEM_HELP}
  --version N        of the item; the newest unless told otherwise
${TRANSACTION_HELP}: with an item, the version
                     that it made of the item; without one, its whole block

Prints a proof of one version of an item, or of a block, as a .tlog-proof file: seriatim ledger verify checks it offline.`,
  ['id', 'version', 'transaction'],
  async ({ ask, places, values, world }) => {
    const { item, transaction } = subjectOf(places, values)
    const { version } = values
    if (version !== undefined && transaction !== undefined)
      throw new UsageError('give either --version or --transaction, not both')
    const { Size } = (await ask('GetDigest', {})) as { Size: number }
    const { Proof } = (await ask(item === undefined ? 'GetBlock' : 'GetRevision', {
      ...item,
      ...(version !== undefined && { Version: versionIn(version) }),
      ...(transaction !== undefined && { TransactionId: transaction }),
      DigestSize: Size,
    })) as { Proof: string }
    world.print(Proof.trimEnd())
  },
)

export const redactVersion = command(
  `seriatim ledger redact TABLE KEY --version N --endpoint URL [--reason TEXT]\n\n${ENDPOINT_HELP}\n${ITEM_HELP}
  --version N        which must not be the current one
  --reason TEXT      kept in the block of the redaction

Removes the data of one version of an item, for good. Its hash stays, and every proof of it still verifies, without the item.`,
  ['id', 'version', 'reason'],
  async ({ ask, places, values: { id, version, reason }, world }) => {
    if (places.length !== 2) throw new UsageError('give a table and the key of an item')
    if (version === undefined) throw new UsageError('--version says which version of the item')
    const { BlockAddress } = (await ask('RedactRevision', {
      ...itemOf(places, id),
      Version: versionIn(version),
      ...(reason !== undefined && { Reason: reason }),
    })) as { BlockAddress: { SequenceNumber: number } }
    world.print(`version ${version} is redacted; block ${BlockAddress.SequenceNumber} says so`)
  },
)

const versionIn = (text: string): number => readInteger('version', text, 0, Number.MAX_SAFE_INTEGER)

/** An item, a transaction, or both. */
function subjectOf(
  places: readonly string[],
  { id, transaction }: Values,
): { readonly item?: object; readonly transaction?: string } {
  if (places.length !== 2 && (places.length > 0 || transaction === undefined))
    throw new UsageError('give a table and the key of an item, or --transaction ID')
  return {
    ...(places.length === 2 && { item: itemOf(places, id) }),
    ...(transaction !== undefined && { transaction }),
  }
}

function itemOf([table = '', key = '']: readonly string[], id: boolean | undefined): object {
  let parsed: unknown
  try {
    parsed = JSON.parse(key)
  } catch {
    throw new UsageError(`the key of an item is JSON such as '{"vin":{"S":"v1"}}', not '${key}'`)
  }
  return { ...(id === true ? { TableId: table } : { TableName: table }), Key: parsed }
}
