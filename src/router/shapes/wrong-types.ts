// What is said of a request with a wrong JSON type: a SerializationException, in the words of the service. Asked only once a request is
// refused.
import { type DynamoError, serializationError } from '../../model/errors.js'
import { refuseMistyped, type Sight } from '../../model/mistyped.js'
import { TextPut } from '../../model/text-put.js'
import type { MapShape, RequestShape, StructShape } from './shape.js'

/** `element`: the value stands in a list or in a map, where the service reads structures and collections in another way. */
export type ValuePlace = 'member' | 'element'

export function noStructure(value: unknown, shape: MapShape | StructShape, place: ValuePlace): DynamoError {
  if (Array.isArray(value))
    return serializationError(
      `Unrecognized collection type ${shape.kind === 'map' ? '' : 'class '}${javaTypeOf(shape)}`,
    )
  if (place === 'member') return serializationError('Unexpected field type')
  return serializationError(shape.kind === 'map' ? NOT_A_CLASS : 'Unexpected value type in payload')
}

export const nullInList = (): DynamoError => serializationError('Unexpected null in a list')

/** So many attribute values are looked at once a request has been refused. */
const VALUES_LOOKED_AT_MAX = 2_000

/**
 * Refuses a request with an attribute value of a wrong JSON type. A request that is otherwise in order need not be asked: its values
 * are read where they are used.
 */
export function refuseMistypedValues(
  shape: RequestShape,
  value: unknown,
  sight: Sight = { values: VALUES_LOOKED_AT_MAX },
): void {
  if (sight.values <= 0 || value === undefined || value === null) return
  // Its text was read as that of an item (plain-item.ts): all its types are right.
  if (value instanceof TextPut) return
  switch (shape.kind) {
    case 'any':
      if (shape.opaque !== true) refuseMistyped(value, sight)
      return
    case 'list':
      for (const element of value as readonly unknown[]) refuseMistypedValues(shape.member, element, sight)
      return
    case 'map':
      for (const key of Object.keys(value)) {
        if (sight.values <= 0) return
        refuseMistypedValues(shape.member, (value as Readonly<Record<string, unknown>>)[key], sight)
      }
      return
    case 'struct':
      for (const name in shape.members) {
        const inner = shape.members[name]!
        if (!holdsValues(inner)) continue
        const content = memberOf(value, name)
        if (inner.kind === 'any' && content !== undefined && typeof content !== 'object')
          throw serializationError('Unexpected field type')
        refuseMistypedValues(inner, content, sight)
      }
      return
    case 'string':
    case 'boolean':
    case 'integer':
    case 'long':
    case 'double':
      return
  }
}

function holdsValues(shape: RequestShape): boolean {
  switch (shape.kind) {
    case 'any':
      return shape.opaque !== true
    case 'list':
    case 'map':
      return holdsValues(shape.member)
    case 'struct':
      return Object.values(shape.members).some((inner) => holdsValues(inner))
    case 'string':
    case 'boolean':
    case 'integer':
    case 'long':
    case 'double':
      return false
  }
}

const memberOf = (object: object, name: string): unknown =>
  Object.hasOwn(object, name) ? ((object as Readonly<Record<string, unknown>>)[name] ?? undefined) : undefined

const MODEL = 'com.amazonaws.dynamodb.v20120810.'

function javaTypeOf(shape: RequestShape): string {
  switch (shape.kind) {
    case 'struct':
      return shape.className ?? `${MODEL}Request`
    case 'map':
      return `java.util.Map<java.lang.String, ${javaTypeOf(shape.member)}>`
    case 'list':
      return `java.util.List<${javaTypeOf(shape.member)}>`
    case 'any':
      return `${MODEL}AttributeValue`
    case 'string':
    case 'boolean':
    case 'integer':
    case 'long':
    case 'double':
      return `java.lang.${shape.kind.charAt(0).toUpperCase()}${shape.kind.slice(1)}`
  }
}

/** What the service says of a list or map in a list or map. */
const NOT_A_CLASS =
  'class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class java.lang.Class ' +
  "(sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module java.base of loader 'bootstrap')"

export function notCollection(value: unknown, place: ValuePlace): DynamoError {
  if (typeof value === 'object')
    return serializationError('Start of structure or map found where not expected')
  return serializationError(place === 'member' ? 'Unexpected field type' : NOT_A_CLASS)
}

export function wrongType(value: unknown, wanted: string): DynamoError {
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
