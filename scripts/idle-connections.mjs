// Many connections that do nothing, to a server in a process of its own: what they cost, and whether others are served.
//   npm run build && node scripts/idle-connections.mjs [--count 10000]
// Needs about twice as many open files as connections, half of them here (ulimit -n).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { count: { type: 'string', default: '10000' } } })
const COUNT = Number(values.count)
const AT_ONCE = 200
const ASKED = 1000

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
const port = Number(new URL(url).port)

const residentMB = () =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))[1]) / 1024
const request = Buffer.from(
  'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-amz-json-1.0\r\n' +
    'x-amz-target: DynamoDB_20120810.ListTables\r\ncontent-length: 2\r\n\r\n{}',
)

/** Opens one, and uses it once: an unused one is closed after 15 seconds. */
async function openOne() {
  const socket = connect({ port, host: '127.0.0.1' })
  await once(socket, 'connect')
  socket.write(request)
  await once(socket, 'data')
  return socket
}

const idleMB = residentMB()
const sockets = []
while (sockets.length < COUNT)
  sockets.push(
    ...(await Promise.all(Array.from({ length: Math.min(AT_ONCE, COUNT - sockets.length) }, openOne))),
  )
const heldMB = residentMB()
let closed = 0
for (const socket of sockets) socket.once('close', () => closed++)

const other = await openOne()
const times = []
for (let asked = 0; asked < ASKED; asked++) {
  const start = performance.now()
  other.write(request)
  await once(other, 'data')
  times.push(performance.now() - start)
}
times.sort((a, b) => a - b)
console.log(
  `${COUNT} idle connections: ${idleMB.toFixed(0)} MB before, ${heldMB.toFixed(0)} MB with them ` +
    `(${(((heldMB - idleMB) * 1024) / COUNT).toFixed(1)} KB each); ` +
    `${ASKED} requests of another: p50 ${times[ASKED / 2].toFixed(2)} ms, p99 ${times[ASKED * 0.99].toFixed(2)} ms; ${closed} were closed meanwhile`,
)
const isKept = closed === 0
for (const socket of [...sockets, other]) socket.destroy()
server.kill('SIGTERM')
const [code] = await once(server, 'exit')
console.log(`ended with ${code}`)
process.exitCode = code === 0 && isKept ? 0 : 1
