// The walk of a request: the files of src that it runs a function of, counted by V8's coverage.
//
//   node scripts/walk.mjs [--list]     --list: which files, and which functions of each
//
// In process, in memory and on disk, on a store that is open and has its table. What the store does in the background at that
// time (the journal, the index) is counted too. `npm run build` first.
import { mkdtempSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { open } from '../dist/src/index.js'

const BUILT = fileURLToPath(new URL('../dist/src/', import.meta.url))
const TABLE = 'Orders'
const lists = process.argv.includes('--list')

const session = new Session()
session.connect()
await session.post('Profiler.enable')

const item = (number) => ({ customer: { S: 'a' }, number: { N: String(number) } })
const WALKS = {
  PutItem: (store) => store.call('PutItem', { TableName: TABLE, Item: item(2) }),
  GetItem: (store) => store.call('GetItem', { TableName: TABLE, Key: item(1) }),
  'a unit with get, query and put': (store) =>
    store.transactor().transact(async (tx) => {
      await tx.get(TABLE, { customer: 'a', number: 1 })
      await tx.query(TABLE, { key: 'customer = :c', values: { ':c': 'a' } })
      tx.put(TABLE, { customer: 'a', number: 3 })
    }),
}

const folder = mkdtempSync(join(tmpdir(), 'seriatim-walk-'))
try {
  for (const where of ['in memory', 'on disk']) {
    for (const [name, walk] of Object.entries(WALKS)) {
      const store = await open(where === 'in memory' ? { memory: true } : { path: join(folder, name) })
      await store.call('CreateTable', {
        TableName: TABLE,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [
          { AttributeName: 'customer', AttributeType: 'S' },
          { AttributeName: 'number', AttributeType: 'N' },
        ],
        KeySchema: [
          { AttributeName: 'customer', KeyType: 'HASH' },
          { AttributeName: 'number', KeyType: 'RANGE' },
        ],
      })
      await store.call('PutItem', { TableName: TABLE, Item: item(1) })
      await store.idle()
      const ran = await covered(() => walk(store))
      await store.close()
      console.log(`${name}, ${where}: ${ran.size} files, ${[...ran.values()].flat().length} functions`)
      if (!lists) continue
      for (const file of [...ran.keys()].toSorted((a, b) => a.localeCompare(b)))
        console.log(`  ${file}: ${ran.get(file).join(' ')}`)
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** The functions that ran meanwhile, by the file of src that they stand in. */
async function covered(work) {
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  // What ran before is taken, and does not count again.
  await session.post('Profiler.takePreciseCoverage')
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  const files = new Map()
  for (const { url, functions } of result) {
    if (!url.startsWith('file:')) continue
    const file = relative(BUILT, fileURLToPath(url)).replaceAll('\\', '/')
    if (file.startsWith('..')) continue
    // The function that begins with the file is the file itself, as it is loaded.
    const names = functions
      .filter(({ ranges }) => ranges[0].count > 0 && ranges[0].startOffset > 0)
      .map(({ functionName }) => functionName || '(arrow)')
    if (names.length > 0) files.set(file.replace(/\.js$/, '.ts'), names)
  }
  return files
}
