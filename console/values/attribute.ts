// DynamoDB's ten types. Numbers are texts from end to end: 38 digits do not fit a number of JavaScript.
export type AttributeValue =
  | { readonly S: string }
  | { readonly N: string }
  | { readonly B: string }
  | { readonly BOOL: boolean }
  | { readonly NULL: boolean }
  | { readonly SS: readonly string[] }
  | { readonly NS: readonly string[] }
  | { readonly BS: readonly string[] }
  | { readonly L: readonly AttributeValue[] }
  | { readonly M: Readonly<Record<string, AttributeValue>> }

export type Item = Readonly<Record<string, AttributeValue>>
export type TypeName = 'S' | 'N' | 'B' | 'BOOL' | 'NULL' | 'SS' | 'NS' | 'BS' | 'L' | 'M'

export const TYPES: readonly (readonly [TypeName, string])[] = [
  ['S', 'String'],
  ['N', 'Number'],
  ['B', 'Binary'],
  ['BOOL', 'Boolean'],
  ['NULL', 'Null'],
  ['SS', 'String set'],
  ['NS', 'Number set'],
  ['BS', 'Binary set'],
  ['L', 'List'],
  ['M', 'Map'],
]
export const typeTitle = (type: TypeName): string => TYPES.find(([name]) => name === type)?.[1] ?? type

export function typeOf(value: AttributeValue): TypeName {
  return Object.keys(value)[0] as TypeName
}

const inner = (value: AttributeValue): unknown => Object.values(value)[0]

/** Undefined where it has none: an attribute may be called `constructor`, which every object has. */
export const attributeOf = (item: Item | undefined, name: string): AttributeValue | undefined =>
  item !== undefined && Object.hasOwn(item, name) ? item[name] : undefined

/** One line for a cell. */
export function shortText(value: AttributeValue | undefined, charactersMax = 160): string {
  if (value === undefined) return ''
  if ('S' in value) return cut(value.S, charactersMax)
  if ('N' in value) return value.N
  if ('BOOL' in value) return String(value.BOOL)
  if ('NULL' in value) return 'null'
  if ('B' in value) return `${bytesOf(value.B)} bytes: ${cut(value.B, 40)}`
  if ('L' in value)
    return cut(
      `[${value.L.slice(0, 20)
        .map((each) => shortText(each, 40))
        .join(', ')}${value.L.length > 20 ? ', …' : ''}]`,
      charactersMax,
    )
  if ('M' in value) {
    const names = Object.keys(value.M)
    const parts = names.slice(0, 12).map((name) => `${name}: ${shortText(value.M[name], 40)}`)
    return cut(`{${parts.join(', ')}${names.length > 12 ? ', …' : ''}}`, charactersMax)
  }
  const members = inner(value) as readonly string[]
  return cut(`{${members.slice(0, 30).join(', ')}${members.length > 30 ? ', …' : ''}}`, charactersMax)
}

/** Of a text of base64. */
export const bytesOf = (base64: string): number =>
  Math.max(
    0,
    Math.floor((base64.length * 3) / 4) - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0),
  )

function cut(text: string, charactersMax: number): string {
  return text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const DIGITS_MAX = 38

/** Why it is not a number of DynamoDB; undefined if it is one. */
export function numberProblem(text: string): string | undefined {
  if (!NUMBER.test(text)) return 'not a number'
  const digits = text
    .replace(/[eE].*$/, '')
    .replace(/[^\d]/g, '')
    .replace(/^0+/, '')
    .replace(/0+$/, '')
  return digits.length > DIGITS_MAX ? `${digits.length} significant digits; ${DIGITS_MAX} at most` : undefined
}

export function binaryProblem(text: string): string | undefined {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? undefined : 'not base64'
}

export const emptyValue = (type: TypeName): AttributeValue => {
  switch (type) {
    case 'S':
      return { S: '' }
    case 'N':
      return { N: '0' }
    case 'B':
      return { B: '' }
    case 'BOOL':
      return { BOOL: false }
    case 'NULL':
      return { NULL: true }
    case 'SS':
      return { SS: [''] }
    case 'NS':
      return { NS: ['0'] }
    case 'BS':
      return { BS: [''] }
    case 'L':
      return { L: [] }
    case 'M':
      return { M: {} }
  }
}

/** As DynamoDB counts them, to warn before 400 KB. */
export function sizeOf(item: Item): number {
  let bytes = 0
  for (const [name, value] of Object.entries(item)) bytes += utf8Bytes(name) + valueBytes(value)
  return bytes
}

const encoder = new TextEncoder()
const utf8Bytes = (text: string): number => encoder.encode(text).length

function valueBytes(value: AttributeValue): number {
  if ('S' in value) return utf8Bytes(value.S)
  if ('N' in value) return Math.min(21, Math.ceil(value.N.length / 2) + 1)
  if ('B' in value) return bytesOf(value.B)
  if ('BOOL' in value || 'NULL' in value) return 1
  if ('L' in value) return value.L.reduce((sum, each) => sum + valueBytes(each) + 1, 3)
  if ('M' in value)
    return Object.entries(value.M).reduce(
      (sum, [name, each]) => sum + utf8Bytes(name) + valueBytes(each) + 1,
      3,
    )
  if ('SS' in value) return value.SS.reduce((sum, each) => sum + utf8Bytes(each), 0)
  if ('NS' in value)
    return value.NS.reduce((sum, each) => sum + Math.min(21, Math.ceil(each.length / 2) + 1), 0)
  return value.BS.reduce((sum, each) => sum + bytesOf(each), 0)
}
