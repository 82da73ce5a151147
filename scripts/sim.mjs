// The long simulation: the store must be sound with all rules of section 4 and without, and at a crash at every crash
// point; one seed must be one run; every mutant must be found.
//   node scripts/sim.mjs [TRANSACTIONS]        two processes at a time; --processes for another number
//   node scripts/sim.mjs --short               a few thousand transactions and a few mutants, in less than a minute
import { parseArgs } from 'node:util'
import { MUTANTS } from '../dist/sim/mutants.js'
import { STORE_MUTANTS } from '../dist/sim/workers/mutants.js'
import { simulate } from './simulator.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false }, processes: { type: 'string', default: '2' } },
})
const { short } = values
const transactions = Number(positionals[0] ?? (short ? 6_000 : 100_000))
/** Of the rules, of durability, of the ledger, of units of work, of a structure that changes its shape, of the log of commits. */
const SHORT_MUTANTS = [
  'updates-out-of-order',
  'answer-before-durable',
  'decision-not-compared',
  'version-not-expected',
  'order-before-map',
  'log-shows-first-part',
  'unknown-outcome-sent-as-refusal',
]
const PROCESSES = Number(values.processes)
const MUTANT_TRANSACTIONS = 40_000
const SEEDS_PER_CRASH_POINT = 20
const SAME_SEED_TRANSACTIONS = short ? 600 : 3_000
const PROGRESS_MS = 15_000

const startMs = Date.now()
const secondsSince = (ms) => ((Date.now() - ms) / 1000).toFixed(0)
let failed = 0

/** Tells how far it is now and then; what was told is left out of the output. */
async function sim(name, args) {
  let progress = ''
  const told = setInterval(() => {
    if (progress !== '') console.log(`... ${name}: ${progress}`)
  }, PROGRESS_MS)
  const { code, output } = await simulate(args, (text) => {
    progress = text.match(/^\d+ (transactions|worlds), .*$/gm)?.at(-1) ?? ''
  })
  clearInterval(told)
  return { code, output: output.replace(/^\d+ (transactions, seed|worlds, ).*\n/gm, '') }
}

/** What a job found, as `{ right, output }`; what it printed is shown if it is not right, or if it is asked for. */
const sound = (name, args, shows) => ({
  name,
  run: async () => {
    const { code, output } = await sim(name, args)
    return { right: code === 0, output, shows }
  },
})

const sameSeed = {
  name: 'one seed, one run',
  run: async () => {
    const args = ['--quiet', '--seed', '7', '--transactions', String(SAME_SEED_TRANSACTIONS)]
    const [first, second] = [await sim('', args), await sim('', args)]
    const [one, other] = [first, second].map(({ output }) => /trace \w+/.exec(output)?.[0])
    return { right: one !== undefined && one === other, output: `${one}, ${other}\n`, shows: true }
  },
}

const mutantFound = ([name, { workload, rules, options = [] }]) => ({
  name: `mutant ${name}`,
  run: async () => {
    const how = ['--quiet', '--mutant', name, '--workload', workload, '--rules', rules]
    const { code, output } = await sim('', [
      ...how,
      ...options,
      '--transactions',
      String(MUTANT_TRANSACTIONS),
    ])
    // A mutant is found by a judge, not by falling over.
    return { right: code === 1 && output.includes(' is wrong:'), output, shows: false }
  },
})

const storeMutantFound = (name) => ({
  name: `mutant ${name}`,
  run: async () => {
    const { code, output } = await sim('', ['workers', '--worlds', '500', '--mutant', name])
    return { right: code === 1 && output.includes(' is wrong:'), output, shows: false }
  },
})
const STORE_WORLD_REQUESTS = 400

const longJobs = [
  ...['all', 'none'].map((rules) =>
    sound(
      `all workloads, ${rules} of the rules`,
      ['--rules', rules, '--transactions', String(transactions)],
      true,
    ),
  ),
  sound(
    'units of work, all of the rules',
    ['--workload', 'units', '--transactions', String(transactions / 4)],
    true,
  ),
  sound(
    'units of work, none of the rules',
    ['--workload', 'units', '--rules', 'none', '--transactions', String(transactions / 10)],
    true,
  ),
  sound(
    'units of work, one node',
    ['--workload', 'units', '--nodes', '1', '--transactions', String(transactions / 10)],
    true,
  ),
  ...['all', 'none'].map((rules) =>
    sound(
      `one process, ${rules} of the rules`,
      ['--processes', 'one', '--rules', rules, '--transactions', String(transactions / 4)],
      true,
    ),
  ),
  sound(
    'one process, units of work',
    ['--processes', 'one', '--workload', 'units', '--transactions', String(transactions / 10)],
    true,
  ),
  sound(
    'log of commits, one process',
    ['--processes', 'one', '--log', 'kept', '--transactions', String(transactions / 5)],
    true,
  ),
  sound(
    'log of commits, units of work',
    [
      '--processes',
      'one',
      '--workload',
      'units',
      '--log',
      'kept',
      '--transactions',
      String(transactions / 20),
    ],
    true,
  ),
  sound(
    'log of commits, many processes',
    ['--journal', 'shared', '--log', 'kept', '--transactions', String(transactions / 10)],
    true,
  ),
  sound(
    'blocks of a ledger, one process',
    ['--processes', 'one', '--log', 'blocks', '--transactions', String(transactions / 10)],
    true,
  ),
  sound(
    'blocks of a ledger, many processes',
    ['--journal', 'shared', '--log', 'blocks', '--transactions', String(transactions / 20)],
    true,
  ),
  sound(
    'backups and restores, one process',
    ['--processes', 'one', '--log', 'backups', '--transactions', String(transactions / 10)],
    true,
  ),
  sound(
    'backups and restores, many processes',
    ['--journal', 'shared', '--log', 'backups', '--transactions', String(transactions / 20)],
    true,
  ),
  sound(
    'streams, one process',
    ['--processes', 'one', '--log', 'streams', '--transactions', String(transactions / 10)],
    true,
  ),
  sound(
    'streams, many processes',
    ['--journal', 'shared', '--log', 'streams', '--transactions', String(transactions / 20)],
    true,
  ),
  ...['all', 'none'].map((rules) =>
    sound(
      `workers, ${rules} of the rules`,
      ['--processes', 'workers', '--rules', rules, '--transactions', String(transactions / 4)],
      true,
    ),
  ),
  sound(
    'workers, units of work',
    ['--processes', 'workers', '--workload', 'units', '--transactions', String(transactions / 20)],
    true,
  ),
  sound(
    'workers, log of commits',
    ['--processes', 'workers', '--log', 'kept', '--transactions', String(transactions / 20)],
    true,
  ),
  ...['many', 'one', 'workers'].map((processes) =>
    sound(
      `every crash point, ${processes === 'many' ? 'many processes' : processes === 'one' ? 'one process' : 'workers'}`,
      ['--processes', processes, '--crash-points', String(SEEDS_PER_CRASH_POINT)],
      true,
    ),
  ),
  sound(
    'tables at several workers',
    ['workers', '--worlds', String(Math.ceil(transactions / STORE_WORLD_REQUESTS))],
    true,
  ),
  ...Object.entries(MUTANTS).map(mutantFound),
  ...Object.keys(STORE_MUTANTS).map(storeMutantFound),
]
const shortJobs = [
  sound('all workloads, all of the rules', ['--quiet', '--transactions', String(transactions)], true),
  sound(
    'units of work',
    ['--quiet', '--workload', 'units', '--transactions', String(transactions / 4)],
    true,
  ),
  sound('one process', ['--quiet', '--processes', 'one', '--transactions', String(transactions / 4)], true),
  sound('workers', ['--quiet', '--processes', 'workers', '--transactions', String(transactions / 4)], true),
  sound('tables at several workers', ['workers', '--worlds', '20'], true),
  ...SHORT_MUTANTS.map((name) => mutantFound([name, MUTANTS[name]])),
  storeMutantFound('principal-dropped'),
]
const jobs = [sameSeed, ...(short ? shortJobs : longJobs)]
const count = jobs.length

async function worker() {
  for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) {
    const jobMs = Date.now()
    const { right, output, shows } = await job.run()
    if (!right) failed++
    console.log(`${right ? 'as it should be' : 'WRONG'}: ${job.name} (${secondsSince(jobMs)} s)`)
    if (!right || shows) console.log(output.replace(/^/gm, '    ').trimEnd())
  }
}
await Promise.all(Array.from({ length: PROCESSES }, worker))
console.log(
  `${count} runs in ${secondsSince(startMs)} s: ` +
    (failed === 0 ? 'the simulation is as it should be' : `${failed} of them are not as they should be`),
)
process.exit(failed === 0 ? 0 : 1)
