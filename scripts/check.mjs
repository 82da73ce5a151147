// What a change has to pass, step by step, with the time each step took.
//   node scripts/check.mjs --quick     types, lint, format, a short simulation with a few mutants, all tests (npm test)
//   node scripts/check.mjs             the same with all tests at their whole size, and the whole of the simulations with all
//                                      mutants in place of the short one (npm run check)
//   node scripts/check.mjs --long      what the second has and the first has not
import { spawn } from 'node:child_process'

const bin = (name) => ['node', `node_modules/.bin/${name}`]
const node = (script, ...args) => ['node', `scripts/${script}`, ...args]

/** Commands of one step run side by side. */
const BUILD = [
  'build, which checks the types',
  [...bin('tsc'), '-p', 'tsconfig.json'],
  [...bin('tsc'), '-p', 'console/tsconfig.json'],
]
const CONSOLE = ['build of the console', node('console.mjs', '--if-older')]
const STYLE = [
  [...bin('oxlint'), '--type-aware', 'src', 'console', 'sim', 'test', 'bench', 'scripts'],
  [...bin('prettier'), '--check', '--cache', '--cache-strategy', 'content', '--log-level', 'warn', '.'],
]
const TESTS = ['tests', node('test.mjs', '--brief')]
const QUICK = [
  BUILD,
  CONSOLE,
  // The simulation has a core while the format is checked on the other one.
  ['lint, format, a short simulation with a few mutants', ...STYLE, node('sim.mjs', '--short')],
  TESTS,
]
const WHOLE_TESTS = ['tests, at their whole size', node('test.mjs', '--brief', '--whole')]
const SIZED_TESTS = [
  'tests of two sizes, at the larger one',
  node('test.mjs', '--brief', '--whole', '--sized'),
]
const ON_WORKERS = ['router/', 'partiql/', 'toolkit/native', 'streams/', 'ledger/', 'clients/']
const LONG = [
  [
    'the package as it is packed, used; the reference of the API is up to date',
    node('trials.mjs', '--short'),
    node('api-reference.mjs', '--check'),
  ],
  [
    'tests of requests, streams, ledgers and clients, on stores and servers with several workers',
    node('test.mjs', '--brief', '--workers', '2', ...ON_WORKERS, 'server/'),
    node('test.mjs', '--brief', '--workers', '4', ...ON_WORKERS),
  ],
  [
    'contended transactions on servers with several workers',
    node('contended-transactions.mjs', '--count', '10000', '--workers', '2'),
    node('contended-transactions.mjs', '--count', '10000', '--workers', '4'),
  ],
  ['simulation of the store, and its mutants', node('sim.mjs')],
  [
    'simulation of units of work on any endpoint',
    node('sim-intents.mjs', '50000'),
    node('sim-intents.mjs', '50000', '--seed', '1001'),
  ],
  ['its mutants', node('sim-intents.mjs', '--mutants')],
  ['simulation of locks, and its mutants', node('sim-locks.mjs')],
  ['simulation of fleets, and its mutants', node('sim-fleet.mjs')],
]

const has = (name) => process.argv.includes(name)
/** @type {readonly (readonly [string, ...string[][]])[]} */
const steps = has('--quick')
  ? QUICK
  : has('--long')
    ? [SIZED_TESTS, ...LONG]
    : [BUILD, CONSOLE, ['lint, format', ...STYLE], WHOLE_TESTS, ...LONG]
const startMs = Date.now()
const clock = (ms) => `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, '0')}`

for (const [at, [title, ...commands]] of steps.entries()) {
  const stepMs = Date.now()
  console.log(`\n[${at + 1}/${steps.length}] ${title}`)
  const codes = await Promise.all(commands.map(run))
  const spent = clock(Date.now() - stepMs)
  if (codes.some((code) => code !== 0)) {
    console.error(`\n[${at + 1}/${steps.length}] ${title}: failed after ${spent}`)
    process.exit(1)
  }
  console.log(`[${at + 1}/${steps.length}] ${title}: ${spent}`)
}
console.log(`\nall ${steps.length} steps passed in ${clock(Date.now() - startMs)}`)

function run([command, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(command === 'node' ? process.execPath : command, args, { stdio: 'inherit' })
    child.on('close', (code, signal) => resolve(signal === null ? code : 1))
  })
}
