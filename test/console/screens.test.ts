// Every screen in a real browser: it opens, without an error, a violation of the policy, or one that axe finds; light and dark,
// wide and narrow.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sized } from '../support/sizes.js'
import { noBrowser, openConsole, simpleTable, until } from './browser.js'

const SCREENS: readonly (readonly [string, string])[] = [
  ['tables', 'Tables'],
  ['tables/Orders', 'Orders'],
  ['tables/Orders/settings', 'Orders'],
  ['tables/Orders/transfer', 'Orders'],
  ['statements', 'Statements'],
  ['transactions', 'Transactions'],
  ['transactions/contention', 'Transactions'],
  ['transactions/recovery', 'Transactions'],
  ['locks', 'Locks'],
  ['streams/Orders', 'Streams'],
  ['playground', 'Playground'],
  ['ledger', 'Ledger'],
  ['ledger/blocks', 'Ledger'],
  ['ledger/consistency', 'Ledger'],
  ['metrics', 'Metrics'],
  ['history', 'History'],
]

test(
  'console: every screen opens without an error, a policy violation or an axe violation',
  { skip: noBrowser },
  async (t) => {
    const run = await openConsole(t)
    const { store } = run
    await store.call('CreateTable', {
      ...simpleTable('Orders'),
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    })
    await store.call('CreateTable', {
      ...simpleTable('Cars'),
      Tags: [{ Key: 'seriatim:ledger', Value: 'true' }],
    })
    for (const id of ['a', 'b', 'c'])
      for (const TableName of ['Orders', 'Cars'])
        await store.call('PutItem', {
          TableName,
          Item: { id: { S: id }, n: { N: '1' }, set: { SS: ['x', 'y'] } },
        })
    await store.call('TransactWriteItems', {
      TransactItems: ['d', 'e', 'f', 'g'].map((id) => ({
        Put: { TableName: 'Orders', Item: { id: { S: id } } },
      })),
    })
    const { page, wrongs, go, axe } = await run.tab()
    const violations: string[] = []
    for (const colorScheme of sized(['light'] as const, ['light', 'dark'] as const)) {
      await page.emulateMedia({ colorScheme })
      for (const width of sized([1200], [1200, 360])) {
        await page.setViewportSize({ width, height: 760 })
        for (const [route, heading] of sized(SCREENS.slice(0, 5), SCREENS)) {
          await go(route, heading)
          await until(page, "!document.querySelector('main').innerText.includes('Reading…')")
          violations.push(...(await axe()).map((found) => `${route}, ${colorScheme}, ${width}: ${found}`))
          const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
          if (Number(overflow) > 0) violations.push(`${route} is wider than ${width} by ${String(overflow)}`)
        }
      }
    }
    assert.deepEqual(violations, [])
    assert.deepEqual(wrongs, [])
  },
)
