// What a step leaves for the log of commits: one entry for each image that an item had in it, with the image before.
//
// The old image is the one that the step replaced, whatever was decided since: several writes of an item in one batch are
// several changes. A write that leaves the item as it was, and a delete of nothing, leave none (point 28).
import type { Cause, LoggedChange } from '../../commit-log/commit-record.js'
import type { SharedEnds } from '../../commit-log/shared-ends.js'
import { sameItem } from '../../model/compare.js'
import { leadingAttributes } from '../../model/leading-attributes.js'
import { keyNames, type ItemKey, type LoggedImages, type TableShape } from '../../model/table.js'
import type { Item } from '../../model/value.js'
import type { NextImage } from '../../rules/item/single-write.js'
import { asBuffer } from '../../line/record.js'

export interface LoggedStep {
  readonly table: TableShape
  readonly key: ItemKey
  /** The texts of the images. */
  readonly old: Uint8Array | undefined
  readonly new: Uint8Array | undefined
  /** What they have in common, if both are there. */
  readonly shared: SharedEnds | undefined
  /** The new image; undefined if there is none. */
  readonly next: NextImage | undefined
  readonly cause: Cause
  /** Who writes, and by which statement. */
  readonly about?: string | undefined
}

/** Undefined if nothing has changed. Objects of few shapes, made at once: each write on such a table makes one. */
export function loggedChange(logged: LoggedImages, step: LoggedStep): LoggedChange | undefined {
  const { table, key, old, new: text, shared, next, cause, about } = step
  if (old === undefined && text === undefined) return undefined
  if (shared !== undefined && isSameImage(old as Uint8Array, text as Uint8Array, shared)) return undefined
  const { space } = table
  const event = old === undefined ? 'insert' : text === undefined ? 'remove' : 'modify'
  const operation = next === undefined ? 'delete' : next.lastWrite.kind
  const keptOld = logged.old ? old : undefined
  const keptNew = logged.new ? text : undefined
  const { bytes } = key
  // Of a ledger table: readers need not look for the key in the image.
  if (logged.keys === true) {
    const keys = keysOf(table, (text ?? old) as Uint8Array)
    const images = { ...(keptOld && { old: keptOld }), ...(keptNew && { new: keptNew }) }
    const change = { space, key: bytes, event, operation, cause, keys, ...images } as const
    return about === undefined ? change : { ...change, about: Buffer.from(about) }
  }
  if (keptOld !== undefined && keptNew !== undefined)
    return {
      space,
      key: bytes,
      event,
      operation,
      cause,
      old: keptOld,
      new: keptNew,
      shared: shared as SharedEnds,
    }
  if (keptNew !== undefined) return { space, key: bytes, event, operation, cause, new: keptNew }
  if (keptOld !== undefined) return { space, key: bytes, event, operation, cause, old: keptOld }
  return { space, key: bytes, event, operation, cause, keys: keysOf(table, (text ?? old) as Uint8Array) }
}

/** Of either image: they have the same key. */
const keysOf = (table: TableShape, text: Uint8Array): Uint8Array =>
  Buffer.from(JSON.stringify(leadingAttributes(asBuffer(text), 0, text.byteLength, keyNames(table.key))))

const parsed = (text: Uint8Array): Item => JSON.parse(asBuffer(text).toString('utf8')) as Item

/**
 * Whether two images are the same item. Their texts are canonical but for the order of attributes and of members of sets:
 * the same item has a text of the same length and of the same bytes in some order, so most need not be parsed.
 */
function isSameImage(one: Uint8Array, other: Uint8Array, { prefix, suffix }: SharedEnds): boolean {
  if (one.length !== other.length) return false
  let difference = 0
  for (let at = prefix; at < one.length - suffix; at++) difference += one[at]! - other[at]!
  return difference === 0 && (prefix === one.length || sameItem(parsed(one), parsed(other)))
}
