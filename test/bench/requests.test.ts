import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RequestBytes } from '../../src/bench/load/request-bytes.js'
import { answerTo, workloadKey, peerWorkloads, type Workload } from '../../src/bench/load/workloads.js'
import { itemBytes, type Item } from '../../src/model/value.js'
import { itemKey } from '../../src/model/key-bytes.js'
import { Random } from '../../src/runtime/seeded-random.js'

const workloads = peerWorkloads({ items: 1000, partitions: 50 })
const named = (name: string): Workload => workloads.find((each) => each.name === name)!

function bodyOf(workload: Workload, random: Random): string {
  const text = new RequestBytes('localhost:1', workload).next(random).toString()
  const [head = '', body = ''] = text.split('\r\n\r\n')
  assert.equal(Number(/content-length: (\d+)/.exec(head)?.[1]), body.length)
  return body
}

const keysIn = (body: string): number[] =>
  [...body.matchAll(/"user-(\d{9})"/g)].map((match) => Number(match[1]))

for (const workload of workloads) {
  test(`a request of ${workload.name} has keys of the table, none of them twice`, () => {
    const random = new Random(3)
    for (let round = 0; round < 50; round++) {
      const keys = keysIn(bodyOf(workload, random))
      assert.equal(keys.length, workload.operation === 'Query' ? 1 : workload.items)
      assert.equal(new Set(keys).size, keys.length)
      for (const key of keys) assert.ok(key >= workload.keys.from && key < workload.keys.to)
    }
  })
}

test('keys are uniform: each tenth of the table gets a tenth of the requests', () => {
  const random = new Random(5)
  const request = new RequestBytes('localhost:1', named('GetItem'))
  const tenths = Array.from({ length: 10 }, () => 0)
  for (let round = 0; round < 10_000; round++) {
    const [key = 0] = keysIn(request.next(random).toString())
    tenths[Math.floor(key / 100)]!++
  }
  for (const count of tenths) assert.ok(Math.abs(count - 1000) < 150, `${tenths.join(' ')}, seed 5`)
})

test('the first item of a contended transaction is hot, the others are not', () => {
  const workload: Workload = {
    ...named('TransactWriteItems of 10'),
    keys: { from: 100, to: 1000 },
    hot: { from: 0, to: 100 },
  }
  const [hot = NaN, ...cold] = keysIn(bodyOf(workload, new Random(1)))
  assert.ok(hot < 100)
  assert.equal(cold.length, 9)
  assert.ok(cold.every((key) => key >= 100))
})

test('items have the size they are said to have', () => {
  const { Item } = JSON.parse(answerTo('GetItem', 1, 900)) as { Item: Item }
  assert.equal(itemBytes(Item), 900)
})

test('items that are wanted on nodes of their own are on nodes of their own', () => {
  const random = new Random(7)
  const workload = { ...named('TransactWriteItems of 3'), apartOnNodes: 4 }
  const schema = { partition: { name: 'id', type: 'S' } } as const
  for (let round = 0; round < 200; round++) {
    const nodes = keysIn(bodyOf(workload, random)).map((key) =>
      Math.floor((itemKey(schema, { id: { S: workloadKey(key) } }).hash / 2 ** 32) * 4),
    )
    assert.equal(new Set(nodes).size, 3, `seed 7, round ${round}: nodes ${nodes.join(', ')}`)
  }
})
