// Requests and items as code that can be pasted: for the AWS command line, the SDKs, and the toolkit.
import type { AttributeValue, Item } from './attribute.js'

type Input = Readonly<Record<string, unknown>>

const kebab = (name: string): string =>
  name
    .replace(/PartiQL/g, 'Partiql')
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()

/** In single quotes for a shell of POSIX. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

export function asCli(operation: string, input: Input): string {
  const endpoint = location.origin
  const options = Object.entries(input).map(([name, value]) => {
    const option = `--${kebab(name)}`
    if (value === true) return option
    if (value === false) return `--no-${kebab(name)}`
    return `${option} ${quoted(typeof value === 'string' ? value : JSON.stringify(value))}`
  })
  return [`aws dynamodb ${kebab(operation)} --endpoint-url ${quoted(endpoint)}`, ...options].join(' \\\n  ')
}

export function asSdk(operation: string, input: Input): string {
  return `import { DynamoDBClient, ${operation}Command } from '@aws-sdk/client-dynamodb'

const client = new DynamoDBClient({ endpoint: ${JSON.stringify(location.origin)}, region: 'us-east-1' })
const answer = await client.send(
  new ${operation}Command(${indented(jsOf(input), 2)}),
)`
}

export function asPython(operation: string, input: Input): string {
  const method = kebab(operation).replaceAll('-', '_')
  const members = Object.entries(input).map(([name, value]) => `    ${name}=${pythonOf(value)},`)
  return [
    'import boto3',
    '',
    `client = boto3.client('dynamodb', endpoint_url=${JSON.stringify(location.origin)}, region_name='us-east-1')`,
    `answer = client.${method}(`,
    ...members,
    ')',
  ].join('\n')
}

/** A number of more digits than JavaScript has stays exact, as a NumberValue. */
export function asToolkit(table: string, item: Item): string {
  return `import { NumberValue, transactor } from 'seriatim/toolkit'

await transactor(client).transact((tx) => {
  tx.put(${JSON.stringify(table)}, ${indented(literal({ M: item }), 2)})
})`
}

function literal(value: AttributeValue, depth = 0): string {
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
    ([name, each]) =>
      `${pad}${/^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)}: ${literal(each, depth + 1)}`,
  )
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')},\n${'  '.repeat(depth)}}`
}

const indented = (text: string, spaces: number): string => text.replaceAll('\n', `\n${' '.repeat(spaces)}`)

/** As a literal. The SDK takes bytes where the wire has base64: a text there would be taken for the bytes of the text. */
function jsOf(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const pad = '  '.repeat(depth + 1)
  if (Array.isArray(value)) return `[${value.map((each) => jsOf(each, depth)).join(', ')}]`
  const members = Object.entries(value).map(([name, each]) => {
    const shown = /^[a-z_$][\w$]*$/i.test(name) ? name : JSON.stringify(name)
    if (name === 'B' && typeof each === 'string') return `${pad}B: ${bytesLiteral(each)}`
    if (name === 'BS' && Array.isArray(each)) return `${pad}BS: [${each.map(bytesLiteral).join(', ')}]`
    return `${pad}${shown}: ${jsOf(each, depth + 1)}`
  })
  return members.length === 0 ? '{}' : `{\n${members.join(',\n')},\n${'  '.repeat(depth)}}`
}

const bytesLiteral = (base64: string): string => `Buffer.from(${JSON.stringify(base64)}, 'base64')`

function pythonOf(value: unknown): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value === 'string' || typeof value === 'number') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`
  return `{${Object.entries(value)
    .map(([name, each]) =>
      name === 'B' && typeof each === 'string'
        ? `'B': __import__('base64').b64decode(${JSON.stringify(each)})`
        : `${JSON.stringify(name)}: ${pythonOf(each)}`,
    )
    .join(', ')}}`
}
