// Operations that DynamoDB does not have, through an official DynamoDBClient: same connection, signature and retries.
//
//   a command of the SDK --serialize--> target and body replaced --build, sign--> endpoint
//   its answer <--deserialize-- an empty success <-- the body, taken here          (an error is left as it is)
import { EXTENSION_PREFIX } from '../../port/extension.js'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { CallOptions } from './endpoint.js'
import { loadSdk } from './sdk.js'

/** The parts of the SDK's HTTP request and response that are looked at. */
interface SdkRequest {
  headers: Record<string, string>
  body: unknown
}
interface SdkResponse {
  readonly statusCode: number
  readonly headers: Record<string, string>
  body: unknown
}
interface Taken {
  body?: Uint8Array
}

type Handler = (args: { request: SdkRequest }) => Promise<{ response: SdkResponse }>
interface MiddlewareStack {
  add(middleware: (next: Handler) => Handler, options: Readonly<Record<string, string>>): void
}

/** A command of the SDK, as far as its sends are watched. */
export interface SdkCommand {
  readonly middlewareStack: unknown
}

/** Tells of every send of this command that fails, also of those after which the SDK sends again. */
export function tellSends(command: SdkCommand, sendFailed: (error: unknown) => void): void {
  const stack = command.middlewareStack as MiddlewareStack
  // The SDK's retries are at the beginning of this step, so that this runs once for each of them.
  stack.add(
    (next) => async (args) => {
      try {
        return await next(args)
      } catch (error) {
        sendFailed(error)
        throw error
      }
    },
    { step: 'finalizeRequest', priority: 'low' },
  )
}

/** A success whose body is not JSON: no answer of Seriatim's. */
class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer'
  readonly $metadata = { httpStatusCode: 200 }
}

/**
 * One of Seriatim's own operations, by name; input and answer are the JSON of the wire (bytes in base64). Endpoints that
 * do not know it refuse it, each in a way of its own.
 *
 * @example
 *   const list = await callExtension(client, 'ListTransactions', { Limit: 10 })
 */
export async function callExtension(
  client: DynamoDBClient,
  operation: string,
  input: object,
  options: CallOptions = {},
): Promise<unknown> {
  const { DescribeEndpointsCommand } = await loadSdk()
  const command = new DescribeEndpointsCommand({})
  const taken: Taken = {}
  const stack = command.middlewareStack as unknown as MiddlewareStack
  // Before the length of the body is measured and the request is signed.
  stack.add((next) => (args) => next(replaced(args, operation, input)), { step: 'build', priority: 'high' })
  // Next to the socket, inside of what parses an answer.
  stack.add((next) => async (args) => take(await next(args), taken), { step: 'deserialize', priority: 'low' })
  const { signal, sendFailed } = options
  if (sendFailed !== undefined) tellSends(command, sendFailed)
  await client.send(command, signal === undefined ? {} : { abortSignal: signal })
  try {
    return JSON.parse(utf8.decode(taken.body)) as unknown
  } catch (cause) {
    throw new UnreadableAnswer(`the answer to ${operation} is not JSON`, { cause })
  }
}

function replaced(args: { request: SdkRequest }, operation: string, input: object): { request: SdkRequest } {
  const { request } = args
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (name.toLowerCase() !== 'x-amz-target' && name.toLowerCase() !== 'content-length')
      headers[name] = value
  }
  headers['x-amz-target'] = EXTENSION_PREFIX + operation
  request.headers = headers
  request.body = JSON.stringify(input)
  return args
}

const utf8 = new TextDecoder()
const EMPTY_SUCCESS = new TextEncoder().encode('{"Endpoints":[]}')

async function take(result: { response: SdkResponse }, taken: Taken): Promise<{ response: SdkResponse }> {
  const { response } = result
  const body = await bytesOf(response.body)
  if (response.statusCode < 300) {
    taken.body = body
    response.body = EMPTY_SUCCESS
  } else {
    response.body = body
  }
  return result
}

/** A stream from a socket, or bytes from a client without one. */
async function bytesOf(body: unknown): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body
  if (typeof body === 'string') return new TextEncoder().encode(body)
  const chunks: Uint8Array[] = []
  for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk)
  return Buffer.concat(chunks)
}
