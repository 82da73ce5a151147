// Puts together what a check of a folder needs: the storage's own check, and the catalogue's reading of its tables.
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { BACKUPS_BUCKET } from '../../buckets/buckets.js'
import type { TableShape } from '../../model/table.js'
import { type BackupsReport, setAsideDamaged, verifyBackups } from '../../router/backups/verify-backups.js'
import { decodeTableRecord, RecordDamaged, tableOf } from '../../router/tables/record/table-record.js'
import { type WholeFiles, wholeFilesIn } from '../../runtime/whole-files.js'
import type { MetaEntry } from '../../storage/contract/storage-node.js'
import { takeExistingFolder } from '../../storage/folder/folder.js'
import { repairFolder } from '../../storage/folder/repair-folder.js'
import { verifyFolder } from '../../storage/folder/verify.js'
import type { FolderReport, VerifyDataOptions } from '../command/environment.js'

const TABLE_PREFIX = 'table/'

export async function verifyDataFolder(
  path: string,
  { repair = false, dropDamaged = false, buckets, onProgress }: VerifyDataOptions = {},
): Promise<FolderReport> {
  // A folder that is not there must not come into being by being looked at.
  await access(path).catch(() => {
    throw new Error(`there is no folder ${path}`)
  })
  const folders = [join(path, 'backups'), ...(buckets === undefined ? [] : [join(buckets, BACKUPS_BUCKET)])]
  const looked = await lookAt(path, folders, onProgress)
  if (!repair || looked.report.problems.length === 0) return looked.report
  const done: string[] = []
  if (looked.data.length > 0)
    done.push(...(await repairFolder(path, { dropDamaged, tables: tablesOf([]) })).done)
  for (const backups of looked.backups) done.push(...(await setAside(path, backups)))
  const { report } = await lookAt(path, folders, onProgress)
  return { ...report, repaired: [...looked.report.problems, ...done] }
}

interface LookedAt {
  /** Of journal, index and log. */
  readonly data: readonly string[]
  readonly backups: readonly LookedBackups[]
  readonly report: FolderReport
}

interface LookedBackups extends BackupsReport {
  readonly folder: string
  readonly kept: WholeFiles
}

async function lookAt(
  path: string,
  folders: readonly string[],
  onProgress: VerifyDataOptions['onProgress'],
): Promise<LookedAt> {
  const damaged: string[] = []
  const { findings, batches, items, entries, records } = await verifyFolder(path, {
    tables: tablesOf(damaged),
    ...(onProgress && { onProgress }),
  })
  const backups: LookedBackups[] = []
  for (const folder of folders) {
    const kept = wholeFilesIn(folder)
    backups.push({ folder, kept, ...(await verifyBackups(kept, folder)) })
  }
  const files = backups.reduce((sum, each) => sum + each.files, 0)
  const data = [...damaged, ...findings]
  const problems = [...data, ...backups.flatMap((each) => each.findings)]
  const verdict = problems.length === 0 ? 'sound' : 'not sound'
  const summary = `${path} is ${verdict}: ${batches} batches of the journal, ${items} items and ${entries} index entries${
    records > 0 ? `, and ${records} records of the log of commits,` : ''
  }${files > 0 ? ` and ${files} files of backups` : ''} were read`
  return { data, backups, report: { problems, summary } }
}

/** While no server has the folder open. */
async function setAside(path: string, { kept, folder, damaged }: LookedBackups): Promise<readonly string[]> {
  if (damaged.length === 0) return []
  const held = await takeExistingFolder(path)
  try {
    return await setAsideDamaged(kept, folder, damaged)
  } finally {
    await held.release()
  }
}

/** The catalogue is kept on the first node, and holds for all of them. */
function tablesOf(damaged: string[]): (meta: readonly Required<MetaEntry>[]) => readonly TableShape[] {
  let shapes: readonly TableShape[] = []
  return (meta) => {
    const tables = meta.filter(({ name }) => name.startsWith(TABLE_PREFIX))
    if (tables.length > 0) shapes = tables.flatMap((entry) => shapeOf(entry, damaged))
    return shapes
  }
}

function shapeOf(entry: Required<MetaEntry>, damaged: string[]): readonly TableShape[] {
  try {
    return [tableOf(decodeTableRecord(entry)).shape]
  } catch (error) {
    if (!(error instanceof RecordDamaged)) throw error
    damaged.push(error.message)
    return []
  }
}
