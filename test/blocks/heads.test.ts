// Places of revisions in the index: heads, chunks, and the single entries that earlier versions wrote.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BlockReader } from '../../src/blocks/block-reader.js'
import {
  decodeDocumentHead,
  encodeChunk,
  encodeDocumentHead,
  type DocumentHead,
  withRevision,
} from '../../src/blocks/heads.js'
import { newestKey, olderKey } from '../../src/blocks/places.js'
import type { KeyBytes, Timestamp } from '../../src/model/brand.js'
import type { Shelf, ShelfEntry, ShelfRange } from '../../src/storage/contract/shelf.js'

class MapShelf implements Shelf {
  readonly entries = new Map<KeyBytes, Uint8Array>()
  reads = 0

  keep(entries: readonly ShelfEntry[]): Promise<void> {
    for (const { key, value } of entries) this.entries.set(key, value!)
    return Promise.resolve()
  }

  kept(keys: readonly KeyBytes[]): Promise<readonly (Uint8Array | undefined)[]> {
    this.reads += keys.length
    return Promise.resolve(keys.map((key) => this.entries.get(key)))
  }

  keptRange({ from, to, reverse, entriesMax }: ShelfRange): Promise<readonly Required<ShelfEntry>[]> {
    const keys = [...this.entries.keys()].filter((key) => key >= from && key < to).toSorted()
    const found = (reverse ? keys.toReversed() : keys).slice(0, entriesMax)
    this.reads += found.length
    return Promise.resolve(found.map((key) => ({ key, value: this.entries.get(key)! })))
  }
}

const DOCUMENT = 'AAAAAAAAAAAAAAAAAAAAAA'
const revision = (version: number): Omit<DocumentHead, 'version' | 'older'> => ({
  block: 2 ** 33 + 3 * version,
  entry: 1 + (version % 5),
  timestamp: (1_900_000_000_000_000 + version) as Timestamp,
  hash: Buffer.alloc(32, version % 256).toString('base64'),
})

/** As format 6 had it: version, place and hash. */
const single = (version: number): Uint8Array =>
  encodeDocumentHead({ ...revision(version), version, older: [] }).subarray(0, 56)

/** The first `singles` versions as an earlier version wrote them, the newest of them among these. */
async function history(versions: number, singles = 0): Promise<{ shelf: MapShelf; head: DocumentHead }> {
  const shelf = new MapShelf()
  for (let version = 0; version < singles - 1; version++)
    shelf.entries.set(olderKey(DOCUMENT, version), single(version))
  let head = singles === 0 ? undefined : decodeDocumentHead(single(singles - 1))
  for (let version = singles; version < versions; version++) {
    const next = withRevision(head, revision(version))
    // As it is after a restart.
    head = decodeDocumentHead(encodeDocumentHead(next.head))
    if (next.chunk) shelf.entries.set(olderKey(DOCUMENT, next.chunk.version), encodeChunk(next.chunk))
  }
  shelf.entries.set(newestKey(DOCUMENT), encodeDocumentHead(head!))
  // Of another document.
  shelf.entries.set(olderKey('AAAAAAAAAAAAAAAAAAAAAB', 0), single(0))
  return { shelf, head: head! }
}

test('blocks: each range of versions is found, whatever chunks they are in, and behind those that format 6 wrote', async () => {
  for (const versions of [1, 2, 8, 9, 16, 17, 40])
    for (const singles of [0, 1, 5, 9, 16].filter((each) => each <= versions)) {
      const { shelf, head } = await history(versions, singles)
      const reader = new BlockReader(shelf)
      assert.deepEqual(await reader.newest([DOCUMENT]), [head])
      assert.equal(head.version, versions - 1)
      for (let from = 0; from < versions; from++) {
        const place = await reader.place(DOCUMENT, from, head)
        const { hash: _, ...expected } = { version: from, ...revision(from) }
        const { version, block, entry, timestamp } = place!
        assert.deepEqual({ version, block, entry, timestamp }, expected)
        assert.equal(await reader.versionAt(DOCUMENT, revision(from).timestamp, head), from)
        for (const to of [from, from + 1, from + 9, versions + 3]) {
          const found: number[] = []
          for await (const each of reader.places(DOCUMENT, from, to, head)) {
            assert.equal(each.block, revision(each.version).block)
            found.push(each.version)
          }
          const end = Math.min(to, versions - 1)
          assert.deepEqual(
            found,
            Array.from({ length: end - from + 1 }, (__, at) => from + at),
          )
        }
      }
      assert.equal(await reader.place(DOCUMENT, versions, head), undefined)
    }
})

test('blocks: a write changes one entry of the index of revisions, and every eighth one more', async () => {
  const { shelf } = await history(1000)
  const chunks = [...shelf.entries.keys()].filter((key) => key.startsWith(`i${DOCUMENT}`))
  assert.equal(chunks.length, 124)
})

test('blocks: a hole in the history of a document is told, and never skipped', async () => {
  const { shelf, head } = await history(40)
  shelf.entries.delete(olderKey(DOCUMENT, 8))
  const reader = new BlockReader(shelf)
  const all = async (from: number): Promise<number> => {
    let count = 0
    for await (const _ of reader.places(DOCUMENT, from, 39, head)) count++
    return count
  }
  for (const from of [0, 7, 8, 12, 15]) await assert.rejects(all(from), /Version (8|12|15) of the document/)
  assert.equal(await all(16), 24)
  await assert.rejects(reader.place(DOCUMENT, 9, head), /Version 9 of the document .* is not in its history/)
})
