// ExpressionAttributeNames and ExpressionAttributeValues of one request, and which of them its expressions have used.
import { DynamoError, RewordedError, validationError, serializationError } from '../../model/errors.js'
import { limits } from '../../model/limits.js'
import { parseAttributeValue } from '../../model/parse-value.js'
import type { AttributeValue } from '../../model/value.js'
import { expressionError } from '../parse/lexer.js'
import { samePath, pathText, resolvePath, type Path } from '../parse/paths.js'
import type { ExpressionKind, PathNode } from '../parse/tree.js'
import type { Bindings } from '../parse/types.js'

const KEY_BYTES_MAX = 255
const NAME_BYTES_MAX = 65_535

export class Placeholders {
  readonly bindings: Bindings
  readonly #usedNames = new Set<string>()
  readonly #usedValues = new Set<string>()

  constructor(bindings: Bindings) {
    this.bindings = bindings
  }

  /** Of a request. Validates names first, then values: all keys, then each value. */
  static of(names: unknown, values: unknown, levelsMore?: number): Placeholders {
    return new Placeholders({ names: namesOf(names), values: valuesOf(values, levelsMore) })
  }

  value(name: string, kind: ExpressionKind): AttributeValue {
    const value = this.bindings.values.get(name)
    if (value === undefined)
      throw expressionError(
        kind,
        `An expression attribute value used in expression is not defined; attribute value: ${name}`,
      )
    this.#usedValues.add(name)
    return value
  }

  path(path: PathNode, kind: ExpressionKind): Path {
    if (path.steps.length > limits.nestingDepthMax)
      throw expressionError(
        kind,
        `The document path has too many nesting levels; nesting levels: ${path.steps.length}`,
      )
    for (const step of path.steps) {
      if (typeof step === 'number' || !PLACEHOLDER.test(step)) continue
      if (!this.bindings.names.has(step))
        throw expressionError(
          kind,
          `An expression attribute name used in the document path is not defined; attribute name: ${step}`,
        )
      this.#usedNames.add(step)
    }
    return resolvePath(path, this.bindings.names)
  }

  refuseUnused(): void {
    refuseUnusedOf('ExpressionAttributeNames', this.bindings.names, this.#usedNames)
    refuseUnusedOf('ExpressionAttributeValues', this.bindings.values, this.#usedValues)
  }
}

/** Refuses `a = a`, where only paths are compared, and by the attributes that they mean. */
export function refuseRepeatedOperand(
  operator: string,
  first: Path | undefined,
  others: readonly (Path | undefined)[],
  kind: ExpressionKind,
): void {
  if (first === undefined) return
  if (others.some((other) => other !== undefined && samePath(first, other)))
    throw expressionError(
      kind,
      'The first operand must be distinct from the remaining operands for this operator or function; ' +
        `operator: ${operator}, first operand: ${pathText(first)}`,
    )
}

const PLACEHOLDER = /^[#:]/
const KEY_BY_PARAMETER = {
  ExpressionAttributeNames: /^#[0-9A-Za-z_]+$/,
  ExpressionAttributeValues: /^:[0-9A-Za-z_]+$/,
} as const
type Parameter = keyof typeof KEY_BY_PARAMETER

function namesOf(json: unknown): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const [key, name] of entriesOf('ExpressionAttributeNames', json)) {
    if (name === null || name === '') throw invalidValue('Empty attribute name', key)
    if (typeof name !== 'string') throw serializationError('Unexpected value type in payload')
    if (Buffer.byteLength(name) > NAME_BYTES_MAX)
      throw invalidValue('Attribute name is too large, must be less than 65536 bytes', key)
    names.set(key, name)
  }
  return names
}

const invalidValue = (message: string, key: string): DynamoError =>
  validationError(`ExpressionAttributeNames contains invalid value: ${message} for key ${key}`)

function valuesOf(json: unknown, levelsMore?: number): ReadonlyMap<string, AttributeValue> {
  const values = new Map<string, AttributeValue>()
  for (const [key, value] of entriesOf('ExpressionAttributeValues', json)) {
    try {
      values.set(key, parseAttributeValue(value, levelsMore))
    } catch (error) {
      if (!(error instanceof DynamoError) || error.name !== 'ValidationException') throw error
      const older = error instanceof RewordedError ? error.older : error.message
      throw new RewordedError(
        error.message,
        `ExpressionAttributeValues contains invalid value: ${older} for key ${key}`,
      )
    }
  }
  return values
}

function entriesOf(parameter: Parameter, json: unknown): readonly (readonly [string, unknown])[] {
  if (json === undefined || json === null) return []
  if (typeof json !== 'object' || Array.isArray(json)) throw serializationError('Unexpected field type')
  const entries = Object.entries(json)
  if (entries.length === 0) throw validationError(`${parameter} must not be empty`)
  for (const [key] of entries) {
    if (key.length > KEY_BYTES_MAX)
      throw validationError(
        `${parameter} contains invalid key: The expression attribute map contains a key that is too long; ` +
          `size of key: ${Buffer.byteLength(key)}`,
      )
    if (!KEY_BY_PARAMETER[parameter].test(key))
      throw validationError(`${parameter} contains invalid key: Syntax error; key: "${key}"`)
  }
  return entries
}

function refuseUnusedOf(
  parameter: Parameter,
  given: ReadonlyMap<string, unknown>,
  used: ReadonlySet<string>,
): void {
  // Only what is given can be used.
  if (used.size === given.size) return
  const unused = [...given.keys()].filter((key) => !used.has(key))
  throw validationError(`Value provided in ${parameter} unused in expressions: keys: {${unused.join(', ')}}`)
}
