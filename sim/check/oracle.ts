// Judges a history by replaying it: whatever was committed, in the order of (timestamp, id), on a store that could not be
// simpler. Every answer must be the one that this store would have given.
//
//   history --sort by timestamp--> model --> reads at a timestamp   equal the model at that timestamp
//                                        --> images before a write  equal the model just before it
//                                        --> ranges at a timestamp  hold what matches in the model, and nothing else;
//                                                                   those of a unit also just before its commit
//                                        --> conditions             hold just before the write that carried them
//                                        --> looks                  are a version of the item, and neither one that was
//                                                                   overwritten before the look began, nor older than
//                                                                   what an earlier look saw
//                                        --> final state            equals the model
//
// Keys that a write of unknown outcome may have touched are left out: nothing certain can be said of them.
import { evaluateCondition } from '../../src/expression/expression.js'
import {
  type HistoryEntry,
  type Image,
  type LookEntry,
  type HistoryRange,
  type RangeSeen,
  type HistoryRead,
  type WriteEntry,
  brief,
  imageText,
} from '../history.js'
import { type Anomaly, Findings } from './anomaly.js'
import { isBlind, Model, type ModelVersion } from './model.js'

export interface Verdict {
  readonly anomalies: readonly Anomaly[]
  /** Answers that were compared with the model. */
  readonly checked: number
  /** Answers about keys of which nothing certain is known. */
  readonly skipped: number
  /** What every item was, in the serial order, as far as that is certain. */
  readonly versions: ReadonlyMap<string, readonly ModelVersion[]>
}

/** `final`: the images after everything has come to rest. */
export function judgeByReplay(history: readonly HistoryEntry[], final?: ReadonlyMap<string, Image>): Verdict {
  return new Oracle(history).judge(final)
}

class Oracle {
  readonly #history: readonly HistoryEntry[]
  readonly #found = new Findings()
  readonly #model = new Model(this.#found)
  readonly #unsure = new Set<string>()
  #checked = 0
  #skipped = 0

  constructor(history: readonly HistoryEntry[]) {
    this.#history = history
  }

  judge(final: ReadonlyMap<string, Image> | undefined): Verdict {
    for (const entry of this.#history)
      if (entry.kind === 'write' && entry.status === 'unknown') this.#doubt(entry)
    for (const { entry, timestamp } of this.#serialOrder()) {
      if (entry.kind === 'write') this.#judgeWrite(entry, timestamp)
      else if (entry.kind === 'read') this.#judgeRead(entry)
      else this.#judgeRange(entry.id, entry, timestamp)
    }
    this.#judgeLooks()
    for (const [key, image] of final ?? []) {
      if (!this.#isSure(key)) continue
      const { text, writer, timestamp } = this.#model.look(key, Infinity)
      if (imageText(image) !== text)
        this.#found.add(
          'final-state',
          `in the end ${key} is ${brief(imageText(image))}, but ${writer} at ${timestamp} left ${brief(text)}`,
        )
    }
    const versions = new Map<string, readonly ModelVersion[]>()
    for (const key of this.#model.keys)
      if (!this.#unsure.has(key)) versions.set(key, this.#model.versions(key))
    return { anomalies: this.#found.all, checked: this.#checked, skipped: this.#skipped, versions }
  }

  #doubt(entry: WriteEntry): void {
    for (const { key, mutation } of entry.actions) if (mutation.kind !== 'check') this.#unsure.add(key)
  }

  #serialOrder(): { readonly entry: Placed; readonly timestamp: number }[] {
    const placed: { readonly entry: Placed; readonly timestamp: number }[] = []
    for (const entry of this.#history) {
      if (entry.kind === 'look' || (entry.kind === 'write' && entry.status !== 'committed')) continue
      if (entry.timestamp === undefined) throw new RangeError(`${entry.id} committed without a timestamp`)
      placed.push({ entry, timestamp: entry.timestamp })
    }
    return placed.toSorted(
      (a, b) =>
        a.timestamp - b.timestamp ||
        placeAmongEquals(a.entry) - placeAmongEquals(b.entry) ||
        (a.entry.id < b.entry.id ? -1 : 1),
    )
  }

  #judgeWrite(entry: WriteEntry, timestamp: number): void {
    for (const range of entry.ranges ?? []) this.#judgeRange(entry.id, range, timestamp)
    this.#judgeFirstCommitter(entry, timestamp)
    const sure = entry.actions.filter(({ key }) => this.#isSure(key))
    const old =
      entry.old === undefined ? undefined : new Map([...entry.old].filter(([key]) => this.#isSure(key)))
    this.#model.apply({ ...entry, actions: sure, ...(old && { old }) }, timestamp)
  }

  #judgeRead({ id, images, timestamp }: HistoryRead): void {
    for (const [key, image] of images) {
      if (!this.#isSure(key)) continue
      const expected = this.#model.look(key, timestamp)
      if (imageText(image) !== expected.text)
        this.#found.add(
          'read',
          `${id} at ${timestamp} read ${key} as ${brief(imageText(image))}, but ${expected.writer} at ` +
            `${expected.timestamp} had left ${brief(expected.text)}`,
        )
    }
  }

  /** What matches in the model, and nothing else, was seen. */
  #judgeRange(id: string, { keys, filter, images }: RangeSeen, timestamp: number): void {
    for (const key of keys) {
      if (!this.#isSure(key)) continue
      const { image, text, writer, timestamp: at } = this.#model.look(key, timestamp)
      const matches = image !== undefined && (filter === undefined || evaluateCondition(filter, image))
      const seen = imageText(images.get(key))
      if (seen === (matches ? text : imageText(undefined))) continue
      this.#found.add(
        'range',
        `${id} at ${timestamp} saw ${key} in its range as ${brief(seen)}, but ${writer} at ${at} had left ${brief(text)}`,
      )
    }
  }

  /** Of two units that write one item, one begins after the other has committed. */
  #judgeFirstCommitter({ id, since, actions }: WriteEntry, timestamp: number): void {
    if (since === undefined) return
    for (const { key, mutation } of actions) {
      if (mutation.kind === 'check' || isAdd(mutation) || !this.#isSure(key)) continue
      // A delete of what was not there is a write that nobody can tell from none.
      const versions = this.#model.versions(key)
      const before = versions.findLast(
        ({ image }, at) => image !== undefined || versions[at - 1]?.image !== undefined,
      )
      if (before === undefined || before.timestamp <= since) continue
      this.#found.add(
        'first-committer',
        `${id} at ${timestamp} with the snapshot ${since} wrote ${key}, which ${before.writer} had written at ${before.timestamp}`,
      )
    }
  }

  #judgeLooks(): void {
    const byKey = new Map<string, LookEntry[]>()
    for (const entry of this.#history) {
      if (entry.kind !== 'look') continue
      const looks = byKey.get(entry.key)
      if (looks === undefined) byKey.set(entry.key, [entry])
      else looks.push(entry)
    }
    for (const [key, looks] of byKey) this.#judgeLooksOf(key, looks)
  }

  #judgeLooksOf(key: string, looks: LookEntry[]): void {
    const versions = this.#model.versions(key)
    const seen: { readonly at: number; readonly completedAt: number }[] = []
    for (const look of looks.toSorted((a, b) => a.invokedAt - b.invokedAt)) {
      if (!this.#isSure(key)) continue
      if (look.failed !== undefined && evaluateCondition(look.failed, look.image))
        this.#found.add(
          'condition-held',
          `${look.id} was refused, but its condition holds on ${brief(imageText(look.image))}`,
        )
      // Nothing that was overwritten for everyone to see, nor what a look that was over had seen overwritten.
      const lowest = Math.max(
        versions.findLastIndex(({ completedAt }) => completedAt < look.invokedAt),
        ...seen.filter(({ completedAt }) => completedAt < look.invokedAt).map(({ at }) => at),
      )
      const text = imageText(look.image)
      const at = versions.findIndex(
        (version, index) => index >= lowest && version.text === text && version.invokedAt <= look.completedAt,
      )
      if (at >= 0) seen.push({ at, completedAt: look.completedAt })
      else this.#found.add('look', explainLook(look, versions, lowest))
    }
  }

  /** Counts one answer. */
  #isSure(key: string): boolean {
    if (this.#unsure.has(key)) this.#skipped++
    else this.#checked++
    return !this.#unsure.has(key)
  }
}

type Placed = WriteEntry | HistoryRead | HistoryRange

const isAdd = (mutation: WriteEntry['actions'][number]['mutation']): boolean =>
  mutation.kind === 'update' && mutation.update.tree.actions.every(({ type }) => type === 'add')

/**
 * At one timestamp writers that observe something come first: nobody else has a say in what they see. A reader sees what
 * was written at its own timestamp, too.
 */
function placeAmongEquals(entry: Placed): number {
  if (entry.kind !== 'write') return 2
  const sees = (entry.ranges ?? []).length > 0
  return !sees && entry.actions.every((action) => isBlind(entry, action)) ? 1 : 0
}

function explainLook(
  { id, key, image }: LookEntry,
  versions: readonly ModelVersion[],
  lowest: number,
): string {
  const text = imageText(image)
  const old = versions.findLast((version) => version.text === text)
  const newer = versions[lowest]
  const why =
    old === undefined
      ? 'which nobody left there'
      : `of ${old.writer} at ${old.timestamp}, but ${newer?.writer} at ${newer?.timestamp} was there already`
  return `${id} saw ${key} as ${brief(text)}, ${why}`
}
