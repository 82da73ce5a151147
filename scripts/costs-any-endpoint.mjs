// Measures what units of work cost on endpoints without Seriatim's protocol, and writes it into docs/any-endpoint.md.
//   npm run build && node scripts/costs-any-endpoint.mjs
import { readFileSync, writeFileSync } from 'node:fs'
import { costOf, costTable, KINDS, prepareCosts } from '../dist/test/intents/cost-table.js'
import { dynalitePlace, seriatim } from '../dist/test/intents/endpoints.js'

const PAGE = 'docs/any-endpoint.md'
const [START, END] = ['<!-- costs: begin -->', '<!-- costs: end -->']
const rows = []
for (const { where, open } of [
  { where: 'with transactions', open: seriatim },
  { where: 'without', open: dynalitePlace },
]) {
  const place = await open()
  await prepareCosts(place.endpoint)
  for (const items of [1, 3, 10, 100, 1000])
    for (const kind of KINDS) {
      const cost = await costOf(place.endpoint, items, kind, {})
      rows.push({ cost, kind, where })
      console.log(`${where}, ${items}, ${kind}: ${cost.cpuMs.toFixed(0)} ms of CPU`)
    }
  await place.close()
}
const page = readFileSync(PAGE, 'utf8')
const [before] = page.split(START)
const [, after] = page.split(END)
writeFileSync(PAGE, `${before}${START}\n\n${costTable(rows)}\n\n${END}${after}`)
