import { testStore } from 'seriatim/vitest'
import { expect, test } from 'vitest'
import { ordersOf, place } from './orders.js'

test('a file sees the seeds, and nothing that another file has written', async () => {
  expect(await ordersOf('ada')).toEqual([1, 2])
  await place('ada', 4, 1)
})

test('the store itself is at hand', async () => {
  const { store, tables } = testStore()
  const { Count } = await store.call('Scan', { TableName: tables.Orders, Select: 'COUNT' })
  expect(Count).toBe(3)
})
