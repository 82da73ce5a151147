// Flips single bits of an index, one in each trial, and counts what verify finds and what a server serves.
//   node scripts/flip-bits.mjs [--trials N] [--seed N] [--nodes N] [--by byte|place]
// `byte`: every byte in use is as likely as any other. `place`: keys, values, lengths, pointers, page headers, branch entries in turns.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { drawFlips, filledFolder, tryFlips } from '../dist/test/damage/flips.js'

const { values } = parseArgs({
  options: {
    trials: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    nodes: { type: 'string', default: '1' },
    by: { type: 'string', default: 'byte' },
  },
})
const scratch = mkdtempSync(join(tmpdir(), 'seriatim-flips-'))
try {
  const folder = join(scratch, 'sound')
  const nodes = Number(values.nodes)
  const model = await filledFolder(folder, nodes)
  const flips = drawFlips(folder, nodes, Number(values.trials), Number(values.seed), values.by)
  const trials = await tryFlips(folder, scratch, model, flips)
  const table = {}
  for (const { flip, found, served } of trials) {
    const row = (table[flip.place] ??= { trials: 0, found: 0 })
    row.trials++
    if (found) row.found++
    row[served] = (row[served] ?? 0) + 1
  }
  console.table(table)
  for (const trial of trials)
    if (!trial.found || trial.served === 'WRONG' || trial.served === 'crash')
      console.log(JSON.stringify(trial))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
