// What a step leaves for the log of commits: one entry for each image that an item had in it, with the image before.
//
// The old image is the one that the step replaced, whatever was decided since: several writes of an item in one batch are
// several changes. A write that leaves the item as it was, and a delete of nothing, leave none (point 28).
import type { Cause, LoggedChange } from '../../commit-log/commit-record.js'
import { sameItem } from '../../model/compare.js'
import { keyAttributesOf, type ItemKey, type LoggedImages, type TableShape } from '../../model/table.js'
import type { Item } from '../../model/value.js'
import type { NextImage } from '../../rules/item/single-write.js'

/** An image of an item: its text, and its attributes, which are parsed if somebody asks. */
export interface ImageText {
  readonly json: Uint8Array
  readonly item: () => Item
}

export interface LoggedStep {
  readonly table: TableShape
  readonly logged: LoggedImages
  readonly key: ItemKey
  readonly old: ImageText | undefined
  readonly new: ImageText | undefined
  readonly operation: LoggedChange['operation']
  readonly cause: Cause
}

/** Undefined if nothing has changed. */
export function loggedChange({
  table,
  logged,
  key,
  old,
  new: next,
  operation,
  cause,
}: LoggedStep): LoggedChange | undefined {
  if (old === undefined && next === undefined) return undefined
  if (old !== undefined && next !== undefined && isSameImage(old, next)) return undefined
  const kept = { ...(logged.old && old && { old: old.json }), ...(logged.new && next && { new: next.json }) }
  return {
    space: table.space,
    key: key.bytes,
    event: old === undefined ? 'insert' : next === undefined ? 'remove' : 'modify',
    operation,
    cause,
    ...(kept.old === undefined && kept.new === undefined && { keys: keysOf(table, next ?? old) }),
    ...kept,
  }
}

export const operationOf = (next: NextImage | undefined): LoggedChange['operation'] =>
  next === undefined ? 'delete' : next.lastWrite.kind

function keysOf(table: TableShape, image: ImageText | undefined): Uint8Array {
  return Buffer.from(JSON.stringify(keyAttributesOf(table.key, image === undefined ? {} : image.item())))
}

/**
 * Whether two images are the same item. Their texts are canonical but for the order of attributes and of members of sets:
 * the same item has a text of the same length and of the same bytes in some order, so most need not be parsed.
 */
function isSameImage(one: ImageText, other: ImageText): boolean {
  if (one.json.byteLength !== other.json.byteLength) return false
  if (Buffer.compare(one.json, other.json) === 0) return true
  return byteSum(one.json) === byteSum(other.json) && sameItem(one.item(), other.item())
}

function byteSum(bytes: Uint8Array): number {
  let sum = 0
  for (let at = 0; at < bytes.length; at++) sum += bytes[at] as number
  return sum
}
