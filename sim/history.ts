// What happened in a simulated world, as the judges see it: what was asked, when, and what was answered.
//
// Every write leaves its id in the attribute `w` of the image it writes, so that an image says who wrote it.
import type { BoundCondition } from '../src/expression/parse/types.js'
import type { Item } from '../src/model/value.js'
import type { Mutation } from '../src/rules/item/item.js'

/** The attributes of an item; undefined if there is none. */
export type Image = Item | undefined

/** What a write intends for one item. */
export interface WrittenAction {
  readonly key: string
  readonly keyAttributes: Item
  readonly mutation: Mutation | { readonly kind: 'check' }
  readonly condition?: BoundCondition
}

interface Span {
  readonly id: string
  /** Microseconds of the world's own time, which no process can see. */
  readonly invokedAt: number
  /** Infinity if nobody was told. */
  readonly completedAt: number
}

/** A write transaction or a single write. */
export interface WriteEntry extends Span {
  readonly kind: 'write'
  readonly actions: readonly WrittenAction[]
  readonly status: 'committed' | 'refused' | 'unknown'
  /** Its place in the serial order, once it is committed. */
  readonly timestamp?: number
  /** The images before it, as far as they were answered, or read and validated. */
  readonly old?: ReadonlyMap<string, Image>
  /** What its queries saw: just before it they must still see it. */
  readonly ranges?: readonly RangeSeen[]
  /** The snapshot of a unit whose writes nobody else may have written to since. */
  readonly since?: number
}

/** All items of some keys that match, and no others. */
export interface RangeSeen {
  readonly keys: readonly string[]
  readonly filter?: BoundCondition
  readonly images: ReadonlyMap<string, Image>
}

/** A query or scan at a timestamp. */
export interface HistoryRange extends Span, RangeSeen {
  readonly kind: 'range'
  readonly timestamp: number
}

/** A read transaction that was answered. */
export interface HistoryRead extends Span {
  readonly kind: 'read'
  readonly timestamp: number
  readonly images: ReadonlyMap<string, Image>
  /** By a unit of work, whose snapshot may be older than the request. */
  readonly ofUnit?: true
}

/** A plain get, or the image upon which something was refused: somebody looked at one item outside the serial order. */
export interface LookEntry extends Span {
  readonly kind: 'look'
  readonly key: string
  readonly image: Image
  /** A condition that was said to fail on it. */
  readonly failed?: BoundCondition
}

export type HistoryEntry = WriteEntry | HistoryRead | HistoryRange | LookEntry

/** The id of the write that left this image. */
export function requestThatWrote(image: Image): string | undefined {
  const tag = image?.['w']
  return tag !== undefined && 'S' in tag ? tag.S : undefined
}

/** An image in a sentence: the end of a long one says most. */
export function brief(text: string): string {
  return text.length > BRIEF_CHARACTERS ? `…${text.slice(-BRIEF_CHARACTERS)}` : text
}

const BRIEF_CHARACTERS = 160

/** Equal texts mean equal images, whatever the order of their attributes. */
export function imageText(image: Image): string {
  if (image === undefined) return 'absent'
  return `{${Object.keys(image)
    .toSorted()
    .map((name) => `${name}: ${JSON.stringify(image[name])}`)
    .join(', ')}}`
}
