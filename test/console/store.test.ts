// What no other tool shows, in a real browser: isolation, proofs, locks, streams.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { wholeOnly } from '../support/sizes.js'
import { noBrowser, openConsole, simpleTable } from './browser.js'

const options = { skip: noBrowser || wholeOnly }

/** At each level, whether a serial order explains what was seen when a scene is played in the order that can go wrong. */
const EXPECTED: readonly (readonly [string, Readonly<Record<string, 'serial' | 'anomaly'>>])[] = [
  ['lost-update', { 'read-committed': 'anomaly', snapshot: 'serial', serializable: 'serial' }],
  ['read-skew', { 'read-committed': 'anomaly', snapshot: 'serial', serializable: 'serial' }],
  ['write-skew', { 'read-committed': 'anomaly', snapshot: 'anomaly', serializable: 'serial' }],
  ['phantom', { snapshot: 'anomaly', serializable: 'serial' }],
  ['dirty-read', { 'read-uncommitted': 'serial', serializable: 'serial' }],
  ['dirty-write', { 'read-uncommitted': 'serial', 'read-committed': 'serial' }],
  ['add', { snapshot: 'serial', serializable: 'serial' }],
  ['customer-scan', { snapshot: 'anomaly', serializable: 'serial' }],
  ['customer-other', { serializable: 'serial' }],
  ['customer-index', { snapshot: 'anomaly', serializable: 'serial' }],
  ['timeout', { serializable: 'serial' }],
]

test(
  'console: the playground plays every scene, and what the store answers is what its levels promise',
  options,
  async (t) => {
    const run = await openConsole(t, { refusals: 'expected' })
    const { page, wrongs, go, axe } = await run.tab()
    for (const [scene, levels] of EXPECTED)
      for (const [level, verdict] of Object.entries(levels)) {
        await go(`playground/${scene}`, 'Playground')
        await page.getByLabel('Level of all clients').selectOption(level)
        await page.getByRole('button', { name: 'Play the order in which it can go wrong' }).focus()
        await page.keyboard.press('Enter')
        const found = page.locator('[data-verdict]')
        await found.waitFor()
        assert.equal(await found.getAttribute('data-verdict'), verdict, `${scene} at ${level}`)
        if (scene === 'timeout') await page.getByText('UnitExpiredException').waitFor()
        if (scene === 'customer-other')
          assert.equal(await page.getByText('refused', { exact: true }).count(), 0)
      }
    assert.deepEqual(await axe(), [], 'a played scene')
    await go('tables', 'Tables')
    await page.getByText('No tables yet').waitFor()
    assert.deepEqual(wrongs, [])
  },
)

test(
  'console: a proof is checked in the browser, a forged key is refused, and a checkpoint is consistent',
  options,
  async (t) => {
    const run = await openConsole(t)
    const { store } = run
    await store.call('CreateTable', {
      ...simpleTable('Cars'),
      Tags: [{ Key: 'seriatim:ledger', Value: 'true' }],
    })
    const own = (owner: string) =>
      store.call('PutItem', { TableName: 'Cars', Item: { id: { S: 'v1' }, owner: { S: owner } } })
    await own('ann')
    const kept = await store.ledger.digest()
    for (const owner of ['bob', 'cid', 'dan', 'eve']) await own(owner)
    const { page, wrongs, go, axe } = await run.tab()
    await go('ledger/history/Cars/v1', 'Ledger')
    await page.getByRole('button', { name: 'Prove version 1' }).focus()
    await page.keyboard.press('Enter')
    await page.locator('[data-proven]').waitFor()
    assert.match(await page.locator('.path').innerText(), /"bob"/)
    assert.deepEqual(await axe(), [], 'a proof')
    await page.getByLabel('Public key that is trusted').fill('seriatim.local/0000000000000000+00000000+AAAA')
    await page.getByText('Not proven.').waitFor()
    await page.getByLabel('Public key that is trusted').fill('')
    await go('ledger/consistency', 'Ledger')
    await page.getByLabel('Checkpoint').fill(kept.checkpoint)
    await page.getByRole('button', { name: 'Check', exact: true }).focus()
    await page.keyboard.press('Enter')
    await page.locator('[data-result="good"]').waitFor()
    await page.getByLabel('Checkpoint').fill(kept.checkpoint.replace(/\n\d+\n/, '\n3\n'))
    await page.getByRole('button', { name: 'Check', exact: true }).click()
    await page.locator('[data-result="bad"]').waitFor()
    assert.deepEqual(wrongs, [])
  },
)

test(
  'console: a lock of a unit is shown and broken after a question, and a change is followed live',
  options,
  async (t) => {
    const run = await openConsole(t)
    const { store } = run
    await store.call('CreateTable', {
      ...simpleTable('Things'),
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    })
    const { page, wrongs, go, axe } = await run.tab()
    let end = (): void => undefined
    const held = new Promise<void>((resolve) => (end = resolve))
    const unit = store.transactor().transact(async (tx) => {
      await tx.get('Things', { id: 'a' }, { lock: true })
      await held
    })
    await go('locks', 'Locks')
    await page.getByText('Things(a)').waitFor()
    assert.deepEqual(await axe(), [], 'locks')
    await page.getByRole('button', { name: 'Break the lock on Things(a)' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByRole('button', { name: 'Break lock' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('Lock broken').waitFor()
    await page.getByText('No unit holds a lock.').waitFor()
    end()
    await unit.catch(() => undefined)
    await go('streams/Things', 'Streams')
    await page.getByText('waiting for changes').waitFor()
    // The place in the stream is taken by the first look.
    await page.waitForResponse(async (response) =>
      (response.request().headers()['x-amz-target'] ?? '').endsWith('GetRecords'),
    )
    await store.call('PutItem', { TableName: 'Things', Item: { id: { S: 'followed' } } })
    await page.getByText('{"id":{"S":"followed"}}').waitFor()
    assert.deepEqual(wrongs, [])
  },
)
