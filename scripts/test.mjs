// Runs every compiled test file, or only those whose path contains one of the arguments.
//   node scripts/test.mjs             all
//   node scripts/test.mjs journal     only files with "journal" in their path
//   node scripts/test.mjs --brief     failures, progress, and which files took longest
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'

const wanted = process.argv.slice(2).filter((each) => each !== '--brief')
const reporter = process.argv.includes('--brief') ? './scripts/test-progress.mjs' : 'spec'
const files = readdirSync('dist/test', { recursive: true })
  .map((file) => `dist/test/${file}`)
  .filter((file) => file.endsWith('.test.js'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .toSorted()
if (files.length === 0) {
  console.error(`no test file matches: ${wanted.join(', ')}`)
  process.exit(1)
}
const run = spawnSync(
  process.execPath,
  ['--enable-source-maps', '--test', `--test-reporter=${reporter}`, '--test-concurrency=2', ...files],
  { stdio: 'inherit' },
)
process.exit(run.status ?? 1)
