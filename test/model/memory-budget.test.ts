import assert from 'node:assert/strict'
import { test } from 'node:test'
import { memoryKnobs, memoryMbBounds } from '../../src/model/memory-budget.js'
import { open } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'

test('memory: the parts of a budget are within it together, whatever the number of nodes', () => {
  for (const memoryMb of [memoryMbBounds.min, 64, 1000, memoryMbBounds.max])
    for (const nodes of [1, 3, 64]) {
      const { overlayBytesMax, historyBytesMax, logCacheBytesMax, logBacklogBytesMax, readMarksMax } =
        memoryKnobs(memoryMb, nodes)
      const ofNode = overlayBytesMax + historyBytesMax + 2 * 200 * readMarksMax
      assert.ok(ofNode * nodes + logCacheBytesMax + logBacklogBytesMax <= memoryMb * 1024 * 1024)
      assert.ok(readMarksMax > 0)
    }
})

test('memory: open takes a budget of 16 MB and more, on disk and in memory, and refuses less', async () => {
  for (const place of [{ path: testFolder() }, { memory: true }] as const) {
    await assert.rejects(
      open({ ...place, memoryMb: 15 }),
      /memoryMb is a whole number from 16 to 65536, not 15/,
    )
    const store = await open({ ...place, memoryMb: 16 })
    await store.call('CreateTable', {
      TableName: 'Books',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    })
    // More than the overlay has room for: writers wait for the index.
    const text = 'x'.repeat(300_000)
    await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        store.call('PutItem', { TableName: 'Books', Item: { id: { S: `b${n}` }, text: { S: text } } }),
      ),
    )
    const { Item } = await store.call('GetItem', { TableName: 'Books', Key: { id: { S: 'b39' } } })
    assert.equal(Item?.['text']?.S?.length, 300_000)
    await store.close()
  }
})
