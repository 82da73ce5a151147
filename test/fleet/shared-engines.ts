// Engines for several servers that share their data: in memory, or on the ring that SERIATIM_RING names, in a keyspace of their own.
import { cassandra } from '../../src/engine/cassandra/cassandra.js'
import { cassandraOptionsOf } from '../../src/engine/cassandra/options.js'
import type { Engine } from '../../src/engine/engine.js'
import { MemoryEngine } from '../../src/engine/memory-engine.js'

/** The address of a ring, with KEYSPACE in the place of a keyspace. */
export const RING = process.env['SERIATIM_RING']
let made = 0

export function sharedEngines(servers: number): readonly Engine[] {
  made++
  if (RING === undefined) {
    const shared = new MemoryEngine()
    return Array.from({ length: servers }, () => shared)
  }
  return Array.from({ length: servers }, () => cassandra(ringOptions(`t${process.pid}_${made}`)))
}

export const ringOptions = (keyspace: string): ReturnType<typeof cassandraOptionsOf> =>
  cassandraOptionsOf((RING ?? '').replace('KEYSPACE', keyspace))
