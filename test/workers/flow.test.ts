import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realRuntime } from '../../src/runtime/real-runtime.js'
import { Channel } from '../../src/workers/channel.js'
import { ANY_READ } from '../../src/workers/forms.js'
import { WorkerHub } from '../../src/store/worker-hub.js'
import type { Router } from '../../src/router/request/router.js'

const HEAD_BYTES = 4

/** Two ends; `isFull`: of the side that answers. */
function pair(services: ConstructorParameters<typeof Channel>[0]['services'], isFull = () => false) {
  const runtime = realRuntime()
  const asking: Channel = new Channel({
    runtime,
    services: [],
    send: (frame) => answering.receive(Buffer.from(frame.subarray(HEAD_BYTES))),
  })
  const answering: Channel = new Channel({
    runtime,
    services,
    isFull,
    send: (frame) => asking.receive(Buffer.from(frame.subarray(HEAD_BYTES))),
  })
  return { asking, answering }
}

test('workers: of many reads in one message a few are begun at once, and all are answered in the end, in their order', async () => {
  let [running, most] = [0, 0]
  const begun: number[] = []
  const run = async (at: number): Promise<Buffer> => {
    begun.push(at)
    most = Math.max(most, ++running)
    await new Promise((resolve) => setImmediate(resolve))
    running--
    return Buffer.alloc(1000, at)
  }
  const { asking } = pair([[{ run, form: ANY_READ }]])
  const calls = Array.from({ length: 1000 }, (_, at) => asking.call(0, 0, [at], ANY_READ))
  const answers = (await Promise.all(calls)) as Buffer[]
  assert.deepEqual(
    answers.map((answer) => answer[0]),
    Array.from({ length: 1000 }, (_, at) => at % 256),
  )
  assert.deepEqual(
    begun,
    begun.toSorted((a, b) => a - b),
  )
  assert.ok(most <= 64, `${most} at once`)
})

test('workers: while much is on its way to the other side nothing more is begun', async () => {
  let isFull = true
  const { asking, answering } = pair([[() => Promise.resolve('done')]], () => isFull)
  let isAnswered = false
  const answer = asking.call(0, 0, []).then((value) => {
    isAnswered = true
    return value
  })
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  assert.equal(isAnswered, false)
  isFull = false
  answering.proceed()
  assert.equal(await answer, 'done')
})

test('workers: the room in front of an answer is not promised where other messages stand before it', async () => {
  const runtime = realRuntime()
  const hub = new WorkerHub()
  const body = Buffer.from('{}')
  const router: Router = {
    handle: () => Promise.resolve({ ok: true, body, headroomBytes: 512 }),
    operations: [],
  }
  hub.serve({
    runtime,
    served: [],
    router,
    nodes: 0,
    sharedJournal: false,
    secret: '',
    operations: [],
    targetPrefixes: new Map(),
    creatingMs: 0,
  })
  const reply = await hub.handle({ operation: 'ListTables', input: {}, principal: '' })
  assert.deepEqual(reply, { ok: true, body })
})
