// Where `seriatim transactions` finds them: a running server, or a folder that nobody uses.
import { EXTENSION_PREFIX } from '../port/extension.js'
import { createHmac } from 'node:crypto'
import { access } from 'node:fs/promises'
import { storedShapes } from '../router/tables/catalog.js'
import { type TransactionList, transactionList } from '../router/transactions/transaction-list.js'
import { realRuntime } from '../runtime/real-runtime.js'
import { deriveSigningKey, stringToSign } from '../server/access/sigv4.js'
import { openLocalNodes } from '../storage/folder/open-local-node.js'

export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

/** The nodes are opened without a coordinator and without recovery, so nothing is finished. */
export async function transactionsIn(path: string, limit: number): Promise<TransactionList> {
  await access(path).catch(() => {
    throw new Error(`there is no folder ${path}`)
  })
  const runtime = realRuntime()
  const nodes = await openLocalNodes({ runtime, path })
  try {
    const [home] = nodes
    const shapes = home === undefined ? [] : await storedShapes(home)
    return await transactionList({ nodes, shapes, ended: [], nowMicros: runtime.clock.nowMicros() }, limit)
  } finally {
    await Promise.all(nodes.map((node) => node.close()))
  }
}

const ANSWER_TIMEOUT_MS = 30_000

export async function transactionsOf(
  endpoint: string,
  limit: number,
  credentials: Credentials | undefined,
): Promise<TransactionList> {
  const body = JSON.stringify({ Limit: limit })
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': `${EXTENSION_PREFIX}ListTransactions`,
  }
  const signed = credentials === undefined ? headers : sign(endpoint, headers, body, credentials, new Date())
  const response = await fetch(new URL('/', endpoint), {
    method: 'POST',
    headers: signed,
    body,
    signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
  }).catch((error: unknown) => {
    throw new Error(`${endpoint} does not answer: ${causeOf(error)}`, { cause: error })
  })
  const answer = (await response.json()) as { readonly message?: string; readonly Message?: string }
  if (response.ok) return answer as unknown as TransactionList
  throw new Error(`${endpoint} answers: ${answer.message ?? answer.Message ?? response.statusText}`)
}

const causeOf = (error: unknown): string => {
  const { cause, message } = error as Error
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}

function sign(
  endpoint: string,
  given: Readonly<Record<string, string>>,
  body: string,
  { accessKeyId, secretAccessKey }: Credentials,
  now: Date,
): Record<string, string> {
  const date = now.toISOString().replace(/[-:]|\.\d{3}/g, '')
  const scope = `${date.slice(0, 8)}/us-east-1/dynamodb/aws4_request`
  const headers = { ...given, host: new URL(endpoint).host, 'x-amz-date': date }
  const signedHeaders = Object.keys(headers).toSorted()
  const claim = { accessKeyId, scope, date, signedHeaders, signature: Buffer.alloc(0) }
  const text = stringToSign(claim, 'POST', headers, Buffer.from(body))
  const signature = createHmac('sha256', deriveSigningKey(secretAccessKey, scope)).update(text).digest('hex')
  return {
    ...given,
    'x-amz-date': date,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signedHeaders.join(';')}, Signature=${signature}`,
  }
}
