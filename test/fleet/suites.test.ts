// What a store promises to its clients it promises on an engine, too: suites that were written for stores in memory, most of them
// from conformance suites and from the clients that people have, run again with an engine in the place of the memory. Each file runs
// in a process of its own (on-engine.ts). `npm run fleet` runs those of the clients on a ring.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sized } from '../support/sizes.js'
import { SOURCE, spawnServer } from '../support/spawned-server.js'
import { RING } from './shared-engines.js'

const NO_LOG = 'an engine keeps no log of commits'
const NO_SNAPSHOTS = 'an engine has no snapshots: the index is refused'

interface Suite {
  readonly file: string
  /** Tests that do not hold on an engine, and why. They are run, and have to fail. */
  readonly without?: Readonly<Record<string, string>>
  /** Part of the quick size. */
  readonly isQuick?: true
  /** Whether lost and late answers may be made: not where each request is counted or must go well at once. */
  readonly isCalm?: true
}

const SUITES: readonly Suite[] = [
  { file: 'router/found-by-suites', isQuick: true },
  { file: 'router/wording' },
  { file: 'router/query', isQuick: true },
  { file: 'router/query-text' },
  { file: 'router/query-model', isQuick: true },
  { file: 'router/scan', isQuick: true },
  { file: 'router/batch' },
  { file: 'router/batch-turns', isCalm: true },
  { file: 'router/later-operations' },
  { file: 'router/page-limits' },
  { file: 'router/read-shaped' },
  { file: 'router/several-key-parts' },
  {
    file: 'router/statement-batches',
    without: {
      'PartiQL: a transaction of reads answers its items, at one moment': 'an engine has no read marks',
    },
  },
  { file: 'router/statement-explain' },
  { file: 'router/statements', isQuick: true },
  {
    file: 'router/table-creation',
    without: {
      'creation: an index that is added is allocated, then filled, then ACTIVE; its table is UPDATING at first':
        'servers of a fleet wait for each other, in real time',
      'creation: a vector index that is added cannot be searched before it is ACTIVE': NO_SNAPSHOTS,
    },
  },
  { file: 'router/tables-operations' },
  { file: 'router/tables-refusals' },
  { file: 'router/transact', isCalm: true },
  { file: 'router/transact-get-one' },
  { file: 'router/transact-refusals' },
  { file: 'router/update-charge' },
  { file: 'router/client-tokens' },
  {
    file: 'router/infrastructure',
    without: {
      'infrastructure: what Terraform sends for a table, its time to live and what surrounds it is answered':
        NO_LOG,
      'infrastructure: a policy is kept by revision, and refused where it is none or the revision is another':
        NO_LOG,
      'infrastructure: what would promise what is not there is refused': NO_LOG,
      'infrastructure: the list of contributor insights has every table and index once, page by page': NO_LOG,
    },
  },
]
const CLIENTS: readonly Suite[] = [
  { file: 'clients/aws-sdk', isQuick: true },
  { file: 'clients/aggregated-client' },
  { file: 'clients/boto3' },
  { file: 'clients/aws-cli' },
  { file: 'clients/conflicts' },
]

interface Verdict {
  readonly name: string
  readonly isPassed: boolean
  readonly text: string
}

const HOOK = new URL('./on-engine.js', import.meta.url).href
const RESULT = /^( *)(not )?ok \d+ - (.*?)( # SKIP.*)?$/

for (const place of RING === undefined ? sized(['troubled'], ['memory', 'troubled']) : [RING])
  for (const { file, without = {}, isCalm } of suitesAt(place)) {
    const onWhat =
      RING === undefined ? `an engine ${place === 'memory' ? 'in memory' : 'in trouble'}` : 'a ring'
    test(`${file} holds on ${onWhat}`, async () => {
      const { verdicts, output } = await verdictsOf(
        file,
        isCalm === true && place === 'troubled' ? 'memory' : place,
      )
      assert.ok(verdicts.length > 0, output)
      for (const { name, isPassed, text } of verdicts) {
        if (isPassed && without[name] !== undefined)
          assert.fail(`${name} holds on an engine: not "${without[name]}"`)
        if (!isPassed && without[name] === undefined) assert.fail(`${name} does not hold\n${text}`)
      }
      const names = new Set(verdicts.map(({ name }) => name))
      for (const name of Object.keys(without)) assert.ok(names.has(name), `there is no test ${name}`)
    })
  }

test('a server that is started as these suites start theirs stands on an engine', async () => {
  const { SERIATIM_TESTS: _, ...rest } = process.env
  const environment = { ...rest, NODE_OPTIONS: `--import ${HOOK}`, SERIATIM_ON_ENGINE: RING ?? 'memory' }
  await using server = await spawnServer(['--memory'], { environment, main: SOURCE })
  const text = await (await fetch(`${server.url}/metrics`)).text()
  assert.match(text, /^seriatim_engine_calls_total\{call="range",result="ok"\} /m)
})

function suitesAt(place: string): readonly Suite[] {
  if (RING !== undefined) return CLIENTS
  const all = [...SUITES, ...CLIENTS]
  return place === 'troubled' && sized(true, false) ? all.filter(({ isQuick }) => isQuick) : all
}

/** Of every test of a file that has no others in it. */
async function verdictsOf(
  file: string,
  place: string,
): Promise<{ readonly verdicts: readonly Verdict[]; readonly output: string }> {
  const { NODE_TEST_CONTEXT: _, SERIATIM_TESTS: __, ...environment } = process.env
  const path = fileURLToPath(new URL(`../${file}.test.js`, import.meta.url))
  const child = spawn(process.execPath, ['--test-reporter=tap', path], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...environment, NODE_OPTIONS: `--import ${HOOK}`, SERIATIM_ON_ENGINE: place },
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise((resolve) => child.once('close', resolve))
  const output = Buffer.concat(chunks).toString()
  const lines = output.split('\n')
  const verdicts: Verdict[] = []
  for (const [at, line] of lines.entries()) {
    const [, indent, not, name, skipped] = RESULT.exec(line) ?? []
    if (name === undefined || indent === undefined || skipped !== undefined) continue
    const end = lines.indexOf(`${indent}  ...`, at)
    const text = lines.slice(at, end).join('\n')
    if (text.includes("type: 'suite'") || text.includes("failureType: 'subtestsFailed'")) continue
    verdicts.push({ name, isPassed: not === undefined, text })
  }
  return { verdicts, output }
}
