import { testStore } from 'seriatim/vitest'
import { beforeEach, expect, test } from 'vitest'
import { ordersOf, place } from './orders.js'

const { reset } = testStore()
beforeEach(reset)

test('an order is placed beside those of the seeds', async () => {
  await place('ada', 3, 8)
  expect(await ordersOf('ada')).toEqual([1, 2, 3])
})

test('an order is placed once', async () => {
  await expect(place('ada', 2, 8)).rejects.toThrow('The conditional request failed')
})

test('each test begins with the seeds', async () => {
  expect(await ordersOf('ada')).toEqual([1, 2])
})
