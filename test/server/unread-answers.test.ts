// Clients that ask for much and read nothing, against a server in a process of its own.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { spawnServer } from '../support/spawned-server.js'
import { testFolder } from '../support/folder.js'

const SLEEPERS = 500
const ABOVE_IDLE_MB_MAX = 256
const TableName = 'Large'
const MB = 1024 * 1024

type Answer = Readonly<Record<string, unknown>> & { readonly __type?: string }

async function post(url: string, target: string, input: object): Promise<Answer> {
  const headers = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(input) })
  return (await response.json()) as Answer
}

const call = (url: string, operation: string, input: object): Promise<Answer> =>
  post(url, `DynamoDB_20120810.${operation}`, input)

const keys = Array.from({ length: 100 }, (_, at) => ({ id: { S: 'p' }, n: { N: String(at) } }))

async function fill(url: string): Promise<void> {
  await call(url, 'CreateTable', {
    TableName,
    AttributeDefinitions: [
      { AttributeName: 'id', AttributeType: 'S' },
      { AttributeName: 'n', AttributeType: 'N' },
    ],
    KeySchema: [
      { AttributeName: 'id', KeyType: 'HASH' },
      { AttributeName: 'n', KeyType: 'RANGE' },
    ],
    BillingMode: 'PAY_PER_REQUEST',
  })
  for (const key of keys)
    await call(url, 'PutItem', { TableName, Item: { ...key, text: { S: 'x'.repeat(390 * 1024) } } })
}

const BATCH = { RequestItems: { [TableName]: { Keys: keys } } }
const UNIT = {
  Unit: { Id: 'sleeper', Isolation: 'read-committed' },
  Gets: keys.map((Key) => ({ TableName, Key })),
}
const QUERY = {
  TableName,
  KeyConditionExpression: 'id = :p',
  ExpressionAttributeValues: { ':p': { S: 'p' } },
}
const GREEDY: readonly (readonly [string, object])[] = [
  ['DynamoDB_20120810.BatchGetItem', BATCH],
  ['Seriatim_20261101.UnitGetItems', UNIT],
  ['DynamoDB_20120810.Query', QUERY],
]

function bytesOf([target, input]: (typeof GREEDY)[number], more = ''): string {
  const body = JSON.stringify(input)
  return (
    `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\n` +
    `x-amz-target: ${target}\r\ncontent-length: ${body.length}\r\n${more}\r\n${body}`
  )
}

const statusOf = (pid: number, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) /
  1024

/** The process, and all that it has started: further workers, and those that write the index. */
function processesOf(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )
  return [pid, ...children.flatMap(processesOf)]
}

/** Of all its processes. The most that each had at any time may be more than they had together. */
const megabytesOf = (pid: number, name: 'VmRSS' | 'VmHWM'): number =>
  processesOf(pid).reduce((total, each) => total + statusOf(each, name), 0)

/** The most that each has had begins anew with what it has now: filling a table takes memory, too. */
function forgetPeaks(pid: number): void {
  for (const each of processesOf(pid)) writeFileSync(`/proc/${each}/clear_refs`, '5')
}

async function metric(url: string, name: string): Promise<number> {
  const text = await (await fetch(new URL('/metrics', url))).text()
  return Number(new RegExp(`^${name} (\\d+)`, 'm').exec(text)?.[1])
}

/** Asks twice for each of them, the second time in node:http's way, and reads nothing. */
async function sleeper(port: number, at: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  for (const greedy of GREEDY) socket.write(bytesOf(greedy))
  // What comes of another form goes through node:http.
  for (const greedy of GREEDY) socket.write(bytesOf(greedy, at % 2 === 0 ? 'x-empty:\r\n' : ''))
  return socket
}

async function untilQuiet(url: string): Promise<void> {
  // Until no request is under way but the one that asks, several times.
  for (let quiet = 0; quiet < 5;)
    quiet = (await metric(url, 'seriatim_requests_in_flight')) <= 1 ? quiet + 1 : 0
}

for (const workers of [1, 2])
  test(`${SLEEPERS} clients that never read, ${workers} ${workers === 1 ? 'worker' : 'workers'}: memory stays, others are served, and all is well afterwards`, async (t) => {
    await using server = await spawnServer(['--path', testFolder(), '--workers', String(workers)])
    const { url, pid } = server
    await fill(url)
    await untilQuiet(url)
    const idleMB = megabytesOf(pid, 'VmRSS')
    forgetPeaks(pid)

    const sleepers = await Promise.all(
      Array.from({ length: SLEEPERS }, (_, at) => sleeper(Number(new URL(url).port), at)),
    )
    t.after(() => sleepers.forEach((socket) => socket.destroy()))
    await untilQuiet(url)
    // Others are served, many times.
    const Key = { id: { S: 'small' }, n: { N: '1' } }
    for (let count = 0; count < 50; count++) {
      assert.deepEqual(await call(url, 'PutItem', { TableName, Item: Key }), {})
      assert.deepEqual(await call(url, 'GetItem', { TableName, Key }), { Item: Key })
    }
    const peakMB = megabytesOf(pid, 'VmHWM')
    t.diagnostic(`${Math.round(idleMB)} MB idle, ${Math.round(peakMB)} MB at most`)
    assert.ok(
      peakMB - idleMB <= ABOVE_IDLE_MB_MAX,
      `${Math.round(idleMB)} MB grew to ${Math.round(peakMB)} MB`,
    )

    for (const socket of sleepers) socket.destroy()
    while ((await metric(url, 'seriatim_answer_bytes_unsent')) > 0) await untilQuiet(url)
    const { Responses } = await call(url, 'BatchGetItem', BATCH)
    const items = (Responses as Record<string, unknown[]>)[TableName]!
    assert.equal(items.length, Math.floor((16 * MB) / (390 * 1024 + 20)))
  })
