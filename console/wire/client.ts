// The one way to the store: the operations of the public wire, as every other client calls them.
//
//   call --> sign, where the server wants keys --> POST / --> answer, or WireError
//              \--> MissingAuthenticationToken: the sign-in dialog --> again
//
// Every request is noted for the history screen. When the server is gone, it is asked for its health until it is back.
import { observable } from './observable.js'
import { noteRequest } from './request-log.js'
import type { Signer } from './signature.js'

const STREAMS = new Set(['ListStreams', 'DescribeStream', 'GetShardIterator', 'GetRecords'])
const EXTENSION = new Set([
  'ListTransactions',
  'ListContention',
  'ListUnitLocks',
  'UnitGetItems',
  'UnitQuery',
  'UnitScan',
  'UnitCommit',
  'UnitEnd',
  'UnitOutcome',
  'WaitForItem',
  'GetDigest',
  'GetBlock',
  'GetRevision',
  'ListRevisions',
  'RedactRevision',
  'GetLedgerFile',
])

const targetOf = (operation: string): string =>
  STREAMS.has(operation)
    ? `DynamoDBStreams_20120810.${operation}`
    : EXTENSION.has(operation)
      ? `Seriatim_20261101.${operation}`
      : `DynamoDB_20120810.${operation}`

/** An official SDK knows the operation, as one of DynamoDB itself. */
export const isDynamoDB = (operation: string): boolean => targetOf(operation).startsWith('DynamoDB_')

export type Json = Readonly<Record<string, unknown>>

/** What the server refused, in its own words. */
export class WireError extends Error {
  readonly body: Json

  constructor(name: string, message: string, body: Json) {
    super(message)
    this.name = name
    this.body = body
  }
}

/** The server did not answer: nothing is known of what became of the request. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** Whether the server answers. */
export const online = observable(true)
/** Changes whenever the server has come back, or another key is in use: what is shown is read again. */
export const epoch = observable(0)
export const signer = observable<Signer | undefined>(undefined)
/** The server wants a key, and why. */
export const wantsKey = observable<string | undefined>(undefined)

const HEALTH_INTERVAL_MS = 1500
const KEY_ERRORS = new Set([
  'MissingAuthenticationTokenException',
  'UnrecognizedClientException',
  'InvalidSignatureException',
])

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** Polling is not what a person asked for. */
  readonly isQuiet?: boolean | undefined
}

export async function call<Answer = Json>(
  operation: string,
  input: Json,
  options: CallOptions = {},
): Promise<Answer> {
  const startedMs = Date.now()
  const start = performance.now()
  const note = (result: string): void => {
    if (options.isQuiet !== true)
      noteRequest({ operation, input, startedMs, tookMs: performance.now() - start, result })
  }
  try {
    const answer = await post(operation, input, options.signal)
    note('ok')
    return answer as Answer
  } catch (error) {
    note(error instanceof Error ? error.name : 'error')
    throw error
  }
}

async function post(operation: string, input: Json, signal: AbortSignal | undefined): Promise<Json> {
  const body = JSON.stringify(input)
  const headers: Record<string, string> = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': targetOf(operation),
  }
  const key = signer.get()
  const signed = key === undefined ? headers : await key.sign(headers, body)
  let response: Response
  let text: string
  try {
    response = await fetch('/', {
      method: 'POST',
      headers: signed,
      body,
      credentials: 'omit',
      ...(signal && { signal }),
    })
    text = await response.text()
  } catch (error) {
    if (signal?.aborted === true) throw error
    goneAway()
    throw new NoAnswer('The server does not answer. It is asked again until it is back.')
  }
  online.set(true)
  const answer = parsed(text)
  if (response.ok) return answer
  const name = /[^#]*$/.exec(textIn(answer['__type']))?.[0] ?? ''
  const message = textIn(answer['message']) || textIn(answer['Message']) || `status ${response.status}`
  if (KEY_ERRORS.has(name)) {
    signer.set(undefined)
    wantsKey.set(key === undefined ? '' : message)
  }
  throw new WireError(name === '' ? `HTTP ${response.status}` : name, message, answer)
}

const textIn = (value: unknown): string => (typeof value === 'string' ? value : '')

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return { message: text.slice(0, 500) }
  }
}

let asking: ReturnType<typeof setTimeout> | undefined

function goneAway(): void {
  online.set(false)
  asking ??= setTimeout(askHealth, HEALTH_INTERVAL_MS)
}

async function askHealth(): Promise<void> {
  asking = undefined
  try {
    const response = await fetch('/health', { cache: 'no-store' })
    if (!response.ok) throw new Error(String(response.status))
    online.set(true)
    epoch.set(epoch.get() + 1)
  } catch {
    asking = setTimeout(() => void askHealth(), HEALTH_INTERVAL_MS)
  }
}

export function useKey(next: Signer): void {
  signer.set(next)
  wantsKey.set(undefined)
  epoch.set(epoch.get() + 1)
}

export function forgetKey(): void {
  signer.set(undefined)
  wantsKey.set('')
}
