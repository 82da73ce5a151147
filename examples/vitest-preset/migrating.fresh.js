import { testStore } from 'seriatim/vitest'
import { beforeAll, expect, test } from 'vitest'
import { ordersOf, place } from './orders.js'

// Once: whatever takes long.
beforeAll(() => place('ada', 3, 30))

test('a test may change whatever it likes', async () => {
  await testStore().store.reset()
  await expect(ordersOf('ada')).rejects.toThrow('Requested resource not found')
})

test('the next one begins with the seeds and with what was made for all of them', async () => {
  expect(await ordersOf('ada')).toEqual([1, 2, 3])
})

test.concurrent.each([1, 2, 3])('tests at the same time have a store each: %i', async (n) => {
  const { store, tables, close } = await testStore().fork()
  const key = { customer: { S: 'ada' }, number: { N: '1' } }
  await store.call('PutItem', { TableName: tables.Orders, Item: { ...key, total: { N: String(n) } } })
  const { Item } = await store.call('GetItem', { TableName: tables.Orders, Key: key })
  expect(Item.total.N).toBe(String(n))
  await close()
})
