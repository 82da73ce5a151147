// Resident memory of a server on disk with many small items: put one by one by some clients, then read one by one.
//
//   node dist/bench/studies/memory.js [--items 100000] [--clients 16] [--rounds 3]
import { parseArgs } from 'node:util'
import { post } from '../../src/bench/targets/post.js'
import { startTarget } from '../targets/target.js'

const { values } = parseArgs({
  options: {
    items: { type: 'string', default: '100000' },
    clients: { type: 'string', default: '16' },
    rounds: { type: 'string', default: '3' },
  },
})
const [items, clients] = [Number(values.items), Number(values.clients)]
const TableName = 'Things'
const Key = (number: number) => ({ id: { S: `item-${number}` } })

for (let round = 1; round <= Number(values.rounds); round++) {
  const target = await startTarget('seriatim-disk')
  if ('missing' in target) throw new Error(target.missing)
  const { endpoint } = target
  try {
    await post(endpoint, 'CreateTable', {
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    })
    await each((number) =>
      post(endpoint, 'PutItem', {
        TableName,
        Item: { ...Key(number), v: { N: String(number) }, name: { S: 'small item' } },
      }),
    )
    await each((number) => post(endpoint, 'GetItem', { TableName, Key: Key(number) }))
    const { Table } = (await post(endpoint, 'DescribeTable', { TableName })) as {
      Table: { ItemCount: number }
    }
    const { residentBytes = NaN, ownBytes = NaN } = target.memory() ?? {}
    const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
    console.log(
      `round ${round}: ${Table.ItemCount} items, resident ${megabytes(residentBytes)}, ` +
        `without mapped files ${megabytes(ownBytes)}`,
    )
  } finally {
    await target.stop()
  }
}

/** Every number once, by all clients. */
async function each(act: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let number = next++; number < items; number = next++) await act(number)
    }),
  )
}
