// SET and REMOVE as the tree of an update. set_add and set_delete are ADD and DELETE of update expressions.
import { validationError } from '../../model/errors.js'
import type {
  OperandNode,
  PathNode,
  SetValueNode,
  UpdateAction,
  UpdateNode,
} from '../../expression/parse/tree.js'
import type { Assignment, CallNode, ExpressionNode } from '../parse/tree.js'
import { whereConditionOf, unrecognized, unsupportedToken } from './conditions.js'
import { parameterName, type StatementScope } from './scope.js'

export const updateOf = (assignments: readonly Assignment[], scope: StatementScope): UpdateNode => ({
  dialect: 'Statement',
  actions: assignments.map((assignment) => actionOf(assignment, scope)),
})

const SET_FUNCTIONS: ReadonlyMap<string, 'add' | 'delete'> = new Map([
  ['set_add', 'add'],
  ['set_delete', 'delete'],
])
const VALUE_FUNCTIONS: ReadonlySet<string> = new Set(['list_append', 'if_not_exists'])
const CONDITION_FUNCTIONS: ReadonlySet<string> = new Set([
  'size',
  'attribute_exists',
  'attribute_not_exists',
  'attribute_type',
  'begins_with',
  'contains',
])

function actionOf(assignment: Assignment, scope: StatementScope): UpdateAction {
  const path = scope.path(assignment.target)
  if (assignment.type === 'remove') return { type: 'remove', path }
  const { value } = assignment
  const type = value.type === 'call' ? SET_FUNCTIONS.get(value.name.toLowerCase()) : undefined
  if (type === undefined) return { type: 'set', path, value: valueOf(value, scope) }
  return setChangeOf(type, value as CallNode, path, scope)
}

function setChangeOf(
  type: 'add' | 'delete',
  call: CallNode,
  path: PathNode,
  scope: StatementScope,
): UpdateAction {
  const name = `SET_${type.toUpperCase()}`
  const [first, second, ...more] = call.args
  if (first === undefined || second === undefined || more.length > 0)
    throw scope.refusals.at(call.at, `${name} must have exactly two arguments`)
  const isPath = first.type === 'name' || first.type === 'path'
  const same = isPath && JSON.stringify(scope.path(first).steps) === JSON.stringify(path.steps)
  if (!same) throw scope.refusals.at(call.at, `The first argument to ${name} must equal the assignment value`)
  const wrongSecond = (): Error =>
    scope.refusals.at(first.at, `The second argument to ${name} must be a value with type SET`)
  if (second.type === 'parameter') {
    scope.setParameters.push({ position: second.position, refusal: wrongSecond })
    return { type, path, value: { type: 'value', name: parameterName(second.position) } }
  }
  if (second.type !== 'bag') throw wrongSecond()
  return { type, path, value: scope.literal(second) }
}

function valueOf(node: ExpressionNode, scope: StatementScope): SetValueNode {
  if (node.type !== 'binary') return operandOf(node, scope)
  const { operator } = node
  if (operator === '+' || operator === '-')
    return {
      type: 'arithmetic',
      operator,
      left: valueOf(node.left, scope),
      right: valueOf(node.right, scope),
    }
  if (['*', '/', '%', '||', 'like'].includes(operator)) throw unsupportedOperator(operator)
  return { type: 'truth', term: whereConditionOf(node, scope) }
}

const unsupportedOperator = (operator: string): Error =>
  validationError(`Unsupported operator in Update Expression. Operator: ${operator}`)

function operandOf(node: ExpressionNode, scope: StatementScope): OperandNode {
  switch (node.type) {
    case 'name':
    case 'path':
      return scope.path(node)
    case 'parameter':
      return { type: 'value', name: parameterName(node.position) }
    case 'missing':
      throw validationError('MISSING must be compared using IS operator')
    case 'is':
      throw validationError('IS operator is not supported in update expressions')
    case 'unary':
    case 'binary':
      throw unsupportedOperator(node.operator)
    case 'between':
      throw unsupportedOperator('between')
    case 'call': {
      const name = node.name.toLowerCase()
      if (VALUE_FUNCTIONS.has(name))
        return { type: 'function', name, args: node.args.map((arg) => operandOf(arg, scope)) }
      if (CONDITION_FUNCTIONS.has(name))
        throw validationError(`The function is not allowed in an update expression; function: ${name}`)
      throw unrecognized(node, scope)
    }
    case 'statement':
    case 'unsupported':
      throw unsupportedToken(node, scope)
    case 'bag':
    case 'boolean':
    case 'ion':
    case 'list':
    case 'null':
    case 'number':
    case 'star':
    case 'string':
    case 'struct':
      return scope.literal(node)
  }
}
