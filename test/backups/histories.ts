// Random histories of two tables that are backed up while they are written to, and a model that knows what they held at each
// moment. Commit timestamps are those of the log; what was written at them the model knows by itself.
import assert from 'node:assert/strict'
import { owner } from '../../src/router/request/access.js'
import { BackupReader } from '../../src/backups/backup-file.js'
import type { BackupEntry } from '../../src/backups/backup-frame.js'
import type { MomentRules } from '../../src/backups/moments.js'
import { openCoordinator } from '../../src/coordinator/coordinator.js'
import { localPlacement } from '../../src/coordinator/placement.js'
import type { CommitRecord } from '../../src/commit-log/commit-record.js'
import { laterBackups } from '../../src/router/later-operations.js'
import { openRouter } from '../../src/router/local-router.js'
import { queryOperations } from '../../src/router/reads/query-operations.js'
import { openPasses } from '../../src/router/request/passes.js'
import { largeReadLine, searchLine } from '../../src/router/request/fair-line.js'
import { openCatalog } from '../../src/router/tables/catalog/catalog.js'
import { tableOperations } from '../../src/router/tables/tables.js'
import { transactionOperations } from '../../src/router/transactions/transaction-operations.js'
import { deleteItem } from '../../src/router/writes/delete-item.js'
import { putItem } from '../../src/router/writes/put-item.js'
import { type BackupInfo, fileOf } from '../../src/router/backups/backup-list.js'
import { TableBackups } from '../../src/router/backups/table-backups.js'
import { allRules } from '../../src/rules/item/section-4.js'
import { manualClock } from '../../src/runtime/manual-clock.js'
import { realRuntime } from '../../src/runtime/real-runtime.js'
import type { Runtime } from '../../src/runtime/runtime.js'
import { wholeFilesInMemory } from '../../src/runtime/whole-files.js'
import { Random } from '../../src/runtime/seeded-random.js'
import { openNodesWithLog } from '../../src/storage/folder/open-local-node.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import { START_MS, tableOf } from './support.js'

export interface HistoryOptions {
  readonly seed: number
  readonly nodes: number
  readonly rules?: MomentRules
}

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const STEPS_MAX = 8
const GROUP_MAX = 5
const MOMENTS = 3
/** One history of so many restores tables; the others read what a restore would bring into them, which takes a fifth of the time. */
const RESTORED_EVERY = 8

/** What one commit wrote: by table and id, the new value, or undefined where it was deleted. */
interface Written {
  readonly tag: string
  readonly changes: readonly {
    readonly table: string
    readonly id: string
    readonly value: string | undefined
  }[]
}

type Content = ReadonlyMap<string, string>

interface Wire {
  call(operation: string, input: object): Promise<Record<string, unknown>>
}

export class Histories {
  readonly #world: Awaited<ReturnType<typeof openWorld>>
  #count = 0

  private constructor(world: Awaited<ReturnType<typeof openWorld>>) {
    this.#world = world
  }

  static async open(options: Omit<HistoryOptions, 'seed'>): Promise<Histories> {
    return new Histories(await openWorld(options))
  }

  /** @throws AssertionError if a moment is not as the model has it */
  run(seed: number): Promise<void> {
    return new History(this.#world, seed, ++this.#count).run()
  }

  close(): Promise<void> {
    return this.#world.close()
  }
}

class History {
  readonly #world: Awaited<ReturnType<typeof openWorld>>
  readonly #random: Random
  readonly #seed: number
  readonly #tables: readonly [string, string]
  readonly #written: Written[] = []
  readonly #from: number
  #tags = 0

  constructor(world: Awaited<ReturnType<typeof openWorld>>, seed: number, nth: number) {
    this.#world = world
    this.#random = new Random(seed)
    this.#seed = seed
    this.#tables = [`one-${nth}`, `two-${nth}`]
    this.#from = world.log.last + 1
  }

  async run(): Promise<void> {
    const { wire, backups, clock } = this.#world
    for (const table of this.#tables) await wire.call('CreateTable', tableOf(table))
    // Before this nothing is in the log: what is written here is known by what the first base holds.
    const before = await this.#begin()
    // Most are short: what goes wrong does so within few steps, and more of them are tried in the same time.
    const steps = this.#random.below(4) === 0 ? STEPS_MAX : 1 + this.#random.below(4)
    for (let step = 0; step < steps; step++) {
      clock.advance(this.#random.below(3))
      const group = Array.from({ length: 1 + this.#random.below(GROUP_MAX) }, () => this.#write())
      // Now and then a base is due, and is made in the midst of it.
      if (this.#random.below(2) === 0) group.push(backups.idle())
      if (this.#random.below(3) === 0) group.push(this.#backUp())
      await Promise.all(group)
    }
    await backups.idle()
    await this.#compare(before)
    await backups.idle()
    for (const TableName of this.#tables) await wire.call('DeleteTable', { TableName })
  }

  /** Some items, and from then on the tables can be restored. */
  async #begin(): Promise<Content> {
    const { wire } = this.#world
    const content = new Map<string, string>()
    for (const table of this.#tables)
      for (const id of IDS.filter(() => this.#random.below(2) === 0)) {
        await wire.call('PutItem', { TableName: table, Item: item(id, 'first') })
        content.set(`${table} ${id}`, 'first')
      }
    for (const TableName of this.#tables)
      await wire.call('UpdateContinuousBackups', {
        TableName,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      })
    return content
  }

  async #write(): Promise<void> {
    const { wire } = this.#world
    const tag = `t${++this.#tags}`
    const kind = this.#random.below(4)
    const table = this.#tables[this.#random.below(2)] as string
    const id = this.#id()
    if (kind === 0) {
      this.#written.push({ tag, changes: [{ table, id, value: tag }] })
      await wire.call('PutItem', { TableName: table, Item: item(id, tag) })
      return
    }
    // Each item once; those that are deleted go with one that carries the tag.
    const ids = new Set(Array.from({ length: 1 + this.#random.below(3) }, () => this.#id()))
    const changes = [...ids].flatMap((each) =>
      this.#tables.map((name) => ({
        table: name,
        id: each,
        value: this.#random.below(4) === 0 ? undefined : tag,
      })),
    )
    const marked = [...changes, { table, id: `mark-${tag}`, value: tag }]
    const done = await wire
      .call('TransactWriteItems', {
        TransactItems: marked.map((change) =>
          change.value === undefined
            ? { Delete: { TableName: change.table, Key: { id: { S: change.id } } } }
            : { Put: { TableName: change.table, Item: item(change.id, change.value) } },
        ),
      })
      .then(
        () => true,
        (error: unknown) => {
          // A conflict with another of the group: nothing of it may be seen.
          if ((error as Error).name === 'TransactionCanceledException') return false
          throw error
        },
      )
    if (done) this.#written.push({ tag, changes: marked })
  }

  #id(): string {
    return IDS[this.#random.below(IDS.length)] as string
  }

  readonly #made: { readonly id: string; readonly table: string }[] = []

  async #backUp(): Promise<void> {
    const { backups } = this.#world
    const table = this.#tables[this.#random.below(2)] as string
    const made = await backups.create(table, 'name').catch((error: unknown) => {
      if ((error as Error).name !== 'BackupInUseException') throw error
    })
    if (made !== undefined) this.#made.push({ id: made.id, table })
  }

  async #compare(before: Content): Promise<void> {
    const records = await this.#records()
    const commits = this.#commits(records)
    const instants = records.flatMap(({ timestamp }) => [timestamp - 1, timestamp])
    const windows = this.#tables.map((name) => this.#world.windowOf(name))
    const earliest = Math.max(...windows.map(({ earliestMicros }) => earliestMicros))
    const moments = instants.filter((at) => at >= earliest)
    const isRestored = this.#seed % RESTORED_EVERY === 0
    for (let n = 0; n < MOMENTS && moments.length > 0; n++) {
      const at = moments[this.#random.below(moments.length)] as number
      const content = (table: string): Content => expected(before, commits, table, at)
      await (isRestored ? this.#restored(at, content) : this.#read(at, content))
    }
    for (const { id, table } of this.#made) {
      const info = this.#world.backups.find(id)
      assert.equal(info?.status, 'AVAILABLE', this.#told(`backup ${id}`))
      const model = expected(before, commits, table, info.at)
      await (isRestored ? this.#restoredBackup(info, model) : this.#readBackup(info, model))
    }
  }

  /** What a restore of both tables would bring into new ones. */
  async #read(at: number, content: (table: string) => Content): Promise<void> {
    const { tables, release } = await this.#world.backups.readAt({ kind: 'time', micros: at }, this.#tables)
    for (const { source, entries } of tables)
      assert.deepEqual(await applied(entries()), content(source.name), this.#told(`${source.name} at ${at}`))
    release()
  }

  async #readBackup(info: BackupInfo, model: Content): Promise<void> {
    const { backups, files } = this.#world
    const reader = await BackupReader.open(files, fileOf(info))
    const found = await applied(reader.read())
    await reader.close()
    assert.deepEqual(found, model, this.#told(`backup of ${info.table.name} at ${info.at}`))
    await backups.remove(info)
  }

  async #restored(at: number, content: (table: string) => Content): Promise<void> {
    const { wire, backups } = this.#world
    const pairs = this.#tables.map((table) => ({
      SourceTableName: table,
      TargetTableName: `${table}-restored`,
    }))
    await wire.call('RestoreTables', { Tables: pairs, RestoreDateTime: at / 1e6 })
    await backups.idle()
    for (const { SourceTableName: source, TargetTableName: target } of pairs)
      assert.deepEqual(await this.#content(target), content(source), this.#told(`${source} at ${at}`))
    for (const { TargetTableName: TableName } of pairs) await wire.call('DeleteTable', { TableName })
  }

  async #restoredBackup({ id, at, table: { name: table } }: BackupInfo, model: Content): Promise<void> {
    const { wire, backups } = this.#world
    const target = `${table}-restored`
    const BackupArn = `arn:aws:dynamodb:eu-west-1:000000000000:table/${table}/backup/${id}`
    await wire.call('RestoreTableFromBackup', { BackupArn, TargetTableName: target })
    await backups.idle()
    assert.deepEqual(await this.#content(target), model, this.#told(`backup of ${table} at ${at}`))
    await wire.call('DeleteTable', { TableName: target })
    await wire.call('DeleteBackup', { BackupArn })
  }

  #told(what: string): string {
    return `seed ${this.#seed}: ${what}`
  }

  async #content(TableName: string): Promise<Content> {
    const { Items } = await this.#world.wire.call('Scan', { TableName })
    return new Map((Items as readonly Stored[]).map(({ id, v }) => [id.S, v.S] as const).toSorted(byKey))
  }

  async #records(): Promise<readonly CommitRecord[]> {
    const { log } = this.#world
    await log.settled()
    const records: CommitRecord[] = []
    const spaces = new Set(this.#tables.map((name) => this.#world.spaceOf(name)))
    for (let from = this.#from; from <= log.last;) {
      const page = await log.read({ from, spaces, recordsMax: 1000, bytesMax: 1e7 })
      records.push(...page.records)
      from = page.next
    }
    return records
  }

  /** What was written, each with its timestamp. Everything that was acknowledged is in the log. */
  #commits(records: readonly CommitRecord[]): readonly Commit[] {
    const timestamps = new Map<string, number>()
    for (const { timestamp, changes } of records)
      for (const { new: next } of changes) if (next !== undefined) timestamps.set(valueIn(next), timestamp)
    return this.#written.map((written) => {
      const timestamp = timestamps.get(written.tag)
      assert.ok(timestamp !== undefined, this.#told(`${written.tag} is not in the log`))
      return { ...written, timestamp }
    })
  }
}

interface Commit extends Written {
  readonly timestamp: number
}

/** What a table held at that moment: commits at or below it, in their order. */
function expected(before: Content, commits: readonly Commit[], table: string, at: number): Content {
  const content = new Map<string, string>()
  for (const [name, value] of before) {
    const [of, id] = name.split(' ') as [string, string]
    if (of === table) content.set(id, value)
  }
  for (const { timestamp, changes } of commits.toSorted((one, other) => one.timestamp - other.timestamp)) {
    if (timestamp > at) continue
    for (const change of changes) {
      if (change.table !== table) continue
      if (change.value === undefined) content.delete(change.id)
      else content.set(change.id, change.value)
    }
  }
  return new Map([...content].toSorted(byKey))
}

/** Entries in the order in which a restore applies them. */
async function applied(entries: AsyncIterable<readonly BackupEntry[]>): Promise<Content> {
  const content = new Map<string, string>()
  for await (const some of entries)
    for (const { kind, text } of some) {
      const { id, v } = JSON.parse(Buffer.from(text).toString()) as Stored
      if (kind === 'put') content.set(id.S, v.S)
      else content.delete(id.S)
    }
  return new Map([...content].toSorted(byKey))
}

interface Stored {
  readonly id: { readonly S: string }
  readonly v: { readonly S: string }
}

const byKey = ([one]: readonly [string, string], [other]: readonly [string, string]): number =>
  one < other ? -1 : 1

const item = (id: string, value: string): object => ({ id: { S: id }, v: { S: value } })
const valueIn = (text: Uint8Array): string => (JSON.parse(Buffer.from(text).toString()) as Stored).v.S

async function openWorld({ nodes: count, rules }: Omit<HistoryOptions, 'seed'>) {
  const clock = manualClock(START_MS)
  const real = realRuntime()
  // A hundred thousand histories are tried: nobody waits here.
  const runtime: Runtime = { ...real, clock, rest: (callback) => real.defer(callback) }
  const { nodes, log } = await openNodesWithLog({ runtime, memory: true, nodes: count, rules: allRules })
  const catalog = await openCatalog({ runtime, nodes, log, isSoleOwner: true })
  const placement = localPlacement(count)
  const coordinator = openCoordinator({ runtime, nodes, placement, rules: allRules, sharedJournal: false })
  const nodeOf = (hash: number): StorageNode => nodes[placement.nodeOf(hash)] as StorageNode
  const files = wholeFilesInMemory()
  const backups = await TableBackups.open({
    runtime,
    nodes,
    nodeOf,
    catalog,
    snapshots: coordinator.snapshots,
    log,
    files: { backups: files, bases: files },
    knobs: { copyItemsMax: 2, baseLoggedBytesMin: 300 },
    ...(rules && { rules }),
    onError: (error) => {
      throw error
    },
  })
  const context = { runtime, catalog, nodes, nodeOf, coordinator, rules: allRules, log, startedMicros: 0 }
  const router = openRouter({
    context: {
      ...context,
      passes: openPasses({ runtime, coordinator }),
      searches: searchLine(),
      largeReads: largeReadLine(),
    },
    operations: [
      putItem,
      deleteItem,
      ...queryOperations,
      ...transactionOperations,
      ...tableOperations,
      ...laterBackups(() => Promise.resolve(backups)),
    ],
  })
  const wire: Wire = {
    async call(operation, input) {
      const reply = await router.handle({ operation, input, principal: owner })
      if (!reply.ok) throw reply.error
      return JSON.parse(Buffer.from(reply.body).toString()) as Record<string, unknown>
    },
  }
  return {
    wire,
    clock,
    backups,
    files,
    log,
    windowOf: (name: string) => {
      const window = backups.windowOf(catalog.record(name))
      assert.ok(window !== undefined)
      return window
    },
    spaceOf: (name: string) => catalog.record(name).space,
    close: async () => {
      await backups.close()
      await catalog.close()
      await coordinator.idle()
      for (const node of nodes) await node.close()
    },
  }
}
