// What a ledger costs, and how fast it is read and verified, in processor time:
//
//   node dist/bench/studies/ledger.js [--part writes,proof,verify,history] [--rounds 9] [--seconds 1] [--kinds 'plain,stream,ledger']
//     [--blocks 10000000] [--verified 1000000] [--versions 100000]
//
//   writes    PutItem of 900 bytes by 64 clients, each put another item than the one before, with the blocks that follow it: of a
//             table without a log, with a stream (NEW_AND_OLD_IMAGES), and of a ledger table. Processor time for a put: of the
//             thread that answers requests, and of all threads and processes of the server. Medians of rounds in turns
//   proof     the tree of that many headers, by the code and the storage of a store in memory: reads and processor time of a proof
//   verify    that many blocks of an exported ledger, verified by one core (files are made as they are read)
//   history   an item with so many versions, read by pages: how many records of the index each page reads
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { addItems } from '../../src/bench/fill.js'
import { Generator } from '../../src/bench/load/generator-process.js'
import { ITEM_BYTES, ITEM_TABLE, type Workload } from '../../src/bench/load/workloads.js'
import { median } from '../../src/bench/statistics.js'
import { fixed, terminalLines, whole } from '../../src/bench/table.js'
import { post } from '../../src/bench/targets/post.js'
import { type MeasuredServer, startServer } from '../../src/bench/targets/server.js'
import { studyHistory, studyProof, studyVerify } from './ledger-reads.js'

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: 'writes,proof,verify,history' },
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '1' },
    kinds: { type: 'string', default: 'plain,stream,ledger' },
    items: { type: 'string', default: '10000' },
    blocks: { type: 'string', default: '10000000' },
    verified: { type: 'string', default: '1000000' },
    versions: { type: 'string', default: '100000' },
  },
})
const CLIENTS = 64
const STILL_MS = 300
const STILL_LOOKS_MAX = 100
const WARM_UP_ROUNDS = 3
const HERE = fileURLToPath(new URL('../../..', import.meta.url))
const items = Number(values.items)

/** `indexes: 1` without an index: an attribute that is drawn anew, since a put that changes nothing leaves no revision. */
const PUTS: Workload = {
  name: 'PutItem',
  operation: 'PutItem',
  items: 1,
  itemBytes: ITEM_BYTES,
  table: ITEM_TABLE,
  keys: { from: 0, to: items },
  indexes: 1,
}
type Kind = 'plain' | 'stream' | 'ledger'

interface Running {
  readonly kind: Kind
  readonly server: MeasuredServer
}

async function started(kind: Kind): Promise<Running> {
  const server = await startServer({
    name: kind,
    title: kind,
    commandAt: ({ port, folder }) => ({
      program: process.execPath,
      args: [join(HERE, 'dist/src/cli/main.js'), 'start', '--port', String(port), '--path', folder],
    }),
  })
  if ('missing' in server) throw new Error(server.missing)
  await post(server.endpoint, 'CreateTable', {
    TableName: ITEM_TABLE,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    ...(kind === 'stream' && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
    ...(kind === 'ledger' && { Tags: [{ Key: 'seriatim:ledger', Value: 'true' }] }),
  })
  await addItems(server.endpoint, { table: ITEM_TABLE, items, itemBytes: ITEM_BYTES, indexes: 1 }, 0)
  return { kind, server }
}

interface Spent {
  /** Of the thread that answers requests, in microseconds. */
  readonly main: number
  readonly all: number
}

/** The first number of schedstat is the time on a processor, in nanoseconds. */
const spent = ({ server }: Running): Spent => ({
  main:
    Number(readFileSync(`/proc/${server.pid()}/task/${server.pid()}/schedstat`, 'utf8').split(' ')[0]) / 1000,
  all: server.usage()?.cpuMicros ?? NaN,
})

/** When blocks, log and index have caught up. */
async function still(running: Running): Promise<Spent> {
  let before = NaN
  for (let looks = 0; looks < STILL_LOOKS_MAX; looks++) {
    const written = running.server.usage()?.writtenBytes
    if (written === before) break
    before = written ?? NaN
    await new Promise((resolve) => setTimeout(resolve, STILL_MS))
  }
  return spent(running)
}

async function writes(): Promise<void> {
  const generator = new Generator()
  const servers: Running[] = []
  try {
    for (const kind of values.kinds.split(',') as Kind[]) servers.push(await started(kind))
    const found = new Map(
      servers.map(({ kind }) => [kind, { rate: [] as number[], main: [] as number[], all: [] as number[] }]),
    )
    const rounds = Number(values.rounds)
    for (let round = 1 - WARM_UP_ROUNDS; round <= rounds; round++) {
      // Every other round in the other order: what one leaves to do must not always fall to the same one.
      for (const running of round % 2 === 0 ? servers.toReversed() : servers) {
        const before = await still(running)
        const { perSecond, answersSinceMeasuring: puts } = await generator.run({
          endpoint: running.server.endpoint,
          mix: [{ weight: 1, workload: PUTS }],
          mode: { kind: 'closed', clients: CLIENTS },
          warmupMs: 0,
          durationMs: Number(values.seconds) * 1000,
          seed: round + WARM_UP_ROUNDS,
        })
        const after = await still(running)
        if (round < 1) continue
        const of = found.get(running.kind)!
        of.rate.push(perSecond)
        of.main.push((after.main - before.main) / puts)
        of.all.push((after.all - before.all) / puts)
      }
    }
    const plain = found.get('plain') ?? [...found.values()][0]!
    const ratio = (one: readonly number[], other: readonly number[]): string =>
      fixed(median(one.map((value, at) => value / other[at]!)), 2)
    const rows = [...found].map(([kind, { rate, main, all }]) => [
      kind,
      whole(median(rate)),
      ratio(rate, plain.rate),
      fixed(median(main), 1),
      ratio(plain.main, main),
      fixed(median(all), 1),
      ratio(plain.all, all),
    ])
    const title = `PutItem, ${CLIENTS} clients, medians of ${rounds} rounds; ratios are those of plain / this one`
    const columns = ['', 'a second', 'ratio', 'us of the thread of requests', 'ratio', 'us of all', 'ratio']
    for (const line of terminalLines({ title, columns, rows })) console.log(line)
    console.log(`  load average of the machine at the end: ${loadavg()[0]!.toFixed(1)}`)
  } finally {
    await generator.close()
    for (const { server } of servers) await server.stop()
  }
}

const parts = values.part.split(',')
if (parts.includes('writes')) await writes()
if (parts.includes('proof')) await studyProof(Number(values.blocks))
if (parts.includes('verify')) await studyVerify(Number(values.verified))
if (parts.includes('history')) await studyHistory(Number(values.versions))
