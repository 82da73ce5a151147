import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifyDataFolder } from '../../src/cli/operate/verify-folder.js'
import { ENTRIES } from '../../src/ordered-map/lmdb/file/lmdb-options.js'
import { tableOf, decodeTableRecord } from '../../src/router/tables/record/table-record.js'
import { repairIndex } from '../../src/storage/folder/repair.js'
import { open } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'
import { drawFlips, filledFolder, tryFlips } from './flips.js'
import { sized } from '../support/sizes.js'

test('damage: after --repair a folder with one flipped bit, wherever it is, is sound and serves everything as before', async () => {
  const scratch = testFolder()
  const folder = join(scratch, 'sound')
  mkdirSync(folder)
  const model = await filledFolder(folder, 1)
  const flips = drawFlips(folder, 1, sized(8, 24), 4711, 'place')
  for (const trial of await tryFlips(folder, scratch, model, flips, 'repair'))
    assert.equal(trial.served, 'unnoticed', JSON.stringify(trial))
})

async function twoItems(): Promise<string> {
  const path = testFolder()
  const store = await open({ path })
  await store.call('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'kind', AttributeType: 'S' },
    ],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    GlobalSecondaryIndexes: [
      {
        IndexName: 'ByKind',
        KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
  })
  for (const id of ['a', 'b'])
    await store.call('PutItem', {
      TableName: 'Things',
      Item: { id: { S: id }, kind: { S: 'k' }, text: { S: `text of ${id}` } },
    })
  await store.close()
  return path
}

/** Beyond what a checksum tells. */
function spoil(path: string, text: string): void {
  const file = join(path, 'node-0', 'index', 'data.mdb')
  const bytes = readFileSync(file)
  assert.ok(bytes.includes(text))
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at))
    bytes.fill('#', at, at + text.length)
  writeFileSync(file, bytes)
}

const getItem = { TableName: 'Things', Key: { id: { S: 'a' } } }

test('damage: an item that its checksum does not mend is restored from the journal while it is there', async () => {
  const path = await twoItems()
  spoil(path, 'text of a')
  const { problems, repaired } = await verifyDataFolder(path, { repair: true })
  assert.deepEqual(problems, [])
  assert.ok(
    repaired?.includes(
      'The stored item of table Things with key {"id":{"S":"a"}} was restored from the journal.',
    ),
  )
  assert.ok(existsSync(join(path, 'node-0', 'index', 'data.mdb.damaged')))
  const store = await open({ path })
  assert.equal((await store.call('GetItem', getItem)).Item?.['text']?.S, 'text of a')
  assert.equal((await store.call('Scan', { TableName: 'Things', IndexName: 'ByKind' })).Count, 2)
  await store.close()
})

test('damage: --repair tells of an index that has more records than it says', async () => {
  const path = await twoItems()
  const file = join(path, 'node-0', 'index', 'data.mdb')
  const bytes = readFileSync(file)
  const counts = new Set<number>()
  // Behind its name, which ends in a zero, stands what LMDB knows of a tree: with the number of its entries at byte 32.
  for (let at = bytes.indexOf(ENTRIES); at >= 0; at = bytes.indexOf(ENTRIES, at + 1)) {
    const counted = at + ENTRIES.length + 1 + 32
    const count = Number(bytes.readBigUInt64LE(counted))
    if (count === 0 || count > 100) continue
    counts.add(count)
    bytes.writeBigUInt64LE(BigInt(count - 1), counted)
  }
  writeFileSync(file, bytes)
  const { problems, repaired = [] } = await verifyDataFolder(path, { repair: true })
  assert.deepEqual(problems, [])
  const told = /says that it has (\d+) records, and (\d+) were found: it was counted wrongly/.exec(
    repaired.join(),
  )
  assert.ok(told !== null, repaired.join())
  assert.equal(Number(told[1]), Number(told[2]) - 1)
  assert.ok(counts.has(Number(told[2])))
  const store = await open({ path })
  assert.equal((await store.call('Scan', { TableName: 'Things', IndexName: 'ByKind' })).Count, 2)
  await store.close()
})

for (const dropDamaged of [false, true]) {
  test(`damage: an item that cannot be mended ${dropDamaged ? 'is left out if the operator says so' : 'stays an error, in its indexes too'}`, async () => {
    const path = await twoItems()
    spoil(path, 'text of a')
    const { done, lost } = await repairIndex(join(path, 'node-0', 'index'), {
      tables: (meta) =>
        meta
          .filter(({ name }) => name.startsWith('table/'))
          .map((entry) => tableOf(decodeTableRecord(entry)).shape),
      journalImages: () => Promise.resolve(new Map()),
      journalStart: 0,
      dropDamaged,
    })
    assert.equal(lost, 1)
    assert.match(
      done[0] ?? '',
      /^The stored item of table Things with key \{"id":\{"S":"a"\}\} could not be mended/,
    )
    const store = await open({ path, onError: () => undefined })
    const scan = store.call('Scan', { TableName: 'Things' })
    const byKind = store.call('Scan', { TableName: 'Things', IndexName: 'ByKind' })
    if (dropDamaged) {
      assert.equal((await store.call('GetItem', getItem)).Item, undefined)
      assert.deepEqual([(await scan).Count, (await byKind).Count], [1, 1])
    } else {
      const damaged = { name: 'InternalServerError', message: /"id":\{"S":"a"\}\} is damaged/ }
      await assert.rejects(store.call('GetItem', getItem), damaged)
      await assert.rejects(scan, damaged)
      await assert.rejects(byKind, damaged)
    }
    const other = await store.call('GetItem', { TableName: 'Things', Key: { id: { S: 'b' } } })
    assert.equal(other.Item?.['text']?.S, 'text of b')
    await store.close()
    const { problems } = await verifyDataFolder(path)
    assert.equal(problems.length, dropDamaged ? 0 : 1)
  })
}
