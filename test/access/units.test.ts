// What one key may do to the units of work of another: nothing.
import assert from 'node:assert/strict'
import { anyone, type Principal } from '../../src/router/request/access.js'
import { test, type TestContext } from 'node:test'
import { type KeyBytes, timestamp } from '../../src/model/brand.js'
import { ItemWaits, waitLimits } from '../../src/router/reads/item-waits.js'
import { Passes } from '../../src/router/request/passes.js'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { UnitLocks } from '../../src/storage/snapshots/unit-locks.js'
import { open } from '../../src/store/store.js'
import { clientEndpoint } from '../../src/toolkit/endpoint/endpoint.js'
import { transactor } from '../../src/toolkit/index.js'
import { createTable, openTestStore } from '../router/many-support.js'
import { testFolder } from '../support/folder.js'
import { testRuntime } from '../support/test-runtime.js'
import { type Answer, Key, key, type KeyHolder, openKeyed, tableOf } from './keys.js'

const ALICE = key('ALICE', ['read', 'write', 'admin'])
const BOB = key('BOB', ['read', 'write'])
const READER = key('READER', ['read'])
const TABLE = 'Accounts'
const at = (id: string, rest: object = {}) => ({ TableName: TABLE, Key: Key(id), ...rest })
const put = (id: string, n: number) => ({
  Put: { TableName: TABLE, Item: { ...Key(id), n: { N: String(n) } } },
})

async function openAccounts(t: TestContext, options = {}) {
  const keyed = await openKeyed(t, [ALICE, BOB, READER], options)
  await keyed.as('ALICE').call('CreateTable', tableOf(TABLE))
  for (const id of ['a', 'b']) await keyed.store.call('PutItem', { TableName: TABLE, Item: Key(id) })
  return { ...keyed, alice: keyed.as('ALICE'), bob: keyed.as('BOB'), reader: keyed.as('READER') }
}

/** The first read of a unit: what it was given. */
const begin = (holder: KeyHolder, Id: string, rest: object = {}): Promise<Answer> =>
  holder.call('UnitGetItems', {
    Unit: { Id, Isolation: 'serializable' },
    Gets: [at('a', rest)],
  })
const unitOf = (Id: string, { ReadTimestamp, Began }: Answer) => ({
  Id,
  Isolation: 'serializable',
  ReadTimestamp,
  Began,
})

test('keys: an age that a client makes up takes no lock from an older unit', async (t) => {
  const { alice, bob } = await openAccounts(t)
  const given = await begin(alice, 'u1', { Lock: true })
  for (const Began of [1, 0, '1', 'a.1.AAAAAAAAAAAAAAAAAAAAAA', given['Began'], { a: 1 }]) {
    const Unit = { Id: 'u2', Isolation: 'serializable', Began, TimeoutMs: 900_000 }
    const outcome = await bob.outcome('UnitGetItems', { Unit, Gets: [at('a', { Lock: true })] })
    assert.equal(outcome, 'UnitConflictException', JSON.stringify(Began))
  }
  // Nor that of another unit of the same key.
  const young = { Id: 'u3', Isolation: 'serializable', Began: given['Began'] }
  const gets = [at('a', { Lock: true })]
  assert.equal(await alice.outcome('UnitGetItems', { Unit: young, Gets: gets }), 'UnitConflictException')
  const commit = { Unit: unitOf('u1', given), Locks: [at('a')], TransactItems: [put('a', 1)] }
  assert.equal(await alice.outcome('UnitCommit', commit), 'answered')
})

test('keys: a unit that was refused a lock is told its age, and is the older one at its next attempt', async (t) => {
  const { alice, bob } = await openAccounts(t)
  await begin(alice, 'first', { Lock: true })
  const refused = await begin(bob, 'second', { Lock: true }).catch((error: unknown) => error)
  const { Began } = refused as { readonly Began?: unknown }
  assert.equal(typeof Began, 'string')
  await alice.call('UnitEnd', { Unit: { Id: 'first', Isolation: 'serializable' }, Locks: [at('a')] })
  await begin(alice, 'third', { Lock: true })
  const Unit = { Id: 'second', Isolation: 'serializable', Began }
  assert.equal(await bob.outcome('UnitGetItems', { Unit, Gets: [at('a', { Lock: true })] }), 'answered')
})

test('keys: a lock is given back by its own key only, whoever knows the name of the unit', async (t) => {
  const { alice, bob } = await openAccounts(t)
  const given = await begin(alice, 'u1', { Lock: true })
  const refused = (await begin(bob, 'u2', { Lock: true }).catch((error: unknown) => error)) as {
    readonly Conflicts?: readonly { readonly TransactionId?: string }[]
  }
  const holder = refused.Conflicts?.[0]?.TransactionId
  assert.equal(holder, 'u1', 'the name, without the key')
  const stolen = { Id: holder, Isolation: 'serializable' }
  await bob.call('UnitEnd', { Unit: stolen, Locks: [at('a')] })
  const commit = { Unit: stolen, Locks: [at('a')], TransactItems: [put('a', 2)] }
  assert.equal(await bob.outcome('UnitCommit', commit), 'UnitConflictException')
  const own = { Unit: unitOf('u1', given), Locks: [at('a')], TransactItems: [put('a', 1)] }
  assert.equal(await alice.outcome('UnitCommit', own), 'answered')
})

test('keys: a lock ends when the server says so, however long its unit may take', async (t) => {
  const clock = manualClock(Date.now())
  const { alice, bob } = await openAccounts(t, { clock, lockMsMax: 5_000 })
  const Unit = { Id: 'u1', Isolation: 'read-committed', TimeoutMs: 900_000 }
  const lock = { Unit, Gets: [at('a', { Lock: true })] }
  await alice.call('UnitGetItems', lock)
  clock.advance(4_000)
  // Asking again does not make it last.
  await alice.call('UnitGetItems', lock)
  clock.advance(1_001)
  assert.equal(await bob.outcome('PutItem', { TableName: TABLE, Item: Key('a') }), 'answered')
})

test('keys: another key can neither read at a snapshot, nor commit at it, nor give it back', async (t) => {
  const { alice, bob, reader } = await openAccounts(t)
  const given = await begin(alice, 'u1')
  const Unit = unitOf('u1', given)
  for (const thief of [bob, reader]) {
    assert.equal(await thief.outcome('UnitGetItems', { Unit, Gets: [at('a')] }), 'SnapshotTooOldException')
    assert.equal(await thief.outcome('UnitScan', { Unit, TableName: TABLE }), 'SnapshotTooOldException')
    await thief.call('UnitEnd', {
      Unit: { Id: 'x', Isolation: 'serializable' },
      Released: [given['ReadTimestamp'], 1, 'nonsense', null],
    })
  }
  const commit = { Unit: { ...Unit, Isolation: 'snapshot' }, TransactItems: [put('b', 1)] }
  assert.equal(await bob.outcome('UnitCommit', commit), 'SnapshotTooOldException')
  assert.equal(await alice.outcome('UnitGetItems', { Unit, Gets: [at('b')] }), 'answered')
})

test('keys: a snapshot is given back once: another unit at the same timestamp keeps it', async (t) => {
  const { alice, bob, store } = await openAccounts(t)
  assert.ok(store)
  // While a batch is under way several units read at one place before it; here they are many at once.
  const units = await Promise.all(Array.from({ length: 20 }, (_, n) => begin(n % 2 ? alice : bob, `u${n}`)))
  const [mine, other] = units as [Answer, Answer]
  const Released = Array.from({ length: 100 }, () => mine['ReadTimestamp'])
  await bob.call('UnitEnd', { Unit: { Id: 'x', Isolation: 'serializable' }, Released })
  assert.equal(
    await alice.outcome('UnitGetItems', { Unit: unitOf('u1', other), Gets: [at('a')] }),
    'answered',
  )
  assert.equal(
    await bob.outcome('UnitGetItems', { Unit: unitOf('u0', mine), Gets: [at('a')] }),
    'SnapshotTooOldException',
  )
})

test('keys: without keys, too, a client gives back only what it was given', async (t) => {
  const store = await open({ memory: true })
  t.after(() => store.close())
  await store.call('CreateTable', tableOf(TABLE))
  const one = clientEndpoint(store.client())
  const other = clientEndpoint(store.client())
  const Unit = { Id: 'u1', Isolation: 'snapshot' }
  const given = (await one.extension('UnitGetItems', { Unit, Gets: [at('a')] })) as Answer
  const timestamp = Number.parseInt(String(given['ReadTimestamp']).split('.')[1] ?? '', 36)
  const Released = [timestamp, String(timestamp), `s.${timestamp.toString(36)}.0.AAAAAAAAAAAAAAAAAAAAAA`]
  await other.extension('UnitEnd', { Unit, Released })
  await one.extension('UnitGetItems', {
    Unit: { ...Unit, ReadTimestamp: given['ReadTimestamp'] },
    Gets: [at('b')],
  })
})

test('keys: the token of another key is not known, and does not collide', async (t) => {
  const { alice, bob, reader } = await openAccounts(t)
  const ClientRequestToken = 'the same token'
  const write = (id: string, n: number) => ({ ClientRequestToken, TransactItems: [put(id, n)] })
  await alice.call('TransactWriteItems', write('a', 1))
  assert.equal(await bob.outcome('TransactWriteItems', write('b', 2)), 'answered')
  assert.equal(
    await alice.outcome('TransactWriteItems', write('a', 2)),
    'IdempotentParameterMismatchException',
  )
  const commit = { Unit: { Id: 'u', Isolation: 'serializable' }, ClientRequestToken: 'unit token' }
  await alice.call('UnitCommit', { ...commit, TransactItems: [put('a', 3)] })
  assert.equal(await bob.outcome('UnitCommit', { ...commit, TransactItems: [put('b', 4)] }), 'answered')
  const outcomeFor = async (holder: KeyHolder) =>
    (await holder.call('UnitOutcome', { ClientRequestToken: 'unit token' }))['Outcome']
  assert.equal(await outcomeFor(alice), 'COMMITTED')
  assert.equal(await outcomeFor(reader), 'UNKNOWN')
})

test('keys: a key with read access leaves no client token in the ledger, and one with write access does', async (t) => {
  const { bob, reader } = await openAccounts(t)
  const check = { ConditionCheck: at('a', { ConditionExpression: 'attribute_exists(id)' }) }
  const given = { Id: 'u', Isolation: 'serializable' }
  const seen = await begin(reader, 'u')
  const { ReadTimestamp } = seen
  const [{ Version }] = seen['Responses'] as [{ Version: number }]
  const requests = [
    ['TransactWriteItems', { TransactItems: [check] }],
    ['UnitCommit', { Unit: given, TransactItems: [check] }],
    ['UnitCommit', { Unit: given, Reads: [at('a', { Version })] }],
    ['UnitCommit', { Unit: { ...given, ReadTimestamp }, Predicates: [{ TableName: TABLE }] }],
  ] as const
  const outcomeOf = async (holder: KeyHolder, ClientRequestToken: string) =>
    (await holder.call('UnitOutcome', { ClientRequestToken }))['Outcome']
  for (const [index, [operation, input]] of requests.entries()) {
    const ClientRequestToken = `token ${index}`
    assert.equal(await reader.outcome(operation, { ...input, ClientRequestToken }), 'answered')
    assert.equal(await outcomeOf(reader, ClientRequestToken), 'UNKNOWN', JSON.stringify(input))
    if ('Predicates' in input) continue
    assert.equal(await bob.outcome(operation, { ...input, ClientRequestToken }), 'answered')
    assert.equal(await outcomeOf(bob, ClientRequestToken), 'COMMITTED', JSON.stringify(input))
  }
})

test('keys: a token of before tokens were bound to keys is still recognised after the start', async (t) => {
  const path = testFolder()
  const request = {
    ClientRequestToken: 'sent before the upgrade',
    TransactItems: [
      {
        Update: {
          ...at('a'),
          UpdateExpression: 'ADD n :one',
          ExpressionAttributeValues: { ':one': { N: '1' } },
        },
      },
    ],
  }
  const before = await open({ path })
  await before.call('CreateTable', tableOf(TABLE))
  await before.call('TransactWriteItems', request)
  await before.close()
  const { as } = await openKeyed(t, [ALICE], { path })
  await as('ALICE').call('TransactWriteItems', request)
  const { Item } = await as('ALICE').call('GetItem', at('a'))
  assert.deepEqual(Item, { ...Key('a'), n: { N: '1' } })
})

test('keys: a detached unit goes on with the same key', async (t) => {
  const { alice, bob } = await openAccounts(t)
  const t1 = transactor(alice.client, { protocol: 'seriatim' })
  await t1.setup()
  for (const isolation of ['read-committed', 'serializable'] as const) {
    const handle = await t1.begin({ isolation })
    await handle.get(TABLE, { id: 'a' }, { lock: true })
    handle.put(TABLE, { id: 'a', by: isolation })
    const id = await handle.detach()
    const resumed = await transactor(alice.client, { protocol: 'seriatim' }).resume(id)
    await resumed.get(TABLE, { id: 'b' })
    await resumed.commit()
    assert.equal(await t1.outcome(id), 'committed')
    assert.equal(await transactor(bob.client, { protocol: 'seriatim' }).outcome(id), 'unknown')
  }
})

test('keys: a range that is denied or refused leaves no snapshot behind', async () => {
  await using store = await openTestStore(1)
  await createTable(store, TABLE, 'id:S')
  const held = () => store.nodes[0]?.unitsHeld.snapshots
  const nobody: Principal = { id: 'NOBODY', name: 'nobody', allows: () => false }
  const Unit = { Id: 'u', Isolation: 'snapshot' }
  assert.match(await store.refusal('UnitScan', { Unit, TableName: TABLE }, nobody), /^AccessDenied/)
  const wrong = { Unit, TableName: TABLE, FilterExpression: 'nonsense(' }
  assert.match(await store.refusal('UnitScan', wrong), /^ValidationException/)
  assert.equal(held(), 0)
})

test('keys: the snapshots of one key are bounded, and the others keep theirs', () => {
  const closed: number[] = []
  const limits = { snapshotsOfKeyMax: 3, snapshotsMax: 5 }
  const passes = new Passes({ runtime: testRuntime(1), close: (at) => closed.push(at), limits })
  const principal = (id: string): Principal => ({ id, name: id, allows: () => true })
  const [a, b, c] = [principal('A'), principal('B'), principal('C')] as const
  const first = passes.giveSnapshot(b, timestamp(100))
  const own = [1, 2, 3, 4, 5].map((n) => passes.giveSnapshot(a, timestamp(n)))
  assert.deepEqual(closed, [1, 2], 'its own oldest ones')
  // They are known as its own still: what was read there may be committed.
  assert.equal(passes.snapshotOf(a, own[0]), 1)
  assert.equal(passes.snapshotOf(b, own[0]), undefined)
  passes.giveSnapshot(c, timestamp(7))
  passes.giveSnapshot(c, timestamp(8))
  assert.deepEqual(closed, [1, 2, 100], 'in all, the oldest one')
  passes.release(a, own[4])
  passes.release(a, own[4])
  passes.release(b, first)
  passes.release(c, own[3])
  assert.deepEqual(closed, [1, 2, 100, 5], 'each once, and by its own key')
})

test('keys: an age does not grow for ever', () => {
  const runtime = testRuntime(1)
  const passes = new Passes({ runtime, close: () => undefined, limits: { ageMsMax: 1_000 } })
  const began = timestamp(runtime.clock.nowMicros())
  const age = passes.giveAge(anyone, 'u1', began)
  assert.equal(passes.ageOf(anyone, 'u1', age), began)
  assert.equal(passes.ageOf(anyone, 'u2', age), undefined)
  runtime.clock.advance(1_001)
  assert.equal(passes.ageOf(anyone, 'u1', age), undefined)
})

test('keys: the age of one unit is no age of another, however the two are named', () => {
  const runtime = testRuntime(1)
  const passes = new Passes({ runtime, close: () => undefined })
  const one: Principal = { ...anyone, id: 'ONE' }
  const began = timestamp(runtime.clock.nowMicros())
  const age = String(passes.giveAge(one, 'x ONE y', began))
  const [kind, text, code] = age.split('.')
  assert.equal(passes.ageOf(one, 'x ONE y', age), began)
  assert.equal(passes.ageOf(one, 'y', `${kind}.${text} ONE x.${code}`), undefined)
})

test('keys: the locks of one unit and of one key are bounded', () => {
  const clock = manualClock(0)
  const locks = new UnitLocks(clock, { locksOfUnitMax: 2, locksOfKeyMax: 3, lockMsMax: 1_000 })
  const until = timestamp(3_600_000_000)
  const items = (...names: string[]) => names as unknown as KeyBytes[]
  const unit = (id: string, owner: string) => ({ id, began: timestamp(1), key: owner })
  assert.equal(locks.take(items('1', '2'), unit('u1', 'A'), until), true)
  assert.equal(locks.take(items('1', '2'), unit('u1', 'A'), until), true, 'the same once more')
  assert.equal(locks.take(items('3'), unit('u1', 'A'), until), false, 'of one unit')
  assert.equal(locks.take(items('3'), unit('u2', 'A'), until), true)
  assert.equal(locks.take(items('4'), unit('u3', 'A'), until), false, 'of one key')
  assert.equal(locks.take(items('4'), unit('u4', 'B'), until), true, 'of another')
  clock.advance(1_001)
  assert.equal(locks.take(items('5', '6'), unit('u5', 'A'), until), true, 'when the others are over')
})

test('keys: those who wait with one key leave room for the others', async () => {
  const waits = new ItemWaits()
  const runtime = testRuntime(1)
  const item = { id: 'x', read: () => Promise.resolve(undefined), watch: () => ({ end: () => undefined }) }
  const never = (): boolean => false
  const asked = Array.from({ length: waitLimits.waitsOfKeyMax }, (_, n) =>
    waits.until(runtime, { ...item, id: String(n) }, never, 1_000, 'A'),
  )
  const beyond = await waits.until(runtime, { ...item, id: 'beyond' }, never, 1_000, 'A')
  assert.equal(beyond.met, false, 'answered at once')
  let answered = false
  const other = waits
    .until(runtime, { ...item, id: 'other' }, never, 1_000, 'B')
    .then(() => (answered = true))
  await Promise.resolve()
  assert.equal(answered, false)
  waits.endAll()
  await Promise.all([...asked, other])
})
