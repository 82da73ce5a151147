// Publishes the version of package.json to npm.
//
//   npm run release                  shows what would be published, and why it could not be
//   npm run release -- --publish     publishes it
//
// With provenance: a statement of the commit and the workflow that the package was built from, signed by the OpenID Connect token
// of the workflow (.github/workflows/release.yml). Outside of a workflow there is no such token, so nothing is published there.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const unknown = process.argv.slice(2).filter((each) => each !== '--publish')
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(' ')}`)
  process.exit(2)
}
const isDry = !process.argv.includes('--publish')
const { name, version, repository } = JSON.parse(readFileSync('package.json', 'utf8'))
const outputOf = (program, ...args) => execFileSync(program, args, { encoding: 'utf8' }).trim()

/** @type {readonly (readonly [string, () => boolean])[]} */
const checks = [
  ['the working tree has no changes', () => outputOf('git', 'status', '--porcelain') === ''],
  [
    `the commit has the tag v${version}`,
    () => outputOf('git', 'tag', '--points-at', 'HEAD').split('\n').includes(`v${version}`),
  ],
  [
    `CHANGELOG.md has a section of ${version}`,
    () =>
      new RegExp(`^## .*${version.replaceAll('.', '\\.')}`, 'm').test(readFileSync('CHANGELOG.md', 'utf8')),
  ],
  ['package.json names a repository', () => !repository.url.includes('example.com')],
  ['a workflow with an OpenID Connect token runs this', () => 'ACTIONS_ID_TOKEN_REQUEST_URL' in process.env],
]
const failed = checks.filter(([title, holds]) => {
  const isFine = holds()
  console.log(`${isFine ? 'yes' : 'no '}  ${title}`)
  return !isFine
})
if (!isDry && failed.length > 0) {
  console.error(`${name} ${version} is not published`)
  process.exit(1)
}
const run = (...args) => execFileSync('npm', args, { stdio: 'inherit' })
run('run', 'build')
run('run', 'bundle')
run(
  'publish',
  '--ignore-scripts',
  '--access',
  'public',
  ...(isDry ? ['--dry-run', '--no-provenance'] : ['--provenance']),
)
