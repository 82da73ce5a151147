// A write to one item on the image that it meets (§2.2): what becomes of it. Actions of transactions are evaluated by the same
// function, on each image that they may meet (`imagesBefore`), so that size limits and index keys, §3.3's system restrictions, are
// the same for all, and are checked before a decision (point 6).
//
//   state of the item, request --decideWrite--> done, with the next image
//                                               condition-failed
//                                               invalid, in DynamoDB's words
//
// The old image is parsed only if a condition or an update looks at it.
import { applyUpdate, evaluateCondition } from '../../expression/expression.js'
import { itemBytes, itemSizeRefusal, type Item } from '../../model/value.js'
import { hasIndexes } from '../../model/table.js'
import { indexKeyRefusal } from './index-keys.js'
import type { ItemState, LastWrite, Mutation } from './item.js'
import {
  observes,
  type Action,
  type ContendedItem,
  type Image,
  type Pending,
  writes,
} from './contended-item.js'
import type { Timestamp } from '../../model/brand.js'

/** The image that a write leaves. */
export interface NextImage {
  readonly item: Item
  readonly itemBytes: number
  readonly lastWrite: LastWrite
}

export type WriteVerdict =
  /** `next` absent: there is no item afterwards. */
  | { readonly verdict: 'done'; readonly next?: NextImage }
  | { readonly verdict: 'condition-failed' }
  | { readonly verdict: 'invalid'; readonly message: string }

/** A single write, or an action of a transaction that writes. */
export type WriteAction = Action & { readonly mutation: Mutation }

export function decideWrite(state: Pick<ItemState, 'item'>, request: WriteAction): WriteVerdict {
  const { mutation } = request
  switch (mutation.kind) {
    case 'put': {
      // What is wrong with the item whatever it meets comes before the condition.
      const message = refusalOf(request, mutation, mutation.itemBytes ?? itemBytes(mutation.item))
      if (message !== undefined) return { verdict: 'invalid', message }
      return conditionHolds(state, request)
        ? { verdict: 'done', next: imageOfPut(request, mutation) }
        : CONDITION_FAILED
    }
    case 'update': {
      if (!conditionHolds(state, request)) return CONDITION_FAILED
      const updated = applyUpdate(mutation.update, state.item(), request.keyAttributes)
      if ('refusal' in updated) return { verdict: 'invalid', message: updated.refusal }
      if (updated.item === undefined) return NOTHING
      const bytes = itemBytes(updated.item)
      const message = refusalOf(request, updated, bytes)
      return message === undefined
        ? { verdict: 'done', next: { item: updated.item, itemBytes: bytes, lastWrite: lastWriteOf(request) } }
        : { verdict: 'invalid', message }
    }
    case 'delete':
      return conditionHolds(state, request) ? NOTHING : CONDITION_FAILED
  }
}

const CONDITION_FAILED = { verdict: 'condition-failed' } as const
const NOTHING = { verdict: 'done' } as const

function conditionHolds(state: Pick<ItemState, 'item'>, { condition }: WriteAction): boolean {
  return condition === undefined || evaluateCondition(condition, state.item())
}

/** The item is looked into only where an index may refuse it: of a put its text alone may be known. */
function refusalOf(
  { table, mutation }: WriteAction,
  of: { readonly item: Item | undefined },
  bytes: number,
): string | undefined {
  const { kind } = mutation
  const sizeRefusal = itemSizeRefusal(bytes, kind)
  if (sizeRefusal !== undefined || !hasIndexes(table)) return sizeRefusal
  return indexKeyRefusal(table, of.item!, kind)
}

type Put = Extract<Mutation, { readonly kind: 'put' }>

function imageOfPut(request: WriteAction, put: Put): NextImage {
  const lastWrite = lastWriteOf(request)
  if (put.json !== undefined && put.itemBytes !== undefined)
    return new TextImage(put, put.itemBytes, lastWrite)
  return { item: put.item, itemBytes: put.itemBytes ?? itemBytes(put.item), lastWrite }
}

/** An image of which the text is known; its item is made for whoever looks into it. */
export class TextImage implements NextImage {
  readonly #from: { readonly item: Item }
  readonly itemBytes: number
  readonly lastWrite: LastWrite

  constructor(from: { readonly item: Item }, itemBytes: number, lastWrite: LastWrite) {
    this.#from = from
    this.itemBytes = itemBytes
    this.lastWrite = lastWrite
  }

  get item(): Item {
    return this.#from.item
  }
}

/** What the record of an item says of the write that left it. */
export const lastWriteOf = (action: WriteAction): LastWrite => ({
  kind: action.mutation.kind === 'put' ? 'put' : 'update',
  blind: !observes(action),
})

// What an item may look like at a place in the serial order, while transactions before that place are undecided: one
// image if they commit, another if they cancel. An action is decided at once if all images agree on it.
//
// §4 rule 5 lets several transactions be prepared on one item and says nothing of conditions behind an undecided write; this is
// our answer to that (point 11, docs/adr/0005-transactions.md).

/** More than this many possible images are not looked at; whoever needs them waits instead. */
const IMAGES_MAX = 4

export type ActionResult =
  /** The image is made for whoever looks at it: of a put the text alone may be known. */
  | { readonly verdict: 'fine'; readonly image: () => Image; readonly next?: NextImage }
  | { readonly verdict: 'condition-failed' }
  | { readonly verdict: 'invalid'; readonly message: string }

/** One action on one image. */
export function actionResult(action: Action, image: Image): ActionResult {
  const { mutation, condition } = action
  if (mutation.kind === 'check') {
    const holds = condition === undefined || evaluateCondition(condition, image)
    return holds ? { verdict: 'fine', image: () => image } : { verdict: 'condition-failed' }
  }
  return resultOfWrite(decideWrite({ item: () => image }, action as WriteAction))
}

export function resultOfWrite(verdict: WriteVerdict): ActionResult {
  if (verdict.verdict !== 'done') return verdict
  const { next } = verdict
  return next === undefined
    ? { verdict: 'fine', image: () => undefined }
    : { verdict: 'fine', image: () => next.item, next }
}

/** The images that the item may have just before that timestamp; undefined if there are too many. */
export function imagesBefore(item: ContendedItem, timestamp: Timestamp): readonly Image[] | undefined {
  let images: readonly Image[] = [item.item()]
  for (const pending of item.pending) {
    if (pending.timestamp >= timestamp) break
    const next = imagesAfter(pending, images, item.written)
    if (next === undefined) return undefined
    images = next
  }
  return images
}

function imagesAfter(
  pending: Pending,
  before: readonly Image[],
  written: Timestamp,
): readonly Image[] | undefined {
  // A check writes nothing, and a write below the last one has been overwritten already.
  if (!writes(pending.action) || pending.timestamp <= written) return before
  const after = before.map((image) => {
    const result = actionResult(pending.action, image)
    // An action that was accepted holds in every image that was possible then, and still is.
    if (result.verdict !== 'fine') throw new Error(`pending ${pending.tx} no longer holds: ${result.verdict}`)
    return result.image()
  })
  const { kind } = pending.action.mutation
  // A put or delete leaves one image, whatever it met.
  const distinct = kind === 'put' || kind === 'delete' ? after.slice(0, 1) : after
  if (pending.decided) return distinct
  const images = [...before, ...distinct]
  return images.length > IMAGES_MAX ? undefined : images
}

/** One action on every image it may meet; `unsure` where they do not agree. */
export function actionResultOnAll(
  action: Action,
  images: readonly Image[],
): ActionResult | { readonly verdict: 'unsure' } {
  const [first, ...rest] = images.map((image) => actionResult(action, image))
  if (first === undefined) throw new RangeError('no image to look at')
  return rest.every((result) => result.verdict === first.verdict) ? first : { verdict: 'unsure' }
}

/**
 * Whether all that is pending would still be accepted if the item had this image now: what §4 rule 2 asks of conditions, asked
 * of updates, sizes and index keys as well (point 11).
 */
export function pendingStillHolds(item: ContendedItem, image: Image): boolean {
  let images: readonly Image[] = [image]
  for (const pending of item.pending) {
    if (pending.timestamp <= item.written) continue
    if (images.some((each) => actionResult(pending.action, each).verdict !== 'fine')) return false
    const next = imagesAfter(pending, images, item.written)
    if (next === undefined) return false
    images = next
  }
  return true
}
