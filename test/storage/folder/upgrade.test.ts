// Folders of earlier formats, and folders whose making was interrupted.
import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { verifyDataFolder } from '../../../src/cli/verify-folder.js'
import type { FileLayer } from '../../../src/runtime/files.js'
import { openLocalNodes } from '../../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../../src/storage/contract/storage-node.js'
import { verifyFolder } from '../../../src/storage/folder/verify.js'
import { open as openStore } from '../../../src/store/store.js'
import { FaultyDisk, somePages, tornAt } from '../../faults/faulty-files.js'
import { testFolder } from '../../support/folder.js'
import { oldFolder } from '../../support/old-folder.js'
import { getItem, number, plain, plainItem, put } from '../../suites/tables.js'
import { testRuntime } from '../../support/test-runtime.js'
import { sized } from '../../support/sizes.js'

const ITEMS = 60
const item = (n: number): ReturnType<typeof plainItem> => plainItem(`item ${n}`, { n: number(n) })
const nodeFor = (nodes: readonly StorageNode[], n: number): StorageNode =>
  nodes[n % nodes.length] as StorageNode

async function fill(nodes: readonly StorageNode[]): Promise<void> {
  for (let n = 0; n < ITEMS; n++) await put(nodeFor(nodes, n), plain, item(n))
}

async function closeAll(nodes: readonly StorageNode[]): Promise<void> {
  await Promise.all(nodes.map((node) => node.close()))
}

const open = (path: string, files?: FileLayer): Promise<readonly StorageNode[]> =>
  openLocalNodes({
    runtime: testRuntime(1),
    path,
    ...(files && { files }),
    tuning: { segmentBytesMax: 2000 },
  })

async function assertWhole(path: string, files?: FileLayer): Promise<void> {
  const nodes = await open(path, files)
  for (let n = 0; n < ITEMS; n++)
    assert.deepEqual(await getItem(nodeFor(nodes, n), plain, item(n)), item(n), `item ${n}`)
  await put(nodeFor(nodes, 0), plain, plainItem('more'))
  await closeAll(nodes)
  assert.match(
    readFileSync(join(path, 'seriatim.json'), 'utf8'),
    /^\{"format":4,"nodes":\d,"id":"\w{32}"\}\n$/,
  )
  const { findings } = await verifyFolder(path, { tables: () => [plain], ...(files && { files }) })
  assert.deepEqual(findings, [])
}

for (const count of [1, 4]) {
  const nodes = count === 1 ? 'one node' : `${count} nodes`

  test(`upgrade: a folder of an earlier format for ${nodes} is read, and brought to this one`, async () => {
    const { path, segments } = await oldFolder(count, fill)
    assert.ok(segments.size > 2)
    const { findings } = await verifyFolder(path, { tables: () => [] })
    assert.deepEqual(findings, [], 'verify reads it too')
    assert.ok(existsSync(join(path, 'lock')), 'and changes nothing')
    await assertWhole(path)
    assert.ok(!existsSync(join(path, 'lock')))
    const [segment] = segments.keys()
    const left = readdirSync(join(segment as string, '..'))
    for (const file of segments.keys()) assert.ok(!left.some((name) => file.endsWith(name)))
    await assertWhole(path)
  })

  test(`upgrade: a power cut at every step of it, with ${nodes}, loses nothing`, async () => {
    const { path: original, segments } = await oldFolder(count, fill)
    const outcomes = [
      (safe: Buffer) => safe,
      (_: Buffer, seen: Buffer) => seen,
      tornAt(20),
      somePages(() => false),
    ]
    let steps = Infinity
    for (let cutAt = 1; cutAt <= steps; cutAt += sized(3, 1)) {
      const path = copyOf(original)
      const disk = new FaultyDisk()
      for (const [file, bytes] of segments) disk.place(file.replace(original, path), bytes)
      const reached = new Promise<void>((resolve) => {
        disk.fault = () => {
          if (disk.steps < cutAt) return undefined
          resolve()
          return new Promise(() => undefined)
        }
      })
      const life = open(path, disk).then(async (opened) => {
        steps = disk.steps
        await closeAll(opened)
      })
      await Promise.race([life, reached])
      const outcome = outcomes[cutAt % outcomes.length]
      const after = copyOf(path)
      await assertWhole(after, disk.afterPowerCut(outcome).moved(path, after))
    }
    assert.ok(steps > 10, `${steps} steps`)
  })

  test(`upgrade: a renamed segment of an earlier format is refused, with ${nodes}`, async () => {
    const { path: original, segments } = await oldFolder(count, fill)
    // What is in the index is not needed any more.
    for (const [file, bytes] of [...segments].slice(Math.ceil(segments.size / 2))) {
      const path = copyOf(original)
      const disk = new FaultyDisk()
      for (const [name, its] of segments) if (name !== file) disk.place(name.replace(original, path), its)
      disk.place(file.replace(original, path).replace(/-........\./, '-00000fff.'), bytes)
      await assert.rejects(open(path, disk), /Nothing was changed|does not reach back/)
    }
  })

  test(`create: a power cut at every step of making a folder for ${nodes} leaves one that opens`, async () => {
    let steps = Infinity
    for (let cutAt = 1; cutAt <= steps; cutAt += sized(3, 1)) {
      const path = testFolder()
      const disk = new FaultyDisk()
      const reached = new Promise<void>((resolve) => {
        disk.fault = () => {
          if (disk.steps < cutAt) return undefined
          resolve()
          return new Promise(() => undefined)
        }
      })
      const life = openLocalNodes({ runtime: testRuntime(1), path, files: disk, nodes: count }).then(
        async (opened) => {
          steps = disk.steps
          await closeAll(opened)
        },
      )
      await Promise.race([life, reached])
      const after = copyOf(path)
      const files = disk.afterPowerCut(tornAt(20)).moved(path, after)
      const opened = await openLocalNodes({ runtime: testRuntime(1), path: after, files, nodes: count })
      await fill(opened)
      await closeAll(opened)
      await assertWhole(after, files)
    }
  })
}

/**
 * As commit 8692286, the last of format 2, left it when it was killed: two nodes, the items 0 to 9 in the indexes, 10 to 19
 * only in the journal, and of each half three transactions over both nodes, each of which added 100 to the first four. What
 * LMDB does not use of its pages is zeroed.
 */
const FORMAT_2 = new URL('../../../../test/support/format-2.json.gz', import.meta.url)

test('upgrade: a folder of format 2, as the code of that time wrote it, is read, and brought to this one', async () => {
  const path = testFolder()
  const files = JSON.parse(gunzipSync(readFileSync(FORMAT_2)).toString()) as Record<string, string>
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), Buffer.from(text, 'base64'))
  }
  writeFileSync(join(path, 'lock'), '999999999 gone 1')
  assert.equal(readFileSync(join(path, 'seriatim.json'), 'utf8'), '{"format":2,"nodes":2}\n')
  assert.deepEqual((await verifyDataFolder(path)).problems, [], 'verify reads it too')
  const expected = Array.from({ length: 20 }, (_, n) => [`item ${n}`, String(n % 10 < 4 ? n + 300 : n)])
  for (let opening = 0; opening < 2; opening++) {
    const store = await openStore({ path })
    for (const IndexName of [undefined, 'ByKind']) {
      const { Items = [] } = await store.call('Scan', { TableName: 'Things', IndexName })
      const found = new Map(Items.map(({ id, n }) => [id?.S, n?.N]))
      assert.equal(Items.length, expected.length)
      for (const [id, n] of expected) assert.equal(found.get(id), n, id)
    }
    await store.close()
    assert.match(
      readFileSync(join(path, 'seriatim.json'), 'utf8'),
      /^\{"format":4,"nodes":2,"id":"\w{32}"\}\n$/,
    )
    assert.deepEqual((await verifyDataFolder(path)).problems, [])
  }
})

test('create: a folder of which only the beginning of seriatim.json was written is made anew', async () => {
  const path = testFolder()
  writeFileSync(join(path, 'seriatim.json.new'), '{"form')
  writeFileSync(join(path, 'owner.lock'), '')
  await closeAll(await open(path))
  await closeAll(await open(path))
})

function copyOf(path: string): string {
  const copy = testFolder()
  cpSync(path, copy, { recursive: true })
  return copy
}
