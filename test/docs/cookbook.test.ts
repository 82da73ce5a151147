// The recipes of the cookbook hold wherever the toolkit runs, and need the isolation level that they name. That they hold in
// the process is tested by examples.test.ts.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test, type TestContext } from 'node:test'
import { findDynamoDbLocal } from '../../bench/targets/dynamodb-local.js'
import { startDynamoDbLocal } from '../differential/peers.js'
import { open, type Store } from '../../src/store/store.js'
import { ConditionFailed, Conflict } from '../../src/toolkit/endpoint/errors.js'
import type { IsolationLevel, UnitHandle } from '../../src/toolkit/unit/transactor.js'
import { dynalite } from '../support/dynalite.js'
import { sized, wholeOnly } from '../support/sizes.js'
import { spawnServer } from '../support/spawned-server.js'
import { assertPrinted, Installation, type Program, programsOf } from './programs.js'

const installation = new Installation()
after(() => installation[Symbol.dispose]())

/** What levels do is Seriatim's; other endpoints validate more at snapshot. */
const SERIATIM_ONLY = new Set(['overlaps-levels.mjs'])
const recipes = programsOf('docs/how-to/cookbook.md')

/** In place of the store in the process: an endpoint, with as much of a store as the recipes use. */
const ELSEWHERE = `
import * as sdk from '@aws-sdk/client-dynamodb'
import { setTimeout as wait } from 'node:timers/promises'
import { transactor } from 'seriatim/toolkit'

export async function open() {
  const client = new sdk.DynamoDBClient({})
  const transactors = []
  const transactorOf = (options) => {
    // Twenty clients at one item on a slow machine: how often they try says nothing about the recipe.
    transactors.push(transactor(client, { ...options, retry: { limit: 1000 } }))
    return transactors.at(-1)
  }
  await transactorOf({}).setup()
  return {
    client: () => client,
    transactor: transactorOf,
    async call(operation, input) {
      await client.send(new sdk[operation + 'Command'](input))
      for (let status = ''; status !== 'ACTIVE'; await wait(10))
        status = (await client.send(new sdk.DescribeTableCommand(input))).Table.TableStatus
    },
    async close() {
      await Promise.all(transactors.map((one) => one.idle()))
      const { TableNames } = await client.send(new sdk.ListTablesCommand({}))
      for (const TableName of TableNames) await client.send(new sdk.DeleteTableCommand({ TableName }))
      client.destroy()
    },
  }
}
`
const elsewhere = (recipe: Program): Program => ({
  ...recipe,
  code: recipe.code
    .replace(`from 'seriatim'\n`, `from '../elsewhere.mjs'\n`)
    // Twelve clients instead of twenty compete as well, and take less time.
    .replaceAll('length: 20', 'length: 12'),
})

async function holdAt(url: string, context: TestContext, recipesMax = Infinity): Promise<void> {
  writeFileSync(join(installation.folder, 'elsewhere.mjs'), ELSEWHERE)
  const environment = {
    AWS_ENDPOINT_URL: url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'any',
    AWS_SECRET_ACCESS_KEY: 'any',
  }
  const held = recipes.filter(({ name }) => !SERIATIM_ONLY.has(name)).slice(0, recipesMax)
  const printed = await installation.runAll(held.map(elsewhere), {
    processes: sized('one', 'one each'),
    environment,
  })
  for (const [at, recipe] of held.entries())
    await context.test(recipe.name, () => assertPrinted(recipe, printed[at]!))
}

test('the cookbook has the six recipes', () => {
  const names = recipes.map(({ name }) => name.replace('.mjs', ''))
  for (const name of ['checkout', 'seats', 'unique-names', 'limited-counter', 'overlaps', 'job-queue'])
    assert.ok(names.includes(name), name)
})

test('the recipes hold on a Seriatim server, over HTTP', async (context) => {
  const server = await spawnServer()
  try {
    await holdAt(server.url, context)
  } finally {
    await server.stop()
  }
})

test('the recipes hold on dynalite, by conditional writes', async (context) => {
  await using peer = await dynalite()
  await holdAt(peer.url, context, sized(3, Infinity))
})

const localFolder = findDynamoDbLocal(process.env['DYNAMODB_LOCAL'])
const noLocal = wholeOnly || (localFolder === undefined && 'DYNAMODB_LOCAL names no folder that has it')
test('the recipes hold on DynamoDB Local', { skip: noLocal }, async (context) => {
  await using peer = await startDynamoDbLocal(localFolder!)
  await holdAt(peer.url, context)
})

/** Both units read before either of them commits. */
async function race(
  store: Store,
  isolation: IsolationLevel,
  read: (unit: UnitHandle, at: number) => Promise<void>,
): Promise<void> {
  const t = store.transactor()
  const units = [await t.begin({ isolation }), await t.begin({ isolation })]
  for (const [at, unit] of units.entries()) await read(unit, at)
  for (const unit of units) await unit.commit()
}

async function storeWith(...tables: readonly string[]): Promise<Store> {
  const store = await open({ memory: true })
  for (const TableName of tables)
    await store.call('CreateTable', {
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    })
  return store
}

test('checkout needs serializable: at snapshot two orders for the last copy both commit', async () => {
  await using store = await storeWith('Products')
  const t = store.transactor()
  const order = async (unit: UnitHandle): Promise<void> => {
    const product = await unit.get('Products', { id: 'dune' })
    if (product!['stock'] > 0) unit.update('Products', { id: 'dune' }, { add: { stock: -1 } })
  }
  for (const [isolation, left] of [
    ['snapshot', -1],
    ['serializable', 0],
  ] as const) {
    await t.transact((tx) => tx.put('Products', { id: 'dune', stock: 1 }))
    const racing = race(store, isolation, order)
    if (isolation === 'serializable') await assert.rejects(racing, Conflict)
    else await racing
    assert.equal((await t.transact((tx) => tx.get('Products', { id: 'dune' })))?.['stock'], left, isolation)
  }
})

test('checkout without a read needs no level: the condition refuses the second order for the last copy', async () => {
  await using store = await storeWith('Products')
  await store.transactor().transact((tx) => tx.put('Products', { id: 'dune', stock: 1 }))
  const order = (unit: UnitHandle): Promise<void> => {
    const condition = { expression: 'stock >= :q', values: { ':q': 1 } }
    unit.update('Products', { id: 'dune' }, { add: { stock: -1 } }, condition)
    return Promise.resolve()
  }
  await assert.rejects(race(store, 'read-uncommitted', order), ConditionFailed)
})

test('unique names need snapshot: at read-committed two changes of an address leave one behind', async () => {
  await using store = await storeWith('Accounts', 'Addresses')
  const t = store.transactor()
  const change = async (unit: UnitHandle, at: number): Promise<void> => {
    const account = await unit.get('Accounts', { id: 'ada' })
    unit.delete('Addresses', { id: account!['email'] as string })
    unit.put('Addresses', { id: `new-${at}` }, { expression: 'attribute_not_exists(id)' })
    unit.update('Accounts', { id: 'ada' }, { set: { email: `new-${at}` } })
  }
  for (const [isolation, addresses] of [
    ['snapshot', 1],
    ['read-committed', 2],
  ] as const) {
    await t.transact(async (tx) => {
      for (const { id } of await tx.scan('Addresses')) tx.delete('Addresses', { id })
      tx.put('Accounts', { id: 'ada', email: 'old' })
      tx.put('Addresses', { id: 'old' })
    })
    const racing = race(store, isolation, change)
    if (isolation === 'snapshot') await assert.rejects(racing, Conflict)
    else await racing
    assert.equal((await t.transact((tx) => tx.scan('Addresses'))).length, addresses, isolation)
  }
})

test('job queue: at snapshot two claims of one job conflict', async () => {
  await using store = await storeWith('Jobs')
  await store.transactor().transact((tx) => tx.put('Jobs', { id: 'mail' }))
  const claim = async (unit: UnitHandle, at: number): Promise<void> => {
    const [job] = await unit.scan('Jobs', { filter: 'attribute_not_exists(worker)', limit: 1 })
    unit.put('Jobs', { ...job, id: job!['id'] as string, worker: at })
  }
  await assert.rejects(race(store, 'snapshot', claim), Conflict)
})
