// Nodes that keep everything in memory, and images of all of them at one moment.
//
//   nodes in memory --image(), one turn--> maps and log, copied on write; the highest clock --memoryNodes({ image })--> other nodes
//
// An image is what a crash at that moment would leave of nodes on a disk that lost nothing: every step that was decided, whole.
// Opened, it is taken up as after a start: recovery finishes or cancels transactions that concern several nodes. Of the memory of
// nodes nothing is copied (read marks, floors, snapshots, locks): all of it was below the clock, and that is where the other
// nodes begin.
import { LocalLog, type LogState } from '../../commit-log/local-log.js'
import { memoryLogStorage, type MemoryLogStorage } from '../../commit-log/memory-log.js'
import { HybridClock } from '../../line/hybrid-clock.js'
import { MemoryLine } from '../../line/line.js'
import { CEILING_KEY } from '../../line/spaces.js'
import { type Lsn, type Timestamp, lsn, timestamp } from '../../model/brand.js'
import { type Knobs, knobs } from '../../model/knobs.js'
import { memoryKnobs } from '../../model/memory-budget.js'
import { memoryMap, type MemoryMap } from '../../ordered-map/memory-map.js'
import type { TransactionRules } from '../../rules/item/section-4.js'
import type { Runtime } from '../../runtime/runtime.js'
import type { StorageNode } from '../contract/storage-node.js'
import { LocalNode, type UnitLimits } from './local-node.js'

/** What nodes in memory held at one moment. It does not change, and may be opened any number of times. */
export interface MemoryImage {
  /** One for each node. */
  readonly maps: readonly MemoryMap[]
  readonly clock: ClockFloor
  readonly log: { readonly storage: MemoryLogStorage | undefined; readonly state: LogState }
}

/** All that was given out or observed at any of the nodes is at or below these. */
export interface ClockFloor {
  readonly timestamp: Timestamp
  readonly lsn: Lsn
}

/** Nodes in memory, with their log, which is closed with the last of them. */
export interface MemoryNodes {
  readonly nodes: readonly StorageNode[]
  readonly log: LocalLog
  readonly memory: NodesMemory
}

export interface NodesMemory {
  /** In one turn: no step is in it by halves. */
  image(): MemoryImage
  readonly clock: ClockFloor
  /** From here on all nodes give out what is above these. */
  raise(to: ClockFloor): void
}

export interface MemoryNodesOptions {
  readonly runtime: Runtime
  readonly rules?: TransactionRules
  readonly units?: UnitLimits
  readonly tuning?: Partial<Knobs>
  /** For what is kept beside the data. */
  readonly memoryMb?: number
  /** As many as the image has, or one, unless told otherwise. */
  readonly nodes?: number
  /** What they begin with; nothing if absent. */
  readonly image?: MemoryImage
}

/**
 * Opens nodes in memory.
 *
 * @example
 * const { nodes, memory } = memoryNodes({ runtime: realRuntime() })
 * const others = memoryNodes({ runtime: realRuntime(), image: memory.image() })
 */
export function memoryNodes(options: MemoryNodesOptions): MemoryNodes {
  const { runtime, rules, units, image, memoryMb } = options
  const count = options.nodes ?? image?.maps.length ?? 1
  const tuned = {
    ...knobs,
    ...options.tuning,
    ...(memoryMb !== undefined && memoryKnobs(memoryMb, count)),
  }
  const maps = mapsFor(options, tuned)
  let storage = image?.log.storage?.copy()
  const log = new LocalLog({
    runtime,
    storage,
    begin: () => Promise.resolve((storage = memoryLogStorage({ knobs: tuned }))),
    ...(image && { state: image.log.state }),
    knobs: tuned,
  })
  const clocks = maps.map(() => new HybridClock(runtime.clock))
  const raise = (to: ClockFloor): void => clocks.forEach((clock) => clock.raise(to))
  if (image !== undefined) raise(image.clock)
  const closing = closesLast(maps.length, () => log.close())
  const nodes = maps.map(
    (map, position) =>
      new LocalNode({
        ...(rules && { rules }),
        line: new MemoryLine(map, log),
        clock: clocks[position] as HybridClock,
        runtime,
        ...(units && { units }),
        knobs: tuned,
        position,
        onClose: closing,
      }),
  )
  const floor = (): ClockFloor => ({
    timestamp: timestamp(Math.max(...clocks.map((clock) => clock.timestamp))),
    lsn: lsn(Math.max(...clocks.map((clock) => clock.lsn))),
  })
  return {
    nodes,
    log,
    memory: {
      get clock() {
        return floor()
      },
      raise,
      image: () => {
        // The log first: it takes in what steps of this turn have put.
        const state = log.state()
        return {
          maps: maps.map((map) => map.copy()),
          clock: floor(),
          log: { storage: storage?.copy(), state },
        }
      },
    },
  }
}

function mapsFor({ nodes, image }: MemoryNodesOptions, tuned: Knobs): readonly MemoryMap[] {
  if (image === undefined) return Array.from({ length: nodes ?? 1 }, () => memoryMap(tuned))
  return image.maps.map((each) => {
    const map = each.copy()
    // It stands up to a second ahead of what was observed; the clock of an image knows that exactly.
    void map.apply([[CEILING_KEY, undefined]], 0)
    return map
  })
}

/** Called by each of so many; the last one does it. */
export function closesLast(count: number, close: () => Promise<void>): () => Promise<void> {
  let open = count
  return async () => {
    open--
    if (open === 0) await close()
  }
}
