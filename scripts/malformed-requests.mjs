// Malformed requests by the million: valid ones of every kind, damaged at random, to a server in a process of its own.
// None may be answered with 5xx, none may go unanswered, and the server must be well afterwards.
//   npm run build && node scripts/malformed-requests.mjs [--count 100000] [--seed 1]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { count: { type: 'string', default: '100000' }, seed: { type: 'string', default: '1' } },
})
const COUNT = Number(values.count)
const CONNECTIONS = 16

/** mulberry32 */
let state = Number(values.seed)
function random(below) {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below
}
const oneOf = (list) => list[random(list.length)]

const TableName = 'Target'
const Key = { id: { S: 'a' } }
const Item = {
  ...Key,
  n: { N: '1.5e3' },
  l: { L: [{ NULL: true }, { B: 'AAEC' }, { M: { x: { BOOL: false } } }] },
  s: { NS: ['1', '2'] },
}
const names = { ExpressionAttributeNames: { '#n': 'n' }, ExpressionAttributeValues: { ':v': { N: '1' } } }
const Unit = { Id: 'u', Isolation: 'serializable' }
const TEMPLATES = [
  ['PutItem', { TableName, Item, ConditionExpression: '#n <> :v OR size(#n) > :v', ...names }],
  ['GetItem', { TableName, Key, ProjectionExpression: 'l[0], s, n.x', ConsistentRead: true }],
  [
    'UpdateItem',
    { TableName, Key, UpdateExpression: 'SET #n = if_not_exists(#n, :v) + :v REMOVE l[1]', ...names },
  ],
  [
    'DeleteItem',
    { TableName, Key, Expected: { n: { ComparisonOperator: 'EQ', AttributeValueList: [{ N: '1' }] } } },
  ],
  [
    'Query',
    {
      TableName,
      KeyConditionExpression: 'id = :v',
      ExpressionAttributeValues: { ':v': { S: 'a' } },
      Limit: 3,
    },
  ],
  [
    'Scan',
    {
      TableName,
      FilterExpression: 'contains(s, :v) AND NOT #n IN (:v)',
      Segment: 0,
      TotalSegments: 2,
      ...names,
    },
  ],
  ['BatchGetItem', { RequestItems: { [TableName]: { Keys: [Key, { id: { S: 'b' } }] } } }],
  [
    'BatchWriteItem',
    {
      RequestItems: {
        [TableName]: [{ PutRequest: { Item } }, { DeleteRequest: { Key: { id: { S: 'b' } } } }],
      },
    },
  ],
  ['TransactWriteItems', { ClientRequestToken: 't', TransactItems: [{ Put: { TableName, Item } }] }],
  ['TransactGetItems', { TransactItems: [{ Get: { TableName, Key } }] }],
  ['DescribeTable', { TableName }],
  ['ListTables', { Limit: 2, ExclusiveStartTableName: 'abc' }],
  ['UpdateTimeToLive', { TableName, TimeToLiveSpecification: { Enabled: true, AttributeName: 'ttl' } }],
  [
    'TagResource',
    { ResourceArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/Target', Tags: [{ Key: 'a', Value: 'b' }] },
  ],
  ['UnitGetItems', { Unit, Gets: [{ TableName, Key }] }],
  [
    'UnitQuery',
    { Unit, TableName, KeyConditionExpression: 'id = :v', ExpressionAttributeValues: { ':v': { S: 'a' } } },
  ],
  ['UnitCommit', { Unit, Reads: [{ TableName, Key }], TransactItems: [{ Put: { TableName, Item } }] }],
  ['WaitForItem', { TableName, Key, ConditionExpression: 'attribute_exists(id)', TimeoutMs: 0 }],
  ['ListTransactions', { Limit: 10 }],
].map(([operation, input]) => {
  const name = /** @type {string} */ (operation)
  const prefix = /^(Unit|Wait|ListTrans)/.test(name) ? 'Seriatim_20261101.' : 'DynamoDB_20120810.'
  return [prefix + name, JSON.stringify(input)]
})
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  '\\',
  'null',
  '1e999',
  '-',
  '""',
  '{}',
  '[]',
  '\u0000',
  'ä',
  '\ud800',
  '#',
  ':v',
  '(',
  ' AND ',
  '{"S":',
  '{"N":"x"}',
  '"__proto__":1,',
  '9'.repeat(50),
  'x'.repeat(3000),
  '['.repeat(300),
]

function damaged(text) {
  let result = text
  for (let times = 1 + random(3); times > 0; times--) {
    const at = random(result.length + 1)
    const length = random(4) === 0 ? random(30) : random(3)
    const piece = random(3) === 0 ? result.slice(at, at + length) : oneOf(PIECES)
    result = result.slice(0, at) + piece + result.slice(at + (random(2) === 0 ? length : 0))
  }
  return result
}

function requestBytes() {
  const [target, valid] = oneOf(TEMPLATES)
  const body = Buffer.from(damaged(valid))
  const header =
    random(40) === 0 ? `${oneOf(['expect: x', 'x-empty:', 'accept: \t', 'x-amz-target: y'])}\r\n` : ''
  const operation =
    random(50) === 0
      ? damaged(target)
          .replaceAll(/[^ -~]/g, '?')
          .slice(0, 400)
      : target
  return Buffer.concat([
    Buffer.from(
      `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\nx-amz-target: ${operation}\r\n${header}content-length: ${body.length}\r\n\r\n`,
    ),
    body,
  ])
}

const main = new URL('../dist/src/cli/main.js', import.meta.url).pathname
const server = spawn(process.execPath, [main, 'start', '--memory', '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
let url = ''
for await (const line of createInterface({ input: server.stdout })) {
  url = /(http:\S+)/.exec(line)?.[1] ?? ''
  if (url !== '') break
}
server.stdout.resume()
const residentMB = () =>
  Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024)

const call = async (target, input) => {
  const headers = {
    'content-type': 'application/x-amz-json-1.0',
    'x-amz-target': `DynamoDB_20120810.${target}`,
  }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(input) })
  if (!response.ok) throw new Error(`${target}: ${await response.text()}`)
  return response.json()
}
await call('CreateTable', {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
})

const byStatus = new Map()
const failures = []
let sent = 0

/** One request after another on a connection, as long as it stays open. */
async function converse() {
  while (sent < COUNT) {
    const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1' })
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    const chunks = socket[Symbol.asyncIterator]()
    let received = Buffer.alloc(0)
    let isOpen = true
    while (isOpen && sent < COUNT) {
      const bytes = requestBytes()
      sent++
      socket.write(bytes)
      let status
      while (status === undefined && isOpen) {
        const headEnd = received.indexOf('\r\n\r\n')
        const head = headEnd === -1 ? '' : received.toString('latin1', 0, headEnd)
        const end = headEnd + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
        if (headEnd !== -1 && received.length >= end) {
          status = Number(head.slice(9, 12))
          received = received.subarray(end)
          if (/connection: close/i.test(head)) isOpen = false
        } else {
          const { value, done } = await chunks.next()
          if (done) isOpen = false
          else received = Buffer.concat([received, value])
        }
      }
      byStatus.set(status, (byStatus.get(status) ?? 0) + 1)
      if (status === undefined || status >= 500)
        failures.push([status, bytes.toString('latin1').slice(0, 2000)])
    }
    socket.destroy()
  }
}

const started = performance.now()
await Promise.all(Array.from({ length: CONNECTIONS }, converse))
await call('PutItem', { TableName, Item: { id: { S: 'well' } } })
const seconds = (performance.now() - started) / 1000
for (const [status, bytes] of failures.slice(0, 5)) console.log(`${status}: ${JSON.stringify(bytes)}`)
const counts = [...byStatus]
  .toSorted(([a], [b]) => Number(a) - Number(b))
  .map(([status, count]) => `${count} of ${status}`)
console.log(
  `${sent} requests from seed ${values.seed} in ${seconds.toFixed(0)} s: ${counts.join(', ')}; ` +
    `${failures.length} with 5xx or without an answer; ${residentMB()} MB resident`,
)
server.kill('SIGTERM')
const [code] = await once(server, 'exit')
process.exitCode = failures.length === 0 && code === 0 ? 0 : 1
