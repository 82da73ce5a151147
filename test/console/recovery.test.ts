// What is stalled and what recovery did, as a real browser shows it: transactions over two nodes whose coordinator has vanished.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localPlacement } from '../../src/coordinator/placement.js'
import { allRules } from '../../src/rules/item/section-4.js'
import { clientRuntime, realRuntime } from '../../src/runtime/real-runtime.js'
import { openLocalNodes } from '../../src/storage/folder/open-local-node.js'
import { openStore } from '../../src/store/local-store.js'
import { open } from '../../src/store/store.js'
import { beginOn, leaveInFlight, NODES } from '../recovery/in-flight.js'
import { testFolder } from '../support/folder.js'
import { wholeOnly } from '../support/sizes.js'
import { noBrowser, openConsole, simpleTable, type Tab } from './browser.js'

const options = { skip: noBrowser || wholeOnly }

const itemText = (id: string): string => `Accounts(${id})`
const idText = (id: string): string => `${id.slice(0, 8)}…${id.slice(-4)}`

async function assertFits({ page, axe }: Tab): Promise<void> {
  assert.deepEqual(await axe(), [])
  await page.setViewportSize({ width: 360, height: 760 })
  assert.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0)
  assert.deepEqual(await axe(), [])
  await page.setViewportSize({ width: 1200, height: 800 })
}

test(
  'console: after a start it is shown what recovery did to transactions of the process before',
  options,
  async (t) => {
    const path = testFolder()
    {
      await using store = await open({ path, nodes: NODES })
      await store.call('CreateTable', simpleTable('Accounts'))
    }
    const [decided, undecided] = await leaveInFlight(path, [true, false])
    const run = await openConsole(t, { store: await open({ path }) })
    const tab = await run.tab()
    const { page, wrongs, go } = tab
    await go('transactions/recovery', 'Transactions')
    const done = page.getByRole('region', { name: 'What recovery did' })
    // What was not decided the ledger has forgotten with the process, and with it which items it was about.
    for (const [{ tx }, ...parts] of [
      [decided, 'committed', 'it was decided, and is carried out', ...decided.ids.map(itemText)],
      [undecided, 'cancelled', 'it was not decided, and is undone'],
    ] as const) {
      const text = await done
        .getByRole('listitem')
        .filter({ hasText: idText(tx) })
        .innerText()
      for (const part of parts) assert.ok(text.includes(part), text)
    }
    await page.getByText('None. A transaction that is not over').waitFor()
    await assertFits(tab)
    assert.deepEqual(wrongs, [])
  },
)

test(
  'console: a transaction that a node keeps from ending is shown as stalled, and then what recovery did to it',
  options,
  async (t) => {
    const runtime = realRuntime()
    const nodes = await openLocalNodes({ runtime, memory: true, nodes: NODES })
    const placement = localPlacement(NODES)
    // Until it is mended nothing can be committed on the second node.
    let isCutOff = true
    const last = nodes[1]!
    const commit = last.commit.bind(last)
    last.commit = (request) => (isCutOff ? Promise.reject(new Error('cut off')) : commit(request))
    const store = await openStore({
      runtime,
      clients: clientRuntime(),
      nodes,
      placement,
      rules: allRules,
      sharedJournal: false,
      isSoleOwner: false,
      onError: () => undefined,
    })
    const run = await openConsole(t, { store })
    await store.call('CreateTable', simpleTable('Accounts'))
    const [{ tx, ids }] = await beginOn(runtime, nodes, [true])
    const tab = await run.tab()
    const { page, wrongs, go } = tab
    await go('transactions', 'Transactions')
    await page.getByText('stalled', { exact: true }).waitFor()
    await page.getByText('1 in flight').waitFor()
    await go('transactions/recovery', 'Transactions')
    const stalled = page.getByRole('region', { name: 'Stalled' }).getByRole('listitem')
    await stalled.waitFor()
    const text = await stalled.innerText()
    for (const part of [idText(tx), 'committing', 'on nodes 0, 1, since', ...ids.map(itemText)])
      assert.ok(text.includes(part), text)
    await assertFits(tab)

    isCutOff = false
    const done = page.getByRole('region', { name: 'What recovery did' }).getByRole('listitem')
    await done.filter({ hasText: idText(tx) }).waitFor()
    await page.getByText('None. A transaction that is not over').waitFor()
    for (const id of ids) {
      const { Item } = await store.call('GetItem', { TableName: 'Accounts', Key: { id: { S: id } } })
      assert.deepEqual(Item, { id: { S: id } })
    }
    assert.deepEqual(wrongs, [])
  },
)
