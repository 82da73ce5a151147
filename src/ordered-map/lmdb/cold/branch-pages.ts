// Reads the branch pages of a large index before they are checked, several at once: a start that met them one by one on a cold disk
// would wait for each of them.
import { close, open, read } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { entriesTreeOf, isReadAtStart } from '../file/lmdb-file.js'
import { isBranch, pageNodesOf } from '../file/lmdb-pages.js'
import { type PageRun, RUN_BYTES_MAX, runsOf } from './page-runs.js'

/** As many as Node's pool has threads. */
const READS_AT_ONCE = 4

/** Nothing comes of it but that the system has them. A damaged file is found by the check that follows. */
export async function bringBranches(folder: string): Promise<void> {
  if (isReadAtStart(folder)) return
  const file = await promisify(open)(join(folder, 'data.mdb'), 'r')
  try {
    const tree = entriesTreeOf(file)
    if (tree?.entries.root === undefined) return
    const { pageBytes, pages, entries } = tree
    let level: readonly number[] = [tree.entries.root]
    for (let depth = 1; depth < entries.depth && level.length > 0; depth++) {
      const children: number[] = []
      const wanted = new Set(level)
      await readRuns(file, runsOf(level, pageBytes), pageBytes, (page, bytes) => {
        if (!wanted.has(page) || depth + 1 >= entries.depth || !isBranch(bytes)) return
        for (const { child } of pageNodesOf(bytes)) if (child < pages) children.push(child)
      })
      level = children.slice(0, entries.branchPages)
    }
  } finally {
    await promisify(close)(file)
  }
}

async function readRuns(
  file: number,
  runs: readonly PageRun[],
  pageBytes: number,
  look: (page: number, bytes: Buffer) => void,
): Promise<void> {
  let next = 0
  const reader = async (): Promise<void> => {
    const into = Buffer.allocUnsafe(RUN_BYTES_MAX)
    for (let run = runs[next++]; run !== undefined; run = runs[next++]) {
      const { first, pages } = run
      const length = await new Promise<number>((resolve) => {
        read(file, into, 0, pages * pageBytes, first * pageBytes, (_, bytesRead) => resolve(bytesRead))
      })
      for (let at = 0; (at + 1) * pageBytes <= length; at++)
        look(first + at, into.subarray(at * pageBytes, (at + 1) * pageBytes))
    }
  }
  await Promise.all(Array.from({ length: READS_AT_ONCE }, reader))
}
