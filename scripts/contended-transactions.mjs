// Contended transactions by the million against a server in a process of its own, judged afterwards from what its clients saw:
//
//   each client, again and again: TransactGetItems of three hot items, then TransactWriteItems that sets each of them to its version
//   plus one, if it still has the version that was read
//
//   every version of every item was written by one acknowledged transaction
//   no read is older than what was acknowledged before it began
//   the transactions, reads included, have a serial order: what wrote a version comes before what read it, and what read it
//   before what wrote the next one, without a circle
//
//   npm run build && node scripts/contended-transactions.mjs [--count 100000] [--nodes 4] [--items 12] [--clients 32] [--seed 1] [--memory] [--workers 1]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100000' },
    nodes: { type: 'string', default: '4' },
    items: { type: 'string', default: '12' },
    clients: { type: 'string', default: '32' },
    seed: { type: 'string', default: '1' },
    memory: { type: 'boolean', default: false },
    workers: { type: 'string', default: '1' },
  },
})
const [COUNT, NODES, ITEMS, CLIENTS, SEED] = ['count', 'nodes', 'items', 'clients', 'seed'].map((name) =>
  Number(values[name]),
)
const PER_TRANSACTION = 3
const PROGRESS_EVERY = 50_000

/** mulberry32 */
let state = SEED
function random(below) {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below
}

const path = mkdtempSync(join(tmpdir(), 'seriatim-contended-'))
const where = values.memory ? ['--memory'] : ['--path', path]
const server = spawn(
  process.execPath,
  [
    'dist/src/cli/main.js',
    'start',
    '--port',
    '0',
    '--nodes',
    String(NODES),
    '--workers',
    values.workers,
    ...where,
  ],
  { stdio: ['ignore', 'pipe', 'inherit'] },
)
const [ready] = await once(createInterface(server.stdout), 'line')
const url = new URL(/http:\S+/.exec(ready)[0])
const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })

function call(operation, body) {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': `DynamoDB_20120810.${operation}`,
        },
      },
      (answer) => {
        let text = ''
        answer.setEncoding('utf8')
        answer.on('data', (piece) => (text += piece))
        answer.on('end', () =>
          resolve({ status: answer.statusCode, body: text === '' ? {} : JSON.parse(text) }),
        )
        answer.on('error', reject)
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
}

const TableName = 'Hot'
const keyOf = (item) => ({ id: { S: `hot ${item}` } })
await call('CreateTable', {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
})
for (let item = 0; item < ITEMS; item++)
  await call('PutItem', { TableName, Item: { ...keyOf(item), v: { N: '0' } } })

/** Of each item, the transaction that wrote each version; version 0 was there. */
const writers = Array.from({ length: ITEMS }, () => [-1])
/** Of each item, those that read each version and did not write the next one. */
const readers = Array.from({ length: ITEMS }, () => [])
const acknowledged = Array.from({ length: ITEMS }, () => 0)
const problems = []
const tally = { tried: 0, committed: 0, refused: 0, reads: 0, conflicts: 0 }
let transactions = 0

function some() {
  const chosen = new Set()
  while (chosen.size < Math.min(PER_TRANSACTION, ITEMS)) chosen.add(random(ITEMS))
  return [...chosen]
}

function wrote(item, version, transaction) {
  const by = writers[item][version]
  if (by !== undefined)
    problems.push(`version ${version} of item ${item} was written by ${by} and by ${transaction}`)
  writers[item][version] = transaction
}

async function client() {
  while (tally.tried < COUNT && problems.length === 0) {
    tally.tried++
    const items = some()
    const before = items.map((item) => acknowledged[item])
    const read = await call('TransactGetItems', {
      TransactItems: items.map((item) => ({ Get: { TableName, Key: keyOf(item) } })),
    })
    if (read.status !== 200) {
      if (read.status >= 500) problems.push(JSON.stringify(read))
      tally.conflicts++
      continue
    }
    const versions = read.body.Responses.map(({ Item }) => Number(Item.v.N))
    for (const [at, item] of items.entries())
      if (versions[at] < before[at])
        problems.push(`item ${item} was read as ${versions[at]} after ${before[at]} had been acknowledged`)
    const reading = transactions++
    tally.reads++
    for (const [at, item] of items.entries()) (readers[item][versions[at]] ??= []).push(reading)
    const written = await call('TransactWriteItems', {
      TransactItems: items.map((item, at) => ({
        Update: {
          TableName,
          Key: keyOf(item),
          UpdateExpression: 'SET v = v + :one',
          ConditionExpression: 'v = :read',
          ExpressionAttributeValues: { ':one': { N: '1' }, ':read': { N: String(versions[at]) } },
        },
      })),
    })
    if (written.status === 200) {
      const writing = transactions++
      tally.committed++
      for (const [at, item] of items.entries()) {
        wrote(item, versions[at] + 1, writing)
        acknowledged[item] = Math.max(acknowledged[item], versions[at] + 1)
      }
    } else {
      if (written.status >= 500) problems.push(JSON.stringify(written))
      tally.refused++
    }
    if (tally.tried % PROGRESS_EVERY === 0)
      console.log(`${tally.tried} tried, ${tally.committed} committed, ${problems.length} problems`)
  }
}

const startMs = Date.now()
await Promise.all(Array.from({ length: CLIENTS }, client))
const seconds = (Date.now() - startMs) / 1000

for (let item = 0; item < ITEMS; item++) {
  const { body } = await call('GetItem', { TableName, Key: keyOf(item), ConsistentRead: true })
  const last = Number(body.Item.v.N)
  for (let version = 1; version <= last; version++)
    if (writers[item][version] === undefined) problems.push(`nobody wrote version ${version} of item ${item}`)
  if (writers[item].length - 1 !== last)
    problems.push(`item ${item} has version ${last}, and ${writers[item].length - 1} was acknowledged`)
}
const inCircles = circles()
if (inCircles > 0) problems.push(`${inCircles} transactions have no serial order`)

/** How many transactions are left when those are taken out, again and again, before which no other must come. */
function circles() {
  const next = Array.from({ length: transactions }, () => [])
  const before = new Int32Array(transactions)
  const edge = (from, to) => {
    if (from === undefined || to === undefined || from < 0 || from === to) return
    next[from].push(to)
    before[to]++
  }
  for (let item = 0; item < ITEMS; item++)
    for (let version = 0; version < Math.max(writers[item].length, readers[item].length); version++) {
      const writer = writers[item][version]
      const overwriter = writers[item][version + 1]
      edge(writer, overwriter)
      for (const reader of readers[item][version] ?? []) {
        edge(writer, reader)
        edge(reader, overwriter)
      }
    }
  const free = []
  for (let transaction = 0; transaction < transactions; transaction++)
    if (before[transaction] === 0) free.push(transaction)
  let ordered = 0
  for (let each = free.pop(); each !== undefined; each = free.pop()) {
    ordered++
    for (const to of next[each]) if (--before[to] === 0) free.push(to)
  }
  return transactions - ordered
}

server.kill('SIGTERM')
await once(server, 'exit')
rmSync(path, { recursive: true, force: true })
console.log(
  `${tally.tried} contended transactions from seed ${SEED} in ${seconds.toFixed(0)} s, ${NODES} nodes: ${tally.committed} committed, ` +
    `${tally.refused} refused, ${tally.reads} transactional reads, ${tally.conflicts} of them refused; ${problems.length} problems`,
)
for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)
