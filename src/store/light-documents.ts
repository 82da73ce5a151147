// The document commands of @aws-sdk/lib-dynamodb, with plain JavaScript values in place of attribute values. A command says itself
// where those stand in its input and output. They are converted by the rules of @aws-sdk/util-dynamodb, and never by it.

/** How plain values are converted, as `translateConfig` of DynamoDBDocumentClient says it. */
export interface DocumentOptions {
  /** What is done with values that have no attribute value of their own. */
  readonly marshallOptions?: {
    readonly convertEmptyValues?: boolean
    readonly removeUndefinedValues?: boolean
    readonly convertClassInstanceToMap?: boolean
    readonly allowImpreciseNumbers?: boolean
  }
  /** `wrapNumbers` is the function that makes a value of the digits of a number. */
  readonly unmarshallOptions?: { readonly wrapNumbers?: (digits: string) => unknown }
}

/** Where values stand: at a member by its name, at each (`*`), at all members (an empty object or list), or here (null). */
type Places = { readonly [name: string]: Places | undefined } | readonly [] | null | undefined

interface DocumentCommand {
  readonly input: object
  readonly clientCommand: object
  readonly inputKeyNodes?: Places
  readonly outputKeyNodes?: Places
}

/** A command of lib-dynamodb holds the one of the client that it stands for. */
export const isDocumentCommand = (command: object): command is DocumentCommand =>
  typeof (command as Partial<DocumentCommand>).clientCommand === 'object'

export function documentInput(command: DocumentCommand, { marshallOptions = {} }: DocumentOptions): unknown {
  return atPlaces(command.input, command.inputKeyNodes, (value) => toAttribute(value, marshallOptions))
}

export function documentOutput(
  command: DocumentCommand,
  output: object,
  { unmarshallOptions = {} }: DocumentOptions,
): object {
  return atPlaces(output, command.outputKeyNodes, (value) => toPlain(value, unmarshallOptions)) as object
}

function atPlaces(value: unknown, places: Places, convert: (value: unknown) => unknown): unknown {
  if (value === undefined) return undefined
  if (places === null || places === undefined) return convert(value)
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(places)
  const inner = (name: string): Places => (names.length === 0 ? null : (places as never)[name])
  if (names.length === 0 || (names.length === 1 && names[0] === '*')) {
    const each = names.length === 0 ? null : inner('*')
    if (Array.isArray(value)) return value.map((element) => atPlaces(element, each, convert))
    return mapped(value, (member) => atPlaces(member, each, convert))
  }
  return mapped(value, (member, name) =>
    Object.hasOwn(places, name) ? atPlaces(member, inner(name), convert) : member,
  )
}

/** Functions are left out, as in the SDK. */
function mapped(object: object, change: (member: unknown, name: string) => unknown): object {
  const entries: [string, unknown][] = []
  for (const [name, member] of Object.entries(object))
    if (typeof member !== 'function') entries.push([name, change(member, name)])
  // fromEntries defines members, so that `__proto__` stays an attribute.
  return Object.fromEntries(entries)
}

type Marshalling = NonNullable<DocumentOptions['marshallOptions']>

const NULL = { NULL: true }
const UNDEFINED = 'Pass options.removeUndefinedValues=true to remove undefined values from map/array/set.'

function toAttribute(value: unknown, options: Marshalling): unknown {
  switch (typeof value) {
    case 'string':
      return value === '' && options.convertEmptyValues ? NULL : { S: value }
    case 'number':
      return { N: numberText(value, options) }
    case 'bigint':
      return { N: value.toString() }
    case 'boolean':
      return { BOOL: value }
    case 'undefined':
      throw new Error(UNDEFINED)
    case 'object':
      return value === null ? NULL : objectToAttribute(value, options)
    case 'function':
    case 'symbol':
      throw unsupported(value)
  }
}

function objectToAttribute(value: object, options: Marshalling): unknown {
  if (Array.isArray(value)) {
    const kept = value.filter((element) => isKept(element, options))
    return { L: kept.map((element) => toAttribute(element, options)) }
  }
  if (value instanceof Set) return setToAttribute(value, options)
  if (value instanceof Map) return { M: mapOf(value as Map<string, unknown>, options) }
  const binary = binaryOf(value)
  if (binary !== undefined) return binary.length === 0 && options.convertEmptyValues ? NULL : { B: binary }
  const number = digitsOf(value)
  if (number !== undefined) return { N: number }
  const prototype = Object.getPrototypeOf(value) as object | null
  const isPlain = prototype === null || prototype === Object.prototype || value.constructor?.name === 'Object'
  if (!isPlain && value.valueOf() !== value) return toAttribute(value.valueOf(), options)
  if (isPlain || options.convertClassInstanceToMap) return { M: mapOf(Object.entries(value), options) }
  throw unsupported(value)
}

const isKept = (value: unknown, options: Marshalling): boolean =>
  typeof value !== 'function' && !(value === undefined && options.removeUndefinedValues)

function mapOf(entries: Iterable<readonly [string, unknown]>, options: Marshalling): object {
  const members: [string, unknown][] = []
  for (const [name, value] of entries)
    if (isKept(value, options)) members.push([name, toAttribute(value, options)])
  return Object.fromEntries(members)
}

function setToAttribute(set: ReadonlySet<unknown>, options: Marshalling): unknown {
  const members = [...set].filter((member) => isKept(member, options))
  if (members.includes(undefined)) throw new Error(UNDEFINED)
  const [first] = members
  if (members.length === 0) {
    if (options.convertEmptyValues) return NULL
    throw new Error('Pass a non-empty set, or options.convertEmptyValues=true.')
  }
  if (typeof first === 'string') return { SS: members.map(String) }
  if (typeof first === 'number') return { NS: members.map((member) => numberText(member as number, options)) }
  if (typeof first === 'bigint') return { NS: members.map(String) }
  if (typeof first === 'object' && first !== null) {
    if (binaryOf(first) !== undefined) return { BS: members.map((member) => binaryOf(member as object)) }
    if (digitsOf(first) !== undefined) return { NS: members.map((member) => digitsOf(member as object)) }
  }
  throw new Error('Only Number Set (NS), Binary Set (BS) or String Set (SS) are allowed.')
}

function numberText(value: number, options: Marshalling): string {
  if (!Number.isFinite(value)) throw new Error(`Special numeric value ${value} is not allowed`)
  if (!options.allowImpreciseNumbers && Math.abs(value) > Number.MAX_SAFE_INTEGER) {
    const how = value > 0 ? 'greater than Number.MAX_SAFE_INTEGER' : 'lesser than Number.MIN_SAFE_INTEGER'
    throw new Error(`Number ${value} is ${how}. Use NumberValue from @aws-sdk/lib-dynamodb.`)
  }
  return value.toString()
}

function binaryOf(value: object): Uint8Array | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return value instanceof ArrayBuffer ? new Uint8Array(value) : undefined
}

/** Of a NumberValue, the SDK's or that of the toolkit. */
function digitsOf(value: object): string | undefined {
  const { toAttributeValue } = value as { readonly toAttributeValue?: () => { readonly N?: unknown } }
  if (typeof toAttributeValue !== 'function') return undefined
  const digits = toAttributeValue.call(value).N
  return typeof digits === 'string' ? digits : undefined
}

const unsupported = (value: unknown): Error =>
  new Error(
    `Unsupported type passed: ${String(value)}. Pass options.convertClassInstanceToMap=true to marshall typeof object as map attribute.`,
  )

type Unmarshalling = NonNullable<DocumentOptions['unmarshallOptions']>

function toPlain(value: unknown, options: Unmarshalling): unknown {
  const [type, content] = Object.entries(value as object)[0] as [string, never]
  switch (type) {
    case 'N':
      return toNumber(content, options)
    case 'NULL':
      return null
    case 'L':
      return (content as unknown[]).map((element) => toPlain(element, options))
    case 'M':
      return mapped(content, (member) => toPlain(member, options))
    case 'NS':
      return new Set((content as string[]).map((digits) => toNumber(digits, options)))
    case 'SS':
    case 'BS':
      return new Set(content as unknown[])
    default:
      return content
  }
}

function toNumber(digits: string, { wrapNumbers }: Unmarshalling): unknown {
  if (wrapNumbers !== undefined) return wrapNumbers(digits)
  const number = Number(digits)
  if (Math.abs(number) <= Number.MAX_SAFE_INTEGER) return number
  if (!digits.includes('.')) return BigInt(digits)
  throw new Error(`${digits} can't be converted to BigInt. Set options.wrapNumbers to get string value.`)
}
