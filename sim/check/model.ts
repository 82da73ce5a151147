// A store that could not be simpler: all committed operations, one after another in the order of their timestamps.
import { applyUpdate, evaluateCondition } from '../../src/expression/expression.js'
import { type Image, type WriteEntry, type WrittenAction, brief, imageText } from '../history.js'
import type { Findings } from './anomaly.js'

/** One state of an item, from one write to the next. */
export interface ModelVersion {
  readonly image: Image
  readonly text: string
  readonly timestamp: number
  readonly writer: string
  readonly invokedAt: number
  readonly completedAt: number
}

const INITIAL: ModelVersion = {
  image: undefined,
  text: imageText(undefined),
  timestamp: -1,
  writer: 'the beginning',
  invokedAt: -Infinity,
  completedAt: -Infinity,
}

/** It observed nothing of what was there before. */
export const isBlind = (
  { old }: Pick<WriteEntry, 'old'>,
  { key, mutation, condition }: WrittenAction,
): boolean =>
  condition === undefined && (mutation.kind === 'put' || mutation.kind === 'delete') && old?.has(key) !== true

export class Model {
  readonly #versions = new Map<string, ModelVersion[]>()
  readonly #found: Findings
  /** Two writes of one item at one timestamp, as long as nobody has seen which came last. */
  readonly #ties = new Map<string, string>()

  constructor(found: Findings) {
    this.#found = found
  }

  /** In the order of the serial order; the first is the absence before everything. */
  versions(key: string): readonly ModelVersion[] {
    let versions = this.#versions.get(key)
    if (versions === undefined) this.#versions.set(key, (versions = [INITIAL]))
    return versions
  }

  newest(key: string): ModelVersion {
    return this.versions(key).at(-1) as ModelVersion
  }

  /** What somebody who looks at this timestamp, or in the end, sees. */
  look(key: string, timestamp: number): ModelVersion {
    this.#tellTie(key, timestamp)
    return this.newest(key)
  }

  #tellTie(key: string, timestamp: number): void {
    const tie = this.#ties.get(key)
    if (tie === undefined || this.newest(key).timestamp === timestamp) return
    this.#ties.delete(key)
    this.#found.add('timestamp-tie', tie)
  }

  get keys(): Iterable<string> {
    return this.#versions.keys()
  }

  /** All actions of one write, at once. */
  apply(entry: WriteEntry, timestamp: number): void {
    for (const [key, image] of entry.old ?? []) {
      const before = this.newest(key)
      if (imageText(image) !== before.text)
        this.#found.add(
          'old-image',
          `${entry.id} at ${timestamp} was told that ${key} had been ${brief(imageText(image))}, but ${before.writer} at ` +
            `${before.timestamp} had left ${brief(before.text)}`,
        )
    }
    for (const action of entry.actions) this.#apply(entry, action, timestamp)
  }

  #apply(entry: WriteEntry, action: WrittenAction, timestamp: number): void {
    const { key, mutation, condition, keyAttributes } = action
    const before = this.newest(key)
    const { id, invokedAt, completedAt } = entry
    if (condition !== undefined && !evaluateCondition(condition, before.image)) {
      this.#found.add(
        'condition',
        `${id} committed at ${timestamp}, but its condition does not hold on ${key}, which ${before.writer} at ` +
          `${before.timestamp} had left as ${brief(before.text)}`,
      )
    }
    if (mutation.kind === 'check') return
    if (before.timestamp === timestamp) {
      this.#ties.set(key, `${id} and ${before.writer} both wrote ${key} at ${timestamp}`)
    } else if (isBlind(entry, action)) {
      // Which of the two came last is of no interest to anybody.
      this.#ties.delete(key)
    }
    this.#tellTie(key, timestamp)
    const image = this.#imageAfter(id, action, keyAttributes, before)
    ;(this.versions(key) as ModelVersion[]).push({
      image,
      text: imageText(image),
      timestamp,
      writer: id,
      invokedAt,
      completedAt,
    })
  }

  #imageAfter(
    id: string,
    { mutation, key }: WrittenAction,
    keyAttributes: Image,
    before: ModelVersion,
  ): Image {
    switch (mutation.kind) {
      case 'put':
        return mutation.item
      case 'check':
      case 'delete':
        return undefined
      case 'update': {
        const updated = applyUpdate(mutation.update, before.image, keyAttributes ?? {})
        if ('item' in updated) return updated.item
        this.#found.add(
          'impossible-update',
          `${id} cannot have updated ${key}, ${brief(before.text)}: ${updated.refusal}`,
        )
        return before.image
      }
    }
  }
}
