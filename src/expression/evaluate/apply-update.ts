// A bound update applied to an item: pure, and what it does not touch is shared with the image before.
//
// Every operand is read from the item as it was, and every index counts in the list as it was. So all values are
// computed first, and then each list and map on the way is rebuilt once: set elements in place, those beyond the end
// appended in the order of their indexes, removed ones left out at last.
import { DynamoError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import { addNumbers, subtractNumbers } from '../../model/number.js'
import {
  attribute,
  setAttribute,
  type AttributeValue,
  type Item,
  type MutableItem,
} from '../../model/value.js'
import { updateTargets } from '../bind/key-attributes.js'
import { pathTreeOf, type PathTree } from '../parse/path-tree.js'
import { resolvePath, valueAt, type Path } from '../parse/paths.js'
import { evaluateCondition } from './evaluate.js'
import { pathsProjector } from './project.js'
import { afterAdd, without } from './sets.js'
import type { OperandNode, PathNode, SetValueNode, UpdateAction, UpdateNode } from '../parse/tree.js'
import type { Bindings, BoundUpdate, UpdateResult } from '../parse/types.js'

/**
 * The item after the update, or why this item cannot be updated so. An item that does not exist is created with its
 * key, and operands see that key; but an update that only takes away creates nothing, wherever its paths lead.
 */
export function applyUpdate(update: BoundUpdate, item: Item | undefined, keyAttributes: Item): UpdateResult {
  if (item === undefined && onlyTakesAway(update.tree.actions)) return NOTHING
  const before = item ?? keyAttributes
  try {
    const changes = pathTreeOf(changesOf(update, before))
    return { item: membersAfter(before, changes) }
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.message }
    // A number that does not fit.
    if (error instanceof DynamoError) return { refusal: error.message }
    throw error
  }
}

const NOTHING: UpdateResult = { item: undefined }

/** An update without actions makes sure that the item is there. */
export const onlyTakesAway = (actions: readonly Pick<UpdateAction, 'type'>[]): boolean =>
  actions.length > 0 && actions.every(({ type }) => type === 'remove' || type === 'delete')

/** What ReturnValues UPDATED_OLD and UPDATED_NEW answer of the image before or after: the parts that were updated. */
export function updatedAttributes(update: BoundUpdate, image: Item): Item {
  return pathsProjector(updateTargets(update))(image)
}

/** What becomes of the value at one place; undefined stands for none, before and after. */
type Change = (before: AttributeValue | undefined) => AttributeValue | undefined

/** Within this file only: it never leaves `applyUpdate`. */
class Refusal extends Error {}

const INVALID_PATH = 'The document path provided in the update expression is invalid for update'
const MISSING_OPERAND = 'The provided expression refers to an attribute that does not exist in the item'
const WRONG_TYPE_BY_DIALECT: Readonly<Record<UpdateNode['dialect'], string>> = {
  UpdateExpression: 'An operand in the update expression has an incorrect data type',
  AttributeUpdates: 'Type mismatch for attribute to update',
  Statement: 'An operand in the update expression has an incorrect data type',
}
const TOO_DEEP = 'Nesting Levels have exceeded supported limits'

function changesOf({ tree, bindings }: BoundUpdate, item: Item): (readonly [Path, Change])[] {
  const wrongType = WRONG_TYPE_BY_DIALECT[tree.dialect]
  // A path that leads nowhere is refused before any operand.
  for (const { path } of tree.actions) if (path.steps.length > 1) refuseUnreachable(path, item, bindings)
  return tree.actions.map((action) => {
    const path = resolvePath(action.path, bindings.names)
    switch (action.type) {
      case 'set': {
        const value = setValueOf(action.value, item, bindings)
        refuseDeeper(value, path.length)
        return [path, () => value]
      }
      case 'remove':
        return [path, () => undefined]
      case 'add':
      case 'delete': {
        const operand = bindings.values.get(action.value.name)!
        const combine = action.type === 'add' ? afterAdd : without
        return [
          path,
          (before) => {
            const result = combine(before, operand)
            if (result === 'wrong type') throw new Refusal(wrongType)
            return result
          },
        ]
      }
    }
  })
}

/** The list or map that a path ends in must be there; what it holds at the end of the path need not. */
function refuseUnreachable(path: PathNode, item: Item, bindings: Bindings): void {
  const parent = valueAt({ type: 'path', steps: path.steps.slice(0, -1) }, item, bindings.names)
  const fits = parent !== undefined && (typeof path.steps.at(-1) === 'number' ? 'L' : 'M') in parent
  if (!fits) throw new Refusal(INVALID_PATH)
}

function setValueOf(node: SetValueNode, item: Item, bindings: Bindings): AttributeValue {
  if (node.type !== 'arithmetic') return operandOf(node, item, bindings)
  const left = numberOf(setValueOf(node.left, item, bindings))
  const right = numberOf(setValueOf(node.right, item, bindings))
  return { N: node.operator === '+' ? addNumbers(left, right) : subtractNumbers(left, right) }
}

function operandOf(node: OperandNode, item: Item, bindings: Bindings): AttributeValue {
  switch (node.type) {
    case 'value':
      return bindings.values.get(node.name)!
    case 'path': {
      const value = valueAt(node, item, bindings.names)
      if (value === undefined) throw new Refusal(MISSING_OPERAND)
      return value
    }
    case 'truth':
      return { BOOL: evaluateCondition({ tree: node.term, bindings }, item) }
    case 'function': {
      const [first, second] = node.args as readonly [OperandNode, OperandNode]
      if (node.name === 'list_append') {
        const head = listOf(operandOf(first, item, bindings))
        return { L: [...head, ...listOf(operandOf(second, item, bindings))] }
      }
      // DynamoDB reads the second operand even where it does not need it, and refuses if it is absent.
      const fallback = operandOf(second, item, bindings)
      return (first.type === 'path' ? valueAt(first, item, bindings.names) : undefined) ?? fallback
    }
  }
}

function numberOf(value: AttributeValue): string {
  if (!('N' in value)) throw new Refusal(WRONG_TYPE_BY_DIALECT.UpdateExpression)
  return value.N
}

function listOf(value: AttributeValue): readonly AttributeValue[] {
  if (!('L' in value)) throw new Refusal(WRONG_TYPE_BY_DIALECT.UpdateExpression)
  return value.L
}

function valueAfter(before: AttributeValue | undefined, tree: PathTree<Change>): AttributeValue | undefined {
  switch (tree.type) {
    case 'leaf':
      return tree.leaf(before)
    case 'members':
      if (before === undefined || !('M' in before)) throw new Refusal(INVALID_PATH)
      return { M: membersAfter(before.M, tree.branches) }
    case 'elements':
      if (before === undefined || !('L' in before)) throw new Refusal(INVALID_PATH)
      return { L: elementsAfter(before.L, tree.branches) }
  }
}

function membersAfter(before: Item, changes: ReadonlyMap<string, PathTree<Change>>): Item {
  const after: MutableItem = {}
  for (const name of Object.keys(before)) {
    const value = attribute(before, name)!
    const change = changes.get(name)
    const next = change === undefined ? value : valueAfter(value, change)
    if (next !== undefined) setAttribute(after, name, next)
  }
  for (const [name, change] of changes) {
    if (attribute(before, name) !== undefined) continue
    const next = valueAfter(undefined, change)
    if (next !== undefined) setAttribute(after, name, next)
  }
  return after
}

function elementsAfter(
  before: readonly AttributeValue[],
  changes: ReadonlyMap<number, PathTree<Change>>,
): readonly AttributeValue[] {
  const after: (AttributeValue | undefined)[] = [...before]
  for (const [index, change] of changes) {
    const next = valueAfter(before[index], change)
    if (index < before.length) after[index] = next
    else after.push(next)
  }
  return after.filter((element) => element !== undefined)
}

/** Refuses a value that, at the end of a path of that many steps, would nest deeper than an item may. */
function refuseDeeper(value: AttributeValue, steps: number): void {
  if (levelsOf(value) + steps - 1 > limits.nestingDepthMax) throw new Refusal(TOO_DEEP)
}

function levelsOf(value: AttributeValue): number {
  let inner = 0
  if ('L' in value) for (const element of value.L) inner = Math.max(inner, levelsOf(element))
  if ('M' in value)
    for (const name of Object.keys(value.M)) inner = Math.max(inner, levelsOf(attribute(value.M, name)!))
  return inner + 1
}
