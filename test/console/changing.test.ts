// Tables that are made, changed, filled from files and deleted, by keyboard, in a real browser.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { MemoryEngine } from '../../src/engine/memory-engine.js'
import { open } from '../../src/store/store.js'
import { wholeOnly } from '../support/sizes.js'
import { choose, fill, noBrowser, openConsole, press, simpleTable } from './browser.js'

const options = { skip: noBrowser || wholeOnly }

test(
  'console: a table is made with a sort key, an index, a stream, expiry and protection, changed, and deleted',
  options,
  async (t) => {
    // What is read of a table while it is being deleted is refused.
    const run = await openConsole(t, { refusals: 'expected' })
    const { page, wrongs, go, axe } = await run.tab()
    const table = async () => (await run.store.call('DescribeTable', { TableName: 'Orders' })).Table
    await go('tables', 'Tables')
    await press(page, 'Create table')
    const dialog = page.getByRole('dialog')
    await fill(page, 'Table name', 'Orders')
    await fill(page, 'Partition key', 'customer')
    await fill(page, 'Sort key', 'at')
    await press(dialog, 'Add an index')
    await fill(page, 'Index name', 'by-status')
    await fill(page, 'Index partition key', 'status')
    await choose(page, 'Projection', 'Keys only')
    await choose(page, 'Stream', 'New and')
    await fill(page, 'Time to live attribute', 'expires')
    await page.getByLabel('Protect the table from deletion').focus()
    await page.keyboard.press('Space')
    assert.deepEqual(await axe(), [], 'a new table')
    await press(dialog, 'Create table')
    await page.locator('h1', { hasText: 'Orders' }).waitFor()
    const made = await table()
    assert.deepEqual(
      made?.KeySchema?.map(({ AttributeName }) => AttributeName),
      ['customer', 'at'],
    )
    assert.equal(made?.GlobalSecondaryIndexes?.[0]?.Projection?.ProjectionType, 'KEYS_ONLY')
    assert.deepEqual(
      [made?.StreamSpecification?.StreamViewType, made?.DeletionProtectionEnabled],
      ['NEW_AND_OLD_IMAGES', true],
    )

    await page.getByRole('link', { name: 'Settings' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Items expire by expires').waitFor()
    await press(page, 'Turn expiry off')
    await page.getByText('Items no longer expire').waitFor()
    await fill(page, 'Tag', 'team')
    await fill(page, 'Its value', 'blue = 1')
    await page.keyboard.press('Enter')
    await page.getByText('team = blue = 1').waitFor()
    await press(page, 'Add an index')
    await fill(page, 'Index name', 'by-total')
    await fill(page, 'Index partition key', 'total')
    await press(page.getByRole('dialog'), 'Create index')
    await page.getByText('by-total', { exact: true }).waitFor()
    await press(page, 'Delete by-status')
    await press(page.getByRole('dialog'), 'Delete index')
    await page.getByText('Index deleted').waitFor()
    await page.getByText('by-status', { exact: true }).waitFor({ state: 'detached' })
    await choose(page, 'Stream', 'No')
    await page.getByText('Stream changed').waitFor()
    await page.getByLabel('Protected from deletion').focus()
    await page.keyboard.press('Space')
    await page.getByText('No longer protected').waitFor()
    const changed = await table()
    assert.deepEqual(
      changed?.GlobalSecondaryIndexes?.map(({ IndexName }) => IndexName),
      ['by-total'],
    )
    assert.notEqual(changed?.StreamSpecification?.StreamEnabled, true)

    await press(page, 'Delete table')
    const question = page.getByRole('dialog', { name: 'Delete the table Orders?' })
    await fill(page, 'Type Orders to confirm', 'Order')
    assert.equal(await question.getByRole('button', { name: 'Delete table' }).isDisabled(), true)
    await fill(page, 'Type Orders to confirm', 'Orders')
    await page.keyboard.press('Enter')
    await page.getByText('Table Orders deleted').waitFor()
    assert.deepEqual((await run.store.call('ListTables', {})).TableNames, [])
    assert.deepEqual(wrongs, [])
  },
)

test(
  'console: what is exported as lines, JSON or CSV is imported as the same items, after a question',
  options,
  async (t) => {
    const run = await openConsole(t)
    const { store } = run
    const items = [
      { id: { S: 'a' }, n: { N: '12345678901234567890123456789012345678' }, s: { S: '=1+1' } },
      { id: { S: 'b,"c"\nd' }, list: { L: [{ S: 'x' }, { NULL: true }] }, s: { S: '' } },
      { id: { S: '<b>' }, map: { M: { 'a.b': { BOOL: false } } } },
    ]
    await store.call('CreateTable', simpleTable('From'))
    for (const Item of items) await store.call('PutItem', { TableName: 'From', Item })
    const itemsOf = async (TableName: string) => (await store.call('Scan', { TableName })).Items
    const { page, wrongs, go } = await run.tab()
    for (const [form, extension] of [
      ['Dyna', 'jsonl'],
      ['JSON', 'json'],
      ['CSV', 'csv'],
    ] as const) {
      await go('tables/From/transfer', 'From')
      await choose(page, 'Format', form)
      const download = page.waitForEvent('download')
      await press(page, 'Export items')
      await page.getByText('3 items exported').waitFor()
      const file = await download
      assert.equal(file.suggestedFilename(), `From.${extension}`)
      const text = await readFile(await file.path())

      const to = `To-${extension}`
      await store.call('CreateTable', simpleTable(to))
      await go(`tables/${to}/transfer`, to)
      const buffer = { name: `x.${extension}`, mimeType: 'text/plain', buffer: text }
      await page.getByLabel('File').setInputFiles(buffer)
      const question = page.getByRole('dialog', { name: `Import 3 items into ${to}?` })
      await question.waitFor()
      assert.deepEqual(await itemsOf(to), [], 'nothing is written before the answer')
      await press(question, 'Import')
      await page.getByText('3 items imported').waitFor()
      assert.deepEqual(await itemsOf(to), await itemsOf('From'), form)
    }
    assert.deepEqual(wrongs, [])
  },
)

test(
  'console: on a server of a fleet items are made, edited and deleted, and the second tab is told',
  options,
  async (t) => {
    const store = await open({
      engine: new MemoryEngine(),
      fleet: { leaseMs: 50, lateMs: 20, refreshMs: 20 },
    })
    // What such a server does not have it answers with status 400.
    const run = await openConsole(t, { store, refusals: 'expected' })
    const { TableName } = simpleTable('Things')
    await store.call('CreateTable', simpleTable(TableName))
    const stored = async () =>
      (await store.call('GetItem', { TableName, Key: { id: { S: 'a' } }, ConsistentRead: true })).Item
    const [first, second] = [await run.tab(), await run.tab()]
    await first.go('tables/Things', 'Things')
    await press(first.page, 'New item')
    await fill(first.page, 'Value of id', 'a')
    await first.page.keyboard.press('Control+Enter')
    await first.page.getByText('Item saved').waitFor()
    await store.call('PutItem', { TableName, Item: { id: { S: 'a' }, n: { N: '1' } } })
    for (const { page, go } of [first, second]) {
      await go('tables', 'Tables')
      await go('tables/Things', 'Things')
      await page.locator('#row-0', { hasText: 'a' }).waitFor()
      await page.getByRole('grid').focus()
      await page.keyboard.press('Enter')
      await page.getByLabel('Value of n', { exact: true }).waitFor()
    }
    await fill(first.page, 'Value of n', '2')
    await first.page.keyboard.press('Control+Enter')
    // It may still say that the item before was saved.
    await first.page.getByRole('dialog').waitFor({ state: 'detached' })
    await fill(second.page, 'Value of n', '3')
    await second.page.keyboard.press('Control+Enter')
    await second.page.getByText('Changed elsewhere.').waitFor()
    assert.deepEqual((await stored())?.['n'], { N: '2' })
    await press(second.page, 'Keep mine, and save over it')
    await second.page.getByText('Item saved').waitFor()
    assert.deepEqual((await stored())?.['n'], { N: '3' })
    assert.deepEqual([...first.wrongs, ...second.wrongs], [])
  },
)
