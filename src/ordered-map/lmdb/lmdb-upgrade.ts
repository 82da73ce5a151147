// Gives the records of an older index their checksums, before it is opened.
//
//   records, some at a time, and the last key of them: one synced commit --> ... --> the state says that all have theirs
//
// Whenever it is ended, the next start goes on behind the last key that is noted: no record gets two checksums, none is left
// without. A record that was damaged before is not found out by this.
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Database } from 'lmdb'
import type { KeyBytes } from '../../model/brand.js'
import { checksumOfKey, sealed, unsealed } from '../checksum.js'
import { checkIndexFile } from './file/lmdb-file.js'
import {
  APPLIED,
  ENTRIES,
  ENVIRONMENT,
  STATE,
  UPGRADED,
  appliedBytes,
  decodeApplied,
} from './file/lmdb-options.js'
import { assertRoom } from './file/disk-room.js'
import { keyEncoder } from './file/sealed-entries.js'
import { lmdb } from './file/lmdb.js'

/** Of one commit. */
const RECORDS_MAX = 10_000
const RECORDS_BYTES_MAX = 16 * 1024 * 1024
const HIGHEST = '\xff'.repeat(8) as KeyBytes

export interface UpgradeOptions {
  /** Called after each commit with the number of records that have their checksums since the start. */
  readonly onProgress?: (records: number) => void
  readonly recordsMax?: number
}

/** Resolves to the number of records that got a checksum; 0 if all have theirs, or there is no index. */
export async function upgradeIndex(path: string, options: UpgradeOptions = {}): Promise<number> {
  const folder = resolve(path)
  if (!existsSync(join(folder, 'data.mdb'))) return 0
  checkIndexFile(folder)
  const root = lmdb.open<Uint8Array, KeyBytes>(folder, ENVIRONMENT)
  try {
    const opened = { encoding: 'binary' as const, keyEncoder, cache: false }
    const entries: Values = root.openDB(ENTRIES, opened)
    const state: Values = root.openDB(STATE, opened)
    const stored = state.getBinary(APPLIED as KeyBytes)
    const applied = stored === undefined ? undefined : decodeApplied(stored)
    // What is damaged is told when it is opened.
    if (applied === undefined || applied.checksums) return 0
    let records = 0
    const fileBytes = statSync(join(folder, 'data.mdb')).size
    for (;;) {
      // This process writes, and must not be told by LMDB that there is no room (docs/adr/0022).
      assertRoom(folder, { changes: RECORDS_MAX, bytes: Math.min(RECORDS_BYTES_MAX, fileBytes) })
      const added = root.transactionSync(() =>
        addChecksums(entries, state, options.recordsMax ?? RECORDS_MAX),
      )
      if (added === 0) break
      records += added
      options.onProgress?.(records)
      await setImmediate()
    }
    root.transactionSync(() => {
      state.putSync(APPLIED as KeyBytes, appliedBytes(applied.appliedUpTo))
      state.removeSync(UPGRADED as KeyBytes)
    })
    return records
  } finally {
    await root.close()
  }
}

type Values = Database<Uint8Array, KeyBytes>

/** How many got theirs: 0 when none is left. */
function addChecksums(entries: Values, state: Values, recordsMax: number): number {
  const stored = state.getBinary(UPGRADED as KeyBytes)
  const last = stored && unsealed(checksumOfKey(UPGRADED as KeyBytes), stored)
  if (stored !== undefined && last === undefined)
    throw new Error('how far the upgrade of the index has come is damaged')
  const start = last === undefined ? '\0' : Buffer.from(last).toString('latin1')
  const records: [KeyBytes, Buffer][] = []
  let bytes = 0
  for (const { key, value } of entries.getRange({
    start: start as KeyBytes,
    end: HIGHEST,
    exclusiveStart: last !== undefined,
  })) {
    records.push([key, sealed(key, value)])
    bytes += value.length
    if (records.length >= recordsMax || bytes >= RECORDS_BYTES_MAX) break
  }
  for (const [key, record] of records) entries.putSync(key, record)
  const lastKey = records.at(-1)?.[0]
  if (lastKey !== undefined)
    state.putSync(UPGRADED as KeyBytes, sealed(UPGRADED as KeyBytes, Buffer.from(lastKey, 'latin1')))
  return records.length
}
