import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { lsn, spaceId, timestamp, type KeyBytes } from '../../src/model/brand.js'
import { readMerged, type RangeEnd } from '../../src/router/reads/merged-range.js'
import type { RangeEntry, RangePage, RangeRequest } from '../../src/storage/contract/storage-node.js'

interface Stored {
  readonly key: string
  readonly bytes: number
}

/** The contract of StorageNode.range over a sorted list, and nothing else of a node. */
class ListNode {
  asked = 0
  readonly #entries: readonly RangeEntry[]

  constructor(stored: readonly Stored[]) {
    this.#entries = stored
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
      .map(({ key, bytes }) => ({
        key: key as KeyBytes,
        record: {
          timestamp: timestamp(1),
          lsn: lsn(1),
          lastWrite: { kind: 'put', blind: true } as const,
          itemBytes: bytes,
          json: Buffer.from('{}'),
        },
      }))
  }

  range(request: RangeRequest): Promise<RangePage> {
    this.asked += 1
    const { from, to, reverse, entriesMax, bytesMax } = request
    assert.ok(entriesMax >= 1 && bytesMax >= 1, 'a node is never asked for nothing')
    const inRange = this.#entries.filter(({ key }) => key >= from && (to === undefined || key < to))
    const ordered = reverse ? inRange.toReversed() : inRange
    const entries: RangeEntry[] = []
    let bytes = 0
    for (const entry of ordered) {
      if (entries.length >= entriesMax || bytes >= bytesMax) break
      entries.push(entry)
      bytes += entry.record.itemBytes
    }
    return Promise.resolve({ entries, more: entries.length < ordered.length })
  }
}

async function read(
  nodes: readonly ListNode[],
  options: {
    from?: string
    to?: string
    reverse?: boolean
    entriesMax?: number
    bytesMax?: number
    weight?: number
  },
): Promise<{ keys: string[]; end: RangeEnd }> {
  const keys: string[] = []
  const end = await readMerged(
    nodes,
    {
      space: spaceId(1),
      from: (options.from ?? '') as KeyBytes,
      ...(options.to !== undefined && { to: options.to as KeyBytes }),
      reverse: options.reverse ?? false,
    },
    { entriesMax: options.entriesMax ?? Number.MAX_SAFE_INTEGER, bytesMax: options.bytesMax ?? 2 ** 20 },
    (entry) => {
      keys.push(entry.key)
      return options.weight ?? entry.record.itemBytes
    },
  )
  return { keys, end }
}

const letters = (text: string): string[] => text.split('')
const of = (keys: string): Stored[] => letters(keys).map((key) => ({ key, bytes: 10 }))

test('a range over three nodes is read in key order', async () => {
  const nodes = [new ListNode(of('adg')), new ListNode(of('')), new ListNode(of('bcef'))]
  assert.deepEqual(await read(nodes, {}), { keys: letters('abcdefg'), end: 'exhausted' })
  assert.deepEqual(await read(nodes, { reverse: true }), { keys: letters('gfedcba'), end: 'exhausted' })
})

test('reading that stops at the limit says so, even where nothing follows', async () => {
  const nodes = [new ListNode(of('ac')), new ListNode(of('b'))]
  assert.deepEqual(await read(nodes, { entriesMax: 3 }), { keys: letters('abc'), end: 'entries' })
  assert.deepEqual(await read(nodes, { entriesMax: 4 }), { keys: letters('abc'), end: 'exhausted' })
})

test('the entry that reaches the byte limit is the last one', async () => {
  const nodes = [new ListNode(of('ac')), new ListNode(of('bd'))]
  assert.deepEqual(await read(nodes, { bytesMax: 25 }), { keys: letters('abc'), end: 'bytes' })
})

test('a node is asked again where the part that counts is smaller than what it read', async () => {
  const nodes = [new ListNode(of('abcdefgh'))]
  assert.deepEqual(await read(nodes, { bytesMax: 25, weight: 5 }), { keys: letters('abcde'), end: 'bytes' })
})

test('one node is asked once for a page', async () => {
  const node = new ListNode(of('abcdefgh'))
  await read([node], { entriesMax: 5 })
  assert.equal(node.asked, 1)
})

test('large items behind small entries end a page at a bound of their own', async () => {
  const large = letters('abcdefghijklmnopqrstuvwxyz').map((key) => ({ key, bytes: 2 ** 20 }))
  const { keys, end } = await read([new ListNode(large)], { weight: 1 })
  assert.deepEqual({ count: keys.length, end }, { count: 16, end: 'bytes' })
})

test('any division of keys over nodes reads as one sorted list', async () => {
  const stored = fc.uniqueArray(
    fc.record({ key: fc.string({ maxLength: 3 }), bytes: fc.integer({ min: 1, max: 9 }) }),
    {
      selector: ({ key }) => key,
      maxLength: 40,
    },
  )
  await fc.assert(
    fc.asyncProperty(
      stored,
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      fc.integer({ min: 1, max: 45 }),
      fc.integer({ min: 1, max: 200 }),
      async (all, nodeCount, reverse, entriesMax, bytesMax) => {
        const parts: Stored[][] = Array.from({ length: nodeCount }, () => [])
        for (const [position, entry] of all.entries()) parts[(position * 7) % nodeCount]?.push(entry)
        const { keys, end } = await read(
          parts.map((part) => new ListNode(part)),
          { reverse, entriesMax, bytesMax },
        )
        const one = await new ListNode(all).range({
          space: spaceId(1),
          from: '' as KeyBytes,
          reverse,
          entriesMax,
          bytesMax,
        })
        assert.deepEqual(
          keys,
          one.entries.map(({ key }) => key),
        )
        const bytes = one.entries.reduce((sum, { record }) => sum + record.itemBytes, 0)
        assert.equal(end, keys.length >= entriesMax ? 'entries' : bytes >= bytesMax ? 'bytes' : 'exhausted')
      },
    ),
  )
})
