// What a fleet promises, on a real ring of three Cassandra nodes, which this starts and stops.
//
//   npm run fleet                        the suites of engines, nodes and transactions, then faults (see scripts/fleet/)
//   npm run fleet -- --suites            the suites alone
//   npm run fleet -- --keep              leaves the data of the ring in its folder for temporary files
//
// Needs a JDK 17, Maven and about 3 GB of memory, and says what is missing. The first run fetches 67 MB.
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { missingForRing, startRing } from './fleet/ring.mjs'

const missing = missingForRing()
if (missing !== undefined) {
  console.error(`npm run fleet: ${missing}`)
  process.exit(1)
}
const folder = join(tmpdir(), 'seriatim-ring')
for (const number of [1, 2, 3]) rmSync(join(folder, `node-${number}`), { recursive: true, force: true })
const ring = await startRing({ folder, log: console.log })
let code = 1
try {
  code = await run(['scripts/test.mjs', 'engine/'], { SERIATIM_RING: ring.address('suites') })
} finally {
  await ring.stop()
  if (!process.argv.includes('--keep'))
    for (const number of [1, 2, 3]) rmSync(join(folder, `node-${number}`), { recursive: true, force: true })
}
process.exitCode = code

function run(args, environment) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: 'inherit', env: { ...process.env, ...environment } })
    child.on('close', (status) => resolve(status ?? 1))
  })
}
