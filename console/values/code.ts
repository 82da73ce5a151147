// Requests and items as code that can be pasted: for the AWS command line, the SDKs, and the toolkit.
import type { Item } from './attribute.js'
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

/** A number of more digits than JavaScript has stays exact, as a NumberValue. */
export function asToolkit(table: string, item: Item): string {
  return `import { NumberValue, transactor } from 'seriatim/toolkit'

await transactor(client).transact((tx) => {
  tx.put(${JSON.stringify(table)}, ${indented(literal({ M: item }), 2)})
})`
}
