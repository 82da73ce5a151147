// Runs the conformance suite of nubo-db/dynamodb-conformance, whose expectations were checked against the service,
// on a fresh server in memory. Ends with 0 only if every test outside of the areas below passes and none is skipped.
//   DYNAMODB_CONFORMANCE=../dynamodb-conformance npm run conformance
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { spawnServer } from '../dist/test/support/spawned-server.js'

const REPOSITORY = 'nubo-db/dynamodb-conformance'
const COMMIT = '0ba4393668860db921afa5728feffe68b55e3e93'

/** What Seriatim does not do yet, by the folders of its tests. */
const NOT_YET_SUPPORTED = []

const checkout = resolve(process.env.DYNAMODB_CONFORMANCE || 'not-set')
if (!existsSync(join(checkout, 'node_modules/vitest'))) {
  console.error(
    `Set DYNAMODB_CONFORMANCE to a checkout of github.com/${REPOSITORY} with its dependencies:\n` +
      `  git clone https://github.com/${REPOSITORY} && cd dynamodb-conformance\n` +
      `  git checkout ${COMMIT} && npm install`,
  )
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'seriatim-conformance-'))
const report = join(folder, 'report.json')
const server = await spawnServer()
try {
  const ended = await runSuite(server.url)
  if (!existsSync(report)) throw new Error(`the suite ended with ${ended} and left no report`)
  process.exitCode = summarize(JSON.parse(readFileSync(report, 'utf8')))
} finally {
  await server.stop()
  rmSync(folder, { recursive: true })
}

function runSuite(endpoint) {
  const vitest = join(checkout, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', '--reporter=json', `--outputFile=${report}`]
  const env = { ...process.env, DYNAMODB_ENDPOINT: endpoint, AWS_REGION: 'us-east-1' }
  const child = spawn(process.execPath, args, { cwd: checkout, env, stdio: ['ignore', 'ignore', 'inherit'] })
  return new Promise((resolve) => child.once('exit', resolve))
}

function summarize({ testResults }) {
  const supported = new Map()
  const apart = new Map()
  const failures = []
  for (const { name: file, assertionResults, message } of testResults) {
    const path = relative(checkout, file)
    // A file that could not even be loaded has no results of its own.
    const results =
      assertionResults.length > 0 ? assertionResults : [{ status: 'failed', failureMessages: [message] }]
    for (const { status, fullName = '(the whole file)', failureMessages } of results) {
      const area = areaOf(path)
      count(area === undefined ? supported : apart, area === undefined ? path : `${area}: ${path}`, status)
      if (area === undefined && status !== 'passed') {
        failures.push(`${path}: ${fullName}: ${failureMessages?.[0]?.split('\n')[0] || status}`)
      }
    }
  }
  print('file', supported)
  print('not yet supported', apart)
  for (const failure of failures) console.log(failure)
  return failures.length === 0 && supported.size > 0 ? 0 : 1
}

function areaOf(path) {
  return NOT_YET_SUPPORTED.find((one) => path.startsWith(one.path))?.area
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
