import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changesByRecord, changesByTransaction } from '../../src/changes/changes.js'
import type { ChangeIterable } from '../../src/changes/change.js'
import { followedLog } from './followed-log.js'

const id = (text: string) => ({ S: text })

/** The next so many, which are there. */
async function take<T>(changes: ChangeIterable<T>, count: number): Promise<readonly T[]> {
  const taken: T[] = []
  for (let at = 0; at < count; at++) {
    const result = await changes.next()
    assert.ok(result.done !== true, `it ended after ${at}`)
    taken.push(result.value)
  }
  return taken
}

/** All until its end. */
async function drain<T>(changes: ChangeIterable<T>): Promise<readonly T[]> {
  const all: T[] = []
  for await (const change of changes) all.push(change)
  return all
}

const idsOf = (changes: readonly { readonly keys: { readonly id?: string } }[]): string =>
  changes.map(({ keys }) => keys.id).join(' ')

test('changes: each has key, images, event, sequence number, time and cause', async () => {
  const { source, enable, commit } = followedLog()
  enable('Accounts')
  await commit([{ table: 'Accounts', new: { id: id('a'), n: { N: '1' } } }])
  await commit(
    [{ table: 'Accounts', old: { id: id('a'), n: { N: '1' } }, new: { id: id('a'), n: { N: '2' } } }],
    'tx-1',
  )
  await commit([{ table: 'Accounts', old: { id: id('a'), n: { N: '2' } }, cause: 'expiry' }])
  const all = await take(changesByRecord(source, 'Accounts', { from: 'start' }), 3)
  assert.deepEqual(all, [
    {
      table: 'Accounts',
      event: 'INSERT',
      keys: { id: 'a' },
      new: { id: 'a', n: 1 },
      sequenceNumber: '100000000000000100000',
      timestamp: new Date(1_900_000_001_000),
      cause: 'request',
    },
    {
      table: 'Accounts',
      event: 'MODIFY',
      keys: { id: 'a' },
      old: { id: 'a', n: 1 },
      new: { id: 'a', n: 2 },
      sequenceNumber: '100000000000000200000',
      transactionId: 'tx-1',
      timestamp: new Date(1_900_000_002_000),
      cause: 'request',
    },
    {
      table: 'Accounts',
      event: 'REMOVE',
      keys: { id: 'a' },
      old: { id: 'a', n: 2 },
      sequenceNumber: '100000000000000300000',
      timestamp: new Date(1_900_000_003_000),
      cause: 'expiry',
    },
  ])
})

test('changes: numbers that JavaScript cannot hold are not rounded', async () => {
  const { source, enable, put } = followedLog()
  enable('A')
  await put('A', 'x', { big: { N: '12345678901234567890' }, fine: { N: '0.1234567890123456789' } })
  const [change] = await take(changesByRecord(source, 'A', { from: 'start' }), 1)
  assert.equal(change?.new?.['big'], 12345678901234567890n)
  assert.equal(String(change?.new?.['fine']), '0.1234567890123456789')
})

test('changes: from now on sees nothing before the call and everything after it', async () => {
  const { source, enable, put } = followedLog()
  enable('A')
  await put('A', 'before')
  const changes = changesByRecord(source, 'A', { from: 'now' })
  await put('A', 'after')
  await put('A', 'later')
  assert.equal(idsOf(await take(changes, 2)), 'after later')
})

test('changes: waits for what is not there yet', async () => {
  const { source, enable, put } = followedLog()
  enable('A')
  enable('B')
  const changes = changesByRecord(source, 'A', {})
  const next = changes.next()
  await put('B', 'other table')
  await put('A', 'x')
  assert.equal((await next).value?.keys['id'], 'x')
})

test('changes: from a sequence number on exactly after it, also within a transaction', async () => {
  const { source, enable, commit, put } = followedLog()
  enable('A')
  enable('B')
  await put('A', '1')
  await commit(
    [
      { table: 'A', new: { id: id('2') } },
      { table: 'B', new: { id: id('not of A') } },
      { table: 'A', new: { id: id('3') } },
    ],
    'tx',
  )
  await put('A', '4')
  const all = await take(changesByRecord(source, 'A', { from: 'start' }), 4)
  assert.equal(idsOf(all), '1 2 3 4')
  for (const [at, { sequenceNumber }] of all.slice(0, -1).entries()) {
    const rest = changesByRecord(source, 'A', { from: sequenceNumber })
    assert.deepEqual(await take(rest, all.length - at - 1), all.slice(at + 1))
  }
})

test('changes: sequence numbers compare as texts and are unique in a table', async () => {
  const { source, enable, commit } = followedLog()
  enable('A')
  const many = Array.from({ length: 100 }, (_, at) => ({ table: 'A', new: { id: id(String(at)) } }))
  for (let count = 0; count < 3; count++) await commit(many, `tx-${count}`)
  const numbers = (await take(changesByRecord(source, 'A', { from: 'start' }), 300)).map(
    ({ sequenceNumber }) => sequenceNumber,
  )
  assert.deepEqual(numbers.toSorted(), numbers)
  assert.equal(new Set(numbers).size, 300)
})

test('changes, by transaction: one element for each commit, with the tables that are asked for', async () => {
  const { source, enable, commit, put } = followedLog()
  for (const table of ['A', 'B', 'C']) enable(table)
  await put('A', '1')
  await commit(
    [
      { table: 'B', new: { id: id('2') } },
      { table: 'C', new: { id: id('not asked for') } },
      { table: 'A', new: { id: id('3') } },
      { table: 'A', new: { id: id('4') } },
    ],
    'tx',
  )
  await put('C', 'not asked for')
  await put('B', '5')
  const all = await take(changesByTransaction(source, ['A', 'B'], { from: 'start' }), 3)
  assert.deepEqual(
    all.map(({ changes, transactionId }) => [transactionId, idsOf(changes)]),
    [
      [undefined, '1'],
      ['tx', '2 3 4'],
      [undefined, '5'],
    ],
  )
  const rest = changesByTransaction(source, ['A', 'B'], { from: all[1]!.sequenceNumber })
  assert.equal(idsOf((await take(rest, 1))[0]!.changes), '5')
})

test('changes, by transaction: one that was read in part comes again as a whole', async () => {
  const { source, enable, commit } = followedLog()
  enable('A')
  await commit(
    [
      { table: 'A', new: { id: id('1') } },
      { table: 'A', new: { id: id('2') } },
    ],
    'tx',
  )
  const [first] = await take(changesByRecord(source, 'A', { from: 'start' }), 1)
  const [whole] = await take(changesByTransaction(source, ['A'], { from: first!.sequenceNumber }), 1)
  assert.equal(idsOf(whole!.changes), '1 2')
})

test('changes: a slow reader reads no page before it needs one', async () => {
  const { source, enable, put, reads } = followedLog()
  enable('A')
  for (let at = 0; at < 1000; at++) await put('A', String(at))
  const changes = changesByRecord(source, 'A', { from: 'start' })
  assert.equal(reads(), 0)
  await take(changes, 1)
  assert.equal(reads(), 1)
  await take(changes, 99)
  assert.equal(reads(), 1)
  await take(changes, 1)
  assert.equal(reads(), 2)
})

test('changes: what was trimmed before it was read is an error, not a gap', async () => {
  const { source, enable, put } = followedLog({ bytesMax: 10_000 })
  enable('A')
  await put('A', 'first')
  const reader = changesByRecord(source, 'A', { from: 'start' })
  const [first] = await take(reader, 1)
  for (let at = 0; at < 1000; at++) await put('A', String(at))
  assert.ok(source.log.first > 2)
  await assert.rejects(reader.next(), { name: 'ChangesTrimmed', message: /A .*not kept any more/ })
  assert.equal((await reader.next()).done, true)
  assert.throws(() => changesByRecord(source, 'A', { from: first!.sequenceNumber }), {
    name: 'ChangesTrimmed',
  })
  // What is kept is all that `start` promises.
  const [kept] = await take(changesByRecord(source, 'A', { from: 'start' }), 1)
  assert.equal(Number(kept!.sequenceNumber.slice(1, 16)), source.log.first)
})

test('changes: `start` that was trimmed before the first read begins with what is kept then', async () => {
  const { source, enable, put } = followedLog({ bytesMax: 10_000 })
  enable('A')
  const reader = changesByRecord(source, 'A', { from: 'start' })
  for (let at = 0; at < 1000; at++) await put('A', String(at))
  const [kept] = await take(reader, 1)
  assert.equal(Number(kept!.sequenceNumber.slice(1, 16)), source.log.first)
})

test('changes: a stream that is disabled ends its readers after its last change', async () => {
  const { source, enable, put, disable } = followedLog()
  enable('A')
  await put('A', '1')
  const reader = changesByRecord(source, 'A', { from: 'start' })
  const waits = changesByRecord(source, 'A', { from: 'now' }).next()
  await put('A', '2')
  disable('A')
  assert.equal(idsOf(await drain(reader)), '1 2')
  assert.equal((await waits).value?.keys['id'], '2')
  enable('A')
  await put('A', '3')
  assert.equal(idsOf(await take(changesByRecord(source, 'A', { from: 'start' }), 1)), '3')
})

test('changes: a position in an earlier stream of the table is an error', async () => {
  const { source, enable, put, disable } = followedLog()
  enable('A')
  await put('A', '1')
  const [{ sequenceNumber } = { sequenceNumber: '' }] = await take(
    changesByRecord(source, 'A', { from: 'start' }),
    1,
  )
  disable('A')
  enable('A')
  assert.throws(() => changesByRecord(source, 'A', { from: sequenceNumber }), {
    name: 'ChangesTrimmed',
    message: /stream of A begins after/,
  })
})

test('changes, by transaction: of several tables one may have got its stream later, but not anew', async () => {
  const { source, enable, put, disable } = followedLog()
  enable('A')
  await put('A', '1')
  enable('B')
  await put('B', '2')
  const both = changesByTransaction(source, ['A', 'B'], { from: 'start' })
  const [{ sequenceNumber } = { sequenceNumber: '' }] = await take(both, 1)
  const again = changesByTransaction(source, ['A', 'B'], { from: sequenceNumber })
  assert.equal(idsOf((await take(again, 1))[0]!.changes), '2')
  disable('B')
  enable('B')
  assert.throws(() => changesByTransaction(source, ['A', 'B'], { from: sequenceNumber }), {
    name: 'ChangesTrimmed',
    message: /stream of B/,
  })
})

test('changes: a table without a stream is refused with what to do', () => {
  const { source } = followedLog()
  assert.throws(() => changesByRecord(source, 'A', {}), {
    name: 'NoStream',
    message: /The table A has no stream.*StreamEnabled: true/,
  })
})

test('changes: what is no position is refused', async () => {
  const { source, enable, put } = followedLog()
  enable('A')
  await put('A', '1')
  for (const from of ['', 'latest', '1', '200000000000000100000'])
    assert.throws(() => changesByRecord(source, 'A', { from }), RangeError)
  assert.throws(() => changesByRecord(source, 'A', { from: '100000000000000900000' }), {
    name: 'RangeError',
    message: /not of this store/,
  })
  assert.throws(() => changesByTransaction(source, [], {}), TypeError)
})

test('changes: leaving the loop, return() and `await using` end it and leave nothing behind', async () => {
  const { source, enable, put, waiting } = followedLog()
  enable('A')
  await put('A', '1')
  const left = changesByRecord(source, 'A', { from: 'start' })
  for await (const change of left) {
    assert.equal(change.keys['id'], '1')
    break
  }
  assert.equal((await left.next()).done, true)
  const waits = changesByRecord(source, 'A', { from: 'now' })
  const next = waits.next()
  await waits.return()
  assert.equal((await next).done, true)
  {
    await using used = changesByRecord(source, 'A', { from: 'now' })
    void used.next()
  }
  assert.equal(waiting(), 0)
})

test('changes: a signal ends what waits with its reason', async () => {
  const { source, enable, waiting } = followedLog()
  enable('A')
  const controller = new AbortController()
  const changes = changesByRecord(source, 'A', { signal: controller.signal })
  const next = changes.next()
  controller.abort(new Error('enough'))
  await assert.rejects(next, { message: 'enough' })
  assert.equal((await changes.next()).done, true)
  assert.equal(waiting(), 0)
  const late = changesByRecord(source, 'A', { signal: controller.signal })
  await assert.rejects(late.next(), { message: 'enough' })
})

test('changes: closing the store ends its readers', async () => {
  const { source, enable, close, waiting } = followedLog()
  enable('A')
  const changes = changesByRecord(source, 'A', {})
  const next = changes.next()
  close()
  assert.equal((await next).done, true)
  assert.equal(waiting(), 0)
})

test('changes: calls of next() at once are answered in order', async () => {
  const { source, enable, put } = followedLog()
  enable('A')
  const changes = changesByRecord(source, 'A', {})
  const three = [changes.next(), changes.next(), changes.next()]
  for (const each of ['1', '2', '3']) await put('A', each)
  assert.deepEqual(
    (await Promise.all(three)).map(({ value }) => value?.keys['id']),
    ['1', '2', '3'],
  )
})
