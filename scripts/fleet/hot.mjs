// A hot partition on a ring, by the clock: writers of one item at one server, one alone and many together, in turns. Alone, each write is
// a read and a lightweight transaction of its own; together they share them.
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { call, table } from './history.mjs'
import { startServer } from './servers.mjs'

const TableName = 'Hot'
const WRITERS = [1, 16, 64]
const ROUNDS = 5
const WARM_MS = 10_000
const ROUND_MS = 5000

export async function runHot({ ring, log }) {
  const server = await startServer(ring.address('hot'), 0, log)
  await call(server.url, 'CreateTable', {
    ...table,
    TableName,
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    GlobalSecondaryIndexes: undefined,
  })
  await sleep(3000)
  const rates = new Map(WRITERS.map((writers) => [writers, []]))
  // The first ones are for the compilers of both.
  for (const writers of WRITERS) await load(server.url, writers, WARM_MS / WRITERS.length)
  for (let round = 0; round < ROUNDS; round++)
    for (const writers of WRITERS) {
      const before = await engineCalls(server.url)
      const { done, tookMs } = await load(server.url, writers, ROUND_MS)
      const after = await engineCalls(server.url)
      rates.get(writers).push({ rate: (done / tookMs) * 1000, calls: (after - before) / done })
      log(
        `${writers} writers: ${Math.round((done / tookMs) * 1000)} a second, load ${loadavg()[0].toFixed(2)}`,
      )
    }
  await server.stop()
  const [alone] = WRITERS.map((writers) => median(rates.get(writers).map(({ rate }) => rate)))
  return WRITERS.map((writers) => {
    const rate = median(rates.get(writers).map((each) => each.rate))
    const calls = median(rates.get(writers).map((each) => each.calls))
    return {
      writers,
      'writes a second': Math.round(rate),
      'times one alone': Number((rate / alone).toFixed(1)),
      'calls of the ring a write': Number(calls.toFixed(3)),
    }
  })
}

async function load(url, writers, forMs) {
  const beginMs = performance.now()
  let done = 0
  await Promise.all(
    Array.from({ length: writers }, async () => {
      while (performance.now() - beginMs < forMs) {
        const { status } = await call(url, 'UpdateItem', {
          TableName,
          Key: { id: { S: 'hot' } },
          UpdateExpression: 'ADD n :one',
          ExpressionAttributeValues: { ':one': { N: '1' } },
        })
        if (status === 200) done++
      }
    }),
  )
  return { done, tookMs: performance.now() - beginMs }
}

/** Reads and lightweight transactions so far. */
async function engineCalls(url) {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = text.matchAll(/^seriatim_engine_calls_total\{call="(?:read|cas)",result="\w+"\} (\d+)$/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
