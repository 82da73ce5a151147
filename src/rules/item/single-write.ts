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
import { itemBytes, itemSizeRefusal } from '../../model/item-size.js'
import type { Item } from '../../model/value.js'
import { indexKeyRefusal } from './index-keys.js'
import type { ItemState, LastWrite, Mutation } from './item.js'
import { observes, type Action } from './contended-item.js'

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
      const next = image(request, mutation.item, mutation.itemBytes ?? itemBytes(mutation.item))
      if (next.verdict === 'invalid') return next
      return conditionHolds(state, request) ? next : CONDITION_FAILED
    }
    case 'update': {
      if (!conditionHolds(state, request)) return CONDITION_FAILED
      const updated = applyUpdate(mutation.update, state.item(), request.keyAttributes)
      if ('refusal' in updated) return { verdict: 'invalid', message: updated.refusal }
      return updated.item === undefined ? NOTHING : image(request, updated.item, itemBytes(updated.item))
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

function image(
  request: WriteAction,
  item: Item,
  bytes: number,
): Extract<WriteVerdict, { verdict: 'done' | 'invalid' }> {
  const { kind } = request.mutation
  const message = itemSizeRefusal(bytes, kind) ?? indexKeyRefusal(request.table, item, kind)
  if (message !== undefined) return { verdict: 'invalid', message }
  return { verdict: 'done', next: { item, itemBytes: bytes, lastWrite: lastWriteOf(request) } }
}

/** What the record of an item says of the write that left it. */
export const lastWriteOf = (action: WriteAction): LastWrite => ({
  kind: action.mutation.kind === 'put' ? 'put' : 'update',
  blind: !observes(action),
})
