// The first step: JSON types. A member of another type than its shape has is a SerializationException.
import { DynamoError } from '../../model/errors.js'
import type { RequestShape } from './shape.js'

export type Members = Readonly<Record<string, unknown>>

/** JSON null counts as absent, as it does for DynamoDB. */
export function member(object: Members, name: string): unknown {
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
