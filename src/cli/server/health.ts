// seriatim health: asks a running server whether it is well, for the health checks of containers and supervisors.
import { readArguments, UsageError } from '../command/arguments.js'
import type { CommandEnvironment } from '../command/environment.js'

export const help = `seriatim health [--endpoint URL]

  --endpoint URL   the server: http://127.0.0.1:8000 unless told otherwise

Asks for GET /health, which needs no keys. Ends with 0 if the server is healthy, and with 1 and a sentence if it says
otherwise or does not answer within 5 seconds.`

const OPTIONS = { endpoint: { type: 'string', default: 'http://127.0.0.1:8000' } } as const

const ANSWER_MS_MAX = 5_000
const ANSWER_BYTES_MAX = 1_024

export async function run(args: readonly string[], world: CommandEnvironment): Promise<number> {
  const { endpoint } = readArguments(args, OPTIONS).values
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol))
    throw new UsageError(`--endpoint must be a URL such as http://127.0.0.1:8000, not '${endpoint}'`)
  const { status, text } = await answerOf(new URL('/health', endpoint)).catch((error: unknown) => {
    throw new Error(`${endpoint} does not answer: ${reasonOf(error)}`, { cause: error })
  })
  if (status !== 200) throw new Error(`${endpoint} is not healthy: it answers with status ${status}`)
  if (statusIn(text) !== 'ok') throw new Error(`${endpoint} answers, but not as a Seriatim server does`)
  world.print(`${endpoint} is healthy`)
  return 0
}

async function answerOf(url: URL): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX), redirect: 'manual' })
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > ANSWER_BYTES_MAX) break
  }
  return { status: response.status, text: Buffer.concat(chunks).toString() }
}

/** Undefined if the answer is not that of a Seriatim server. */
function statusIn(text: string): unknown {
  try {
    return (JSON.parse(text) as { readonly status?: unknown } | null)?.status
  } catch {
    return undefined
  }
}

function reasonOf(error: unknown): string {
  const { cause, message, name } = error as Error
  if (name === 'TimeoutError') return `nothing came within ${ANSWER_MS_MAX / 1000} seconds`
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}
