// Checks the shape of a request against a declaration, in DynamoDB's two steps:
//
//   1. types:        the first wrong JSON type is a SerializationException
//   2. constraints:  up to ten violations in one ValidationException; the table name first and alone
//
// Attribute values are `any` here: model/parse-value.ts checks them where they are used.
import { DynamoError, validationError } from '../../model/errors.js'

interface Required {
  readonly required?: true
}
interface Length {
  readonly lengthMin?: number
  readonly lengthMax?: number
}
export interface StringShape extends Required, Length {
  readonly kind: 'string'
  readonly pattern?: string
  readonly values?: readonly string[]
  /** The ARN of a table will do as well; table-name.ts checks it. */
  readonly acceptsArn?: true
  /** The whole message when the member is absent, where it is not the usual one. */
  readonly missing?: string
}
export interface NumberShape extends Required {
  readonly kind: 'integer' | 'long' | 'double'
  readonly valueMin?: number
  readonly valueMax?: number
}
export interface BooleanShape extends Required {
  readonly kind: 'boolean'
}
export interface ListShape extends Required, Length {
  readonly kind: 'list'
  readonly member: RequestShape
}
export interface MapShape extends Required, Length {
  readonly kind: 'map'
  readonly member: RequestShape
  readonly keyPattern?: string
  readonly keyLengthMin?: number
  readonly keyLengthMax?: number
}
export interface StructShape extends Required {
  readonly kind: 'struct'
  /** The class name that serialization errors show. */
  readonly className?: string
  readonly members: Readonly<Record<string, RequestShape>>
}
export interface AnyShape extends Required {
  readonly kind: 'any'
}
export type RequestShape =
  StringShape | NumberShape | BooleanShape | ListShape | MapShape | StructShape | AnyShape

const VIOLATIONS_MAX = 10
const TABLE_NAME_PATTERN = '[a-zA-Z0-9_.-]+'

/** TableName of requests for items: looser than the 3 to 255 characters of a table being created. */
export const tableNameShape: StringShape = {
  kind: 'string',
  required: true,
  lengthMin: 1,
  lengthMax: 255,
  pattern: TABLE_NAME_PATTERN,
  acceptsArn: true,
}

/** TableName of requests for tables themselves. */
export const administeredTableNameShape: StringShape = {
  ...tableNameShape,
  lengthMin: 3,
  missing: "The parameter 'TableName' is required but was not present in the request",
}

/** IndexName in the definition of an index. */
export const indexNameShape: StringShape = {
  kind: 'string',
  required: true,
  lengthMin: 3,
  lengthMax: 255,
  pattern: TABLE_NAME_PATTERN,
}

export function checkShape(
  shape: StructShape,
  input: unknown,
): asserts input is Readonly<Record<string, unknown>> {
  checkTypes(shape, input)
  const members = input as Readonly<Record<string, unknown>>
  const violations: string[] = []
  const tableName = shape.members['TableName']
  if (tableName !== undefined) {
    if (tableName.kind === 'string' && tableName.missing !== undefined) {
      if (member(members, 'TableName') === undefined) throw validationError(tableName.missing)
    }
    collect(tableName, member(members, 'TableName'), 'tableName', violations)
    refuse(violations)
  }
  collectMembers(shape, members, '', violations)
  refuse(violations)
}

function refuse(violations: readonly string[]): void {
  if (violations.length === 0) return
  const noun = violations.length === 1 ? 'error' : 'errors'
  throw validationError(`${violations.length} validation ${noun} detected: ${violations.join('; ')}`)
}

type Members = Readonly<Record<string, unknown>>

/** JSON null counts as absent, as it does for DynamoDB. */
function member(object: Members, name: string): unknown {
  return Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined
}

export function checkTypes(shape: RequestShape, value: unknown): void {
  switch (shape.kind) {
    case 'any':
      return
    case 'string':
      if (typeof value === 'string') return
      throw wrongType(value, 'String')
    case 'boolean':
      if (typeof value === 'boolean') return
      throw wrongType(value, 'Boolean')
    case 'integer':
    case 'long':
    case 'double':
      if (typeof value === 'number') return
      throw wrongType(value, shape.kind === 'integer' ? 'Integer' : shape.kind === 'long' ? 'Long' : 'Double')
    case 'list':
      if (!Array.isArray(value)) throw notCollection(value)
      for (const element of value) checkTypes(shape.member, element ?? undefinedIn(shape.member))
      return
    case 'map': {
      const object = structure(value, 'java.util.Map')
      // The attributes of an item: any will do here, and there may be very many.
      if (shape.member.kind === 'any') return
      for (const key of Object.keys(object)) {
        const element = object[key]
        if (element !== null && element !== undefined) checkTypes(shape.member, element)
      }
      return
    }
    case 'struct': {
      const object = structure(value, shape.className ?? 'com.amazonaws.dynamodb.v20120810.Request')
      for (const name in shape.members) {
        const element = member(object, name)
        if (element !== undefined) checkTypes(shape.members[name] as RequestShape, element)
      }
      return
    }
  }
}

function undefinedIn(shape: RequestShape): unknown {
  if (shape.kind === 'any') return undefined
  throw serializationError('Unexpected null in a list')
}

function structure(value: unknown, className: string): Readonly<Record<string, unknown>> {
  if (Array.isArray(value)) throw serializationError(`Unrecognized collection type class ${className}`)
  if (typeof value !== 'object' || value === null) throw serializationError('Unexpected field type')
  return value as Readonly<Record<string, unknown>>
}

function notCollection(value: unknown): DynamoError {
  return serializationError(
    typeof value === 'object'
      ? 'Start of structure or map found where not expected'
      : 'Unexpected field type',
  )
}

function wrongType(value: unknown, wanted: string): DynamoError {
  if (Array.isArray(value))
    return serializationError(`Unrecognized collection type class java.lang.${wanted}`)
  if (typeof value === 'number') {
    const read = Number.isInteger(value) ? 'NUMBER_VALUE' : 'DECIMAL_VALUE'
    return serializationError(`${read} cannot be converted to ${wanted}`)
  }
  if (typeof value === 'boolean') {
    return serializationError(`${value ? 'TRUE_VALUE' : 'FALSE_VALUE'} cannot be converted to ${wanted}`)
  }
  if (typeof value === 'string') {
    return serializationError(
      wanted === 'Boolean'
        ? 'Unexpected token received from parser'
        : `STRING_VALUE cannot be converted to ${wanted}`,
    )
  }
  return serializationError('Start of structure or map found where not expected')
}

const serializationError = (message: string): DynamoError =>
  new DynamoError('SerializationException', message)

function collectMembers(
  shape: StructShape,
  object: Readonly<Record<string, unknown>>,
  path: string,
  violations: string[],
): void {
  for (const name in shape.members) {
    const inner = shape.members[name] as RequestShape
    const value = member(object, name)
    // Most members are absent, and may be: no path is made for them.
    if (value === undefined && !inner.required) continue
    collect(inner, value, path + lowerFirst(name), violations)
  }
}

const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

function collect(shape: RequestShape, value: unknown, path: string, violations: string[]): void {
  if (violations.length >= VIOLATIONS_MAX) return
  if (value === undefined) {
    if (shape.required)
      violations.push(`Value null at '${path}' failed to satisfy constraint: Member must not be null`)
    return
  }
  const violated = (constraint: string): void => {
    if (violations.length < VIOLATIONS_MAX) {
      violations.push(`Value ${shown(shape, value)} at '${path}' failed to satisfy constraint: ${constraint}`)
    }
  }
  switch (shape.kind) {
    case 'string': {
      const text = value as string
      if (shape.acceptsArn && text.startsWith('arn:')) return
      if (shape.values !== undefined && !shape.values.includes(text)) {
        violated(`Member must satisfy enum value set: [${shape.values.join(', ')}]`)
      }
      checkLength(shape, text.length, violated)
      // An empty text only breaks the rule for its length, as in DynamoDB.
      if (shape.pattern !== undefined && text !== '' && !patternOf(shape.pattern).test(text)) {
        violated(`Member must satisfy regular expression pattern: ${shape.pattern}`)
      }
      return
    }
    case 'integer':
    case 'long':
    case 'double': {
      const number = value as number
      if (shape.valueMin !== undefined && number < shape.valueMin) {
        violated(`Member must have value greater than or equal to ${shape.valueMin}`)
      }
      if (shape.valueMax !== undefined && number > shape.valueMax) {
        violated(`Member must have value less than or equal to ${shape.valueMax}`)
      }
      return
    }
    case 'list': {
      const list = value as readonly unknown[]
      checkLength(shape, list.length, violated)
      for (const [position, element] of list.entries()) {
        collect(shape.member, element ?? undefined, `${path}.${position + 1}.member`, violations)
        if (violations.length >= VIOLATIONS_MAX) return
      }
      return
    }
    case 'map': {
      const map = value as Readonly<Record<string, unknown>>
      const keys = Object.keys(map)
      checkLength(shape, keys.length, violated)
      checkMapKeys(shape, keys, violated)
      if (shape.member.kind === 'any' && !shape.member.required) return
      for (const key of keys) {
        collect(shape.member, member(map, key), `${path}.${key}.member`, violations)
        if (violations.length >= VIOLATIONS_MAX) return
      }
      return
    }
    case 'struct':
      collectMembers(shape, value as Readonly<Record<string, unknown>>, `${path}.`, violations)
      return
    case 'boolean':
    case 'any':
      return
  }
}

function checkLength(shape: Length, length: number, violated: (constraint: string) => void): void {
  if (shape.lengthMin !== undefined && length < shape.lengthMin) {
    violated(`Member must have length greater than or equal to ${shape.lengthMin}`)
  }
  if (shape.lengthMax !== undefined && length > shape.lengthMax) {
    violated(`Member must have length less than or equal to ${shape.lengthMax}`)
  }
}

function checkMapKeys(
  shape: MapShape,
  keys: readonly string[],
  violated: (constraint: string) => void,
): void {
  const { keyPattern, keyLengthMin, keyLengthMax } = shape
  const fits = (key: string): boolean =>
    (keyLengthMax === undefined || key.length <= keyLengthMax) &&
    (keyLengthMin === undefined || key.length >= keyLengthMin) &&
    (keyPattern === undefined || patternOf(keyPattern).test(key))
  if (keys.every(fits)) return
  const constraints: string[] = []
  if (keyLengthMax !== undefined)
    constraints.push(`Member must have length less than or equal to ${keyLengthMax}`)
  if (keyLengthMin !== undefined)
    constraints.push(`Member must have length greater than or equal to ${keyLengthMin}`)
  if (keyPattern !== undefined)
    constraints.push(`Member must satisfy regular expression pattern: ${keyPattern}`)
  violated(`Map keys must satisfy constraint: [${constraints.join(', ')}]`)
}

const patterns = new Map<string, RegExp>()
/** Patterns come from declarations, so the number of them is bounded. */
function patternOf(source: string): RegExp {
  let pattern = patterns.get(source)
  if (pattern === undefined) patterns.set(source, (pattern = new RegExp(`^${source}$`)))
  return pattern
}

function shown(shape: RequestShape, value: unknown): string {
  if (typeof value === 'string') return `'${value}'`
  const text = shownInside(shape, value)
  if (text.length <= SHOWN_CHARACTERS_MAX) return `'${text}'`
  return `'${text.slice(0, SHOWN_CHARACTERS_MAX)}...${shape.kind === 'list' ? ']' : ''}'`
}

const SHOWN_CHARACTERS_MAX = 1000
/** As Java shows it: lists in brackets, structures by their class and members. */
function shownInside(shape: RequestShape, value: unknown): string {
  if (typeof value === 'string') return value
  if (shape.kind === 'list' && Array.isArray(value)) {
    return `[${value.map((element) => shownInside(shape.member, element)).join(', ')}]`
  }
  if (shape.kind === 'struct' && shape.className !== undefined && value !== null && value !== undefined) {
    const members = Object.entries(shape.members).map(
      ([name, inner]) => `${lowerFirst(name)}=${shownInside(inner, member(value as Members, name))}`,
    )
    return `${shape.className.slice(shape.className.lastIndexOf('.') + 1)}(${members.join(', ')})`
  }
  return JSON.stringify(value) ?? 'null'
}
