// What a unit tells when the endpoint refuses, is slow, or cannot be reached: never less than the truth, and never doubt
// where there is none.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { manualClock } from '../../../src/runtime/manual-clock.js'
import type { Runtime } from '../../../src/runtime/runtime.js'
import { open, type Store } from '../../../src/store/store.js'
import type { Endpoint, ExtendedEndpoint } from '../../../src/toolkit/endpoint/endpoint.js'
import { type IntentsOptions, intentsProtocol } from '../../../src/toolkit/intents/intents-protocol.js'
import { defaultPatience, intentLimits } from '../../../src/toolkit/intents/protocol/limits.js'
import { Conflict, isRetriable, OutcomeUnknown, transactor } from '../../../src/toolkit/index.js'
import { endpointTransactor } from '../../../src/toolkit/open-transactor.js'
import type { OutcomeInfo, Transactor, TransactorOptions } from '../../../src/toolkit/unit/transactor.js'
import { unitTransactor } from '../../../src/toolkit/unit/unit-transactor.js'
import { seededRandom } from '../../suites/seeded-random.js'
import { foreign, intentsTransactor, sdkClient } from './endpoints.js'

const TABLE = 'Things'

async function openStore(): Promise<Store> {
  const store = await open({ memory: true })
  await store.call('CreateTable', {
    TableName: TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  return store
}

const isWrite = (operation: string): boolean => /^(Put|Update|Delete|Transact)/.test(operation)

/** An error as the SDK throws it after that many sends. */
const refusal = (name: string, attempts = 3): Error =>
  Object.assign(new Error(`${name} of the endpoint`), {
    name,
    $fault: 'client',
    $metadata: { httpStatusCode: 400, attempts },
  })

/** Refuses every write as if the SDK had sent it three times. */
const refusing = (store: Store, name: string, isOn: () => boolean): ExtendedEndpoint =>
  foreign({
    call: (operation, input, options) => {
      if (!isOn() || !isWrite(operation)) return store.call(operation, input)
      const error = refusal(name)
      for (let send = 0; send < 3; send++) options?.sendFailed?.(error)
      return Promise.reject(error)
    },
  })

/** Every wait is over as soon as nothing else is to be done, time-outs and beats aside: a minute passes in no time. */
function hurriedRuntime(seed: number): Runtime & { readonly passedMs: () => number } {
  const clock = manualClock(1_000_000)
  const choose = seededRandom(seed)
  return {
    clock: {
      nowMicros: () => clock.nowMicros(),
      timer: (delayMs, callback) => {
        if (delayMs >= intentLimits.requestMs || delayMs === defaultPatience.beatMs)
          return clock.timer(delayMs, callback)
        let isOff = false
        setImmediate(() => {
          if (isOff) return
          clock.advance(delayMs)
          callback()
        })
        return () => void (isOff = true)
      },
    },
    randomBytes: (count) => Uint8Array.from({ length: count }, () => choose(256)),
    defer: (callback) => queueMicrotask(callback),
    passedMs: () => clock.nowMicros() / 1000 - 1_000_000,
  }
}

describe('a refusal that the SDK repeated is a refusal', () => {
  let store: Store
  before(async () => {
    store = await openStore()
    await intentsTransactor(foreign({ call: (operation, input) => store.call(operation, input) })).setup()
  })
  after(() => store.close())

  const PATHS: readonly (readonly [string, IntentsOptions, readonly string[]])[] = [
    ['one conditional write', {}, ['a']],
    ['one TransactWriteItems', {}, ['a', 'b']],
    ['intents', { always: true }, ['a', 'b']],
  ]
  for (const [path, settings, ids] of PATHS)
    for (const name of [
      'ThrottlingException',
      'ProvisionedThroughputExceededException',
      'RequestLimitExceeded',
      'ExpiredTokenException',
      'UnrecognizedClientException',
      'InvalidSignatureException',
      'AccessDeniedException',
      'MissingAuthenticationToken',
    ])
      test(`${name} for all of a unit by ${path}: told as it is, and nothing was written`, async () => {
        let isOn = false
        const runtime = hurriedRuntime(1)
        const endpoint = refusing(store, name, () => isOn)
        const t = unitTransactor(() => intentsProtocol(endpoint, runtime, settings), {}, runtime)
        const error = await t
          .transact(async (tx) => {
            for (const id of ids) tx.put(TABLE, { ...(await tx.get(TABLE, { id })), id, by: name })
            isOn = true
          })
          .catch((thrown: unknown) => thrown as Error)
        assert.ok(error instanceof Error)
        assert.equal(error.name, name)
        assert.equal(isRetriable(error), /Throttling|Exceeded/.test(name))
        isOn = false
        for (const id of ids) {
          const { Item } = await store.call('GetItem', { TableName: TABLE, Key: { id: { S: id } } })
          assert.equal(Item, undefined)
        }
      })
})

describe('being turned away says nothing of an earlier send whose answer was lost', () => {
  const isDecision = (operation: string, input: object): boolean =>
    operation === 'UpdateItem' && JSON.stringify(input).includes('":committed"')
  const PATHS: readonly (readonly [string, IntentsOptions, readonly string[], typeof isDecision])[] = [
    ['one conditional write', {}, ['a'], isWrite],
    ['one TransactWriteItems', {}, ['b', 'c'], isWrite],
    ['intents', { always: true }, ['d', 'e'], isDecision],
  ]
  const AFTER: readonly (readonly [string, string, (operation: string) => boolean])[] = [
    ['everything is throttled', 'ThrottlingException', () => true],
    ['the credentials have expired', 'ExpiredTokenException', () => true],
    ['reads are throttled', 'ThrottlingException', (operation) => !isWrite(operation)],
  ]
  for (const [path, settings, ids, decides] of PATHS)
    for (const [what, name, isTurned] of AFTER)
      test(`${what}, by ${path}: never told as a refusal, and the unit is carried out once`, async () => {
        await using store = await openStore()
        let state: 'before' | 'deciding' | 'turned' | 'over' = 'before'
        let turned = 0
        const endpoint = foreign({
          call: async (operation, input) => {
            if (state === 'turned' && isTurned(operation) && ++turned <= 12) throw refusal(name, 1)
            if (state === 'deciding' && decides(operation, input)) {
              await store.call(operation, input)
              state = 'turned'
              throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
            }
            return store.call(operation, input).catch((error: unknown) => {
              // As an endpoint does that does not know ReturnValuesOnConditionCheckFailure.
              delete (error as { Item?: unknown }).Item
              throw error
            })
          },
        })
        const runtime = hurriedRuntime(4)
        const t = unitTransactor(() => intentsProtocol(endpoint, runtime, settings), {}, runtime)
        await t.setup()
        const error = await t
          .transact(async (tx) => {
            for (const id of ids)
              tx.put(TABLE, { id, n: (((await tx.get(TABLE, { id })) ?? { n: 0 })['n'] as number) + 1 })
            if (state === 'before') state = 'deciding'
          })
          .catch((thrown: unknown) => thrown)
        assert.ok(error === undefined || error instanceof OutcomeUnknown, String(error))
        state = 'over'
        await t.idle()
        const values = await t.transact((tx) =>
          tx.getAll(
            TABLE,
            ids.map((id) => ({ id })),
          ),
        )
        for (const value of values) assert.equal(value?.['n'], 1)
      })
})

test('a unit whose endpoint throttles for a minute waits, and is committed then', async () => {
  await using store = await openStore()
  const runtime = hurriedRuntime(2)
  let isOn = false
  const endpoint = refusing(store, 'ThrottlingException', () => isOn)
  const t = unitTransactor(() => intentsProtocol(endpoint, runtime), { retry: { limit: 200 } }, runtime)
  await t.setup()
  isOn = true
  const sixtySeconds = (async () => {
    while (runtime.passedMs() < 60_000) await new Promise((resolve) => setImmediate(resolve))
    isOn = false
  })()
  await t.transact((tx) => [1, 2, 3].forEach((at) => tx.put(TABLE, { id: `throttled ${at}` })))
  await sixtySeconds
  const { Item } = await store.call('GetItem', { TableName: TABLE, Key: { id: { S: 'throttled 3' } } })
  assert.ok(Item)
})

test('an answer that was lost before the SDK was throttled leaves doubt, which is told: OutcomeUnknown', async () => {
  await using store = await openStore()
  const server = await store.listen({ port: 0 })
  let writes = 0
  let isOn = false
  // Carries the first write out and breaks the connection; from then on it throttles.
  const proxy = createServer((incoming, outgoing) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const isPut = isOn && /\.(Put|Update)Item$/.test(String(incoming.headers['x-amz-target']))
      if (isPut && ++writes > 1) {
        const body = JSON.stringify({ __type: 'com.amazon.coral#ThrottlingException', message: 'slowly' })
        outgoing.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(body)
        return
      }
      const { method, url, headers } = incoming
      const sent = httpRequest(new URL(url!, server.url), { method, headers }, (answer) => {
        answer.on('error', () => undefined)
        if (isPut) {
          answer.resume().on('end', () => incoming.socket.destroy())
          return
        }
        outgoing.writeHead(answer.statusCode!, answer.headers)
        answer.pipe(outgoing)
      })
      sent.end(Buffer.concat(chunks))
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const client = sdkClient(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`)
  const t = transactor(client, { protocol: 'intents', retry: { limit: 0 } })
  await t.setup()
  await t.transact((tx) => tx.put(TABLE, { id: 'a', n: 1 }))
  const unit = t.transact(async (tx) => {
    const item = await tx.get(TABLE, { id: 'a' })
    isOn = true
    tx.put(TABLE, { ...item, id: 'a', n: 2 })
  })
  await assert.rejects(unit, OutcomeUnknown)
  assert.ok(writes > 2)
  const { Item } = await store.call('GetItem', { TableName: TABLE, Key: { id: { S: 'a' } } })
  assert.equal(Item?.['n']?.N, '2')
  client.destroy()
  proxy.closeAllConnections()
  await new Promise((resolve) => proxy.close(resolve))
})

test('AnswerLost never reaches a caller: what was met does, and nothing was written', async () => {
  await using store = await openStore()
  const runtime = hurriedRuntime(3)
  let cut: (operation: string) => boolean = () => false
  const lost = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
  const endpoint = foreign({
    call: (operation, input) => (cut(operation) ? Promise.reject(lost) : store.call(operation, input)),
  })
  const t = unitTransactor(() => intentsProtocol(endpoint, runtime, { always: true }), {}, runtime)
  const is = (error: unknown): boolean => error === lost && isRetriable(error)
  cut = () => true
  await assert.rejects(t.setup(), is)
  cut = () => false
  await t.setup()
  cut = (operation) => operation === 'GetItem'
  let met: unknown
  const reading = t.transact(async (tx) => {
    await tx.get(TABLE, { id: 'a' }).catch((error: unknown) => {
      met = error
      throw error
    })
  })
  await assert.rejects(reading, is)
  assert.equal(met, lost)
  await assert.rejects(t.outcome('0.1'), is)
  const handle = await t.begin()
  await assert.rejects(handle.get(TABLE, { id: 'a' }), is)
  await handle.rollback()
  cut = () => true
  await assert.rejects(t.sweep(), is)
  // The intents cannot be placed; and nobody has asked to commit.
  cut = (operation) => operation === 'UpdateItem'
  await assert.rejects(
    t.transact((tx) => tx.put(TABLE, { id: 'b' })),
    is,
  )
  cut = () => false
  await t.idle()
  const { Item } = await store.call('GetItem', { TableName: TABLE, Key: { id: { S: 'b' } } })
  assert.equal(Item, undefined)
})

test('a server that cannot be reached is told as it is, whatever the protocol', async () => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  const client = sdkClient(`http://127.0.0.1:${port}`)
  for (const protocol of ['auto', 'intents', 'seriatim'] as const) {
    const t = transactor(client, { protocol, retry: { limit: 0 } })
    const error = await t
      .transact((tx) => tx.put(TABLE, { id: 'a' }))
      .catch((thrown: unknown) => thrown as Error & { code?: string })
    assert.ok(error instanceof Error)
    assert.equal(error.code, 'ECONNREFUSED', protocol)
    assert.equal(isRetriable(error), true)
  }
  client.destroy()
})

/** A server with one worker that takes `requestMs` for each request, on a clock that the test moves. */
function slow(store: Store, clock: ReturnType<typeof manualClock>, requestMs: () => number): Endpoint {
  let freeMs = 0
  return foreign({
    call: (operation, input) =>
      new Promise((resolve, reject) => {
        const nowMs = clock.nowMicros() / 1000
        freeMs = Math.max(freeMs, nowMs) + requestMs()
        clock.timer(freeMs - nowMs, () => void store.call(operation, input).then(resolve as never, reject))
      }),
  })
}

test('a unit of 1,000 items is committed by its first attempt on an endpoint that takes more than a minute for it', async () => {
  await using store = await openStore()
  const clock = manualClock(1_000_000)
  const choose = seededRandom(4)
  const runtime: Runtime = {
    clock,
    randomBytes: (count) => Uint8Array.from({ length: count }, () => choose(256)),
    defer: (callback) => queueMicrotask(callback),
  }
  let requestMs = 1
  const endpoint = slow(store, clock, () => requestMs)
  const outcomes: OutcomeInfo[] = []
  const opened = (options: TransactorOptions): Transactor =>
    unitTransactor(() => intentsProtocol(endpoint, runtime, { always: true }), options, runtime)
  const t = opened({ onOutcome: (info) => outcomes.push(info) })
  const state = { isOver: false }
  const moved = async <Result>(running: Promise<Result>): Promise<Result> => {
    state.isOver = false
    const end = (): void => void (state.isOver = true)
    running.then(end, end)
    while (!state.isOver) {
      for (let turn = 0; turn < 4; turn++) await new Promise((resolve) => setImmediate(resolve))
      clock.advance(100)
    }
    return running
  }
  await moved(t.setup())
  // It knows its tables before they are slow.
  const rival = opened({ retry: { limit: 0 } })
  await moved(rival.transact((tx) => ['x', 'y'].forEach((id) => tx.put(TABLE, { id }))))
  requestMs = 70
  const startMs = clock.nowMicros() / 1000
  const large = t.transact((tx) => {
    for (let at = 0; at < 1_000; at++) tx.put(TABLE, { id: `many ${at}` })
  })
  // Somebody younger meets it all the time, and does not take it for stalled.
  let conflicts = 0
  const rivals = (async () => {
    await new Promise<void>((resolve) => void clock.timer(5_000, resolve))
    while (outcomes.length === 0)
      await rival
        .transact((tx) => tx.put(TABLE, { id: 'many 0', by: 'a rival' }))
        .catch((error: unknown) => {
          assert.ok(error instanceof Conflict, String(error))
          conflicts++
        })
  })()
  await moved(large)
  assert.ok(clock.nowMicros() / 1000 - startMs > 60_000)
  assert.equal(outcomes[0]?.attempts, 1)
  assert.ok(conflicts > 0)
  requestMs = 1
  await moved(rivals)
  await moved(t.idle())
  await moved(rival.idle())
})

test('no more requests are under way than the SDK has sockets, or than `parallelism` says', async () => {
  await using store = await openStore()
  for (const [options, most] of [
    [{}, 50],
    [{ parallelism: 7 }, 7],
  ] as const) {
    let underWay = 0
    let highest = 0
    const endpoint = foreign({
      call: async (operation, input) => {
        highest = Math.max(highest, ++underWay)
        await new Promise((resolve) => setImmediate(resolve))
        try {
          return await store.call(operation, input)
        } finally {
          underWay--
        }
      },
    })
    const runtime = hurriedRuntime(5)
    const t = endpointTransactor(endpoint, { ...options, protocol: 'intents' }, runtime)
    await t.setup()
    const units = [1, 2, 3].map((unit) =>
      t.transact((tx) => {
        for (let at = 0; at < 100; at++) tx.put(TABLE, { id: `${most} ${unit} ${at}` })
      }),
    )
    await Promise.all(units)
    await t.idle()
    assert.ok(highest <= most && highest > most / 2, `${highest} at once`)
  }
})
