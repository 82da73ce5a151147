import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { lmdbMap } from '../../../src/ordered-map/lmdb/lmdb-map.js'
import type { KeyBytes } from '../../../src/model/brand.js'
import { realRuntime } from '../../../src/runtime/real-runtime.js'
import { FolderRefused } from '../../../src/line/errors.js'
import { openLocalNode, openLocalNodes } from '../../../src/storage/folder/open-local-node.js'
import { boundsOf, countKey, encodeCount } from '../../../src/line/spaces.js'
import { verifyFolder } from '../../../src/storage/folder/verify.js'
import { testFolder } from '../../support/folder.js'
import { getItem, number, plain, plainItem, put, rich } from '../../suites/tables.js'

const runtime = realRuntime()
const open = (path: string): ReturnType<typeof openLocalNode> => openLocalNode({ runtime, path })

test('folder: one process owns it, and says so to the next', async () => {
  const path = testFolder()
  const node = await open(path)
  await assert.rejects(open(path), (error: Error) => {
    assert.ok(error instanceof FolderRefused)
    assert.match(error.message, new RegExp(`is in use by process ${process.pid}\\. Stop that process`))
    return true
  })
  await node.close()
  await (await open(path)).close()
})

test('folder: the lock of a process that is gone is taken over, even if its number is in use again', async () => {
  for (const stale of ['999999999 gone 1', `${process.pid} another-boot 1`, '', 'nonsense']) {
    const path = testFolder()
    writeFileSync(join(path, 'lock'), stale)
    await (await open(path)).close()
  }
})

test('folder: another format, or another number of nodes, is refused with a sentence', async () => {
  const path = testFolder()
  await (await open(path)).close()
  const written = readFileSync(join(path, 'seriatim.json'), 'utf8')
  assert.match(written, /^\{"format":4,"nodes":1,"id":"[0-9a-f]{32}"\}\n$/)
  assert.deepEqual(readdirSync(path).toSorted(), ['node-0', 'owner.lock', 'seriatim.json'])
  await assert.rejects(
    openLocalNodes({ runtime, path, nodes: 4 }),
    /was made for 1 node, not 4\. Start with --nodes 1/,
  )
  writeFileSync(join(path, 'seriatim.json'), '{"format":2,"nodes":1}')
  await assert.rejects(open(path), /has format 2, and this version reads format 7\. Open it with the version/)
  writeFileSync(join(path, 'seriatim.json'), '{"form')
  await assert.rejects(open(path), /seriatim\.json is not readable\. Restore it/)
  writeFileSync(join(path, 'seriatim.json'), '{"format":8,"nodes":1}')
  await assert.rejects(open(path), /has format 8, and this version reads format 7\. Open it with the version/)
  writeFileSync(join(path, 'seriatim.json'), written)
  await (await open(path)).close() // A refused folder is free.
})

test('folder: several nodes each have their own data, and the folder knows how many', async () => {
  const path = testFolder()
  const nodes = await openLocalNodes({ runtime, path, nodes: 3 })
  await Promise.all(nodes.map((node, i) => put(node, plain, plainItem('a', { node: number(i) }))))
  await Promise.all(nodes.map((node) => node.close()))
  const again = await openLocalNodes({ runtime, path })
  assert.equal(again.length, 3)
  assert.deepEqual(readdirSync(path).toSorted(), [
    'journal',
    'node-0',
    'node-1',
    'node-2',
    'owner.lock',
    'seriatim.json',
  ])
  for (const [i, node] of again.entries()) {
    assert.deepEqual(await getItem(node, plain, plainItem('a')), plainItem('a', { node: number(i) }))
  }
  await Promise.all(again.map((node) => node.close()))
})

test('folder: several nodes share a journal; a folder in which each had its own is refused with a sentence', async () => {
  const path = testFolder()
  const nodes = await openLocalNodes({ runtime, path, nodes: 2 })
  await Promise.all(nodes.map((node) => node.close()))
  const file = join(path, 'seriatim.json')
  assert.match(readFileSync(file, 'utf8'), /^\{"format":4,"nodes":2,"id":"[0-9a-f]{32}"\}\n$/)
  writeFileSync(file, '{"format":1,"nodes":2}')
  await assert.rejects(openLocalNodes({ runtime, path }), /has format 1, and this version reads format 7/)
})

test('verify: damage in the journal that several nodes share is found', async () => {
  const path = testFolder()
  const nodes = await openLocalNodes({ runtime, path, nodes: 3 })
  for (let i = 0; i < 5; i++)
    await Promise.all(nodes.map((node) => put(node, plain, plainItem(`item ${i}`, { i: number(i) }))))
  await Promise.all(nodes.map((node) => node.close()))
  const verify = (): ReturnType<typeof verifyFolder> => verifyFolder(path, { tables: () => [plain] })
  const { findings, batches, items } = await verify()
  assert.deepEqual(findings, [])
  assert.equal(items, 15)
  assert.ok(batches >= 15, `${batches} batches`)
  const journal = join(path, 'journal')
  const segment = join(journal, readdirSync(journal)[0] as string)
  const bytes = readFileSync(segment)
  bytes[108] = (bytes[108] as number) ^ 1
  writeFileSync(segment, bytes)
  assert.deepEqual(
    (await verify()).findings.map((finding) => finding.replace(/ \S+\.journal/, '')),
    ['The journal file is damaged at byte 48.'],
  )
})

test('verify: a whole folder has no findings; a changed byte, a lost entry and a wrong count are found', async () => {
  const path = testFolder()
  const node = await open(path)
  for (let n = 0; n < 20; n++) {
    await put(node, rich, {
      id: { S: 'p' },
      n: number(n),
      color: { S: 'red' },
      weight: number(n),
      until: number(n),
    })
  }
  await node.close()
  const verify = (): ReturnType<typeof verifyFolder> => verifyFolder(path, { tables: () => [rich] })
  const whole = await verify()
  assert.deepEqual(
    { ...whole, findings: [...whole.findings] },
    { findings: [], batches: 20, items: 20, entries: 40, records: 0 },
  )

  const index = lmdbMap(join(path, 'node-0', 'index'))
  const color = boundsOf(rich.indexes[0]?.space as typeof rich.space)
  const [entry] = [...index.range({ ...color, reverse: false })]
  assert.ok(entry)
  await index.apply(
    [
      [entry[0], undefined],
      [`${entry[0]}more` as KeyBytes, entry[1]],
      [countKey(rich.space), encodeCount({ items: 7, bytes: 7 })],
    ],
    index.appliedUpTo,
  )
  await index.close()
  const journal = join(path, 'node-0', 'journal')
  const segment = join(journal, readdirSync(journal)[0] as string)
  const bytes = readFileSync(segment)
  bytes[148] = (bytes[148] as number) ^ 1
  writeFileSync(segment, bytes)

  const { findings } = await verify()
  assert.equal(findings.length, 4)
  assert.match(findings[3] as string, /^The journal file \S+ is damaged at byte 48\.$/)
  assert.match(
    findings[0] as string,
    /^The item [0-9a-f]+ of table rich has no entry in the index by-color\.$/,
  )
  assert.match(findings[1] as string, /points to an item that does not belong there/)
  assert.equal(findings[2], 'The count of table rich is 7, but it holds 20.')
})

test('folder: after kill -9 every acknowledged write is there', async () => {
  const path = testFolder()
  const child = fileURLToPath(new URL('writer.js', import.meta.url))
  let total = 0
  for (let kill = 0; kill < 8; kill++) {
    const acknowledged = new Map<string, string>()
    const writer = spawn(process.execPath, [child, path, String(kill)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const gone = new Promise((resolve) => writer.once('exit', resolve))
    for await (const line of createInterface({ input: writer.stdout })) {
      const [id, v] = line.split(' ') as [string, string]
      acknowledged.set(id, v)
      if (++total % 40 === 0) writer.kill('SIGKILL')
    }
    await gone
    const node = await open(path)
    for (const [id, v] of acknowledged) {
      const found = await getItem(node, plain, plainItem(id))
      const value = Number((found?.['v'] as { N: string } | undefined)?.N)
      // One later write to the same item may have become durable without its answer having been read.
      assert.ok(value >= Number(v), `${id} has ${value}, acknowledged was ${v}`)
    }
    await node.close()
  }
  const report = await verifyFolder(path, { tables: () => [plain] })
  assert.deepEqual(report.findings, [])
})
