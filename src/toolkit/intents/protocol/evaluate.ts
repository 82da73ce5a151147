// What an action does to an image, decided on the client with the store's own expression language, so that nothing can
// go wrong any more when the decision has been taken: sizes, keys and the keys of indexes are looked at here.
import { keyAttributesOf, keyParts } from '../../../model/table.js'
import { applyUpdate, evaluateCondition, openExpressions } from '../../../expression/expression.js'
import { DynamoError } from '../../../model/errors.js'
import { itemBytes, itemSizeRefusal, attribute, typeOf, type Item } from '../../../model/value.js'
import type { KeyAttribute } from '../../../model/table.js'
import type { UnitAction, TableLayout } from '../../unit/protocol.js'
import { INTENT, VERSION } from './records.js'

export type Evaluation =
  /** `after`: undefined where there is no item afterwards. */
  | { readonly verdict: 'fine'; readonly after?: Item }
  | { readonly verdict: 'condition' }
  | { readonly verdict: 'invalid'; readonly message: string }

export function evaluateAction(
  action: UnitAction,
  layout: TableLayout,
  before: Item | undefined,
): Evaluation {
  try {
    const { condition, update, names, values } = action.expressions
    const expressions = openExpressions({
      ...(names !== undefined && { ExpressionAttributeNames: names }),
      ...(values !== undefined && { ExpressionAttributeValues: values }),
    })
    if (condition !== undefined) {
      const bound = expressions.condition(condition, 'ConditionExpression')
      if (!evaluateCondition(bound, before)) return { verdict: 'condition' }
    }
    switch (action.kind) {
      case 'check':
        return { verdict: 'fine', ...(before !== undefined && { after: before }) }
      case 'delete':
        return { verdict: 'fine' }
      case 'put':
        return checked(action.item!, layout)
      case 'update': {
        if (update === undefined) return checked(before ?? action.key, layout)
        const result = applyUpdate(expressions.update(update), before, action.key)
        if ('refusal' in result) return { verdict: 'invalid', message: result.refusal }
        if (result.item === undefined) return { verdict: 'fine' }
        const key = keyAttributesOf(layout.key, result.item)
        for (const name of Object.keys(action.key)) {
          if (JSON.stringify(attribute(key, name)) !== JSON.stringify(attribute(action.key, name)))
            return {
              verdict: 'invalid',
              message: `One or more parameter values were invalid: Cannot update attribute ${name}. This attribute is part of the key`,
            }
        }
        return checked(result.item, layout)
      }
    }
  } catch (error) {
    if (error instanceof DynamoError) return { verdict: 'invalid', message: error.message }
    throw error
  }
}

/** Room for our own attribute in an item that is full. */
const VERSION_BYTES_MAX = 128

function checked(after: Item, layout: TableLayout): Evaluation {
  const invalid = (message: string): Evaluation => ({ verdict: 'invalid', message })
  for (const name of [VERSION, INTENT])
    if (attribute(after, name) !== undefined)
      return invalid(`the attribute ${name} is reserved for transactions`)
  const tooLarge = itemSizeRefusal(itemBytes(after) + VERSION_BYTES_MAX)
  if (tooLarge !== undefined) return invalid(tooLarge)
  for (const index of layout.indexes) {
    for (const part of keyParts(index.key)) {
      const wrong = wrongIndexKey(part, after, index.name)
      if (wrong !== undefined) return invalid(wrong)
    }
  }
  return { verdict: 'fine', after }
}

function wrongIndexKey(part: KeyAttribute, item: Item, index: string): string | undefined {
  const value = attribute(item, part.name)
  if (value === undefined) return undefined
  if (typeOf(value) !== part.type)
    return `One or more parameter values were invalid: Type mismatch for Index Key ${part.name} Expected: ${part.type} Actual: ${typeOf(value)} IndexName: ${index}`
  const empty = 'S' in value ? value.S === '' : 'B' in value && value.B === ''
  return empty
    ? `One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: ${index}, IndexKey: ${part.name}`
    : undefined
}
