// The console of a server of a fleet: what such a server has is used, and what it has not is said.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryEngine } from '../../src/engine/memory-engine.js'
import { open, type Store } from '../../src/store/store.js'
import { wholeOnly } from '../support/sizes.js'
import { noBrowser, openConsole, simpleTable, until } from './browser.js'

const options = { skip: noBrowser || wholeOnly }

const openFleet = (): Promise<Store> =>
  open({ engine: new MemoryEngine(), fleet: { leaseMs: 50, lateMs: 20, refreshMs: 20 } })

/** With and without conditions on what was read: whether a serial order explains what was seen. */
const EXPECTED: readonly (readonly [string, 'serial' | 'anomaly', 'serial' | 'anomaly'])[] = [
  ['lost-update', 'serial', 'anomaly'],
  ['read-skew', 'serial', 'anomaly'],
  ['write-skew', 'serial', 'anomaly'],
  ['phantom', 'anomaly', 'anomaly'],
  ['dirty-read', 'serial', 'serial'],
  ['dirty-write', 'serial', 'serial'],
  ['add', 'serial', 'serial'],
  ['customer-scan', 'anomaly', 'anomaly'],
  ['customer-other', 'serial', 'serial'],
  ['customer-index', 'anomaly', 'anomaly'],
  ['timeout', 'serial', 'anomaly'],
]

test(
  'console: on a server of a fleet the playground says that there are no units, and plays with plain operations',
  options,
  async (t) => {
    const run = await openConsole(t, { store: await openFleet(), refusals: 'expected' })
    const { page, wrongs, go, axe } = await run.tab()
    for (const [scene, ...verdicts] of EXPECTED)
      for (const [at, verdict] of verdicts.entries()) {
        const way = at === 0 ? 'conditions on what was read' : 'no conditions'
        await go(`playground/${scene}`, 'Playground')
        await page.getByText('it has no units of work of its own').waitFor()
        await page.getByLabel('Level of all clients').selectOption(way)
        await page.getByRole('button', { name: 'Play the order in which it can go wrong' }).focus()
        await page.keyboard.press('Enter')
        const found = page.locator('[data-verdict]')
        await found.waitFor()
        assert.equal(await found.getAttribute('data-verdict'), verdict, `${scene}, ${way}`)
      }
    assert.deepEqual(await axe(), [], 'a played scene')
    await page.setViewportSize({ width: 360, height: 760 })
    assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
    assert.deepEqual(wrongs, [])
  },
)

const SCREENS: readonly (readonly [string, string, RegExp])[] = [
  ['tables', 'Tables', /Things/],
  ['tables/Things', 'Things', /1 item/],
  ['tables/Things/settings', 'Things', /Partition key/],
  ['transactions', 'Transactions', /recent/],
  ['transactions/contention', 'Transactions', /No contention/],
  ['transactions/recovery', 'Transactions', /Nothing since the start/],
  ['locks', 'Locks', /No unit holds a lock/],
  ['streams', 'Streams', /has no streams/],
  ['ledger', 'Ledger', /has no ledger/],
  ['metrics', 'Metrics', /Requests/],
]

test(
  'console: on a server of a fleet every screen opens, and says what such a server has not',
  options,
  async (t) => {
    const store = await openFleet()
    const run = await openConsole(t, { store, refusals: 'expected' })
    await store.call('CreateTable', simpleTable('Things'))
    await store.call('PutItem', { TableName: 'Things', Item: { id: { S: 'a' } } })
    const { page, wrongs, go, axe } = await run.tab()
    for (const [route, heading, text] of SCREENS) {
      await go(route, heading)
      await until(page, `${text.toString()}.test(document.querySelector('main').innerText)`)
      assert.equal(await page.getByRole('alert').count(), 0, route)
      assert.deepEqual(await axe(), [], route)
    }
    assert.deepEqual(wrongs, [])
  },
)
