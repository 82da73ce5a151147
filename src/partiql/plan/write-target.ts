// Which item an UPDATE, a DELETE or an EXISTS is about, and what else it asks of that item.
import type { ConditionNode } from '../../expression/parse/tree.js'
import type { BoundCondition } from '../../expression/parse/types.js'
import { sameValue } from '../../model/compare.js'
import { validationError } from '../../model/errors.js'
import type { KeyAttribute, KeySchema } from '../../model/table.js'
import { attribute, setAttribute, type Item, type MutableItem } from '../../model/value.js'
import { conjunctsOf, isOfType, keyMismatch, KeyReader } from './key-conditions.js'

export interface WriteTarget {
  /** Complete, and of the right types. */
  readonly key: Item
  /** What is asked beside the key; undefined: nothing. */
  readonly condition: BoundCondition | undefined
}

/**
 * `single`: two different values for one key attribute are refused, as for writes; in EXISTS the first is the key, and the
 * other a condition that does not hold.
 */
export function writeTarget(
  where: BoundCondition | undefined,
  schema: KeySchema,
  conflicts: 'refused' | 'conditions',
): WriteTarget {
  if (where === undefined) throw incompleteKey()
  const reader = new KeyReader(where, schema)
  const key: MutableItem = {}
  const rest: ConditionNode[] = []
  for (const conjunct of conjunctsOf(where.tree)) {
    const test = reader.testOf(conjunct)
    if (test?.condition.op !== '=') {
      rest.push(conjunct)
      continue
    }
    const { part, condition } = test
    const [value] = condition.values
    const known = attribute(key, part.name)
    if (known === undefined) {
      if (!isOfType(part, [value])) throw keyMismatch(part)
      setAttribute(key, part.name, value)
    } else if (!sameValue(known, value)) {
      if (conflicts === 'refused') throw severalValues(part)
      rest.push(conjunct)
    }
  }
  const parts = [schema.partition, ...(schema.sort ? [schema.sort] : [])]
  if (parts.some(({ name }) => attribute(key, name) === undefined)) throw incompleteKey()
  if (rest.length === 0) return { key, condition: undefined }
  const tree: ConditionNode = rest.length === 1 ? rest[0]! : { type: 'and', terms: rest }
  return { key, condition: { tree, bindings: where.bindings } }
}

const incompleteKey = (): Error =>
  validationError('Where clause does not contain a mandatory equality on all key attributes')

const severalValues = ({ name }: KeyAttribute): Error =>
  validationError(
    `Multiple conditions on same key ${name}. Only single item Update/Insert/Delete are supported`,
  )
