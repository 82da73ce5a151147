// What a statement costs: the rate of ExecuteStatement of one item beside GetItem's, over HTTP, and the time to read a text.
//
//   npm run bench:statements -- [--seconds 3] [--rounds 5]
//
// Rounds alternate, so that what else the machine does meets both alike; the middle one of each counts.
import { Agent, request } from 'node:http'
import { parseArgs } from 'node:util'
import { meaningOf } from '../../src/partiql/meaning/meaning.js'
import { parseStatement } from '../../src/partiql/parse/statements.js'
import { spawnServer } from '../../test/support/spawned-server.js'

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '3' }, rounds: { type: 'string', default: '5' } },
})
const seconds = Number(values.seconds)
const rounds = Number(values.rounds)
const CONNECTIONS = 16
const ITEMS = 1000
const TEXTS = [
  'SELECT * FROM "Things" WHERE pk = ?',
  `SELECT * FROM "Things" WHERE pk = 'user-000000042' AND sk = 7 AND status = 'open'`,
  'UPDATE "Things" SET visits = visits + 1 WHERE pk = ?',
]

for (const text of TEXTS) console.log(`${readMicros(text).toFixed(1).padStart(6)} µs  to read ${text}`)

const server = await spawnServer()
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
try {
  await send('CreateTable', {
    TableName: 'Things',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  })
  for (let at = 0; at < ITEMS; at++)
    await send('PutItem', {
      TableName: 'Things',
      Item: { pk: { S: `k${at}` }, data: { S: 'x'.repeat(880) } },
    })
  const requests = {
    GetItem: (at: number) => ({ TableName: 'Things', Key: { pk: { S: `k${at}` } } }),
    ExecuteStatement: (at: number) => ({ Statement: TEXTS[0], Parameters: [{ S: `k${at}` }] }),
  }
  const rates = { GetItem: [] as number[], ExecuteStatement: [] as number[] }
  for (let round = 0; round < rounds; round++)
    for (const name of ['GetItem', 'ExecuteStatement'] as const)
      rates[name].push(await rate(name, requests[name]))
  const [get, execute] = [middle(rates.GetItem), middle(rates.ExecuteStatement)]
  console.log(
    `${Math.round(get)} GetItem/s, ${Math.round(execute)} ExecuteStatement/s: ${(execute / get).toFixed(2)}`,
  )
} finally {
  agent.destroy()
  await server.stop()
}

/** The middle one of several runs, each of many texts. */
function readMicros(text: string): number {
  const RUNS = 9
  const TIMES = 5000
  const runs = Array.from({ length: RUNS }, () => {
    const begin = performance.now()
    for (let time = 0; time < TIMES; time++) meaningOf(text, parseStatement(text).node)
    return ((performance.now() - begin) * 1000) / TIMES
  })
  return middle(runs)
}

function middle(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!
}

async function rate(operation: string, input: (at: number) => object): Promise<number> {
  const begin = performance.now()
  const end = begin + seconds * 1000
  let answered = 0
  const client = async (from: number): Promise<void> => {
    for (let at = from; performance.now() < end; at += 7) {
      await send(operation, input(at % ITEMS))
      answered++
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, at) => client(at)))
  return (answered * 1000) / (performance.now() - begin)
}

function send(operation: string, input: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    }
    const sent = request(server.url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume()
      answer.once('end', () =>
        answer.statusCode === 200 ? resolve() : reject(new Error(`${operation}: ${answer.statusCode}`)),
      )
    })
    sent.once('error', reject)
    sent.end(JSON.stringify(input))
  })
}
