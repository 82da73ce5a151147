// What a node tells of a table that was dropped.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TableGone } from '../../../src/line/errors.js'
import type { Timestamp } from '../../../src/model/brand.js'
import { itemKey } from '../../../src/model/key-bytes.js'
import { realRuntime } from '../../../src/runtime/real-runtime.js'
import { openLocalNode } from '../../../src/storage/folder/open-local-node.js'
import { page } from '../../suites/storage-node.js'
import {
  deleteRequest,
  getItem,
  number,
  plain,
  plainItem,
  put,
  putRequest,
  updateRequest,
} from '../../suites/tables.js'

test('local node: of a table that was dropped nothing is told but that it is gone, neither of its items nor of conditions on them', async () => {
  const node = await openLocalNode({ runtime: realRuntime(), memory: true })
  const a = plainItem('a', { n: number(1) })
  await put(node, plain, a)
  await node.dropTable(plain.space)
  await node.sweep(plain.space, 10)
  const { id } = a
  const isThere = { condition: 'attribute_exists(id)' }
  const items = [{ space: plain.space, key: itemKey(plain.key, { id: id! }) }]
  const timestamp = 1 as Timestamp
  for (const asked of [
    () => node.write(updateRequest(plain, { id: id! }, 'SET m = n', isThere)),
    () => node.write(deleteRequest(plain, { id: id! }, isThere)),
    () => node.write(putRequest(plain, a)),
    () => getItem(node, plain, { id: id! }),
    () => node.range(page(plain.space)),
    () => node.rangeText!({ ...page(plain.space), roomBefore: 0, roomAfter: 0 }),
    () => node.readLatest({ items }),
    () => node.readAt({ items, timestamp }),
  ])
    await assert.rejects(asked(), TableGone, asked.toString())
  await node.close()
})
