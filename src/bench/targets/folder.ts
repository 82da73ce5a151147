// The files of a server that was just filled: the system writes them back for a while, and may have taken from its cache
// what it needed for others. Neither has to do with how long a request takes in a table of that size.
import { createReadStream, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const DIRTY_BYTES_MAX = 64 * 1024 * 1024
/** A store may bring its index up a moment later. */
const INDEX_DELAY_MS = 1000
const LOOK_AGAIN_MS = 250
const WAIT_MS_MAX = 120_000
const READ_BYTES = 1024 * 1024

export const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, path, name }) => join(parentPath ?? path, name))

/** Waits until little is left to be written back, for a while, and reads everything once. */
export async function settledFolder(folder: string): Promise<void> {
  if (filesIn(folder).length === 0) return
  await sleep(INDEX_DELAY_MS)
  for (let waited = 0; waited < WAIT_MS_MAX && dirtyBytes() > DIRTY_BYTES_MAX; waited += LOOK_AGAIN_MS)
    await sleep(LOOK_AGAIN_MS)
  for (const file of filesIn(folder)) await readThrough(file)
}

/** Of the whole system; 0 where there is no /proc. */
function dirtyBytes(): number {
  try {
    const text = readFileSync('/proc/meminfo', 'utf8')
    const kilobytes = (name: string): number =>
      Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)
    return (kilobytes('Dirty') + kilobytes('Writeback')) * 1024
  } catch {
    return 0
  }
}

async function readThrough(file: string): Promise<void> {
  try {
    for await (const _ of createReadStream(file, { highWaterMark: READ_BYTES }));
  } catch (error) {
    // The server removes segments of its journal meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
