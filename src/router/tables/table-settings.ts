// Settings of a table that are kept and echoed: encryption at rest, the table class, limits of on-demand throughput.
import { validationError } from '../../model/errors.js'
import { invalid } from './table-definition.js'
import type { BillingMode } from './table-record.js'
import type { EncryptionInput, OnDemandThroughputInput } from './table-shapes.js'

const TABLE_CLASSES = ['STANDARD', 'STANDARD_INFREQUENT_ACCESS']

export function checkTableClass(tableClass: string | undefined): void {
  if (tableClass === undefined || TABLE_CLASSES.includes(tableClass)) return
  throw validationError(
    `Invalid table-class parameter provided. Please try again with a valid table-class value: [${TABLE_CLASSES.join(', ')}].`,
  )
}

export function checkEncryption(encryption: EncryptionInput | undefined): void {
  if (encryption === undefined) return
  const { Enabled: enabled, SSEType: type, KMSMasterKeyId: key } = encryption
  if (enabled !== true) {
    if (type !== undefined) throw invalid('SSEType can not be specified if Enabled is false')
    if (key !== undefined) throw invalid('KMSMasterKeyId can not be specified if Enabled is false')
    return
  }
  if (type === 'AES256') throw invalid('SSEType AES256 is not supported')
  if (key !== undefined && type === undefined)
    throw invalid('SSEType KMS is required if KMSMasterKeyId is specified')
}

/** Only a record of what was asked for: encrypting the disk is up to whoever runs the store. */
export function describeEncryption(encryption: EncryptionInput): Readonly<Record<string, unknown>> {
  return {
    Status: 'ENABLED',
    SSEType: 'KMS',
    ...(encryption.KMSMasterKeyId !== undefined && { KMSMasterKeyArn: encryption.KMSMasterKeyId }),
  }
}

/** The limits of on-demand throughput; nothing is throttled by them. `clearing`: the value that takes a limit away. */
export function checkOnDemandThroughput(
  input: OnDemandThroughputInput | undefined,
  billingMode: BillingMode,
  clearing?: number,
): void {
  for (const name of ['MaxReadRequestUnits', 'MaxWriteRequestUnits'] as const) {
    const units = input?.[name]
    if (units === undefined) continue
    if (billingMode === 'PROVISIONED') {
      throw invalid(
        `${name} for OnDemandThroughput cannot be specified when the table BillingMode is PROVISIONED`,
      )
    }
    if (units < 1 && units !== clearing) {
      throw invalid(`Requested ${name} for OnDemandThroughput for table is outside of valid range`)
    }
  }
}
