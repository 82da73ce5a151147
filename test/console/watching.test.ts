// Transactions, contention, metrics, the history of a tab and streams, as they are shown in a real browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { open } from '../../src/store/store.js'
import { wholeOnly } from '../support/sizes.js'
import { copied, noBrowser, openConsole, press, simpleTable, until } from './browser.js'

const options = { skip: noBrowser || wholeOnly }

test(
  'console: transactions are shown with their phases, and cancelled ones with what was in their way',
  options,
  async (t) => {
    const run = await openConsole(t)
    const { store } = run
    await store.call('CreateTable', simpleTable('Things'))
    const put = (id: string, more: object = {}) => ({
      Put: { TableName: 'Things', Item: { id: { S: id } }, ...more },
    })
    await store.call('TransactWriteItems', { TransactItems: ['a', 'b', 'c', 'd', 'e'].map((id) => put(id)) })
    const condition = { ConditionExpression: 'attribute_not_exists(id)' }
    await assert.rejects(store.call('TransactWriteItems', { TransactItems: [put('f'), put('a', condition)] }))
    const { page, wrongs, go, axe } = await run.tab()
    await go('transactions', 'Transactions')
    await page.getByText('0 in flight, 2 recent ones').waitFor()
    await page
      .getByRole('img', { name: /prepared after .*committed after .*decided after/ })
      .first()
      .waitFor()
    await page.getByText('ConditionalCheckFailed').first().waitFor()
    await page.getByLabel('cancelled only').focus()
    await page.keyboard.press('Space')
    await until(page, "document.querySelectorAll('main .card').length === 1")
    const card = page.locator('main .card')
    await card.getByRole('button').first().focus()
    await page.keyboard.press('Enter')
    assert.match(
      await page.getByLabel('The transaction as the server tells it').innerText(),
      /"Outcome": "CANCELLED"/,
    )
    assert.deepEqual(await axe(), [], 'a transaction')

    // A write waits for the lock of a unit.
    let end = (): void => undefined
    const held = new Promise<void>((resolve) => (end = resolve))
    let begun = (): void => undefined
    const isHeld = new Promise<void>((resolve) => (begun = resolve))
    const unit = store.transactor().transact(async (tx) => {
      await tx.get('Things', { id: 'a' }, { lock: true })
      begun()
      await held
    })
    await isHeld
    const waiting = store
      .call('PutItem', { TableName: 'Things', Item: { id: { S: 'a' } } })
      .catch(() => undefined)
    await go('transactions/contention', 'Transactions')
    // A single write waits for so short a time that it may have given up.
    await page
      .getByText(/wait(s|ed) for/)
      .first()
      .waitFor()
    await page.getByRole('rowheader', { name: 'Things(a)' }).waitFor()
    // Another unit waits for it, too, and both are named.
    const refused = store
      .transactor()
      .transact((tx) => tx.get('Things', { id: 'a' }, { lock: true }), { retry: { limit: 0 } })
      .catch(() => undefined)
    const named = page
      .getByRole('listitem')
      .filter({ hasText: /[0-9a-f]{8}….{4} wait(s|ed) for [0-9a-f]{8}…/ })
    await named.first().waitFor()
    end()
    await unit
    await Promise.all([waiting, refused])
    await page
      .getByText(/^(went on|gave up)$/)
      .first()
      .waitFor()
    assert.deepEqual(await axe(), [], 'contention')
    await go('transactions/recovery', 'Transactions')
    await page.getByText('Nothing since the start').waitFor()
    assert.deepEqual(wrongs, [])
  },
)

test(
  'console: g and a letter lead to a screen, and what was asked is found and copied there',
  options,
  async (t) => {
    // A store without a ledger has no digest.
    const run = await openConsole(t, { refusals: 'expected' })
    await run.store.call('CreateTable', simpleTable('Things'))
    const { page, wrongs, go } = await run.tab()
    const { keyboard } = page
    await go('tables/Things', 'Things')
    await page.getByText('The table is empty.').waitFor()
    await page.locator('main').focus()
    for (const [letter, heading] of [
      ['t', 'Tables'],
      ['s', 'Statements'],
      ['x', 'Transactions'],
      ['l', 'Locks'],
      ['r', 'Streams'],
      ['p', 'Playground'],
      ['b', 'Ledger'],
      ['m', 'Metrics'],
      ['h', 'History'],
    ] as const) {
      await page.evaluate('document.activeElement?.blur()')
      await keyboard.press('g')
      await keyboard.press(letter)
      await page.locator('h1', { hasText: heading }).waitFor()
    }
    await press(page, 'Scan')
    const asked = JSON.parse(await page.getByLabel('Request', { exact: true }).innerText()) as object
    assert.equal((asked as { readonly TableName: string }).TableName, 'Things')
    await press(page, 'Copy as CLI')
    await copied(page, /^aws dynamodb scan --endpoint-url/)
    await page.evaluate('document.activeElement?.blur()')
    await keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await go('metrics', 'Metrics')
    await page.locator('canvas').first().waitFor()
    assert.equal(await page.locator('canvas').count(), 7)
    assert.deepEqual(wrongs, [])
  },
)

test('console: a stream is followed from now on, whichever shards were closed before', options, async (t) => {
  const clock = manualClock(Date.parse('2026-11-17T12:00:00Z'))
  const store = await open({ memory: true, clock, shardMinutes: 1 })
  // An iterator that has expired is refused.
  const run = await openConsole(t, { store, refusals: 'expected' })
  await store.call('CreateTable', {
    ...simpleTable('Things'),
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  })
  const put = (id: string) => store.call('PutItem', { TableName: 'Things', Item: { id: { S: id } } })
  // More shards than DescribeStream has on a page.
  for (let minute = 0; minute < 120; minute++) {
    await put(`before ${minute}`)
    clock.advance(61_000)
  }
  const { page, wrongs, go } = await run.tab()
  const looked = () =>
    page.waitForResponse((response) =>
      (response.request().headers()['x-amz-target'] ?? '').endsWith('GetRecords'),
    )
  const first = looked()
  await go('streams/Things', 'Streams')
  await first
  await looked()
  await put('after')
  await page.getByText('1 changes, the newest first').waitFor()
  await page.getByText('{"id":{"S":"after"}}').waitFor()
  // Nothing is lost while it pauses, though places in a stream expire meanwhile.
  await press(page, 'Pause')
  await put('in a pause')
  clock.advance(30 * 60_000)
  await put('at its end')
  await press(page, 'Follow')
  for (const id of ['in a pause', 'at its end']) await page.getByText(`{"id":{"S":"${id}"}}`).waitFor()
  await page.getByText('3 changes, the newest first').waitFor()
  await page.getByLabel('From where').selectOption('TRIM_HORIZON')
  await page.getByText('{"id":{"S":"before 119"}}').waitFor()
  assert.deepEqual(wrongs, [])
})

test(
  'console: a stream without one of the images says so, and calls nothing added or removed',
  options,
  async (t) => {
    const run = await openConsole(t)
    const { store } = run
    await store.call('CreateTable', {
      ...simpleTable('Things'),
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
    })
    for (const n of ['1', '2'])
      await store.call('PutItem', { TableName: 'Things', Item: { id: { S: 'a' }, n: { N: n } } })
    const { page, wrongs, go, axe } = await run.tab()
    await go('streams/Things', 'Streams')
    await page.getByLabel('From where').selectOption('TRIM_HORIZON')
    const changed = page.getByRole('listitem').filter({ hasText: 'modify' })
    await changed.getByRole('button').focus()
    await page.keyboard.press('Enter')
    const rows = await changed.getByRole('group', { name: 'What changed' }).innerText()
    assert.match(rows, /n\s+\(not in the stream\)\s+2/)
    assert.doesNotMatch(rows, /added|removed|same/)
    assert.deepEqual(await axe(), [], 'a change')
    assert.deepEqual(wrongs, [])
  },
)
