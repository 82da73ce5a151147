// Reads every file of a folder of backups from end to end, and says which are not as they were written.
//
//   backup-ID    an on-demand backup, or what a deleted table has left
//   base-...     what restores to a point in time begin with
//
// Neither can be mended: no other copy is known of. A repair sets them aside, so that they are no longer offered; a table that has
// lost its last base gets another when the folder is opened, and can be restored to moments from then on.
import { messageOf } from '../../model/message-of.js'
import { BackupReader } from '../../backups/backup-file.js'
import type { WholeFiles } from '../../runtime/whole-files.js'
import type { TableRecord } from '../tables/record/table-record.js'
import { baseIn } from './bases.js'
import { type BackupAbout, checkedAbout, isBackupFile } from './backup-list.js'

export interface BackupsReport {
  /** A sentence each; empty if all are whole. */
  readonly findings: readonly string[]
  readonly damaged: readonly string[]
  readonly files: number
}

export async function verifyBackups(files: WholeFiles, folder: string): Promise<BackupsReport> {
  const findings: string[] = []
  const damaged: string[] = []
  const names = (await files.list()).filter((name) => isBackupFile(name) || baseIn(name) !== undefined)
  for (const name of names) {
    const looked: Looked = { what: isBackupFile(name) ? 'backup' : 'copy for restores to a point in time' }
    try {
      await look(files, name, looked)
    } catch (error) {
      damaged.push(name)
      findings.push(`The ${looked.what} in ${folder}/${name} cannot be restored: ${messageOf(error)}`)
    }
  }
  return { findings, damaged, files: names.length }
}

interface Looked {
  /** With what is known of it so far. */
  what: string
}

async function look(files: WholeFiles, name: string, looked: Looked): Promise<void> {
  const reader = await BackupReader.open<unknown>(files, name)
  try {
    if (isBackupFile(name)) {
      const { name: given, table } = checkedAbout(name, reader.head.about as BackupAbout)
      looked.what = `backup ${given} of the table ${table.name}`
    } else {
      const { table } = reader.head.about as { readonly table?: TableRecord }
      looked.what += ` of the table ${table?.name ?? baseIn(name)?.tableId}`
    }
    for await (const _ of reader.read());
  } finally {
    await reader.close()
  }
}

const SET_ASIDE = '.damaged'

/** What was done, a sentence each. */
export async function setAsideDamaged(
  files: WholeFiles,
  folder: string,
  damaged: readonly string[],
): Promise<readonly string[]> {
  const done: string[] = []
  for (const name of damaged) {
    await files.rename(name, name + SET_ASIDE)
    done.push(
      isBackupFile(name)
        ? `${folder}/${name} was set aside as ${name}${SET_ASIDE}: the backup is no longer listed. If there is a copy of the file elsewhere, bring it back under its name.`
        : `${folder}/${name} was set aside as ${name}${SET_ASIDE}: moments between it and the next copy cannot be restored; if it was the last one, the next start makes another.`,
    )
  }
  return done
}
