// A disk that fails on command, under a real process: ./disk-faults.c, compiled here and preloaded there.
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { needs, type Skip } from '../clients/installed.js'
import { testFolder } from '../support/folder.js'

const SOURCE = fileURLToPath(new URL('../../../test/faults/disk-faults.c', import.meta.url))
const CONTROL_BYTES = 128
const NAME_OFFSET = 24
const KINDS = { write: 1, truncate: 2, sync: 4, any: 7 } as const
const SHORT_WRITE = -1
const KILL = -2

export interface DiskFault {
  readonly kind: keyof typeof KINDS
  /**
   * `short`: half of the bytes are written. `kill`: the process, and all of its group, are killed before the call; start it
   * detached, in a group of its own.
   */
  readonly error: 'EIO' | 'ENOSPC' | 'EDQUOT' | 'EROFS' | 'short' | 'kill'
  /** So many of these calls pass before. */
  readonly skip?: number
  /** So many of them fail; all unless told otherwise. */
  readonly count?: number
}

export interface DiskFaults {
  /** Of the process that is to be hit, and of its children. */
  readonly environment: NodeJS.ProcessEnv
  fail(fault: DiskFault): void
  heal(): void
  /** How many calls have failed so far. */
  readonly failed: number
  /** How many syncs have not, since this fault or the one before. */
  readonly synced: number
  close(): void
}

/** To be given to `test` as its options. */
export const needsCompiler: Skip =
  process.platform === 'linux'
    ? needs('gcc', 'cc', ['--version'])
    : { skip: 'disk faults are injected by LD_PRELOAD, which is of Linux' }

let library: string | undefined

/** Faults of the files whose path contains `name`. */
export function diskFaults(name: string): DiskFaults {
  const folder = testFolder()
  if (library === undefined) {
    const compiled = join(folder, 'disk-faults.so')
    execFileSync('cc', ['-shared', '-fPIC', '-O1', '-o', compiled, SOURCE, '-ldl'])
    library = compiled
  }
  const path = join(folder, 'control')
  const file = openSync(path, 'w+')
  const write = (words: readonly number[], at: number): void => {
    writeSync(file, Uint8Array.from(new Uint8Array(Int32Array.from(words).buffer)), 0, words.length * 4, at)
  }
  const word = (nth: number): number => {
    const bytes = Buffer.alloc(4)
    readSync(file, bytes, 0, 4, nth * 4)
    return bytes.readInt32LE(0)
  }
  const initial = Buffer.alloc(CONTROL_BYTES)
  initial.write(name, NAME_OFFSET, 'latin1')
  writeSync(file, initial, 0, CONTROL_BYTES, 0)
  return {
    environment: { ...process.env, LD_PRELOAD: library, SERIATIM_DISK_FAULTS: path },
    fail: ({ kind, error, skip = 0, count = 2 ** 30 }) => {
      const code =
        error === 'short'
          ? SHORT_WRITE
          : error === 'kill'
            ? KILL
            : constants.errno[error as keyof typeof constants.errno]
      // The kinds last: they arm it.
      write([code, skip, count], 4)
      write([KINDS[kind]], 0)
    },
    heal: () => write([0], 0),
    get failed() {
      return word(4)
    },
    get synced() {
      return word(5)
    },
    close: () => closeSync(file),
  }
}
