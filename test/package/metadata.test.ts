// What package.json says of the package is true of the bundle, which lib/ holds.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

const ROOT = resolve(import.meta.dirname, '../../..')
const LIB = join(ROOT, 'lib')
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  readonly sideEffects: readonly string[]
  readonly repository: { readonly url: string }
  readonly homepage: string
  readonly bugs: { readonly url: string }
  readonly publishConfig: { readonly provenance: boolean }
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>
}

/** A line of a module that does more than declare: code within functions is indented. */
const ACTION = /^(?:await |(?:for|if|while) (?:await )?\(|[\w$][\w$.?]*(?:\(| [+]?= |\+\+))/m

const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(join(ROOT, 'src', path), 'utf8') }))

test('package: sideEffects names every module that does something when it is loaded, and no other', () => {
  // Each of them is an entry of the bundle, and its file has the name of the module.
  const acting = sources
    .filter(({ text }) => ACTION.test(text))
    .map(({ path }) => `./lib/${path.replaceAll('\\', '/').split('/').at(-1)!.replace(/ts$/, 'js')}`)
  assert.deepEqual(manifest.sideEffects.toSorted(), acting.toSorted())
  for (const path of manifest.sideEffects) assert.ok(existsSync(join(ROOT, path)), path)
})

test('package: nothing is imported only for what it does when it is loaded', () => {
  const importing = sources.filter(({ text }) => /^import '/m.test(text))
  assert.deepEqual(importing, [])
})

test('package: every file that is started or loaded by its URL stands in the bundle by that name', () => {
  const started = sources.flatMap(({ text }) =>
    [...text.matchAll(/new URL\('([^']+)', import\.meta\.url\)/g)].map(([, path]) => path!),
  )
  assert.ok(started.length >= 4, started.join(' '))
  for (const path of started) {
    assert.match(path, /^(\.\/)?[\w-]+(\.js|\/)$/, 'beside the module that starts it')
    assert.ok(existsSync(join(LIB, path)), path)
  }
})

test('package: every entry of the bundle exports what its module exports', async () => {
  for (const [file, module] of [
    ['index.js', 'index.js'],
    ['toolkit.js', 'toolkit/index.js'],
    ['verify.js', 'verify/index.js'],
    ['engine-cassandra.js', 'engine/cassandra/cassandra.js'],
    ['templates.js', 'testing/templates.js'],
    ['vitest.js', 'testing/vitest.js'],
  ] as const) {
    const names = async (path: string): Promise<readonly string[]> =>
      Object.keys((await import(path)) as object).toSorted()
    assert.deepEqual(await names(join(LIB, file)), await names(join(ROOT, 'dist/src', module)), file)
  }
})

/** A file of the bundle, and those that are loaded with it. */
function loadedWith(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found
  found.add(file)
  const text = readFileSync(join(LIB, file), 'utf8')
  for (const [, imported] of text.matchAll(/\b(?:from|import)"\.\/([\w-]+\.js)"/g))
    loadedWith(imported!, found)
  return found
}

test('package: an import loads no store, and a server is loaded without units of work, LMDB, PartiQL and streams', () => {
  assert.deepEqual([...loadedWith('index.js')], ['index.js', 'base.js'])
  const server = loadedWith('opened-store.js')
  assert.ok(server.has('base.js'))
  for (const file of ['transactor.js', 'lmdb.js', 'lmdb-package.js', 'statements.js', 'streams.js']) {
    assert.ok(existsSync(join(LIB, file)), file)
    assert.ok(!server.has(file), file)
  }
})

test('package: the setup file of vitest names no map, whose sources vitest would miss', () => {
  assert.doesNotMatch(readFileSync(join(LIB, 'vitest-setup.js'), 'utf8'), /sourceMappingURL/)
  assert.match(readFileSync(join(LIB, 'base.js'), 'utf8'), /sourceMappingURL/)
})

test('package: it says where it comes from, and is published with its provenance', () => {
  const { repository, homepage, bugs, publishConfig } = manifest
  assert.match(repository.url, /^git\+https:\/\/.+\.git$/)
  const address = repository.url.slice('git+'.length, -'.git'.length)
  assert.ok(homepage.startsWith(address) && bugs.url.startsWith(address))
  assert.equal(publishConfig.provenance, true)
  assert.ok(existsSync(join(ROOT, '.github/workflows/release.yml')))
})

test('package: every peer is optional, so that none is installed for those who do not use it', () => {
  for (const name of Object.keys(manifest.peerDependencies))
    assert.equal(manifest.peerDependenciesMeta[name]?.optional, true, name)
})
