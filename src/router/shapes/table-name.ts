// Names of tables as requests give them: the name itself, or the ARN of the table.
import { validationError } from '../../model/errors.js'

/** Of the ARNs in answers to requests that were not signed for a region, or for none that there can be. */
const REGION_DEFAULT = 'us-east-1'
const REGION = /^[a-z0-9-]{1,32}$/
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

/** The region is the one that the client has signed its request for, so that it finds its own in what it is told. */
export function tableArn(tableName: string, region: string = REGION_DEFAULT): string {
  const shown = REGION.test(region) ? region : REGION_DEFAULT
  return `arn:${partitionOf(shown)}:dynamodb:${shown}:${ACCOUNT}:table/${tableName}`
}

export const indexArn = (tableName: string, indexName: string, region?: string): string =>
  `${tableArn(tableName, region)}/index/${indexName}`

function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn'
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws'
}
