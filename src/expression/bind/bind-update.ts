// What is wrong with an update or a projection under the names and values of one request.
//
// DynamoDB resolves all targets of an update, looking for paths that clash, and only then binds the operands. Each time it
// goes from the last to the first, which shows where several are at fault.
import { limits } from '../../model/limits.js'
import { typeOf, type AttributeType } from '../../model/value.js'
import { expressionError, tooManyOperators } from '../parse/lexer.js'
import { refuseClash, type Path } from '../parse/paths.js'
import { refuseRepeatedOperand, type Placeholders } from './placeholders.js'
import type {
  ExpressionKind,
  FunctionNode,
  OperandNode,
  Parsed,
  PathNode,
  ProjectionNode,
  SetValueNode,
  UpdateAction,
  UpdateNode,
} from '../parse/tree.js'
import type { BoundProjection, BoundUpdate } from '../parse/types.js'

export function bindUpdate(parsed: Parsed<UpdateNode>, placeholders: Placeholders): BoundUpdate {
  const { tree } = parsed
  const backwards = tree.actions.toReversed()
  bindPaths(
    backwards.map((action) => action.path),
    placeholders,
    KIND,
  )
  for (const action of backwards) bindAction(action, placeholders)
  if (parsed.operators > limits.expressionOperatorsMax) throw tooManyOperators(KIND)
  return { tree, bindings: placeholders.bindings }
}

export function bindProjection(parsed: Parsed<ProjectionNode>, placeholders: Placeholders): BoundProjection {
  bindPaths(parsed.tree.paths.toReversed(), placeholders, 'ProjectionExpression')
  return { tree: parsed.tree, bindings: placeholders.bindings }
}

const KIND = 'UpdateExpression'

function bindPaths(backwards: readonly PathNode[], placeholders: Placeholders, kind: ExpressionKind): void {
  const later: Path[] = []
  for (const node of backwards) {
    const path = placeholders.path(node, kind)
    refuseClash(path, later, kind)
    later.push(path)
  }
}

const ADDED: readonly AttributeType[] = ['N', 'SS', 'NS', 'BS']
/** What ADD takes. */
export const isAddable = (type: AttributeType): boolean => ADDED.includes(type)

const DELETED: readonly AttributeType[] = ['SS', 'NS', 'BS']

const TYPE_WORDS: Readonly<Record<AttributeType, string>> = {
  S: 'STRING',
  N: 'NUMBER',
  B: 'BINARY',
  BOOL: 'BOOLEAN',
  NULL: 'NULL',
  SS: 'STRING_SET',
  NS: 'NUMBER_SET',
  BS: 'BINARY_SET',
  L: 'LIST',
  M: 'MAP',
}

function bindAction(action: UpdateAction, placeholders: Placeholders): void {
  switch (action.type) {
    case 'set':
      return bindSetValue(action.value, placeholders)
    case 'remove':
      return
    case 'add':
    case 'delete': {
      const type = typeOf(placeholders.value(action.value.name, KIND))
      if (!(action.type === 'add' ? ADDED : DELETED).includes(type)) {
        const operator = action.type.toUpperCase()
        throw expressionError(
          KIND,
          `Incorrect operand type for operator or function; operator: ${operator}, ` +
            `operand type: ${TYPE_WORDS[type]}, typeSet: ALLOWED_FOR_${operator}_OPERAND`,
        )
      }
    }
  }
}

function bindSetValue(value: SetValueNode, placeholders: Placeholders): void {
  if (value.type !== 'arithmetic') {
    bindOperand(value, placeholders)
    return
  }
  const operands = [value.left, value.right].map((operand) => bindOperand(operand, placeholders))
  for (const operand of operands) requireType(value.operator, operand, 'N')
}

interface Operand {
  readonly path?: Path
  readonly type?: AttributeType
}

function bindOperand(operand: OperandNode, placeholders: Placeholders): Operand {
  switch (operand.type) {
    case 'path':
      return { path: placeholders.path(operand, KIND) }
    case 'value':
      return { type: typeOf(placeholders.value(operand.name, KIND)) }
    case 'function':
      bindFunction(operand, placeholders)
      // What if_not_exists returns is only known with the item.
      return {}
  }
}

function bindFunction({ name, args }: FunctionNode, placeholders: Placeholders): void {
  const operands = args.map((arg) => bindOperand(arg, placeholders))
  if (operands.length !== 2)
    throw expressionError(
      KIND,
      'Incorrect number of operands for operator or function; ' +
        `operator or function: ${name}, number of operands: ${operands.length}`,
    )
  if (name === 'list_append') {
    for (const operand of operands) requireType(name, operand, 'L')
    return
  }
  const [first, second] = operands
  refuseRepeatedOperand(name, first!.path, [second!.path], KIND)
  if (first!.path === undefined)
    throw expressionError(
      KIND,
      `Operator or function requires a document path; operator or function: ${name}`,
    )
}

function requireType(operator: string, operand: Operand, type: AttributeType): void {
  if (operand.type !== undefined && operand.type !== type)
    throw expressionError(
      KIND,
      'Incorrect operand type for operator or function; ' +
        `operator or function: ${operator}, operand type: ${operand.type}`,
    )
}
