// An official DynamoDBClient whose requests never touch a socket: a request handler hands the SDK's serialized request
// to the dispatcher of the server box, so that errors, headers and checksums are those of the wire.
import { createRequire } from 'node:module'
import type { DynamoDBClient, DynamoDBClientConfig } from '@aws-sdk/client-dynamodb'

/** What the HTTP server and the in-process client share: one request in, one answer out. */
export interface Exchange {
  (request: {
    readonly method: string
    readonly path: string
    readonly headers: Readonly<Record<string, string | undefined>>
    readonly body: Uint8Array
  }): Promise<{
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: Uint8Array
  }>
}

interface SdkRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
}

export function inProcessClient(exchange: Exchange, config: DynamoDBClientConfig): DynamoDBClient {
  const { DynamoDBClient: Client } = loadSdk()
  return new Client({
    region: 'us-east-1',
    endpoint: 'http://localhost',
    credentials: { accessKeyId: 'in-process', secretAccessKey: 'in-process' },
    // Nobody verifies the signature of a call within one process, so none is computed.
    signer: { sign: (request) => Promise.resolve(request) },
    ...config,
    requestHandler: {
      async handle(request: SdkRequest) {
        const { status, headers, body } = await exchange({
          method: request.method,
          path: request.path,
          headers: request.headers,
          body: bytesOf(request.body),
        })
        return { response: { statusCode: status, headers, body } as never }
      },
      destroy() {},
    } as NonNullable<DynamoDBClientConfig['requestHandler']>,
  })
}

function bytesOf(body: unknown): Uint8Array {
  if (typeof body === 'string') return Buffer.from(body)
  if (body instanceof Uint8Array) return body
  return new Uint8Array()
}

function loadSdk(): typeof import('@aws-sdk/client-dynamodb') {
  try {
    return createRequire(import.meta.url)('@aws-sdk/client-dynamodb') as typeof import('@aws-sdk/client-dynamodb')
  } catch (cause) {
    throw new Error('store.client() needs the AWS SDK: npm install @aws-sdk/client-dynamodb', { cause })
  }
}
