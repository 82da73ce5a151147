// A write to one item on the image that it meets (§2.2): what becomes of it. Actions of transactions are evaluated by the same
// function, on each image that they may meet (possible-images.ts), so that size limits and index keys, §3.3's system restrictions, are
// the same for all, and are checked before a decision (point 6).
//
//   state of the item, request --decideWrite--> done, with the next image
//                                               condition-failed
//                                               invalid, in DynamoDB's words
//
// The old image is parsed only if a condition or an update looks at it.
import { applyUpdate, evaluateCondition } from '../../expression/expression.js'
import { itemBytes } from '../../model/item-size.js'
import { limits } from '../../model/limits.js'
import type { Item } from '../../model/value.js'
import { indexKeyRefusal } from './index-keys.js'
import type { ItemState, LastWrite, WriteRequest } from './item.js'

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

/** `expected`: as of an action of a unit of work. */
type DecidedRequest = WriteRequest & { readonly expected?: unknown }

export function decideWrite(state: ItemState, request: DecidedRequest): WriteVerdict {
  const { mutation } = request
  switch (mutation.kind) {
    case 'put': {
      // What is wrong with the item whatever it meets comes before the condition.
      const next = image(
        request,
        mutation.item,
        mutation.itemBytes ?? itemBytes(mutation.item),
        PUT_TOO_LARGE,
      )
      if (next.verdict === 'invalid') return next
      return conditionHolds(state, request) ? next : CONDITION_FAILED
    }
    case 'update': {
      if (!conditionHolds(state, request)) return CONDITION_FAILED
      const updated = applyUpdate(mutation.update, state.item(), request.keyAttributes)
      if ('refusal' in updated) return { verdict: 'invalid', message: updated.refusal }
      return image(request, updated.item, itemBytes(updated.item), UPDATE_TOO_LARGE)
    }
    case 'delete':
      return conditionHolds(state, request) ? DELETED : CONDITION_FAILED
  }
}

const CONDITION_FAILED = { verdict: 'condition-failed' } as const
const DELETED = { verdict: 'done' } as const
const PUT_TOO_LARGE = 'Item size has exceeded the maximum allowed size'
const UPDATE_TOO_LARGE = 'Item size to update has exceeded the maximum allowed size'

function conditionHolds(state: ItemState, { condition }: DecidedRequest): boolean {
  return condition === undefined || evaluateCondition(condition, state.item())
}

function image(
  request: DecidedRequest,
  item: Item,
  bytes: number,
  tooLarge: string,
): Extract<WriteVerdict, { verdict: 'done' | 'invalid' }> {
  if (bytes > limits.itemBytesMax) return { verdict: 'invalid', message: tooLarge }
  const message = indexKeyRefusal(request.table, item)
  if (message !== undefined) return { verdict: 'invalid', message }
  return { verdict: 'done', next: { item, itemBytes: bytes, lastWrite: lastWriteOf(request) } }
}

/** Who expects something of the image has seen it, as who is shown it has (points 8 and 10). */
function lastWriteOf({ mutation, condition, expected, answersImage }: DecidedRequest): LastWrite {
  const observes = condition !== undefined || expected !== undefined || answersImage === true
  return {
    kind: mutation.kind === 'put' ? 'put' : 'update',
    blind: mutation.kind === 'put' && !observes,
  }
}
