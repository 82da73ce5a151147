// A worker beside the first, in its own process: serves the connections that it is handed, until its pipe ends.
import { Socket, type SocketConstructorOpts } from 'node:net'
import { realRuntime } from '../../runtime/real-runtime.js'
import { noRules, workerRules } from '../../rules/item/section-4.js'
import { type HttpEdge, type ListenOptions, openEdge } from '../../server/http-server.js'
import type { TlsOptions } from '../../server/connection/tls-listener.js'
import { openWorkerChannel, openWorkerStore } from '../../store/worker-store.js'
import { SlabReader } from '../../workers/slabs.js'
import { PIPE, READY } from './worker-place.js'

export interface WorkerOptions {
  readonly listen: ListenOptions
  readonly rules: 'all' | 'none'
  readonly statementScans: 'allowed' | 'refused'
}

export async function serveAsWorker({ listen, rules, statementScans }: WorkerOptions): Promise<number> {
  // A terminal or a supervisor sends them to all processes at once; the first worker decides what follows.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  const slabs = new SlabReader((message) => opening.channel.receive(message))
  const pipe: Socket = new Socket({
    fd: PIPE,
    readable: true,
    writable: true,
    onread: {
      buffer: slabs.room,
      callback: (bytes: number) => {
        slabs.filled(bytes)
        return true
      },
    },
  } as SocketConstructorOpts)
  let edge: HttpEdge | undefined
  let isStopped = false
  const options = {
    runtime: realRuntime(),
    rules: rules === 'none' ? noRules : workerRules,
    ...(statementScans === 'refused' && { statementScans }),
    onError: (error: unknown) =>
      process.emitWarning(error instanceof Error ? error : String(error), 'SeriatimError'),
    send: (frame: Buffer) => pipe.write(frame, () => opening.channel.reuse(frame)),
    edge: {
      counts: () => edge!.counts(),
      stop: async () => {
        await edge?.stop()
        isStopped = true
      },
      renewTls: (tls: unknown) => edge?.renewTls(tls as TlsOptions),
    },
  }
  const opening = openWorkerChannel(options)
  const over = new Promise<void>((resolve) => pipe.once('close', () => resolve()))
  pipe.resume()
  pipe.on('error', () => undefined)
  void over.then(() => {
    opening.channel.end('The first worker has ended.')
    // Its clients get no answer: what they have asked for is known to the first worker alone, and that is gone.
    if (!isStopped) process.exit(1)
  })
  const store = await openWorkerStore(options, opening)
  edge = openEdge(store.router, listen, { otherCounts: () => store.otherCounts() })
  process.on('message', (_message, socket) => {
    if (socket instanceof Socket) edge.take(socket)
  })
  process.send!(READY)
  await over
  process.disconnect()
  return 0
}
