// Stores on engines in place of stores in memory (on-engine.ts).
import type { Engine } from '../../src/engine/engine.js'
import { cassandra } from '../../src/engine/cassandra/cassandra.js'
import { cassandraOptionsOf } from '../../src/engine/cassandra/options.js'
import { MemoryEngine } from '../../src/engine/memory-engine.js'
import type { StorageNode } from '../../src/storage/contract/storage-node.js'
import { openEngineNode } from '../../src/storage/engine/engine-node.js'
import type { LocalNodeOptions } from '../../src/storage/folder/open-local-node.js'
import type { OpenOptions } from '../../src/store/store.js'
import { troubledEngine } from './troubled-engine.js'

/** `memory`, `troubled`, or the address of a ring with KEYSPACE in it: each store gets one of its own. */
const WHERE = process.env['SERIATIM_ON_ENGINE'] ?? 'memory'
const FLEET = { leaseMs: 200, lateMs: 50, refreshMs: 50 }
let opened = 0

export function onEngine(options: OpenOptions): OpenOptions {
  if (options.memory !== true || options.from !== undefined) return options
  const { memory: _, from: __, nodes: ___, ...rest } = options
  // Nothing ends a doubt on a clock that stands still.
  const engine = rest.clock === undefined ? freshEngine() : new MemoryEngine()
  return { ...rest, engine, fleet: FLEET }
}

/** One node in place of all that were asked for, on an engine whose steps span as much as those of a node do. */
export function nodesOnEngine(
  options: LocalNodeOptions & { readonly nodes?: number },
): Promise<readonly StorageNode[]> | undefined {
  if (!('memory' in options)) return undefined
  const { runtime } = options
  return openEngineNode({ engine: new MemoryEngine({ scope: 'store' }), runtime }).then((node) => [node])
}

function freshEngine(): Engine {
  opened++
  if (WHERE === 'memory') return new MemoryEngine()
  if (WHERE === 'troubled') return troubledEngine(opened)
  return cassandra(cassandraOptionsOf(WHERE.replace('KEYSPACE', `s${process.pid}_${opened}`)))
}
