// A bound condition against an item. Never throws: what a bound condition asks of an item that does not have it, or has
// it with another type, is simply not so.
import { base64Bytes, base64ToBytes } from '../../model/binary.js'
import { compareValues, sameValue } from '../../model/compare.js'
import { includesText } from '../../model/search.js'
import { typeOf, type AttributeValue, type Item } from '../../model/value.js'
import { valueAt } from '../parse/paths.js'
import type { Comparator, ConditionNode, FunctionNode, OperandNode } from '../parse/tree.js'
import type { Bindings, BoundCondition } from '../parse/types.js'
import { holdsElement, holdsMember } from './membership.js'

/** Whether the item, or the absence of one, meets the condition. */
export function evaluateCondition(condition: BoundCondition, item: Item | undefined): boolean {
  return holds(condition.tree, item ?? NOTHING, condition.bindings)
}

/** How many values are compared at most to evaluate it once. */
export const comparisonsOf = ({ tree }: BoundCondition): number => comparisonsIn(tree)

function comparisonsIn(node: ConditionNode): number {
  switch (node.type) {
    case 'and':
    case 'or':
      return node.terms.reduce((sum, term) => sum + comparisonsIn(term), 0)
    case 'not':
      return comparisonsIn(node.term)
    case 'in':
      return node.list.length
    case 'between':
      return 2
    case 'compare':
    case 'function':
      return 1
  }
}

const NOTHING: Item = Object.freeze({})

function holds(node: ConditionNode, item: Item, bindings: Bindings): boolean {
  const read = (operand: OperandNode): AttributeValue | undefined => valueOf(operand, item, bindings)
  switch (node.type) {
    case 'and':
      return node.terms.every((term) => holds(term, item, bindings))
    case 'or':
      return node.terms.some((term) => holds(term, item, bindings))
    case 'not':
      return !holds(node.term, item, bindings)
    case 'compare':
      return compares(node.operator, read(node.left), read(node.right))
    case 'between': {
      const value = read(node.operand)
      return compares('>=', value, read(node.lower)) && compares('<=', value, read(node.upper))
    }
    case 'in': {
      const value = read(node.operand)
      return node.list.some((operand) => compares('=', value, read(operand)))
    }
    case 'function':
      return functionHolds(
        node,
        node.args.map((arg) => read(arg)),
      )
  }
}

function valueOf(operand: OperandNode, item: Item, bindings: Bindings): AttributeValue | undefined {
  switch (operand.type) {
    case 'path':
      return valueAt(operand, item, bindings.names)
    case 'value':
      return bindings.values.get(operand.name)
    case 'function':
      return sizeOf(valueOf(operand.args[0]!, item, bindings))
    case 'truth':
      return { BOOL: holds(operand.term, item, bindings) }
  }
}

function compares(
  operator: Comparator,
  left: AttributeValue | undefined,
  right: AttributeValue | undefined,
): boolean {
  // What is absent differs from everything, even from what is absent too, and stands in no order.
  if (left === undefined || right === undefined) return operator === '<>'
  if (operator === '=') return sameValue(left, right)
  if (operator === '<>') return !sameValue(left, right)
  const order = compareValues(left, right)
  if (order === undefined) return false
  switch (operator) {
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    case '>=':
      return order >= 0
  }
}

function functionHolds(
  node: FunctionNode,
  [first, second]: readonly (AttributeValue | undefined)[],
): boolean {
  if (node.name === 'attribute_not_exists') return first === undefined
  if (first === undefined) return false
  if (node.name === 'attribute_exists') return true
  if (second === undefined) return false
  switch (node.name) {
    case 'attribute_type':
      return 'S' in second && typeOf(first) === second.S
    case 'begins_with':
      return beginsWith(first, second)
    case 'contains':
      return contains(first, second)
    default:
      return false
  }
}

function beginsWith(value: AttributeValue, prefix: AttributeValue): boolean {
  if ('S' in value) return 'S' in prefix && value.S.startsWith(prefix.S)
  if ('B' in value) return 'B' in prefix && base64ToBytes(value.B).startsWith(base64ToBytes(prefix.B))
  return false
}

/** A part of a string or a binary, a member of a set, or an element of a list. */
function contains(value: AttributeValue, part: AttributeValue): boolean {
  if ('L' in value) return holdsElement(value.L, part)
  if ('S' in part)
    return 'S' in value ? includesText(value.S, part.S) : 'SS' in value && holdsMember(value.SS, part.S)
  if ('N' in part) return 'NS' in value && holdsMember(value.NS, part.N)
  if ('B' in part)
    return 'B' in value
      ? includesText(base64ToBytes(value.B), base64ToBytes(part.B))
      : 'BS' in value && holdsMember(value.BS, part.B)
  return false
}

/** Characters of a string (as UTF-16 units), bytes of a binary, members or elements of the rest. */
function sizeOf(value: AttributeValue | undefined): AttributeValue | undefined {
  const size = value === undefined ? undefined : lengthOf(value)
  return size === undefined ? undefined : { N: String(size) }
}

function lengthOf(value: AttributeValue): number | undefined {
  if ('S' in value) return value.S.length
  if ('B' in value) return base64Bytes(value.B)
  if ('L' in value) return value.L.length
  if ('M' in value) return Object.keys(value.M).length
  if ('SS' in value) return value.SS.length
  if ('NS' in value) return value.NS.length
  if ('BS' in value) return value.BS.length
  return undefined
}
