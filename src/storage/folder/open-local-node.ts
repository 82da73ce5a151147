// Opening local nodes: takes the folder, brings each index up to its journal, and puts the parts together.
import { dirname } from 'node:path'
import type { MarkedMap } from '../../ordered-map/lmdb/lmdb-map.js'
import type { OrderedMap } from '../../ordered-map/ordered-map.js'
import { withRecentRanges } from '../../ordered-map/recent-ranges.js'
import { type Journal, openJournal } from '../../journal/journal.js'
import type { JournalOwner } from '../../journal/read-back.js'
import { lsn } from '../../model/brand.js'
import { type Knobs, knobs } from '../../model/knobs.js'
import { memoryKnobs } from '../../model/memory-budget.js'
import type { FileLayer } from '../../runtime/files.js'
import { realFiles } from '../../runtime/real-files.js'
import type { TransactionRules } from '../../rules/item/section-4.js'
import type { Runtime } from '../../runtime/runtime.js'
import type { KeyPlace } from '../contract/key-place.js'
import { refusalOf } from '../items/damage.js'
import { folderKey } from './folder-key.js'
import { type DataFolder, refusing, takeFolder } from './folder.js'
import { asRefusal, claimIndex, ownerOf, refuseMissingIndexes } from './folder-parts.js'
import { HybridClock } from '../../line/hybrid-clock.js'
import { JournalLine, type JournalLineOptions } from '../../line/journal-line.js'
import type { Line } from '../../line/line.js'
import { LocalLog } from '../../commit-log/local-log.js'
import { folderLog, type LogParts, NO_LOG, readerFor } from './folder-log.js'
import { LocalNode, type LocalNodeParts, type UnitLimits } from '../node/local-node.js'
import { closesLast, memoryNodes, type NodesMemory } from '../node/memory-nodes.js'
import { Replay, type Unapplied } from '../../line/replay.js'
import { CLOCK_KEY, decodeClock } from '../../line/spaces.js'
import type { StorageNode } from '../contract/storage-node.js'

export type LocalNodeTuning = Partial<Knobs>

export type LocalNodeOptions = {
  readonly runtime: Runtime
  /** All of section 4 unless told otherwise. */
  readonly rules?: TransactionRules
  readonly units?: UnitLimits
  readonly tuning?: LocalNodeTuning
  /** For what is kept beside the data (model/memory-budget.ts). */
  readonly memoryMb?: number
} & (
  | { readonly memory: true }
  | {
      /** The data folder; created if there is none. */
      readonly path: string
      /** The file layer under the journal; the real one unless a test brings its own. */
      readonly files?: FileLayer
      /** Told how far long work before the start has come. */
      readonly onProgress?: (sentence: string) => void
      /** Told once of each reason why the index cannot be written; it is tried again. */
      readonly onTrouble?: (error: Error) => void
    }
)

/**
 * Opens one node on a data folder of its own, or in memory.
 *
 * @example
 * const node = await openLocalNode({ runtime: realRuntime(), path: './data' })
 */
export async function openLocalNode(options: LocalNodeOptions): Promise<StorageNode> {
  const [node] = await openLocalNodes({ ...options, nodes: 1 })
  return node as StorageNode
}

/**
 * Opens all nodes of a data folder; `nodes` absent: as many as the folder was made for. The folder is released when
 * the last of them is closed.
 */
export async function openLocalNodes(
  options: LocalNodeOptions & { readonly nodes?: number },
): Promise<readonly StorageNode[]> {
  return (await openNodesWithLog(options)).nodes
}

/** The nodes of one store, and the log of what is committed at them. */
export interface NodesWithLog {
  readonly nodes: readonly StorageNode[]
  readonly log: LocalLog
  /** Of nodes in memory. */
  readonly memory?: NodesMemory
  /** Where the key of the ledger is kept; absent: on the shelf. */
  readonly key?: KeyPlace
}

/** The same, with the log of commits; it is closed with the last of the nodes. */
export async function openNodesWithLog(
  options: LocalNodeOptions & { readonly nodes?: number },
): Promise<NodesWithLog> {
  if ('memory' in options) return memoryNodes(options)
  return refusing(options.path, () => openFolder(options))
}

async function openFolder(
  options: Extract<LocalNodeOptions, { path: string }> & { readonly nodes?: number },
): Promise<NodesWithLog> {
  const { runtime, nodes } = options
  // A store in memory does without the package of LMDB, which takes longer to load than all of the store.
  const loading = import('../../ordered-map/lmdb/lmdb-map.js')
  loading.catch(() => undefined)
  const folder = await takeFolder(options.path, { runtime, ...(nodes !== undefined && { nodes }) })
  const indexes: MarkedMap[] = []
  try {
    await refuseMissingIndexes(folder)
    // Before the folder is marked as being upgraded: where LMDB cannot be loaded, it stays as it was.
    const { lmdbMap, bringBranches } = await loading
    await folder.begin()
    for (let node = 0; node < folder.nodes; node++) {
      const path = folder.indexPath(node)
      await bringBranches(path)
      // It reads the file once more: not at every start.
      if (folder.state !== 'whole') {
        const { upgradeIndex } = await import('../../ordered-map/lmdb/lmdb-upgrade.js')
        await upgradeIndex(path, {
          onProgress: (records) => options.onProgress?.(`${records} records of ${path} got their checksums`),
        })
      }
      const index = lmdbMap(path)
      indexes.push(index)
      claimIndex(folder, node, index)
    }
    await syncFolders(folder)
    const { files = realFiles() } = options
    const { memoryMb } = options
    const tuning = {
      ...options.tuning,
      ...(memoryMb !== undefined && memoryKnobs(memoryMb, folder.nodes)),
    }
    const log = await folderLog(folder, { files, runtime, tuning })
    const parts = {
      ...options,
      tuning,
      files,
      folder: folder.journalPath,
      owner: ownerOf(folder),
      indexes,
      log,
    }
    const opened = await openJournalled(parts, () => folder.release())
    await folder.finish()
    return { ...opened, key: folderKey(folder) }
  } catch (error) {
    for (const index of indexes) await index.close()
    await folder.release()
    throw asRefusal(refusalOf(error, options.path))
  }
}

export interface NodeParts extends Pick<LocalNodeParts, 'rules' | 'functions' | 'transactions' | 'units'> {
  readonly runtime: Runtime
  /** Where the journal is kept. */
  readonly files: FileLayer
  readonly folder: string
  /** The data folder that the journal belongs to; a simulation has none. */
  readonly owner?: JournalOwner
  readonly tuning?: LocalNodeTuning
  readonly onTrouble?: (error: Error) => void
  /** The log of commits; absent: there is none, and no table may ask for it. */
  readonly log?: LogParts
  /** Puts the line together; a simulation looks over its shoulder. */
  readonly lineOf?: (options: JournalLineOptions) => Line
}

/** Opens a node over an index and the files of its journal, whatever they are kept in. */
export async function openNodeOver(
  { index, ...parts }: NodeParts & { readonly index: OrderedMap },
  onClose: () => Promise<void>,
): Promise<LocalNode> {
  const [node] = await openNodesOver({ ...parts, indexes: [index] }, onClose)
  return node as LocalNode
}

/** Opens the nodes that share a journal, each over an index of its own. */
export async function openNodesOver(
  parts: NodeParts & { readonly indexes: readonly OrderedMap[] },
  onClose: () => Promise<void>,
): Promise<readonly LocalNode[]> {
  return (await openJournalled(parts, onClose)).nodes
}

/** The same with their log of commits. `onClose`: when all are closed, and the log. */
export async function openJournalled(
  {
    runtime,
    indexes: stored,
    files,
    folder,
    owner,
    tuning,
    lineOf = journalLine,
    onTrouble,
    log: logParts = NO_LOG,
    ...node
  }: NodeParts & { readonly indexes: readonly OrderedMap[] },
  onClose: () => Promise<void>,
): Promise<{ readonly nodes: readonly LocalNode[]; readonly log: LocalLog }> {
  const tuned = { ...knobs, ...tuning }
  // Each node has its part of the room.
  const recentRangesBytesMax = tuned.recentRangesBytesMax / stored.length
  const indexes = stored.map((index) => withRecentRanges(index, { recentRangesBytesMax }))
  let opened: Journal | undefined
  const log = new LocalLog({
    runtime,
    storage: logParts.storage,
    begin: async () => {
      // From now on the journal forgets nothing that follows.
      const upTo = opened?.end ?? 0
      opened?.readUpTo(upTo)
      try {
        return await logParts.begin(upTo)
      } catch (error) {
        opened?.readUpTo(Infinity)
        throw error
      }
    },
    onKept: (upTo) => opened?.readUpTo(upTo),
    ...(onTrouble && { onTrouble }),
    knobs: tuned,
  })
  const replays = indexes.map((index) => new Replay(index, tuned.replayBytesMax))
  const journal = await openJournal(
    { ...tuned, files, runtime, folder, ...(owner && { owner }) },
    indexes.map((index) => index.appliedUpTo),
    async (frame) => replays[frame.writer]?.add(frame),
    logParts.storage && readerFor(log, logParts.storage.position.upTo),
  )
  opened = journal
  journal.onGroup((end) => log.settle(end))
  const unapplied: (Unapplied | undefined)[] = []
  for (const replay of replays) {
    unapplied.push(await replay.finish())
    if (replay.failure !== undefined) onTrouble?.(notBroughtUp(replay.failure))
  }
  if (owner?.state === 'unfinished') {
    // What is not in the indexes must stay in the old journal.
    for (const { failure } of replays) if (failure !== undefined) throw failure
    await beginJournal(journal, indexes)
  }
  const closing = closesLast(indexes.length, async () => {
    await log.close()
    await onClose()
  })
  const nodes = indexes.map((index, writer) => {
    const clock = new HybridClock(runtime.clock)
    const left = unapplied[writer]
    const seen = index.get(CLOCK_KEY)
    if (left !== undefined) clock.raise(pastUnsynced(left))
    else if (seen !== undefined) clock.raise(pastUnsynced(decodeClock(seen)))
    const line = lineOf({
      ...tuned,
      index,
      journal,
      writer,
      runtime,
      clock,
      log,
      ...(left && { unapplied: left }),
      ...(onTrouble && { onTrouble }),
    })
    return new LocalNode({ ...node, line, clock, runtime, knobs: tuned, position: writer, onClose: closing })
  })
  return { nodes, log }
}

const notBroughtUp = (cause: Error): Error =>
  new Error(
    `The index lacks the last writes: ${cause.message}. They are in the journal and in memory, reads go on, and it is tried again.`,
    { cause },
  )

/** What an old journal holds is in every index before it goes. */
async function beginJournal(journal: Journal, indexes: readonly OrderedMap[]): Promise<void> {
  for (const index of indexes) if (index.appliedUpTo < journal.end) await index.apply([], journal.end)
  await journal.begin()
}

const journalLine = (options: JournalLineOptions): Line => new JournalLine(options)

/** Readers may have seen LSNs of commits that were not in the journal yet; none of them is given out again. */
const UNSYNCED_LSNS_MAX = 2 ** 20

function pastUnsynced({
  timestamp,
  lsn: last,
}: Pick<Unapplied, 'timestamp' | 'lsn'>): Pick<Unapplied, 'timestamp' | 'lsn'> {
  return { timestamp, lsn: lsn(last + UNSYNCED_LSNS_MAX) }
}

/** The names of what was created just now. Those of the segments are the journal's own business. */
async function syncFolders(folder: DataFolder): Promise<void> {
  const files = realFiles()
  await files.makeFolder(folder.journalPath)
  await files.syncFolder(dirname(folder.journalPath))
  for (let node = 0; node < folder.nodes; node++) {
    await files.syncFolder(folder.indexPath(node))
    await files.syncFolder(folder.nodePath(node))
  }
}
