// Data folders as earlier versions wrote them (scripts/old-folders.mjs), opened by this one, and by one that is killed at each
// write on the way.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { verifyDataFolder } from '../../../src/cli/operate/verify-folder.js'
import { manualClock } from '../../../src/runtime/manual-clock.js'
import { open, type Store } from '../../../src/store/store.js'
import type { HistoryOptions } from '../../../src/store/store-ledger.js'
import { diskFaults, needsCompiler } from '../../faults/disk-faults.js'
import { testFolder } from '../../support/folder.js'
import { sized, wholeOnly } from '../../support/sizes.js'

const OLD = fileURLToPath(new URL('../../../../test/storage/folder/old', import.meta.url))
const OPENER = fileURLToPath(new URL('./opener.js', import.meta.url))
const NAMES = readdirSync(OLD).map((file) => basename(file, '.json.gz'))
/** What is in each: items 0 to 19, of each ten the first four with 300 more. */
const EXPECTED = new Map(
  Array.from({ length: 20 }, (_, n) => [`item ${n}`, String(n % 10 < 4 ? n + 300 : n)] as const),
)
/** Those with a stream, and the formats that they have then. */
const streams = new Map([
  ['format-5', 5],
  ['format-6', 7],
])
/** When they were written: what is in a stream is kept for a day. */
const WRITTEN_MS = Date.parse('2026-11-17T12:00:00Z')

interface PackedFile {
  readonly length: number
  readonly start: string
}

function unpacked(name: string): string {
  const path = testFolder()
  const { files } = JSON.parse(gunzipSync(readFileSync(join(OLD, `${name}.json.gz`))).toString()) as {
    readonly files: Readonly<Record<string, PackedFile>>
  }
  for (const [file, { length, start }] of Object.entries(files)) {
    mkdirSync(dirname(join(path, file)), { recursive: true })
    writeFileSync(join(path, file), Buffer.from(start, 'base64'))
    truncateSync(join(path, file), length)
  }
  return path
}

async function assertHolds(store: Store): Promise<void> {
  for (const IndexName of [undefined, 'ByKind']) {
    const { Items = [] } = await store.call('Scan', { TableName: 'Things', IndexName })
    assert.equal(Items.length, EXPECTED.size)
    assert.deepEqual(
      new Map(Items.map(({ id, n }) => [id?.S as string, n?.N]).toSorted(byNumber as never) as never),
      EXPECTED,
    )
  }
}

/** What was kept of the past: the backup has the first half, and the moment before this opening has all. */
async function assertRestores(store: Store, opening: number): Promise<void> {
  const { BackupSummaries = [] } = await store.call('ListBackups', { TableName: 'Things' })
  assert.deepEqual(
    BackupSummaries.map(({ BackupName, BackupStatus }) => [BackupName, BackupStatus]),
    [['first-half', 'AVAILABLE']],
  )
  const [half, all] = [`Half-${opening}`, `All-${opening}`]
  await store.call('RestoreTableFromBackup', {
    BackupArn: BackupSummaries[0]?.BackupArn,
    TargetTableName: half,
  })
  await store.call('RestoreTableToPointInTime', {
    SourceTableName: 'Things',
    TargetTableName: all,
    UseLatestRestorableTime: true,
  })
  await store.idle()
  const held = async (TableName: string): Promise<ReadonlyMap<unknown, unknown>> => {
    const { Items = [] } = await store.call('Scan', { TableName })
    const pairs = Items.map(({ id, n }) => [id?.S as string, n?.N] as const)
    return new Map(pairs.toSorted(byNumber as never))
  }
  assert.deepEqual(await held(half), new Map([...EXPECTED].slice(0, 10)))
  assert.deepEqual(await held(all), EXPECTED)
  const { size } = await store.ledger.digest()
  assert.ok(size > 20, `${size} blocks`)
}

/** Of an item whose first versions are in the history as format 6 wrote it, and which gets more. */
async function assertHistory(store: Store): Promise<void> {
  const { Item } = await store.call('GetItem', { TableName: 'Things', Key: { id: { S: 'item 1' } } })
  const held = async (options?: HistoryOptions): Promise<readonly number[]> => {
    const versions: number[] = []
    for await (const { version, item } of store.ledger.history('Things', { id: 'item 1' }, options)) {
      assert.ok(item !== undefined, 'none of them is a delete')
      versions.push(version)
    }
    return versions
  }
  const before = (await held()).length
  for (let more = 0; more < 11; more++)
    await store.call('PutItem', { TableName: 'Things', Item: { ...Item!, n: { N: String(-more) } } })
  await store.call('PutItem', { TableName: 'Things', Item: Item! })
  const all = await held()
  assert.deepEqual(
    all,
    Array.from({ length: before + 12 }, (_, version) => version),
  )
  for (const fromVersion of all)
    assert.deepEqual(
      await held({ fromVersion, toVersion: fromVersion + 3 }),
      all.slice(fromVersion, fromVersion + 4),
    )
}

const byNumber = ([one]: readonly [string], [other]: readonly [string]): number =>
  Number(one.slice(5)) - Number(other.slice(5))

/** Of folders that are much alike some are enough at the quick size. */
const killed = (name: string): { readonly skip: string | false } => ({
  skip: needsCompiler.skip || (['format-1', 'format-3'].includes(name) ? false : wholeOnly),
})

const formatOf = (path: string): unknown =>
  JSON.parse(readFileSync(join(path, 'seriatim.json'), 'utf8')) as unknown

test('old folders: there is one of every format that is read', () => {
  const formats = new Set(NAMES.map((name) => (formatOf(unpacked(name)) as { format: number }).format))
  assert.deepEqual(formats, new Set([1, 2, 3, 4, 5, 6]))
})

for (const name of NAMES) {
  test(`old folders: ${name}, as the code of its time left it when it was killed, is read and goes on`, async () => {
    const path = unpacked(name)
    assert.deepEqual((await verifyDataFolder(path)).problems, [], 'verify reads it as it is')
    for (let opening = 0; opening < 2; opening++) {
      const store = await open({ path, clock: manualClock(WRITTEN_MS), ledgerCopies: 'adopt' })
      await assertHolds(store)
      await store.call('PutItem', { TableName: 'Things', Item: { id: { S: 'more' } } })
      await store.call('DeleteItem', { TableName: 'Things', Key: { id: { S: 'more' } } })
      if (streams.has(name) && opening === 0) assert.equal(await changesIn(store), 46)
      if (name === 'format-6') {
        await assertRestores(store, opening)
        await assertHistory(store)
      }
      await store.close()
      const { format, unfinished } = formatOf(path) as { format: number; unfinished?: true }
      assert.equal(unfinished, undefined)
      assert.equal(format, streams.get(name) ?? 4)
      assert.deepEqual((await verifyDataFolder(path)).problems, [])
    }
  })

  test(
    `old folders: ${name}, opened by a process that is killed at its writes, loses nothing`,
    killed(name),
    async () => {
      // The quick size takes some of them, others for each name; the whole one every second, of folders that are not upgraded every eighth.
      const stride = sized(31, /[123]$/u.test(name) ? 2 : 8)
      let kills = 0
      for (let at = NAMES.indexOf(name) % stride; ; at += stride) {
        const path = unpacked(name)
        const faults = diskFaults(path)
        faults.fail({ kind: 'any', error: 'kill', skip: at, count: 1 })
        const child = spawn(process.execPath, [OPENER, path, String(WRITTEN_MS)], {
          detached: true,
          env: faults.environment,
        })
        const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
        faults.close()
        if (signal === null) assert.equal(code, 0)
        else kills++
        const store = await open({ path, clock: manualClock(WRITTEN_MS), ledgerCopies: 'adopt' })
        await store.call('DeleteItem', { TableName: 'Things', Key: { id: { S: 'more' } } })
        await assertHolds(store)
        if (name === 'format-6') {
          await assertRestores(store, 0)
          await assertHistory(store)
        }
        await store.close()
        assert.deepEqual((await verifyDataFolder(path)).problems, [], `killed at ${at}`)
        assert.equal((formatOf(path) as { readonly format: number }).format, streams.get(name) ?? 4)
        if (signal === null) break
      }
      assert.ok(kills > 0)
    },
  )
}

/** Up to the last that is there now. */
async function changesIn(store: Store): Promise<number> {
  let count = 0
  for await (const { event, keys } of store.changes('Things', { from: 'start' })) {
    count++
    if (event === 'REMOVE' && keys['id'] === 'more') break
  }
  return count
}
