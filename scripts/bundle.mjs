// Builds lib/, which the package ships, of dist/, which is tested: the entry points and the files that they share, the processes
// and threads that the store starts, and the declarations that the entry points reach (scripts/declarations.mjs). `npm run build` makes dist/.
//
//   node scripts/bundle.mjs               always
//   node scripts/bundle.mjs --if-older    if dist/src has been built since
//
// Everything lies flat in lib/. A module that starts another file by its URL (`new URL('./x.js', import.meta.url)`) stands beside
// it in src/ or has a name of its own, so that the same line finds it in dist/src/ and in lib/ (test/package checks this).
// Chunks are shared between the entry points: a class has one identity, whichever entry it came by.
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { inLines } from './code-lines.mjs'
import { buildConsole, CONSOLE } from './console.mjs'
import { bundledDeclarations } from './declarations.mjs'

/** Of which build it is, for --if-older; the package leaves it out. */
const MADE_OF = '.made-of'
const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const LIB = join(ROOT, 'lib')
/** Built in a folder of its own there and renamed, so that whoever starts a program of lib/ meanwhile finds the whole one. */
const CACHE = join(ROOT, 'node_modules/.cache')

/** What package.json exports, and the command. */
const ENTRIES = {
  index: 'index',
  toolkit: 'toolkit/index',
  verify: 'verify/index',
  'engine-cassandra': 'engine/cassandra/cassandra',
  templates: 'testing/templates',
  vitest: 'testing/vitest',
  jest: 'testing/jest',
  main: 'cli/main',
}

/** Loaded by their file names. */
const STARTED = {
  'vitest-setup': 'testing/vitest-setup',
  'lmdb-writer-process': 'ordered-map/lmdb/writer/lmdb-writer-process',
  'page-thread-main': 'blocks/page-thread-main',
  generator: 'bench/load/generator',
  'alarm-thread': 'bench/load/alarm-thread',
}

/**
 * What is loaded together is one file, with what it imports; the first group that has a module keeps it. LMDB's package takes
 * longer to load than all of the store: a store in memory does without it. Few files, because each costs as much as 20 KB of
 * code.
 */
const GROUPS = [
  [
    'base',
    /\/(model|expression|port|runtime)\/|\/(line|changes)\/errors|\/toolkit\/values\/|\/server\/access\/|\/mirror\/(ledger-|export-options)|\/store\/store\.|\/partiql\/parse\/first-word\.|\/ordered-map\/(checksum|change-bytes)|\/lmdb\/(file\/(lmdb-(file|check|pages|options)|disk-room|one-bit)|writer\/writer-requests)\./,
  ],
  // The process that writes the index needs no more of them than this.
  ['lmdb-package', /\/lmdb\/file\/lmdb\./],
  ['lmdb', /\/lmdb\/(lmdb-(map|upgrade)|writer\/lmdb-(batch|writer)|file\/sealed-entries)\./],
  // Alone, because others load it in browsers.
  ['verifier', /\/verify\/(?!index)/],
  ['transactor', /\/toolkit\/(?!index)/],
  [
    'opened-store',
    /\/(rules|line|journal|ordered-map(?!\/lmdb)|ledger|storage(?!\/(folder\/(repair|verify)|engine\/))|coordinator(?!\/engine-)|recovery|router(?!\/(statements|streams|transfers|backups)\/)|server|store(?!\/(worker|engine)-)|sorted-btree)\//,
  ],
  ['engine', /\/engine\/|\/engine-(store|placement)\./],
  // Loaded where a server has several.
  ['workers', /\/workers\/|\/store\/worker-|\/cli\/server\/worker-process/],
  // Loaded by the first request for one of its operations.
  ['statements', /\/(partiql|router\/statements)\//],
  ['streams', /\/router\/streams\//],
  ['backups', /\/backups\//],
  ['transfers', /\/(router\/transfers|transfer|buckets|fzstd)\//],
  ['documents', /\/testing\/(?!jest|vitest|templates|test-store)/],
  ['mirror', /\/mirror\/(?!ledger-|export-options)/],
  ['terminal', /\/cli\/command\/(arguments|version)/],
  ['load', /\/bench\/(?!load\/(generator|alarm-thread)\.)/],
]

/**
 * Dependencies that stand in the bundle: an ES module that imports a package of CommonJS makes Node start its reader of such
 * modules, which takes longer than a third of the store (docs/adr/0029).
 */
const INSIDE = ['sorted-btree', 'fzstd']

/** vitest loads it as a source of the project, and warns of sources that the package does not carry. */
const WITHOUT_MAP = 'vitest-setup.js'

/** A small map stands in its file: fewer files. */
const INLINE_MAP_BYTES_MAX = 1500

await buildConsole({ ifOlder: true })
if (process.argv.includes('--if-older') && isUpToDate()) process.exit()

const BUILT = join(ROOT, 'dist/src')
const built = (path) => join(BUILT, `${path}.js`)
/** What is used of the SDK of MCP, as one small text (docs/adr/0047). */
const SDK = built('cli/mcp/sdk')
const SDK_FILE = './mcp-sdk.js'
const entries = Object.entries({ ...ENTRIES, ...STARTED })
const bundle = await rolldown({
  cwd: ROOT,
  input: Object.fromEntries(entries.map(([name, path]) => [name, built(path)])),
  platform: 'node',
  external: (id) => !INSIDE.includes(id) && !id.startsWith('.') && !id.startsWith(ROOT),
  plugins: [
    {
      name: 'maps of the compiler',
      resolveId(id, importer) {
        // The smaller one of the two that the package has.
        if (id === 'sorted-btree') return join(ROOT, 'node_modules/sorted-btree/b+tree.min.js')
        if (importer !== undefined && join(dirname(importer), id) === SDK)
          return { id: SDK_FILE, external: 'relative' }
        return undefined
      },
      load: (path) =>
        path.startsWith(BUILT)
          ? { code: readFileSync(path, 'utf8'), map: readFileSync(`${path}.map`, 'utf8') }
          : { code: `/*! ${licenceOf(path)} */\n${readFileSync(path, 'utf8')}` },
    },
  ],
  onLog(level, log) {
    // A slow machine is no mistake in the bundle.
    if (log.code === 'PLUGIN_TIMINGS') return
    throw new Error(`${level}: ${log.message}`)
  },
})
const { output } = await bundle.generate({
  format: 'esm',
  sourcemap: true,
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  minifyInternalExports: false,
  comments: { legal: true, annotation: true, jsdoc: false },
  // A third smaller. The names of functions and classes of a module stay, and lines come back (scripts/code-lines.mjs), so that a
  // stack trace tells the same as before.
  minify: { compress: true, mangle: { toplevel: false }, codegen: { removeWhitespace: true } },
  codeSplitting: {
    groups: GROUPS.map(([name, test], at) => ({
      name,
      // By its place in dist/src: where the checkout lies must not matter.
      test: (id) => test.test(`/${relative(BUILT, id).replaceAll('\\', '/')}`),
      priority: GROUPS.length - at,
    })),
  },
})
await bundle.close()

mkdirSync(CACHE, { recursive: true })
const NEW = mkdtempSync(join(CACHE, 'lib-'))
/** Of what is imported when it is needed: files that pass on what others export. Those are imported instead. */
const passedOn = new Map()
for (const { type, isEntry, isDynamicEntry, fileName, code } of output) {
  if (type !== 'chunk' || isEntry || !isDynamicEntry) continue
  const target = /^export\{[\w,$]+\}from"\.\/([\w-]+\.js)";\s*(?:\/\/#.*)?\s*$/.exec(code)?.[1]
  if (target !== undefined && !code.includes(' as ')) passedOn.set(fileName, target)
}
for (const file of output) {
  if (file.type !== 'chunk' || passedOn.has(file.fileName)) continue
  const bare = file.code.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
  // A file that only passes on what others export has no map.
  const { code: broken, map: lines } =
    file.map && file.fileName !== WITHOUT_MAP
      ? inLines(bare, file.map, 'src/')
      : { code: bare, map: undefined }
  const code = broken.replace(
    /\bimport\(`\.\/([\w-]+\.js)`\)/g,
    (_, name) => `import(\`./${passedOn.get(name) ?? name}\`)`,
  )
  const map = lines && JSON.stringify(lines)
  const isApart = map?.length > INLINE_MAP_BYTES_MAX
  const place = isApart
    ? `${file.fileName}.map`
    : `data:application/json;base64,${Buffer.from(map ?? '').toString('base64')}`
  const note = map ? `//# sourceMappingURL=${place}\n` : ''
  writeFileSync(join(NEW, file.fileName), code + note, {
    mode: file.name === 'main' ? 0o755 : 0o644,
  })
  if (isApart) writeFileSync(join(NEW, place), map)
}

/** A module with all that it imports, and the licences of that. */
async function smallText(input) {
  const packages = new Map()
  const small = await rolldown({
    cwd: ROOT,
    input,
    platform: 'node',
    plugins: [
      {
        name: 'without what is not used',
        // The server is given a validator of its own, which it never calls: ajv is half of the code.
        load: (path) =>
          path.endsWith('/ajv-provider.js')
            ? 'export const AjvJsonSchemaValidator = class { getValidator() { throw new Error("no validator was given") } }'
            : undefined,
      },
    ],
  })
  const { output } = await small.generate({ format: 'esm', minify: true, comments: false })
  await small.close()
  const [{ code, moduleIds }] = output
  for (const path of moduleIds) {
    const name = /^.*\/node_modules\/(@[^/]+\/)?[^/]+/.exec(path.replaceAll('\\', '/'))?.[0]
    if (name !== undefined) packages.set(name, licenceOf(join(name, 'index.js')))
  }
  return `/*! ${[...packages.values()].join('\n\n')} */\n${code}`
}

writeFileSync(join(NEW, SDK_FILE), await smallText(SDK))

/** What has to stand where the code of another package does. */
function licenceOf(path) {
  let folder = dirname(path)
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder)
  const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return `${name} ${version}\n${readFileSync(join(folder, 'LICENSE'), 'utf8').trim()}`
}

const { main: _, ...libraries } = ENTRIES
for (const [name, text] of bundledDeclarations(join(ROOT, 'dist/src'), libraries))
  writeFileSync(join(NEW, name), text)

// The console, as the server finds it beside the bundle.
mkdirSync(join(NEW, 'console'))
for (const name of readdirSync(CONSOLE)) copyFileSync(join(CONSOLE, name), join(NEW, 'console', name))

writeFileSync(join(NEW, MADE_OF), newestBuild())
chmodSync(NEW, 0o755)
const OLD = mkdtempSync(join(CACHE, 'lib-old-'))
try {
  if (existsSync(LIB)) renameSync(LIB, OLD)
  renameSync(NEW, LIB)
} catch (error) {
  // Another one was faster.
  if (!isUpToDate()) throw error
} finally {
  for (const folder of [OLD, NEW]) rmSync(folder, { recursive: true, force: true })
}
console.log(
  `${relative(process.cwd(), LIB) || '.'}: ${output.filter(({ type }) => type === 'chunk').length - passedOn.size} files`,
)

/** Whether it was made of the build that is there. */
function isUpToDate() {
  try {
    return readFileSync(join(LIB, MADE_OF), 'utf8') === newestBuild()
  } catch {
    return false
  }
}

/** The compiler writes what has changed. */
function newestBuild() {
  const files = readdirSync(join(ROOT, 'dist/src'), { recursive: true }).filter((path) =>
    /\.(?:js|gz)$/.test(path),
  )
  return String(Math.max(...files.map((path) => statSync(join(ROOT, 'dist/src', path)).mtimeMs)))
}
