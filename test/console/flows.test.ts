// What people do in the console, by keyboard, in a real browser.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authOf } from '../../src/server/access/auth.js'
import { wholeOnly } from '../support/sizes.js'
import { choose, copied, noBrowser, openConsole, simpleTable } from './browser.js'

const options = { skip: noBrowser || wholeOnly }
const HOSTILE = [
  '<img src=x onerror="document.title=1">',
  '"><script>document.title=1</script>',
  "'; DROP TABLE x; --",
  '\u202Ereversed\u0000null',
  '{{7*7}} ${7*7}',
  '__proto__',
  'constructor',
  'javascript:alert(1)',
]

test(
  'console: a table is created, an item of all ten types is made, found by a filter, and deleted, by keyboard',
  options,
  async (t) => {
    const run = await openConsole(t)
    const { page, wrongs, go } = await run.tab()
    const { keyboard } = page
    await go('tables', 'Tables')
    await page.getByRole('button', { name: 'Create table' }).focus()
    await keyboard.press('Enter')
    await page.getByLabel('Table name').focus()
    await keyboard.type('Things')
    await keyboard.press('Enter')
    await page.locator('h1', { hasText: 'Things' }).waitFor()

    await page.getByRole('button', { name: 'New item' }).focus()
    await keyboard.press('Enter')
    await page.getByRole('button', { name: 'DynamoDB JSON' }).focus()
    await keyboard.press('Enter')
    const item = {
      pk: { S: 'one' },
      n: { N: '12345678901234567890123456789012345678' },
      b: { B: 'AAEC' },
      yes: { BOOL: true },
      none: { NULL: true },
      ss: { SS: ['a', 'b'] },
      ns: { NS: ['1', '22222222222222222222222222222222222222'] },
      bs: { BS: ['AA==', 'AQ=='] },
      list: { L: [{ S: 'x' }, { N: '3' }] },
      map: { M: { inner: { S: 'y' } } },
    }
    const editor = page.getByRole('textbox', { name: 'Item as DynamoDB JSON' })
    await editor.focus()
    await keyboard.press('Control+a')
    await keyboard.insertText(JSON.stringify(item))
    // Through the form and the plain form, and nothing is lost.
    await page.getByRole('button', { name: 'Form', exact: true }).click()
    await page.getByLabel('Value of n', { exact: true }).waitFor()
    assert.equal(await page.getByLabel('Value of n', { exact: true }).inputValue(), item.n.N)
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    await page.getByRole('button', { name: 'Form', exact: true }).click()
    await page.getByLabel('Value of n', { exact: true }).focus()
    await keyboard.press('Control+Enter')
    await page.getByText('Item saved').waitFor()
    const stored = await run.store.call('GetItem', { TableName: 'Things', Key: { pk: { S: 'one' } } })
    assert.deepEqual(stored.Item?.['n'], { N: item.n.N })
    assert.deepEqual(Object.keys(stored.Item ?? {}).toSorted(), Object.keys(item).toSorted())
    assert.deepEqual(
      (stored.Item?.['ns'] as { NS: string[] } | undefined)?.NS.toSorted(),
      item.ns.NS.toSorted(),
    )

    await run.store.call('PutItem', { TableName: 'Things', Item: { pk: { S: 'two' }, n: { N: '5' } } })
    await page.getByRole('button', { name: 'Add filter' }).focus()
    await keyboard.press('Enter')
    await page.getByLabel('Attribute of filter 1').fill('n')
    await page.getByLabel('Operator of filter 1').selectOption('<')
    await page.getByLabel('Type of filter 1').selectOption('N')
    await page.getByLabel('Value of filter 1').fill('10')
    await keyboard.press('Enter')
    await page.getByText('1 item, 2 read').waitFor()

    await page.getByRole('grid').focus()
    await keyboard.press('Space')
    await keyboard.press('Delete')
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).focus()
    await keyboard.press('Enter')
    await page.getByText('1 item deleted').waitFor()
    const left = await run.store.call('Scan', { TableName: 'Things' })
    assert.equal(left.Count, 1)
    assert.deepEqual(wrongs, [])
  },
)

test(
  'console: statements run from the keyboard, and EXPLAIN says how a table is read',
  options,
  async (t) => {
    const run = await openConsole(t)
    await run.store.call('CreateTable', simpleTable('Things'))
    await run.store.call('PutItem', { TableName: 'Things', Item: { id: { S: 'a' }, n: { N: '1' } } })
    const { page, wrongs, go } = await run.tab()
    await go('statements', 'Statements')
    const editor = page.getByRole('textbox', { name: 'Statement' })
    await page.locator('.editor-place:not([hidden])').waitFor()
    const ask = async (text: string): Promise<void> => {
      await editor.focus()
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText(text)
      await page.keyboard.press('Control+Enter')
    }
    await ask(`SELECT * FROM "Things" WHERE id = 'a'`)
    await page.getByText('1 row in').waitFor()
    await page.getByRole('columnheader', { name: 'id' }).waitFor()
    await choose(page, 'Copy statement as', 'Seri')
    await copied(page, /tx\.execute\("SELECT \* FROM \\"Things\\" WHERE id = 'a'"/)
    // Escape, then Tab: the editor does not hold the keyboard.
    await editor.focus()
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate("document.activeElement?.className === 'editor-place'"), false)
    assert.deepEqual(wrongs, [])
  },
)

test('console: hostile names and values are shown as text, and run nowhere', options, async (t) => {
  const run = await openConsole(t)
  await run.store.call('CreateTable', {
    ...simpleTable('Things'),
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  })
  for (const [at, text] of HOSTILE.entries())
    await run.store.call('PutItem', {
      TableName: 'Things',
      Item: {
        id: { S: `${at}${text}` },
        [text]: { S: text },
        list: { L: [{ M: { [text]: { S: text } } }] },
      },
    })
  const { page, wrongs, go } = await run.tab()
  await go('tables/Things', 'Things')
  await page.getByText('8 items').last().waitFor()
  await page.getByRole('gridcell', { name: '0<img src=x' }).waitFor()
  await page.getByRole('grid').focus()
  for (let at = 0; at < HOSTILE.length; at++) {
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('ArrowDown')
  }
  for (const [route, heading] of [
    ['streams/Things', 'Streams'],
    ['history', 'History'],
    [`tables/${encodeURIComponent('<b>x</b>')}`, '<b>x</b>'],
  ] as const)
    await go(route, heading)
  assert.equal(await page.evaluate('document.querySelectorAll("main img, main script, main b").length'), 0)
  assert.match(await page.title(), /Seriatim$/)
  assert.deepEqual(
    wrongs.filter((text) => !text.includes('status of 400')),
    [],
  )
})

test('console: two tabs edit one item, and the second is told', options, async (t) => {
  const run = await openConsole(t)
  await run.store.call('CreateTable', simpleTable('Things'))
  await run.store.call('PutItem', { TableName: 'Things', Item: { id: { S: 'a' }, n: { N: '1' } } })
  const [first, second] = [await run.tab(), await run.tab()]
  for (const { page, go } of [first, second]) {
    await go('tables/Things', 'Things')
    await page.getByRole('grid').focus()
    await page.locator('#row-0').waitFor()
    await page.keyboard.press('Enter')
    await page.getByLabel('Value of n', { exact: true }).waitFor()
  }
  await first.page.getByLabel('Value of n', { exact: true }).fill('2')
  await first.page.keyboard.press('Control+Enter')
  await first.page.getByText('Item saved').waitFor()
  await second.page.getByLabel('Value of n', { exact: true }).fill('3')
  await second.page.keyboard.press('Control+Enter')
  await second.page.getByText('Changed elsewhere.').waitFor()
  const stored = await run.store.call('GetItem', { TableName: 'Things', Key: { id: { S: 'a' } } })
  assert.deepEqual(stored.Item?.['n'], { N: '2' })
  await second.page.getByRole('button', { name: 'Show what is stored' }).click()
  assert.equal(await second.page.getByLabel('Value of n', { exact: true }).inputValue(), '2')
  // The keyboard is still in the dialog.
  await second.page.keyboard.press('Control+Enter')
  await second.page.getByText('Item saved').waitFor()
  assert.deepEqual([...first.wrongs, ...second.wrongs], [])
})

test('console: the server goes away and comes back, and the page goes on', options, async (t) => {
  const run = await openConsole(t)
  await run.store.call('CreateTable', simpleTable('Things'))
  const { page, go } = await run.tab()
  await go('tables', 'Tables')
  await page.getByRole('link', { name: 'Things' }).waitFor()
  const { port } = run.server
  await run.server.stop()
  await page.getByRole('link', { name: 'Things' }).click()
  await page.getByText('The server does not answer.').first().waitFor()
  const again = await run.store.listen({ port })
  t.after(() => again.stop())
  await page.getByText('The server does not answer.').first().waitFor({ state: 'detached' })
  await page.getByText('The table is empty.').waitFor()
})

test('console: with keys it asks for one, signs in the browser, and stores nothing', options, async (t) => {
  const key = {
    accessKeyId: 'CONSOLE',
    secretAccessKey: 'a secret/with+signs',
    tables: ['*'],
    access: ['read', 'write', 'admin'] as const,
  }
  const run = await openConsole(t, {
    auth: authOf([{ ...key, access: [...key.access] }]),
    refusals: 'expected',
  })
  await run.store.call('CreateTable', simpleTable('Things'))
  const { page, wrongs, axe } = await run.tab()
  await page.goto(`${run.url}/console/`)
  const dialog = page.getByRole('dialog', { name: 'Sign in with an access key' })
  await dialog.waitFor()
  assert.deepEqual(await axe(), [], 'sign in')
  const signIn = async (secret: string): Promise<void> => {
    await page.getByLabel('Access key id').fill(key.accessKeyId)
    await page.getByLabel('Secret access key').fill(secret)
    await page.keyboard.press('Enter')
  }
  await signIn('wrong')
  await dialog.getByText('The request signature we calculated').waitFor()
  await signIn(key.secretAccessKey)
  await page.getByRole('link', { name: 'Things' }).waitFor()
  const stored = String(
    await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'),
  )
  assert.ok(!stored.includes(key.secretAccessKey) && !stored.includes(key.accessKeyId))
  assert.deepEqual(wrongs, [])
})
