// How much processor an import takes for each item, in the process of the store and in the one that writes its index.
//
//   node dist/bench/studies/import.js [--items 300000]
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openLocalStore } from '../../src/store/local-store.js'

const FILES = 4
/** The kernel counts processor time in hundredths of a second. */
const TICK_MICROS = 10_000

const { values } = parseArgs({ options: { items: { type: 'string', default: '300000' } } })
const count = Number(values.items)
const home = mkdtempSync(join(tmpdir(), 'seriatim-import-'))
const bucket = join(home, 'buckets', 'shop')
mkdirSync(bucket, { recursive: true })
const lineOf = (at: number): string =>
  JSON.stringify({
    Item: {
      pk: { S: `user#${(at * 7919) % count}` },
      sk: { N: String(at) },
      name: { S: `name of ${at}` },
      email: { S: `user${at}@example.com` },
      age: { N: String(at % 90) },
      tags: { SS: ['a', `b${at % 5}`] },
      active: { BOOL: true },
      address: { M: { city: { S: 'Berlin' }, zip: { S: '10115' } } },
    },
  })
for (let file = 0; file < FILES; file++) {
  const first = Math.floor((file * count) / FILES)
  const last = Math.floor(((file + 1) * count) / FILES)
  const lines = Array.from({ length: last - first }, (_, at) => lineOf(first + at))
  writeFileSync(join(bucket, `${file}.json`), `${lines.join('\n')}\n`)
}

/** Of the processes that this one has started. */
function otherMicros(): number {
  const started = spawnSync('pgrep', ['-P', String(process.pid)])
    .stdout.toString()
    .trim()
    .split('\n')
  return started.reduce((sum, pid) => {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
      return sum + (Number(fields[11]) + Number(fields[12])) * TICK_MICROS
    } catch {
      return sum
    }
  }, 0)
}

const store = await openLocalStore({ path: join(home, 'data'), buckets: join(home, 'buckets') })
const client = store.client()
const otherBefore = otherMicros()
const ownBefore = process.cpuUsage()
await client.importTable({
  S3BucketSource: { S3Bucket: 'shop' },
  InputFormat: 'DYNAMODB_JSON',
  TableCreationParameters: {
    TableName: 'Users',
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [
      { AttributeName: 'pk', KeyType: 'HASH' },
      { AttributeName: 'sk', KeyType: 'RANGE' },
    ],
    AttributeDefinitions: [
      { AttributeName: 'pk', AttributeType: 'S' },
      { AttributeName: 'sk', AttributeType: 'N' },
    ],
  },
})
await store.idle()
const { user, system } = process.cpuUsage(ownBefore)
const own = (user + system) / count
const other = (otherMicros() - otherBefore) / count
const [summary] = (await client.listImports({})).ImportSummaryList!
console.log(`${summary!.ImportStatus}: ${count} items of ${lineOf(count - 1).length} bytes`)
console.log(
  `${own.toFixed(1)} us of processor for each in this process, ${other.toFixed(1)} in the one that writes the index`,
)
console.log(
  `${Math.round(1e6 / own)} items for each second of this process, ${Math.round(1e6 / (own + other))} of both`,
)
await store.close()
rmSync(home, { recursive: true })
