// Three servers on a ring of three nodes, with clients at all of them, while nodes and servers are killed, frozen and cut off:
//
//   clients (history.mjs) --> server 1, 2, 3 --> proxies (proxies.mjs) --> node 1, 2, 3
//
//   every few seconds: kill -9 of a node or a server, SIGSTOP of one, a cut between servers and nodes; later its end
//   at the end: all faults end, and each server has to carry out a transaction within 30 s; then the judges
import { setTimeout as sleep } from 'node:timers/promises'
import { botoCaller, sdkCaller } from './callers.mjs'
import { call, Clients, table } from './history.mjs'
import { startServer } from './servers.mjs'

const RECOVERY_MS_MAX = 30_000
/** Of the SDKs. */
const PATIENCE_MS = 20_000

export async function runFaults({ ring, seconds, seed, log, clients: count = 12, pauseMs = 0, proxies }) {
  const random = seeded(seed)
  const between = (least, most) => least + random(most - least + 1)
  const address = ring.address(`faults_${seed}`)
  const servers = [undefined, undefined, undefined]
  const start = async (at) => {
    servers[at] = await startServer(address, servers[at]?.port ?? 0, log)
  }
  for (const at of servers.keys()) await start(at)
  const created = await call(servers[0].url, 'CreateTable', table)
  if (created.status !== 200) throw new Error(`CreateTable: ${JSON.stringify(created)}`)
  for (;;) {
    const { body } = await call(servers[0].url, 'DescribeTable', { TableName: table.TableName })
    if (body?.Table?.TableStatus === 'ACTIVE') break
    await sleep(200)
  }

  const boto = await botoCaller(PATIENCE_MS)
  if (boto === undefined) log('boto3 is not there (apt-get install python3-boto3): it goes without')
  const callers = [sdkCaller(PATIENCE_MS), ...(boto === undefined ? [] : [boto]), { name: 'plain', call }]
  const clients = new Clients({
    urls: () => servers.map((server) => (server?.isUp ? server.url : undefined)),
    random,
    clients: count,
    epochMs: 10_000,
    pauseMs,
    callers,
  })
  const running = clients.run()
  const faults = new Map()
  const pending = new Set()
  const fault = (name, work) => {
    faults.set(name, (faults.get(name) ?? 0) + 1)
    const done = work().finally(() => pending.delete(done))
    pending.add(done)
  }
  const busyNodes = new Set()
  const busyServers = new Set()
  const onNode = (name, work) => {
    // A majority of the nodes has to be there most of the time.
    if (busyNodes.size > (random(6) === 0 ? 1 : 0)) return
    const number = 1 + random(3)
    if (busyNodes.has(number)) return
    busyNodes.add(number)
    fault(name, () => work(number).finally(() => busyNodes.delete(number)))
  }
  const onServer = (name, work) => {
    const at = random(3)
    if (busyServers.has(at)) return
    busyServers.add(at)
    fault(name, () => work(at).finally(() => busyServers.delete(at)))
  }
  const kinds = [
    () =>
      onNode('node killed', async (number) => {
        await ring.kill(number)
        await sleep(between(1000, 8000))
        await ring.start(number)
      }),
    () =>
      onNode('node frozen', async (number) => {
        ring.freeze(number)
        await sleep(between(2000, 15_000))
        ring.thaw(number)
      }),
    () =>
      onNode('node cut off', async (number) => {
        const heal = proxies.cut({ number })
        await sleep(between(2000, 15_000))
        heal()
      }),
    () =>
      onServer('server killed', async (at) => {
        servers[at].isUp = false
        servers[at].child.kill('SIGKILL')
        await sleep(between(500, 4000))
        await start(at)
      }),
    () =>
      onServer('server frozen', async (at) => {
        servers[at].child.kill('SIGSTOP')
        // Now and then for longer than any lease.
        await sleep(random(4) === 0 ? between(20_000, 40_000) : between(1000, 12_000))
        servers[at].child.kill('SIGCONT')
      }),
    () =>
      onServer('server cut off', async (at) => {
        const heal = proxies.cut({ pid: servers[at].child.pid })
        await sleep(between(2000, 15_000))
        heal()
      }),
  ]
  const endMs = performance.now() + seconds * 1000
  let saidMs = performance.now()
  while (performance.now() < endMs) {
    await sleep(between(2000, 7000))
    kinds[random(kinds.length)]()
    if (performance.now() - saidMs < 30_000) continue
    saidMs = performance.now()
    log(
      `${Math.round((endMs - saidMs) / 1000)} s left, ${total(clients.tally)} requests, ${total(faults)} faults`,
    )
  }
  await Promise.all(pending)
  const healedMs = performance.now()
  const recovered = await Promise.all(
    servers.map((server) => firstSuccess(server, clients.epoch.keys, healedMs)),
  )
  clients.end()
  await running
  const recoveryMs = Math.max(...recovered)
  if (recoveryMs > RECOVERY_MS_MAX)
    clients.problems.push(
      `a server did not carry out a transaction within 30 s of the last fault: ${recovered.join()} ms`,
    )
  await clients.judge(servers[0].url)
  for (const caller of callers) caller.close?.()
  await Promise.all(servers.map((server) => server.stop()))
  return {
    clients: callers.map(({ name }) => name),
    requests: total(clients.tally),
    tally: sorted(clients.tally),
    faults: sorted(faults),
    recoveryMs: Math.round(recoveryMs),
    problems: clients.problems,
  }
}

const sorted = (tally) =>
  Object.fromEntries([...tally].toSorted(([one], [other]) => one.localeCompare(other)))
const total = (tally) => [...tally.values()].reduce((sum, each) => sum + each, 0)

/** All lists at once, so that nothing may be pending on any of them. */
async function firstSuccess({ url }, keys, sinceMs) {
  for (;;) {
    const { status } = await call(
      url,
      'TransactGetItems',
      { TransactItems: keys.map((id) => ({ Get: { TableName: table.TableName, Key: { id: { S: id } } } })) },
      5000,
    )
    const put = await call(
      url,
      'TransactWriteItems',
      {
        TransactItems: ['x', 'y'].map((id) => ({
          Put: { TableName: table.TableName, Item: { id: { S: `${id}${url}` }, color: { S: 'none' } } },
        })),
      },
      5000,
    )
    const isDone = put.status === 200 && (status === 200 || status === 400)
    const tookMs = performance.now() - sinceMs
    if (isDone || tookMs > 3 * RECOVERY_MS_MAX) return tookMs
    await sleep(100)
  }
}

/** mulberry32 */
function seeded(seed) {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}
