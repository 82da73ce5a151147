// Folders of earlier formats, and folders whose making was interrupted.
import assert from 'node:assert/strict'
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { FileLayer } from '../../../src/runtime/files.js'
import { openLocalNodes } from '../../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../../src/storage/contract/storage-node.js'
import { verifyFolder } from '../../../src/storage/folder/verify.js'
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
