// How an index's folder is opened, by the process that reads and by the one that writes, and what stands in it.
import type { KeyBytes } from '../../../model/brand.js'
import { checksumOfKey, sealed, unsealed } from '../../checksum.js'

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
  // Pages are zeroed before they are filled: what is free in them would else be bytes of the heap, in a file that is copied and backed up.
  noMemInit: false,
  noReadAhead: true,
  cache: false,
  encoding: 'binary' as const,
}

export const ENTRIES = 'entries'
export const STATE = 'state'
/**
 * In the state: the position of the journal up to which the entries hold everything, and the version of the records.
 *
 *   0 position (f64)  8 version (u8)  9 checksum (u32)      eight bytes alone: records without checksums
 */
export const APPLIED = 'applied'
/** In the state, while records get their checksums: the last key that has it (../lmdb-upgrade.ts). */
export const UPGRADED = 'upgraded'

const RECORDS_VERSION = 2
const APPLIED_BYTES_BEFORE = 8

export function appliedBytes(appliedUpTo: number): Buffer {
  const bytes = Buffer.allocUnsafe(APPLIED_BYTES_BEFORE + 1)
  bytes.writeDoubleBE(appliedUpTo)
  bytes[APPLIED_BYTES_BEFORE] = RECORDS_VERSION
  return sealed(APPLIED as KeyBytes, bytes)
}

/** `checksums`: whether the records have them. Undefined if these bytes are not what was written. */
export function decodeApplied(
  stored: Uint8Array,
): { readonly appliedUpTo: number; readonly checksums: boolean } | undefined {
  if (stored.length === APPLIED_BYTES_BEFORE)
    return { appliedUpTo: Buffer.from(stored).readDoubleBE(0), checksums: false }
  const bytes = unsealed(checksumOfKey(APPLIED as KeyBytes), stored)
  if (bytes?.length !== APPLIED_BYTES_BEFORE + 1 || bytes[APPLIED_BYTES_BEFORE] !== RECORDS_VERSION)
    return undefined
  return { appliedUpTo: Buffer.from(bytes).readDoubleBE(0), checksums: true }
}

/** In the state: whose index it is. */
export const MARK = 'mark'
