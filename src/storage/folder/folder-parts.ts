// The parts of a data folder: all there, and each its own.
import { LogDamaged } from '../../commit-log/commit-log.js'
import { IndexDamaged } from '../../ordered-map/lmdb/file/lmdb-file.js'
import type { MarkedMap } from '../../ordered-map/lmdb/lmdb-map.js'
import { JournalDamaged } from '../../journal/errors.js'
import type { JournalOwner } from '../../journal/read-back.js'
import { realFiles } from '../../runtime/real-files.js'
import { FolderRefused } from '../../line/errors.js'
import type { DataFolder } from './folder.js'

const PUT_BACK = 'Put it back, or restore the data folder from a backup.'

/** Before an index is opened, which would make a new one. The journal sees to its files itself. */
export async function refuseMissingIndexes(folder: DataFolder): Promise<void> {
  if (folder.state !== 'whole') return
  for (let node = 0; node < folder.nodes; node++) {
    const path = folder.indexPath(node)
    if (!(await realFiles().list(path)).includes('data.mdb'))
      throw new FolderRefused(`The index file ${path}/data.mdb is missing. Nothing was changed. ${PUT_BACK}`)
  }
}

/** Marks the index of a folder that is being made. */
export function claimIndex(folder: DataFolder, node: number, index: MarkedMap): void {
  if (index.mark === undefined && folder.state !== 'whole') index.setMark(markOf(folder, node))
  else refuseForeignIndex(folder, node, index)
}

/** @throws FolderRefused if it is another node's, or another folder's */
export function refuseForeignIndex(folder: DataFolder, node: number, { mark }: MarkedMap): void {
  if (mark === markOf(folder, node)) return
  const path = folder.indexPath(node)
  const [id, other] = mark?.split(' ') ?? []
  const what =
    id === folder.id
      ? `The index in ${path} is that of node ${other}: node folders were swapped or copied. Nothing was changed. Give ` +
        `each its own name back, or restore the data folder from a backup.`
      : `The index in ${path} ${mark === undefined ? 'does not say whose it is' : 'belongs to another data folder'}. Nothing was changed. Put this folder's own there, or ` +
        `restore the data folder from a backup.`
  throw new FolderRefused(what)
}

export const ownerOf = ({ id, state }: DataFolder): JournalOwner => ({
  id,
  state: state === 'whole' ? 'whole' : 'unfinished',
})

/** What the parts say of themselves is why the folder is refused. */
export function asRefusal(error: unknown): unknown {
  return error instanceof JournalDamaged || error instanceof IndexDamaged || error instanceof LogDamaged
    ? new FolderRefused(error.message, { cause: error })
    : error
}

export const markOf = ({ id }: DataFolder, node: number): string => `${id} ${node}`
