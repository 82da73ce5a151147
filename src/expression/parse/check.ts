// What is wrong with a well-formed expression whatever the request's names and values are. Like DynamoDB, reports the
// first fault in the order of the text, and all of these before anything about names and values.
import { expressionError } from './lexer.js'
import { isReservedWord } from './reserved-words.js'
import type {
  ConditionNode,
  ExpressionKind,
  FunctionNode,
  OperandNode,
  PathNode,
  ProjectionNode,
  SetValueNode,
  UpdateNode,
} from './tree.js'

/** Where a function stands: as a condition, as an operand, or as the whole value of SET. */
type Place = 'condition' | 'operand' | 'value'

const CONDITION_FUNCTIONS: ReadonlyMap<string, readonly Place[]> = new Map([
  ['attribute_exists', ['condition']],
  ['attribute_not_exists', ['condition']],
  ['attribute_type', ['condition']],
  ['begins_with', ['condition']],
  ['contains', ['condition']],
  ['size', ['operand']],
])
const UPDATE_FUNCTIONS: ReadonlyMap<string, readonly Place[]> = new Map([
  ['if_not_exists', ['operand', 'value']],
  ['list_append', ['value']],
])
const INDEX_MAX = 2 ** 31 - 1

export function checkCondition(node: ConditionNode, kind: ExpressionKind): void {
  switch (node.type) {
    case 'and':
    case 'or':
      for (const term of node.terms) checkCondition(term, kind)
      return
    case 'not':
      return checkCondition(node.term, kind)
    case 'compare':
      return checkOperands([node.left, node.right], kind)
    case 'between':
      return checkOperands([node.operand, node.lower, node.upper], kind)
    case 'in':
      return checkOperands([node.operand, ...node.list], kind)
    case 'function':
      return checkFunction(node, 'condition', kind)
  }
}

export function checkUpdateExpression(update: UpdateNode, sections: readonly string[]): void {
  for (const action of update.actions) {
    checkPath(action.path, 'UpdateExpression')
    if (action.type === 'set') checkSetValue(action.value)
  }
  const repeated = sections.find((section, at) => sections.indexOf(section) < at)
  if (repeated !== undefined)
    throw expressionError(
      'UpdateExpression',
      `The "${repeated}" section can only be used once in an update expression;`,
    )
}

export function checkProjection(projection: ProjectionNode): void {
  for (const path of projection.paths) checkPath(path, 'ProjectionExpression')
}

function checkSetValue(value: SetValueNode): void {
  if (value.type !== 'arithmetic') return checkOperand(value, 'value', 'UpdateExpression')
  for (const operand of [value.left, value.right])
    if (operand.type !== 'arithmetic') checkOperand(operand, 'operand', 'UpdateExpression')
}

function checkOperands(operands: readonly OperandNode[], kind: ExpressionKind): void {
  for (const operand of operands) checkOperand(operand, 'operand', kind)
}

function checkOperand(operand: OperandNode, place: Place, kind: ExpressionKind): void {
  if (operand.type === 'path') checkPath(operand, kind)
  else if (operand.type === 'function') checkFunction(operand, place, kind)
}

function checkFunction(node: FunctionNode, place: Place, kind: ExpressionKind): void {
  const updating = kind === 'UpdateExpression'
  const places = (updating ? UPDATE_FUNCTIONS : CONDITION_FUNCTIONS).get(node.name)
  if (places === undefined) {
    const known = (updating ? CONDITION_FUNCTIONS : UPDATE_FUNCTIONS).has(node.name)
    throw expressionError(
      kind,
      known
        ? `The function is not allowed in ${updating ? 'an update' : 'a condition'} expression; function: ${node.name}`
        : `Invalid function name; function: ${node.name}`,
    )
  }
  if (!places.includes(place))
    throw expressionError(
      kind,
      `The function is not allowed to be used this way in an expression; function: ${node.name}`,
    )
  checkOperands(node.args, kind)
}

function checkPath(path: PathNode, kind: ExpressionKind): void {
  for (const step of path.steps) {
    if (typeof step === 'number') {
      if (step > INDEX_MAX)
        throw expressionError(kind, `List index is not within the allowable range; index: [${step}]`)
    } else if (isReservedWord(step)) {
      throw expressionError(kind, `Attribute name is a reserved keyword; reserved keyword: ${step}`)
    }
  }
}
