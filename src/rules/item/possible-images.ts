// What an item may look like at a place in the serial order, while transactions before that place are undecided: one
// image if they commit, another if they cancel. An action is decided at once if all images agree on it.
//
// §4 rule 5 lets several transactions be prepared on one item and says nothing of conditions behind an undecided write; this is
// our answer to that (point 11, docs/adr/0005-transactions.md).
import { evaluateCondition } from '../../expression/expression.js'
import type { Timestamp } from '../../model/brand.js'
import type { Action, ContendedItem, Image, Pending } from './contended-item.js'
import { writes } from './contended-item.js'
import { decideWrite, type NextImage, type WriteAction } from './single-write.js'

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
  const verdict = decideWrite({ item: () => image }, action as WriteAction)
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
