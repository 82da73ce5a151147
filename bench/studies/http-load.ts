// A load generator for anything that speaks HTTP/1.1 with keep-alive: N connections, each sends the same prebuilt bytes,
// waits for the whole answer (by its content-length), and sends again. Run it in a process of its own, so that it
// competes with the server for nothing but the processor:
//
//   node dist/bench/studies/http-load.js --port 8000 --connections 16 --seconds 3 --operation GetItem --body '{"TableName":"t",...}'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { parseArgs } from 'node:util'
import { pathToFileURL } from 'node:url'

export interface LoadOptions {
  readonly host: string
  readonly port: number
  readonly connections: number
  readonly durationMs: number
  /** The bytes of one request; a function makes them anew for each, by its number. */
  readonly request: Buffer | ((sequence: number) => Buffer)
}

export interface LoadResult {
  readonly responses: number
  /** Answers with another status than 200. */
  readonly failures: number
  readonly seconds: number
  readonly perSecond: number
  readonly latencyMicrosP50: number
  readonly latencyMicrosP99: number
}

const HEADER_END = Buffer.from('\r\n\r\n')
const LATENCIES_MAX = 2_000_000

/** Peers want to see a signature, although none of them checks it. */
const SIGNED =
  'authorization: AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, ' +
  'Signature=0\r\nx-amz-date: 20260101T000000Z\r\n'

/** The bytes of a request for an operation of DynamoDB. */
export function requestBytes(host: string, port: number, operation: string, body: string): Buffer {
  const length = Buffer.byteLength(body)
  return Buffer.from(
    `POST / HTTP/1.1\r\nhost: ${host}:${port}\r\ncontent-type: application/x-amz-json-1.0\r\n${SIGNED}` +
      `x-amz-target: DynamoDB_20120810.${operation}\r\ncontent-length: ${length}\r\n\r\n${body}`,
  )
}

const POOL_MAX = 5000

/** Keys of the benchmarks: `user-000042`. */
export const benchKey = (number: number): string => `user-${String(number).padStart(6, '0')}`

/** Requests made before the clock starts, so that making them costs the run nothing. */
export function requestPool(
  host: string,
  port: number,
  operation: string,
  body: string,
  keys: number,
): Buffer[] {
  return Array.from({ length: Math.min(keys, POOL_MAX) }, () => {
    const key = benchKey(Math.floor(Math.random() * keys))
    return requestBytes(host, port, operation, body.replaceAll('%KEY%', key))
  })
}

/** Runs the load and resolves when its time is over. Rejects if the server closes a connection or sends no length. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const latencies = new Float64Array(LATENCIES_MAX)
  const counts = { responses: 0, failures: 0, sent: 0 }
  const start = performance.now()
  const end = start + options.durationMs
  await Promise.all(
    Array.from({ length: options.connections }, () => oneClient(options, end, counts, latencies)),
  )
  const seconds = (performance.now() - start) / 1000
  const sorted = latencies.subarray(0, Math.min(counts.responses, LATENCIES_MAX)).toSorted()
  const quantile = (q: number): number => Math.round((sorted[Math.floor(q * sorted.length)] ?? 0) * 1000)
  return {
    responses: counts.responses,
    failures: counts.failures,
    seconds,
    perSecond: Math.round(counts.responses / seconds),
    latencyMicrosP50: quantile(0.5),
    latencyMicrosP99: quantile(0.99),
  }
}

function oneClient(
  options: LoadOptions,
  end: number,
  counts: { responses: number; failures: number; sent: number },
  latencies: Float64Array,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const { request } = options
    let sentAt = 0
    let received: Buffer | undefined
    /** Bytes of the current answer still to come; undefined while its header is incomplete. */
    let missing: number | undefined
    const send = (socket: Socket): void => {
      sentAt = performance.now()
      socket.write(typeof request === 'function' ? request(counts.sent++) : request)
    }
    const socket = connect({ host: options.host, port: options.port, noDelay: true }, () => send(socket))
    socket.on('data', (chunk: Buffer) => {
      if (missing === undefined) {
        received = received === undefined ? chunk : Buffer.concat([received, chunk])
        const headerEnd = received.indexOf(HEADER_END)
        if (headerEnd === -1) return
        const header = received.toString('latin1', 0, headerEnd)
        const length = /\r\ncontent-length: *(\d+)/i.exec(header)
        if (length === null) {
          socket.destroy(new Error(`an answer without content-length:\n${header}`))
          return
        }
        if (!header.startsWith('HTTP/1.1 200')) counts.failures++
        missing = Number(length[1]) - (received.length - headerEnd - HEADER_END.length)
        received = undefined
      } else {
        missing -= chunk.length
      }
      if (missing > 0) return
      missing = undefined
      const now = performance.now()
      if (counts.responses < LATENCIES_MAX) latencies[counts.responses] = now - sentAt
      counts.responses++
      if (now < end) {
        send(socket)
      } else {
        socket.destroy()
        resolve()
      }
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
  })
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: {
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'string', default: '8000' },
      connections: { type: 'string', default: '16' },
      seconds: { type: 'string', default: '3' },
      operation: { type: 'string', default: 'ListTables' },
      body: { type: 'string', default: '{}' },
      /** `%KEY%` in the body stands for one of this many keys, drawn uniformly. */
      keys: { type: 'string', default: '1' },
      /** A file with a JSON array of bodies, sent in turn, instead of --body. */
      bodies: { type: 'string' },
    },
  })
  const port = Number(values.port)
  const requests =
    values.bodies === undefined
      ? requestPool(values.host, port, values.operation, values.body, Number(values.keys))
      : (JSON.parse(readFileSync(values.bodies, 'utf8')) as string[]).map((body) =>
          requestBytes(values.host, port, values.operation, body),
        )
  const result = await load({
    host: values.host,
    port,
    connections: Number(values.connections),
    durationMs: Number(values.seconds) * 1000,
    request: (sequence) => requests[sequence % requests.length] as Buffer,
  })
  console.log(JSON.stringify(result))
}
