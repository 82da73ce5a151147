// Measures what units of work cost on endpoints without Seriatim's protocol, and writes it into docs/reference/any-endpoint.md.
//   npm run build && node scripts/costs-any-endpoint.mjs [requests] [growth]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { costOf, costTable, KINDS, prepareCosts } from '../dist/test/toolkit/intents/cost-table.js'
import { dynalitePlace, seriatim } from '../dist/test/toolkit/intents/endpoints.js'
import { growthTable } from '../dist/test/toolkit/intents/growth.js'

const PAGE = 'docs/reference/any-endpoint.md'
const DYNALITE = `require('dynalite')({ createTableMs: 0 }).listen(0, '127.0.0.1', function () {
  console.log('http://127.0.0.1:' + this.address().port)
})`
const wanted = process.argv.length > 2 ? process.argv.slice(2) : ['requests', 'growth']
if (wanted.includes('requests')) replace('costs', costTable(await requests()))
if (wanted.includes('growth')) replace('growth', growthTable(await growth()))

async function requests() {
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
  return rows
}

/** The endpoint in a process of its own, and each client, too. */
async function growth() {
  const rows = []
  for (const { where, args, ready } of [
    {
      where: 'Seriatim',
      args: ['dist/src/cli/main.js', 'start', '--memory', '--port', '0'],
      ready: /listening on (\S+)/,
    },
    {
      where: 'dynalite',
      args: ['-e', DYNALITE],
      ready: /(http:\S+)/,
    },
  ]) {
    const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const url = await said(server, ready)
    for (const items of [100, 300, 1000, 3000]) {
      const args = ['--expose-gc', 'dist/test/toolkit/intents/growth.js', url, String(items)]
      const client = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const growth = JSON.parse(await said(client, /(\{.*\})/))
      rows.push({ growth, where })
      console.log(where, growth)
    }
    server.kill('SIGTERM')
    await once(server, 'exit')
  }
  return rows
}

function said(child, pattern) {
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      const found = pattern.exec(text)
      if (found !== null) resolve(found[1])
    })
    child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${text}`)))
  })
}

function replace(name, table) {
  const [start, end] = [`<!-- ${name}: begin -->`, `<!-- ${name}: end -->`]
  const page = readFileSync(PAGE, 'utf8')
  const [before, rest] = page.split(start)
  const [, after] = rest.split(end)
  writeFileSync(PAGE, `${before}${start}\n\n${table}\n\n${end}${after}`)
}
