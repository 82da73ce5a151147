// Names of tables as requests give them: the name itself, or the ARN of the table.
import { validationError } from '../model/errors.js'

const REGION = 'us-east-1'
const ACCOUNT = '000000000000'
const TABLE_ARN = /^arn:aws[a-z-]*:dynamodb:[^:/]*:[^:/]*:table\/([a-zA-Z0-9_.-]{3,255})$/

/** The name in a `TableName` whose shape has been checked. Any region and account will do: there is only one store. */
export function tableNameOf(text: unknown): string {
  const name = text as string
  return name.startsWith('arn:') ? tableNameOfArn(name) : name
}

/** The name in the ARN of a table, which must be one. */
export function tableNameOfArn(arn: string): string {
  const name = TABLE_ARN.exec(arn)?.[1]
  if (name === undefined)
    throw validationError(`Invalid TableArn: Invalid ResourceArn provided as input ${arn}`)
  return name
}

export const tableArn = (tableName: string): string =>
  `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${tableName}`

export const indexArn = (tableName: string, indexName: string): string =>
  `${tableArn(tableName)}/index/${indexName}`
