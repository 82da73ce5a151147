import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transactionsIn, transactionsOf } from '../../src/cli/operate/find-transactions.js'
import { run } from '../../src/cli/run.js'
import { processEnvironment } from '../../src/cli/process-environment.js'
import type { CommandEnvironment } from '../../src/cli/command/environment.js'
import { authOf } from '../../src/server/access/auth.js'
import { open } from '../../src/store/store.js'
import { ledgerSlot, timestamp, txId } from '../../src/model/brand.js'
import { itemKey } from '../../src/model/key-bytes.js'
import { transactionList } from '../../src/router/transactions/transaction-list.js'
import { openLocalNodes } from '../../src/storage/folder/open-local-node.js'
import { testFolder } from '../support/folder.js'
import { plain } from '../suites/tables.js'
import { testRuntime } from '../support/test-runtime.js'

const table = {
  TableName: 'Accounts',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' as const }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' as const }],
  BillingMode: 'PAY_PER_REQUEST' as const,
}
const put = (id: string, condition?: string) => ({
  Put: {
    TableName: 'Accounts',
    Item: { id: { S: id } },
    ...(condition && { ConditionExpression: condition }),
  },
})

const MUST_BE_NEW = { expression: 'attribute_not_exists(id)' }

async function someTransactions(store: Awaited<ReturnType<typeof open>>): Promise<void> {
  await store.call('CreateTable', table)
  const ids = Array.from({ length: 12 }, (_, n) => `a${n}`)
  await store.call('TransactWriteItems', { TransactItems: ids.map((id) => put(id)) })
  const again = ids.map((id) => put(id, 'attribute_not_exists(id)'))
  await assert.rejects(store.call('TransactWriteItems', { TransactItems: again }))
}

test('cli: transactions of a running server are listed, with what they were cancelled for', async () => {
  await using store = await open({ memory: true, nodes: 3 })
  await someTransactions(store)
  const key = { accessKeyId: 'A', secretAccessKey: 's', tables: ['*'] }
  const server = await store.listen({ port: 0 })
  await store.idle()
  const out: string[] = []
  const world: CommandEnvironment = { ...processEnvironment(), print: (line) => out.push(line) }
  assert.equal(await run(['transactions', '--endpoint', server.url], world), 0)
  assert.match(out[0] ?? '', /^In flight: \d/)
  assert.match(out.join('\n'), /cancelled at .*\[(ConditionalCheckFailed(, )?){12}\]/)
  assert.match(out.join('\n'), /committed at/)

  const admin = await store.listen({ port: 0, auth: authOf([{ ...key, access: ['admin'] }]) })
  assert.ok((await transactionsOf(admin.url, 10, key)).Recent.length >= 2)
  await assert.rejects(transactionsOf(admin.url, 10, undefined), /missing authentication token/i)
  const reader = await store.listen({ port: 0, auth: authOf([{ ...key, access: ['read'] }]) })
  await assert.rejects(transactionsOf(reader.url, 10, key), /grants no admin access/)
})

for (const nodes of [1, 3]) {
  test(`cli: transactions of a store with ${nodes} node(s) show tables and keys, cancelled ones too`, async () => {
    await using store = await open({ memory: true, nodes })
    await someTransactions(store)
    await assert.rejects(
      store.transactor().transact((tx) => Promise.resolve(tx.put('Accounts', { id: 'a1' }, MUST_BE_NEW)), {
        retry: { limit: 0 },
      }),
    )
    await store.idle()
    const server = await store.listen({ port: 0 })
    const out: string[] = []
    const world: CommandEnvironment = { ...processEnvironment(), print: (line) => out.push(line) }
    assert.equal(await run(['transactions', '--endpoint', server.url], world), 0)
    const text = out.join('\n')
    assert.match(text, /committed at .*\n {6}Accounts \{"id":\{"S":"a0"\}\}\n/)
    assert.match(
      text,
      /cancelled at .*\[(ConditionalCheckFailed(, )?){12}\]\n( {6}Accounts \{"id":\{"S":"a\d+"\}\}\n){10} {6}and 2 more/,
    )
    assert.match(text, /cancelled at .*\[ConditionalCheckFailed\]\n {6}Accounts \{"id":\{"S":"a1"\}\}/)
    const { Recent } = await transactionsOf(server.url, 10, undefined)
    assert.equal(Recent.length, 3)
    const committed = Recent.find(({ Outcome }) => Outcome === 'COMMITTED')
    assert.deepEqual(committed?.Items?.[0], { TableName: 'Accounts', Key: { id: { S: 'a0' } } })
    assert.equal(committed.ItemCount, 12)
  })
}

test('cli: a transaction in flight is shown with tables and keys, also from a folder', async () => {
  const runtime = testRuntime(1)
  const nodes = await openLocalNodes({ runtime, memory: true, nodes: 2 })
  const tx = txId(ledgerSlot('a'.repeat(32)), 'n')
  const items = ['one', 'two'].map((id) => ({
    space: plain.space,
    key: itemKey(plain.key, { pk: { S: id }, id: { S: id } }),
  }))
  await nodes[0]?.ledger.begin({
    tx,
    timestamp: timestamp(runtime.clock.nowMicros()),
    participants: [{ node: 1, items }],
  })
  const sources = { nodes, ended: [], nowMicros: runtime.clock.nowMicros() }
  const { InFlight } = await transactionList({ ...sources, shapes: [plain] }, 10)
  const name = plain.key.partition.name
  assert.deepEqual(InFlight[0]?.Items, [
    { TableName: plain.name, Key: { [name]: { S: 'one' } } },
    { TableName: plain.name, Key: { [name]: { S: 'two' } } },
  ])
  const dropped = await transactionList({ ...sources, shapes: [] }, 10)
  assert.deepEqual(dropped.InFlight[0]?.Items, [{}, {}])
})

test('a coordinator remembers the last thousand transactions, and of each ten items', async () => {
  await using store = await open({ memory: true })
  await store.call('CreateTable', table)
  for (let n = 0; n < 1010; n++) {
    const items = Array.from({ length: n === 1009 ? 30 : 1 }, (_, at) => put(`t${n}-${at}`))
    await store.call('TransactWriteItems', { TransactItems: items, ClientRequestToken: `token-${n}` })
  }
  const server = await store.listen({ port: 0 })
  const { Recent } = await transactionsOf(server.url, 1000, undefined)
  assert.equal(Recent.length, 1000)
  assert.equal(Recent[0]?.ItemCount, 30)
  assert.equal(Recent[0].Items?.length, 10)
  assert.ok(Recent.every(({ Items }) => Items !== undefined))
})

test('cli: transactions in a folder are listed without finishing any', async () => {
  const path = testFolder()
  {
    await using store = await open({ path, nodes: 3 })
    await someTransactions(store)
  }
  const { Recent } = await transactionsIn(path, 100)
  // A commit is completed in the background: which one comes first is not said.
  assert.deepEqual(Recent.map(({ Outcome }) => Outcome).toSorted(), ['CANCELLED', 'COMMITTED'])
  await assert.rejects(transactionsIn(`${path}/absent`, 1), /there is no folder/)
})

test('cli: transactions needs to be told where to look', async () => {
  const errors: string[] = []
  const world: CommandEnvironment = {
    ...processEnvironment(),
    print: () => undefined,
    printError: (line) => errors.push(line),
  }
  assert.equal(await run(['transactions'], world), 2)
  assert.equal(await run(['transactions', '--endpoint', 'nowhere'], world), 2)
  assert.equal(await run(['transactions', '--endpoint', 'http://127.0.0.1:1'], world), 1)
  assert.match(errors.join('\n'), /either --endpoint URL or --path DIR\n.*must be a URL.*\n.*does not answer/)
})
