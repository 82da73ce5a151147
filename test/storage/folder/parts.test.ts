// Parts of a data folder that are missing, renamed, swapped or another folder's: a sentence, and nothing is changed.
import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { realRuntime } from '../../../src/runtime/real-runtime.js'
import { FolderRefused } from '../../../src/line/errors.js'
import { openLocalNodes } from '../../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../../src/storage/contract/storage-node.js'
import { verifyFolder } from '../../../src/storage/folder/verify.js'
import { testFolder } from '../../support/folder.js'
import { getItem, number, plain, plainItem, put } from '../../suites/tables.js'
import { testRuntime } from '../../support/test-runtime.js'

const ITEMS = 60

/** The clock stands still: nothing is brought into the index before the folder is closed. */
const openSmall = (path: string, nodes: number): Promise<readonly StorageNode[]> => {
  const runtime = { ...realRuntime(), clock: testRuntime(1).clock }
  return openLocalNodes({ runtime, path, nodes, tuning: { segmentBytesMax: 2000 } })
}

const closeAll = async (nodes: readonly StorageNode[]): Promise<void> => {
  await Promise.all(nodes.map((node) => node.close()))
}

const item = (n: number): ReturnType<typeof plainItem> => plainItem(`item ${n}`, { n: number(n) })
const nodeFor = <T>(nodes: readonly T[], n: number): T => nodes[n % nodes.length] as T

async function fill(nodes: readonly StorageNode[], from = 0): Promise<void> {
  for (let n = from; n < from + ITEMS; n++) await put(nodeFor(nodes, n), plain, item(n))
}

/** As a kill -9 leaves it: with all items in the journal, and the first half in the indexes. */
async function killed(count: number): Promise<string> {
  const path = testFolder()
  const first = await openSmall(path, count)
  await fill(first)
  await closeAll(first)
  const second = await openSmall(path, count)
  await fill(second, ITEMS)
  const image = testFolder()
  cpSync(path, image, { recursive: true })
  await closeAll(second)
  return image
}

const copyOf = (path: string): string => {
  const copy = testFolder()
  cpSync(path, copy, { recursive: true })
  return copy
}

/** Every file with its length; the lock and LMDB's own lock are not data. */
const filesOf = (path: string): readonly (readonly [string, string])[] =>
  readdirSync(path, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(path, name)).isFile() && !/owner\.lock$|lock\.mdb$/.test(name))
    .toSorted()
    .map((name) => [name, readFileSync(join(path, name)).toString('latin1')] as const)

async function assertRefused(path: string, sentence: RegExp): Promise<void> {
  const before = filesOf(path)
  await assert.rejects(openLocalNodes({ runtime: realRuntime(), path }), (error: Error) => {
    assert.ok(error instanceof FolderRefused, error.stack)
    assert.match(error.message, sentence)
    return true
  })
  assert.deepEqual(filesOf(path), before, 'nothing was changed')
}

async function assertWhole(path: string): Promise<void> {
  const nodes = await openLocalNodes({ runtime: realRuntime(), path })
  for (let n = 0; n < 2 * ITEMS; n++)
    assert.deepEqual(await getItem(nodeFor(nodes, n), plain, item(n)), item(n), `item ${n}`)
  await closeAll(nodes)
  const { findings } = await verifyFolder(path, { tables: () => [plain] })
  assert.deepEqual(findings, [])
}

for (const count of [1, 4]) {
  describe(`parts, ${count === 1 ? 'one node' : `${count} nodes`}`, () => {
    const journalOf = (path: string): string => join(path, count === 1 ? 'node-0/journal' : 'journal')
    const segmentsOf = (path: string): string[] => readdirSync(journalOf(path)).toSorted()
    let image: string
    let other: string

    before(async () => {
      image = await killed(count)
      other = await killed(count)
      assert.ok(segmentsOf(image).length > 3, 'several segments are not in the index')
    })

    test('a folder as a kill leaves it is whole', () => assertWhole(copyOf(image)))

    const needed = (): string[] => segmentsOf(image)
    for (const [which, at] of [
      ['first', 0],
      ['middle', 2],
      ['last', -1],
    ] as const) {
      test(`the ${which} segment is missing`, async () => {
        const path = copyOf(image)
        rmSync(join(journalOf(path), needed().at(at) as string))
        await assertRefused(path, /is missing|does not reach back/)
        const { findings } = await verifyFolder(path, { tables: () => [] })
        assert.ok(findings.some((finding) => /is missing|does not reach back/.test(finding)))
      })

      test(`the ${which} segment has another name, of a segment or not`, async () => {
        const file = needed().at(at) as string
        for (const name of [
          `${file}.bak`,
          file.replace(/-........\./, '-00000001.'),
          file.replace(/^.{14}/, '000000000fffff'),
        ]) {
          const path = copyOf(image)
          renameSync(join(journalOf(path), file), join(journalOf(path), name))
          await assertRefused(path, /is missing|does not reach back|has another file's name/)
        }
      })
    }

    test('all segments are missing, or the folder of the journal', async () => {
      const path = copyOf(image)
      for (const file of segmentsOf(path)) rmSync(join(journalOf(path), file))
      await assertRefused(path, /^There is no journal in \S+: its files are missing or were renamed\./)
      rmSync(journalOf(path), { recursive: true })
      await assert.rejects(openLocalNodes({ runtime: realRuntime(), path }), /There is no journal in/)
    })

    test('two segments have each the name of the other', async () => {
      const path = copyOf(image)
      const [a, b] = segmentsOf(path).slice(1) as [string, string]
      const at = (file: string): string => join(journalOf(path), file)
      renameSync(at(a), at('between'))
      renameSync(at(b), at(a))
      renameSync(at('between'), at(b))
      await assertRefused(path, /has another file's name: it was written as \S+\. Nothing was changed\./)
    })

    test('the journal is that of another data folder', async () => {
      const path = copyOf(image)
      rmSync(journalOf(path), { recursive: true })
      cpSync(journalOf(other), journalOf(path), { recursive: true })
      await assertRefused(
        path,
        /belongs to another data folder\. Nothing was changed\. Put this folder's own/,
      )
    })

    test('one segment is that of another data folder', async () => {
      const path = copyOf(image)
      const file = segmentsOf(other).at(-1) as string
      cpSync(join(journalOf(other), file), join(journalOf(path), file))
      await assertRefused(path, /belongs to another data folder/)
    })

    test('the index of a node is that of another data folder', async () => {
      const path = copyOf(image)
      const index = join(path, `node-${count - 1}`, 'index')
      rmSync(index, { recursive: true })
      cpSync(join(other, `node-${count - 1}`, 'index'), index, { recursive: true })
      await assertRefused(path, /^The index in \S+ belongs to another data folder\. Nothing was changed\./)
      const { findings } = await verifyFolder(path, { tables: () => [] })
      assert.ok(findings.some((finding) => finding.includes('belongs to another data folder')))
    })

    test('the index file, the index or the folder of a node is missing', async () => {
      const path = copyOf(image)
      const node = join(path, `node-${count - 1}`)
      const sentence = /^The index file \S+\/index\/data\.mdb is missing\. Nothing was changed\. Put it back/
      rmSync(join(node, 'index', 'data.mdb'))
      await assertRefused(path, sentence)
      rmSync(join(node, 'index'), { recursive: true })
      await assertRefused(path, sentence)
      rmSync(node, { recursive: true })
      await assertRefused(path, sentence)
      assert.ok(!existsSync(node))
    })

    test('seriatim.json is missing', async () => {
      const path = copyOf(image)
      rmSync(join(path, 'seriatim.json'))
      await assertRefused(
        path,
        /^The data folder \S+ has (node-\d|journal), but its seriatim\.json is missing\. Put/,
      )
      await assert.rejects(verifyFolder(path, { tables: () => [] }), /its seriatim\.json is missing/)
    })

    test('an index is newer than the end of the journal, or older than its beginning', async () => {
      const path = copyOf(image)
      const early = copyOf(path)
      const nodes = await openSmall(path, count)
      await fill(nodes, 2 * ITEMS)
      await closeAll(nodes)
      const newer = copyOf(path)
      rmSync(journalOf(newer), { recursive: true })
      cpSync(journalOf(early), journalOf(newer), { recursive: true })
      await assertRefused(
        newer,
        /ends at byte \d+, but an index holds what stood up to byte \d+|does not reach back/,
      )
      const older = copyOf(path)
      const index = join(older, 'node-0', 'index')
      rmSync(index, { recursive: true })
      cpSync(join(early, 'node-0', 'index'), index, { recursive: true })
      await assertRefused(older, /^The journal in \S+ does not reach back to offset \d+/)
    })
  })
}

test('parts: two node folders with each the name of the other', async () => {
  const path = await killed(4)
  renameSync(join(path, 'node-1'), join(path, 'between'))
  renameSync(join(path, 'node-2'), join(path, 'node-1'))
  renameSync(join(path, 'between'), join(path, 'node-2'))
  await assertRefused(
    path,
    /^The index in \S+\/node-1\/index is that of node 2: node folders were swapped or copied\./,
  )
  mkdirSync(join(path, 'between'))
  const { findings } = await verifyFolder(path, { tables: () => [] })
  assert.ok(findings.some((finding) => finding.includes('is that of node 2')))
})
