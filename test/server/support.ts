// A router of a few lines for the tests of the edge, and a client that sends exactly the bytes it is told to.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { DynamoError } from '../../src/model/errors.js'
import type { Router, RouterReply, RouterRequest } from '../../src/router/request/router.js'
import { open } from '../../src/store/store.js'
import { listen, type ListenOptions, type RunningServer } from '../../src/server/http-server.js'

/** Answers every operation with what it was asked; DescribeTable is refused, as for a table that does not exist. */
export const echoRouter: Router = {
  operations: ['GetItem', 'PutItem', 'ListTables', 'DescribeTable', 'ListStreams'],
  handle: async ({ operation, input, principal }) => {
    if (operation === 'DescribeTable') {
      return {
        ok: false,
        error: new DynamoError('ResourceNotFoundException', 'Requested resource not found'),
      }
    }
    return { ok: true, body: Buffer.from(JSON.stringify({ operation, input, principal: principal.name })) }
  },
}

/** A router whose answers the test gives one by one, in the order of the requests. */
export function heldRouter() {
  const asked: RouterRequest[] = []
  const pending: ((reply: RouterReply) => void)[] = []
  const arrivals: (() => void)[] = []
  const router: Router = {
    operations: ['GetItem', 'PutItem', 'ListTables'],
    handle: (request) =>
      new Promise((resolve) => {
        asked.push(request)
        pending.push(resolve)
        arrivals.shift()?.()
      }),
  }
  return {
    router,
    asked,
    /** Resolves when a request is waiting for its answer. */
    arrival: async () => {
      if (pending.length === 0) await new Promise<void>((resolve) => arrivals.push(resolve))
    },
    answer: (body: string) => pending.shift()!({ ok: true, body: Buffer.from(body) }),
  }
}

export async function serve(
  t: TestContext,
  options: ListenOptions = {},
  router: Router = echoRouter,
): Promise<RunningServer> {
  const server = await listen(router, { port: 0, ...options, limits: { stopMs: 500, ...options.limits } })
  t.after(() => server.stop())
  return server
}

/**
 * More bytes than the system's buffers of a connection take from an answer that nobody reads. How many that are is a setting of the
 * system: usually 4 MB of the sender, and 6 or 32 MB of the receiver. On a busy machine they are filled.
 */
export const UNREAD_BYTES = Math.max(
  40 * 1024 * 1024,
  Math.ceil(1.25 * (bufferBytesMax('tcp_wmem') + bufferBytesMax('tcp_rmem'))),
)

function bufferBytesMax(setting: 'tcp_rmem' | 'tcp_wmem'): number {
  try {
    return Number(readFileSync(`/proc/sys/net/ipv4/${setting}`, 'utf8').trim().split(/\s+/).at(-1))
  } catch {
    return 0 // not Linux
  }
}

type Serve = (t: TestContext, options?: ListenOptions) => Promise<RunningServer>

/** What the tests of the wire run against: the router of a few lines, and a real store. */
const backends: readonly (readonly [string, Serve])[] = [
  ['echo', serve],
  [
    'store',
    async (t, options = {}) => {
      const store = await open({ memory: true })
      t.after(() => store.close())
      return store.listen({ port: 0, ...options, limits: { stopMs: 500, ...options.limits } })
    },
  ],
]

/** A test of the wire, run against each of them. */
export function onEach(name: string, body: (t: TestContext, serve: Serve) => Promise<void>): void {
  for (const [backend, serveOn] of backends) test(`${name} (${backend})`, (t) => body(t, serveOn))
}

export interface RequestParts {
  readonly method?: string
  readonly path?: string
  readonly version?: string
  /** `null` leaves a default header out. */
  readonly headers?: Readonly<Record<string, string | null>>
  readonly body?: string | Buffer
}

/** The bytes of a request for ListTables, but for what the test changes. */
export function requestOf(parts: RequestParts = {}): Buffer {
  const { method = 'POST', path = '/', version = '1.1', body = '{}' } = parts
  const bytes = Buffer.from(body)
  const headers: Record<string, string | null> = {
    host: 'localhost:8000',
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': 'DynamoDB_20120810.ListTables',
    'content-length': String(bytes.length),
    ...parts.headers,
  }
  let head = `${method} ${path} HTTP/${version}\r\n`
  for (const [name, value] of Object.entries(headers)) if (value !== null) head += `${name}: ${value}\r\n`
  return Buffer.concat([Buffer.from(head + '\r\n', 'latin1'), bytes])
}

export interface RawResponse {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
  readonly json: Record<string, unknown>
}

/** A connection under the test's control. */
export class RawClient {
  readonly socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #ended = false
  #wake: (() => void) | undefined

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
      this.#wake?.()
    })
    const end = (): void => {
      this.#ended = true
      this.#wake?.()
    }
    socket.on('end', end)
    socket.on('close', end)
    socket.on('error', end)
  }

  static async open(t: TestContext, server: RunningServer): Promise<RawClient> {
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
    const client = new RawClient(socket)
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    return client
  }

  write(bytes: string | Buffer): this {
    this.socket.write(bytes)
    return this
  }

  /** The next complete response; undefined if the connection ends before. */
  async response(options: { readonly bodiless?: boolean } = {}): Promise<RawResponse | undefined> {
    for (;;) {
      const response = parseResponse(this.#received, options.bodiless === true)
      if (response !== undefined) {
        this.#received = this.#received.subarray(response.bytes)
        return response
      }
      if (this.#ended) return undefined
      await this.#more()
    }
  }

  /** Resolves when the server has closed its side; to what it sent and nobody asked for. */
  async closed(): Promise<Buffer> {
    while (!this.#ended) await this.#more()
    return this.#received
  }

  async #more(): Promise<void> {
    await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#wake = undefined
  }
}

/** Sends bytes on a connection of their own and reads the answer. */
export async function ask(
  t: TestContext,
  server: RunningServer,
  bytes: Buffer | string,
): Promise<RawResponse> {
  const client = await RawClient.open(t, server)
  const response = await client.write(bytes).response()
  client.socket.destroy()
  if (response === undefined) throw new Error('no answer')
  return response
}

export function parseResponse(
  bytes: Buffer,
  bodiless: boolean,
): (RawResponse & { bytes: number }) | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [statusLine, ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
    }),
  )
  const length = bodiless ? 0 : Number(headers.get('content-length') ?? 0)
  const total = end + 4 + length
  if (bytes.length < total) return undefined
  const body = bytes.subarray(end + 4, total)
  return {
    status: Number(statusLine!.split(' ')[1]),
    headers,
    body,
    bytes: total,
    get json() {
      return JSON.parse(body.toString()) as Record<string, unknown>
    },
  }
}
