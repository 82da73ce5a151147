// What a second server adds where the engine is not the limit, and what sharing steps adds on a hot partition.
//
//   npm run build && node dist/bench/studies/fleet/fleet.js [--seconds 4] [--rounds 3] [--part servers,hot]
//
// Servers: one, then two on the same engine (engine-socket.ts), each with as many clients. On a machine with few cores the clients
// and the engine are in the way of a rate, so what counts is the processor time of the servers for each request: with it, two
// servers on cores of their own carry 2 * (time with one / time with two) of what one carries.
// Hot: writers of one item at one server, by as many clients as are named; alone, each is a read and a compare-and-set of its own.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '3' },
    clients: { type: 'string', default: '24' },
    part: { type: 'string', default: 'servers,hot' },
  },
})
const [seconds, rounds, clients] = [values.seconds, values.rounds, values.clients].map(Number) as [
  number,
  number,
  number,
]
const PROCESS = fileURLToPath(new URL('process.js', import.meta.url))
const TableName = 'Study'
const ITEMS = 20_000
const TICKS_PER_SECOND = 100
const agent = new Agent({ keepAlive: true, maxSockets: 512 })

interface Running {
  readonly child: ChildProcess
  readonly said: string
}

async function start(...args: readonly string[]): Promise<Running> {
  const child = spawn(process.execPath, [PROCESS, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said] = (await once(createInterface(child.stdout), 'line')) as [string]
  child.stdout.resume()
  return { child, said }
}

/** Processor seconds of a process so far. */
function spent({ child }: Running): number {
  const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}

function call(url: string, operation: string, body: unknown): Promise<{ status: number; text: string }> {
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
        const pieces: Buffer[] = []
        answer.on('data', (piece: Buffer) => pieces.push(piece))
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(pieces).toString() }),
        )
      },
    )
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })
}

let state = 1
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

const key = (item: number) => ({ id: { S: `item ${item}` } })
const put = (item: number) => ({
  TableName,
  Item: { ...key(item), text: { S: 'x'.repeat(400) }, n: { N: '1' } },
})

/** Half reads, three tenths writes, a fifth transactions of three items. */
function mixed(url: string): Promise<{ status: number }> {
  const which = random(10)
  if (which < 5) return call(url, 'GetItem', { TableName, Key: key(random(ITEMS)) })
  if (which < 8) return call(url, 'PutItem', put(random(ITEMS)))
  return call(url, 'TransactWriteItems', {
    TransactItems: [0, 1, 2].map((at) => ({ Put: put(random(ITEMS / 3) * 3 + at) })),
  })
}

const add = (url: string): Promise<{ status: number }> =>
  call(url, 'UpdateItem', {
    TableName,
    Key: key(0),
    UpdateExpression: 'ADD n :one',
    ExpressionAttributeValues: { ':one': { N: '1' } },
  })

async function load(
  urls: readonly string[],
  each: number,
  one: (url: string) => Promise<{ status: number }>,
): Promise<number> {
  const endMs = performance.now() + seconds * 1000
  let done = 0
  await Promise.all(
    urls.flatMap((url) =>
      Array.from({ length: each }, async () => {
        while (performance.now() < endMs) if ((await one(url)).status === 200) done++
      }),
    ),
  )
  return done
}

async function fleetOf(servers: number): Promise<readonly Running[]> {
  const engine = await start('engine')
  const running: Running[] = []
  for (let at = 0; at < servers; at++) running.push(await start('server', engine.said))
  const url = running[0]!.said
  await call(url, 'CreateTable', {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  await Promise.all(running.map(({ said }) => load([said], clients, mixed)))
  return [engine, ...running]
}

const stop = (all: readonly Running[]): void => {
  for (const { child } of all) child.kill('SIGKILL')
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!

if (values.part.includes('servers')) {
  const micros: Record<number, number[]> = { 1: [], 2: [] }
  const rates: Record<number, number[]> = { 1: [], 2: [] }
  const fleets = { 1: await fleetOf(1), 2: await fleetOf(2) }
  for (let round = 0; round < rounds; round++)
    for (const servers of [1, 2] as const) {
      const [, ...running] = fleets[servers]
      const before = running.map(spent)
      const urls = running.map(({ said }) => said)
      // As many clients in all: the driver is one process.
      const done = await load(urls, (2 * clients) / servers, mixed)
      const used = running.reduce((sum, each, at) => sum + spent(each) - before[at]!, 0)
      micros[servers]!.push((used / done) * 1e6)
      rates[servers]!.push(done / seconds)
    }
  stop([...fleets[1], ...fleets[2]])
  const [one, two] = [median(micros[1]!), median(micros[2]!)]
  console.log(
    `one server:  ${one.toFixed(0)} us of processor a request, ${median(rates[1]!).toFixed(0)} a second here`,
  )
  console.log(
    `two servers: ${two.toFixed(0)} us of processor a request, ${median(rates[2]!).toFixed(0)} a second here`,
  )
  console.log(
    `two carry ${((2 * one) / two).toFixed(2)} times what one does, for the same processor time a request`,
  )
}

if (values.part.includes('hot')) {
  const fleet = await fleetOf(1)
  const url = fleet[1]!.said
  const alone: number[] = []
  const together: number[] = []
  for (let round = 0; round < rounds; round++) {
    alone.push((await load([url], 1, add)) / seconds)
    together.push((await load([url], 64, add)) / seconds)
  }
  stop(fleet)
  const [one, many] = [median(alone), median(together)]
  console.log(
    `hot partition: ${one.toFixed(0)} writes a second by one client, ${many.toFixed(0)} by 64: ${(many / one).toFixed(1)} times`,
  )
}
process.exit(0)
