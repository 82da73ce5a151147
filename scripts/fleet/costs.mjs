// What requests cost the nodes of a ring and a server in processor time: what a sizing by arithmetic begins with. Processor time hardly
// depends on what else the machine does; rates do, on a machine that has the ring, the server and the clients.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { call, table } from './history.mjs'
import { startServer } from './servers.mjs'

const TICKS_PER_SECOND = 100
const CLIENTS = 16
const TableName = 'Costs'

const key = (item) => ({ id: { S: `item ${item}` } })
const put = (item) => ({ TableName, Item: { ...key(item), text: { S: 'x'.repeat(400) } } })
const KINDS = [
  ['PutItem of a new item', (n) => ['PutItem', put(n)]],
  ['GetItem', (n) => ['GetItem', { TableName, Key: key(n), ConsistentRead: true }]],
  [
    'UpdateItem',
    (n) => [
      'UpdateItem',
      {
        TableName,
        Key: key(n),
        UpdateExpression: 'SET n = :n',
        ExpressionAttributeValues: { ':n': { N: '1' } },
      },
    ],
  ],
  [
    'TransactWriteItems of 3',
    (n) => ['TransactWriteItems', { TransactItems: [0, 1, 2].map((at) => ({ Put: put(3 * n + at) })) }],
  ],
]

export async function runCosts({ ring, requests, log }) {
  const server = await startServer(ring.address('costs'), 0, log)
  await call(server.url, 'CreateTable', { ...table, TableName, ...PLAIN })
  await sleep(3000)
  const measured = []
  for (const [name, requestOf] of KINDS) {
    // The first ones are for the compilers of both.
    for (const [count, isMeasured] of [
      [requests / 2, false],
      [requests, true],
    ]) {
      const before = [spent(ring.pids()), spent([server.child.pid])]
      const done = await load(server.url, count, requestOf, isMeasured ? requests / 2 : 0)
      const micros = [spent(ring.pids()) - before[0], spent([server.child.pid]) - before[1]].map((seconds) =>
        Math.round((seconds / done) * 1e6),
      )
      if (isMeasured)
        measured.push({ request: name, done, 'us of all nodes': micros[0], 'us of the server': micros[1] })
    }
  }
  await server.stop()
  return measured
}

const PLAIN = {
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  GlobalSecondaryIndexes: undefined,
}

async function load(url, count, requestOf, from) {
  let next = from
  let done = 0
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (next < from + count) {
        const [operation, body] = requestOf(next++)
        const { status } = await call(url, operation, body)
        if (status === 200) done++
      }
    }),
  )
  return done
}

/** Processor seconds so far. */
const spent = (pids) =>
  pids.reduce((sum, pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
    return sum + (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
  }, 0)
