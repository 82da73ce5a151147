// Two servers with the same router and the same limits: ours, and one on which node:http reads every byte.
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { Router } from '../../../src/router/request/router.js'
import { Dispatcher } from '../../../src/server/dispatch/dispatch.js'
import { GeneralServer } from '../../../src/server/connection/general-server.js'
import { listen } from '../../../src/server/http-server.js'
import { serverLimits } from '../../../src/server/http/limits.js'
import { Metrics } from '../../../src/server/dispatch/metrics.js'
import { AnswerRoom } from '../../../src/server/http/answer-room.js'
import { Outbox } from '../../../src/server/http/outbox.js'
import { parseResponse } from '../support.js'
import type { ByteStream } from './byte-streams.js'

/** What a server made of a stream. */
export interface Understanding {
  /** What its router was asked. */
  readonly asked: readonly string[]
  /** Its answers, but for what differs each time. */
  readonly answers: readonly string[]
  /** Bytes behind the last answer that are none. */
  readonly rest: string
  /** `reset` may have cost the client some answers. */
  readonly end: 'closed' | 'reset' | 'hung'
}

export interface Peer {
  readonly port: number
  /** What the router was asked since the last call. */
  taken(): string[]
  stop(): Promise<void>
}

const LIMITS = {
  ...serverLimits,
  lingerMs: 200,
  stopMs: 100,
  headersTimeoutMs: 4_000,
  requestTimeoutMs: 4_000,
}
const HUNG_MS = 8_000

export async function startOurs(): Promise<Peer> {
  const { router, taken } = recorder()
  const server = await listen(router, { port: 0, limits: LIMITS, faults: true })
  return { port: server.port, taken, stop: () => server.stop() }
}

export async function startNodeHttp(): Promise<Peer> {
  const { router, taken } = recorder()
  const metrics = new Metrics()
  const dispatcher = new Dispatcher(router, { limits: LIMITS, metrics, faults: true })
  const state = {
    dispatcher,
    limits: LIMITS,
    metrics,
    outbox: new Outbox(),
    room: new AnswerRoom(LIMITS),
    bodyBytesInFlight: 0,
    stopping: false,
  }
  const general = new GeneralServer(state)
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const connection = general.take(socket)
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      connection.closed()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    taken,
    async stop() {
      for (const socket of sockets) socket.destroy()
      general.close()
      server.close()
      await once(server, 'close')
    },
  }
}

function recorder(): { readonly router: Router; readonly taken: () => string[] } {
  let asked: string[] = []
  const router: Router = {
    operations: ['GetItem', 'PutItem', 'ListTables'],
    handle: async ({ operation, input }) => {
      const text = `${operation} ${JSON.stringify(input)}`
      asked.push(text.slice(0, 200))
      return { ok: true, body: Buffer.from(JSON.stringify({ operation, input })) }
    },
  }
  const taken = (): string[] => {
    const result = asked
    asked = []
    return result
  }
  return { router, taken }
}

/** Sends a stream on a connection of its own, closes its side, and reads until the server closes the other. */
export async function understanding(peer: Peer, stream: ByteStream): Promise<Understanding> {
  const socket = connect({ port: peer.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  const received: Buffer[] = []
  let end: Understanding['end'] = 'closed'
  socket.on('data', (chunk: Buffer) => received.push(chunk))
  socket.on('error', () => (end = 'reset'))
  const ended = new Promise<void>((resolve) => {
    socket.on('end', resolve)
    socket.on('close', resolve)
  })
  const timer = setTimeout(() => {
    end = 'hung'
    socket.destroy()
  }, HUNG_MS)
  let from = 0
  for (const cut of stream.cuts) {
    if (socket.writable) socket.write(stream.bytes.subarray(from, cut))
    from = cut
    await new Promise(setImmediate)
    await new Promise(setImmediate)
  }
  if (socket.writable) socket.end(stream.bytes.subarray(from))
  await ended
  clearTimeout(timer)
  socket.destroy()
  const { answers, rest } = answersIn(Buffer.concat(received))
  return { asked: peer.taken(), answers, rest, end }
}

/** What each answer says; the last one's word on the connection depends on when the client's end was seen. */
function answersIn(bytes: Buffer): { readonly answers: string[]; readonly rest: string } {
  const answers: string[] = []
  let unread = bytes
  for (;;) {
    const response = parseResponse(unread, false)
    if (response === undefined) break
    unread = unread.subarray(response.bytes)
    // Whether a body that is already there is asked for is a matter of time.
    if (response.status === 100) continue
    const { headers } = response
    const shown = ['content-type', 'content-length', 'allow', 'access-control-allow-origin'].map(
      (name) => `${name}=${headers.get(name) ?? ''}`,
    )
    const dated = headers.has('date') || headers.get('connection') === 'close'
    const text = response.body.toString('latin1').slice(0, 300)
    answers.push(`${response.status} ${shown.join(' ')} ${dated ? '' : 'undated '}${text}`)
  }
  return { answers, rest: unread.toString('latin1') }
}

/**
 * Whether two servers may have understood the same. A reset may have taken answers away; and where the client's end
 * comes while node:http writes an answer, it closes behind that, and the word on what follows, if it is no request, is
 * lost.
 */
export function agree(one: Understanding, other: Understanding): boolean {
  if (one.end === 'hung' || other.end === 'hung') return false
  if (!same(one.asked, other.asked)) return false
  if (one.end === 'closed' && other.end === 'closed') {
    if (one.rest !== '' || other.rest !== '') return false
    return same(one.answers, other.answers) || same(withoutLastWord(one), withoutLastWord(other))
  }
  const common = Math.min(one.answers.length, other.answers.length)
  return same(one.answers.slice(0, common), other.answers.slice(0, common))
}

function withoutLastWord({ answers }: Understanding): readonly string[] {
  return /#(BadRequest|RequestHeaderFieldsTooLarge)"/.test(answers.at(-1) ?? '')
    ? answers.slice(0, -1)
    : answers
}

const same = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, index) => text === b[index])
