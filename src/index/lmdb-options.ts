// How an index's folder is opened, by the thread that reads and by the one that writes, and what stands in it.

const MAP_BYTES_INITIAL = 4 * 1024 * 1024 * 1024
const READERS_MAX = 8

export const ENVIRONMENT = {
  // Virtual: the file is as long as its data, and the map grows beyond this by itself.
  mapSize: MAP_BYTES_INITIAL,
  maxDbs: 2,
  maxReaders: READERS_MAX,
  noSubdir: false,
  overlappingSync: false,
  // Changes come in batches as it is; an implicit one would reject a promise of its own that nobody can handle.
  eventTurnBatching: false,
  // LMDB's thread starts when it has been handed everything: it would only compete with the handing over.
  batchStartThreshold: Infinity,
  noMemInit: true,
  noReadAhead: true,
  cache: false,
  encoding: 'binary' as const,
}

export const ENTRIES = 'entries'
export const STATE = 'state'
/** In the state: the position of the journal up to which the entries hold everything. */
export const APPLIED = 'applied'

export function appliedBytes(appliedUpTo: number): Buffer {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeDoubleBE(appliedUpTo)
  return bytes
}
