import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ItemPending } from '../../src/line/errors.js'
import { allRules } from '../../src/rules/item/section-4.js'
import { ledgerSlot, timestamp, txId } from '../../src/model/brand.js'
import { openLocalNode } from '../../src/storage/folder/open-local-node.js'
import { plain, plainItem, putRequest } from '../suites/tables.js'
import { testRuntime } from '../support/test-runtime.js'

const source = fileURLToPath(new URL('../../../src/', import.meta.url))

test('errors: storage, its line and its ledger know no error of the wire', () => {
  for (const box of ['storage', 'line', 'ledger']) {
    const files = readdirSync(join(source, box), { recursive: true, encoding: 'utf8' })
    for (const file of files.filter((name) => name.endsWith('.ts'))) {
      const text = readFileSync(join(source, box, file), 'utf8')
      assert.doesNotMatch(text, /DynamoError|model\/errors\.js|Exception'/, `${box}/${file}`)
    }
  }
})

test('§4 rule 1 left out: a read of an item with a transaction pending is refused in words of storage', async () => {
  const node = await openLocalNode({
    memory: true,
    runtime: testRuntime(1),
    rules: { ...allRules, readsPassPrepared: false },
  })
  const action = putRequest(plain, plainItem('a'))
  await node.prepare({
    tx: txId(ledgerSlot('0'.repeat(32)), 'one'),
    timestamp: timestamp(1e15),
    actions: [action],
  })
  await assert.rejects(node.get(plain.space, action.key, true), ItemPending)
  await node.close()
})
