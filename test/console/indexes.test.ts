// Indexes whose key has several attributes: made with a table and added to one, queried by all their parts, by keyboard.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wholeOnly } from '../support/sizes.js'
import { choose, fill, noBrowser, openConsole, press, type Tab } from './browser.js'

const options = { skip: noBrowser || wholeOnly }

/** Adds attributes to a part of the key: each is typed where the keyboard went by itself. */
async function addKeys({ page }: Tab, part: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await press(page.getByRole('dialog'), `Add to the index ${part}`)
    await page.keyboard.type(name)
  }
}

const schema = (index: { readonly KeySchema?: readonly object[] | undefined } | undefined): string =>
  (index?.KeySchema ?? []).map((part) => Object.values(part).join(' ')).join(', ')

test(
  'console: an index of four attributes and four to sort by is made with its table and queried from left to right',
  options,
  async (t) => {
    const run = await openConsole(t)
    const tab = await run.tab()
    const { page, wrongs, go, axe } = tab
    const { keyboard } = page
    await page.setViewportSize({ width: 360, height: 760 })
    await go('tables', 'Tables')
    await press(page, 'Create table')
    const dialog = page.getByRole('dialog')
    await fill(page, 'Table name', 'Matches')
    await fill(page, 'Partition key', 'id')
    await page.getByLabel('Its type', { exact: true }).first().focus()
    await keyboard.type('Number')
    await press(dialog, 'Add an index')
    await keyboard.type('by-place')
    await fill(page, 'Index partition key', 'country')
    await addKeys(tab, 'partition key', ['city', 'wrong', 'hall'])
    assert.equal(await dialog.getByRole('button', { name: 'Add to the index partition key' }).count(), 0)
    await press(dialog, 'Remove index partition key 3')
    assert.equal(
      await page.evaluate('document.activeElement.value'),
      'city',
      'the keyboard is beside what went',
    )
    await addKeys(tab, 'partition key', ['court'])
    await fill(page, 'Index sort key', 'year')
    await dialog.getByRole('group', { name: 'All of the index sort key' }).getByLabel('Its type').focus()
    await keyboard.type('Number')
    await addKeys(tab, 'sort key', ['round', 'player', 'id'])
    // An attribute has one type: that which the key of the table gave it.
    const last = dialog
      .getByRole('group', { name: 'All of the index sort key' })
      .getByLabel('Its type')
      .last()
    assert.equal(await last.inputValue(), 'N')
    assert.equal(await last.isDisabled(), true)
    assert.deepEqual(await axe(), [], 'a new index')
    assert.equal(
      await page.evaluate("(d => d.scrollWidth - d.clientWidth)(document.querySelector('dialog'))"),
      0,
    )
    await press(dialog, 'Create table')
    await page.locator('h1', { hasText: 'Matches' }).waitFor()
    const table = async () => (await run.store.call('DescribeTable', { TableName: 'Matches' })).Table
    const made = await table()
    assert.equal(
      schema(made?.GlobalSecondaryIndexes?.[0]),
      'country HASH, city HASH, hall HASH, court HASH, year RANGE, round RANGE, player RANGE, id RANGE',
    )
    const types = made?.AttributeDefinitions?.map((each) => `${each.AttributeName} ${each.AttributeType}`)
    assert.deepEqual(types?.toSorted(), [
      'city S',
      'country S',
      'court S',
      'hall S',
      'id N',
      'player S',
      'round S',
      'year N',
    ])

    const rounds = [
      ['1900', 'final', 'Anna'],
      ['1900', 'final', 'Bea'],
      ['1900', 'semi', 'Anna'],
      ['1901', 'final', 'Anna'],
    ] as const
    for (const [at, [year, round, player]] of rounds.entries())
      for (const city of ['Rome', 'Oslo'])
        await run.store.call('PutItem', {
          TableName: 'Matches',
          Item: {
            id: { N: String(at + (city === 'Rome' ? 0 : 100)) },
            country: { S: 'X' },
            city: { S: city },
            hall: { S: 'big' },
            court: { S: '1' },
            year: { N: year },
            round: { S: round },
            player: { S: player },
          },
        })
    await choose(page, 'Scan or query', 'Q')
    await choose(page, 'Table or index', 'index')
    await fill(page, 'Value of country', 'X')
    await fill(page, 'Value of city', 'Rome')
    await fill(page, 'Value of hall', 'big')
    // One that is missing is asked for, and nothing is sent.
    await keyboard.press('Enter')
    await page.locator('[aria-label="Value of court"]:focus:invalid').waitFor()
    await keyboard.type('1')
    await keyboard.press('Enter')
    await page.getByText('4 items').last().waitFor()
    await press(page, 'and year …')
    await fill(page, 'Value of year', '1900')
    await press(page, 'and round …')
    await fill(page, 'Value of round', 'final')
    await press(page, 'and player …')
    // The keyboard is at the operator of the new condition.
    await keyboard.type('greater')
    await fill(page, 'Value of player', 'Anna')
    await keyboard.press('Enter')
    await page.getByText('1 item', { exact: true }).last().waitFor()
    assert.match(await page.locator('#row-0').innerText(), /Bea/)
    await press(page, 'Remove the condition on player')
    assert.match(String(await page.evaluate('document.activeElement.innerText')), /^and player/)
    assert.deepEqual(await axe(), [], 'a query')
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    assert.deepEqual(wrongs, [])
  },
)

test(
  'console: an index of several attributes is added to a table, and what was refused stays to be mended',
  options,
  async (t) => {
    const run = await openConsole(t, { refusals: 'expected' })
    await run.store.call('CreateTable', {
      TableName: 'Things',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    })
    const tab = await run.tab()
    const { page, wrongs, go, axe } = tab
    await go('tables/Things/settings', 'Things')
    await press(page, 'Add an index')
    const dialog = page.getByRole('dialog')
    await fill(page, 'Index name', 'no name!')
    await fill(page, 'Index partition key', 'country')
    await addKeys(tab, 'partition key', ['city'])
    await fill(page, 'Index sort key', 'year')
    await addKeys(tab, 'sort key', ['id'])
    await press(dialog, 'Create index')
    await dialog.getByRole('alert').waitFor()
    assert.deepEqual(await axe(), [], 'a refused index')
    await fill(page, 'Index name', 'by-place')
    await page.keyboard.press('Enter')
    await page.getByText('Index is being created').waitFor()
    await page
      .getByRole('listitem')
      .filter({ hasText: 'country, city' })
      .filter({ hasText: 'sorted by year, id' })
      .waitFor()
    const { Table } = await run.store.call('DescribeTable', { TableName: 'Things' })
    assert.equal(schema(Table?.GlobalSecondaryIndexes?.[0]), 'country HASH, city HASH, year RANGE, id RANGE')
    assert.deepEqual(
      Table?.AttributeDefinitions?.find(({ AttributeName }) => AttributeName === 'id')?.AttributeType,
      'N',
    )
    assert.deepEqual(wrongs, [])
  },
)
