// What a change has to pass, step by step, with the time each step took.
//   node scripts/check.mjs --quick     types, lint, format, a short simulation with a few mutants, all tests (npm test)
//   node scripts/check.mjs             the same with all tests at their whole size, and the whole of the simulations with all
//                                      mutants in place of the short one (npm run check)
//   node scripts/check.mjs --long      what the second has and the first has not
import { spawn } from 'node:child_process'

const bin = (name, ...args) => ['node', `node_modules/.bin/${name}`, ...args]
const node = (script, ...args) => ['node', `scripts/${script}`, ...args]
const inTurn = (...commands) => commands

const LINT = bin('oxlint', '--type-aware', 'src', 'console', 'sim', 'test', 'bench', 'scripts')
const FORMAT = bin(
  'prettier',
  '--check',
  '--cache',
  '--cache-strategy',
  'content',
  '--log-level',
  'warn',
  '.',
)

/** Each has a title and lanes, which run side by side: a command, or several in turn. */
const BUILD = [
  'build, which checks the types',
  bin('tsc', '-p', 'tsconfig.json'),
  bin('tsc', '-p', 'console/tsconfig.json'),
]
const CONSOLE = ['build of the console', node('console.mjs', '--if-older')]
const QUICK = [
  BUILD,
  CONSOLE,
  // Many tests wait for something: the rest has the cores meanwhile.
  [
    'lint, format, a short simulation with a few mutants, and all tests',
    node('test.mjs', '--brief'),
    inTurn(LINT, FORMAT, node('sim.mjs', '--short', '--processes', '1')),
  ],
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
    inTurn(
      node('test.mjs', '--brief', '--workers', '2', ...ON_WORKERS, 'server/'),
      node('test.mjs', '--brief', '--workers', '4', ...ON_WORKERS),
    ),
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
  [
    'simulation of fleets, and its mutants',
    node('sim-fleet.mjs', '--worlds', '--processes', '1'),
    node('sim-fleet.mjs', '--mutants'),
  ],
]

const has = (name) => process.argv.includes(name)
/** @type {readonly (readonly [string, ...any[]])[]} */
const steps = has('--quick')
  ? QUICK
  : has('--long')
    ? [SIZED_TESTS, ...LONG]
    : [BUILD, CONSOLE, ['lint, format', LINT, FORMAT], WHOLE_TESTS, ...LONG]
const startMs = Date.now()
const clock = (ms) => `${Math.floor(ms / 60_000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, '0')}`

for (const [at, [title, ...lanes]] of steps.entries()) {
  const stepMs = Date.now()
  console.log(`\n[${at + 1}/${steps.length}] ${title}`)
  const isRight = await Promise.all(lanes.map((lane, place) => allRight(lane, place === 0)))
  const spent = clock(Date.now() - stepMs)
  if (isRight.includes(false)) {
    console.error(`\n[${at + 1}/${steps.length}] ${title}: failed after ${spent}`)
    process.exit(1)
  }
  console.log(`[${at + 1}/${steps.length}] ${title}: ${spent}`)
}
console.log(`\nall ${steps.length} steps passed in ${clock(Date.now() - startMs)}`)

/** Only the first lane is shown as it goes on: of the others each command, once it has ended. */
async function allRight(lane, isShown) {
  let right = true
  for (const command of Array.isArray(lane[0]) ? lane : [lane])
    if ((await (isShown ? shown(command) : told(command))) !== 0) right = false
  return right
}

function shown([command, ...args]) {
  return ended(spawn(programOf(command), args, { stdio: 'inherit' }))
}

async function told([command, ...args]) {
  const beganMs = Date.now()
  const child = spawn(programOf(command), args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk))
  const code = await ended(child)
  const name = [args[0].replace(/^.*\//, ''), ...args.slice(1).filter((each) => each.startsWith('--'))]
  const verdict = code === 0 ? 'passed' : 'FAILED'
  console.log(`\n${name.join(' ')}: ${verdict} after ${clock(Date.now() - beganMs)}`)
  const text = Buffer.concat(output).toString().trimEnd()
  if (text !== '') console.log(text.replace(/^/gm, '    '))
  return code
}

function programOf(command) {
  return command === 'node' ? process.execPath : command
}

function ended(child) {
  return new Promise((resolve) => {
    child.on('close', (code, signal) => resolve(signal === null ? code : 1))
  })
}
