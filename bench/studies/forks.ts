// What a fork of a store in memory costs: the time of `await store.fork()`, and what it takes of memory until it is changed.
//
//   node dist/bench/studies/forks.js [--items 10000] [--nodes 1] [--rounds 300]
//
// One item is changed before each fork, so that none is free. The time is that of the processor, of this process: the machine
// may have other work. The first fork of the process is told apart: its code has not been run before.
import { parseArgs } from 'node:util'
import { open, type Store } from '../../src/store/store.js'

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '10000' },
    nodes: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '300' },
  },
})
const [items, nodes, rounds] = [Number(values.items), Number(values.nodes), Number(values.rounds)]
const BATCH = 25
const HELD = 200

const store = await open({ memory: true, nodes })
await fill(store)
const [first, ...rest] = await timesOf(store)
const sorted = rest.toSorted((one, other) => one - other)
const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] as number).toFixed(2)
console.log(`${items} items on ${nodes} nodes, ${rounds} forks, ms of the processor:`)
console.log(`  first ${first?.toFixed(2)}  median ${at(0.5)}  of ten nine below ${at(0.9)}`)
console.log(`  a fork that is held takes ${(await heldBytes(store)).toFixed(0)} KB`)
await store.close()

async function fill(into: Store): Promise<void> {
  await into.call('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  for (let from = 0; from < items; from += BATCH)
    await into.call('BatchWriteItem', {
      RequestItems: {
        Things: Array.from({ length: BATCH }, (_, n) => ({ PutRequest: { Item: itemAt(from + n) } })),
      },
    })
}

function itemAt(n: number): { readonly id: { S: string }; readonly data: { S: string } } {
  return { id: { S: `item ${n}` }, data: { S: 'x'.repeat(100) } }
}

async function timesOf(from: Store): Promise<readonly number[]> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    await from.call('PutItem', { TableName: 'Things', Item: itemAt(round) })
    const before = process.cpuUsage()
    const fork = await from.fork()
    const { user, system } = process.cpuUsage(before)
    times.push((user + system) / 1000)
    await fork.close()
  }
  return times
}

/** Of the heap, in KB each. */
async function heldBytes(from: Store): Promise<number> {
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  const held: Store[] = []
  for (let n = 0; n < HELD; n++) held.push(await from.fork())
  globalThis.gc?.()
  const bytes = process.memoryUsage().heapUsed - before
  for (const fork of held) await fork.close()
  return bytes / HELD / 1024
}
