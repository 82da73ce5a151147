// What every storage of the log of commits promises, run for each of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LogTrimmed } from '../../src/commit-log/commit-log.js'
import type { CommitRecord, LoggedChange } from '../../src/commit-log/commit-record.js'
import type { LogStorage } from '../../src/commit-log/log-storage.js'
import { type KeyBytes, ledgerSlot, spaceId, timestamp, txId } from '../../src/model/brand.js'
import type { Knobs } from '../../src/model/knobs.js'

/** An empty storage; it keeps little together, so that a few records make several parts of which some can be let go. */
export type OpenLogStorage = (tuning: Partial<Knobs>) => Promise<LogStorage>

export const ORDERS = spaceId(7)
export const USERS = spaceId(0xffff_fffe)
const ALL = { recordsMax: 1000, bytesMax: 1e9 }
const SMALL_PARTS: Partial<Knobs> = { logBlockBytesMax: 400, logSegmentBytesMax: 400 }

export const changeOf = (
  number: number,
  { space = ORDERS, key = `key ${number % 3}`, imageBytes = 50 } = {},
): LoggedChange => ({
  space,
  key: key as KeyBytes,
  event: 'modify',
  operation: 'put',
  cause: 'request',
  old: Buffer.alloc(imageBytes, `old ${number};`),
  new: Buffer.alloc(imageBytes, `new ${number};`),
})

export const recordOf = (number: number, changes = [changeOf(number)]): CommitRecord => ({
  number,
  timestamp: timestamp(1_000_000 + number * 10),
  changes,
})

/** Compares what it says, whatever holds the bytes. */
export function assertRecords(found: readonly CommitRecord[], expected: readonly CommitRecord[]): void {
  assert.deepEqual(found.map(plain), expected.map(plain))
}

const plain = ({ changes, ...record }: CommitRecord): unknown => ({
  ...record,
  changes: changes.map((change) => ({
    ...change,
    keys: change.keys && Buffer.from(change.keys).toString('latin1'),
    about: change.about && Buffer.from(change.about).toString('latin1'),
    old: change.old && Buffer.from(change.old).toString('latin1'),
    new: change.new && Buffer.from(change.new).toString('latin1'),
  })),
})

/** So many records, one append each. */
async function append(storage: LogStorage, upTo: number): Promise<void> {
  for (let number = storage.last + 1; number <= upTo; number++)
    await storage.append([recordOf(number)], { upTo: number * 100, number })
}

/** All pages, as far as they go. */
export async function readAll(
  storage: LogStorage,
  from: number,
  page: Partial<Parameters<LogStorage['read']>[0]> = {},
): Promise<CommitRecord[]> {
  const records: CommitRecord[] = []
  for (let next = from; next <= storage.last;) {
    const answer = await storage.read({ ...ALL, ...page, from: next })
    assert.ok(answer.next > next, 'a page goes on')
    records.push(...answer.records)
    next = answer.next
  }
  return records
}

export function logStorageSuite(name: string, open: OpenLogStorage): void {
  test(`${name}: an empty log has no last record, and the first will be number one`, async () => {
    const storage = await open({})
    assert.deepEqual([storage.first, storage.last, storage.position], [1, 0, { upTo: 0, number: 0 }])
    assert.deepEqual(await storage.read({ from: 1, ...ALL }), { records: [], next: 1 })
    assert.equal(await storage.numberAt(timestamp(0)), 1)
    assert.equal(await storage.trim(timestamp(5)), 1)
    await storage.close()
  })

  test(`${name}: records are read back as they were appended`, async () => {
    const storage = await open({})
    const slot = ledgerSlot('0123456789abcdef'.repeat(2))
    const key = 'k\u0000\u00ff' as KeyBytes
    const records: CommitRecord[] = [
      recordOf(1, [
        {
          space: ORDERS,
          key,
          event: 'insert',
          operation: 'update',
          cause: 'request',
          new: Buffer.from('{}'),
        },
        {
          space: USERS,
          key,
          event: 'remove',
          operation: 'delete',
          cause: 'expiry',
          old: Buffer.from('{"a":1}'),
        },
        {
          space: USERS,
          key: '' as KeyBytes,
          event: 'modify',
          operation: 'put',
          cause: 'request',
          keys: Buffer.from('"é"'),
        },
      ]),
      { ...recordOf(2), tx: txId(slot, 'nonce'), timestamp: timestamp(2 ** 52) },
      recordOf(3, [changeOf(3, { imageBytes: 400_000 })]),
    ]
    await storage.append(records, { upTo: 2 ** 41, number: 2 })
    assert.deepEqual(storage.position, { upTo: 2 ** 41, number: 2 })
    assert.equal(storage.last, 3)
    assertRecords(await readAll(storage, 1), records)
    assertRecords(await readAll(storage, 2), records.slice(1))
    assert.ok(storage.bytes > 800_000)
    await storage.close()
  })

  test(`${name}: an append without records moves the position`, async () => {
    const storage = await open({})
    await storage.append([], { upTo: 55, number: 0 })
    await append(storage, 2)
    await storage.append([], { upTo: 1000, number: 1 })
    assert.deepEqual([storage.first, storage.last], [1, 2])
    assert.deepEqual(storage.position, { upTo: 1000, number: 1 })
    await storage.close()
  })

  test(`${name}: records that do not follow the last one are refused, and none of them is kept`, async () => {
    const storage = await open({})
    await append(storage, 2)
    await assert.rejects(async () => storage.append([recordOf(3), recordOf(5)], { upTo: 1, number: 5 }))
    await assert.rejects(async () => storage.append([recordOf(2)], { upTo: 1, number: 5 }))
    assert.equal(storage.last, 2)
    await append(storage, 3)
    assert.equal((await readAll(storage, 1)).length, 3)
    await storage.close()
  })

  test(`${name}: a page ends with its records, its bytes, or what there is`, async () => {
    const storage = await open(SMALL_PARTS)
    await append(storage, 10)
    const numbersOf = async (page: { recordsMax?: number; bytesMax?: number }, from = 2): Promise<number[]> =>
      (await storage.read({ from, ...ALL, ...page })).records.map(({ number }) => number)
    assert.deepEqual(await numbersOf({ recordsMax: 3 }), [2, 3, 4])
    assert.deepEqual(await numbersOf({ bytesMax: 1 }), [2])
    assert.deepEqual(await numbersOf({ bytesMax: 300 }), [2, 3])
    assert.deepEqual(await numbersOf({}, 11), [])
    assert.deepEqual(await storage.read({ from: 14, ...ALL }), { records: [], next: 14 })
    assertRecords(await readAll(storage, 1, { bytesMax: 1 }), await readAll(storage, 1))
    await storage.close()
  })

  test(`${name}: what one read looks at is bounded, and the page says where to go on`, async () => {
    const storage = await open({ ...SMALL_PARTS, logReadBytesMax: 1 })
    await append(storage, 20)
    const { next } = await storage.read({ from: 1, ...ALL })
    assert.ok(next > 1 && next < 20)
    assert.equal((await readAll(storage, 1)).length, 20)
    await storage.close()
  })

  test(`${name}: a reader of some tables has their changes alone`, async () => {
    const storage = await open(SMALL_PARTS)
    for (let number = 1; number <= 12; number++) {
      const both = [changeOf(number), changeOf(number, { space: USERS })]
      await storage.append([recordOf(number, number % 6 === 0 ? both : [changeOf(number)])], {
        upTo: number,
        number,
      })
    }
    const found = await readAll(storage, 1, { spaces: new Set([USERS]) })
    assertRecords(
      found,
      [6, 12].map((number) => recordOf(number, [changeOf(number, { space: USERS })])),
    )
    assert.deepEqual(await readAll(storage, 1, { spaces: new Set([spaceId(1)]) }), [])
    assertRecords(await readAll(storage, 1, { spaces: new Set([ORDERS, USERS]) }), await readAll(storage, 1))
    await storage.close()
  })

  test(`${name}: the number at a time is that of the first record that is not older`, async () => {
    const storage = await open(SMALL_PARTS)
    const times = [50, 20, 60, 55, 60, 90, 70]
    for (const [at, time] of times.entries())
      await storage.append([{ ...recordOf(at + 1), timestamp: timestamp(time) }], {
        upTo: at,
        number: at + 1,
      })
    for (const [time, number] of [
      [0, 1],
      [50, 1],
      [51, 3],
      [60, 3],
      [61, 6],
      [90, 6],
      [91, 8],
    ] as const)
      assert.equal(await storage.numberAt(timestamp(time)), number, `at ${time}`)
    await storage.close()
  })

  test(`${name}: the records of an item are found, in both directions, within bounds`, async () => {
    const storage = await open(SMALL_PARTS)
    await append(storage, 12)
    const item = { space: ORDERS, key: 'key 1' as KeyBytes, from: 1, to: 12, reverse: false, entriesMax: 10 }
    assert.deepEqual(await storage.ofItem(item), [1, 4, 7, 10])
    assert.deepEqual(await storage.ofItem({ ...item, reverse: true }), [10, 7, 4, 1])
    assert.deepEqual(await storage.ofItem({ ...item, from: 4, to: 9 }), [4, 7])
    assert.deepEqual(await storage.ofItem({ ...item, entriesMax: 2 }), [1, 4])
    assert.deepEqual(await storage.ofItem({ ...item, entriesMax: 2, reverse: true }), [10, 7])
    assert.deepEqual(await storage.ofItem({ ...item, space: USERS }), [])
    assert.deepEqual(await storage.ofItem({ ...item, key: 'key' as KeyBytes }), [])
    await storage.close()
  })

  test(`${name}: trimming lets go of old parts, never of the newest, and what is gone is told as trimmed`, async () => {
    const storage = await open(SMALL_PARTS)
    await append(storage, 20)
    const { bytes } = storage
    assert.equal(await storage.trim(recordOf(1).timestamp), 1)
    const first = await storage.trim(recordOf(10).timestamp)
    assert.ok(first > 1 && first <= 10, `first is ${first}`)
    assert.equal(storage.first, first)
    assert.ok(storage.bytes < bytes)
    await assert.rejects(storage.read({ from: first - 1, ...ALL }), (error) => error instanceof LogTrimmed)
    assertRecords(
      await readAll(storage, first),
      Array.from({ length: 21 - first }, (_, at) => recordOf(first + at)),
    )
    assert.equal(await storage.numberAt(timestamp(0)), first)
    const key = 'key 1' as KeyBytes
    const kept = await storage.ofItem({ space: ORDERS, key, from: 1, to: 99, reverse: false, entriesMax: 99 })
    assert.deepEqual(
      kept,
      [1, 4, 7, 10, 13, 16, 19].filter((number) => number >= first),
    )
    const newest = await storage.trim(timestamp(2 ** 52))
    assert.ok(newest > first && newest <= 20)
    await append(storage, 22)
    assert.equal((await readAll(storage, newest)).at(-1)?.number, 22)
    await storage.close()
  })

  test(`${name}: an old record with a later timestamp holds back the trimming`, async () => {
    const storage = await open(SMALL_PARTS)
    await storage.append([{ ...recordOf(1), timestamp: timestamp(2 ** 50) }], { upTo: 1, number: 1 })
    await append(storage, 20)
    assert.equal(await storage.trim(timestamp(2 ** 50)), 1)
    assert.ok((await storage.trim(timestamp(2 ** 50 + 1))) > 1)
    await storage.close()
  })
}
