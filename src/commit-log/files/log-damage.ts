// What can be wrong with the files of the log of commits: a sentence each, with the file and what to do.
import { LogDamaged } from '../commit-log.js'
import type { LogGap } from './log-scan.js'
import type { LogSegment } from './log-segment.js'

const RESTORE = 'restore the data folder from a backup'

/** Told to the reader that asks for them; others are served. */
export function unreadableRecords(
  folder: string,
  { file }: LogSegment,
  { first, end, offset }: LogGap,
): LogDamaged {
  return new LogDamaged(
    `${capitalised(recordsFrom(first, end))} of the log of commits cannot be read: the file ${folder}/${file} is damaged ` +
      `at byte ${offset}. The other records can be.`,
  )
}

export function damagedLogPart(folder: string, { file }: LogSegment, { first, end, offset }: LogGap): string {
  return (
    `The log file ${folder}/${file} is damaged at byte ${offset}: ` +
    `${end > first ? `${recordsFrom(first, end)} cannot be read` : 'no record stood there'}.`
  )
}

export function damagedLogHeader(folder: string, { file }: LogSegment): string {
  return `The log file ${folder}/${file} has a damaged header; its records can be read. Repairing writes it anew.`
}

export function damagedLogIndex(folder: string, file: string, byte: number): string {
  return (
    `The index ${folder}/${file} of the log of commits is damaged at byte ${byte}. It is made anew from its segment when it ` +
    `is needed, and by repairing.`
  )
}

export function lostLogTail(folder: string, { file }: LogSegment, byte: number): string {
  return (
    `The log file ${folder}/${file} is damaged at byte ${byte}: the records there cannot be read, and the journal does not ` +
    `have them any more. Restore the data folder from a backup.`
  )
}

export function unreadableLog(folder: string, { file }: LogSegment): LogDamaged {
  return new LogDamaged(
    `The log file ${folder}/${file} is not a file of a log of commits, or has lost its beginning. Nothing was changed. Put ` +
      `the right file there, or ${RESTORE}.`,
  )
}

export function renamedLog(folder: string, { file }: LogSegment, header: LogSegment): LogDamaged {
  return new LogDamaged(
    `The log file ${folder}/${file} has another file's name: it was written as ${header.file}. Nothing was changed. ` +
      `Give each file its own name back, or ${RESTORE}.`,
  )
}

export function logOfAnotherFolder(folder: string, { file }: LogSegment): LogDamaged {
  return new LogDamaged(
    `The log file ${folder}/${file} belongs to another data folder. Nothing was changed. Put this folder's own log of ` +
      `commits there, or ${RESTORE}.`,
  )
}

export function missingLog(folder: string, { file }: LogSegment, missing: LogSegment): LogDamaged {
  return new LogDamaged(
    `The log file ${folder}/${missing.file} is missing: ${file} names it. Nothing was changed. Put it back, or ${RESTORE}.`,
  )
}

export function missingLogBefore(folder: string, { file }: LogSegment, first: number): LogDamaged {
  return new LogDamaged(
    `The log of commits in ${folder} should begin with record ${first}, and its first file is ${file}: a file is missing. ` +
      `Nothing was changed. Put it back, or ${RESTORE}.`,
  )
}

export function missingWholeLog(folder: string): LogDamaged {
  return new LogDamaged(
    `There is no log of commits in ${folder}: its files are missing or were renamed. Put them back, or ${RESTORE}.`,
  )
}

export function lostLogPosition(folder: string, { file }: LogSegment): LogDamaged {
  return new LogDamaged(
    `The log of commits in ${folder} does not say up to where it holds the journal: ${file} and the file before it are ` +
      `damaged. Nothing was changed. Put them back, or ${RESTORE}.`,
  )
}

const recordsFrom = (first: number, end: number): string =>
  end - first === 1 ? `record ${first}` : `records ${first} to ${end - 1}`

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
