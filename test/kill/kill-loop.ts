// Kills a server again and again under transactional load, and looks at what it has after each restart.
//
//   node dist/test/kill/kill-loop.js --nodes 4 --kills 1000 [--seed 1] [--workers 2]
//
// Each transfer moves money between accounts and puts a record of itself, in one TransactWriteItems. After a restart
// every transfer that was acknowledged has its record, and the balances are exactly what the records add up to: a
// transfer of which only a part was done would show. Nothing is left pending.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { seededRandom } from '../suites/seeded-random.js'
import { call, killNow, killWorker, scan, settled, start } from './killed-server.js'

export interface KillLoopOptions {
  readonly nodes: number
  readonly kills: number
  readonly seed: number
  /** Of the server; then every other kill is one of another worker than the first. */
  readonly workers?: number
  readonly onProgress?: (line: string) => void
}

export interface KillLoopReport {
  readonly kills: number
  readonly acknowledged: number
  /** In flight when the server died, and found done. */
  readonly unacknowledgedButDone: number
  /** Sentences; empty if all is well. */
  readonly problems: readonly string[]
}

const ACCOUNTS = 40
const WORKERS = 12
const BALANCE = 1000
const RUN_MS_MIN = 150
const RUN_MS_SPREAD = 350
const ACKNOWLEDGED_EACH_MIN = 2
const LOOK_MS = 10
const LOOKS_MAX = 6_000

interface Transfer {
  readonly id: string
  readonly legs: readonly { readonly account: number; readonly amount: number }[]
}

export async function killLoop({
  nodes,
  kills,
  seed,
  workers: processes = 1,
  onProgress,
}: KillLoopOptions): Promise<KillLoopReport> {
  const extra = ['--workers', String(processes)]
  const path = mkdtempSync(join(tmpdir(), 'seriatim-kill-'))
  const random = seededRandom(seed)
  const acknowledged = new Map<string, Transfer>()
  const problems: string[] = []
  let unacknowledgedButDone = 0
  let sequence = 0
  try {
    let server = await start(path, nodes, extra)
    await setUp(server.url)
    for (let kill = 1; kill <= kills && problems.length === 0; kill++) {
      const load = { running: true }
      const acknowledgedBefore = acknowledged.size
      const workers = Array.from({ length: WORKERS }, async () => {
        while (load.running) {
          const transfer = makeTransfer(`${kill}-${sequence++}`, random)
          if (await send(server.url, transfer)) acknowledged.set(transfer.id, transfer)
        }
      })
      await new Promise((resolve) => setTimeout(resolve, RUN_MS_MIN + random(RUN_MS_SPREAD)))
      // On a slow machine the load may not even have begun by then.
      const wanted = acknowledgedBefore + ACKNOWLEDGED_EACH_MIN
      for (let looks = 0; acknowledged.size < wanted && looks < LOOKS_MAX; looks++)
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      if (acknowledged.size < wanted) problems.push(`kill ${kill}: no transfer is acknowledged any more`)
      if (processes > 1 && kill % 2 === 0) {
        const code = await killWorker(server.child, kill)
        if (code !== 1) problems.push(`kill ${kill}: the server ended with ${code} after a worker was killed`)
      } else await killNow(server.child)
      load.running = false
      await Promise.all(workers)
      server = await start(path, nodes, extra)
      const found = await verify(server.url, acknowledged, problems)
      unacknowledgedButDone = found - acknowledged.size
      onProgress?.(
        `kill ${kill} of ${kills}: ${acknowledged.size} acknowledged transfers, ${problems.length} problems`,
      )
    }
    await killNow(server.child)
  } finally {
    rmSync(path, { recursive: true, force: true })
  }
  return { kills, acknowledged: acknowledged.size, unacknowledgedButDone, problems }
}

async function setUp(url: string): Promise<void> {
  for (const TableName of ['Accounts', 'Transfers']) {
    await call(url, 'CreateTable', {
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    })
  }
  for (let account = 0; account < ACCOUNTS; account++) {
    const Item = { id: { S: String(account) }, balance: { N: String(BALANCE) } }
    await call(url, 'PutItem', { TableName: 'Accounts', Item })
  }
}

function makeTransfer(id: string, random: (below: number) => number): Transfer {
  const from = random(ACCOUNTS)
  const to = (from + 1 + random(ACCOUNTS - 1)) % ACCOUNTS
  const amount = 1 + random(20)
  return {
    id,
    legs: [
      { account: from, amount: -amount },
      { account: to, amount },
    ],
  }
}

/** True if it was acknowledged; false if it was refused or the answer never came. */
async function send(url: string, { id, legs }: Transfer): Promise<boolean> {
  const record = { id: { S: id }, legs: { S: JSON.stringify(legs) } }
  const actions = legs.map(({ account, amount }) => ({
    Update: {
      TableName: 'Accounts',
      Key: { id: { S: String(account) } },
      UpdateExpression: 'ADD balance :a',
      ConditionExpression: 'balance >= :min',
      ExpressionAttributeValues: { ':a': { N: String(amount) }, ':min': { N: String(Math.max(0, -amount)) } },
    },
  }))
  const put = {
    Put: { TableName: 'Transfers', Item: record, ConditionExpression: 'attribute_not_exists(id)' },
  }
  try {
    await call(url, 'TransactWriteItems', { TransactItems: [...actions, put], ClientRequestToken: id })
    return true
  } catch {
    return false
  }
}

/** The number of transfers found; what is wrong is added to the problems. */
async function verify(
  url: string,
  acknowledged: ReadonlyMap<string, Transfer>,
  problems: string[],
): Promise<number> {
  const records = await scan(url, 'Transfers')
  const found = new Set(records.map(({ id }) => id?.S))
  for (const id of acknowledged.keys()) {
    if (!found.has(id)) problems.push(`transfer ${id} was acknowledged and is lost`)
  }
  const expected = Array.from({ length: ACCOUNTS }, () => BALANCE)
  for (const { legs } of records) {
    for (const { account, amount } of JSON.parse(legs?.S ?? '[]') as Transfer['legs']) {
      expected[account] = (expected[account] ?? 0) + amount
    }
  }
  for (const { id, balance } of await scan(url, 'Accounts')) {
    const wanted = expected[Number(id?.S)]
    if (String(wanted) !== balance?.N) {
      problems.push(`account ${id?.S} has ${balance?.N}, the transfers add up to ${wanted}`)
    }
  }
  await settled(url, problems)
  return found.size
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { values } = parseArgs({
    options: {
      nodes: { type: 'string', default: '4' },
      kills: { type: 'string', default: '1000' },
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
  console.log(`kill loop: --nodes ${options.nodes} --kills ${options.kills} --seed ${options.seed}`)
  const report = await killLoop({ ...options, onProgress: (line) => console.log(line) })
  console.log(JSON.stringify(report, undefined, 2))
  process.exitCode = report.problems.length === 0 ? 0 : 1
}
