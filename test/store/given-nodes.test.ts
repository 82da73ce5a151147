// Stores on nodes that they did not open themselves.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localPlacement } from '../../src/coordinator/placement.js'
import { allRules } from '../../src/rules/item/section-4.js'
import { clientRuntime, realRuntime } from '../../src/runtime/real-runtime.js'
import { openLocalNodes } from '../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import { openStore } from '../../src/store/local-store.js'
import type { Store } from '../../src/store/store.js'

const TableName = 'Accounts'
const NODES = 3

const openOn = (nodes: readonly StorageNode[]): Promise<Store> =>
  openStore({
    runtime: realRuntime(),
    clients: clientRuntime(),
    nodes,
    placement: localPlacement(nodes.length),
    rules: allRules,
    sharedJournal: false,
    isSoleOwner: false,
    onError: (error) => {
      throw error
    },
  })

const createTable = (store: Store): Promise<unknown> =>
  store.call('CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })

test('open: two stores on the same nodes see each other’s writes, and their transactions are whole', async () => {
  const nodes = await openLocalNodes({ runtime: realRuntime(), memory: true, nodes: NODES })
  await using one = await openOn(nodes)
  await createTable(one)
  await using other = await openOn(nodes)
  const ids = Array.from({ length: 8 }, (_, n) => `account-${n}`)
  for (const id of ids)
    await one.call('PutItem', { TableName, Item: { id: { S: id }, balance: { N: '10' } } })
  const add = (id: string, amount: number) => ({
    Update: {
      TableName,
      Key: { id: { S: id } },
      UpdateExpression: 'ADD balance :amount',
      ExpressionAttributeValues: { ':amount': { N: String(amount) } },
    },
  })
  const transfer = async (store: Store, n: number): Promise<boolean> => {
    const [from, to] = [ids[n % 8]!, ids[(n * 3 + 1) % 8]!]
    if (from === to) return false
    return store.call('TransactWriteItems', { TransactItems: [add(from, -1), add(to, 1)] }).then(
      () => true,
      (error: unknown) => {
        assert.equal((error as Error).name, 'TransactionCanceledException')
        return false
      },
    )
  }
  const done = await Promise.all(Array.from({ length: 60 }, (_, n) => transfer(n % 2 === 0 ? one : other, n)))
  assert.ok(done.includes(true))
  for (const store of [one, other]) {
    const { Responses: read = [] } = await store.call('TransactGetItems', {
      TransactItems: ids.map((id) => ({ Get: { TableName, Key: { id: { S: id } } } })),
    })
    const balances = read.map(({ Item }) => Number(Item?.['balance']?.N))
    assert.equal(
      balances.reduce((sum, balance) => sum + balance, 0),
      80,
    )
  }
})

test('ConsistentRead of GetItem and BatchGetItem reaches the node; other reads are consistent', async () => {
  const nodes: readonly StorageNode[] = await openLocalNodes({
    runtime: realRuntime(),
    memory: true,
    nodes: 1,
  })
  const asked: boolean[] = []
  for (const node of nodes) {
    const get = node.get.bind(node)
    node.get = (space, key, isConsistent) => {
      asked.push(isConsistent)
      return get(space, key, isConsistent)
    }
  }
  await using store = await openOn(nodes)
  await createTable(store)
  const Key = { id: { S: 'a' } }
  await store.call('GetItem', { TableName, Key })
  await store.call('GetItem', { TableName, Key, ConsistentRead: true })
  await store.call('BatchGetItem', { RequestItems: { [TableName]: { Keys: [Key] } } })
  await store.call('BatchGetItem', { RequestItems: { [TableName]: { Keys: [Key], ConsistentRead: true } } })
  await store.call('TransactGetItems', { TransactItems: [{ Get: { TableName, Key } }] })
  assert.deepEqual(asked, [false, true, false, true, true])
})
