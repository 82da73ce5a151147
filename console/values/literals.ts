// Attribute values and requests as literals of JavaScript and Python, for code that can be pasted.
import type { AttributeValue } from './attribute.js'

/** A value as the toolkit takes it. */
export function literal(value: AttributeValue, depth = 0): string {
  const pad = '  '.repeat(depth + 1)
  if ('S' in value) return JSON.stringify(value.S)
  if ('N' in value) {
    if (String(Number(value.N)) === value.N) return value.N
    return `new NumberValue(${JSON.stringify(value.N)})`
  }
  if ('BOOL' in value) return String(value.BOOL)
  if ('NULL' in value) return 'null'
  if ('B' in value) return bytesLiteral(value.B)
  if ('SS' in value) return `new Set(${JSON.stringify(value.SS)})`
  if ('NS' in value) return `new Set([${value.NS.map((each) => literal({ N: each })).join(', ')}])`
  if ('BS' in value) return `new Set([${value.BS.map((each) => literal({ B: each })).join(', ')}])`
  if ('L' in value) return `[${value.L.map((each) => literal(each, depth + 1)).join(', ')}]`
  const members = Object.entries(value.M).map(
    ([name, each]) => `${pad}${memberName(name)}: ${literal(each, depth + 1)}`,
  )
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')},\n${'  '.repeat(depth)}}`
}

export const indented = (text: string, spaces: number): string =>
  text.replaceAll('\n', `\n${' '.repeat(spaces)}`)

/** A request as the SDK takes it: with bytes where the wire has base64. The SDK would send the characters of a text as the bytes. */
export function jsOf(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const pad = '  '.repeat(depth + 1)
  if (Array.isArray(value)) return `[${value.map((each) => jsOf(each, depth)).join(', ')}]`
  const members = Object.entries(value).map(([name, each]) => {
    if (name === 'B' && typeof each === 'string') return `${pad}B: ${bytesLiteral(each)}`
    if (name === 'BS' && Array.isArray(each)) return `${pad}BS: [${each.map(bytesLiteral).join(', ')}]`
    return `${pad}${memberName(name)}: ${jsOf(each, depth + 1)}`
  })
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')},\n${'  '.repeat(depth)}}`
}

/** `__proto__: value` would set the prototype of the object instead of a member. */
function memberName(name: string): string {
  if (name === '__proto__') return '["__proto__"]'
  return /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)
}

const bytesLiteral = (base64: string): string => `Buffer.from(${JSON.stringify(base64)}, 'base64')`

/** A request as boto3 takes it: with bytes, too. */
export function pythonOf(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string' || typeof value === 'number') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`
  return `{${Object.entries(value)
    .map(([name, each]) => `${JSON.stringify(name)}: ${pythonBytesOf(name, each) ?? pythonOf(each)}`)
    .join(', ')}}`
}

function pythonBytesOf(name: string, value: unknown): string | undefined {
  const decoded = (base64: unknown): string => `__import__('base64').b64decode(${JSON.stringify(base64)})`
  if (name === 'B' && typeof value === 'string') return decoded(value)
  if (name === 'BS' && Array.isArray(value)) return `[${value.map(decoded).join(', ')}]`
  return undefined
}
