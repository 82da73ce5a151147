// Measures everything that docs/performance.md shows, and writes it and its figures.
//   node scripts/performance.mjs               about 45 minutes; goes on with bench/run.json if it was interrupted
//   node scripts/performance.mjs --new         measures all of it anew
//   node scripts/performance.mjs --large       and a table of ten million items, which takes ten minutes to fill
//   node scripts/performance.mjs --document    writes the page of the run that is there
//   node scripts/performance.mjs --try         everything for a moment, to see that it works: the page is bench/try
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { format, resolveConfig } from 'prettier'
import { fillTemplate, NOT_MEASURED } from '../dist/bench/report/document.js'
import { readRunFile, writeRunFile } from '../dist/bench/run-file.js'

const args = process.argv.slice(2)
const unknown = args.filter((each) => !['--new', '--large', '--document', '--try'].includes(each))
if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(' ')}`)
const has = (name) => args.includes(name)

const trying = has('--try')
const RUN = trying ? 'bench/try/run.json' : 'bench/run.json'
const PAGE = trying ? 'bench/try/performance.md' : 'docs/performance.md'
const FIGURES = trying ? 'bench/try/figures' : 'docs/figures'

/** Other commands whose output the page shows. */
const OUTPUTS = trying
  ? [
      ['units', 'node dist/bench/studies/units.js --rounds 1 --seconds 0.05'],
      ['memory', 'node dist/bench/studies/memory.js --rounds 1 --items 500'],
    ]
  : [
      ['units', 'node dist/bench/studies/units.js --rounds 3 --seconds 1'],
      ['memory', 'node dist/bench/studies/memory.js --rounds 1'],
    ]

function bench(...more) {
  const command = ['dist/bench/main.js', ...more]
  const { status } = spawnSync(process.execPath, command, { stdio: ['inherit', 'ignore', 'inherit'] })
  if (status !== 0) {
    console.error('interrupted: the same command goes on with it')
    process.exit(status ?? 1)
  }
}

function keepOutputs() {
  for (const [name, command] of OUTPUTS) {
    const run = readRunFile(RUN)
    if (run.records[`output/${name}`]?.kind === 'output') continue
    console.error(command)
    const [, ...commandArgs] = command.split(' ')
    const text = execFileSync(process.execPath, commandArgs, { encoding: 'utf8' })
    const records = { ...run.records, [`output/${name}`]: { kind: 'output', name, command, text } }
    writeRunFile(RUN, { ...run, records })
  }
}

if (!has('--document')) {
  if (trying) mkdirSync('bench/try', { recursive: true })
  if (has('--new') || trying) rmSync(RUN, { force: true })
  if (existsSync(RUN))
    console.error(`going on with ${RUN} of ${readRunFile(RUN).startedAt} (--new: all of it anew)`)
  bench(trying ? '--try' : '--page', '--json', RUN, '--resume')
  if (has('--large')) {
    bench(
      '--full',
      '--part',
      'growth',
      '--target',
      'seriatim-disk',
      '--seconds',
      '0.8',
      '--json',
      RUN,
      '--resume',
    )
  }
  keepOutputs()
}
rmSync(FIGURES, { recursive: true, force: true })
bench('--report', '--json', RUN, '--charts', FIGURES)
const run = readRunFile(RUN)
const page = fillTemplate(readFileSync('bench/performance.template.md', 'utf8'), run)
writeFileSync(PAGE, await format(page, { ...(await resolveConfig(PAGE)), parser: 'markdown' }))
console.log(`${PAGE} and ${FIGURES} are written from ${RUN}`)

const gaps = page.split(NOT_MEASURED).length - 1
if (gaps > 0) console.log(`${gaps} places of the page are not measured`)
const failures = Object.entries(run.records).filter(([, { kind }]) => kind === 'failed' || kind === 'missing')
for (const [id, { kind, reason }] of failures) console.log(`${kind}: ${id}: ${reason}`)
if (gaps > 0 || failures.length > 0) process.exitCode = 1
