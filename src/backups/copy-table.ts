// A backup of one table, made while writers go on. This box keeps the files of backups (backup-file.ts), makes them here, and
// brings them back (load-table.ts). What belongs to a moment is decided in moments.ts.
//
//   fence     a snapshot is opened on all nodes at T, above everything decided; on the table everything prepared at or below T
//             ends, and nothing is accepted there any more: from here on the log has every commit up to T
//   pages     the table as it is by then, page by page, with pauses while others write (page-pace.ts)
//   undo      what the log has after T: the item before each change. Together: the table as of T
//
//   writers --------T--x----x--------x-->        the log has old images of the table from before T on
//   pages             |--a--|--b--|--c--|        each of another moment
//   undo                 x    x        x         takes back what the pages have seen of it
//
// May import: model, runtime, commit-log, the contract of storage, coordinator (its snapshots).
import type { CommitLog } from '../commit-log/commit-log.js'
import { type CommitRecord, recordBytes } from '../commit-log/commit-record.js'
import type { SnapshotPage, StoreSnapshots } from '../coordinator/snapshots.js'
import type { KeyBytes, SpaceId, Timestamp } from '../model/brand.js'
import { keyAfter } from '../model/key-range.js'
import { type Knobs, knobs as defaultKnobs } from '../model/knobs.js'
import type { TableShape } from '../model/table.js'
import type { Runtime } from '../runtime/runtime.js'
import type { StorageNode } from '../storage/contract/storage-node.js'
import type { BackupEntry } from './backup-frame.js'
import type { BackupWriter } from './backup-file.js'
import { PagePace } from './page-pace.js'
import { type MomentRules, momentRules } from './moments.js'

export interface CopyParts {
  readonly runtime: Runtime
  readonly nodes: readonly StorageNode[]
  readonly snapshots: Pick<StoreSnapshots, 'open' | 'forget' | 'range'>
  readonly log: CommitLog
  readonly rules?: MomentRules
  readonly knobs?: CopyKnobs
}

export type CopyKnobs = Pick<Knobs, 'copyItemsMax' | 'baseLoggedBytesMin'> &
  Partial<Pick<Knobs, 'copyFrameBytes' | 'copyRecordsMax' | 'loadEntriesMax' | 'recoveryDayMicros'>>

/** A moment up to which the log is complete for some tables. */
export interface Fence {
  readonly at: Timestamp
  /** Commits after the moment have this number or a higher one. */
  readonly first: number
  /** Commits on these tables up to the moment have this number or a lower one. */
  readonly upTo: number
}

const FENCE_TRIES_MAX = 16
const START = '' as KeyBytes
const PAGE_BYTES_MAX = 64 * 1024
const LOG_PAGE_BYTES_MAX = 512 * 1024

/** @throws if a transaction is not decided for as long as a read would wait for it */
export async function fence(parts: CopyParts, tables: readonly TableShape[]): Promise<Fence> {
  const { snapshots, log } = parts
  const first = log.last + 1
  for (let tries = 0; tries < FENCE_TRIES_MAX; tries++) {
    const at = await snapshots.open({ above: 'decided' })
    const outcome = await fenceAll(parts, tables, at).finally(() => snapshots.forget(at))
    if (outcome === 'conflict') break
    // A table has got an index meanwhile, or there was no room for snapshots: at another moment.
    if (outcome === 'snapshot-too-old') continue
    await log.settled()
    return { at, first, upTo: log.last }
  }
  throw new Error(
    `No moment between transactions was found for ${tables.map(({ name }) => name).join(', ')}: try again`,
  )
}

async function fenceAll(
  parts: CopyParts,
  tables: readonly TableShape[],
  at: Timestamp,
): Promise<SnapshotPage['outcome']> {
  for (const table of tables) {
    const outcomes = await Promise.all(parts.nodes.map((node) => fenceNode(parts, node, { at, table })))
    const refused = outcomes.find((outcome) => outcome !== 'read')
    if (refused !== undefined) return refused
  }
  return 'read'
}

/** A read of the whole range of which nothing is wanted: it waits for what is pending, and raises the floor of the table. */
async function fenceNode(
  { snapshots }: CopyParts,
  node: StorageNode,
  { at, table }: { readonly at: Timestamp; readonly table: TableShape },
): Promise<SnapshotPage['outcome']> {
  const { space } = table
  const range = { space, from: START, reverse: false, entriesMax: 0, bytesMax: 0 }
  return (await snapshots.range(node, { ...range, at, table })).outcome
}

export interface TableCopy {
  /** Logged with its old images since before the fence. */
  readonly table: TableShape
  readonly fence: Fence
  readonly writer: BackupWriter
  /** Asked between pages; throws if it is no use to go on. */
  readonly check?: () => void
}

/** Items, and what takes them back to the moment of the fence. The caller finishes or abandons the file. */
export async function copyTable(parts: CopyParts, copy: TableCopy): Promise<void> {
  const { runtime, nodes, log, rules = momentRules, knobs = defaultKnobs } = parts
  const { table, fence: moment, writer, check } = copy
  const pace = new PagePace(runtime, () => log.last)
  for (const node of nodes) {
    for (let from: KeyBytes | undefined = START; from !== undefined;) {
      check?.()
      const page = await node.range({
        space: table.space,
        from,
        reverse: false,
        entriesMax: knobs.copyItemsMax,
        bytesMax: PAGE_BYTES_MAX,
      })
      await writer.add(
        'items',
        page.entries.map(({ record }): BackupEntry => ({ kind: 'put', text: record.json })),
      )
      const last = page.entries.at(-1)
      from = page.more && last !== undefined ? keyAfter(last.key) : undefined
      await pace.turn(page.entries.reduce((bytes, { record }) => bytes + record.json.length, 0))
    }
  }
  // Everything that a page has seen was durable by then.
  await log.settled()
  const range = { space: table.space, from: moment.first, upTo: log.last }
  for await (const records of loggedOf(parts, range)) {
    check?.()
    await writer.add(
      'undo',
      records.flatMap((record) => rules.undone(record, moment.at)),
    )
    await pace.turn(records.reduce((bytes, record) => bytes + recordBytes(record), 0))
  }
  check?.()
}

export interface LoggedRange {
  readonly space: SpaceId
  /** Numbers of records, both inclusive. */
  readonly from: number
  readonly upTo: number
}

/** What the log has of a table, a page at a time, a turn of the event loop between pages. */
export async function* loggedOf(
  { log, runtime, knobs }: Pick<CopyParts, 'log' | 'runtime' | 'knobs'>,
  { space, from, upTo }: LoggedRange,
): AsyncGenerator<readonly CommitRecord[], void, undefined> {
  const spaces = new Set([space])
  // Numbers before the first that is kept are of commits before every moment that can be asked for.
  for (let next = Math.max(from, log.first); next <= upTo;) {
    const page = await log.read({
      from: next,
      spaces,
      recordsMax: knobs?.copyRecordsMax ?? defaultKnobs.copyRecordsMax,
      bytesMax: LOG_PAGE_BYTES_MAX,
    })
    const records = page.records.filter(({ number }) => number <= upTo)
    if (records.length > 0) yield records
    if (page.next <= next) throw new Error(`the log of commits has no record ${next}`)
    next = page.next
    await new Promise<void>((resolve) => runtime.defer(resolve))
  }
}
