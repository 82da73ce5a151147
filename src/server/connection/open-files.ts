// How many files and sockets this process may have open. Connections leave some of them to the journal and the index: a
// store that cannot open its next segment would refuse every write.
import { readFileSync } from 'node:fs'

/** For the journal, the index, and what the process has open besides. */
const KEPT = 256

/** So many connections at most, of those wanted. */
export function affordableConnections(wanted: number, openFilesMax = openFiles()): number {
  return Math.max(1, Math.min(wanted, openFilesMax - KEPT))
}

/** Infinity where the system does not tell. */
function openFiles(): number {
  try {
    const line = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return line === null ? Infinity : Number(line[1])
  } catch {
    return Infinity
  }
}
