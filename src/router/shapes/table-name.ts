// Names of tables as requests give them: the name itself, or the ARN of the table.
import { DynamoError, validationError } from '../../model/errors.js'

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

/** The ARN of a table with a name that no table can have. */
export const isArnOfNoTable = (arn: string): boolean =>
  !TABLE_ARN.test(arn) && /^arn:aws[a-z-]*:dynamodb:[^:/]*:[^:/]*:table\/[^:/\s]+$/.test(arn)

/** The region is the one that the client has signed its request for, so that it finds its own in what it is told. */
export function tableArn(tableName: string, region?: string): string {
  const shown = shownRegion(region)
  return `arn:${partitionOf(shown)}:dynamodb:${shown}:${ACCOUNT}:table/${tableName}`
}

export const indexArn = (tableName: string, indexName: string, region?: string): string =>
  `${tableArn(tableName, region)}/index/${indexName}`

/** The key that Amazon manages for an account: what encrypts a table that names none. */
export function managedKeyArn(region?: string): string {
  const shown = shownRegion(region)
  return `arn:${partitionOf(shown)}:kms:${shown}:${ACCOUNT}:alias/aws/dynamodb`
}

/** The region that answers name. */
export const shownRegion = (region: string = REGION_DEFAULT): string =>
  REGION.test(region) ? region : REGION_DEFAULT

export const streamArn = (tableName: string, label: string, region?: string): string =>
  `${tableArn(tableName, region)}/stream/${label}`

const STREAM_ARN =
  /^arn:aws[a-z-]*:dynamodb:[^:/]*:[^:/]*:table\/([a-zA-Z0-9_.-]{3,255})\/stream\/([0-9T:.-]{1,64})$/

/** Any region and account will do, as for tables. */
export function streamOfArn(arn: string): { readonly tableName: string; readonly label: string } {
  const [, tableName, label] = STREAM_ARN.exec(arn) ?? []
  if (tableName === undefined || label === undefined) throw validationError('Invalid StreamArn')
  return { tableName, label }
}

/** Of an export or import: of the table, with its id. */
export const transferArn = (
  kind: 'export' | 'import',
  tableName: string,
  id: string,
  region?: string,
): string => `${tableArn(tableName, region)}/${kind}/${id}`

const TRANSFER_ARN =
  /^arn:aws[a-z-]*:dynamodb:[^:/]*:[^:/]*:table\/([a-zA-Z0-9_.-]{3,255})\/(export|import)\/([0-9a-f-]{1,64})$/

/** Any region and account will do, as for tables. */
export function transferOfArn(
  kind: 'export' | 'import',
  arn: string,
): { readonly tableName: string; readonly id: string } {
  const [, tableName, found, id] = TRANSFER_ARN.exec(arn) ?? []
  if (tableName === undefined || id === undefined || found !== kind) {
    if (isElsewhere(arn))
      throw new DynamoError('AccessDeniedException', `No access to ${arn}: it is none of this service`)
    throw validationError(`Invalid ${kind === 'export' ? 'Export' : 'Import'} ARN`)
  }
  return { tableName, id }
}

/** The service looks at partition, service, region and account before it looks at what is named there. */
function isElsewhere(arn: string): boolean {
  const [prefix, partition = '', service, region = '', account = ''] = arn.split(':')
  if (prefix !== 'arn') return false
  return (
    !/^aws[a-z-]*$/.test(partition) ||
    service !== 'dynamodb' ||
    !/^[a-z]+(?:-[a-z]+)+-\d+$/.test(region) ||
    !/^\d{12}$/.test(account)
  )
}

export const backupArn = (tableName: string, id: string, region?: string): string =>
  `${tableArn(tableName, region)}/backup/${id}`

const BACKUP_ARN =
  /^arn:aws[a-z-]*:dynamodb:[^:/]*:[^:/]*:table\/([a-zA-Z0-9_.-]{3,255})\/backup\/([0-9a-f-]{1,64})$/

/** Any region and account will do, as for tables. */
export function backupOfArn(arn: string): { readonly tableName: string; readonly id: string } {
  const [, tableName, id] = BACKUP_ARN.exec(arn) ?? []
  if (tableName === undefined || id === undefined)
    throw validationError(`Invalid BackupArn: Invalid ResourceArn provided as input ${arn}`)
  return { tableName, id }
}

function partitionOf(region: string): string {
  if (region.startsWith('cn-')) return 'aws-cn'
  return region.startsWith('us-gov-') ? 'aws-us-gov' : 'aws'
}
