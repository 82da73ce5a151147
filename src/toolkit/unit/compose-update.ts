// Two updates of one item as one, without knowing the item: possible where the second does not look at what the first
// has changed, or where that is known from the first alone.
//
// All operands of an update expression see the item as it was before, so actions on different attributes stand side by
// side. Paths are compared by their first step only: within one attribute, list indexes shift and parts overlap.
import {
  afterAdd,
  conditionAttributes,
  onlyTakesAway,
  resolvePath,
  type SetValueNode,
  type UpdateAction,
} from '../../expression/expression.js'
import type { Bindings, BoundUpdate } from '../../expression/parse/types.js'
import type { AttributeValue } from '../../model/value.js'
import type { Expression } from './expressions.js'
import { ExpressionPrinter } from './print-expressions.js'

/** One action of an update with its names and values at hand. */
export interface PlacedAction {
  readonly action: UpdateAction
  readonly bindings: Bindings
}

export const placedActions = ({ tree, bindings }: BoundUpdate): readonly PlacedAction[] =>
  tree.actions.map((action) => ({ action, bindings }))

/** The attributes that an action writes into, and all that it looks at. */
export const targetName = ({ action, bindings }: PlacedAction): string =>
  String(resolvePath(action.path, bindings.names)[0])

export function lookedAtNames({ action, bindings }: PlacedAction): readonly string[] {
  const names: string[] = []
  const visit = (node: SetValueNode): void => {
    if (node.type === 'path') names.push(String(resolvePath(node, bindings.names)[0]))
    else if (node.type === 'arithmetic') [node.left, node.right].forEach(visit)
    else if (node.type === 'function') node.args.forEach(visit)
    else if (node.type === 'truth')
      names.push(...conditionAttributes({ tree: node.term, bindings }).map(([name]) => String(name)))
  }
  if (action.type === 'set') visit(action.value)
  // What is added to is looked at, and so is what a part is changed of.
  if (action.type === 'add' || action.type === 'delete' || action.path.steps.length > 1)
    names.push(targetName({ action, bindings }))
  return names
}

/** Both in one, or undefined where the second needs to see what the first makes of the item. */
export function composed(
  first: readonly PlacedAction[],
  second: readonly PlacedAction[],
): readonly PlacedAction[] | undefined {
  // Where there is no item, an update that only takes away does nothing, wherever its paths lead; another one creates it.
  const isCreating = [first, second].some((actions) => !createsNothing(actions))
  if (isCreating && createsNothing(first) && first.some(({ action }) => action.path.steps.length > 1))
    return undefined
  const written = new Set(first.map(targetName))
  let result: readonly PlacedAction[] = first
  for (const placed of second) {
    const name = targetName(placed)
    if (!lookedAtNames(placed).some((one) => written.has(one))) {
      // The whole attribute is set or removed blindly: what was done to it before does not matter.
      result = [...result.filter((earlier) => targetName(earlier) !== name), placed]
      continue
    }
    const merged = addedTo(result, placed, name)
    if (merged === undefined) return undefined
    result = merged
  }
  return isCreating && createsNothing(result) ? undefined : result
}

const createsNothing = (actions: readonly PlacedAction[]): boolean =>
  onlyTakesAway(actions.map(({ action }) => action))

/** An ADD to a whole attribute that one earlier action has set, removed or added to. */
function addedTo(
  earlier: readonly PlacedAction[],
  placed: PlacedAction,
  name: string,
): readonly PlacedAction[] | undefined {
  const { action, bindings } = placed
  if (action.type !== 'add' || action.path.steps.length > 1) return undefined
  const same = earlier.filter((one) => targetName(one) === name)
  const [before] = same
  if (before === undefined || same.length > 1 || before.action.path.steps.length > 1) return undefined
  const operand = bindings.values.get(action.value.name)!
  const replaced = (type: 'set' | 'add', value: AttributeValue | 'wrong type'): PlacedAction[] | undefined =>
    value === 'wrong type'
      ? undefined
      : earlier.map((one) => (one === before ? withValue(placed, type, value) : one))
  switch (before.action.type) {
    case 'add':
      return replaced('add', sum(before.bindings.values.get(before.action.value.name)!, operand))
    case 'set':
      return before.action.value.type === 'value'
        ? replaced('set', sum(before.bindings.values.get(before.action.value.name)!, operand))
        : undefined
    case 'remove':
      return replaced('set', operand)
    case 'delete':
      return undefined
  }
}

/** Lists are appended to in an older dialect only; a number that does not fit is for the endpoint to refuse. */
function sum(before: AttributeValue, operand: AttributeValue): AttributeValue | 'wrong type' {
  if ('L' in before) return 'wrong type'
  try {
    return afterAdd(before, operand)
  } catch {
    return 'wrong type'
  }
}

const VALUE = ':v'

function withValue(
  { action, bindings }: PlacedAction,
  type: 'set' | 'add',
  value: AttributeValue,
): PlacedAction {
  return {
    action: { type, path: action.path, value: { type: 'value', name: VALUE } },
    bindings: { names: bindings.names, values: new Map([[VALUE, value]]) },
  }
}

const SECTIONS = { set: 'SET', remove: 'REMOVE', add: 'ADD', delete: 'DELETE' } as const

/** As an expression again, with placeholders of its own. */
export function printedUpdate(actions: readonly PlacedAction[]): Expression {
  const printer = new ExpressionPrinter()
  const sections = Object.entries(SECTIONS).flatMap(([type, word]) => {
    const parts = actions.filter((one) => one.action.type === type).map((one) => printer.action(one))
    return parts.length === 0 ? [] : [`${word} ${parts.join(', ')}`]
  })
  return printer.expression(sections.join(' '))
}
