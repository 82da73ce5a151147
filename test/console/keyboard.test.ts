// A person without a mouse: what is pressed keeps the keyboard, and locks are broken after a question.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { locks } from '../../src/toolkit/index.js'
import { wholeOnly } from '../support/sizes.js'
import { fill, noBrowser, openConsole, press, simpleTable, until } from './browser.js'

const options = { skip: noBrowser || wholeOnly }

test(
  'console: a button that is busy keeps the keyboard: steps are played, statements run and forms sent again by Enter alone',
  options,
  async (t) => {
    const run = await openConsole(t, { refusals: 'expected' })
    await run.store.call('CreateTable', simpleTable('Things'))
    const { page, wrongs, go } = await run.tab()
    const { keyboard } = page
    const focused = async (): Promise<string> =>
      String(await page.evaluate('document.activeElement.innerText'))
    await go('playground/lost-update', 'Playground')
    const column = page.getByRole('region', { name: 'First' })
    await column.getByRole('button', { name: /^Next/ }).focus()
    for (const next of [/^Next: write/, /^Next: commit/, /^Over/]) {
      await keyboard.press('Enter')
      await column.getByRole('button', { name: next }).and(page.locator(':focus')).waitFor()
      await until(
        page,
        "document.activeElement.getAttribute('aria-disabled') === String(document.activeElement.innerText === 'Over')",
      )
    }
    // Over is over.
    await keyboard.press('Enter')
    assert.equal(await column.getByRole('listitem').count(), 3)

    await go('statements', 'Statements')
    await page.locator('.editor-place:not([hidden])').waitFor()
    await fill(page, 'Statement', 'SELECT * FROM Things')
    await press(page, 'Run')
    await page.getByText('0 rows in').waitFor()
    assert.equal(await focused(), 'Run')

    await go('tables', 'Tables')
    await press(page, 'Create table')
    await keyboard.type('no name!')
    await press(page.getByRole('dialog'), 'Create table')
    await page.getByRole('dialog').getByRole('alert').waitFor()
    assert.equal(await focused(), 'Create table')
    assert.deepEqual(wrongs, [])
  },
)

test(
  'console: the queue of a lock client is shown, and its lock is broken after a question: the next one enters',
  options,
  async (t) => {
    const run = await openConsole(t)
    const client = locks(run.store.client(), { table: 'Locks' })
    await client.setup()
    const held = await client.acquire('invoice', { label: 'worker 1' })
    const next = client.acquire('invoice', { label: 'worker 2', waitMs: 600_000 })
    const { page, wrongs, go, axe } = await run.tab()
    await go('locks', 'Locks')
    const queue = page.getByRole('listitem').filter({ hasText: 'highest fence granted' })
    for (const [state, label] of [
      ['holds', 'worker 1'],
      ['waits', 'worker 2'],
    ] as const)
      await queue.getByRole('listitem').filter({ hasText: state }).filter({ hasText: label }).waitFor()
    assert.deepEqual(await axe(), [], 'a queue')
    await press(page, 'Break invoice')
    const question = page.getByRole('dialog', { name: 'Break the lock invoice?' })
    await question.waitFor()
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    assert.equal(held.signal.aborted, false)
    await press(page, 'Break invoice')
    await press(question, 'Break lock')
    await page.getByText('Broken: 1 holder').waitFor()
    const entered = await next
    assert.ok(entered.fence > held.fence)
    await queue.getByRole('listitem').filter({ hasText: 'holds' }).filter({ hasText: 'worker 2' }).waitFor()
    await entered.release()
    await held.release().catch(() => undefined)
    assert.deepEqual(wrongs, [])
  },
)
