// What a store does for the streams and backups of its tables, in one life of a simulated machine: the real catalogue and the real
// box of backups, on the machine's nodes, its log of commits and its disk.
//
//   catalogue --shapes--> nodes        the table of the world is in it: what is logged of it follows from its record
//   backups --> fence, pages, undo --> files on the disk of the journal: torn, full, lost with their names
//
// The thread is busy with other things: a turn of the event loop takes its time, and meanwhile items are written.
import { openCoordinator } from '../src/coordinator/coordinator.js'
import type { LocalLog } from '../src/commit-log/local-log.js'
import type { Knobs } from '../src/model/knobs.js'
import { TableBackups } from '../src/router/backups/table-backups.js'
import { openCatalog, type TableCatalog } from '../src/router/tables/catalog/catalog.js'
import { newTable } from '../src/router/tables/create-table.js'
import { withStream } from '../src/router/tables/table-stream.js'
import { tableDefinition } from '../src/router/tables/record/table-definition.js'
import type { TransactionRules } from '../src/rules/item/section-4.js'
import type { Runtime } from '../src/runtime/runtime.js'
import { type WholeFileLayer, type WholeFiles, wholeFilesOver } from '../src/runtime/whole-files.js'
import type { StorageNode } from '../src/storage/contract/storage-node.js'
import type { LocalNode } from '../src/storage/node/local-node.js'
import { nodeOf, placementOf, WRITE_DEADLINE_MS } from './processes.js'
import type { Life } from './process.js'
import { TABLE, TABLE_INPUT } from './table.js'

export interface ArchiveParts {
  readonly life: Life
  readonly nodes: readonly LocalNode[]
  readonly log: LocalLog
  readonly files: WholeFileLayer
  readonly rules: TransactionRules
  readonly knobs: Knobs
  readonly isIndexed: boolean
  /** The table has a stream whose shards roll as often. */
  readonly shardMinutes?: number
  /** Told of what no machine could expect. */
  readonly onBroken: (what: string) => void
}

/** Of one life. */
export interface Archive {
  readonly life: Life
  readonly catalog: TableCatalog
  readonly backups: TableBackups
  readonly log: LocalLog
  readonly nodes: readonly StorageNode[]
  /** Backups and bases, as they are on the disk. */
  readonly files: WholeFiles
}

/** A turn of the event loop while others have work to do. */
const TURN_MICROS = { min: 1, max: 20_000 }
const FOLDER = 'backups'
const WHOLE_STREAM = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } as const

/** Before anything is asked of the nodes: with the table of the world in it. */
export async function openTables({
  life,
  nodes,
  log,
  shardMinutes,
  ...parts
}: ArchiveParts): Promise<TableCatalog> {
  const { runtime } = life
  const catalog = await openCatalog({
    runtime,
    nodes,
    log,
    isSoleOwner: true,
    ...(shardMinutes !== undefined && { shardMinutes }),
    onBackgroundError: failureOf(life, parts),
  })
  if (catalog.find(TABLE.name) !== undefined) return catalog
  const input = TABLE_INPUT[parts.isIndexed ? 'indexed' : 'plain']
  const record = await catalog.change((draft) => {
    const made = newTable(draft, { runtime }, input, { definition: tableDefinition(input), tags: [] })
    const stream = shardMinutes === undefined ? undefined : WHOLE_STREAM
    return draft.put(withStream(draft, made, stream, { runtime, log }))
  })
  if (record.space !== TABLE.space) throw new Error(`the table got the space ${record.space}`)
  return catalog
}

export async function openArchive(catalog: TableCatalog, parts: ArchiveParts): Promise<Archive> {
  const { life, nodes, log, rules, knobs } = parts
  const runtime = busy(life)
  const files = wholeFilesOver(parts.files, FOLDER)
  const { snapshots } = openCoordinator({
    runtime,
    nodes,
    placement: placementOf(nodes.length),
    rules,
    sharedJournal: true,
    tuning: { deadlineMs: WRITE_DEADLINE_MS },
  })
  const backups = await TableBackups.open({
    runtime,
    nodes,
    nodeOf: (hash) => nodes[nodeOf(hash, nodes.length)]!,
    catalog,
    snapshots,
    log,
    files: { backups: files, bases: files },
    knobs,
    onError: failureOf(life, parts),
  })
  return { life, catalog, backups, log, nodes, files }
}

function busy(life: Life): Runtime {
  const { random, around, name } = life.process
  const label = `busy turn ${name}`
  return {
    ...life.runtime,
    defer: (callback) => {
      around.scheduler.after(random.skewed(TURN_MICROS.min, TURN_MICROS.max), label, () => {
        if (life.alive) callback()
      })
    },
  }
}

const EXPECTED = new Set(['WriteFailed', 'OutcomeUnknown', 'RunOver', 'OutOfSpace', 'DurabilityUnknown'])
const EXPECTED_MESSAGES = [
  /^EIO: /,
  /^No moment between transactions was found/,
  /^The table .* was deleted( while|\.)/,
  /^the base was not made$/,
  /^a transaction of before the last start has not been decided yet$/,
]

/** What may become of a request when a disk is full or fails, or a transaction is not decided for long. */
export const mayFail = ({ name, message }: Error): boolean =>
  EXPECTED.has(name) || EXPECTED_MESSAGES.some((each) => each.test(message))

const failureOf =
  (life: Life, { onBroken }: Pick<ArchiveParts, 'onBroken'>) =>
  (error: unknown): void => {
    if (!life.alive) return
    const failure = error instanceof Error ? error : new Error(String(error))
    life.process.around.tally.add('backups/background failure ', failure.name)
    if (!mayFail(failure)) onBroken(`behind requests: ${failure.stack ?? String(failure)}`)
  }
