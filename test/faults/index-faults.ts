// One round: a server whose index cannot be written for a while, so many times. What it has acknowledged is read all the
// time, and after a kill.
//
//   node dist/test/faults/index-faults.js --runs 30
import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { verifyDataFolder } from '../../src/cli/operate/verify-folder.js'
import { testFolder } from '../support/folder.js'
import { spawnServer, type SpawnedServer } from '../support/spawned-server.js'
import { diskFaults, type DiskFault, type DiskFaults } from './disk-faults.js'

/** The first writes of a commit are of its pages, the last one is of LMDB's meta page. */
export const INDEX_FAULTS = {
  'EIO on one write': { kind: 'write', error: 'EIO', count: 1 },
  'EIO on the second write': { kind: 'write', error: 'EIO', skip: 1, count: 1 },
  'EIO on the third write': { kind: 'write', error: 'EIO', skip: 2, count: 1 },
  'EIO on the fourth write': { kind: 'write', error: 'EIO', skip: 3, count: 1 },
  'EIO on writes': { kind: 'write', error: 'EIO' },
  'ENOSPC on writes': { kind: 'write', error: 'ENOSPC' },
  'ENOSPC on writes after some': { kind: 'write', error: 'ENOSPC', skip: 2 },
  'EDQUOT on writes': { kind: 'write', error: 'EDQUOT' },
  'EROFS on writes': { kind: 'write', error: 'EROFS' },
  'short writes': { kind: 'write', error: 'short' },
  'EIO on a sync': { kind: 'sync', error: 'EIO', count: 1 },
  'EIO on syncs': { kind: 'sync', error: 'EIO' },
} as const satisfies Record<string, DiskFault>

const TableName = 'Things'
const ITEMS = 20
const MORE_ITEMS = 2
const PAUSE_MS = 150
/** Of one server. */
const TIMES_MAX = 10

/** What went wrong, in sentences. */
export async function indexFaultRound(
  fault: DiskFault,
  { nodes = 1, times = 1 }: { readonly nodes?: number; readonly times?: number } = {},
): Promise<readonly string[]> {
  const path = testFolder()
  const faults = diskFaults('data.mdb')
  const problems: string[] = []
  const server = await spawnServer(['--path', path, '--nodes', String(nodes)], {
    quiet: true,
    environment: faults.environment,
  })
  const round = new Round(server, faults, problems)
  try {
    await call(server.url, 'CreateTable', TABLE)
    await round.put(ITEMS)
    await round.untilCommitted()
    for (let time = 0; time < times; time++) {
      const { failed } = faults
      faults.fail(fault)
      // Everything that was acknowledged is read until the fault has hit, and beyond.
      while (faults.failed === failed && problems.length === 0) {
        await round.put(MORE_ITEMS)
        await round.readAll()
        // The index is written a while later: no need to fill the time with requests.
        await pause(PAUSE_MS)
      }
      await round.readAll()
      faults.heal()
      await round.put(MORE_ITEMS)
      await round.untilCommitted()
      await round.readAll()
    }
    process.kill(server.pid, 'SIGKILL')
    await server.ended
  } catch (error) {
    problems.push(`${String(error)}: ${server.said}`)
  } finally {
    await server.stop()
    faults.close()
  }
  if (problems.length > 0) return problems
  const verified = await verifyDataFolder(path)
  problems.push(...verified.problems)
  const again = await spawnServer(['--path', path])
  await new Round(again, faults, problems, round.acknowledged).readAll()
  await again.stop()
  return problems
}

const TABLE = {
  TableName,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
  KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
}

class Round {
  readonly #server: SpawnedServer
  readonly #faults: DiskFaults
  readonly #problems: string[]
  readonly acknowledged: Set<number>
  #next = 0

  constructor(
    server: SpawnedServer,
    faults: DiskFaults,
    problems: string[],
    acknowledged: Set<number> = new Set(),
  ) {
    this.#server = server
    this.#faults = faults
    this.#problems = problems
    this.acknowledged = acknowledged
  }

  /** The journal takes them, whatever becomes of the index. */
  async put(items: number): Promise<void> {
    for (let end = this.#next + items; this.#next < end; this.#next++) {
      const id = this.#next
      const Item = { id: { N: String(id) }, text: { S: textOf(id) } }
      const { status, json } = await call(this.#server.url, 'PutItem', { TableName, Item })
      if (status === 200) this.acknowledged.add(id)
      else this.#problems.push(`PutItem of ${id}: ${status} ${JSON.stringify(json)}`)
    }
  }

  async readAll(): Promise<void> {
    for (const id of this.acknowledged) {
      const { status, json } = await call(this.#server.url, 'GetItem', {
        TableName,
        Key: { id: { N: String(id) } },
        ConsistentRead: true,
      })
      const { Item } = json as { Item?: { text: { S: string } } }
      if (status !== 200 || Item?.text.S !== textOf(id))
        this.#problems.push(`GetItem of ${id}: ${status} ${JSON.stringify(json).slice(0, 200)}`)
    }
    let count = 0
    let start: unknown
    do {
      const from = start === undefined ? {} : { ExclusiveStartKey: start }
      const { status, json } = await call(this.#server.url, 'Scan', { TableName, Select: 'COUNT', ...from })
      if (status !== 200) this.#problems.push(`Scan: ${status} ${JSON.stringify(json)}`)
      count += Number(json['Count'] ?? 0)
      start = json['LastEvaluatedKey']
    } while (start !== undefined)
    if (count !== this.acknowledged.size)
      this.#problems.push(`Scan: ${count} items, ${this.acknowledged.size} acknowledged`)
  }

  /** A commit was synced that began after this moment, or was going on. */
  async untilCommitted(): Promise<void> {
    const before = this.#faults.synced
    while (this.#faults.synced <= before && this.#problems.length === 0) {
      await this.readAll()
      await pause(PAUSE_MS)
    }
  }
}

const textOf = (id: number): string => `${id}-`.repeat(600)

async function call(
  url: string,
  operation: string,
  input: object,
): Promise<{ readonly status: number; readonly json: Record<string, unknown> }> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    },
    body: JSON.stringify(input),
  })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '30' },
      nodes: { type: 'string', default: '1' },
      only: { type: 'string' },
    },
  })
  const runs = Number(values.runs)
  let failed = 0
  for (const [name, fault] of Object.entries(INDEX_FAULTS)) {
    if (values.only !== undefined && !name.includes(values.only)) continue
    let bad = 0
    for (let run = 0; run < runs; run += TIMES_MAX) {
      const times = Math.min(TIMES_MAX, runs - run)
      const problems = await indexFaultRound(fault, { nodes: Number(values.nodes), times })
      if (problems.length > 0 && ++bad === 1) console.log(`${name}: ${problems.slice(0, 3).join('\n  ')}`)
    }
    console.log(`${name}: ${runs} times, ${bad} servers with problems`)
    failed += bad
  }
  process.exitCode = failed > 0 ? 1 : 0
}

if (process.argv[1] !== undefined && existsSync(process.argv[1])) {
  if (import.meta.url === pathToFileURL(process.argv[1]).href) await main()
}
