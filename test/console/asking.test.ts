// Questions to a table and what is copied of them, by keyboard, in a real browser.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { wholeOnly } from '../support/sizes.js'
import { choose, copied, fill, noBrowser, openConsole, press, simpleTable } from './browser.js'

const options = { skip: noBrowser || wholeOnly }

/** What a shell of POSIX makes of a command, without running it. */
function argumentsOf(command: string): readonly string[] {
  const script = `aws() { printf '%s\\0' "$@"; }\n${command}`
  const { stdout, status } = spawnSync('sh', ['-c', script], { encoding: 'utf8' })
  assert.equal(status, 0)
  return stdout.split('\0').slice(0, -1)
}

const optionOf = (args: readonly string[], name: string): string => args[args.indexOf(name) + 1] as string

test(
  'console: an index whose key has several attributes is queried, and the question is copied as code',
  options,
  async (t) => {
    const run = await openConsole(t)
    const { store } = run
    const attribute = (AttributeName: string, AttributeType: 'S' | 'N' = 'S') => ({
      AttributeName,
      AttributeType,
    })
    await store.call('CreateTable', {
      ...simpleTable('Places'),
      AttributeDefinitions: [
        attribute('id'),
        attribute('country'),
        attribute('city'),
        attribute('year', 'N'),
        attribute('name'),
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by-place',
          KeySchema: [
            { AttributeName: 'country', KeyType: 'HASH' },
            { AttributeName: 'city', KeyType: 'HASH' },
            { AttributeName: 'year', KeyType: 'RANGE' },
            { AttributeName: 'name', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
    })
    for (const [at, [city, year, name]] of (
      [
        ['Rome', '1900', 'Anna'],
        ['Rome', '1900', 'Antonio'],
        ['Rome', '1900', 'Bruno'],
        ['Rome', '1901', 'Anna'],
        ['Oslo', '1900', 'Anna'],
      ] as const
    ).entries())
      await store.call('PutItem', {
        TableName: 'Places',
        Item: {
          id: { S: String(at) },
          country: { S: city === 'Rome' ? 'IT' : 'NO' },
          city: { S: city },
          year: { N: year },
          name: { S: name },
        },
      })
    const { page, wrongs, go, axe } = await run.tab()
    await go('tables/Places', 'Places')
    await page.getByText('5 items').last().waitFor()
    await choose(page, 'Scan or query', 'Q')
    await choose(page, 'Table or index', 'index')
    await fill(page, 'Value of country', 'IT')
    await fill(page, 'Value of city', 'Rome')
    await page.keyboard.press('Enter')
    await page.getByText('4 items').waitFor()
    await press(page, 'and year …')
    await fill(page, 'Value of year', '1900')
    await press(page, 'and name …')
    await choose(page, 'Operator on name', 'begins')
    await fill(page, 'Value of name', 'An')
    await page.getByLabel('descending').focus()
    await page.keyboard.press('Space')
    await page.getByRole('button', { name: 'Run', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('2 items').waitFor()
    assert.match(await page.locator('#row-0').innerText(), /Antonio/)
    assert.deepEqual(await axe(), [], 'a query')

    const expected = ['Antonio', 'Anna']
    const found = async (input: object): Promise<readonly (string | undefined)[]> =>
      ((await store.call('Query', input as never)).Items ?? []).map(
        ({ name }) => (name as { S: string } | undefined)?.S,
      )
    // The same choice twice: each copies.
    for (let time = 0; time < 2; time++) {
      await page.evaluate("navigator.clipboard.writeText('')")
      await choose(page, 'Copy request as', 'JSON')
      const request = JSON.parse(await copied(page, /^{\n/)) as object
      assert.deepEqual(await found(request), expected, `time ${time}`)
    }
    await choose(page, 'Copy request as', 'AWS')
    const args = argumentsOf(await copied(page, /^aws/))
    assert.deepEqual(args.slice(0, 2), ['dynamodb', 'query'])
    assert.ok(args.includes('--no-scan-index-forward'))
    assert.deepEqual(
      await found({
        TableName: optionOf(args, '--table-name'),
        IndexName: optionOf(args, '--index-name'),
        KeyConditionExpression: optionOf(args, '--key-condition-expression'),
        ExpressionAttributeNames: JSON.parse(optionOf(args, '--expression-attribute-names')) as object,
        ExpressionAttributeValues: JSON.parse(optionOf(args, '--expression-attribute-values')) as object,
        ScanIndexForward: false,
      }),
      expected,
    )
    assert.deepEqual(wrongs, [])
  },
)

test('console: several filters are joined by all or any of them', options, async (t) => {
  const run = await openConsole(t)
  await run.store.call('CreateTable', simpleTable('Things'))
  for (const [id, n] of ['1', '5', '9'].entries())
    await run.store.call('PutItem', { TableName: 'Things', Item: { id: { S: `i${id}` }, n: { N: n } } })
  const { page, wrongs, go } = await run.tab()
  await go('tables/Things', 'Things')
  for (const [at, operator, value] of [
    [1, 'less', '2'],
    [2, 'greater', '8'],
  ] as const) {
    await press(page, 'Add filter')
    await fill(page, `Attribute of filter ${at}`, 'n')
    await choose(page, `Operator of filter ${at}`, operator)
    await choose(page, `Type of filter ${at}`, 'Number')
    await fill(page, `Value of filter ${at}`, value)
  }
  await page.keyboard.press('Enter')
  await page.getByText('0 items, 3 read').waitFor()
  await choose(page, 'All or any of the filters', 'or')
  await fill(page, 'Value of filter 2', '8')
  await page.keyboard.press('Enter')
  await page.getByText('2 items, 3 read').waitFor()
  assert.deepEqual(wrongs, [])
})

test('console: an item is copied in every form, and what is pasted is the same item', options, async (t) => {
  const run = await openConsole(t)
  const item = {
    id: { S: "it's; $(touch x) `y`" },
    n: { N: '12345678901234567890123456789012345678' },
    list: { L: [{ NULL: true }, { BS: ['AAE='] }] },
  }
  await run.store.call('CreateTable', simpleTable('Things'))
  await run.store.call('PutItem', { TableName: 'Things', Item: item as never })
  const { page, wrongs, go } = await run.tab()
  await go('tables/Things', 'Things')
  await page.locator('#row-0', { hasText: "it's" }).waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Enter')
  await page.getByLabel('Value of n', { exact: true }).waitFor()
  const copyOf = async (form: string, pattern: RegExp): Promise<string> => {
    await choose(page, 'Copy as', form)
    return copied(page, pattern)
  }
  assert.deepEqual(JSON.parse(await copyOf('Dyna', /"N": ?"123456/)), item)
  const plain = await copyOf('JSON', /"n": ?12345678901234567890123456789012345678\b/)
  const args = argumentsOf(await copyOf('AWS', /^aws/))
  assert.deepEqual(args.slice(0, 2), ['dynamodb', 'put-item'])
  assert.deepEqual(JSON.parse(optionOf(args, '--item')), item)
  await copyOf('JavaScript', /PutItemCommand/)
  await copyOf('Python', /client\.put_item\(/)
  await copyOf('Seri', /tx\.put\("Things"/)
  // From the clipboard into an editor.
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(plain.replace("it's", 'copy'))})`)
  await page.keyboard.press('Escape')
  await press(page, 'New item')
  await press(page.getByRole('dialog'), 'JSON')
  const editor = page.getByRole('textbox', { name: 'Item as JSON' })
  await editor.focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Control+v')
  await page.keyboard.press('Control+Enter')
  await page.getByText('Item saved').waitFor()
  const { Items = [] } = await run.store.call('Scan', { TableName: 'Things' })
  const copy = Items.find(({ id }) => (id as { S: string }).S.startsWith('copy'))
  assert.deepEqual(copy?.['n'], item.n)
  assert.deepEqual(wrongs, [])
})

test(
  'console: the keyboard goes to what was added to a form, wherever that is, and stays beside what was removed',
  options,
  async (t) => {
    const run = await openConsole(t)
    await run.store.call('CreateTable', simpleTable('Things'))
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`a${at}`, { N: String(at) }]))
    await run.store.call('PutItem', { TableName: 'Things', Item: { id: { S: 'a' }, ...many } })
    const { page, wrongs, go, axe } = await run.tab()
    const { keyboard } = page
    const focused = async (): Promise<unknown> =>
      page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText")
    await go('tables/Things', 'Things')
    await page.locator('#row-0', { hasText: 'a' }).waitFor()
    await page.getByRole('grid').focus()
    await keyboard.press('Enter')
    await page.getByLabel('Value of a0', { exact: true }).waitFor()
    await fill(page, 'Find an attribute', 'a1')
    await press(page, 'Add attribute')
    await page.locator('[aria-label="Name of the new attribute"]:focus').waitFor()
    await keyboard.type('tags')
    await keyboard.press('Tab')
    await keyboard.type('String set')
    await fill(page, 'Value of member 1 of tags', 'new')
    await press(page, 'Add to tags')
    await page.locator('[aria-label="Value of member 2 of tags"]:focus').waitFor()
    await press(page, 'Remove member 2 of tags')
    await page.locator('[aria-label="Value of member 1 of tags"]:focus').waitFor()
    assert.deepEqual(await axe(), [], 'a form')
    await keyboard.press('Control+Enter')
    await page.getByText('Item saved').waitFor()
    const { Item } = await run.store.call('GetItem', { TableName: 'Things', Key: { id: { S: 'a' } } })
    assert.deepEqual(Item, { id: { S: 'a' }, ...many, tags: { SS: ['new'] } })

    // Filters: the same.
    await press(page, 'Add filter')
    assert.equal(await focused(), 'Attribute of filter 1')
    await press(page, 'Add filter')
    assert.equal(await focused(), 'Attribute of filter 2')
    await press(page, 'Remove filter 2')
    assert.equal(await focused(), 'Add filter')
    assert.deepEqual(wrongs, [])
  },
)
