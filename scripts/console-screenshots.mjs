// The pictures of docs/console.md: every screen, light and dark, wide and narrow, of a store with a few tables.
//
//   npm run build && node scripts/console-screenshots.mjs          into docs/images/console/
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { MemoryEngine } from '../dist/src/engine/memory-engine.js'
import { open } from '../dist/src/index.js'
import { locks } from '../dist/src/toolkit/index.js'
import { leaveInFlight } from '../dist/test/recovery/in-flight.js'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const FOLDER = join(ROOT, 'docs/images/console')
const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run']

const path = mkdtempSync(join(tmpdir(), 'seriatim-pictures-store-'))
const table = (TableName, key, more = {}, of = store) =>
  of.call('CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: key.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
    KeySchema: key
      .slice(0, 2)
      .map(([AttributeName], at) => ({ AttributeName, KeyType: at === 0 ? 'HASH' : 'RANGE' })),
    ...more,
  })
// A process that ended in the middle of two transactions: the next one finishes them.
const before = await open({ path, nodes: 2 })
await table('Accounts', [['id', 'S']], {}, before)
await before.close()
await leaveInFlight(path, [true, false])
const store = await open({ path })
const server = await store.listen({ port: 0 })
const fleet = await open({ engine: new MemoryEngine() })
const fleetServer = await fleet.listen({ port: 0 })
await table(
  'Orders',
  [
    ['customer', 'S'],
    ['id', 'N'],
    ['status', 'S'],
  ],
  {
    GlobalSecondaryIndexes: [
      {
        IndexName: 'by-status',
        KeySchema: [{ AttributeName: 'status', KeyType: 'HASH' }],
        Projection: { ProjectionType: 'ALL' },
      },
    ],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  },
)
await table('Vehicles', [['vin', 'S']], { Tags: [{ Key: 'seriatim:ledger', Value: 'true' }] })
const people = ['ada', 'grace', 'edsger', 'barbara', 'leslie']
const order = (at) => ({
  customer: { S: people[at % 5] },
  id: { N: String(1000 + at) },
  status: { S: ['open', 'paid', 'sent'][at % 3] },
  total: { N: (at * 13.37).toFixed(2) },
  lines: { L: [{ M: { sku: { S: `book-${at}` }, quantity: { N: '2' } } }] },
  tags: { SS: ['new', 'gift'] },
  paid: { BOOL: at % 2 === 0 },
})
for (let at = 0; at < 240; at++) await store.call('PutItem', { TableName: 'Orders', Item: order(at) })
for (const owner of ['ann', 'bob', 'cid'])
  await store.call('PutItem', { TableName: 'Vehicles', Item: { vin: { S: 'WDB-1' }, owner: { S: owner } } })
for (let at = 0; at < 8; at++)
  await store.call('PutItem', {
    TableName: 'Vehicles',
    Item: { vin: { S: `V${at}` }, owner: { S: people[at % 5] } },
  })
for (let at = 0; at < 20; at++)
  await store.call('PutItem', { TableName: 'Accounts', Item: { id: { S: `a${at}` }, balance: { N: '500' } } })
const transactor = store.transactor()
await Promise.all(
  Array.from({ length: 12 }, () =>
    transactor
      .transact(async (tx) => {
        const found = await tx.get('Accounts', { id: 'a5' })
        tx.put('Accounts', { id: 'a5', balance: (found?.balance ?? 0) + 1 })
      })
      .catch(() => undefined),
  ),
)
for (let at = 0; at < 3; at++)
  await store.call('TransactWriteItems', {
    TransactItems: Array.from({ length: 6 }, (_, each) => ({
      Put: { TableName: 'Accounts', Item: { id: { S: `a${each}` }, balance: { N: String(at) } } },
    })),
  })
const lockClient = locks(store.client(), { table: 'Locks' })
await lockClient.setup()
const lock = await lockClient.acquire('invoice-42', { label: 'billing worker 3' })
const waiting = lockClient.acquire('invoice-42', { label: 'billing worker 7', waitMs: 300_000 })
waiting.catch(() => undefined)

/**
 * A screen, and what is done there before its picture is taken.
 * @type {readonly (readonly [string, string, ((page: import('playwright-core').Page) => Promise<unknown>)?, { url: string }?])[]}
 */
const SCREENS = [
  ['tables', 'tables'],
  ['items', 'tables/Orders'],
  ['item', 'tables/Orders', (page) => page.locator('#row-2').click()],
  ['settings', 'tables/Orders/settings'],
  ['index', 'tables/Orders/settings', describeIndex],
  ['transfer', 'tables/Orders/transfer'],
  ['statements', 'statements', runStatement],
  ['transactions', 'transactions'],
  ['contention', 'transactions/contention', waitForEachOther],
  ['recovery', 'transactions/recovery'],
  ['locks', 'locks', waitForEachOther],
  ['streams', 'streams/Orders', followStream],
  ['playground', 'playground/write-skew', playScene],
  ['playground-fleet', 'playground/lost-update', playOnFleet, fleetServer],
  ['ledger', 'ledger/history/Vehicles/WDB-1', proveVersion],
  ['blocks', 'ledger/blocks'],
  ['metrics', 'metrics'],
  ['history', 'history'],
]
const VIEWPORTS = { wide: { width: 1180, height: 720 }, narrow: { width: 360, height: 720 } }

rmSync(FOLDER, { recursive: true, force: true })
mkdirSync(FOLDER, { recursive: true })
const profile = mkdtempSync(join(tmpdir(), 'seriatim-pictures-'))
const browser = await chromium.launchPersistentContext(profile, {
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  headless: true,
  args: FLAGS,
})
const page = await browser.newPage()
for (const colorScheme of ['light', 'dark'])
  for (const [width, viewport] of Object.entries(VIEWPORTS)) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize(viewport)
    for (const [name, route, act, at = server] of SCREENS) {
      await page.goto(`${at.url}/console/#/${route}`)
      await page.waitForTimeout(600)
      const end = await act?.(page)
      if (act) await page.waitForTimeout(600)
      const path = join(FOLDER, `${name}-${colorScheme}-${width}.jpg`)
      await page.screenshot({ path, type: 'jpeg', quality: 62 })
      if (typeof end === 'function') await end()
      if (name === 'item' || name === 'index') await page.keyboard.press('Escape')
    }
  }
await browser.close()
rmSync(profile, { recursive: true, force: true })
await lock.release().catch(() => undefined)
const next = await waiting.catch(() => undefined)
await next?.release()
await server.stop()
await store.close()
await fleetServer.stop()
await fleet.close()
rmSync(path, { recursive: true, force: true })

async function runStatement(tab) {
  await tab.locator('.editor-place:not([hidden])').waitFor()
  await tab.getByRole('textbox', { name: 'Statement' }).focus()
  await tab.keyboard.press('Control+a')
  await tab.keyboard.insertText(`SELECT * FROM "Orders"."by-status" WHERE status = 'paid'`)
  await tab.keyboard.press('Control+Enter')
}

async function followStream(tab) {
  await tab.getByLabel('From where').selectOption('TRIM_HORIZON')
}

async function playScene(tab) {
  await tab.getByLabel('Level of all clients').selectOption('snapshot')
  await tab.getByRole('button', { name: 'Play the order' }).click()
  await tab.locator('[data-verdict]').waitFor()
}

async function proveVersion(tab) {
  await tab.getByRole('button', { name: 'Prove version 2' }).click()
  await tab.locator('[data-proven]').waitFor()
  await tab.locator('[data-proven]').scrollIntoViewIfNeeded()
}

async function playOnFleet(tab) {
  await tab.getByText('it has no units of work of its own').waitFor()
  await tab.getByRole('button', { name: 'Play the order' }).click()
  await tab.locator('[data-verdict]').waitFor()
}

async function describeIndex(tab) {
  await tab.getByRole('button', { name: 'Add an index' }).click()
  const fill = (label, text) => tab.getByLabel(label, { exact: true }).fill(text)
  await fill('Index name', 'by-place')
  await fill('Index partition key', 'country')
  await tab.getByRole('button', { name: 'Add to the index partition key' }).click()
  await fill('Index partition key 2', 'city')
  await fill('Index sort key', 'status')
  await tab.getByRole('button', { name: 'Add to the index sort key' }).click()
  await fill('Index sort key 2', 'id')
}

/** A unit holds an item, and others want it. */
async function waitForEachOther(tab) {
  const unit = await transactor.begin()
  await unit.get('Accounts', { id: 'a7' }, { lock: true })
  await Promise.allSettled([
    transactor.transact((tx) => tx.get('Accounts', { id: 'a7' }, { lock: true }), { retry: { limit: 0 } }),
    store.call('PutItem', { TableName: 'Accounts', Item: { id: { S: 'a7' } } }),
  ])
  await tab.waitForTimeout(2000)
  return () => unit.rollback()
}
