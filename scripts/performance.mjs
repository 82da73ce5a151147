// Measures everything that docs/performance.md and its appendix show, and writes them and their figures.
//   node scripts/performance.mjs               less than 40 minutes; goes on with bench/run.json if it was interrupted
//   node scripts/performance.mjs --new         measures all of it anew
//   node scripts/performance.mjs --judged      only the lines that the store is judged by, about 15 minutes: shows them, and
//                                              writes bench/judged.json and no page; fails if one of them is not met
//   node scripts/performance.mjs --large       and a table of ten million items, which takes ten minutes to fill
//   node scripts/performance.mjs --document    writes the pages of the run that is there
//   node scripts/performance.mjs --try         everything for a moment, to see that it works: the pages are in bench/try
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { format, resolveConfig } from 'prettier'
import { fillTemplate, NOT_MEASURED } from '../dist/bench/report/document.js'
import { isMet, judgedLines, verdictLines } from '../dist/bench/report/judged.js'
import { readRunFile, writeRunFile } from '../dist/bench/run-file.js'

const args = process.argv.slice(2)
const unknown = args.filter((each) => !['--new', '--judged', '--large', '--document', '--try'].includes(each))
if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(' ')}`)
const has = (name) => args.includes(name)

const trying = has('--try')
const judging = has('--judged')
const RUN = trying ? 'bench/try/run.json' : judging ? 'bench/judged.json' : 'bench/run.json'
const FIGURES = trying ? 'bench/try/figures' : 'bench/figures'
/** A template, and the page that is made of it. */
const PAGES = [
  ['bench/performance.template.md', trying ? 'bench/try/performance.md' : 'docs/performance.md'],
  [
    'bench/performance-tables.template.md',
    trying ? 'bench/try/performance-tables.md' : 'bench/performance-tables.md',
  ],
]

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

function measureAll() {
  if (trying) mkdirSync('bench/try', { recursive: true })
  if (has('--new') || trying) rmSync(RUN, { force: true })
  if (existsSync(RUN))
    console.error(`going on with ${RUN} of ${readRunFile(RUN).startedAt} (--new: all of it anew)`)
  bench(judging ? '--judged' : trying ? '--try' : '--page', '--json', RUN, '--resume')
  if (judging) return
  if (has('--large')) {
    const growth = ['--full', '--part', 'growth', '--target', 'seriatim-disk', '--seconds', '0.8']
    bench(...growth, '--json', RUN, '--resume')
  }
  keepOutputs()
}

/** How many placeholders the run has nothing for. */
async function writePages(run) {
  rmSync(FIGURES, { recursive: true, force: true })
  bench('--report', '--json', RUN, '--charts', FIGURES)
  let gaps = 0
  for (const [template, page] of PAGES) {
    const text = fillTemplate(readFileSync(template, 'utf8'), run)
    writeFileSync(page, await format(text, { ...(await resolveConfig(page)), parser: 'markdown' }))
    gaps += text.split(NOT_MEASURED).length - 1
  }
  console.log(`${PAGES.map(([, page]) => page).join(', ')} and ${FIGURES} are written from ${RUN}`)
  if (gaps > 0) console.log(`${gaps} places of the pages are not measured`)
  return gaps
}

function showJudged(run) {
  const lines = judgedLines(run.records)
  for (const line of verdictLines(run.records)) console.log(line)
  for (const { area, what, measured } of lines)
    console.log(`${measured?.toFixed(2) ?? '-'}  ${area}: ${what}`)
  return lines.filter((line) => !isMet(line)).length
}

if (!has('--document')) measureAll()
const run = readRunFile(RUN)
const short = judging ? showJudged(run) : await writePages(run)
const records = Object.entries(run.records)
const failures = records.filter(([, { kind }]) => kind === 'failed' || kind === 'missing')
for (const [id, { kind, reason }] of failures) if (kind === 'failed') console.log(`failed: ${id}: ${reason}`)
// A peer that is missing is so for all that it would have been measured by.
const missing = new Set(failures.filter(([, { kind }]) => kind === 'missing').map(([, { reason }]) => reason))
for (const reason of missing) console.log(`missing: ${reason}`)
if (short > 0 || failures.length > 0) process.exitCode = 1
