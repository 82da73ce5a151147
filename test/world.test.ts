// Nothing reads the world but the parts that are there for it, and boxes import each other one way only.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Where the world may be read, and why. A folder ends in a slash. */
const MAY_READ_THE_WORLD: readonly { readonly path: string; readonly reason: string }[] = [
  {
    path: 'runtime/',
    reason: 'it is the clock, the random source and the file layer that the others are given',
  },
  { path: 'ordered-map/lmdb/lmdb-map.ts', reason: 'LMDB opens its own files' },
  { path: 'ordered-map/lmdb/file/sealed-entries.ts', reason: 'reads them' },
  { path: 'ordered-map/lmdb/file/disk-room.ts', reason: 'asks how much room the disk has' },
  { path: 'ordered-map/lmdb/lmdb-upgrade.ts', reason: 'brings those of earlier versions up to date' },
  { path: 'ordered-map/lmdb/lmdb-rebuild.ts', reason: 'makes a damaged one anew' },
  { path: 'ordered-map/lmdb/writer/lmdb-writer.ts', reason: 'starts the process that writes them' },
  { path: 'ordered-map/lmdb/writer/lmdb-writer-process.ts', reason: 'is that process' },
  { path: 'ordered-map/lmdb/writer/lmdb-batch.ts', reason: 'writes them where there is none' },
  { path: 'ordered-map/lmdb/file/lmdb-file.ts', reason: 'looks at them before LMDB maps them' },
  { path: 'ordered-map/lmdb/cold/branch-pages.ts', reason: 'reads them before they are looked at' },
  { path: 'ordered-map/lmdb/cold/cold-pages.ts', reason: 'reads their pages before LMDB does' },
  { path: 'buckets/folder-buckets.ts', reason: 'a bucket is a folder, its objects are files' },
  { path: 'transfer/times.ts', reason: 'texts of times that it is given' },
  { path: 'server/', reason: 'an edge: sockets, deadlines of connections, request ids and the Date header' },
  { path: 'cli/', reason: 'an edge: the process, its arguments and files' },
  { path: 'bench/', reason: 'measures the world' },
  { path: 'mirror/export-ledger.ts', reason: 'writes a ledger of another server to files' },
  { path: 'testing/read-document.ts', reason: 'reads templates and seeds for tests of users' },
  {
    path: 'router/lineage/stream-record.ts',
    reason: 'the label of a stream is the text of a time that it is given',
  },
  { path: 'changes/times.ts', reason: 'dates are made of what a record or the clock of the store says' },
  { path: 'blocks/maker.ts', reason: 'the time of a block is the text of a timestamp that it is given' },
  { path: 'toolkit/values/revision.ts', reason: 'a Date is made of the time that a revision has' },
  { path: 'blocks/page-thread.ts', reason: 'starts the thread that makes blocks' },
  { path: 'blocks/page-thread-main.ts', reason: 'is that thread' },
  {
    path: 'storage/folder/folder-key.ts',
    reason: 'the key of a ledger is a file that its owner alone reads',
  },
  {
    path: 'store/wire-values.ts',
    reason: 'a Date is made of a number that an answer carries, not of the clock',
  },
]

const WORLD =
  /\bDate\.now\b|\bMath\.random\b|\brandomUUID\b|\bnew Date\(|\bset(Timeout|Interval|Immediate)\b|\bprocess\.hrtime\b|\bperformance\.now\b|'node:(fs|net|http|https|dgram|timers|worker_threads|child_process|perf_hooks|os)(\/promises)?'|\brandomBytes\b.*'node:crypto'|from 'lmdb'/

const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(join(ROOT, 'src', path), 'utf8') }))

const covers = (place: string, path: string): boolean =>
  place.endsWith('/') ? path.startsWith(place) : path === place

test('nothing reads a clock, a random source, a timer, a file or a socket but where it is listed', () => {
  const readers = sources
    .filter(({ path }) => !MAY_READ_THE_WORLD.some((one) => covers(one.path, path)))
    .flatMap(({ path, text }) =>
      code(text).flatMap((line) => (WORLD.test(line) ? [`${path}: ${line.trim()}`] : [])),
    )
  assert.deepEqual(readers, [])
})

test('every place that may read the world does so', () => {
  const idle = MAY_READ_THE_WORLD.filter(
    (one) =>
      !sources.some(
        ({ path, text }) => covers(one.path, path) && code(text).some((line) => WORLD.test(line)),
      ),
  )
  assert.deepEqual(idle, [])
})

test('boxes import only what docs/architecture.md says they may', () => {
  const allowed = allowedImports()
  const wrong: string[] = []
  for (const { path, text } of sources) {
    const box = boxOf(path)
    for (const imported of importsOf(path, text)) {
      const other = boxOf(imported)
      const may = allowed.get(box)
      assert.ok(may !== undefined, `docs/architecture.md says nothing of ${box}, the box of ${path}`)
      if (other !== box && !may.has(other) && !may.has(imported)) wrong.push(`${path} imports ${imported}`)
    }
  }
  assert.deepEqual(wrong, [])
})

test('no folder imports another one that leads back to it, by value or by type', () => {
  const imports = new Map<string, Set<string>>()
  for (const { path, text } of sources)
    for (const imported of importsOf(path, text))
      if (dirname(imported) !== dirname(path))
        imports.set(dirname(path), (imports.get(dirname(path)) ?? new Set()).add(dirname(imported)))
  const leadsTo = (from: string, seen = new Set<string>()): Set<string> => {
    for (const folder of imports.get(from) ?? []) if (!seen.has(folder)) leadsTo(folder, seen.add(folder))
    return seen
  }
  assert.ok(imports.size > 30)
  assert.deepEqual(
    [...imports.keys()].filter((folder) => leadsTo(folder).has(folder)),
    [],
  )
})

test('an exported name has one home', () => {
  // Every command of the command line exports these two.
  const shared = new Set(['run', 'help'])
  const homes = new Map<string, string[]>()
  const declared = /^export (?:abstract )?(?:async )?(?:interface|type|class|function\*?|const|let) (\w+)/gm
  for (const { path, text } of sources)
    for (const name of new Set([...text.matchAll(declared)].map(([, one]) => one!)))
      homes.set(name, [...(homes.get(name) ?? []), path])
  assert.ok(homes.size > 500)
  const several = [...homes].filter(([name, paths]) => paths.length > 1 && !shared.has(name))
  assert.deepEqual(several, [])
})

test('an exported name is used by somebody', () => {
  const others = ['sim', 'test', 'bench', 'console'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.tsx?$/.test(path))
      .map((path) => readFileSync(join(ROOT, folder, path), 'utf8')),
  )
  const counts = new Map<string, number>()
  for (const text of [...sources.map((source) => source.text), ...others])
    for (const [word] of text.matchAll(/\w+/g)) counts.set(word, (counts.get(word) ?? 0) + 1)
  const unused = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:async )?(?:interface|type|class|function\*?|const) (\w+)/gm)]
      .filter(([, name]) => counts.get(name!) === 1)
      .map(([, name]) => `${path}: ${name}`),
  )
  assert.deepEqual(unused, [])
})

/** Without comments, where the words may stand. */
function code(text: string): string[] {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .map((line) => line.replace(/(^|\s)\/\/.*$/, ''))
}

/** The folder; for files beside them (the store that is put together of all) one box. */
function boxOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : 'index.ts'
}

function importsOf(path: string, text: string): string[] {
  const specifiers = [
    ...code(text)
      .join('\n')
      .matchAll(/(?:from|import\()\s*'(\.[^']+)'/g),
  ].map((match) => match[1]!)
  return specifiers.map((one) =>
    normalize(join(dirname(path), one))
      .replaceAll('\\', '/')
      .replace(/\.js$/, '.ts'),
  )
}

/** The rows of the table: `folder/` | what it does | what it may import. */
function allowedImports(): Map<string, Set<string>> {
  const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')
  const rows = page.split('\n').filter((line) => /^\| `[a-z-]+\//.test(line))
  const allowed = new Map<string, Set<string>>()
  for (const row of rows) {
    const [, boxes = '', , may = ''] = row.split('|')
    const names = quoted(may)
    if (may.includes('the above')) names.push(...allowed.keys())
    if (may.includes('`Router` interface')) names.push('router/request/router.ts')
    if (may.includes('everything')) names.push(...rows.flatMap((one) => quoted(one.split('|')[1] ?? '')))
    for (const box of quoted(boxes)) allowed.set(box, new Set(names))
  }
  assert.ok(allowed.size > 5, 'the table of boxes was not found')
  return allowed
}

const quoted = (cell: string): string[] => [...cell.matchAll(/`([^`]+?)\/?`/g)].map((match) => match[1]!)
