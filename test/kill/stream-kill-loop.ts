// Kills a server again and again while clients write to a table and a reader follows its stream over the wire.
//
//   node dist/test/kill/stream-kill-loop.js --nodes 4 --kills 250 [--seed 1] [--workers 2]
//
//   writers --> PutItem, UpdateItem, DeleteItem, TransactWriteItems of 3 --+
//                                                                          +--> server, killed by kill -9, started again
//   reader  <-- GetRecords, through shards that roll every minute ---------+
//
// The reader keeps its position over the kill. After each restart it reads to the end, and a judge compares what it was given
// with what the writers were told (stream-judge.ts).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { seededRandom } from '../suites/seeded-random.js'
import { type Attributes, call, killNow, killWorker, scan, settled, start } from './killed-server.js'
import type { KillLoopOptions } from './kill-loop.js'
import { removalOf, StreamJudge, writeOf } from './stream-judge.js'
import { StreamReader } from './stream-reader.js'

export interface StreamKillReport {
  readonly kills: number
  /** Changes of items that a client was told of. */
  readonly acknowledged: number
  readonly records: number
  /** That the reader went through. */
  readonly shards: number
  /** Sentences; empty if all is well. */
  readonly problems: readonly string[]
}

const TABLE = 'Orders'
const ITEMS = 60
const TRANSACTION_ITEMS = 3
const WORKERS = 8
const RUN_MS_MIN = 60
const RUN_MS_SPREAD = 240
const ACKNOWLEDGED_EACH_MIN = 20
const LOOK_MS = 10
const LOOKS_MAX = 3_000
const READ_MS_MAX = 30_000
const SHARD_MINUTES = '1'

type Random = (below: number) => number

export async function streamKillLoop({
  nodes,
  kills,
  seed,
  workers: processes = 1,
  onProgress,
}: KillLoopOptions): Promise<StreamKillReport> {
  const path = mkdtempSync(join(tmpdir(), 'seriatim-stream-kill-'))
  const random = seededRandom(seed)
  const judge = new StreamJudge()
  let shards = 0
  try {
    let server = await start(path, nodes, ['--shard-minutes', SHARD_MINUTES, '--workers', String(processes)])
    const reader = new StreamReader(await createTable(server.url), (record) => judge.take(record))
    let sequence = 0
    for (let kill = 1; kill <= kills && judge.problems.length === 0; kill++) {
      const { url } = server
      const load = { running: true }
      const wanted = judge.acknowledgedCount + ACKNOWLEDGED_EACH_MIN
      const workers = Array.from({ length: WORKERS }, async () => {
        while (load.running) await write(url, `${kill}-${sequence++}`, random, judge).catch(() => undefined)
      })
      const reading = reader.follow(url, () => !load.running)
      await new Promise((resolve) => setTimeout(resolve, RUN_MS_MIN + random(RUN_MS_SPREAD)))
      // On a slow machine the load may not even have begun by then.
      for (let looks = 0; judge.acknowledgedCount < wanted && looks < LOOKS_MAX; looks++)
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      if (judge.acknowledgedCount < wanted)
        judge.problems.push(`kill ${kill}: no write is acknowledged any more`)
      if (processes > 1 && kill % 2 === 0) await killWorker(server.child, kill)
      else await killNow(server.child)
      load.running = false
      await Promise.all([...workers, reading])
      server = await start(path, nodes, ['--shard-minutes', SHARD_MINUTES, '--workers', String(processes)])
      if (random(2) === 0) reader.forgetIterator()
      await settled(server.url, judge.problems)
      await readToTheEnd(server.url, `end of ${kill}`, reader, judge)
      judge.compare(await scan(server.url, TABLE))
      shards = reader.shards
      onProgress?.(
        `kill ${kill} of ${kills}: ${judge.acknowledgedCount} acknowledged changes, ` +
          `${judge.recordCount} records of ${shards} shards, ${judge.problems.length} problems`,
      )
    }
    await killNow(server.child)
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
  const { acknowledgedCount: acknowledged, recordCount: records, problems } = judge
  return { kills, acknowledged, records, shards, problems }
}

/** Resolves to the ARN of its stream. */
async function createTable(url: string): Promise<string> {
  const answer = (await call(url, 'CreateTable', {
    TableName: TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  })) as { readonly TableDescription: { readonly LatestStreamArn: string } }
  return answer.TableDescription.LatestStreamArn
}

/** One request, whose changes are acknowledged if it is answered. */
async function write(url: string, mark: string, random: Random, judge: StreamJudge): Promise<void> {
  const id = String(random(ITEMS))
  switch (random(5)) {
    case 0: {
      const changed = (await call(url, 'DeleteItem', {
        TableName: TABLE,
        Key: { id: { S: id } },
        ReturnValues: 'ALL_OLD',
      })) as { readonly Attributes?: Attributes }
      const removed = changed.Attributes?.['mark']?.S
      if (removed !== undefined) judge.acknowledge(removalOf(id, removed))
      return
    }
    case 1:
      await call(url, 'UpdateItem', update(id, mark))
      return judge.acknowledge(writeOf(id, mark))
    case 2:
    case 3: {
      const part = Math.floor(ITEMS / TRANSACTION_ITEMS)
      const ids = Array.from({ length: TRANSACTION_ITEMS }, (_, at) => String(at * part + random(part)))
      const changes = ids.map((each) => writeOf(each, mark))
      judge.sendTogether(mark, changes)
      const TransactItems = ids.map((each, at) =>
        at === 0 ? { Update: update(each, mark) } : { Put: put(each, mark) },
      )
      await call(url, 'TransactWriteItems', { TransactItems })
      for (const change of changes) judge.acknowledge(change)
      return
    }
    default:
      await call(url, 'PutItem', put(id, mark))
      judge.acknowledge(writeOf(id, mark))
  }
}

const put = (id: string, mark: string): object => ({
  TableName: TABLE,
  Item: { id: { S: id }, mark: { S: mark }, note: { S: 'x'.repeat(200) } },
})

const update = (id: string, mark: string): object => ({
  TableName: TABLE,
  Key: { id: { S: id } },
  UpdateExpression: 'SET mark = :m ADD visits :one',
  ExpressionAttributeValues: { ':m': { S: mark }, ':one': { N: '1' } },
})

/** The end is a write of its own: when the reader has it, it has all before. */
async function readToTheEnd(
  url: string,
  mark: string,
  reader: StreamReader,
  judge: StreamJudge,
): Promise<void> {
  const end = writeOf('end', mark)
  await call(url, 'PutItem', put('end', mark))
  judge.acknowledge(end)
  const deadline = performance.now() + READ_MS_MAX
  await reader.follow(url, () => judge.hasSeen(end) || performance.now() > deadline)
  if (!judge.hasSeen(end)) judge.problems.push(`${end} cannot be read within ${READ_MS_MAX} ms`)
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: {
      nodes: { type: 'string', default: '4' },
      kills: { type: 'string', default: '250' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      workers: { type: 'string', default: '1' },
    },
  })
  const options = {
    nodes: Number(values.nodes),
    kills: Number(values.kills),
    seed: Number(values.seed),
    workers: Number(values.workers),
  }
  console.log(
    `kill loop of streams: --nodes ${options.nodes} --kills ${options.kills} --seed ${options.seed}`,
  )
  const report = await streamKillLoop({ ...options, onProgress: (line) => console.log(line) })
  console.log(JSON.stringify(report, undefined, 2))
  process.exitCode = report.problems.length === 0 ? 0 : 1
}
