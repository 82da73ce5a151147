// seriatim mcp: the tables of an endpoint as tools of the Model Context Protocol, for agents and editors.
import { verifyProof } from '../../verify/proof.js'
import { readArguments, readInteger, UsageError } from '../command/arguments.js'
import { askEndpoint } from '../command/ask-endpoint.js'
import { credentials, type CommandEnvironment } from '../command/environment.js'
import { nodeEd25519, readEndpoint, readTrust, TRUST_HELP, TRUST_OPTIONS } from '../ledger/ledger-trust.js'
import { readingTools, type ReadingTerms } from './reading-tools.js'
import { serveTools } from './tool-server.js'
import { writingTools } from './writing-tools.js'
import { version } from '../command/version.js'

export const help = `seriatim mcp --endpoint URL [--write TABLE ...] [--answer-kb N] [--key KEY]

  --endpoint URL     a running server, or any DynamoDB endpoint; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY sign the requests
  --write TABLE      tools that write are there, for this table; may be repeated. Without it every tool only reads
  --answer-kb N      the longest answer of a tool in KB, 4 to 1024: 64
${TRUST_HELP}
                     Without --key a proof is checked by the key that the endpoint itself gives

A server of the Model Context Protocol on its standard input and output, for agents and editors: tables, items, queries, PartiQL,
EXPLAIN, transactions in flight, and the history and proofs of ledger tables. Ends when its input ends.`

const OPTIONS = {
  endpoint: { type: 'string' },
  write: { type: 'string', multiple: true, default: [] as string[] },
  'answer-kb': { type: 'string', default: '64' },
  ...TRUST_OPTIONS,
} as const

const TABLE_NAME = /^[a-zA-Z0-9_.-]{3,255}$/

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { values } = readArguments(args, OPTIONS)
  const endpoint = endpointWithoutKeys(values.endpoint)
  const wrong = values.write.find((table) => !TABLE_NAME.test(table))
  if (wrong !== undefined) throw new UsageError(`--write takes the name of a table, not '${wrong}'`)
  const answerBytesMax = readInteger('answer-kb', values['answer-kb'], 4, 1024) * 1024
  const writableTables = new Set(values.write)
  const reading = readingTools({ answerBytesMax, writableTables, prove: proverOf(values) })
  const writing = writableTables.size === 0 ? [] : writingTools(writableTables, answerBytesMax)
  const keys = credentials()
  const stop = new AbortController()
  const unsubscribe = world.onSignal(() => stop.abort())
  try {
    await serveTools(
      {
        version: version(),
        tools: [...reading, ...writing],
        ask: (target, input, signal) => askEndpoint({ endpoint, target, input, credentials: keys, signal }),
      },
      stop.signal,
    )
  } finally {
    unsubscribe()
  }
  return 0
}

/** Errors name the endpoint, and models read errors: a secret has no place in it. */
function endpointWithoutKeys(text: string | undefined): string {
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined
  if (url !== undefined && (url.username !== '' || url.password !== ''))
    throw new UsageError(
      '--endpoint must have no user and no password; AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY sign the requests',
    )
  return readEndpoint(text)
}

function proverOf(values: Parameters<typeof readTrust>[0]): ReadingTerms['prove'] {
  const given = values.key === undefined ? undefined : readTrust(values)
  return async (proof, key) => ({
    proven: await verifyProof(proof, given ?? { key, ed25519: nodeEd25519 }),
    keyFrom: given === undefined ? 'the endpoint itself' : '--key',
  })
}
