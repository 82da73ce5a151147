import assert from 'node:assert/strict'
import { test } from 'node:test'
import { transactionsIn, transactionsOf } from '../../src/cli/find-transactions.js'
import { run } from '../../src/cli/run.js'
import { processWorld, type World } from '../../src/cli/world.js'
import { authOf } from '../../src/server/auth.js'
import { open } from '../../src/store.js'
import { testFolder } from '../suites/folder.js'

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
  const world: World = { ...processWorld(), print: (line) => out.push(line) }
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
  const world: World = { ...processWorld(), print: () => undefined, printError: (line) => errors.push(line) }
  assert.equal(await run(['transactions'], world), 2)
  assert.equal(await run(['transactions', '--endpoint', 'nowhere'], world), 2)
  assert.equal(await run(['transactions', '--endpoint', 'http://127.0.0.1:1'], world), 1)
  assert.match(errors.join('\n'), /either --endpoint URL or --path DIR\n.*must be a URL.*\n.*does not answer/)
})
