// Loaded before tests (`node scripts/test.mjs --workers N`): every store that they open on nodes of its own has several workers. Its
// requests go to the first and to the others in turn, as connections of a server do; the others are in the same process, behind
// real channels.
//
//   store.call, client, listen --> the first worker: router, coordinator, nodes
//                              \-> worker 2, 3, ...: router, coordinator --channel--> nodes
import { register } from 'node:module'
import { owner } from '../../src/router/request/access.js'
import type { Router, RouterRequest } from '../../src/router/request/router.js'
import type { StoreContent } from '../../src/store/store-content.js'
import type { StoreParts } from '../../src/store/local-store.js'
import type { WorkerHub } from '../../src/store/worker-hub.js'
import { OWN_OPERATIONS } from '../../src/workers/hand-on.js'

const WORKERS = Number(process.env['SERIATIM_TEST_WORKERS'] ?? '2')
const UNCOUNTED = { requests: [], bytes: 0 }

export interface TestWorkers {
  hub(): Promise<WorkerHub>
  around(parts: StoreParts, content: StoreContent): Promise<StoreContent>
}

declare global {
  var seriatimTestWorkers: TestWorkers
}

globalThis.seriatimTestWorkers = {
  hub: async () => {
    const { WorkerHub: Hub } = await import('../../src/store/worker-hub.js')
    return new Hub()
  },
  around: async ({ hub, runtime, rules, statementScans, onError }, content) => {
    if (hub === undefined) return content
    const { openWorkerChannel, openWorkerStore } = await import('../../src/store/worker-store.js')
    const own: Router = { ...content.router, handle: (request) => hub.asked(request) }
    const routers = [own]
    for (let worker = 1; worker < WORKERS; worker++) {
      const options = {
        runtime,
        rules,
        ...(statementScans && { statementScans }),
        onError,
        send: (frame: Buffer): void =>
          later(
            frame,
            (message) => joined.receive(message),
            () => opening.channel.reuse(frame),
          ),
        edge: {
          counts: () => UNCOUNTED as never,
          stop: () => Promise.resolve(),
          renewTls: () => undefined,
        },
      }
      const opening = openWorkerChannel(options)
      const joined = hub.join((frame) =>
        later(
          frame,
          (message) => opening.channel.receive(message),
          () => joined.channel.reuse(frame),
        ),
      )
      routers.push((await openWorkerStore(options, opening)).router)
    }
    let turn = 0
    // No other worker knows the program itself: what it would hand on for that comes from nobody else's connection.
    const isOfProgram = ({ principal, operation }: RouterRequest): boolean =>
      principal === owner && !OWN_OPERATIONS.has(operation)
    const router: Router = {
      ...own,
      handle: (request) =>
        (isOfProgram(request) ? own : (routers[turn++ % routers.length] as Router)).handle(request),
    }
    Object.defineProperty(content, 'router', { value: router })
    return content
  },
}

const HEAD_BYTES = 4

/** As a pipe: copied, and read in another turn. */
function later(frame: Buffer, receive: (message: Buffer) => void, sent: () => void): void {
  const message = Buffer.from(frame.subarray(HEAD_BYTES))
  setImmediate(() => {
    sent()
    receive(message)
  })
}

register('./with-workers-hooks.js', import.meta.url)
