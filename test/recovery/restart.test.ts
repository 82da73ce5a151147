import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerSlot, timestamp, txId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import { openCatalog } from '../../src/router/catalog.js'
import { open } from '../../src/store.js'
import { openLocalNodes } from '../../src/storage/open-local-node.js'
import { testFolder } from '../suites/folder.js'
import { testRuntime } from '../suites/test-runtime.js'

const NODES = 2
/** As the store spreads items and slots over its nodes. */
const nodeNumber = (hash: number): number => Math.floor((hash / 2 ** 32) * NODES)

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
    const ids = await leaveInFlight(path, decided)
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

async function leaveInFlight(path: string, decided: boolean): Promise<readonly string[]> {
  const runtime = testRuntime(1)
  const nodes = await openLocalNodes({ runtime, path })
  const catalog = await openCatalog({ runtime, nodes })
  const { shape } = catalog.table('Accounts')
  const at = timestamp(runtime.clock.nowMicros())
  const tx = txId(ledgerSlot('0'.repeat(32)), 'n')
  const keyOf = (id: string) => itemKey(shape.key, { id: { S: id } })
  const ids = nodes.map((_, node) => {
    for (let n = 0; ; n++) if (nodeNumber(keyOf(`a${n}`).hash) === node) return `a${n}`
  })
  const participants = ids.map((id, node) => ({ node, items: [{ space: shape.space, key: keyOf(id) }] }))
  await nodes[0]?.ledger.begin({ tx, timestamp: at, participants })
  for (const [node, id] of ids.entries()) {
    const item = { id: { S: id } }
    const action = {
      table: shape,
      key: keyOf(id),
      keyAttributes: item,
      mutation: { kind: 'put', item },
    } as const
    const reply = await nodes[node]?.prepare({ tx, timestamp: at, actions: [action] })
    assert.deepEqual(reply?.verdicts, [{ verdict: 'accepted' }])
  }
  if (decided) await nodes[0]?.ledger.decide(tx, 'commit', { timestamp: at })
  await catalog.close()
  await Promise.all(nodes.map((node) => node.close()))
  return ids
}
