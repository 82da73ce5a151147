// Repairs the indexes of a data folder that no process has open, and what can be made anew of its log of commits.
import { join } from 'node:path'
import { repairLogFiles } from '../../commit-log/files/log-repair.js'
import { framesFrom, segmentsIn } from '../../journal/segment.js'
import { eachFrame, readSegment } from '../../journal/segment-file.js'
import type { KeyBytes } from '../../model/brand.js'
import { realFiles } from '../../runtime/real-files.js'
import { type DataFolder, takeExistingFolder } from './folder.js'
import { markOf } from './folder-parts.js'
import { type RepairOptions, repairIndex } from './repair.js'
import { hasChecksums } from './verify-index.js'

export interface RepairedFolder {
  /** What was done, a sentence each. */
  readonly done: readonly string[]
  /** Records that could not be mended. */
  readonly lost: number
}

export async function repairFolder(
  path: string,
  options: Pick<RepairOptions, 'tables' | 'dropDamaged'>,
): Promise<RepairedFolder> {
  const folder = await takeExistingFolder(path)
  try {
    const done: string[] = []
    let lost = 0
    const files = realFiles()
    const segments = segmentsIn(await files.list(folder.journalPath))
    for (let node = 0; node < folder.nodes; node++) {
      const index = join(folder.nodePath(node), 'index')
      if (!hasChecksums(index))
        throw new Error(`the records of ${index} have no checksums yet: start the server once, then repair`)
      const report = await repairIndex(index, {
        ...options,
        ...(folder.state === 'whole' && { mark: markOf(folder, node) }),
        journalStart: segments[0]?.start ?? 0,
        journalImages: (keys) => imagesOf(folder, node, keys),
      })
      done.push(...report.done)
      lost += report.lost
    }
    if (folder.hasLog) {
      const log = await repairLogFiles({ files, folder: folder.logPath, owner: folder.id })
      done.push(...log.done)
      lost += log.lost
    }
    return { done, lost }
  } finally {
    await folder.release()
  }
}

/** The last word of the journal on each of these keys; undefined: removed. Those that it does not mention are missing. */
async function imagesOf(
  folder: DataFolder,
  node: number,
  keys: ReadonlySet<KeyBytes>,
): Promise<ReadonlyMap<KeyBytes, Uint8Array | undefined>> {
  const images = new Map<KeyBytes, Uint8Array | undefined>()
  if (keys.size === 0) return images
  const files = realFiles()
  const journal = folder.journalPath
  for (const segment of segmentsIn(await files.list(journal))) {
    const bytes = await readSegment(files, journal, segment, segment.start)
    const begin = folder.state === 'whole' ? framesFrom(segment) : segment.start
    await eachFrame(bytes, segment, begin, async ({ writer, changes }) => {
      if (writer === node) for (const [key, value] of changes) if (keys.has(key)) images.set(key, value)
    })
  }
  return images
}
