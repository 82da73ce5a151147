// Tries the package on each runtime: a store in memory and on disk, the in-process client, units of work, HTTP.
//
//   node scripts/runtimes.mjs [node20] [node22] [node24] [deno] [bun]     all of them unless some are named
//
// The package is packed and installed as a user would, in a temporary folder; so are the runtimes, which npm packages ship.
// Ends with 1 if a runtime that is supported (Node) fails. docs/how-to/write-tests.md says what the others can do.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { npmInstall, ROOT, withPacked } from './packed.mjs'

const TRIAL = 'runtime-trial.mjs'
const TRIAL_MS_MAX = 180_000

/** The npm package that ships it, and how a file is run with it. */
const RUNTIMES = {
  node20: { supported: true, npm: 'node20@npm:node@20', command: ['node_modules/node20/bin/node'] },
  node22: { supported: true, npm: 'node22@npm:node@22', command: ['node_modules/node22/bin/node'] },
  node24: { supported: true, npm: 'node24@npm:node@24', command: ['node_modules/node24/bin/node'] },
  deno: {
    supported: false,
    npm: 'deno',
    command: ['node_modules/.bin/deno', 'run', '--allow-all', '--node-modules-dir=manual'],
  },
  bun: { supported: false, npm: 'bun', command: ['node_modules/.bin/bun'] },
}

const named = process.argv.slice(2)
const unknown = named.filter((name) => !(name in RUNTIMES))
if (unknown.length > 0) {
  console.error(`no such runtime: ${unknown.join(', ')}; there are ${Object.keys(RUNTIMES).join(', ')}`)
  process.exit(2)
}
const names = named.length > 0 ? named : Object.keys(RUNTIMES)

const results = withPacked([], (folder) => {
  copyFileSync(join(ROOT, 'scripts', TRIAL), join(folder, TRIAL))
  return new Map(
    names.map((name) => [name, install(folder, name) ? trial(folder, RUNTIMES[name]) : undefined]),
  )
})
report(results)
const failed = names.filter((name) => RUNTIMES[name].supported && !isSound(results.get(name)))
if (failed.length > 0) {
  console.error(`failed on ${failed.join(', ')}`)
  process.exitCode = 1
}

/** One by one: a runtime that has no build for this machine takes no other along. */
function install(folder, name) {
  try {
    npmInstall(folder, RUNTIMES[name].npm)
    return true
  } catch {
    console.error(`${name} could not be installed by npm install ${RUNTIMES[name].npm}`)
    return false
  }
}

/** Undefined: it is not there. Otherwise its version and what each step said. */
function trial(folder, { command: [program, ...args] }) {
  const path = join(folder, program)
  if (!existsSync(path)) return undefined
  const version = spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout?.split('\n')[0] ?? ''
  const run = spawnSync(path, [...args, TRIAL], { cwd: folder, encoding: 'utf8', timeout: TRIAL_MS_MAX })
  const steps = run.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
  const how = run.signal === null ? `exit code ${run.status}` : run.signal
  return { version, steps, end: run.status === 0 ? 'ok' : how, errors: run.stderr }
}

function isSound(result) {
  return result !== undefined && result.end === 'ok' && result.steps.every(({ error }) => error === undefined)
}

function report(results) {
  const steps = [
    ...new Set([...results.values()].flatMap((result) => result?.steps.map(({ step }) => step) ?? [])),
  ]
  console.log(`| step | ${names.map((name) => results.get(name)?.version || name).join(' | ')} |`)
  console.log(`| --- | ${names.map(() => '---').join(' | ')} |`)
  const cell = (result, step) => {
    if (result === undefined) return 'not installed'
    const found = result.steps.find((each) => each.step === step)
    return found === undefined ? 'not reached' : found.error === undefined ? 'ok' : 'fails'
  }
  for (const step of steps)
    console.log(`| ${step} | ${names.map((name) => cell(results.get(name), step)).join(' | ')} |`)
  console.log(`| ends | ${names.map((name) => results.get(name)?.end ?? 'not installed').join(' | ')} |`)
  for (const [name, result] of results) {
    for (const { step, error } of result?.steps ?? [])
      if (error !== undefined) console.log(`\n${name}, ${step}: ${error}`)
    if (result !== undefined && result.end !== 'ok')
      console.log(`\n${name} ended with ${result.end}\n${result.errors.slice(-2000)}`)
  }
}
