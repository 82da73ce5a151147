// What is wrong with a condition under the names and values of one request. Conditions are bound in the order of the
// text, the operands of each before itself; of one condition DynamoDB reports, in this order: undefined names and
// values, the number of operands, a repeated operand, then their types.
import { base64Bytes } from '../../model/binary.js'
import { compareValues } from '../../model/compare.js'
import { limits } from '../../model/limits.js'
import { NATIVE_SEARCH_LENGTH_MAX } from '../../model/search.js'
import { typeOf, type AttributeType, type AttributeValue } from '../../model/value.js'
import { expressionError, tooManyOperators } from '../parse/lexer.js'
import type { Path } from '../parse/paths.js'
import { refuseRepeatedOperand, type Placeholders } from './placeholders.js'
import type { ConditionNode, ExpressionKind, FunctionNode, OperandNode, Parsed } from '../parse/tree.js'
import type { BoundCondition } from '../parse/types.js'

export function bindCondition(
  parsed: Parsed<ConditionNode>,
  placeholders: Placeholders,
  kind: ExpressionKind,
): BoundCondition {
  const binding: Binding = { placeholders, kind, longSearches: 0 }
  bindNode(parsed.tree, binding)
  if (binding.longSearches > limits.longSearchesMax) throw tooManyLongSearches(binding)
  if (parsed.operators > limits.expressionOperatorsMax) throw tooManyOperators(kind)
  return { tree: parsed.tree, bindings: placeholders.bindings }
}

interface Binding {
  readonly placeholders: Placeholders
  readonly kind: ExpressionKind
  /** Uses of `contains` whose part is longer than the native search takes, or may be. */
  longSearches: number
}

/** What is known of an operand before there is an item. */
interface Operand {
  readonly path?: Path
  readonly value?: AttributeValue
  /** Of a value, or of what a function returns. */
  readonly type?: AttributeType
}

const ORDERED: readonly AttributeType[] = ['S', 'N', 'B']
const SIZELESS: readonly AttributeType[] = ['N', 'BOOL', 'NULL']
/** In the order in which DynamoDB lists them. */
const TYPE_NAMES = ['B', 'NULL', 'SS', 'BOOL', 'L', 'BS', 'N', 'NS', 'S', 'M']
const TYPE_NAMES_OF_STATEMENTS = ['N', 'BS', 'L', 'B', 'NULL', 'M', 'S', 'SS', 'NS', 'BOOL']
const ANY_TYPE = '{NS,SS,L,BS,N,M,B,BOOL,NULL,S}'

const OPERAND_COUNTS: ReadonlyMap<string, number> = new Map([
  ['attribute_exists', 1],
  ['attribute_not_exists', 1],
  ['attribute_type', 2],
  ['begins_with', 2],
  ['contains', 2],
  ['size', 1],
])

function bindNode(node: ConditionNode, binding: Binding): void {
  switch (node.type) {
    case 'and':
    case 'or':
      for (const term of node.terms) bindNode(term, binding)
      return
    case 'not':
      return bindNode(node.term, binding)
    case 'compare': {
      const operands = bindOperands([node.left, node.right], binding)
      refuseRepeated(node.operator, operands, binding)
      if (node.operator !== '=' && node.operator !== '<>')
        for (const operand of operands) requireType(node.operator, operand, ORDERED, binding)
      return
    }
    case 'between':
      return bindBetween(bindOperands([node.operand, node.lower, node.upper], binding), binding)
    case 'in': {
      refuseRepeated('IN', bindOperands([node.operand, ...node.list], binding), binding)
      if (node.list.length > limits.inOperandsMax)
        throw expressionError(
          binding.kind,
          `The IN operator is provided with too many operands; number of operands: ${node.list.length}`,
        )
      return
    }
    case 'function':
      bindFunction(node, binding)
  }
}

function bindOperands(operands: readonly OperandNode[], binding: Binding): readonly Operand[] {
  return operands.map((operand) => bindOperand(operand, binding))
}

function bindOperand(operand: OperandNode, binding: Binding): Operand {
  const { placeholders, kind } = binding
  switch (operand.type) {
    case 'path':
      return { path: placeholders.path(operand, kind) }
    case 'value': {
      const value = placeholders.value(operand.name, kind)
      return { value, type: typeOf(value) }
    }
    case 'function':
      bindFunction(operand, binding)
      return { type: 'N' }
    case 'truth':
      bindNode(operand.term, binding)
      return { type: 'BOOL' }
  }
}

function bindFunction(node: FunctionNode, binding: Binding): void {
  const { name } = node
  const operands = bindOperands(node.args, binding)
  if (operands.length !== OPERAND_COUNTS.get(name))
    throw expressionError(
      binding.kind,
      'Incorrect number of operands for operator or function; ' +
        `operator or function: ${name}, number of operands: ${operands.length}`,
    )
  refuseRepeated(name, operands, binding)
  const [first, second] = operands
  if (name === 'begins_with') {
    for (const operand of operands) requireType(name, operand, ['S', 'B'], binding)
  } else if (name === 'attribute_type') {
    bindTypeName(second!, binding)
  } else if (name === 'size') {
    if (first!.type !== undefined && SIZELESS.includes(first!.type))
      throw wrongType(name, first!.type, binding)
  } else if (name === 'contains') {
    if (isLong(second!)) binding.longSearches += 1
  } else if (first!.path === undefined) {
    throw expressionError(
      binding.kind,
      `Operator or function requires a document path; operator or function: ${name}`,
    )
  }
}

/** An attribute of the item may be. */
function isLong({ path, value }: Operand): boolean {
  if (value === undefined) return path !== undefined
  const text = 'S' in value ? value.S : 'B' in value ? value.B : ''
  return text.length > NATIVE_SEARCH_LENGTH_MAX
}

const tooManyLongSearches = ({ kind, longSearches }: Binding): Error =>
  expressionError(
    kind,
    `The expression searches for too many long texts; uses of contains with a document path or more than ${NATIVE_SEARCH_LENGTH_MAX} characters as its second operand: ${longSearches}, limit: ${limits.longSearchesMax}`,
  )

function bindTypeName({ value, type }: Operand, binding: Binding): void {
  if (value === undefined || !('S' in value)) throw wrongType('attribute_type', type ?? ANY_TYPE, binding)
  if (TYPE_NAMES.includes(value.S)) return
  const valid = binding.kind === 'Statement' ? TYPE_NAMES_OF_STATEMENTS : TYPE_NAMES
  throw expressionError(
    binding.kind,
    `Invalid attribute type name found; type: ${value.S}, valid types: {${valid.join(',')}}`,
  )
}

function bindBetween(operands: readonly Operand[], binding: Binding): void {
  // Here, unlike elsewhere, types come first.
  for (const operand of operands) requireType('BETWEEN', operand, ORDERED, binding)
  refuseRepeated('BETWEEN', operands, binding)
  const lower = operands[1]!.value
  const upper = operands[2]!.value
  if (lower === undefined || upper === undefined) return
  const order = compareValues(lower, upper)
  if (order !== undefined && order <= 0) return
  const need =
    order === undefined
      ? 'same data type for lower and upper bounds'
      : 'upper bound to be greater than or equal to lower bound'
  throw expressionError(
    binding.kind,
    `The BETWEEN operator requires ${need}; ` +
      `lower bound operand: ${boundText(lower)}, upper bound operand: ${boundText(upper)}`,
  )
}

function refuseRepeated(operator: string, operands: readonly Operand[], binding: Binding): void {
  const [first, ...others] = operands.map((operand) => operand.path)
  refuseRepeatedOperand(operator, first, others, binding.kind)
}

function requireType(
  operator: string,
  operand: Operand,
  types: readonly AttributeType[],
  binding: Binding,
): void {
  if (operand.type !== undefined && !types.includes(operand.type))
    throw wrongType(operator, operand.type, binding)
}

const wrongType = (operator: string, type: string, binding: Binding): Error =>
  expressionError(
    binding.kind,
    'Incorrect operand type for operator or function; ' +
      `operator or function: ${operator}, operand type: ${type}`,
  )

/** As the service prints it: binary as the name of a Java object. */
function boundText(value: AttributeValue): string {
  if ('B' in value) {
    const bytes = base64Bytes(value.B)
    return `AttributeValue: {B:java.nio.HeapByteBuffer[pos=0 lim=${bytes} cap=${bytes}]}`
  }
  return 'S' in value
    ? `AttributeValue: {S:${value.S}}`
    : `AttributeValue: {N:${'N' in value ? value.N : ''}}`
}
