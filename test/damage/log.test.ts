import assert from 'node:assert/strict'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifyDataFolder } from '../../src/cli/operate/verify-folder.js'
import { LogDamaged } from '../../src/commit-log/commit-log.js'
import { spaceId, timestamp } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import { keyAttributesOf, type TableShape } from '../../src/model/table.js'
import type { Item } from '../../src/model/value.js'
import { openNodesWithLog } from '../../src/storage/folder/open-local-node.js'
import { testFolder } from '../support/folder.js'
import { testRuntime } from '../support/test-runtime.js'

const RECORDS = 60
const table: TableShape = {
  name: 'T',
  space: spaceId(1),
  version: 1,
  logged: { old: true, new: true },
  key: { partition: { name: 'id', type: 'S' } },
  indexes: [],
}

const opened = (path: string): ReturnType<typeof openNodesWithLog> =>
  openNodesWithLog({
    runtime: testRuntime(1),
    path,
    nodes: 1,
    // A frame of the log for each record, and a few frames in a file.
    tuning: { logFlushBytes: 1, logSegmentBytesMax: 2000 },
  })

async function filled(): Promise<string> {
  const path = join(testFolder(), 'data')
  const { nodes, log } = await opened(path)
  await log.begin()
  const [node] = nodes
  await node!.setShape(table)
  for (let n = 1; n <= RECORDS; n++) {
    const item: Item = { id: { S: String(n % 7) }, n: { N: String(n) } }
    const key = itemKey(table.key, item)
    const keyAttributes = keyAttributesOf(table.key, item)
    await node!.write({ table, key, keyAttributes, mutation: { kind: 'put', item } })
    await log.flush()
  }
  await node!.close()
  return path
}

function filesOf(path: string, ending: string): string[] {
  const folder = join(path, 'commit-log')
  return readdirSync(folder)
    .filter((name) => name.endsWith(ending))
    .toSorted()
    .map((name) => join(folder, name))
}

function flip(file: string, byte: number): void {
  const bytes = readFileSync(file)
  bytes[byte]! ^= 4
  writeFileSync(file, bytes)
}

test('damage: verify reads the log of commits, and names the files and records that are damaged', async () => {
  const path = await filled()
  const sound = await verifyDataFolder(path)
  assert.deepEqual(sound.problems, [])
  assert.match(sound.summary, new RegExp(`and ${RECORDS} records of the log of commits`))
  const segments = filesOf(path, '.commits')
  const indexes = filesOf(path, '.index')
  assert.ok(segments.length > 4 && indexes.length === segments.length - 1)
  flip(indexes[0]!, 100)
  flip(segments[1]!, 30)
  const { problems } = await verifyDataFolder(path)
  assert.match(
    problems.join('\n'),
    /^The index .* of the log of commits is damaged at byte \d+\..*\n.* has a damaged header/,
  )
  const repaired = await verifyDataFolder(path, { repair: true })
  assert.deepEqual(repaired.problems, [])
  assert.match(repaired.repaired!.join('\n'), /The index .* was made anew from its segment/)
  assert.match(repaired.repaired!.join('\n'), /The header of .* was made anew/)
})

test('damage: records of the log that cannot be read stay an error, and the others are served', async () => {
  const path = await filled()
  const [, second] = filesOf(path, '.commits')
  const first = Number.parseInt(second!.slice(second!.lastIndexOf('/') + 1), 16)
  flip(second!, 200)
  const { problems } = await verifyDataFolder(path, { repair: true })
  assert.match(problems.join('\n'), new RegExp(`damaged at byte 128: record ${first} cannot be read`))
  const { nodes, log } = await opened(path)
  const all = { recordsMax: 1000, bytesMax: 1e9 }
  assert.equal((await log.read({ from: 1, ...all })).next, first)
  await assert.rejects(log.read({ from: first, ...all }), (error) => error instanceof LogDamaged)
  assert.equal((await log.read({ from: first + 1, ...all })).records[0]?.number, first + 1)
  assert.equal(await log.numberAt(timestamp(2 ** 52)), RECORDS + 1)
  await nodes[0]!.close()
})

test('damage: a folder whose log of commits has lost a file is refused, and so is one that has lost all', async () => {
  const path = await filled()
  rmSync(filesOf(path, '.commits')[1]!)
  assert.match((await verifyDataFolder(path)).problems.join('\n'), /is missing: .* names it/)
  await assert.rejects(opened(path), /The log file .* is missing/)
  rmSync(join(path, 'commit-log'), { recursive: true })
  assert.match((await verifyDataFolder(path)).problems.join('\n'), /There is no log of commits in/)
  await assert.rejects(opened(path), /There is no log of commits in/)
})
