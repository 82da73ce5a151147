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
import { hasIndexes } from '../../model/table.js'
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
