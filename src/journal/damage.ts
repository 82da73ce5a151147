// What can be wrong with the files of a journal: a sentence each, with the file and what to do.
import { JournalDamaged } from './errors.js'
import type { Segment, SegmentHeader } from './segment.js'

const RESTORE = 'restore the data folder from a backup'

export function damagedAt(folder: string, segment: Segment, end: number, proof: string): JournalDamaged {
  const file = `${folder}/${segment.file}`
  const byte = end - segment.start
  return new JournalDamaged(
    `The journal file ${file} is damaged at byte ${byte}: the batch there had been acknowledged (${proof}), but cannot ` +
      `be read. Nothing was changed. Restore the data folder from a backup; or, to go on without the writes from there on, ` +
      `cut the file to ${byte} bytes and move the later files of the journal away.`,
  )
}

export function unreadable(folder: string, { file }: Segment): JournalDamaged {
  return new JournalDamaged(
    `The journal file ${folder}/${file} is not a file of a journal, or has lost its beginning. Nothing was changed. Put ` +
      `the right file there, or ${RESTORE}.`,
  )
}

export function renamed(folder: string, { file }: Segment, header: SegmentHeader): JournalDamaged {
  return new JournalDamaged(
    `The journal file ${folder}/${file} has another file's name: it was written as ${header.file}. Nothing was changed. ` +
      `Give each file its own name back, or ${RESTORE}.`,
  )
}

export function ofAnotherFolder(folder: string, { file }: Segment): JournalDamaged {
  return new JournalDamaged(
    `The journal file ${folder}/${file} belongs to another data folder. Nothing was changed. Put this folder's own ` +
      `journal there, or ${RESTORE}.`,
  )
}

export function missingNext(folder: string, segment: Segment, next: Segment): JournalDamaged {
  return new JournalDamaged(
    `The journal file ${folder}/${next.file} is missing: ${segment.file} goes on in it. Nothing was changed. Put it back, ` +
      `or ${RESTORE}.`,
  )
}

export function missingBefore(folder: string, from: number): JournalDamaged {
  return new JournalDamaged(
    `The journal in ${folder} does not reach back to offset ${from}, up to which the index was brought: a segment ` +
      `file is missing, or the index is older than the journal. Put the missing file back, or ${RESTORE}.`,
  )
}

export function missingAll(folder: string): JournalDamaged {
  return new JournalDamaged(
    `There is no journal in ${folder}: its files are missing or were renamed. Put them back, or ${RESTORE}.`,
  )
}

export function endsBefore(folder: string, segment: Segment, end: number, held: number): JournalDamaged {
  return new JournalDamaged(
    `The journal file ${folder}/${segment.file} ends at byte ${end - segment.start}, but an index holds what stood up to ` +
      `byte ${held - segment.start}: the journal is older than the index, or was cut. Nothing was changed. Put the right ` +
      `files together, or ${RESTORE}.`,
  )
}
