// What a fleet promises, on a real ring of three Cassandra nodes, which this starts and stops.
//
//   npm run fleet                        the suites of engines, clients, units of work and locks; then two minutes of faults
//   npm run fleet -- --suites            the suites alone
//   npm run fleet -- --faults SECONDS    faults alone, for so long: three servers, clients at all of them (fleet/faults.mjs)
//   npm run fleet -- --seed N            of the faults
//   npm run fleet -- --clients N --pause-ms M    of the faults: so many clients (12), each with pauses of so long in the mean (0)
//   npm run fleet -- --costs             what requests cost the nodes and a server in processor time (fleet/costs.mjs)
//   npm run fleet -- --hot               what writers of one item reach, alone and together, by the clock (fleet/hot.mjs)
//   npm run fleet -- --keep              leaves the data of the ring in its folder for temporary files
//
// Needs a JDK 17, Maven and about 3 GB of memory, and says what is missing. The first run fetches 67 MB.
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runCosts } from './fleet/costs.mjs'
import { runFaults } from './fleet/faults.mjs'
import { runHot } from './fleet/hot.mjs'
import { openProxies, proxied } from './fleet/proxies.mjs'
import { missingForRing, startRing } from './fleet/ring.mjs'

const { values } = parseArgs({
  options: {
    suites: { type: 'boolean', default: false },
    faults: { type: 'string' },
    costs: { type: 'boolean', default: false },
    hot: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    clients: { type: 'string', default: '12' },
    'pause-ms': { type: 'string', default: '0' },
    keep: { type: 'boolean', default: false },
  },
})
const FAULT_SECONDS = 120
const COSTED_REQUESTS = 1200
const NODES = [1, 2, 3]
/** Of suites that run on many endpoints, the tests of fleets. */
const ON_FLEETS = ['toolkit/intents/suite', 'toolkit/locks/endpoints']

const missing = missingForRing()
if (missing !== undefined) {
  console.error(`npm run fleet: ${missing}`)
  process.exit(1)
}
const folder = join(tmpdir(), 'seriatim-ring')
const clear = () => {
  for (const number of NODES) rmSync(join(folder, `node-${number}`), { recursive: true, force: true })
}
clear()
const proxies = await openProxies(NODES)
// The nodes end with this process, if it ends by itself.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
const ring = await startRing({ folder, log: console.log, advertised: proxied })
try {
  if (values.costs) console.table(await runCosts({ ring, requests: COSTED_REQUESTS, log: console.log }))
  else if (values.hot) console.table(await runHot({ ring, log: console.log }))
  else if (values.faults === undefined) process.exitCode = await suites()
  if (!values.suites && !values.costs && !values.hot) await faults(Number(values.faults ?? FAULT_SECONDS))
} finally {
  await ring.stop()
  proxies.close()
  if (!values.keep) clear()
}

async function suites() {
  const environment = { SERIATIM_RING: ring.address('KEYSPACE') }
  const codes = [
    await run(['scripts/test.mjs', 'engine/cassandra', 'storage/engine/', 'fleet/'], environment),
    await run(
      [
        '--test',
        '--test-name-pattern=fleet|on an engine',
        ...ON_FLEETS.map((file) => `dist/test/${file}.test.js`),
      ],
      environment,
    ),
  ]
  return Math.max(...codes)
}

async function faults(seconds) {
  const [seed, clients, pauseMs] = [values.seed, values.clients, values['pause-ms']].map(Number)
  const report = await runFaults({ ring, proxies, seconds, seed, clients, pauseMs, log: console.log })
  console.log(JSON.stringify(report, undefined, 2))
  console.log(`${report.requests} requests, ${report.problems.length} problems`)
  if (report.problems.length > 0) process.exitCode = 1
}

function run(args, environment) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...environment } })
    child.on('close', (status) => resolve(status ?? 1))
  })
}
