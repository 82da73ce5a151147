// A program that awaits one call after another leaves the event loop its share. Nothing is measured: a loop ends because
// something else in the same process has happened, and fails after a count of calls that is far more than that needs.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { open, type Store } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'
import { table } from '../router/tables-support.js'

/** Between two turns of the event loop, with room: what is in flight needs some of them. */
const CALLS_MAX = 200_000

let store: Store
beforeEach(async () => {
  store = await open({ memory: true })
  await store.call('CreateTable', table('Books') as never)
  await store.call('PutItem', { TableName: 'Books', Item: { id: { S: 'b1' } } })
})
afterEach(() => store.close())

const KEY = { TableName: 'Books', Key: { id: { S: 'b1' } } }

/** Calls until a timer has fired, or much too often; how often. */
async function callsUntilTimer(call: () => Promise<unknown>): Promise<number> {
  let fired = false
  const timer = setTimeout(() => (fired = true), 1)
  const hasFired = (): boolean => fired
  let calls = 0
  while (!hasFired() && calls < CALLS_MAX) {
    await call()
    calls++
  }
  clearTimeout(timer)
  return calls
}

const refused = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => assert.fail('it is refused'),
    () => undefined,
  )

describe('in process, a timer fires although the program does nothing but', () => {
  const loops: Record<string, () => Promise<unknown>> = {
    'read by store.call': () => store.call('GetItem', KEY),
    'write by store.call': () => store.call('PutItem', { TableName: 'Books', Item: { id: { S: 'b1' } } }),
    'repeat a refused write': () =>
      refused(
        store.call('PutItem', {
          TableName: 'Books',
          Item: { id: { S: 'b1' } },
          ConditionExpression: 'attribute_not_exists(id)',
        }),
      ),
    'repeat a malformed request': () => refused(store.call('GetItem', { TableName: 'x' } as never)),
    'read by store.client()': () => store.client().getItem(KEY),
    'run units that read': () =>
      store.transactor().transact((tx) => tx.get('Books', { id: 'b1' }), { isolation: 'read-committed' }),
    'run units that write': () =>
      store.transactor().transact((tx) => Promise.resolve(tx.put('Books', { id: 'b1' }))),
  }
  for (const [what, call] of Object.entries(loops)) {
    test(what, async () => {
      const calls = await callsUntilTimer(call)
      assert.ok(calls < CALLS_MAX, `not within ${calls} calls`)
    })
  }

  test('repeat a call of a closed store', async () => {
    await store.close()
    const calls = await callsUntilTimer(() => refused(store.call('GetItem', KEY)))
    assert.ok(calls < CALLS_MAX, `not within ${calls} calls`)
  })
})

test('in process, a put in flight is acknowledged although the program does nothing but read', async () => {
  await using onDisk = await open({ path: testFolder() })
  await onDisk.call('CreateTable', table('Books') as never)
  const flight = { isOver: false }
  const put = onDisk.call('PutItem', { TableName: 'Books', Item: { id: { S: 'b2' } } }).then(() => {
    flight.isOver = true
  })
  let calls = 0
  while (!flight.isOver && calls < CALLS_MAX) {
    await onDisk.call('GetItem', KEY)
    calls++
  }
  assert.ok(calls < CALLS_MAX, `not within ${calls} calls`)
  await put
})

test('in process, at most 64 answers come within one turn of the event loop', async () => {
  const loop = { turns: 0, isOver: false }
  const count = (): void => {
    loop.turns++
    if (!loop.isOver) setImmediate(count)
  }
  setImmediate(count)
  for (let calls = 0; calls < 6400; calls++) await store.call('GetItem', KEY)
  loop.isOver = true
  assert.ok(loop.turns >= 99, `${loop.turns} turns for 6,400 reads`)
})
