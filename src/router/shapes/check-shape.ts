// Checks a request against the declaration of its shape: the types first, then the constraints on what is there.
//
// A valid request costs no more than the look at its members. What a violation says, where it is and what is there, is put
// together once there is one: a list may have 10,000 members.
import { RewordedError, validationError } from '../../model/errors.js'
import { isReadInOlderWay } from './deep-values.js'
import type { ListShape, MapShape, RequestShape, StringShape, StructShape } from './shape.js'
import {
  noStructure,
  notCollection,
  nullInList,
  refuseMistypedValues,
  wrongType,
  type ValuePlace,
} from './wrong-types.js'

export type Members = Readonly<Record<string, unknown>>

const VIOLATIONS_MAX = 10

export function checkShape(
  shape: StructShape,
  input: unknown,
): asserts input is Readonly<Record<string, unknown>> {
  checkTypes(shape, input)
  const members = input as Readonly<Record<string, unknown>>
  const violations: Violation[] = []
  const tableName = shape.members['TableName']
  if (tableName !== undefined) {
    if (tableName.kind === 'string' && tableName.missing !== undefined) {
      if (member(members, 'TableName') === undefined) throw validationError(tableName.missing)
    }
    collectAt('tableName', tableName, member(members, 'TableName'), violations)
    if (violations.length > 0) {
      refuseMistypedValues(shape, members)
      refuseTableName(shape, members, violations)
    }
  }
  collectMembers(shape, members, violations)
  if (violations.length === 0) return
  refuseMistypedValues(shape, members)
  refuseInNewerWords(shape, members, violations)
}

/** The table name comes first and alone, but beside a member that is missing where the wording is the newer one. */
function refuseTableName(shape: StructShape, members: Members, violations: readonly Violation[]): void {
  if (shape.wording === undefined || shape.wording === 'newer, alone' || shape.wording === 'newest')
    return refuse(violations)
  const all = allOf(shape, members)
  if (lacksRequired(shape, members)) return refuse(all)
  const older = told(all)
  if (member(members, 'TableName') === '') throw new RewordedError(EMPTY_TABLE_NAME, older)
  throw new RewordedError(told(violations), older)
}

const EMPTY_TABLE_NAME =
  "1 validation error detected: Value at 'TableName' failed to satisfy constraint: Member must have length greater than or equal to 1"

function allOf(shape: StructShape, members: Members): readonly Violation[] {
  const violations: Violation[] = []
  collectMembers(shape, members, violations)
  return violations
}

const lacksRequired = (shape: StructShape, members: Members): boolean =>
  Object.entries(shape.members).some(
    ([name, inner]) => name !== 'TableName' && inner.required && member(members, name) === undefined,
  )

function refuseInNewerWords(shape: StructShape, members: Members, violations: readonly Violation[]): void {
  if (shape.wording === 'newest') return refuseNumbers(shape, violations)
  if (shape.wording === undefined || lacksRequired(shape, members) || isReadInOlderWay(members))
    return refuse(violations)
  const newer = inNewerWords(shape, violations)
  const older = told(violations)
  throw shape.wording === 'transaction'
    ? new RewordedError(older, older, newer, 'transactions')
    : new RewordedError(newer, older)
}

function refuseNumbers(shape: StructShape, violations: readonly Violation[]): void {
  const inner = violations.map((violation) => shape.members[memberNameOf(violation)])
  if (!inner.every((each) => each?.kind === 'integer')) return refuse(violations)
  const unshown = violations.map((violation) => ({
    ...violation,
    whole: `Value at '${memberNameOf(violation)}' failed to satisfy constraint: ${violation.constraint}`,
  }))
  throw new RewordedError(told(violations), told(violations), told(unshown))
}

const memberNameOf = ({ path }: Violation): string => path.charAt(0).toUpperCase() + path.slice(1)

function inNewerWords(shape: StructShape, violations: readonly Violation[]): string {
  const reworded = violations.map((violation) => {
    const inner = shape.members[memberNameOf(violation)]
    const newer = inner?.kind === 'string' || inner?.kind === 'list' ? inner.newerConstraint : undefined
    if (newer === undefined) return violation
    return { ...violation, whole: typeof newer === 'string' ? newer : newer(violation.constraint) }
  })
  const first = reworded.find(({ whole }) => whole !== undefined)
  if (shape.wording === 'newer, alone' && first?.whole !== undefined) return first.whole
  const stops = shape.wording === 'newer, stops' || shape.wording === 'transaction'
  return told(stops && first !== undefined ? [first] : reworded)
}

/** What is wrong with a value. Its path is made from the inside out, once it is known that something is wrong. */
interface Violation {
  path: string
  readonly shown: string
  readonly constraint: string
  /** Said in place of where it is and what is there. */
  readonly whole?: string
}

function refuse(violations: readonly Violation[]): void {
  if (violations.length > 0) throw validationError(told(violations))
}

function told(violations: readonly Violation[]): string {
  const noun = violations.length === 1 ? 'error' : 'errors'
  const texts = violations.map(
    ({ path, shown: value, constraint, whole }) =>
      whole ?? `Value ${value} at '${path}' failed to satisfy constraint: ${constraint}`,
  )
  return `${violations.length} validation ${noun} detected: ${texts.join('; ')}`
}

function collectMembers(
  shape: StructShape,
  object: Readonly<Record<string, unknown>>,
  violations: Violation[],
): void {
  for (const name in shape.members) {
    const inner = shape.members[name] as RequestShape
    const value = member(object, name)
    if (value === undefined && !inner.required) continue
    const before = violations.length
    collect(inner, value, violations)
    if (violations.length > before) locate(violations, before, lowerFirst(name))
  }
}

const lowerFirst = (name: string): string => name.charAt(0).toLowerCase() + name.slice(1)

function collectAt(place: string, shape: RequestShape, value: unknown, violations: Violation[]): void {
  const before = violations.length
  collect(shape, value, violations)
  locate(violations, before, place)
}

/** Those from there on are of a value at that place. */
function locate(violations: readonly Violation[], from: number, place: string): void {
  for (const violation of violations.slice(from))
    violation.path = violation.path === '' ? place : `${place}.${violation.path}`
}

function violated(violations: Violation[], shape: RequestShape, value: unknown, constraint: string): void {
  if (violations.length < VIOLATIONS_MAX)
    violations.push({ path: '', shown: shown(shape, value), constraint })
}

function collect(shape: RequestShape, value: unknown, violations: Violation[]): void {
  if (violations.length >= VIOLATIONS_MAX) return
  if (value === undefined) {
    if (shape.required) violations.push({ path: '', shown: 'null', constraint: 'Member must not be null' })
    return
  }
  switch (shape.kind) {
    case 'string': {
      const text = value as string
      if (shape.acceptsArn && text.startsWith('arn:')) return
      if (shape.values !== undefined && !shape.values.includes(text)) {
        const allowed = shape.values.join(', ')
        violated(violations, shape, value, `Member must satisfy enum value set: [${allowed}]`)
      }
      checkLength(shape, value, text.length, violations)
      // An empty text only breaks the rule for its length, as in DynamoDB.
      if (shape.pattern !== undefined && text !== '' && !patternOf(shape.pattern).test(text)) {
        violated(violations, shape, value, `Member must satisfy regular expression pattern: ${shape.pattern}`)
      }
      return
    }
    case 'integer':
    case 'long':
    case 'double': {
      const number = value as number
      if (shape.valueMin !== undefined && number < shape.valueMin) {
        violated(
          violations,
          shape,
          value,
          `Member must have value greater than or equal to ${shape.valueMin}`,
        )
      }
      if (shape.valueMax !== undefined && number > shape.valueMax) {
        violated(violations, shape, value, `Member must have value less than or equal to ${shape.valueMax}`)
      }
      return
    }
    case 'list': {
      const list = value as readonly unknown[]
      checkLength(shape, value, list.length, violations)
      for (let at = 0; at < list.length; at++) {
        const before = violations.length
        collect(shape.member, list[at] ?? undefined, violations)
        if (violations.length === before) continue
        locate(violations, before, `${at + 1}.member`)
        if (violations.length >= VIOLATIONS_MAX) return
      }
      return
    }
    case 'map':
      collectMap(shape, value as Members, violations)
      return
    case 'struct':
      collectMembers(shape, value as Members, violations)
      return
    case 'boolean':
    case 'any':
      return
  }
}

function collectMap(shape: MapShape, map: Members, violations: Violation[]): void {
  const { lengthMin, lengthMax, keyPattern, keyLengthMin, keyLengthMax } = shape
  const isOfAny = shape.member.kind === 'any' && !shape.member.required
  // The attributes of an item, of which there may be very many: nothing is asked of them here.
  if (isOfAny && (lengthMin ?? lengthMax ?? keyPattern ?? keyLengthMin ?? keyLengthMax) === undefined) return
  const keys = Object.keys(map)
  checkLength(shape, map, keys.length, violations)
  checkMapKeys(shape, map, keys, violations)
  if (isOfAny) return
  for (const key of keys) {
    collectAt(`${key}.member`, shape.member, member(map, key), violations)
    if (violations.length >= VIOLATIONS_MAX) return
  }
}

function checkLength(
  shape: StringShape | ListShape | MapShape,
  value: unknown,
  length: number,
  violations: Violation[],
): void {
  if (shape.lengthMin !== undefined && length < shape.lengthMin) {
    violated(violations, shape, value, `Member must have length greater than or equal to ${shape.lengthMin}`)
  }
  if (shape.lengthMax !== undefined && length > shape.lengthMax) {
    violated(violations, shape, value, `Member must have length less than or equal to ${shape.lengthMax}`)
  }
}

function checkMapKeys(shape: MapShape, map: Members, keys: readonly string[], violations: Violation[]): void {
  const { keyPattern, keyLengthMin, keyLengthMax } = shape
  const fits = (key: string): boolean =>
    (shape.keysAcceptArn === true && key.startsWith('arn:')) ||
    ((keyLengthMax === undefined || key.length <= keyLengthMax) &&
      (keyLengthMin === undefined || key.length >= keyLengthMin) &&
      (keyPattern === undefined || patternOf(keyPattern).test(key)))
  if (keys.every(fits)) return
  const constraints: string[] = []
  if (keyLengthMax !== undefined)
    constraints.push(`Member must have length less than or equal to ${keyLengthMax}`)
  if (keyLengthMin !== undefined)
    constraints.push(`Member must have length greater than or equal to ${keyLengthMin}`)
  if (keyPattern !== undefined)
    constraints.push(`Member must satisfy regular expression pattern: ${keyPattern}`)
  violated(violations, shape, map, `Map keys must satisfy constraint: [${constraints.join(', ')}]`)
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

/** JSON null counts as absent, as it does for DynamoDB. */
export function member(object: Members, name: string): unknown {
  return Object.hasOwn(object, name) ? (object[name] ?? undefined) : undefined
}

export function checkTypes(shape: RequestShape, value: unknown, place: ValuePlace = 'member'): void {
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
      if (!Array.isArray(value)) throw notCollection(value, place)
      for (const element of value) checkTypes(shape.member, element ?? undefinedIn(shape.member), 'element')
      return
    case 'map': {
      const object = structure(value, shape, place)
      // The attributes of an item: any will do here, and there may be very many.
      if (shape.member.kind === 'any') return
      for (const key of Object.keys(object)) {
        const element = object[key]
        if (element !== null && element !== undefined) checkTypes(shape.member, element, 'element')
      }
      return
    }
    case 'struct': {
      const object = structure(value, shape, place)
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
  throw nullInList()
}

function structure(value: unknown, shape: MapShape | StructShape, place: ValuePlace): Members {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  throw noStructure(value, shape, place)
}
