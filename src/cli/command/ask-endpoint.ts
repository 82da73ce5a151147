// One request to a running server, signed if there are keys, without the SDK.
import { createHmac } from 'node:crypto'
import { deriveSigningKey, stringToSign } from '../../server/access/sigv4.js'

export interface Credentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
}

export interface EndpointRequest {
  readonly endpoint: string
  /** Of the operation, with its prefix. */
  readonly target: string
  readonly input: object
  readonly credentials: Credentials | undefined
  readonly signal?: AbortSignal
}

/** The endpoint answered, and refused. */
export class Refused extends Error {
  override readonly name = 'Refused'
  /** DynamoDB's name of the error. */
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const ANSWER_TIMEOUT_MS = 30_000

/** The parsed answer. */
export async function askEndpoint(request: EndpointRequest): Promise<unknown> {
  const { endpoint, target, input, credentials, signal } = request
  const body = JSON.stringify(input)
  const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target }
  const signed =
    credentials === undefined ? headers : sign('POST', new URL('/', endpoint), headers, body, credentials)
  const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
  const response = await fetch(new URL('/', endpoint), {
    method: 'POST',
    headers: signed,
    body,
    signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
  }).catch((error: unknown) => {
    throw new Error(`${endpoint} does not answer: ${causeOf(error)}`, { cause: error })
  })
  const answer = (await response.json()) as {
    readonly __type?: string
    readonly message?: string
    readonly Message?: string
  }
  if (response.ok) return answer
  const code = answer.__type?.split('#').at(-1) ?? String(response.status)
  throw new Refused(code, `${endpoint} answers: ${answer.message ?? answer.Message ?? response.statusText}`)
}

const causeOf = (error: unknown): string => {
  const { cause, message } = error as Error
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}

/** The headers of a GET that has no others; none without keys. */
export const signedGet = (url: URL, credentials: Credentials | undefined): Record<string, string> =>
  credentials === undefined ? {} : sign('GET', url, {}, '', credentials)

function sign(
  method: 'GET' | 'POST',
  url: URL,
  given: Readonly<Record<string, string>>,
  body: string,
  { accessKeyId, secretAccessKey }: Credentials,
): Record<string, string> {
  const date = new Date().toISOString().replace(/[-:]|\.\d{3}/g, '')
  const scope = `${date.slice(0, 8)}/us-east-1/dynamodb/aws4_request`
  const headers = { ...given, host: url.host, 'x-amz-date': date }
  const signedHeaders = Object.keys(headers).toSorted()
  const claim = { accessKeyId, scope, date, signedHeaders, signature: Buffer.alloc(0) }
  const text = stringToSign(claim, { method, url: url.pathname, headers }, Buffer.from(body))
  const signature = createHmac('sha256', deriveSigningKey(secretAccessKey, scope)).update(text).digest('hex')
  return {
    ...given,
    'x-amz-date': date,
    authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signedHeaders.join(';')}, Signature=${signature}`,
  }
}
