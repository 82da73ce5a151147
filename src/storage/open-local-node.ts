// Opening local nodes: takes the folder, brings each index up to its journal, and puts the parts together.
import { join } from 'node:path'
import { lmdbIndex } from '../index/lmdb-index.js'
import { memoryIndex } from '../index/memory-index.js'
import type { OrderedIndex } from '../index/ordered-index.js'
import type { Frame } from '../journal/frame.js'
import { openJournal } from '../journal/journal.js'
import type { KeyBytes } from '../model/brand.js'
import type { FileLayer } from '../runtime/files.js'
import { realFiles } from '../runtime/real-files.js'
import type { Runtime } from '../runtime/runtime.js'
import { takeFolder } from './folder.js'
import { HybridClock } from './hybrid-clock.js'
import { JournalLine } from './journal-line.js'
import { MemoryLine } from './line.js'
import { LocalNode } from './local-node.js'
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
    return Array.from({ length: options.nodes ?? 1 }, () => openMemoryNode(options.runtime))
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

function openMemoryNode(runtime: Runtime): StorageNode {
  return new LocalNode(new MemoryLine(memoryIndex()), new HybridClock(runtime.clock), () => Promise.resolve())
}

interface JournalledNodeOptions {
  readonly runtime: Runtime
  /** The folder of this node within the data folder. */
  readonly path: string
  readonly files?: FileLayer
  readonly tuning?: LocalNodeTuning
}

async function openJournalledNode(
  { runtime, path, files = realFiles(), tuning = {} }: JournalledNodeOptions,
  onClose: () => Promise<void>,
): Promise<StorageNode> {
  const index = lmdbIndex(join(path, 'index'))
  try {
    await syncFolders(path)
    const clock = new HybridClock(runtime.clock)
    const replay = new Replay(index)
    const journal = await openJournal(
      { ...tuning, files, runtime, folder: join(path, 'journal') },
      index.appliedUpTo,
      (frame) => replay.add(frame),
    )
    await replay.finish()
    await journal.trim(index.appliedUpTo)
    const seen = index.get(CLOCK_KEY)
    if (seen !== undefined) clock.raise(decodeClock(seen))
    return new LocalNode(new JournalLine({ ...tuning, index, journal, runtime, clock }), clock, onClose)
  } catch (error) {
    await index.close()
    throw error
  }
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
