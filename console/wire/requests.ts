// From what a form says to the input of Query or Scan. Every name goes through ExpressionAttributeNames: it may be a reserved
// word, or have dots.
import type { AttributeValue, TypeName } from '../values/attribute.js'
import type { Json } from './client.js'

export const OPERATORS = [
  ['=', 'equals'],
  ['<>', 'is not'],
  ['<', 'less than'],
  ['<=', 'at most'],
  ['>', 'greater than'],
  ['>=', 'at least'],
  ['between', 'between'],
  ['in', 'one of'],
  ['begins_with', 'begins with'],
  ['contains', 'contains'],
  ['not_contains', 'does not contain'],
  ['exists', 'exists'],
  ['not_exists', 'does not exist'],
  ['type', 'is of type'],
  ['size=', 'size equals'],
  ['size<>', 'size is not'],
  ['size<', 'size below'],
  ['size<=', 'size at most'],
  ['size>', 'size above'],
  ['size>=', 'size at least'],
] as const
export type Operator = (typeof OPERATORS)[number][0]
export const KEY_OPERATORS: readonly Operator[] = ['=', '<', '<=', '>', '>=', 'between', 'begins_with']

export interface Filter {
  readonly attribute: string
  readonly operator: Operator
  readonly type: TypeName
  readonly value: string
  /** The upper end of `between`. */
  readonly other: string
}

export interface KeyCondition {
  readonly attribute: string
  readonly operator: Operator
  readonly type: TypeName
  readonly value: string
  readonly other: string
}

export interface ItemRequest {
  readonly table: string
  readonly index: string | undefined
  readonly mode: 'scan' | 'query'
  /** An equality for each attribute of the partition key: an index may have several. */
  readonly hashes: readonly KeyCondition[]
  /** On attributes of the sort key, from the first on; only the last of them may be other than an equality. */
  readonly ranges: readonly KeyCondition[]
  readonly descending: boolean
  readonly filters: readonly Filter[]
  readonly joinedBy: 'AND' | 'OR'
}

export const emptyFilter = (attribute = ''): Filter => ({
  attribute,
  operator: '=',
  type: 'S',
  value: '',
  other: '',
})

/** What a person typed, as a value of that type. */
export function valueOf(type: TypeName, text: string): AttributeValue {
  switch (type) {
    case 'N':
      return { N: text.trim() }
    case 'B':
      return { B: text.trim() }
    case 'BOOL':
      return { BOOL: text.trim() !== 'false' }
    case 'NULL':
      return { NULL: true }
    case 'S':
    case 'SS':
    case 'NS':
    case 'BS':
    case 'L':
    case 'M':
      return { S: text }
  }
}

const STEP = /("(?:[^"\\]|\\.)*"|[^.]*?)((?:\[\d+\])*)\./gy

/** A name in quotes, as JSON has them, may have dots and brackets. */
const stepsOf = (path: string): readonly { readonly name: string; readonly places: string }[] =>
  [...`${path}.`.matchAll(STEP)].map(([, name = '', places = '']) => ({ name: unquoted(name), places }))

function unquoted(name: string): string {
  try {
    return name.length > 1 && name.startsWith('"') ? String(JSON.parse(name)) : name
  } catch {
    return name
  }
}

/** As a person writes the name of an attribute where a path may stand. */
export const pathOf = (name: string): string => (/[.[\]"]/.test(name) ? JSON.stringify(name) : name)

class Names {
  readonly names: Record<string, string> = {}
  readonly values: Record<string, AttributeValue> = {}
  readonly #known = new Map<string, string>()

  /** A path such as a.b[0]: each name between the dots by itself. */
  path(path: string): string {
    return stepsOf(path)
      .map(({ name, places }) => this.name(name) + places)
      .join('.')
  }

  name(name: string): string {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const placeholder = `#n${this.#known.size}`
    this.#known.set(name, placeholder)
    this.names[placeholder] = name
    return placeholder
  }

  value(value: AttributeValue): string {
    const placeholder = `:v${Object.keys(this.values).length}`
    this.values[placeholder] = value
    return placeholder
  }
}

function condition(names: Names, path: string, each: Filter | KeyCondition): string {
  const value = (text = each.value): string => names.value(valueOf(each.type, text))
  switch (each.operator) {
    case '=':
    case '<>':
    case '<':
    case '<=':
    case '>':
    case '>=':
      return `${path} ${each.operator} ${value()}`
    case 'between':
      return `${path} BETWEEN ${value()} AND ${value(each.other)}`
    case 'in':
      return `${path} IN (${each.value
        .split(',')
        .map((text) => value(text.trim()))
        .join(', ')})`
    case 'begins_with':
      return `begins_with(${path}, ${value()})`
    case 'contains':
      return `contains(${path}, ${value()})`
    case 'not_contains':
      return `NOT contains(${path}, ${value()})`
    case 'exists':
      return `attribute_exists(${path})`
    case 'not_exists':
      return `attribute_not_exists(${path})`
    case 'type':
      return `attribute_type(${path}, ${names.value({ S: each.value.trim() || 'S' })})`
    case 'size=':
    case 'size<>':
    case 'size<':
    case 'size<=':
    case 'size>':
    case 'size>=':
      return `size(${path}) ${each.operator.slice(4)} ${names.value({ N: each.value.trim() })}`
  }
}

/** The operation and its input, without paging. */
export function requestFor(request: ItemRequest): {
  readonly operation: 'Query' | 'Scan'
  readonly input: Json
} {
  const names = new Names()
  const isQuery = request.mode === 'query'
  const keys = isQuery ? [...request.hashes, ...request.ranges] : []
  const keyText = keys.map((each) => condition(names, names.name(each.attribute), each)).join(' AND ')
  const filterText = request.filters
    .filter(({ attribute }) => attribute !== '')
    .map((each) => condition(names, names.path(each.attribute), each))
    .join(` ${request.joinedBy} `)
  const input = {
    TableName: request.table,
    ...(request.index !== undefined && { IndexName: request.index }),
    ...(keyText !== '' && { KeyConditionExpression: keyText }),
    ...(filterText !== '' && { FilterExpression: filterText }),
    ...(Object.keys(names.names).length > 0 && { ExpressionAttributeNames: names.names }),
    ...(Object.keys(names.values).length > 0 && { ExpressionAttributeValues: names.values }),
    ...(isQuery && request.descending && { ScanIndexForward: false }),
  }
  return { operation: isQuery ? 'Query' : 'Scan', input }
}
