// Attacks real servers and folders from outside, one kind after another, and says which of them found something:
//   npm run attack [-- --scale 0.02] [--seed 1] [--only kills]
//
//   idle        connections that do nothing: others are served
//   malformed   damaged requests of every kind: no 5xx, none without an answer
//   streams     bytes of HTTP, cut anywhere: read as node:http reads them
//   contended   transactions on a few hot items, with 1 and 4 nodes, and 2 and 4 workers: serializable, and nothing acknowledged is lost
//   kills       a server is killed under transactions, with 1 and 4 nodes, and 2 and 4 workers
//   flips       one bit of an index is flipped: nothing wrong is served
//   large       scans, queries and indexes of a large world right after bursts of writes, with 1 and 4 nodes
//
// A scale of 1 takes a day.
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    scale: { type: 'string', default: '0.02' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
  },
})
const scale = Number(values.scale)
const { seed } = values
const some = (all) => String(Math.max(1, Math.round(all * scale)))
const onNodes = (command) => ['1', '4'].map((nodes) => [...command, '--nodes', nodes])
const onWorkers = (command) => ['2', '4'].map((workers) => [...command, '--nodes', '4', '--workers', workers])
const onEach = (command) => [...onNodes(command), ...onWorkers(command)]
const script = (name, ...args) => [`scripts/${name}.mjs`, ...args]
const test = (name, ...args) => [`dist/test/${name}.js`, ...args, '--seed', seed]

/** @type {Readonly<Record<string, readonly string[][]>>} */
const ATTACKS = {
  idle: [script('idle-connections', '--count', '10000')],
  malformed: [script('malformed-requests', '--count', some(1_000_000), '--seed', seed)],
  streams: [test('server/http-fuzz/fuzz', '--seconds', some(3600))],
  contended: onEach(script('contended-transactions', '--count', some(500_000), '--seed', seed)),
  kills: [
    ...onEach(test('kill/kill-loop', '--kills', some(150))),
    ...onEach(test('kill/stream-kill-loop', '--kills', some(250))),
  ],
  flips: [script('flip-bits', '--trials', some(1000), '--seed', seed, '--by', 'place')],
  large: onNodes(test('large/rounds', '--rounds', some(1000), '--keys', scale < 1 ? '60000' : '300000')),
}

const names = values.only === undefined ? Object.keys(ATTACKS) : values.only.split(',')
const commands = names.flatMap((name) => {
  const own = ATTACKS[name]
  if (own === undefined)
    throw new Error(`there is no attack ${name}: there are ${Object.keys(ATTACKS).join(', ')}`)
  return own
})
const failed = []
for (const command of commands) {
  console.log(`\nnode ${command.join(' ')}`)
  if ((await run(command)) !== 0) failed.push(command)
}
console.log(`\n${commands.length - failed.length} of ${commands.length} attacks found nothing`)
for (const command of failed) console.log(`look at: node ${command.join(' ')}`)
process.exitCode = failed.length === 0 ? 0 : 1

function run(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: 'inherit' })
    child.on('close', (code, signal) => resolve(signal === null ? code : 1))
  })
}
