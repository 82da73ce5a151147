import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Router } from '../../src/router/request/router.js'
import { parseFault } from '../../src/server/faults/faults.js'
import { ask, echoRouter, RawClient, requestOf, serve } from './support.js'

function countingRouter() {
  const counted = { ...echoRouter, count: 0 }
  const router: Router = {
    operations: echoRouter.operations,
    handle: (request) => {
      counted.count++
      return echoRouter.handle(request)
    },
  }
  return { router, counted }
}
const withFault = (fault: string): Buffer => requestOf({ headers: { 'x-seriatim-fault': fault } })

test('faults: an error or a loss comes before or after the operation was done', async (t) => {
  const { router, counted } = countingRouter()
  const server = await serve(t, { faults: true }, router)
  const done = async (fault: string): Promise<readonly [number | undefined, number]> => {
    const before = counted.count
    const client = await RawClient.open(t, server)
    const response = await client.write(withFault(fault)).response()
    return [response?.status, counted.count - before]
  }
  assert.deepEqual(await done('error-before'), [500, 0])
  assert.deepEqual(await done('error-after'), [500, 1])
  assert.deepEqual(await done('lose-before'), [undefined, 0])
  assert.deepEqual(await done('lose-after'), [undefined, 1])
  assert.deepEqual(await done('throttle'), [400, 0])
  assert.deepEqual(await done('delay-1'), [200, 1])
})

test('faults: an unknown fault is refused, and without --faults the header means nothing', async (t) => {
  const willing = await ask(t, await serve(t, { faults: true }), withFault('explode'))
  assert.equal(willing.status, 400)
  assert.match(String(willing.json['message']), /Unknown fault "explode"/)
  assert.equal((await ask(t, await serve(t), withFault('error-before'))).status, 200)
  for (const text of [
    '',
    'throttle-1',
    'error',
    'error-never',
    'delay',
    'delay-x',
    'delay-1e9',
    'delay--1',
  ]) {
    assert.equal(parseFault(text), undefined, text)
  }
})

test('faults: a router that breaks its promise costs one answer, not the process', async (t) => {
  const warned = new Promise((resolve) => process.once('warning', resolve))
  const broken: Router = {
    operations: ['ListTables', 'GetItem'],
    handle: ({ operation }) => {
      if (operation === 'GetItem') throw new Error('thrown')
      return Promise.reject(new Error('rejected'))
    },
  }
  const server = await serve(t, {}, broken)
  assert.equal((await ask(t, server, requestOf())).status, 500)
  const headers = { 'x-amz-target': 'DynamoDB_20120810.GetItem' }
  assert.equal((await ask(t, server, requestOf({ headers }))).status, 500)
  await warned
})
