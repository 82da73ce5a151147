// Values that a statement spells out: strings, numbers, booleans, NULL, lists, structs, and bags, which are sets.
//
// Messages name the place inside of the value: `root.a[0]`. The value of each attribute of an INSERT is a root of its own.
import { DynamoError, validationError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import { parseNumber } from '../../model/number.js'
import { sortedMembers } from '../../model/sets.js'
import { setAttribute, type AttributeValue, type MutableItem } from '../../model/value.js'
import type { ExpressionNode, StructNode } from '../parse/tree.js'
import type { Refusals } from './places.js'

export function literalOf(
  node: ExpressionNode,
  refusals: Refusals,
  path = 'root',
  level = 1,
): AttributeValue {
  if (level > limits.nestingDepthMax)
    throw validationError(`Nesting Levels have exceeded supported limits under ${path}`)
  switch (node.type) {
    case 'string':
      return { S: checkedText(node.text) }
    case 'number':
      return { N: numberOf(node.text, path, () => refusals.at(node.at, NEGATIVE_ZERO + path)) }
    case 'boolean':
      return { BOOL: node.value }
    case 'null':
      return { NULL: true }
    case 'list':
      return {
        L: node.items.map((item, index) => literalOf(item, refusals, `${path}[${index}]`, level + 1)),
      }
    case 'struct':
      return { M: structOf(node, refusals, path, level) }
    case 'bag':
      return bagOf(node.items, path, refusals)
    case 'ion':
      throw refusals.at(node.at, `Ion Literals are not supported: ${node.text} under key ${path}`)
    case 'between':
    case 'binary':
    case 'call':
    case 'is':
    case 'missing':
    case 'name':
    case 'parameter':
    case 'path':
    case 'star':
    case 'statement':
    case 'unary':
    case 'unsupported':
      throw refusals.at(node.at, `Unsupported data type: ${typeNameOf(node)} under key ${path}`)
  }
}

const NEGATIVE_ZERO = 'Negative zero decimal is not supported under key '

export const isLiteral = (node: ExpressionNode): boolean => LITERALS.has(node.type)

const LITERALS: ReadonlySet<ExpressionNode['type']> = new Set([
  'string',
  'number',
  'boolean',
  'null',
  'list',
  'struct',
  'bag',
  'ion',
])

/** The members of a struct by their names, which must be strings. */
export function fieldsOf(
  node: StructNode,
  refusals: Refusals,
  path: string,
): readonly (readonly [string, ExpressionNode])[] {
  const seen = new Set<string>()
  return node.fields.map(({ key, value }) => {
    if (key.type !== 'string')
      throw refusals.at(
        key.at,
        `Tuple keys must be of type String. Actual type: ${keyTypeName(key)} under ${path}`,
      )
    if (seen.has(key.text))
      throw refusals.at(key.at, `Duplicate keys in tuple. Key: ${key.text} under ${path}`)
    seen.add(key.text)
    return [checkedText(key.text), value] as const
  })
}

function structOf(node: StructNode, refusals: Refusals, path: string, level: number): MutableItem {
  const map: MutableItem = {}
  for (const [name, value] of fieldsOf(node, refusals, path)) {
    if (name === '') throw validationError('Empty attribute name')
    setAttribute(map, name, literalOf(value, refusals, `${path}.${name}`, level + 1))
  }
  return map
}

function bagOf(items: readonly ExpressionNode[], path: string, refusals: Refusals): AttributeValue {
  if (items.length === 0) throw validationError('Empty bags are not supported')
  const type = items[0]!.type
  if ((type !== 'string' && type !== 'number') || items.some((item) => item.type !== type))
    throw validationError(
      'Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags',
    )
  const texts = items.map((item) => (item as { readonly text: string }).text)
  const members =
    type === 'string'
      ? texts.map(checkedText)
      : items.map((item, at) => numberOf(texts[at]!, path, () => refusals.at(item.at, NEGATIVE_ZERO + path)))
  if (new Set(members).size < members.length)
    throw validationError(
      `One or more parameter values were invalid: Input collection [${texts.join(', ')}] contains duplicates` +
        (type === 'string' ? '.' : `! under ${path}`),
    )
  return type === 'string' ? { SS: sortedMembers('SS', members) } : { NS: sortedMembers('NS', members) }
}

function numberOf(text: string, path: string, negativeZero: () => DynamoError): string {
  let number: string
  try {
    number = parseNumber(text)
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error
    throw validationError(`${error.message} under ${path}`)
  }
  // `-0` is an integer, and zero.
  if (number === '0' && text.startsWith('-') && !/^-\d+$/.test(text)) throw negativeZero()
  return number
}

/** Unpaired surrogates have no UTF-8 form: they would come back as another string. */
function checkedText(text: string): string {
  if ((text as unknown as { isWellFormed(): boolean }).isWellFormed()) return text
  throw validationError('One or more parameter values were invalid: A string contains an unpaired surrogate')
}

function typeNameOf(node: ExpressionNode): string {
  if (node.type === 'parameter') return 'Parameter'
  if (node.type === 'name') return node.name
  if (node.type === 'call') return node.name.toLowerCase()
  if (node.type === 'binary' || node.type === 'unary') return node.operator
  return node.type.toUpperCase()
}

const keyTypeName = (node: ExpressionNode): string =>
  node.type === 'name' ? 'VariableReference' : node.type === 'number' ? 'INT' : node.type.toUpperCase()
