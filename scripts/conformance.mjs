// Runs independent conformance suites, whose expectations were checked against the service, each on a fresh server in memory.
// Ends with 0 only if every test of the suites that are there passes and none is skipped.
//   DYNAMODB_CONFORMANCE=../dynamodb-conformance npm run conformance
//   DYNAMODB_PARITY=../parity DYNAMODB_CONFORMANCE=../dynamodb-conformance npm run conformance
// Each suite signs for a region whose words it expects (docs/reference/known-differences.md); AWS_REGION names another for both.
//   CREATING_MS=8000 DYNAMODB_PARITY=../parity npm run conformance    also tests of tables and indexes that stay CREATING
//   SERIATIM_ON_ENGINE=memory DYNAMODB_CONFORMANCE=... npm run conformance    a server of a fleet, on an engine in memory
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { spawnServer } from '../dist/test/support/spawned-server.js'

const ON_ENGINE = new URL('../dist/test/fleet/on-engine.js', import.meta.url).href
const SUITES = [
  {
    variable: 'DYNAMODB_CONFORMANCE',
    repository: 'nubo-db/dynamodb-conformance',
    commit: '0ba4393668860db921afa5728feffe68b55e3e93',
    // Its expectations are of May 2026. Most regions have worded refusals anew since; this one has not.
    region: 'me-central-1',
    // What has to be there for a checkout to be whole.
    parts: ['tests/tier1', 'tests/tier2', 'tests/tier3', 'src/setup.ts'],
  },
  {
    variable: 'DYNAMODB_PARITY',
    repository: 'paritysuite/dynamodb-conformance',
    commit: undefined,
    region: 'eu-west-2',
    parts: [
      'tests/tier1',
      'tests/tier2/vectorSearch',
      'tests/tier3',
      'src/setup.ts',
      'registry/suite-manifest.json',
    ],
  },
]

let ran = 0
for (const suite of SUITES) {
  const missing = missingOf(suite)
  if (missing === undefined) process.exitCode = Math.max(process.exitCode ?? 0, await run(suite))
  else console.error(`${suite.repository} was not run: ${missing}`)
  if (missing === undefined) ran++
}
if (ran === 0) process.exitCode = 1

/** Why it cannot be run, with what to do; undefined if it can. */
function missingOf({ variable, repository, commit, parts }) {
  const place = process.env[variable]
  if (place === undefined || place === '') {
    const checkout = commit === undefined ? '' : `git checkout ${commit} && `
    return `set ${variable} to a checkout with its dependencies:\n  git clone https://github.com/${repository} SUITE && cd SUITE && ${checkout}npm install`
  }
  const absent = [...parts, 'node_modules/vitest'].filter((part) => !existsSync(join(resolve(place), part)))
  return absent.length === 0 ? undefined : `${place} has no ${absent.join(', no ')}`
}

async function run({ variable, repository, region }) {
  const checkout = resolve(process.env[variable])
  const folder = mkdtempSync(join(tmpdir(), 'seriatim-conformance-'))
  const report = join(folder, 'report.json')
  const creatingMs = process.env['CREATING_MS']
  const onEngine = process.env['SERIATIM_ON_ENGINE']
  const server = await spawnServer(
    ['--memory', ...(creatingMs === undefined ? [] : ['--creating-ms', creatingMs])],
    onEngine === undefined ? {} : { environment: { ...process.env, NODE_OPTIONS: `--import ${ON_ENGINE}` } },
  )
  console.log(`${repository}, ${process.env.AWS_REGION ?? region}`)
  try {
    const ended = await runSuite(checkout, report, server.url, process.env.AWS_REGION ?? region)
    if (!existsSync(report)) throw new Error(`the suite ended with ${ended} and left no report`)
    return summarize(checkout, JSON.parse(readFileSync(report, 'utf8')))
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true })
  }
}

function runSuite(checkout, report, endpoint, region) {
  const vitest = join(checkout, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', '--reporter=json', `--outputFile=${report}`]
  const env = { ...process.env, DYNAMODB_ENDPOINT: endpoint, AWS_REGION: region }
  const child = spawn(process.execPath, args, { cwd: checkout, env, stdio: ['ignore', 'ignore', 'inherit'] })
  return new Promise((resolve) => child.once('exit', resolve))
}

function summarize(checkout, { testResults }) {
  const counts = new Map()
  const failures = []
  for (const { name: file, assertionResults, message } of testResults) {
    const path = relative(checkout, file)
    // A file that could not even be loaded has no results of its own.
    const results =
      assertionResults.length > 0 ? assertionResults : [{ status: 'failed', failureMessages: [message] }]
    for (const { status, fullName = '(the whole file)', failureMessages } of results) {
      count(counts, path, status)
      if (status !== 'passed')
        failures.push(`${path}: ${fullName}: ${failureMessages?.[0]?.split('\n')[0] || status}`)
    }
  }
  print('file', counts)
  for (const failure of failures) console.log(failure)
  return failures.length === 0 && counts.size > 0 ? 0 : 1
}

function count(table, row, status) {
  const counts = table.get(row) ?? { passed: 0, failed: 0, skipped: 0 }
  counts[status === 'passed' || status === 'failed' ? status : 'skipped']++
  table.set(row, counts)
}

function print(title, table) {
  const width = Math.max(...[...table.keys()].map((row) => row.length), title.length)
  const line = (row, cells) =>
    console.log(row.padEnd(width), ...cells.map((cell) => String(cell).padStart(8)))
  line(title, ['passed', 'failed', 'skipped'])
  const total = { passed: 0, failed: 0, skipped: 0 }
  for (const [row, counts] of [...table].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    line(row, [counts.passed, counts.failed, counts.skipped])
    for (const key of Object.keys(total)) total[key] += counts[key]
  }
  line('total', [total.passed, total.failed, total.skipped])
  console.log()
}
