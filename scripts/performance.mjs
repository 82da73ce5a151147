// Measures everything that docs/performance.md shows, and writes it and its figures.
//   node scripts/performance.mjs [--quick | --figures | --full]   goes on with bench/run.json if it was interrupted
//   node scripts/performance.mjs --new ...                        measures all of it anew
//   node scripts/performance.mjs --document                       writes the page of the run that is there
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { format, resolveConfig } from 'prettier'
import { fillTemplate } from '../dist/src/bench/report/document.js'

const RUN = 'bench/run.json'
const PAGE = 'docs/performance.md'
const FIGURES = 'docs/figures'

const args = process.argv.slice(2)
const preset = args.find((each) => ['--quick', '--figures', '--full'].includes(each)) ?? '--figures'

function bench(...more) {
  const command = ['dist/src/cli/main.js', 'bench', ...more]
  const { status } = spawnSync(process.execPath, command, { stdio: ['inherit', 'ignore', 'inherit'] })
  if (status !== 0) process.exit(status ?? 1)
}

if (!args.includes('--document')) {
  if (args.includes('--new')) rmSync(RUN, { force: true })
  bench(preset, '--json', RUN, '--resume')
}
rmSync(FIGURES, { recursive: true, force: true })
bench('--report', '--json', RUN, '--charts', FIGURES)
const page = fillTemplate(
  readFileSync('bench/performance.template.md', 'utf8'),
  JSON.parse(readFileSync(RUN, 'utf8')),
)
writeFileSync(PAGE, await format(page, { ...(await resolveConfig(PAGE)), parser: 'markdown' }))
console.log(`${PAGE} and ${FIGURES} are written from ${RUN}`)
