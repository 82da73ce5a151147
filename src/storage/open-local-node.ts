// Opening local nodes: takes the folder, brings each index up to its journal, and puts the parts together.
import { join } from 'node:path'
import { lmdbIndex } from '../index/lmdb-index.js'
import { memoryIndex } from '../index/memory-index.js'
import type { OrderedIndex } from '../index/ordered-index.js'
import type { Frame } from '../journal/frame.js'
import { openJournal } from '../journal/journal.js'
import { lsn, type KeyBytes } from '../model/brand.js'
import type { FileLayer } from '../runtime/files.js'
import { realFiles } from '../runtime/real-files.js'
import type { TransactionRules } from '../rules/switches.js'
import type { Runtime } from '../runtime/runtime.js'
import { takeFolder } from './folder.js'
import { HybridClock } from './hybrid-clock.js'
import { JournalLine, type JournalLineOptions } from './journal-line.js'
import { type Line, MemoryLine } from './line.js'
import { LocalNode, type LocalNodeParts, type UnitLimits } from './local-node.js'
import { CLOCK_KEY, decodeClock, encodeClock } from './spaces.js'
import type { StorageNode } from './storage-node.js'

export interface LocalNodeTuning {
  readonly segmentBytesMax?: number
  readonly reserveBytes?: number
  readonly overlayBytesMax?: number
  readonly applyDelayMs?: number
  readonly applyChangesMax?: number
}

export type LocalNodeOptions = {
  readonly runtime: Runtime
  /** All of section 4 unless told otherwise. */
  readonly rules?: TransactionRules
  readonly units?: UnitLimits
} & (
  | { readonly memory: true }
  | {
      /** The data folder; created if there is none. */
      readonly path: string
      /** The file layer under the journal; the real one unless a test brings its own. */
      readonly files?: FileLayer
      readonly tuning?: LocalNodeTuning
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
  if ('memory' in options) {
    return Array.from({ length: options.nodes ?? 1 }, () => openMemoryNode(options))
  }
  const folder = await takeFolder(options.path, options.nodes)
  const nodes: StorageNode[] = []
  let closed = 0
  const onClose = async (): Promise<void> => {
    closed++
    if (closed === folder.nodes) await folder.release()
  }
  try {
    for (let node = 0; node < folder.nodes; node++) {
      nodes.push(await openJournalledNode({ ...options, path: folder.nodePath(node) }, onClose))
    }
    return nodes
  } catch (error) {
    closed = -Infinity
    await Promise.all(nodes.map((node) => node.close()))
    await folder.release()
    throw error
  }
}

function openMemoryNode({ runtime, rules, units }: LocalNodeOptions): StorageNode {
  return new LocalNode({
    ...(rules && { rules }),
    line: new MemoryLine(memoryIndex()),
    clock: new HybridClock(runtime.clock),
    runtime,
    ...(units && { units }),
    onClose: () => Promise.resolve(),
  })
}

interface JournalledNodeOptions {
  readonly runtime: Runtime
  /** The folder of this node within the data folder. */
  readonly path: string
  readonly files?: FileLayer
  readonly tuning?: LocalNodeTuning
  readonly rules?: TransactionRules
  readonly units?: UnitLimits
}

async function openJournalledNode(
  { runtime, path, files = realFiles(), tuning = {}, rules, units }: JournalledNodeOptions,
  onClose: () => Promise<void>,
): Promise<StorageNode> {
  const index = lmdbIndex(join(path, 'index'))
  try {
    await syncFolders(path)
    const folder = join(path, 'journal')
    const given = { ...(rules && { rules }), ...(units && { units }) }
    return await openNodeOver({ runtime, index, files, folder, tuning, ...given }, onClose)
  } catch (error) {
    await index.close()
    throw error
  }
}

export interface NodeParts extends Pick<LocalNodeParts, 'rules' | 'functions' | 'transactions' | 'units'> {
  readonly runtime: Runtime
  readonly index: OrderedIndex
  /** Where the journal is kept. */
  readonly files: FileLayer
  readonly folder: string
  readonly tuning?: LocalNodeTuning
  /** Puts the line together; a simulation looks over its shoulder. */
  readonly lineOf?: (options: JournalLineOptions) => Line
}

/** Opens a node over an index and the files of its journal, whatever they are kept in. */
export async function openNodeOver(
  { runtime, index, files, folder, tuning = {}, lineOf = journalLine, ...node }: NodeParts,
  onClose: () => Promise<void>,
): Promise<LocalNode> {
  const clock = new HybridClock(runtime.clock)
  const replay = new Replay(index)
  const journal = await openJournal({ ...tuning, files, runtime, folder }, index.appliedUpTo, (frame) =>
    replay.add(frame),
  )
  await replay.finish()
  await journal.trim(index.appliedUpTo)
  const seen = index.get(CLOCK_KEY)
  if (seen !== undefined) clock.raise(pastUnsynced(decodeClock(seen)))
  return new LocalNode({
    ...node,
    line: lineOf({ ...tuning, index, journal, runtime, clock }),
    clock,
    runtime,
    onClose,
  })
}

const journalLine = (options: JournalLineOptions): Line => new JournalLine(options)

/** Readers may have seen LSNs of commits that were not in the journal yet; none of them is given out again. */
const UNSYNCED_LSNS_MAX = 2 ** 20

function pastUnsynced({
  timestamp,
  lsn: last,
}: ReturnType<typeof decodeClock>): ReturnType<typeof decodeClock> {
  return { timestamp, lsn: lsn(last + UNSYNCED_LSNS_MAX) }
}

/** The names of what was created just now. Those of the segments are the journal's own business. */
async function syncFolders(path: string): Promise<void> {
  const files = realFiles()
  await files.makeFolder(join(path, 'journal'))
  await files.syncFolder(join(path, 'index'))
  await files.syncFolder(path)
}

/** Brings the index up, many frames a commit. */
class Replay {
  readonly #index: OrderedIndex
  #changes = new Map<KeyBytes, Uint8Array | undefined>()
  #bytes = 0
  #last: Frame | undefined

  constructor(index: OrderedIndex) {
    this.#index = index
  }

  async add(frame: Frame): Promise<void> {
    for (const [key, value] of frame.changes) this.#changes.set(key, value)
    this.#bytes += frame.end - frame.position
    this.#last = frame
    if (this.#bytes >= REPLAY_BYTES_MAX) await this.finish()
  }

  async finish(): Promise<void> {
    if (this.#last === undefined) return
    const { timestamp, lsn, end } = this.#last
    this.#changes.set(CLOCK_KEY, encodeClock(timestamp, lsn))
    await this.#index.apply(this.#changes, end)
    this.#changes = new Map()
    this.#bytes = 0
    this.#last = undefined
  }
}

const REPLAY_BYTES_MAX = 4 * 1024 * 1024
