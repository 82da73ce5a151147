// What package.json says of the package is true of the code.
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'

const ROOT = resolve(import.meta.dirname, '../../..')
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

test('package: sideEffects names every module that does something when it is loaded, and no other', () => {
  const listed = manifest.sideEffects.map(patternOf)
  const acting = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && ACTION.test(readFileSync(join(ROOT, 'src', path), 'utf8')))
    .map((path) => `./dist/src/${path.replaceAll('\\', '/').replace(/ts$/, 'js')}`)
  const missing = acting.filter((path) => !listed.some((pattern) => pattern.test(path)))
  assert.deepEqual(missing, [])
  for (const pattern of listed)
    assert.ok(
      acting.some((path) => pattern.test(path)),
      `${pattern} names nothing`,
    )
})

test('package: nothing is imported only for what it does when it is loaded', () => {
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  const importing = sources.filter(
    (path) => path.endsWith('.ts') && /^import '/m.test(readFileSync(join(ROOT, 'src', path), 'utf8')),
  )
  assert.deepEqual(importing, [])
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

const patternOf = (glob: string): RegExp =>
  new RegExp(`^${glob.replaceAll('.', '\\.').replace('**/*', '.+')}$`)
