// Makes the data folders of earlier versions that test/storage/folder/old-folders.test.ts opens, each with the code of its time.
//
//   node scripts/old-folders.mjs [NAME ...]      all of them unless some are named; they are written to test/storage/folder/old
//
// A commit is checked out to a temporary folder and built there with the packages that are installed here. Its store writes items
// and transactions, is closed and opened again, writes more, and is killed: a part of it is in the indexes, the rest only in the
// journal. What trails a file as zeros is left out. A folder that is there is not made again unless it is named: a fixture is what
// a version wrote, and stays so.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'

const ROOT = join(import.meta.dirname, '..')
const TARGET = join(ROOT, 'test/storage/folder/old')

/** The last commit that wrote each, or the first where that says more. */
const FOLDERS = {
  'format-1': { commit: 'c4b7261^', nodes: 1 },
  'format-2': { commit: '8692286', nodes: 2 },
  'format-3': { commit: 'c4b7261^', nodes: 2 },
  'format-4-first': { commit: 'c4b7261', nodes: 2 },
  'format-4': { commit: 'fee2727^', nodes: 1 },
  'format-5': { commit: '1ec73f4', nodes: 2, stream: true },
  // A ledger, with a backup of the first half and a base for restores.
  'format-6': { commit: 'dbde8a99', nodes: 2, stream: true, ledger: true },
}

const WRITER = `
const { open, manualClock } = await import(process.argv[2] + '/dist/src/index.js')
const { path, nodes, stream, ledger } = JSON.parse(process.argv[3])
const clock = stream && manualClock(Date.parse('2026-11-17T12:00:00Z'))
// Blocks are made behind requests.
if (ledger) setInterval(() => clock.advance(10), 5)
const store = () => open({ path, nodes, ...(stream && { clock }) })
const plain = (n) => ({ id: { S: 'item ' + n }, kind: { S: 'kind ' + (n % 3) }, n: { N: String(n) } })
const write = async (on, from) => {
  for (let n = from; n < from + 10; n++) await on.call('PutItem', { TableName: 'Things', Item: plain(n) })
  for (let round = 0; round < 3; round++)
    await on.call('TransactWriteItems', {
      TransactItems: [0, 1, 2, 3].map((n) => ({
        Update: {
          TableName: 'Things',
          Key: { id: { S: 'item ' + (from + n) } },
          UpdateExpression: 'ADD n :more',
          ExpressionAttributeValues: { ':more': { N: '100' } },
        },
      })),
    })
}
const first = await store()
await first.call('CreateTable', {
  TableName: 'Things',
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [
    { AttributeName: 'id', AttributeType: 'S' },
    { AttributeName: 'kind', AttributeType: 'S' },
  ],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  GlobalSecondaryIndexes: [
    { IndexName: 'ByKind', KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } },
  ],
  ...(ledger && { Tags: [{ Key: 'seriatim:ledger', Value: 'true' }] }),
  ...(stream && { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } }),
})
if (ledger)
  await first.call('UpdateContinuousBackups', {
    TableName: 'Things',
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
  })
await write(first, 0)
if (ledger) {
  await first.call('CreateBackup', { TableName: 'Things', BackupName: 'first-half' })
  await first.idle()
  await first.ledger.digest()
}
await first.close()
const second = await store()
await write(second, 10)
if (ledger) await second.ledger.digest()
process.kill(process.pid, 'SIGKILL')
`

/**
 * Earlier versions wrote pages of LMDB with what had been in that memory before. Here memory is cleared when it is allocated, and
 * the process knows nothing that does not belong in a fixture.
 */
const ENVIRONMENT = { MALLOC_PERTURB_: '255' }

const named = process.argv.slice(2)
const names =
  named.length > 0
    ? named
    : Object.keys(FOLDERS).filter((name) => !readdirSync(TARGET).includes(`${name}.json.gz`))
for (const name of names) {
  const { commit, ...options } = FOLDERS[name]
  const work = mkdtempSync(join(tmpdir(), 'seriatim-old-'))
  try {
    const code = join(work, 'code')
    execFileSync('git', ['-C', ROOT, 'worktree', 'add', '--detach', '--quiet', code, commit])
    try {
      symlinkSync(join(ROOT, 'node_modules'), join(code, 'node_modules'))
      // Tests and benchmarks of that time may not compile any more; what is in src must.
      spawnSync(
        process.execPath,
        [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json', '--noEmitOnError', 'false'],
        { cwd: code },
      )
      const path = join(work, 'data')
      const program = join(work, 'writer.mjs')
      writeFileSync(program, WRITER)
      const { signal, stderr } = spawnSync(
        process.execPath,
        [program, code, JSON.stringify({ path, ...options })],
        {
          env: ENVIRONMENT,
        },
      )
      if (signal !== 'SIGKILL') throw new Error(`the writer of ${name} failed: ${stderr}`)
      const files = Object.fromEntries(
        filesIn(path).map((file) => [relative(path, file), packed(readFileSync(file))]),
      )
      const bytes = gzipSync(JSON.stringify({ commit, files }), { level: 9 })
      writeFileSync(join(TARGET, `${name}.json.gz`), bytes)
      console.log(
        `${name}: ${bytes.length} bytes, ${readFileSync(join(path, 'seriatim.json'), 'utf8').trim()}`,
      )
    } finally {
      execFileSync('git', ['-C', ROOT, 'worktree', 'remove', '--force', code])
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function filesIn(folder) {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? filesIn(path) : [path]))
    .filter((path) => !/lock(\.mdb)?$/.test(path))
}

/** With its length: the zeros at the end of it are left out. */
function packed(bytes) {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end--
  return { length: bytes.length, start: bytes.subarray(0, end).toString('base64') }
}
