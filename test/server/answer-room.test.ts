import assert from 'node:assert/strict'
import { anyone } from '../../src/router/request/access.js'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ItemText, transactionCancelled } from '../../src/model/errors.js'
import { bytesReadAtMost, type Router } from '../../src/router/request/router.js'
import { AnswerRoom, UnsentBytes } from '../../src/server/http/answer-room.js'
import type { Auth } from '../../src/server/access/auth.js'
import { serverLimits } from '../../src/server/http/limits.js'
import type { ListenOptions, RunningServer } from '../../src/server/http-server.js'
import { sized } from '../support/sizes.js'
import { ask, requestOf, serve, UNREAD_BYTES } from './support.js'

const MB = 1024 * 1024
const limits = { ...serverLimits, answerBytesUnsentMax: 100 * MB, answerBytesMax: 16 * MB }

/** A room, and a connection of a key (or of none) that holds so much of it. */
function roomWith(bytes: number, keyId = '', room = new AnswerRoom(limits)) {
  const unsent = new UnsentBytes(room)
  unsent.billTo(room.shareOf(keyId))
  unsent.made(bytes)
  return {
    room,
    unsent,
    admits: (operation: string) => room.admits(operation, unsent) === true,
    holds: (operation: string, answerBytes: number, error?: string) =>
      room.holds(operation, { body: { length: answerBytes }, error }, unsent),
    /** As many as begin on trial when there is no room; all of them are under way. */
    isFull: (operation: string, trialsMax = 4) => {
      for (let trials = 0; trials < trialsMax; trials++)
        if (room.admits(operation, unsent) !== true) return false
      return room.admits(operation, unsent) !== true
    },
    standstillMs: () => room.standstillMs(unsent),
    isOverdue: (unsentForMs: number) => room.isOverdue(unsent, unsentForMs),
  }
}

test('answer room: many items are read only while there is room for the largest answer', () => {
  assert.ok(roomWith(84 * MB).admits('BatchGetItem'))
  for (const operation of ['Query', 'Scan', 'UnitQuery'])
    assert.ok(roomWith(84 * MB + 1).isFull(operation), operation)
  // Each of them may answer with 16 MB: one at a time.
  for (const operation of ['BatchGetItem', 'TransactGetItems', 'UnitGetItems', 'SearchVectors'])
    assert.ok(roomWith(84 * MB + 1).isFull(operation, 1), operation)
  for (const operation of ['GetItem', 'PutItem', 'TransactWriteItems', 'ListTables'])
    assert.ok(roomWith(200 * MB).admits(operation), operation)
})

test('answer room: whatever reads many items has its bounds, and what reads is dropped if it does not fit', () => {
  for (const operation of ['GetRecords', 'ExecuteStatement'])
    assert.ok(roomWith(84 * MB + 1).isFull(operation), operation)
  for (const operation of [
    'BatchExecuteStatement',
    'ExecuteTransaction',
    'GetBlock',
    'ListRevisions',
    'GetLedgerFile',
  ])
    assert.ok(roomWith(84 * MB + 1).isFull(operation, 1), operation)
  for (const operation of ['GetRecords', 'GetBlock', 'GetRevision', 'ListRevisions', 'GetLedgerFile'])
    assert.ok(!roomWith(99 * MB).holds(operation, MB + 1), operation)
})

test('answer room: a large answer is dropped if it does not fit, unless something was written', () => {
  const full = roomWith(99 * MB)
  assert.ok(full.holds('GetItem', MB))
  assert.ok(!full.holds('GetItem', MB + 1))
  assert.ok(!full.holds('WaitForItem', MB + 1))
  assert.ok(full.holds('UpdateItem', 3 * MB), 'the client must learn that it was done')
  assert.ok(roomWith(200 * MB).holds('GetItem', 16 * 1024), 'small ones always pass')
})

test('answer room: a large refusal is dropped if it does not fit, whatever was refused', () => {
  const full = roomWith(99 * MB)
  for (const [operation, error] of [
    ['PutItem', 'ConditionalCheckFailedException'],
    ['TransactWriteItems', 'TransactionCanceledException'],
    ['UnitCommit', 'TransactionCanceledException'],
  ] as const) {
    assert.ok(full.holds(operation, MB, error), operation)
    assert.ok(!full.holds(operation, MB + 1, error), operation)
    assert.ok(full.holds(operation, MB + 1), 'the client must learn that it was done')
    assert.ok(roomWith(200 * MB).holds(operation, 16 * 1024, error), 'small ones always pass')
  }
})

test('answer room: who takes nothing is closed soon when half of it is taken, late otherwise', () => {
  assert.equal(roomWith(50 * MB).standstillMs(), limits.socketIdleMs)
  assert.equal(roomWith(50 * MB + 1).standstillMs(), limits.crowdedIdleMs)
  assert.ok(!roomWith(50 * MB).isOverdue(10 * limits.crowdedAnswerMs))
  assert.ok(!roomWith(51 * MB).isOverdue(limits.crowdedAnswerMs))
  assert.ok(roomWith(51 * MB).isOverdue(limits.crowdedAnswerMs + 1))
})

/** An operation of a connection of its own that asks to begin. */
function begun(room: AnswerRoom, operation: string, { bytes = 0, keyId = '' } = {}) {
  const unsent = new UnsentBytes(room)
  unsent.billTo(room.shareOf(keyId))
  const begins = room.admits(operation, unsent, bytes)
  const log: string[] = []
  if (begins instanceof Promise) void begins.then((verdict) => log.push(verdict ? 'begun' : 'refused'))
  return {
    unsent,
    begins,
    /** What has become of it, if it had to wait. */
    fate: async () => {
      await new Promise((resolve) => setImmediate(resolve))
      return log[0] ?? 'waits'
    },
    /** Its answer is made and, if it may be kept, taken at once. */
    ends: (answerBytes: number): boolean => {
      const isKept = room.holds(operation, { body: { length: answerBytes }, error: undefined }, unsent)
      unsent.made(isKept ? answerBytes : 0)
      unsent.taken()
      return isKept
    },
  }
}

test('answer room: without room a few operations at a time begin on trial, others wait for them, and small answers pass', async () => {
  let nowMs = 0
  const { room, unsent } = roomWith(90 * MB, '', new AnswerRoom(limits, () => nowMs))
  for (let round = 0; round < 10; round++) {
    const [first, ...others] = [1, 2, 3, 4].map(() => begun(room, 'Query', { bytes: MB }))
    assert.ok([first!, ...others].every(({ begins }) => begins === true))
    const fifth = begun(room, 'Scan', { bytes: MB })
    assert.equal(await fifth.fate(), 'waits', 'four are under way')
    assert.equal(begun(room, 'GetItem').begins, true, 'which answers with one item')
    assert.ok(first!.ends(16 * 1024))
    assert.equal(await fifth.fate(), 'begun', 'one of them is answered')
    const sixth = begun(room, 'Scan', { bytes: MB })
    assert.ok(!fifth.ends(11 * MB), 'it does not fit')
    assert.equal(await sixth.fate(), 'refused', 'an answer was made in vain a moment ago')
    for (const other of others) assert.ok(other.ends(10 * MB), 'it fits')
    nowMs += 249
    assert.equal(begun(room, 'Query').begins, false)
    nowMs += 1
  }
  unsent.taken()
  for (let count = 0; count < 10; count++)
    assert.equal(begun(room, 'Query').begins, true, 'nothing is on trial')
})

test('answer room: what is under way has taken room for what it may read; others wait, and begin as that is answered', async () => {
  const { room } = roomWith(0)
  const batches = Array.from({ length: 20 }, () => begun(room, 'BatchGetItem', { bytes: 20 * MB }))
  assert.deepEqual(
    batches.map(({ begins }) => begins === true),
    batches.map((_, at) => at < 2),
    'large ones have half of it',
  )
  const pages = Array.from({ length: 80 }, () => begun(room, 'Query', { bytes: MB }))
  assert.deepEqual(
    pages.map(({ begins }) => begins === true),
    pages.map((_, at) => at < 60),
    'and pages what they leave',
  )
  for (const each of ['GetItem', 'WaitForItem', 'PutItem', 'TransactWriteItems', 'UnitCommit'])
    assert.equal(begun(room, each).begins, true, each)
  for (const page of pages) {
    assert.ok(page.begins === true || (await page.fate()) === 'begun')
    page.ends(1000)
  }
  for (const [at, batch] of batches.entries()) {
    assert.ok(batch.begins === true || (await batch.fate()) === 'begun')
    if (at + 2 < batches.length) assert.equal(await batches[at + 2]!.fate(), 'waits')
    batch.ends(MB)
  }
  assert.equal(room.bytes, 0)
  assert.equal(begun(room, 'BatchGetItem', { bytes: 200 * MB }).begins, true, 'what is larger than it: alone')
})

test('answer room: those who wait have their turn key by key, and one whose client has gone is passed over', async () => {
  const { room } = roomWith(0)
  const first = begun(room, 'BatchGetItem', { bytes: 50 * MB, keyId: 'a' })
  const [a1, a2, gone, b1] = ['a', 'a', 'b', 'b'].map((keyId) =>
    begun(room, 'BatchGetItem', { bytes: 50 * MB, keyId }),
  )
  gone!.unsent.end()
  first.ends(1)
  assert.equal(await a1!.fate(), 'begun')
  a1!.ends(1)
  assert.equal(await gone!.fate(), 'refused')
  assert.deepEqual([await b1!.fate(), await a2!.fate()], ['begun', 'waits'])
  b1!.ends(1)
  assert.equal(await a2!.fate(), 'begun')
})

test('answer room: an operation takes ahead what the items that it names may have, or a page; who waits for a lock takes nothing', () => {
  const item = 400 * 1024
  const keys = (length: number): readonly object[] => Array.from({ length }, () => ({}))
  for (const [operation, input, bytes] of [
    ['Query', {}, MB],
    ['GetRecords', {}, MB],
    ['BatchGetItem', { RequestItems: { a: { Keys: keys(3) }, b: { Keys: keys(2) } } }, 5 * item],
    [
      'BatchGetItem',
      { RequestItems: { a: null, b: { Keys: 'no list' }, c: { Keys: keys(5000) } } },
      16 * MB + 25 * item,
    ],
    ['BatchGetItem', {}, 0],
    ['TransactGetItems', { TransactItems: keys(3) }, 3 * item],
    ['UnitGetItems', { Gets: keys(2) }, 2 * item],
    ['UnitGetItems', { Gets: [{ Lock: true }, ...keys(2)] }, 0],
    ['ExecuteTransaction', { TransactStatements: keys(4) }, 4 * item],
    ['WaitForItem', {}, 0],
    ['SearchVectors', {}, 0],
    ['GetBlock', { SequenceNumber: 1 }, 16 * MB],
    ['ListRevisions', { TransactionId: 't' }, 16 * MB],
    ['ListRevisions', { TableName: 't', Key: {} }, MB],
    ['GetLedgerFile', { Path: 'checkpoint' }, MB],
    ['PutItem', {}, 0],
  ] as const)
    assert.equal(bytesReadAtMost(operation, input), bytes, operation)
})

test('answer room: one access key has at most half of it', () => {
  assert.ok(roomWith(34 * MB, 'greedy').admits('Query'))
  const greedy = roomWith(34 * MB + 1, 'greedy')
  assert.ok(greedy.isFull('Query'))
  assert.ok(greedy.admits('PutItem'))
  assert.ok(greedy.holds('GetItem', 16 * MB - 1))
  assert.ok(!greedy.holds('GetItem', 16 * MB))
  assert.ok(greedy.holds('UpdateItem', 50 * MB), 'the client must learn that it was done')
})

test('answer room: what one access key holds is not held against another', () => {
  const greedy = roomWith(50 * MB, 'greedy')
  const other = roomWith(MB, 'other', greedy.room)
  assert.ok(other.admits('Scan'))
  assert.ok(other.holds('GetItem', 16 * MB))
  assert.equal(greedy.standstillMs(), limits.crowdedIdleMs)
  assert.equal(other.standstillMs(), limits.socketIdleMs, 'its slow clients have their time')
  assert.ok(!other.isOverdue(10 * limits.crowdedAnswerMs))
  greedy.unsent.taken()
  assert.ok(greedy.admits('Scan'))
  assert.equal(greedy.room.bytes, MB)
})

test('answer room: all keys together have no more than the whole', () => {
  const { room } = roomWith(45 * MB, 'one')
  const second = roomWith(39 * MB, 'two', room)
  assert.ok(second.isFull('Query'), 'more than its half, with the answer')
  const third = roomWith(0, 'three', room)
  assert.ok(third.admits('Query'))
  third.unsent.made(1)
  assert.ok(!third.admits('Query'))
  assert.equal(third.standstillMs(), limits.crowdedIdleMs)
})

test('answer room: a connection on which another key asks holds its bytes on the share of that key', () => {
  const { room, unsent } = roomWith(MB, 'one')
  unsent.billTo(room.shareOf('two'))
  assert.equal(room.shareOf('one').bytes, 0)
  assert.equal(room.shareOf('two').bytes, MB)
  unsent.taken()
  assert.equal(room.shareOf('two').bytes, 0)
  assert.equal(room.bytes, 0)
})

test('answer room: statements that read are reads, whatever stands before their first word', async (t) => {
  const { router } = largeRouter()
  const tight = { answerBytesUnsentMax: LARGE + 32 * KB, answerBytesMax: 16 * MB, ...patient }
  const { server, sleeper } = await serveSleepers(t, { limits: tight }, router)
  const { socket } = await sleeper()
  socket.write(asking('PutItem'))
  await untilUnsent(server, (bytes) => bytes > 0)
  const errorOf = async (operation: string, input: object): Promise<unknown> => {
    const headers = { 'x-amz-target': `DynamoDB_20120810.${operation}` }
    const { json } = await ask(t, server, requestOf({ headers, body: JSON.stringify(input) }))
    return json['__type']
  }
  const throttled = 'com.amazon.coral.service#ThrottlingException'
  const inserts = "INSERT INTO t VALUE {'id': '1'}"
  for (const before of ['', ' \n', '/* INSERT */ ', '-- UPDATE\n', '/**//**/', 'EXPLAIN ']) {
    const Statement = `${before}select * FROM t`
    assert.equal(await errorOf('ExecuteStatement', { Statement }), throttled, before)
    assert.equal(await errorOf('BatchExecuteStatement', { Statements: [{ Statement }] }), throttled, before)
    await pause(250)
  }
  for (const before of ['', ' \n', '/* SELECT */ ', '-- SELECT\n']) {
    const Statement = before + inserts
    assert.equal(await errorOf('ExecuteStatement', { Statement }), undefined, before)
    for (const name of ['Statements', 'TransactStatements'])
      assert.equal(await errorOf('ExecuteTransaction', { [name]: [{ Statement }] }), undefined, before)
  }
  // Of several it is not the first one that tells: it may be refused, and the others done.
  const batch = (...texts: readonly string[]): Promise<unknown> =>
    errorOf('BatchExecuteStatement', { Statements: texts.map((Statement) => ({ Statement })) })
  assert.equal(await batch('NOTHING', 'SELECT * FROM t'), throttled)
  assert.equal(await batch('SELECT * FROM none', inserts), undefined)
})

const SMALL = Buffer.from('{}')
const KB = 1024
const LARGE = UNREAD_BYTES
/** Nobody is closed for taking nothing, however slow the machine: neither for standing still nor for an old answer. */
const patient = { crowdedIdleMs: 600_000, crowdedAnswerMs: 600_000 }
/** Does not always pass. */
const PAGE = Buffer.from('{}'.padEnd(64 * KB))

/** Refuses TransactWriteItems with an item of so many bytes. */
function refusingRouter(bytes = LARGE) {
  const Item = new ItemText(Buffer.alloc(bytes, ' '))
  const seen = { asked: 0 }
  const router: Router = {
    operations: ['TransactWriteItems'],
    handle: () => {
      seen.asked++
      return Promise.resolve({
        ok: false,
        error: transactionCancelled([{ Code: 'None', Item } as object as { Code: string }]),
      })
    },
  }
  return { router, seen }
}

const STATEMENTS = ['ExecuteStatement', 'BatchExecuteStatement', 'ExecuteTransaction']
const PAGES: ReadonlySet<string> = new Set(['Scan', ...STATEMENTS])

/** Answers GetItem and PutItem with so many bytes, and Scan with a page: more than the system's buffers of a connection take. */
function largeRouter(bytes = LARGE) {
  const body = Buffer.alloc(bytes, ' ')
  const seen = { asked: 0 }
  const router: Router = {
    operations: ['GetItem', 'PutItem', 'Query', 'Scan', 'ListTables', ...STATEMENTS],
    handle: ({ operation }) => {
      seen.asked++
      return Promise.resolve({
        ok: true,
        body: operation === 'GetItem' || operation === 'PutItem' ? body : PAGES.has(operation) ? PAGE : SMALL,
      })
    },
  }
  return { router, seen }
}

const asking = (operation: string, headers: Readonly<Record<string, string>> = {}): Buffer =>
  requestOf({ headers: { 'x-amz-target': `DynamoDB_20120810.${operation}`, ...headers } })

/** Takes the name of a key for its signature. */
const byName: Auth = {
  refusesUnread: () => undefined,
  authenticate: ({ headers }) => ({ ...anyone, id: String(headers['authorization']) }),
}

const OTHER_FORM = { 'x-empty': '' }

async function metric(server: RunningServer, name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1])
}
const unsent = (server: RunningServer): Promise<number> => metric(server, 'seriatim_answer_bytes_unsent')

/** Looks now and then: a look costs the server, which runs in this process, more than the test. */
async function untilUnsent(server: RunningServer, isReached: (bytes: number) => boolean): Promise<void> {
  while (!isReached(await unsent(server))) await pause(5)
}

interface Sleeper {
  readonly socket: Socket
  until(bytes: number): Promise<void>
}

/**
 * A server, and clients of it that read nothing until they are resumed, and then only count. They are gone before the server
 * stops: it would wait for them.
 */
async function serveSleepers(
  t: TestContext,
  options: ListenOptions,
  router: Router,
): Promise<{ server: RunningServer; sleeper: () => Promise<Sleeper> }> {
  const sockets: Socket[] = []
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  const server = await serve(t, options, router)
  const sleeper = async (): Promise<Sleeper> => {
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
    sockets.push(socket)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return {
      socket,
      until: async (bytes) => {
        let taken = 0
        for await (const chunk of socket) {
          taken += (chunk as Buffer).length
          if (taken >= bytes) return
        }
      },
    }
  }
  return { server, sleeper }
}

for (const [form, headers] of [
  ['plain form', {}],
  ['form of node:http', OTHER_FORM],
] as const) {
  test(`answer room, ${form}: requests behind an answer that is not taken are not begun`, async (t) => {
    const { router, seen } = largeRouter()
    const { server, sleeper } = await serveSleepers(t, {}, router)
    const client = await sleeper()
    for (let count = 0; count < 3; count++) client.socket.write(asking('GetItem', headers))
    await untilUnsent(server, (bytes) => bytes > 0)
    for (let count = 0; count < 10; count++) assert.equal(await unsent(server), LARGE)
    assert.equal(seen.asked, 1)
    await client.until(3 * LARGE)
    assert.equal(seen.asked, 3)
    await untilUnsent(server, (bytes) => bytes === 0)
  })

  test(`answer room, ${form}: a client that reads nothing is closed when it is crowded, and then others are served`, async (t) => {
    const { router, seen } = largeRouter()
    const tight = { answerBytesUnsentMax: LARGE + 32 * KB, answerBytesMax: 16 * MB, crowdedIdleMs: 40 }
    const { server, sleeper } = await serveSleepers(t, { limits: tight }, router)
    const client = await sleeper()
    client.socket.write(asking('GetItem', headers))
    while (seen.asked === 0) await pause(5)
    // There is no room for a page until the sleeper is gone; it was crowded, so it goes without reading a byte.
    for (;;) {
      const { status, json } = await ask(t, server, asking('Scan', headers))
      if (status === 200) break
      assert.equal(json['__type'], 'com.amazon.coral.service#ThrottlingException')
      assert.equal((await ask(t, server, asking('ListTables', headers))).status, 200)
    }
    await untilUnsent(server, (bytes) => bytes === 0)
  })

  test(`answer room, ${form}: clients of one access key that never read do not throttle another key`, async (t) => {
    const { router } = largeRouter()
    const tight = {
      answerBytesUnsentMax: 2 * LARGE + 64 * KB,
      answerBytesMax: 16 * MB,
      ...patient,
    }
    const { server, sleeper } = await serveSleepers(t, { limits: tight, auth: byName }, router)
    const client = await sleeper()
    client.socket.write(asking('GetItem', { ...headers, authorization: 'greedy' }))
    await untilUnsent(server, (bytes) => bytes > 0)
    const greedy = await ask(t, server, asking('Scan', { ...headers, authorization: 'greedy' }))
    assert.equal(greedy.json['__type'], 'com.amazon.coral.service#ThrottlingException')
    const other = await ask(t, server, asking('Scan', { ...headers, authorization: 'other' }))
    assert.equal(other.status, 200)
    await client.until(LARGE)
    await untilUnsent(server, (bytes) => bytes === 0)
    const served = await ask(t, server, asking('Scan', { ...headers, authorization: 'greedy' }))
    assert.equal(served.status, 200)
  })

  test(`answer room, ${form}: without keys, clients that never read do not throttle small queries of others`, async (t) => {
    const { router } = largeRouter()
    const tight = {
      answerBytesUnsentMax: 3 * LARGE + 32 * KB,
      answerBytesMax: 16 * MB,
      ...patient,
    }
    const { server, sleeper } = await serveSleepers(t, { limits: tight }, router)
    for (let count = 0; count < 8; count++) {
      const { socket } = await sleeper()
      socket.write(asking('GetItem', headers))
    }
    await untilUnsent(server, (bytes) => bytes >= 3 * LARGE)
    for (let count = 0; count < 100; count++)
      assert.equal((await ask(t, server, asking('Query', headers))).status, 200)
    const large = await ask(t, server, asking('Scan', headers))
    assert.equal(large.json['__type'], 'com.amazon.coral.service#ThrottlingException')
  })

  const CLIENTS = sized(3, 5)
  test(`answer room, ${form}: clients that never read the items that their conditions failed on take no more than the room`, async (t) => {
    const { router, seen } = refusingRouter()
    const tight = { answerBytesUnsentMax: 2.5 * LARGE, answerBytesMax: 16 * MB, ...patient }
    const { server, sleeper } = await serveSleepers(t, { limits: tight }, router)
    for (let count = 0; count < CLIENTS; count++) {
      const client = await sleeper()
      client.socket.write(asking('TransactWriteItems', headers))
    }
    // There is room for two of them.
    for (let bytes = 0; bytes < 2 * LARGE || seen.asked < CLIENTS; await pause(5)) {
      bytes = await unsent(server)
      assert.ok(bytes <= 2.5 * LARGE, `${bytes} bytes`)
    }
    const { json } = await ask(t, server, asking('TransactWriteItems', headers))
    assert.equal(json['__type'], 'com.amazon.coral.service#ThrottlingException')
  })

  test(`answer room, ${form}: a client that has sent its last request and reads nothing gives its room back when closed`, async (t) => {
    const { router, seen } = largeRouter()
    const tight = { answerBytesUnsentMax: LARGE + 16 * MB, answerBytesMax: 16 * MB, crowdedIdleMs: 40 }
    const { server, sleeper } = await serveSleepers(t, { limits: tight }, router)
    const client = await sleeper()
    client.socket.end(asking('PutItem', headers))
    while (seen.asked === 0) await pause(5)
    await untilUnsent(server, (bytes) => bytes === 0)
  })
}
