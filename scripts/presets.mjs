// Runs the examples of the presets with the real vitest and jest, on the package as a user has it.
//
//   node scripts/presets.mjs [vitest@VERSION] [jest@VERSION]     the newest of both unless some are named
//
// Both are installed in a temporary folder, with the packed package: they bring far more than they would prove in every
// `npm ci` (docs/adr/0028).
import { spawnSync } from 'node:child_process'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, withPacked } from './packed.mjs'

const RUNS = {
  vitest: [
    ['run'],
    ['run', '--no-isolate', '--no-file-parallelism'],
    ['run', '--pool=threads'],
    ['run', '--config', 'vitest.fresh.config.js'],
  ],
  jest: [[], ['--runInBand'], ['--config', 'jest.fresh.config.js']],
}

const named = process.argv.slice(2)
const packages = named.length > 0 ? named : Object.keys(RUNS)
const unknown = packages.filter((name) => !(name.split('@')[0] in RUNS))
if (unknown.length > 0) {
  console.error(`no such preset: ${unknown.join(', ')}; there are ${Object.keys(RUNS).join(', ')}`)
  process.exit(2)
}

const failed = withPacked([...packages, 'yaml'], (folder) =>
  packages
    .map((name) => name.split('@')[0])
    .flatMap((name) => {
      const project = join(folder, `${name}-preset`)
      cpSync(join(ROOT, 'examples', `${name}-preset`), project, { recursive: true })
      const program = join(folder, 'node_modules', name, name === 'vitest' ? 'vitest.mjs' : 'bin/jest.js')
      return RUNS[name].filter((args) => {
        console.log(`\n${name} ${args.join(' ')}`)
        return (
          spawnSync(process.execPath, [program, ...args], { cwd: project, stdio: 'inherit' }).status !== 0
        )
      })
    }),
)
if (failed.length > 0) {
  console.error(`${failed.length} of the runs failed`)
  process.exitCode = 1
}
