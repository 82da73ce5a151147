import assert from 'node:assert/strict'
import { test } from 'node:test'
import { open } from '../../src/store/store.js'
import { testFolder } from '../support/folder.js'

test('store: a closed one says so, whatever it is asked, and may be closed again', async () => {
  for (const place of [{ memory: true }, { path: testFolder() }] as const) {
    const store = await open(place)
    await store.close()
    const sentence = { message: 'This store is closed.' }
    await assert.rejects(store.call('ListTables', {}), sentence)
    await assert.rejects(store.listen({ port: 0 }), sentence)
    await assert.rejects(store.reset(), sentence)
    assert.throws(() => store.client(), sentence)
    await store.close()
  }
})
