// WHERE as the tree of a condition. What DynamoDB's conditions do not have is refused here, in its words.
//
// PartiQL differs from condition expressions in one thing: `a <> 1` does not hold where `a` is absent. So it becomes
// `attribute_exists(a) AND a <> 1`. IS MISSING and IS with a type become the functions that say the same.
import { validationError } from '../../model/errors.js'
import type { Comparator, ConditionNode, OperandNode } from '../../expression/parse/tree.js'
import type { BinaryNode, CallNode, ExpressionNode } from '../parse/tree.js'
import { isLiteral } from './literals.js'
import { parameterName, type StatementScope } from './scope.js'

export function whereConditionOf(node: ExpressionNode, scope: StatementScope): ConditionNode {
  return conditionIn(node, scope, 'WHERE clause must contain an expression that resolves to a boolean')
}

const COMPARATORS: ReadonlySet<string> = new Set(['=', '<>', '<', '<=', '>', '>='])
const FUNCTIONS: ReadonlySet<string> = new Set([
  'attribute_exists',
  'attribute_not_exists',
  'attribute_type',
  'begins_with',
  'contains',
])

/** Types that IS knows, and what they are in an item. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['NULL', 'NULL'],
  ['BOOLEAN', 'BOOL'],
  ['BLOB', 'B'],
  ['STRING', 'S'],
  ['NUMERIC', 'N'],
  ['STRUCT', 'M'],
  ['TUPLE', 'M'],
  ['LIST', 'L'],
])

/** `refusal`: what is said of something that is no condition. */
function conditionIn(node: ExpressionNode, scope: StatementScope, refusal: string): ConditionNode {
  switch (node.type) {
    case 'binary':
      return binaryOf(node, scope)
    case 'unary':
      if (node.operator !== 'not') throw unsupportedOperator(node.operator)
      return {
        type: 'not',
        term: conditionIn(node.operand, scope, 'The argument to NOT must be a Type or Expression'),
      }
    case 'between': {
      const between: ConditionNode = {
        type: 'between',
        operand: operandOf(node.operand, scope),
        lower: operandOf(node.lower, scope),
        upper: operandOf(node.upper, scope),
      }
      return node.isNegated ? { type: 'not', term: between } : between
    }
    case 'is': {
      const test = isTypeOf(node, scope)
      return node.isNegated ? { type: 'not', term: test } : test
    }
    case 'call': {
      const name = node.name.toLowerCase()
      if (FUNCTIONS.has(name)) return functionOf(node, name, scope)
      if (name === 'size') throw validationError(refusal)
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
    case 'missing':
    case 'name':
    case 'parameter':
    case 'path':
      throw validationError(refusal)
  }
}

const unsupportedOperator = (operator: string): Error =>
  validationError(`Unsupported operator in Condition Expression. Operator: ${operator}`)

export const unrecognized = (node: CallNode, scope: StatementScope): Error =>
  scope.refusals.at(node.at, `Unrecognized function: ${node.name.toLowerCase()}`)

export const unsupportedToken = (node: ExpressionNode, scope: StatementScope): Error =>
  scope.refusals.at(
    node.at,
    `Unsupported token in expression: ${node.type === 'unsupported' ? node.word : node.at.text.toUpperCase()}`,
  )

function binaryOf(node: BinaryNode, scope: StatementScope): ConditionNode {
  const { operator } = node
  if (operator === 'and' || operator === 'or')
    return {
      type: operator,
      terms: termsOf(node, operator).map((term) =>
        conditionIn(term, scope, 'The arguments to AND/OR must be Expressions'),
      ),
    }
  if (operator === 'in') return memberOf(node, scope)
  if (!COMPARATORS.has(operator)) throw unsupportedOperator(operator)
  const left = operandOf(node.left, scope)
  const right = operandOf(node.right, scope)
  const compare: ConditionNode = { type: 'compare', operator: operator as Comparator, left, right }
  if (operator !== '<>') return compare
  const present = [left, right].flatMap(pathsOf).map((path): ConditionNode => {
    return { type: 'function', name: 'attribute_exists', args: [path] }
  })
  return present.length === 0 ? compare : { type: 'and', terms: [...present, compare] }
}

const pathsOf = (operand: OperandNode): readonly OperandNode[] => {
  if (operand.type === 'path') return [operand]
  return operand.type === 'function' ? operand.args.flatMap(pathsOf) : []
}

/** `a AND b AND c` is read as two, and is one of three terms. */
function termsOf(node: BinaryNode, operator: string): readonly ExpressionNode[] {
  const terms: ExpressionNode[] = []
  let left: ExpressionNode = node
  while (left.type === 'binary' && left.operator === operator) {
    terms.push(left.right)
    left = left.left
  }
  return [left, ...terms.toReversed()]
}

const INVALID_IN =
  'IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq with at least one member'

function memberOf({ left, right }: BinaryNode, scope: StatementScope): ConditionNode {
  if ((right.type !== 'list' && right.type !== 'bag') || right.items.length === 0)
    throw validationError(INVALID_IN)
  return {
    type: 'in',
    operand: operandOf(left, scope),
    list: right.items.map((item) => operandOf(item, scope)),
  }
}

function isTypeOf(node: ExpressionNode & { readonly type: 'is' }, scope: StatementScope): ConditionNode {
  const { operand, typeName } = node
  const isMissing = typeName === 'MISSING'
  const type = TYPES.get(typeName)
  if (type === undefined && !isMissing)
    throw scope.refusals.at(
      node.at,
      `Unsupported data type for IS operator: ${typeName}. Supported data types are ` +
        '[MISSING, NULL, BOOLEAN, BLOB, STRING, NUMERIC, STRUCT, TUPLE, LIST]',
    )
  if (
    operand.type !== 'name' &&
    operand.type !== 'path' &&
    operand.type !== 'parameter' &&
    !isLiteral(operand)
  )
    throw validationError('The left hand side argument to IS must be a Variable Reference, Literal, or Path')
  const value = operandOf(operand, scope)
  if (isMissing)
    return value.type === 'path'
      ? { type: 'function', name: 'attribute_not_exists', args: [value] }
      : { type: 'not', term: { type: 'compare', operator: '=', left: value, right: value } }
  return { type: 'function', name: 'attribute_type', args: [value, scope.constant({ S: type! })] }
}

const functionOf = (node: CallNode, name: string, scope: StatementScope): ConditionNode => ({
  type: 'function',
  name,
  args: node.args.map((arg) => operandOf(arg, scope)),
})

export function operandOf(node: ExpressionNode, scope: StatementScope): OperandNode {
  switch (node.type) {
    case 'name':
    case 'path':
      return scope.path(node)
    case 'parameter':
      return { type: 'value', name: parameterName(node.position) }
    case 'missing':
      throw validationError('MISSING must be compared using IS operator')
    case 'call': {
      const name = node.name.toLowerCase()
      if (name !== 'size') return { type: 'truth', term: conditionIn(node, scope, '') }
      return { type: 'function', name, args: node.args.map((arg) => operandOf(arg, scope)) }
    }
    case 'binary':
    case 'unary':
    case 'between':
    case 'is':
      return { type: 'truth', term: conditionIn(node, scope, '') }
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
