// An official client of the AWS SDK whose requests never touch a socket: its request handler gives the SDK's serialized
// request to the dispatcher that the HTTP server uses, so that errors, headers and checksums are those of the wire.
import { createRequire } from 'node:module'
import type { DynamoDB, DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'
import type { DynamoDBStreams, DynamoDBStreamsClientConfig } from '@aws-sdk/client-dynamodb-streams'
import type { LoopYield } from '../runtime/loop-yield.js'
import type { Dispatcher } from '../server/dispatch/dispatch.js'

type Handler = NonNullable<DynamoDBClientConfig['requestHandler']>

/** The parts of the SDK's HttpRequest that are looked at. */
interface SdkRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** A DynamoDBClient, and all its operations as methods besides: some libraries call those. */
export function inProcessClient(
  dispatcher: Dispatcher,
  share: LoopYield,
  config: DynamoDBClientConfig,
): DynamoDB {
  const { DynamoDB: Client } = load('client', '@aws-sdk/client-dynamodb') as Sdk
  const requestHandler = handlerOf(dispatcher, share, config.region)
  return new Client({ ...defaults, ...config, requestHandler })
}

/** The same for streams. */
export function inProcessStreamsClient(
  dispatcher: Dispatcher,
  share: LoopYield,
  config: DynamoDBStreamsClientConfig,
): DynamoDBStreams {
  const { DynamoDBStreams: Client } = load('streamsClient', '@aws-sdk/client-dynamodb-streams') as StreamsSdk
  const requestHandler = handlerOf(dispatcher, share, config.region)
  return new Client({ ...defaults, ...config, requestHandler })
}

const defaults: Pick<DynamoDBClientConfig, 'region' | 'endpoint' | 'credentials' | 'signer'> = {
  region: 'us-east-1',
  endpoint: 'http://localhost',
  credentials: { accessKeyId: 'in-process', secretAccessKey: 'in-process' },
  // A signature within one process would prove nothing, so none is computed.
  signer: { sign: (request) => Promise.resolve(request) },
}

function handlerOf(
  dispatcher: Dispatcher,
  share: LoopYield,
  region: DynamoDBClientConfig['region'],
): Handler {
  // In place of a signature: ARNs carry the region that a request is signed for.
  const authorization =
    typeof region === 'string'
      ? `AWS4-HMAC-SHA256 Credential=in-process/0/${region}/dynamodb/aws4_request`
      : undefined
  const handler = {
    async handle(request: SdkRequest) {
      const sent = lowerCased(request.headers)
      if (authorization !== undefined) sent['authorization'] ??= authorization
      const head = { method: request.method, url: request.path, headers: sent }
      const answer = await share.of(Promise.resolve(dispatcher.dispatch(head, bytesOf(request.body))))
      const headers: Record<string, string> = {}
      for (let at = 0; at + 1 < answer.headers.length; at += 2) {
        headers[(answer.headers[at] as string).toLowerCase()] = answer.headers[at + 1] as string
      }
      return { response: { statusCode: answer.status, headers, body: answer.body } }
    },
    destroy() {},
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
  }
  // The SDK tells a response by its members, not by its class.
  return handler as Handler
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

function bytesOf(body: unknown): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return Buffer.alloc(0)
}

type Sdk = typeof import('@aws-sdk/client-dynamodb')
type StreamsSdk = typeof import('@aws-sdk/client-dynamodb-streams')

/** Loaded on the first use: it costs more to load than the whole store. */
function load(method: string, name: string): unknown {
  try {
    return createRequire(import.meta.url)(name) as unknown
  } catch (cause) {
    throw new Error(`store.${method}() needs the AWS SDK: npm install ${name}`, { cause })
  }
}
