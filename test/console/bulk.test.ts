// Many items at once, in a real browser: what a range selects, and what an edit and a deletion do and say.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sized } from '../support/sizes.js'
import { noBrowser, openConsole, simpleTable, until } from './browser.js'

/** That a page keeps in memory. */
const ROWS_KEPT = 2000
const ITEMS = sized(300, 2300)
const BATCH = 25
const count = (items: number): string => items.toLocaleString('en')

test(
  'console: a long range selects all its rows, and an edit of them asks first and says what failed',
  { skip: noBrowser },
  async (t) => {
    const run = await openConsole(t, { nodes: 1, refusals: 'expected' })
    const { store } = run
    await store.call('CreateTable', simpleTable('Many'))
    for (let at = 0; at < ITEMS; at += BATCH)
      await store.call('BatchWriteItem', {
        RequestItems: {
          Many: Array.from({ length: BATCH }, (_, each) => ({
            PutRequest: { Item: { id: { S: `item-${at + each}` } } },
          })),
        },
      })
    const { Items = [] } = await store.call('Scan', { TableName: 'Many' })
    const keys = Items.map(({ id }) => ({ id: id as { S: string } }))
    const { page, wrongs, go, axe } = await run.tab()
    const { keyboard } = page
    const status = page.locator('[data-status]')
    await go('tables/Many', 'Many')
    await page.locator('#row-0', { hasText: 'item-' }).waitFor()
    await page.getByRole('grid').focus()
    await keyboard.press('ArrowDown')
    await keyboard.press('Space')
    await page.getByText(', 1 selected').waitFor()
    for (let text = ''; (text = await status.innerText()).includes('+');) {
      await keyboard.press('End')
      await until(page, `document.querySelector('[data-status]').innerText !== ${JSON.stringify(text)}`)
    }
    await keyboard.press('End')
    await page.locator(`#row-${ITEMS - 1}.active`, { hasText: 'item-' }).waitFor()

    const moved = { TableName: 'Many', Key: keys[50]! }
    if (ITEMS > ROWS_KEPT) {
      // A row is gone meanwhile: the range is not what was seen, and nothing more is selected.
      await store.call('DeleteItem', moved)
      await keyboard.press('Shift+Space')
      await page.getByText('The table was changed since these rows were read').waitFor()
      assert.match(await status.innerText(), /, 1 selected$/)
      await store.call('PutItem', { TableName: 'Many', Item: moved.Key })
    }
    await keyboard.press('Shift+Space')
    await page.getByText(`${count(ITEMS - 1)} selected`).waitFor()

    await store.call('DeleteItem', moved)
    await page.getByRole('button', { name: 'Edit selected' }).focus()
    await keyboard.press('Enter')
    await page.getByLabel('Attribute', { exact: true }).fill('state')
    await page.getByLabel('Value', { exact: true }).fill('done')
    await keyboard.press('Enter')
    const question = page.getByRole('dialog', { name: `Change ${count(ITEMS - 1)} items?` })
    await question.waitFor()
    const changed = async (): Promise<number | undefined> => {
      const answer = await store.call('Scan', {
        TableName: 'Many',
        FilterExpression: '#s = :s',
        ExpressionAttributeNames: { '#s': 'state' },
        ExpressionAttributeValues: { ':s': { S: 'done' } },
      })
      return answer.Count
    }
    assert.equal(await changed(), 0, 'nothing is changed before the answer')
    await question.getByRole('button', { name: 'Change' }).focus()
    await keyboard.press('Enter')
    await page.getByText(`${count(ITEMS - 2)} items changed, 1 failed, 0 not tried.`).waitFor()
    const failures = page.getByRole('list', { name: 'Items that failed' })
    assert.equal(await failures.innerText(), `${JSON.stringify(moved.Key)} it does not exist any more`)
    assert.deepEqual(await axe(), [], 'what failed')
    assert.equal(await changed(), ITEMS - 2)
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()

    // The same for a deletion: rows 0 to 2, and no others.
    await until(page, "/\\+ items$/.test(document.querySelector('[data-status]').innerText)")
    await page.getByRole('grid').focus()
    await keyboard.press('Home')
    await page.locator('#row-0.active', { hasText: 'item-' }).waitFor()
    await keyboard.press('Space')
    await keyboard.press('ArrowDown')
    await keyboard.press('ArrowDown')
    await keyboard.press('Shift+Space')
    await page.getByText('3 selected').waitFor()
    await keyboard.press('Delete')
    await page
      .getByRole('dialog', { name: 'Delete 3 items?' })
      .getByRole('button', { name: 'Delete' })
      .focus()
    await keyboard.press('Enter')
    await page.getByText('3 items deleted').waitFor()
    const left = await store.call('Scan', { TableName: 'Many' })
    assert.deepEqual(
      left.Items?.map(({ id }) => id),
      keys.filter((_, at) => at > 2 && at !== 50).map(({ id }) => id),
    )
    assert.deepEqual(wrongs, [])
  },
)
