import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryMap } from '../../src/ordered-map/memory-map.js'
import { LocalLedger } from '../../src/ledger/local-ledger.js'
import type { Decision, LedgerRecord } from '../../src/ledger/ledger.js'
import {
  type Timestamp,
  type TxId,
  ledgerSlot,
  slotOf,
  spaceId,
  timestamp,
  txId,
} from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import { MemoryLine } from '../../src/line/line.js'
import { plain, plainItem } from '../suites/tables.js'

const MINUTE = 60 * 1_000_000
const START = 3_000_000 * 10 * MINUTE

const slot = (letter: string): ReturnType<typeof ledgerSlot> => ledgerSlot(letter.repeat(32))
const T1 = txId(slot('1'), 'a')
const participants = [
  { node: 0, items: [{ space: spaceId(1), key: itemKey(plain.key, plainItem('\u00ff')) }] },
  { node: 2, items: [] },
]

function open(index = memoryMap()) {
  let now = START
  const ledger = new LocalLedger({ line: new MemoryLine(index), now: () => timestamp(now) })
  return {
    ledger,
    pass: (micros: number) => (now += micros),
    now: () => timestamp(now),
    begin: (tx: TxId, extra: { payloadHash?: string; replaces?: TxId; timestamp?: Timestamp } = {}) =>
      ledger.begin({ tx, timestamp: timestamp(now), participants, ...extra }),
    decide: (tx: TxId, decision: Decision) => ledger.decide(tx, decision, { timestamp: timestamp(now + 1) }),
  }
}

const STATES = ['absent', 'preparing', 'committing', 'cancelling', 'committed', 'cancelled'] as const
type State = (typeof STATES)[number]

async function inState(state: State) {
  const book = open()
  if (state === 'absent') return book
  await book.begin(T1)
  if (state === 'preparing') return book
  await book.decide(T1, state === 'committing' || state === 'committed' ? 'commit' : 'cancel')
  if (state === 'committed' || state === 'cancelled') await book.ledger.complete(T1)
  return book
}

const shown = (record: LedgerRecord | undefined): string =>
  record === undefined ? 'nothing' : `${record.state}${record.decision ? ` ${record.decision}` : ''}`

test('§3.5 the ledger: every operation in every state, legal or not', async () => {
  const operations = {
    begin: async (book: ReturnType<typeof open>) => {
      const outcome = await book.begin(T1)
      return outcome.verdict === 'begun' ? 'begun' : shown(outcome.record)
    },
    commit: async (book: ReturnType<typeof open>) => shown(await book.decide(T1, 'commit')),
    cancel: async (book: ReturnType<typeof open>) => shown(await book.decide(T1, 'cancel')),
    complete: async (book: ReturnType<typeof open>) => {
      try {
        await book.ledger.complete(T1)
      } catch (error) {
        return (error as Error).message.replace(T1, 'T')
      }
      return shown(await book.ledger.read(slotOf(T1)))
    },
  }
  const table: Record<State, Record<keyof typeof operations, string>> = {
    absent: {
      begin: 'begun',
      commit: 'completed cancel',
      cancel: 'completed cancel',
      complete: 'nothing',
    },
    preparing: {
      begin: 'begun',
      commit: 'committing commit',
      cancel: 'cancelling cancel',
      complete: 'transaction T cannot be completed: it is not decided',
    },
    committing: {
      begin: 'committing commit',
      commit: 'committing commit',
      cancel: 'committing commit',
      complete: 'completed commit',
    },
    cancelling: {
      begin: 'cancelling cancel',
      commit: 'cancelling cancel',
      cancel: 'cancelling cancel',
      complete: 'completed cancel',
    },
    committed: {
      begin: 'completed commit',
      commit: 'completed commit',
      cancel: 'completed commit',
      complete: 'completed commit',
    },
    cancelled: {
      begin: 'completed cancel',
      commit: 'completed cancel',
      cancel: 'completed cancel',
      complete: 'completed cancel',
    },
  }
  for (const state of STATES) {
    for (const name of ['begin', 'commit', 'cancel', 'complete'] as const) {
      assert.equal(await operations[name](await inState(state)), table[state][name], `${name} when ${state}`)
    }
  }
})

test('§3.5 the ledger: intents of a run of the journal that is over may be lost, and are not committed', async () => {
  const book = open()
  await book.begin(T1)
  const record = await book.ledger.decide(T1, 'commit', { timestamp: timestamp(START), run: 'another' })
  assert.equal(shown(record), 'cancelling cancel')
  assert.equal(shown(await book.decide(T1, 'commit')), 'cancelling cancel')
})

test('§3.5 the ledger: what is not decided is gone after a crash, and may be decided no more', async () => {
  const index = memoryMap()
  const before = open(index)
  await before.begin(T1)
  assert.deepEqual(
    (await before.ledger.unfinished(slot('0'), 10)).map((record) => record.tx),
    [T1],
  )
  assert.equal(shown(await before.ledger.read(slot('1'))), 'preparing')
  const after = open(index)
  assert.equal(shown(await after.decide(T1, 'commit')), 'completed cancel')
})

test('§3.5 the ledger: a record keeps what recovery needs until it is completed', async () => {
  const book = open()
  await book.begin(T1, { payloadHash: 'h' })
  assert.deepEqual(await book.ledger.unfinished(slot('0'), 10), [
    { tx: T1, state: 'preparing', timestamp: START, participants, begunAt: START, payloadHash: 'h' },
  ])
  const decided = await book.ledger.decide(T1, 'cancel', {
    timestamp: timestamp(START + 5),
    reasons: [{ Code: 'None' }],
  })
  assert.deepEqual(decided.participants, participants)
  assert.equal(decided.timestamp, START + 5)
  assert.deepEqual(await book.ledger.unfinished(slot('0'), 10), [decided])
  await book.ledger.complete(T1)
  assert.deepEqual(await book.ledger.unfinished(slot('0'), 10), [])
  const [recent] = await book.ledger.recent(10)
  assert.deepEqual(recent?.reasons, [{ Code: 'None' }])
})

test('§3.5 the ledger: the unfinished are listed from any slot on, in slot order, up to a number', async () => {
  const book = open()
  for (const letter of ['c', '1', '7']) await book.begin(txId(slot(letter), 'n'))
  const slots = async (from: string, most: number): Promise<string[]> =>
    (await book.ledger.unfinished(slot(from), most)).map(({ tx }) => tx[0] as string)
  assert.deepEqual(await slots('0', 10), ['1', '7', 'c'])
  assert.deepEqual(await slots('2', 10), ['7', 'c'])
  assert.deepEqual(await slots('0', 2), ['1', '7'])
  assert.deepEqual(await slots('f', 2), [])
})

test('§3.5 a delayed begin or commit finds the tombstone, for at least ten minutes', async () => {
  const book = open()
  await book.decide(T1, 'cancel')
  book.pass(10 * MINUTE - 1)
  assert.equal((await book.begin(T1, { timestamp: timestamp(START) })).verdict, 'exists')
  assert.equal((await book.decide(T1, 'commit')).decision, 'cancel')
})

test('§3.5 a begin that is older than any tombstone is refused, since nobody knows what became of it', async () => {
  const book = open()
  await book.decide(T1, 'cancel')
  book.pass(30 * MINUTE)
  while (!(await book.ledger.purge(1)));
  const outcome = await book.begin(T1, { timestamp: timestamp(START) })
  assert.equal(outcome.verdict === 'exists' && shown(outcome.record), 'completed cancel')
})

test('restamping: an attempt that is replaced is cancelled in the step that begins the next one', async () => {
  const book = open()
  const [first, second, third] = ['a', 'b', 'c'].map((nonce) => txId(slot('1'), nonce)) as [TxId, TxId, TxId]
  await book.begin(first, { payloadHash: 'h' })
  assert.equal((await book.begin(second, { payloadHash: 'h', replaces: first })).verdict, 'begun')
  assert.equal((await book.decide(first, 'commit')).decision, 'cancel')
  // The begin of the second was lost on its way.
  const lost = txId(slot('2'), 'a')
  assert.equal((await book.begin(txId(slot('2'), 'b'), { replaces: lost })).verdict, 'begun')
  assert.equal((await book.begin(lost)).verdict, 'exists')
  assert.equal((await book.begin(third, { payloadHash: 'h' })).verdict, 'exists', 'the second is in flight')
})

const claim = (book: ReturnType<typeof open>, nonce: string, hash: string): string =>
  book.ledger.claimToken(txId(slot('1'), nonce), hash).verdict

test('tokens: in flight, repeated, another request, and free again after a cancellation', async () => {
  const book = open()
  assert.equal(claim(book, 'x', 'h'), 'free')
  await book.begin(T1, { payloadHash: 'h' })
  assert.equal(claim(book, 'x', 'h'), 'in-progress')
  assert.equal(claim(book, 'x', 'other'), 'mismatch')
  await book.decide(T1, 'commit')
  assert.equal(claim(book, 'x', 'h'), 'in-progress')
  await book.ledger.complete(T1)
  assert.equal(claim(book, 'x', 'h'), 'repeated')
  assert.equal(claim(book, 'x', 'other'), 'mismatch')

  const cancelled = open()
  await cancelled.begin(T1, { payloadHash: 'h' })
  await cancelled.decide(T1, 'cancel')
  assert.equal(claim(cancelled, 'x', 'other'), 'free')
  assert.equal((await cancelled.begin(txId(slot('1'), 'b'), { payloadHash: 'h' })).verdict, 'begun')
  await cancelled.ledger.complete(T1)
  assert.equal(claim(cancelled, 'x', 'h'), 'in-progress')
})

test('tokens: a committed one holds for ten minutes, over a restart, and not longer', async () => {
  for (const elapsed of [0, 9 * MINUTE, 10 * MINUTE - 1]) {
    for (const offset of [0, 5 * MINUTE, 9 * MINUTE]) {
      const index = memoryMap()
      const book = open(index)
      book.pass(offset)
      book.ledger.recordCommitted(T1, book.now(), 'h')
      const reopened = open(index)
      reopened.pass(offset + elapsed)
      assert.equal(claim(reopened, 'x', 'h'), 'repeated')
      assert.equal(claim(reopened, 'x', 'i'), 'mismatch')
      reopened.pass(10 * MINUTE - elapsed)
      assert.equal(claim(reopened, 'x', 'i'), 'free')
    }
  }
})

test('the ledger: old epochs are purged in bounded steps, young ones stay', async () => {
  const book = open()
  for (let n = 0; n < 7; n++) await book.decide(txId(slot(String(n)), 'n'), 'cancel')
  book.pass(20 * MINUTE)
  await book.decide(txId(slot('f'), 'n'), 'cancel')
  assert.equal(await book.ledger.purge(5), false)
  assert.equal(await book.ledger.purge(5), true)
  assert.deepEqual(
    (await book.ledger.recent(10)).map(({ tx }) => tx[0]),
    ['f'],
  )
})

test('the ledger: a one-round transaction without a token recognises only itself', () => {
  const book = open()
  book.ledger.recordCommitted(T1, book.now(), '')
  assert.equal(claim(book, 'a', ''), 'repeated')
})

test('the ledger: beyond ten thousand completed transactions of an epoch the newest are listed, before and after a restart', async () => {
  const index = memoryMap()
  const book = open(index)
  const COUNT = 12_000
  const idOf = (n: number): TxId => {
    // Slots are random: their order is not that of time.
    const scattered = ((n * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0')
    return txId(ledgerSlot(scattered + n.toString(16).padStart(24, '0')), 'a')
  }
  for (let n = 0; n < COUNT; n++) {
    book.pass(1)
    book.ledger.recordCommitted(idOf(n), book.now(), '')
  }
  const newest = Array.from({ length: 100 }, (_, at) => idOf(COUNT - 1 - at))
  assert.deepEqual(
    (await book.ledger.recent(100)).map(({ tx }) => tx),
    newest,
  )
  let pauses = 0
  const reopened = new LocalLedger({
    line: new MemoryLine(index),
    now: book.now,
    pause: () => Promise.resolve(void pauses++),
  })
  assert.deepEqual(
    (await reopened.recent(100)).map(({ tx }) => tx),
    newest,
  )
  assert.ok(pauses >= 5, `${pauses} pauses while twelve thousand were looked at`)
  // Some of before the restart, and one of after it.
  book.pass(1)
  const latest = txId(slot('e'), 'a')
  reopened.recordCommitted(latest, book.now(), '')
  assert.deepEqual(
    (await reopened.recent(3)).map(({ tx }) => tx),
    [latest, ...newest.slice(0, 2)],
  )
})
