// Writes docs/reference/api/: a page for each entry point of the package, from the types and their comments.
//
//   node scripts/api-reference.mjs            writes the pages
//   node scripts/api-reference.mjs --check    fails if the pages are not what it would write
//
// TypeDoc needs a compiler with a JavaScript API, which typescript 7 has not. scripts/api-reference/package.json names both;
// they are installed in node_modules/.cache when they are missing (docs/adr/0030).
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { format, resolveConfig } from 'prettier'

const ROOT = resolve(import.meta.dirname, '..')
const WANTED = join(import.meta.dirname, 'api-reference')
const INSTALLED = join(ROOT, 'node_modules/.cache/api-reference')
const FOLDER = 'docs/reference/api'

const GIVEN =
  'In the examples `store` is a store in memory with the tables Books, Accounts, Invoices, Seats, Orders (which has a stream) and Vehicles (a ledger), `client` is a client of ' +
  'the AWS SDK on it, `t` its transactor, `invoices` a lock client, `lock` a lock that it holds, and `path` an empty folder.'

installTools()
// A module finds packages from where it stands.
copyFileSync(join(WANTED, 'render.mjs'), join(INSTALLED, 'render.mjs'))
const { renderPages } = await import(pathToFileURL(join(INSTALLED, 'render.mjs')).href)
const pages = await renderPages(ROOT, [
  {
    page: 'seriatim.md',
    name: 'seriatim',
    entry: 'src/index.ts',
    about: `Opens a store in this process, and serves it over HTTP.\n\n${GIVEN}`,
  },
  {
    page: 'toolkit.md',
    name: 'seriatim/toolkit',
    entry: 'src/toolkit/index.ts',
    about:
      'Units of work and locks for clients of any DynamoDB endpoint. [Units of work](../units.md), ' +
      `[any endpoint](../any-endpoint.md) and [locks](../locks.md) describe how they behave.\n\n${GIVEN}`,
  },
  {
    page: 'verify.md',
    name: 'seriatim/verify',
    entry: 'src/verify/index.ts',
    about:
      'Verifies proofs, checkpoints and exports of a ledger, in Node and in browsers, without a store and without trust in one. ' +
      'It has no dependencies. [What can be proven](../../explanation/ledger.md) says what that means.\n\n' +
      'In the examples `ledgerKey` is the public key of a ledger, `proof` a proof from it, `yesterday` and `today` are two of its ' +
      'checkpoints, `between` is the proof of their consistency, `exported` a map of the files of its export by their paths, and ' +
      '`header` the header of its first block.',
  },
  {
    page: 'engine-cassandra.md',
    name: 'seriatim/engine/cassandra',
    entry: 'src/engine/cassandra/cassandra.ts',
    about:
      'Keeps a store on a ring of Cassandra 5 nodes, which any number of servers share: `open({ engine: cassandra(...) })`. It needs ' +
      'npm `cassandra-driver`. [Fleets](../fleet.md) says what works there, and [run a fleet](../../fleet.md) how to set one up.',
  },
  {
    page: 'templates.md',
    name: 'seriatim/templates',
    entry: 'src/testing/templates.ts',
    about: 'Reads tables from the templates that a project is deployed with.',
  },
  {
    page: 'vitest.md',
    name: 'seriatim/vitest',
    entry: 'src/testing/vitest.ts',
    about: 'The preset for vitest. [Use the presets](../../how-to/use-test-presets.md) shows it at work.',
  },
  {
    page: 'jest.md',
    name: 'seriatim/jest',
    entry: 'src/testing/jest.ts',
    about: 'The preset for jest. [Use the presets](../../how-to/use-test-presets.md) shows it at work.',
  },
])

const stale = []
for (const { page, text } of pages) {
  const path = join(ROOT, FOLDER, page)
  const options = await resolveConfig(path)
  const formatted = await format(text, { ...options, filepath: path })
  if (existsSync(path) && readFileSync(path, 'utf8') === formatted) continue
  stale.push(`${FOLDER}/${page}`)
  if (process.argv.includes('--check')) continue
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, formatted)
}
if (!process.argv.includes('--check'))
  console.log(stale.length === 0 ? 'the pages are up to date' : `written: ${stale.join(', ')}`)
else if (stale.length > 0) {
  console.error(`not up to date: ${stale.join(', ')}; run: node scripts/api-reference.mjs`)
  process.exitCode = 1
}

function installTools() {
  const lock = join(WANTED, 'package-lock.json')
  const isCurrent =
    existsSync(join(INSTALLED, 'done')) &&
    readFileSync(join(INSTALLED, 'done'), 'utf8') === readFileSync(lock, 'utf8')
  if (isCurrent) return
  mkdirSync(INSTALLED, { recursive: true })
  for (const name of ['package.json', 'package-lock.json'])
    copyFileSync(join(WANTED, name), join(INSTALLED, name))
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], {
    cwd: INSTALLED,
    stdio: 'inherit',
  })
  if (status !== 0) {
    console.error('TypeDoc could not be installed: npm ci failed')
    process.exit(1)
  }
  copyFileSync(lock, join(INSTALLED, 'done'))
}
