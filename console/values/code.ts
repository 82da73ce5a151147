// Requests and items as code that can be pasted: for the AWS command line, the SDKs, and the toolkit.
import type { AttributeValue, Item } from './attribute.js'
import { indented, jsOf, literal, pythonOf } from './literals.js'

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

/** The same in a unit of work; undefined for what units do not do. A number of more digits than JavaScript has stays exact. */
export function asToolkit(operation: string, input: Input): string | undefined {
  const call = unitCallOf(operation, input)
  if (call === undefined) return undefined
  return `import { NumberValue, transactor } from 'seriatim/toolkit'

const answer = await transactor(client).transact((tx) =>
  tx.${indented(call, 2)},
)`
}

function unitCallOf(operation: string, input: Input): string | undefined {
  const table = JSON.stringify(input['TableName'])
  switch (operation) {
    case 'PutItem':
      return `put(${table}, ${literal({ M: input['Item'] as Item })})`
    case 'Query':
    case 'Scan':
      return `${operation.toLowerCase()}(${table}, ${rangeOf(input)})`
    case 'ExecuteStatement':
      return `execute(${JSON.stringify(input['Statement'])}, ${literal({ L: (input['Parameters'] as readonly AttributeValue[] | undefined) ?? [] })})`
    default:
      return undefined
  }
}

/** As the toolkit takes a query or a scan: with plain values. */
function rangeOf(input: Input): string {
  const text = (name: string): string | undefined =>
    input[name] === undefined ? undefined : JSON.stringify(input[name])
  const values = input['ExpressionAttributeValues'] as Item | undefined
  const names = input['ExpressionAttributeNames']
  const members = Object.entries({
    index: text('IndexName'),
    key: text('KeyConditionExpression'),
    filter: text('FilterExpression'),
    names: names === undefined ? undefined : jsOf(names, 1),
    values: values === undefined ? undefined : literal({ M: values }, 1),
    reverse: input['ScanIndexForward'] === false ? 'true' : undefined,
  }).flatMap(([name, value]) => (value === undefined ? [] : [`  ${name}: ${value},\n`]))
  return members.length === 0 ? '{}' : `{\n${members.join('')}}`
}
