// What a server has in memory: with 100,000 items, idle, and after many overwrites; the heap and the map of the index apart.
//
//   node scripts/memory.mjs [--items 100000] [--overwrites 500000] [-- options of seriatim start]
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  options: {
    items: { type: 'string', default: '100000' },
    overwrites: { type: 'string', default: '500000' },
  },
  allowPositionals: true,
})
const items = Number(values.items)
const overwrites = Number(values.overwrites)
const folder = mkdtempSync(join(tmpdir(), 'seriatim-memory-'))
const main = fileURLToPath(new URL('../dist/src/cli/main.js', import.meta.url))
const server = spawn(
  process.execPath,
  [main, 'start', '--path', join(folder, 'data'), '--port', '0', ...positionals],
  {
    stdio: ['ignore', 'pipe', 'inherit'],
  },
)
try {
  const url = await new Promise((resolve) => {
    server.stdout.on('data', (text) => {
      const found = /http:\S+/.exec(text)
      if (found) resolve(found[0])
    })
  })
  const ask = async (operation, input) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': `DynamoDB_20120810.${operation}`,
      },
      body: JSON.stringify(input),
    })
    if (!response.ok) throw new Error(await response.text())
    await response.arrayBuffer()
  }
  await ask('CreateTable', {
    TableName: 'Items',
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
  })
  const text = { S: 'x'.repeat(850) }
  const write = async (count, start) => {
    const BATCH = 25
    let next = start
    const client = async () => {
      while (next < start + count) {
        const from = next
        next += BATCH
        const puts = Array.from({ length: BATCH }, (_, n) => ({
          PutRequest: { Item: { id: { S: `item-${(from + n) % items}` }, text, n: { N: String(from + n) } } },
        }))
        await ask('BatchWriteItem', { RequestItems: { Items: puts } })
      }
    }
    await Promise.all(Array.from({ length: 16 }, client))
  }
  print('empty')
  await write(items, 0)
  print(`${items} items`)
  await sleep(10_000)
  print('idle for 10 s')
  await write(overwrites, items)
  print(`${overwrites} overwrites`)
  await sleep(10_000)
  print('idle for 10 s')
} finally {
  server.kill('SIGTERM')
  await new Promise((resolve) => {
    server.on('exit', resolve)
  })
  rmSync(folder, { recursive: true })
}

/** Of the process that answers: pages of its own (the heap, and what is beside it), of the index's file, and of programs. */
function print(when) {
  const kb = { own: 0, map: 0, programs: 0 }
  let part = 'own'
  for (const line of readFileSync(`/proc/${server.pid}/smaps`, 'utf8').split('\n')) {
    const area = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ (\d+)\s*(.*)$/.exec(line)
    if (area)
      part = area[2].includes('data.mdb')
        ? 'map'
        : area[1] === '0' || area[2] === '[heap]'
          ? 'own'
          : 'programs'
    const rss = /^Rss:\s+(\d+) kB/.exec(line)
    if (rss) kb[part] += Number(rss[1])
  }
  const mb = (count) => `${(count / 1024).toFixed(0)} MB`.padStart(7)
  console.log(
    `${when.padEnd(24)} own ${mb(kb.own)}   map of the index ${mb(kb.map)}   programs ${mb(kb.programs)}`,
  )
}
