// Judges the log of commits: for each item it is the history of what was committed, once each and in order, and each
// transaction is in it as a whole.
import type { CommitRecord, LoggedChange } from '../../src/commit-log/commit-record.js'
import type { KeyBytes } from '../../src/model/brand.js'
import type { Item } from '../../src/model/value.js'
import { brief, type HistoryEntry, type Image, imageText, requestThatWrote } from '../history.js'
import { type Anomaly, Findings } from './anomaly.js'
import type { ModelVersion } from './model.js'

/** The items as they are at rest, by their keys. */
export type FinalItems = ReadonlyMap<KeyBytes, Image>

/** `records`: all that are kept, in order, from `first` on. */
export function judgeCommitLog(
  records: readonly CommitRecord[],
  first: number,
  final: FinalItems,
): readonly Anomaly[] {
  const found = new Findings()
  const isWhole = first === 1
  const last = new Map<KeyBytes, { readonly image: Image; readonly timestamp: number }>()
  const recordOf = new Map<string, number>()
  let number = first
  for (const record of records) {
    if (record.number !== number) found.add('log-number', `${record.number} stands where ${number} should`)
    number++
    if (record.changes.length === 0) found.add('log-empty-record', `record ${record.number}`)
    if (record.tx !== undefined) inOneRecord(record.tx, record.number)
    for (const change of record.changes) {
      const image = { old: imageOf(change.old), new: imageOf(change.new) }
      const name = `${shownKey(change.key)} in record ${record.number}`
      judgeChange(name, change, image)
      const before = last.get(change.key)
      if ((before !== undefined || isWhole) && imageText(before?.image) !== imageText(image.old))
        found.add(
          'log-old-image',
          `${name}: the old image is ${brief(imageText(image.old))}, and before it was ${brief(imageText(before?.image))}`,
        )
      if (before !== undefined && record.timestamp <= before.timestamp)
        found.add('log-order', `${name}: ${record.timestamp} after ${before.timestamp}`)
      last.set(change.key, { image: image.new, timestamp: record.timestamp })
      const request = writerOf(image)
      if (request !== undefined) inOneRecord(`request ${request}`, record.number)
    }
  }
  for (const [key, image] of final) {
    const logged = last.get(key)
    if (logged === undefined && !isWhole) continue
    if (imageText(logged?.image) !== imageText(image))
      found.add(
        'log-end',
        `${shownKey(key)}: the log ends with ${brief(imageText(logged?.image))}, and the item is ${brief(imageText(image))}`,
      )
  }
  return found.all

  function inOneRecord(whose: string, at: number): void {
    const other = recordOf.get(whose)
    if (other !== undefined && other !== at)
      found.add('log-in-halves', `${whose} is in the records ${other} and ${at}`)
    recordOf.set(whose, at)
  }

  function judgeChange(name: string, { event }: LoggedChange, image: { old: Image; new: Image }): void {
    const meant = image.old === undefined ? 'insert' : image.new === undefined ? 'remove' : 'modify'
    if (event !== meant) found.add('log-event', `${name}: ${event}, and its images say ${meant}`)
    if (imageText(image.old) === imageText(image.new)) found.add('log-no-change', name)
  }
}

/** Every write that was committed and changed its item has its record: none is overtaken in the log. */
export function judgeLogComplete(
  records: readonly CommitRecord[],
  first: number,
  versions: ReadonlyMap<KeyBytes, readonly ModelVersion[]>,
): readonly Anomaly[] {
  const found = new Findings()
  if (first > 1) return found.all
  const logged = new Set(
    records.flatMap(({ timestamp, changes }) => changes.map(({ key }) => `${timestamp} ${key}`)),
  )
  for (const [key, of] of versions)
    for (const [at, { text, timestamp, writer }] of of.entries())
      if (at > 0 && of[at - 1]?.text !== text && !logged.has(`${timestamp} ${key}`))
        found.add(
          'log-incomplete',
          `${shownKey(key)} was written by ${writer} at ${timestamp}, which has no record`,
        )
  return found.all
}

/**
 * In one process: whoever begins after a reader has seen what another one wrote comes after that one in the log. Not if both
 * write the same item: while a transaction is carried out node by node, a single write may still go before it where it is
 * not done yet (§4 rule 2). Where the way between two nodes takes long, as with a coordinator elsewhere or while an index takes
 * nothing (`late`), so may what that was done upon.
 */
export function judgeLogOrder(
  records: readonly CommitRecord[],
  history: readonly HistoryEntry[],
  finishing: 'at once' | 'late',
): readonly Anomaly[] {
  const found = new Findings()
  const recordOf = new Map<string, CommitRecord>()
  for (const record of records)
    for (const change of record.changes) {
      const request = writerOf({ old: imageOf(change.old), new: imageOf(change.new) })
      if (request !== undefined) recordOf.set(request, record)
    }
  const events: { readonly at: number; readonly seen?: CommitRecord; readonly begun?: CommitRecord }[] = []
  for (const entry of history) {
    if (entry.kind === 'look') {
      const seen = recordOf.get(requestThatWrote(entry.image) ?? '')
      if (seen !== undefined) events.push({ at: entry.completedAt, seen })
    } else if (entry.kind === 'write') {
      const begun = recordOf.get(entry.id)
      if (begun !== undefined) events.push({ at: entry.invokedAt, begun })
    }
  }
  let last: CommitRecord | undefined
  for (const { seen, begun } of events.toSorted((a, b) => a.at - b.at)) {
    if (seen !== undefined && seen.number > (last?.number ?? 0)) last = seen
    if (begun === undefined || last === undefined || begun.number >= last.number) continue
    if (sharesItem(begun, last) || (finishing === 'late' && isDoneUpon(last, begun, records))) continue
    found.add(
      'log-causality',
      `record ${begun.number} was begun after a reader had seen record ${last.number}`,
    )
  }
  return found.all
}

/** Not every update leaves its id: one that only adds leaves that of the write before it. */
const writerOf = (image: { readonly old: Image; readonly new: Image }): string | undefined => {
  const request = requestThatWrote(image.new)
  return request === requestThatWrote(image.old) ? undefined : request
}

const sharesItem = (one: CommitRecord, other: CommitRecord): boolean =>
  one.changes.some(({ key }) => other.changes.some((change) => change.key === key))

/** Whether the later record changed what the earlier one had changed, itself or through those between them. */
function isDoneUpon(later: CommitRecord, earlier: CommitRecord, records: readonly CommitRecord[]): boolean {
  const keys = new Set(later.changes.map(({ key }) => key))
  for (const record of records.toReversed()) {
    if (record.number >= later.number || !record.changes.some(({ key }) => keys.has(key))) continue
    if (record.number <= earlier.number) return record.number === earlier.number
    for (const { key } of record.changes) keys.add(key)
  }
  return false
}

/** An image that is no item is none that was ever written. */
function imageOf(bytes: Uint8Array | undefined): Image {
  if (bytes === undefined) return undefined
  const text = Buffer.from(bytes).toString()
  try {
    return JSON.parse(text) as Item
  } catch {
    return { unreadable: { S: text } }
  }
}

const shownKey = (key: KeyBytes): string => JSON.stringify(Buffer.from(key, 'latin1').toString('latin1'))
