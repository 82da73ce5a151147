// Random histories, compared step by step with plain maps, with restarts and power cuts in the middle.
import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type KeyBytes, spaceId } from '../../../src/model/brand.js'
import { indexEntryKey, itemKey } from '../../../src/model/key-bytes.js'
import type { IndexShape } from '../../../src/model/table.js'
import type { Item } from '../../../src/model/value.js'
import { smallKnobs } from '../../../sim/knobs.js'
import { Random } from '../../../src/runtime/seeded-random.js'
import { openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../../src/storage/contract/storage-node.js'
import { verifyFolder } from '../../../src/storage/folder/verify.js'
import { FaultyDisk } from '../../faults/faulty-files.js'
import { testFolder } from '../../support/folder.js'
import { seededRandom } from '../../suites/seeded-random.js'
import { page } from '../../suites/storage-node.js'
import { deleteRequest, itemOf, number, putRequest, rich } from '../../suites/tables.js'
import { testRuntime } from '../../support/test-runtime.js'

const byColor = rich.indexes[0] as IndexShape

for (const seed of [1, 2, 3, 4, 5, 6]) {
  test(`model: a random history of a node is that of a map (seed ${seed})`, async () => {
    const random = seededRandom(seed)
    const expected = new Map<KeyBytes, Item>()
    const runtime = testRuntime(seed)
    let disk = new FaultyDisk()
    let path = testFolder()
    const tuning = {
      ...smallKnobs(new Random(seed), 0.5),
      // The room that is asked for around a text is at most this.
      textSlabBytesMin: 1200 + random(1000),
      overlayBytesMax: 16_000 + random(20_000),
      applyChangesMax: 1 + random(20),
      segmentBytesMax: 3000,
    }
    const open = (): Promise<StorageNode> => openLocalNode({ runtime, path, files: disk, tuning })
    let node = await open()

    for (let round = 0; round < 25; round++) {
      await Promise.all(
        Array.from({ length: random(20) }, () => {
          const item = randomItem(random)
          const key = itemKey(rich.key, item).bytes
          if (random(3) === 0) {
            expected.delete(key)
            return node.write(deleteRequest(rich, item))
          }
          expected.set(key, item)
          return node.write(putRequest(rich, item))
        }),
      )
      await compare(node, expected, random)
      const fate = random(6)
      if (fate === 0) {
        await node.close()
        node = await open()
      } else if (fate === 1) {
        // Power cut: the journal as it was synced, the index as it was committed. Sweeping a space that is not there
        // waits for the index; the one write after it, with the clock standing still, is in the journal only.
        await node.sweep(spaceId(999), 1)
        const last: Item = { id: { S: 'p0' }, n: number(0) }
        expected.set(itemKey(rich.key, last).bytes, last)
        await node.write(putRequest(rich, last))
        const old = path
        path = testFolder()
        const left = node
        cpSync(join(old, 'seriatim.json'), join(path, 'seriatim.json'))
        cpSync(join(old, 'node-0', 'index', 'data.mdb'), join(path, 'node-0', 'index', 'data.mdb'))
        cpSync(join(old, 'seriatim.json'), join(path, 'seriatim.json'))
        disk = disk.afterPowerCut().moved(old, path)
        node = await open()
        await left.close()
      } else if (fate === 2) {
        runtime.clock.advance(1000)
      }
      await compare(node, expected, random)
    }
    await node.close()
    const report = await verifyFolder(path, { tables: () => [rich], files: disk })
    assert.deepEqual(report.findings, [])
    assert.equal(report.items, expected.size)
  })
}

async function compare(
  node: StorageNode,
  expected: ReadonlyMap<KeyBytes, Item>,
  random: (below: number) => number,
): Promise<void> {
  const keys = [...expected.keys()].toSorted()
  const [low, high] = [random(keys.length + 1), random(keys.length + 1)].toSorted((a, b) => a - b) as [
    number,
    number,
  ]
  const reverse = random(2) === 0
  const inRange = keys.slice(low, high)
  const from = keys[low] ?? ('\xff\xff\xff\xff\xff' as KeyBytes)
  const to = keys[high]
  const found = await node.range({ ...page(rich.space), from, ...(to !== undefined && { to }), reverse })
  assert.deepEqual(
    found.entries.map((entry) => entry.key),
    reverse ? inRange.toReversed() : inRange,
  )
  for (const entry of found.entries) assert.deepEqual(itemOf(entry.record), expected.get(entry.key))

  const entriesMax = 1 + random(inRange.length + 2)
  const request = { ...page(rich.space), from, ...(to !== undefined && { to }), reverse, entriesMax }
  const text = await node.rangeText!({ ...request, roomBefore: random(600), roomAfter: random(600) })
  const itemsExpected = found.entries.slice(0, entriesMax).map(({ record }) => itemOf(record))
  assert.deepEqual(JSON.parse(`[${text.bytes.toString('utf8', text.start, text.end)}]`), itemsExpected)
  assert.equal(text.entries, itemsExpected.length)

  const entries: (readonly [KeyBytes, Item])[] = []
  for (const [key, item] of expected) {
    const entry = indexEntryKey(byColor, item, { hash: 0, bytes: key })
    if (entry !== undefined) entries.push([entry, item])
  }
  const indexed = await node.range({ ...page(byColor.space), itemSpace: rich.space })
  assert.deepEqual(
    indexed.entries.map((entry) => [entry.key, itemOf(entry.record)]),
    entries.toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
  assert.equal((await node.count(rich.space)).items, expected.size)
  assert.equal((await node.count(byColor.space)).items, entries.length)

  const due = await node.expired(spaceId(13), rich.space, 50, 1000)
  const dueExpected = [...expected.values()].filter(
    (item) => 'until' in item && Number((item['until'] as { N: string }).N) <= 50,
  )
  assert.equal(due.length, dueExpected.length)
  const some = keys[random(keys.length + 1)]
  if (some !== undefined) {
    assert.deepEqual(itemOf(await node.get(rich.space, { hash: 0, bytes: some }, true)), expected.get(some))
  }
}

function randomItem(random: (below: number) => number): Item {
  return {
    id: { S: `p${random(3)}` },
    n: number(random(12) - 6),
    ...(random(3) > 0 && { color: { S: ['red', 'green', 'blue'][random(3)] as string } }),
    ...(random(4) > 0 && { weight: number(random(100) - 50) }),
    ...(random(3) === 0 && { until: number(random(100)) }),
    filler: { S: 'x'.repeat(random(300)) },
  }
}
