// Untrusted JSON to validated values: the only way a client's item enters the store.
//
// What comes out is canonical: one type a value, numbers and binaries in their one text, sets without duplicates and in order, no
// unpaired surrogates, at most 32 levels deep (so that every later walk may recurse). What was canonical already is
// returned as it is, not copied: most items are.
import { parseBase64 } from './binary.js'
import { type DynamoError, RewordedError, validationError, serializationError } from './errors.js'
import { limits } from './limits.js'
import { parseNumber } from './number.js'
import { sortedMembers } from './sets.js'
import { setAttribute, type AttributeValue, type Item, type MutableItem } from './value.js'

/**
 * Validates one value such as `{ "N": "1.0" }`, here to `{ "N": "1" }`; it may be nested by `levelsMore` than an item may hold. Throws
 * what DynamoDB answers.
 */
export function parseAttributeValue(json: unknown, levelsMore = 0): AttributeValue {
  return parseValue(json, 1 - levelsMore)
}

/** Validates an item, or any map of names to values; an attribute named `__proto__` stays one. */
export function parseItem(json: unknown): Item {
  return parseMap(json, 1)
}

export const TOO_DEEP =
  'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit'
export const EMPTY_NAME = 'Empty attribute name'

/** Refuses values that are nested too deep, whatever else is wrong with them. */
export function refuseDeepValues(json: object, level = 1): void {
  for (const value of Object.values(json) as readonly unknown[]) {
    if (level > limits.nestingDepthMax) throw validationError(TOO_DEEP)
    if (typeof value !== 'object' || value === null) continue
    const inner = (value as Json)['M'] ?? (value as Json)['L']
    if (typeof inner === 'object' && inner !== null) refuseDeepValues(inner, level + 1)
  }
}

const INVALID = 'One or more parameter values were invalid: '

type Json = Readonly<Record<string, unknown>>

function parseValue(json: unknown, level: number): AttributeValue {
  if (level > limits.nestingDepthMax) throw validationError(TOO_DEEP)
  if (!isTagged(json)) throw noValue(json)

  // Members that are null or unknown count as absent. A value with several types is refused only after each was
  // found to be valid, as DynamoDB does.
  let value: AttributeValue | undefined
  let types = 0
  let members = 0
  if (json !== null) {
    for (const tag of Object.keys(json)) {
      members++
      const content = (json as Json)[tag]
      if (content === null || content === undefined) continue
      const parsed = parseTagged(json as Json, tag, content, level)
      if (parsed === undefined) continue
      value = parsed
      types++
    }
  }
  if (value === undefined)
    throw validationError(
      'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes',
    )
  if (types > 1)
    throw validationError(
      'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
    )
  return members > 1 ? onlyTag(value) : value
}

/** The value with that type: `json` itself if its content is canonical. Undefined for an unknown type. */
function parseTagged(json: Json, tag: string, content: unknown, level: number): AttributeValue | undefined {
  const same = json as unknown as AttributeValue
  switch (tag) {
    case 'S':
      parseText(content)
      return same
    case 'N': {
      const number = parseNumber(stringOf(content))
      return number === content ? same : { N: number }
    }
    case 'B':
      parseBlob(content)
      return same
    case 'BOOL': {
      const flag = parseBoolean(content)
      return flag === content ? same : { BOOL: flag }
    }
    case 'NULL':
      if (!parseBoolean(content))
        throw validationError(`${INVALID}Null attribute value types must have the value of true`)
      return content === true ? same : { NULL: true }
    case 'M': {
      const map = parseMap(content, level + 1)
      return map === content ? same : { M: map }
    }
    case 'L': {
      const list = parseList(content, level + 1)
      return list === content ? same : { L: list }
    }
    case 'SS': {
      const strings = parseStringSet(content)
      return strings === content ? same : { SS: strings }
    }
    case 'NS': {
      const numbers = parseNumberSet(content)
      return numbers === content ? same : { NS: numbers }
    }
    case 'BS': {
      const binaries = parseBinarySet(content)
      return binaries === content ? same : { BS: binaries }
    }
    default:
      return undefined
  }
}

/** A value that came with null or unknown members, without them. */
function onlyTag(value: AttributeValue): AttributeValue {
  const [tag, content] = Object.entries(value).find(
    ([tag, content]) => content !== null && content !== undefined && TAGS.has(tag),
  )!
  return { [tag]: content } as unknown as AttributeValue
}

const TAGS: ReadonlySet<string> = new Set(['S', 'N', 'B', 'BOOL', 'NULL', 'M', 'L', 'SS', 'NS', 'BS'])

function parseMap(json: unknown, level: number): Item {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw noMap(json)
  let copy: MutableItem | undefined
  for (const name of Object.keys(json)) {
    checkAttributeName(name)
    const before = (json as Json)[name]
    const after = parseValue(before, level)
    if (after === before) continue
    // A spread defines own members, `__proto__` too.
    copy ??= { ...(json as Item) }
    setAttribute(copy, name, after)
  }
  return copy ?? (json as Item)
}

function parseList(json: unknown, level: number): readonly AttributeValue[] {
  const list = arrayOf(json)
  let copy: AttributeValue[] | undefined
  for (let at = 0; at < list.length; at++) {
    const before = list[at]
    const after = parseValue(before, level)
    if (after === before) continue
    copy ??= (list as AttributeValue[]).slice()
    copy[at] = after
  }
  return copy ?? (list as readonly AttributeValue[])
}

function parseStringSet(json: unknown): readonly string[] {
  const members = arrayOf(json)
  if (members.length === 0) throw validationError(`${INVALID}An string set  may not be empty`)
  for (const member of members) {
    if (member === null)
      throw validationError(`${INVALID}An string set may not have a null string as a member`)
    parseText(member)
  }
  if (hasDuplicates(members)) throw repeated(members as readonly string[], 'SS')
  return sortedMembers('SS', members as readonly string[])
}

function parseNumberSet(json: unknown): readonly string[] {
  const members = arrayOf(json)
  if (members.length === 0) throw validationError(`${INVALID}An number set  may not be empty`)
  let changed = false
  const numbers = members.map((member) => {
    if (member === null)
      throw validationError(`${INVALID}An number set may not have a null string as a member`)
    const number = parseNumber(stringOf(member))
    changed ||= number !== member
    return number
  })
  if (hasDuplicates(numbers))
    throw new RewordedError(
      `${INVALID}Input collection contains duplicates.`,
      'Input collection contains duplicates',
    )
  return sortedMembers('NS', changed ? numbers : (members as readonly string[]))
}

function parseBinarySet(json: unknown): readonly string[] {
  const members = arrayOf(json)
  if (members.length === 0) throw validationError(`${INVALID}Binary sets should not be empty`)
  for (const member of members) {
    if (member === null) throw validationError(`${INVALID}Binary sets may not contain null values`)
    parseBlob(member)
  }
  if (hasDuplicates(members)) throw repeated(members as readonly string[], 'BS')
  return sortedMembers('BS', members as readonly string[])
}

/** Shows the members in order up to the first that is repeated, then that, then the rest as they were sent. */
function repeated(members: readonly string[], type: 'SS' | 'BS'): DynamoError {
  const seen = new Set<string>()
  // One look at each: there may be 200,000 of them.
  const at = members.findIndex((member) => seen.size === seen.add(member).size)
  const shown = [...sortedMembers(type, members.slice(0, at)), ...members.slice(at)]
    .slice(0, SHOWN_MAX)
    .map((member) => JSON.stringify(member))
    .join(type === 'SS' ? ', ' : ',')
  const what = type === 'SS' ? ' contains duplicates.' : 'of type BS contains duplicates.'
  return new RewordedError(
    `${INVALID}Input collection [${shown}]${what}`,
    `${INVALID}Input collection [${members.slice(0, SHOWN_MAX).join(', ')}]${what}`,
  )
}

/** Each takes two characters at least: a message with more of them is cut off before their end. */
const SHOWN_MAX = 32 * 1024

const hasDuplicates = (members: readonly unknown[]): boolean =>
  members.length > 1 && new Set(members).size !== members.length

/** Unpaired surrogates have no UTF-8 form: they would come back as another string. */
function parseText(json: unknown): void {
  if (!isWellFormed(stringOf(json)))
    throw validationError(`${INVALID}A string contains an unpaired surrogate`)
}

const NAME_BYTES_MAX = 65535

/** Refuses what is no name of an attribute. */
export function checkAttributeName(name: string): void {
  if (name === '') throw validationError(EMPTY_NAME)
  // No character takes more than three bytes a unit.
  if (name.length * 3 > NAME_BYTES_MAX && Buffer.byteLength(name) > NAME_BYTES_MAX)
    throw validationError(`Attribute name is too large, must be less than ${NAME_BYTES_MAX + 1} bytes`)
  if (!isWellFormed(name)) throw validationError(`${INVALID}An attribute name contains an unpaired surrogate`)
}

// In Node since 20, in TypeScript's library only from ES2024 on.
const isWellFormed = (text: string): boolean =>
  (text as unknown as { isWellFormed(): boolean }).isWellFormed()

const MODEL = 'com.amazonaws.dynamodb.v20120810.'

/** Whether it may be `{ "S": ... }` and the like; null counts as one without a type. */
export const isTagged = (json: unknown): json is object | null =>
  typeof json === 'object' && !Array.isArray(json)

export const noValue = (json: unknown): DynamoError =>
  serializationError(
    Array.isArray(json)
      ? `Unrecognized collection type class ${MODEL}AttributeValue`
      : 'Unexpected value type in payload',
  )

export const noMap = (json: unknown): DynamoError =>
  serializationError(
    Array.isArray(json)
      ? `Unrecognized collection type java.util.Map<java.lang.String, ${MODEL}AttributeValue>`
      : 'Unexpected field type',
  )

export function parseBlob(json: unknown): void {
  if (typeof json === 'string') parseBase64(json)
  else if (Array.isArray(json))
    throw serializationError('Unrecognized collection type class java.nio.ByteBuffer')
  else if (typeof json === 'object')
    throw serializationError('Start of structure or map found where not expected')
  else throw serializationError('only base-64-encoded strings are convertible to bytes')
}

export function stringOf(json: unknown): string {
  if (typeof json === 'string') return json
  if (typeof json === 'boolean')
    throw serializationError(`${json ? 'TRUE' : 'FALSE'}_VALUE cannot be converted to String`)
  throw notConvertible(json, 'String')
}

/** DynamoDB also takes these strings for booleans. */
export function parseBoolean(json: unknown): boolean {
  if (typeof json === 'boolean') return json
  if (typeof json !== 'string') throw notConvertible(json, 'Boolean')
  if (/^(?:true|1|yes)$/i.test(json)) return true
  if (/^(?:false|0|no)$/i.test(json)) return false
  throw serializationError('Unexpected token received from parser')
}

function notConvertible(json: unknown, wanted: 'String' | 'Boolean'): DynamoError {
  if (typeof json === 'number') {
    const token = Number.isInteger(json) ? 'NUMBER_VALUE' : 'DECIMAL_VALUE'
    return serializationError(`${token} cannot be converted to ${wanted}`)
  }
  return serializationError(
    Array.isArray(json)
      ? `Unrecognized collection type class java.lang.${wanted}`
      : 'Start of structure or map found where not expected',
  )
}

export function arrayOf(json: unknown): readonly unknown[] {
  if (Array.isArray(json)) return json
  throw serializationError(
    typeof json === 'object' ? 'Start of structure or map found where not expected' : 'Unexpected field type',
  )
}
