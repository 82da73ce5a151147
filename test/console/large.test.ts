// Large things in a real browser: a table that is scrolled without growing memory, and items that fill what an item may have.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sized, wholeOnly } from '../support/sizes.js'
import { noBrowser, openConsole, simpleTable, until } from './browser.js'

const options = { skip: noBrowser || wholeOnly }
const ITEMS = Number(process.env['SERIATIM_CONSOLE_ITEMS'] ?? sized(2000, 20_000))
const BATCH = 25
/** What the browser may keep beyond what it had after the first pages. */
const GROWTH_BYTES_MAX = 12_000_000

test(
  'console: a table is scrolled to its end, and the page keeps no more than at first',
  options,
  async (t) => {
    const run = await openConsole(t, { nodes: 1 })
    await run.store.call('CreateTable', simpleTable('Many'))
    for (let at = 0; at < ITEMS; at += BATCH)
      await run.store.call('BatchWriteItem', {
        RequestItems: {
          Many: Array.from({ length: BATCH }, (_, each) => ({
            PutRequest: { Item: { id: { S: `item-${at + each}` }, n: { N: String(at + each) } } },
          })),
        },
      })
    const { page, wrongs, go } = await run.tab()
    await go('tables/Many', 'Many')
    const grid = page.getByRole('grid')
    await page.locator('#row-0').waitFor()
    await grid.focus()
    const counted = async (): Promise<number> => Number((await grid.getAttribute('aria-rowcount')) ?? 0) - 1
    const heap = async (): Promise<number> => {
      await page.evaluate('gc()')
      return Number(await page.evaluate('performance.memory.usedJSHeapSize'))
    }
    const scrollTo = async (rows: number): Promise<void> => {
      for (let last = -1, now = await counted(); now < rows && now !== last;) {
        last = now
        await page.keyboard.press('End')
        await until(
          page,
          `Number(document.querySelector('[role=grid]').getAttribute('aria-rowcount')) - 1 > ${now} || !document.querySelector('[data-status]').textContent.includes('+')`,
        )
        now = await counted()
      }
    }
    await scrollTo(Math.min(4000, ITEMS))
    const before = await heap()
    await scrollTo(ITEMS)
    assert.equal(await counted(), ITEMS)
    const after = await heap()
    assert.ok(after - before < GROWTH_BYTES_MAX, `${before} bytes, then ${after}`)
    assert.ok(Number(await page.evaluate("document.querySelectorAll('.item-row').length")) < 100)
    // Back to the first, which was let go, and is read again.
    await page.keyboard.press('Home')
    await page.locator('#row-0', { hasText: 'item-' }).waitFor()
    assert.deepEqual(wrongs, [])
  },
)

test('console: an item of 400 KB and one of 10,000 attributes are edited', options, async (t) => {
  const run = await openConsole(t, { nodes: 1 })
  await run.store.call('CreateTable', simpleTable('Large'))
  const attributes = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, at) => [`a${at}`, { N: String(at) }]),
  )
  await run.store.call('PutItem', { TableName: 'Large', Item: { id: { S: 'many' }, ...attributes } })
  await run.store.call('PutItem', {
    TableName: 'Large',
    Item: { id: { S: 'long' }, text: { S: 'x'.repeat(409_000) } },
  })
  const { page, wrongs, go } = await run.tab()
  await go('tables/Large', 'Large')
  const openItem = async (id: string): Promise<void> => {
    await page.getByRole('row').filter({ hasText: id }).first().click()
    await page.getByRole('button', { name: 'Add attribute' }).waitFor()
  }
  await openItem('many')
  await page.getByLabel('Find an attribute').fill('a9999')
  await page.getByLabel('Value of a9999', { exact: true }).fill('-1')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Item saved').waitFor()
  const many = await run.store.call('GetItem', { TableName: 'Large', Key: { id: { S: 'many' } } })
  assert.deepEqual(many.Item?.['a9999'], { N: '-1' })
  assert.equal(Object.keys(many.Item ?? {}).length, 10_001)

  await openItem('long')
  await page.getByRole('button', { name: 'DynamoDB JSON' }).click()
  await page.getByRole('textbox', { name: 'Item as DynamoDB JSON' }).waitFor()
  await page.getByRole('button', { name: 'Form', exact: true }).click()
  await page.getByLabel('Value of text', { exact: true }).focus()
  await page.keyboard.press('Control+End')
  await page.keyboard.insertText('the end')
  await page.keyboard.press('Control+Enter')
  // The page may still say that the other item was saved: what is stored tells.
  let length: number | undefined
  do {
    const { Item } = await run.store.call('GetItem', { TableName: 'Large', Key: { id: { S: 'long' } } })
    length = (Item?.['text'] as { S: string } | undefined)?.S.length
    await page.waitForTimeout(10)
  } while (length === 409_000)
  assert.equal(length, 409_007)
  assert.deepEqual(wrongs, [])
})
