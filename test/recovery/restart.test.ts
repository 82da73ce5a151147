import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KeyBytes, ledgerSlot, type SpaceId, timestamp, txId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import { openCatalog, type TableCatalog } from '../../src/router/tables/catalog/catalog.js'
import type { ManualClock } from '../../src/runtime/manual-clock.js'
import { open } from '../../src/store/store.js'
import { openLocalNodes } from '../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import { testFolder } from '../support/folder.js'
import { testRuntime } from '../support/test-runtime.js'
import { leaveInFlight, NODES } from './in-flight.js'

for (const decided of [true, false]) {
  const what = decided ? 'was decided, and is committed' : 'was not decided, and is cancelled'
  test(`§3.5 a transaction in flight at the last stop ${what} before the first answer`, async () => {
    const path = testFolder()
    {
      await using store = await open({ path, nodes: NODES })
      await store.call('CreateTable', {
        TableName: 'Accounts',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        BillingMode: 'PAY_PER_REQUEST',
      })
    }
    const [{ ids }] = await leaveInFlight(path, [decided])
    await using store = await open({ path })
    for (const id of ids) {
      const { Item } = await store.call('GetItem', { TableName: 'Accounts', Key: { id: { S: id } } })
      assert.deepEqual(Item, decided ? { id: { S: id } } : undefined)
    }
    const left = await store.call('TransactWriteItems', {
      TransactItems: ids.map((id) => ({ Put: { TableName: 'Accounts', Item: { id: { S: id } } } })),
    })
    assert.ok(left)
  })
}

test('§3.5 a transaction that was decided on a table which was then deleted leaves nothing, however often the store stops', async () => {
  const path = testFolder()
  {
    await using store = await open({ path, nodes: NODES })
    await store.call('CreateTable', {
      TableName: 'Accounts',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    })
  }
  await leaveInFlight(path, [true])
  const space = await withCatalog(path, async (catalog, nodes, clock) => {
    const { shape } = catalog.table('Accounts')
    await catalog.change((draft) => draft.remove(draft.record('Accounts')))
    await assertNotSwept(shape.space, nodes, clock)
    const late = {
      table: shape,
      key: itemKey(shape.key, { id: { S: 'late' } }),
      keyAttributes: {},
      mutation: { kind: 'delete' },
    } as const
    const tx = txId(ledgerSlot('1'.repeat(32)), 'n')
    const prepared = await nodes[0]?.prepare({
      tx,
      timestamp: timestamp(clock.nowMicros() + 1),
      actions: [late],
    })
    assert.equal(prepared?.verdicts[0]?.verdict, 'invalid')
    return shape.space
  })
  await withCatalog(path, async (catalog, nodes, clock) => {
    await assertNotSwept(space, nodes, clock)
    assert.deepEqual(catalog.droppedSpaces(), [space])
  })
  {
    await using store = await open({ path })
    await store.idle()
  }
  await withCatalog(path, async (catalog, nodes) => {
    assert.deepEqual(catalog.droppedSpaces(), [])
    for (const node of nodes) {
      const request = { space, from: '' as KeyBytes, reverse: false, entriesMax: 10, bytesMax: Infinity }
      assert.deepEqual((await node.range(request)).entries, [])
    }
  })
})

/** As long as a transaction may still write to it, a space cannot be forgotten. */
async function assertNotSwept(
  space: SpaceId,
  nodes: readonly StorageNode[],
  clock: ManualClock,
): Promise<void> {
  for (const node of nodes) {
    const swept = node.sweep(space, 1000)
    clock.advance(1000)
    assert.equal(await swept, false)
  }
}

async function withCatalog<T>(
  path: string,
  act: (
    catalog: TableCatalog,
    nodes: Awaited<ReturnType<typeof openLocalNodes>>,
    clock: ManualClock,
  ) => Promise<T>,
): Promise<T> {
  const runtime = testRuntime(1)
  const nodes = await openLocalNodes({ runtime, path })
  const catalog = await openCatalog({ runtime, nodes })
  try {
    return await act(catalog, nodes, runtime.clock)
  } finally {
    const closed = catalog.close()
    // A sweep that waits for a transaction looks again after a while.
    runtime.clock.advance(1000)
    await closed
    await Promise.all(nodes.map((node) => node.close()))
  }
}
