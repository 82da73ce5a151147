// What is wrong with an update or a projection under the names and values of one request.
//
// DynamoDB resolves all targets of an update, looking for paths that clash, and only then binds the operands. Each time it
// goes from the last to the first, which shows where several are at fault.
import { limits } from '../../model/limits.js'
import { typeOf, type AttributeType } from '../../model/value.js'
import { expressionError, tooManyOperators } from '../parse/lexer.js'
import { refuseClash, type Path } from '../parse/paths.js'
import { bindCondition } from './bind-condition.js'
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
  const kind = tree.dialect === 'Statement' ? 'Statement' : 'UpdateExpression'
  const binding: Binding = { placeholders, kind }
  const backwards = tree.actions.toReversed()
  bindPaths(
    backwards.map((action) => action.path),
    binding,
  )
  for (const action of backwards) bindAction(action, binding)
  if (parsed.operators > limits.expressionOperatorsMax) throw tooManyOperators(kind)
  return { tree, bindings: placeholders.bindings }
}

export function bindProjection(
  parsed: Parsed<ProjectionNode>,
  placeholders: Placeholders,
  kind: ExpressionKind = 'ProjectionExpression',
): BoundProjection {
  const { paths } = parsed.tree
  bindPaths(kind === 'Statement' ? paths : paths.toReversed(), { placeholders, kind })
  return { tree: parsed.tree, bindings: placeholders.bindings }
}

interface Binding {
  readonly placeholders: Placeholders
  readonly kind: ExpressionKind
}

function bindPaths(backwards: readonly PathNode[], { placeholders, kind }: Binding): void {
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

function bindAction(action: UpdateAction, binding: Binding): void {
  const { placeholders, kind } = binding
  switch (action.type) {
    case 'set':
      bindSetValue(action.value, binding)
      return
    case 'remove':
      return
    case 'add':
    case 'delete': {
      const type = typeOf(placeholders.value(action.value.name, kind))
      if (!(action.type === 'add' ? ADDED : DELETED).includes(type)) {
        const operator = action.type.toUpperCase()
        throw expressionError(
          kind,
          `Incorrect operand type for operator or function; operator: ${operator}, ` +
            `operand type: ${TYPE_WORDS[type]}, typeSet: ALLOWED_FOR_${operator}_OPERAND`,
        )
      }
    }
  }
}

function bindSetValue(value: SetValueNode, binding: Binding): Operand {
  if (value.type !== 'arithmetic') return bindOperand(value, binding)
  const operands = [value.left, value.right].map((operand) => bindSetValue(operand, binding))
  for (const operand of operands) requireType(value.operator, operand, 'N', binding)
  return { type: 'N' }
}

interface Operand {
  readonly path?: Path
  readonly type?: AttributeType
}

function bindOperand(operand: OperandNode, binding: Binding): Operand {
  const { placeholders, kind } = binding
  switch (operand.type) {
    case 'path':
      return { path: placeholders.path(operand, kind) }
    case 'value':
      return { type: typeOf(placeholders.value(operand.name, kind)) }
    case 'function':
      bindFunction(operand, binding)
      // What if_not_exists returns is only known with the item.
      return {}
    case 'truth':
      bindCondition({ tree: operand.term, operators: 0 }, placeholders, kind)
      return { type: 'BOOL' }
  }
}

function bindFunction({ name, args }: FunctionNode, binding: Binding): void {
  const { kind } = binding
  const operands = args.map((arg) => bindOperand(arg, binding))
  if (operands.length !== 2)
    throw expressionError(
      kind,
      'Incorrect number of operands for operator or function; ' +
        `operator or function: ${name}, number of operands: ${operands.length}`,
    )
  if (name === 'list_append') {
    for (const operand of operands) requireType(name, operand, 'L', binding)
    return
  }
  const [first, second] = operands
  refuseRepeatedOperand(name, first!.path, [second!.path], kind)
  if (first!.path === undefined)
    throw expressionError(
      kind,
      `Operator or function requires a document path; operator or function: ${name}`,
    )
}

function requireType(operator: string, operand: Operand, type: AttributeType, { kind }: Binding): void {
  if (operand.type !== undefined && operand.type !== type)
    throw expressionError(
      kind,
      'Incorrect operand type for operator or function; ' +
        `operator or function: ${operator}, operand type: ${operand.type}`,
    )
}
