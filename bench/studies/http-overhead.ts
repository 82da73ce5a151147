// What the HTTP edge costs: a bare node:http server that parses the body and answers 900 fixed bytes, against ours with
// a router that answers the same bytes. The load comes from a process of its own; the two take turns. On a machine with
// other work the processor time of the server for a request says more than the rate.
//
//   node dist/bench/studies/http-overhead.js [rounds] [seconds a round]
import { execFile, fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Router } from '../../src/router/request/router.js'
import { listen } from '../../src/server/http-server.js'
import type { LoadResult } from './http-load.js'

const ITEM = Buffer.from(`{"Item":{"id":{"S":"user-000001"},"data":{"S":"${'x'.repeat(848)}"}}}`)
const KEY = '{"TableName":"Users","Key":{"id":{"S":"user-000001"}}}'

async function serveBare(): Promise<number> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString())
      response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0', 'content-length': ITEM.length })
      response.end(ITEM)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function serveOurs(): Promise<number> {
  const router: Router = { operations: ['GetItem'], handle: async () => ({ ok: true, body: ITEM }) }
  return (await listen(router, { port: 0 })).port
}

async function compare(rounds: number, seconds: number): Promise<void> {
  const self = fileURLToPath(import.meta.url)
  const rateMax: Record<string, number> = {}
  const microsMin: Record<string, number> = {}
  for (let round = 0; round < rounds; round++) {
    for (const kind of ['bare', 'ours']) {
      const child: ChildProcess = fork(self, ['serve', kind])
      const [port] = (await once(child, 'message')) as [number]
      const arguments_ = ['--port', String(port), '--operation', 'GetItem', '--body', KEY]
      const loader = fileURLToPath(new URL('http-load.js', import.meta.url))
      const run = promisify(execFile)(process.execPath, [loader, ...arguments_, '--seconds', String(seconds)])
      const result = JSON.parse((await run).stdout) as LoadResult
      child.send('usage')
      const [usedMicros] = (await once(child, 'message')) as [number]
      child.kill()
      await once(child, 'exit')
      const micros = usedMicros / result.responses
      rateMax[kind] = Math.max(rateMax[kind] ?? 0, result.perSecond)
      microsMin[kind] = Math.min(microsMin[kind] ?? Infinity, micros)
      const { perSecond, latencyMicrosP50, latencyMicrosP99 } = result
      console.log(
        `${kind}  ${perSecond}/s  p50 ${latencyMicrosP50} us  p99 ${latencyMicrosP99} us  ${micros.toFixed(1)} us of processor a request`,
      )
    }
  }
  const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(1)} %`
  console.log(`best of ${rounds}, against bare node:http:`)
  console.log(`  rate ${percent(rateMax['ours']!, rateMax['bare']!)}`)
  console.log(`  requests for the same processor time ${percent(microsMin['bare']!, microsMin['ours']!)}`)
}

const [first, second] = process.argv.slice(2)
if (first === 'serve') {
  const port = await (second === 'bare' ? serveBare() : serveOurs())
  const before = process.cpuUsage()
  process.on('message', () => {
    const { user, system } = process.cpuUsage(before)
    process.send!(user + system)
  })
  process.send!(port)
} else await compare(Number(first ?? 3), Number(second ?? 2))
