// Puts together what a check of a folder needs: the storage's own check, and the catalogue's reading of its tables.
import { access } from 'node:fs/promises'
import type { TableShape } from '../../model/table.js'
import { decodeTableRecord, RecordDamaged, tableOf } from '../../router/tables/table-record.js'
import type { MetaEntry } from '../../storage/contract/storage-node.js'
import { repairFolder } from '../../storage/folder/repair-folder.js'
import { verifyFolder } from '../../storage/folder/verify.js'
import type { FolderReport, VerifyDataOptions } from '../command/environment.js'

const TABLE_PREFIX = 'table/'

export async function verifyDataFolder(
  path: string,
  { repair = false, dropDamaged = false, onProgress }: VerifyDataOptions = {},
): Promise<FolderReport> {
  const report = await lookAt(path, onProgress)
  if (!repair || report.problems.length === 0) return report
  const { done } = await repairFolder(path, { dropDamaged, tables: tablesOf([]) })
  const after = await lookAt(path, onProgress)
  return { ...after, repaired: [...report.problems, ...done] }
}

async function lookAt(path: string, onProgress: VerifyDataOptions['onProgress']): Promise<FolderReport> {
  // A folder that is not there must not come into being by being looked at.
  await access(path).catch(() => {
    throw new Error(`there is no folder ${path}`)
  })
  const damaged: string[] = []
  const { findings, batches, items, entries, records } = await verifyFolder(path, {
    tables: tablesOf(damaged),
    ...(onProgress && { onProgress }),
  })
  const problems = [...damaged, ...findings]
  const verdict = problems.length === 0 ? 'sound' : 'not sound'
  return {
    problems,
    summary: `${path} is ${verdict}: ${batches} batches of the journal, ${items} items and ${entries} index entries${
      records > 0 ? `, and ${records} records of the log of commits,` : ''
    } were read`,
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
