import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FaultPlanError, parseFaultPlan } from '../../src/server/faults/fault-plan.js'
import { open } from '../../src/store/store.js'
import { ask, requestOf, serve } from './support.js'

const plan = (seed: number, ...faults: readonly object[]): string => JSON.stringify({ seed, faults })
const kinds = (text: string, operation: string, count: number): (string | undefined)[] => {
  const opened = parseFaultPlan(text)
  return Array.from({ length: count }, () => opened.next(operation)?.kind)
}

test('fault plan: the same seed meets the same faults, another seed others', () => {
  const half = { operation: 'PutItem', fault: 'throttle', probability: 0.5 }
  const first = kinds(plan(7, half), 'PutItem', 200)
  assert.deepEqual(kinds(plan(7, half), 'PutItem', 200), first)
  assert.notDeepEqual(kinds(plan(8, half), 'PutItem', 200), first)
  const hits = first.filter((kind) => kind === 'throttle').length
  assert.ok(hits > 60 && hits < 140, String(hits))
})

test('fault plan: a rule for all operations leaves out those that cannot end so', () => {
  const always = { fault: 'transaction-conflict', probability: 1 }
  assert.deepEqual(kinds(plan(1, always), 'GetItem', 2), [undefined, undefined])
  assert.deepEqual(kinds(plan(1, always), 'TransactGetItems', 1), ['transaction-conflict'])
  const inProgress = { fault: 'transaction-in-progress', probability: 1 }
  assert.deepEqual(kinds(plan(1, inProgress), 'PutItem', 1), [undefined])
})

test('fault plan: what is wrong with one is said in a sentence', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{', /not valid JSON/],
    ['[]', /must be an object/],
    ['{"faults":[]}', /1 to 1000 entries/],
    ['{"seed":-1,"faults":[{}]}', /"seed" must be/],
    [plan(1, { fault: 'explode', probability: 1 }), /faults\[0\]\.fault must be one of throttle/],
    [plan(1, { fault: 'throttle', probability: 2 }), /faults\[0\]\.probability/],
    [
      plan(1, { operation: 'GetItem', fault: 'transaction-conflict', probability: 1 }),
      /GetItem cannot end in transaction-conflict/,
    ],
  ]
  for (const [text, message] of cases) {
    assert.throws(
      () => parseFaultPlan(text),
      (error) => error instanceof FaultPlanError && message.test(error.message),
    )
  }
})

const target = (operation: string) => ({ 'x-amz-target': `DynamoDB_20120810.${operation}` })

test('faults: conflicts and transactions in progress on demand, as DynamoDB words them', async (t) => {
  await using store = await open({ memory: true })
  const server = await store.listen({ port: 0, faults: true })
  const refused = async (operation: string, fault: string, body = '{}') => {
    const headers = { ...target(operation), 'x-seriatim-fault': fault }
    return (await ask(t, server, requestOf({ headers, body }))).json
  }
  const cancelled = await refused('TransactWriteItems', 'transaction-conflict', '{"TransactItems":[{},{}]}')
  assert.equal(cancelled['__type'], 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException')
  assert.deepEqual(cancelled['CancellationReasons'], [
    { Code: 'TransactionConflict', Message: 'Transaction is ongoing for the item' },
    { Code: 'None' },
  ])
  assert.match(
    String((await refused('PutItem', 'transaction-conflict'))['__type']),
    /TransactionConflictException$/,
  )
  assert.match(
    String((await refused('TransactWriteItems', 'transaction-in-progress'))['__type']),
    /TransactionInProgressException$/,
  )
  assert.match(
    String((await refused('GetItem', 'transaction-conflict'))['message']),
    /Unknown fault .* for GetItem/,
  )
})

test('faults: a plan meets requests without a header, and only with it is anything injected', async (t) => {
  const faultPlan = parseFaultPlan(plan(1, { operation: 'ListTables', fault: 'throttle', probability: 1 }))
  const server = await serve(t, { faultPlan })
  assert.equal((await ask(t, server, requestOf({ headers: target('ListTables') }))).status, 400)
  assert.equal((await ask(t, server, requestOf({ headers: target('GetItem') }))).status, 200)
  await assert.rejects(serve(t, { faultPlan, host: '0.0.0.0', auth: {} as never }), /only on loopback/)
})
