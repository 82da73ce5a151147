// Runs every compiled test file, or only those whose path contains one of the arguments.
//   node scripts/test.mjs             all
//   node scripts/test.mjs journal     only files with "journal" in their path
//   node scripts/test.mjs --brief     failures, progress, and which files took longest
//   node scripts/test.mjs --times     and what every file took
//   node scripts/test.mjs --whole     tests of two sizes (test/support/sizes.ts) at the larger one
//   node scripts/test.mjs --sized     only files with tests of two sizes
//   node scripts/test.mjs --workers 2 stores and servers that the tests open have several workers (test/support/with-workers.ts)
// Files share a process by the dozen, one after another. A file runs in a process of its own if it has hooks outside of
// `describe`, or a line `// Runs alone: why`, because it changes what belongs to the whole process.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runGroup } from './test-run.mjs'
import { openReport } from './test-progress.mjs'
import { spentMs } from './test-spent.mjs'

const TESTS = 'dist/test'
const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    brief: { type: 'boolean', default: false },
    times: { type: 'boolean', default: false },
    whole: { type: 'boolean', default: false },
    sized: { type: 'boolean', default: false },
    workers: { type: 'string' },
    folder: { type: 'string', default: TESTS },
    // One more than there are cores, because many tests wait for something.
    processes: { type: 'string', default: String(Math.min(8, availableParallelism() + 1)) },
  },
})
const FILES_PER_PROCESS_MAX = 12
const SIZED_WEIGHT = 8
const HAS_HOOKS = /^(before|after|beforeEach|afterEach)\(/m
const RUNS_ALONE = /^\/\/ Runs alone: /m
const HAS_LOCAL = /\b(localDatabase|dynamoDbLocal)\b/
const HAS_SIZES = /support\/sizes\.js'/

const files = readdirSync(values.folder, { recursive: true })
  .map((file) => join(values.folder, file))
  .filter((file) => file.endsWith('.test.js'))
  // What was compiled of a test that has moved since is no test any more.
  .filter(
    (file) =>
      values.folder !== TESTS || existsSync(file.replace(/^dist/, '').slice(1).replace(/\.js$/, '.ts')),
  )
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .filter((file) => !values.sized || hasSizes(file))
  .toSorted()
if (files.length === 0) {
  console.error(`no test file matches: ${wanted.join(', ')}`)
  process.exit(1)
}

// Examples and the tests of the package import what the package ships.
if (values.folder === TESTS) {
  const bundled = spawnSync(process.execPath, ['scripts/bundle.mjs', '--if-older'], { stdio: 'inherit' })
  if (bundled.status !== 0) process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'seriatim-tests-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
const local = await sharedLocal()
const report = openReport({
  isBrief: values.brief,
  isOfAllFiles: values.times,
  write: (text) => process.stdout.write(text),
})
const groups = groupsOf(files)
const environment = {
  ...process.env,
  ...local?.environment,
  SERIATIM_TESTS: values.whole ? 'whole' : 'quick',
  ...withWorkers(),
}
let next = 0
const worker = async () => {
  while (next < groups.length) {
    const at = next++
    const events = join(folder, `${at}.jsonl`)
    await runGroup({ files: groups[at], events, environment, isBrief: values.brief, report })
  }
}
await Promise.all(Array.from({ length: Number(values.processes) }, worker))
await local?.stop()
// All of those processes have been waited for.
process.exitCode = report.end(spentMs().cpuMs) ? 0 : 1

function withWorkers() {
  if (values.workers === undefined) return {}
  const { href } = new URL('../dist/test/support/with-workers.js', import.meta.url)
  return {
    SERIATIM_TEST_WORKERS: values.workers,
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import ${href}`,
  }
}

/** One DynamoDB Local for all files that ask for a database of it. */
async function sharedLocal() {
  if (values.folder !== TESTS || !files.some((file) => HAS_LOCAL.test(readFileSync(file, 'utf8'))))
    return undefined
  const { findDynamoDbLocal } = await import('../dist/bench/targets/dynamodb-local.js')
  const { SHARED_LOCAL, startDynamoDbLocal } = await import('../dist/test/differential/peers.js')
  const place = findDynamoDbLocal(process.env['DYNAMODB_LOCAL'])
  if (place === undefined) return undefined
  const peer = await startDynamoDbLocal(place, 'one a key')
  return { environment: { [SHARED_LOCAL]: peer.url }, stop: () => peer[Symbol.asyncDispose]() }
}

/** What takes longest comes first, so that no process is left with it alone at the end. */
function groupsOf(all) {
  const alone = all.filter(runsAlone)
  const shared = all.filter((file) => !alone.includes(file))
  const rooms = Map.groupBy?.(shared, roomOf) ?? groupedBy(shared, roomOf)
  const groups = alone.map((file) => [file])
  for (const room of rooms.values()) {
    const parts = Math.ceil(room.length / FILES_PER_PROCESS_MAX)
    // Those of two sizes are dealt out like the others, so that each process gets its share.
    const dealt = [...room.filter(hasSizes), ...room.filter((file) => !hasSizes(file))]
    for (let part = 0; part < parts; part++) groups.push(dealt.filter((_, at) => at % parts === part))
  }
  return groups.toSorted((a, b) => weightOf(b) - weightOf(a))
}

/** A guess: files with tests of two sizes have them because they take long. */
function weightOf(group) {
  return group.reduce((sum, file) => sum + (hasSizes(file) ? SIZED_WEIGHT : 1), 0)
}

function hasSizes(file) {
  return HAS_SIZES.test(readFileSync(file, 'utf8'))
}

function runsAlone(file) {
  const source = file.replace(/^dist\//, '').replace(/\.js$/, '.ts')
  const text = readFileSync(file.startsWith('dist/') && existsSync(source) ? source : file, 'utf8')
  return HAS_HOOKS.test(text) || RUNS_ALONE.test(text)
}

/** Files of one folder import much the same. */
function roomOf(file) {
  return file.slice(values.folder.length).split('/').slice(0, 2).join('/')
}

function groupedBy(items, keyOf) {
  const found = new Map()
  for (const item of items) found.set(keyOf(item), [...(found.get(keyOf(item)) ?? []), item])
  return found
}
